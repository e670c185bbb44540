package builtin

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// dot is a picture, another one for each width.
func dot(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))))
	return b.Bytes()
}

func seenIn(messages []model.Message) (out [][]byte) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == model.PartImage {
				out = append(out, p.Data)
			}
		}
	}
	return out
}

func (s *scene) asks(id string, blocks ...any) (stop string, err error) {
	var out struct {
		StopReason string `json:"stopReason"`
	}
	err = s.conn.Call(s.t.Context(), "session/prompt", map[string]any{"sessionId": id, "prompt": blocks}, &out)
	return out.StopReason, err
}

func words(text string) any { return map[string]any{"type": "text", "text": text} }

func shows(data []byte) any {
	return map[string]any{"type": "image", "mimeType": "image/jpeg", "data": base64.StdEncoding.EncodeToString(data)} // of which only the bytes are believed
}

func TestPictures(t *testing.T) {
	t.Parallel()
	t.Run("ReachTheModelAlsoInAnotherProcess", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("A dot."))
		dir, one, two := t.TempDir(), dot(t, 3), dot(t, 4)
		s.start(Options{Dir: dir})
		id := s.open()
		if stop, err := s.asks(id, words("What is it?"), shows(one)); err != nil || stop != "end_turn" {
			t.Fatalf("the prompt ended with %q, %v", stop, err)
		}
		asked := s.brain.asked()[0]
		if got := seenIn(asked.Messages); len(got) != 1 || !bytes.Equal(got[0], one) {
			t.Fatalf("the model saw %d pictures", len(got))
		}
		if p := asked.Messages[0].Parts; p[0].Text != "What is it?" || p[1].Media != media.PNG {
			t.Errorf("the model was told %q, and that the picture is %s", p[0].Text, p[1].Media)
		}
		must(t, s.conn.Call(t.Context(), "session/close", map[string]any{"sessionId": id}, nil))
		s.start(Options{Dir: dir})
		must(t, s.again("session/load", id))
		told := s.told("user_message_chunk")
		if n := len(told); n != 2 || !strings.Contains(fmt.Sprint(told[1]["content"]), base64.StdEncoding.EncodeToString(one)) {
			t.Errorf("a loaded session tells %d parts of the prompt: %v", n, told)
		}
		if _, err := s.asks(id, shows(two)); err != nil { // and nothing besides
			t.Fatal(err)
		}
		seen := s.brain.asked()
		if got := seenIn(seen[len(seen)-1].Messages); len(got) != 2 || !bytes.Equal(got[0], one) || !bytes.Equal(got[1], two) {
			t.Errorf("after a while the model saw %d pictures", len(got))
		}
	})
	t.Run("MustBePictures", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("no"))
		s.start(Options{})
		id := s.open()
		whole := dot(t, 30)
		many := []any{words("look")}
		for range media.MaxFiles + 1 {
			many = append(many, shows(whole))
		}
		for name, blocks := range map[string][]any{
			"a text": {shows([]byte("not a picture"))}, "a part of one": {shows(whole[:len(whole)-5])}, "no base64": {map[string]any{"type": "image", "mimeType": "image/png", "data": "%%"}},
			"too many": many, "a sound": {map[string]any{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}},
		} {
			if _, err := s.asks(id, blocks...); err == nil || !strings.Contains(err.Error(), "prompt: ") {
				t.Errorf("%s is taken for a picture: %v", name, err)
			}
		}
		if n := len(s.brain.asked()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	t.Run("AreLeftOutForAModelThatCannotSee", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
			if len(seenIn(seen.Messages)) > 0 {
				return modeltest.Reply{}, modeltest.BadRequest
			}
			return modeltest.Reply{Parts: []model.Part{{Kind: event.PartText, Text: "I cannot see."}}, Stop: model.StopEnd}, ""
		})
		s.start(Options{})
		if stop, err := s.asks(s.open(), words("What is it?"), shows(dot(t, 5))); err != nil || stop != "end_turn" {
			t.Fatalf("the prompt ended with %q, %v", stop, err)
		}
		seen := s.brain.asked()
		if p := seen[len(seen)-1].Messages[0].Parts; len(seen) != 2 || len(p) != 2 || p[1].Text != model.Unseen {
			t.Errorf("after %d requests the model was told %+v", len(seen), p)
		}
	})
	t.Run("AreDroppedToMakeRoom", func(t *testing.T) {
		t.Parallel()
		var lines []line
		for i := range 10 {
			lines = append(lines, line{Kind: kindUser, Text: fmt.Sprint("look ", i), Pictures: []picture{{media.PNG, dot(t, i+1)}}}, line{Kind: kindAnswer, Parts: []part{{Kind: event.PartText, Text: "yes"}}})
		}
		w := (window{}).narrow(lines, 6*pictureSize)
		got := seenIn(w.messages(lines))
		if len(got) == 0 || len(got) > 6 || !bytes.Equal(got[len(got)-1], dot(t, 10)) || w.messages(lines)[0].Parts[1].Text != droppedPicture {
			t.Errorf("%d pictures are shown in room for six: %+v", len(got), w)
		}
		if sizeOf(w.messages(lines)) > 6*pictureSize {
			t.Errorf("what is shown has %d bytes", sizeOf(w.messages(lines)))
		}
	})
	t.Run("AreAsManyAsARequestMayHave", func(t *testing.T) {
		t.Parallel()
		var lines []line
		for i := range media.MaxShown + 3 {
			lines = append(lines, line{Kind: kindUser, Text: "look", Pictures: []picture{{media.PNG, dot(t, i+1)}}})
		}
		if got := seenIn(bounded((window{}).messages(lines))); len(got) != media.MaxShown || !bytes.Equal(got[0], dot(t, 4)) {
			t.Errorf("%d pictures are shown, want the newest %d", len(got), media.MaxShown)
		}
		large := picture{media.PNG, make([]byte, media.MaxShownBytes/2)}
		lines = []line{{Kind: kindUser, Pictures: []picture{large, large, large}}}
		if got := seenIn(bounded((window{}).messages(lines))); len(got) != 2 {
			t.Errorf("%d large pictures are shown, want two", len(got))
		}
	})
}
