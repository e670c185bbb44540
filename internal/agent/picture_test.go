package agent

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"

	"github.com/google/go-cmp/cmp"
)

// store is blobs in memory.
type store map[event.Hash][]byte

func (s store) read(ref event.Ref) ([]byte, error) {
	if data, ok := s[ref.Hash]; ok {
		return data, nil
	}
	return nil, errors.New("there is no such blob")
}

// keep attaches data under a name, as the type it says it is.
func (s store) keep(name, kind string, data []byte) event.Attachment {
	ref := event.RefOf(data)
	s[ref.Hash] = data
	return event.Attachment{Media: kind, Name: name, Ref: ref}
}

// drawn is the n-th of many small pictures.
func drawn(t *testing.T, n int) []byte {
	t.Helper()
	d := image.NewGray(image.Rect(0, 0, 4, 4))
	d.SetGray(n%4, n/4%4, color.Gray{uint8(1 + n)})
	var b bytes.Buffer
	if err := png.Encode(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shown renders all of a transcript: each part in a line, pictures as their first bytes.
func shown(t *testing.T, tr *Transcript, s store) []string {
	t.Helper()
	messages, err := new(Rendering).Messages(tr, &event.ModelCall{Head: tr.Head, First: tr.First, Last: tr.End() - 1}, s.read)
	if err != nil {
		t.Fatal(err)
	}
	return lines(messages)
}

func lines(messages []model.Message) (out []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			for _, x := range append([]model.Part{p}, p.Pictures...) {
				out = append(out, fmt.Sprintf("%s %s%.4q", x.Kind, x.Text, x.Data))
			}
		}
	}
	return out
}

func TestFilesAreShownWithWhatTheyCameWith(t *testing.T) {
	t.Parallel()
	s := store{}
	picture, table := drawn(t, 0), []byte("a,b\n1,2\x1b\n")
	a := New(event.AgentSpec{Name: "agent-0", Window: 100000}, true)
	a.Told(event.Text{Text: "look"}, s.keep("plot.png", media.PNG, picture), s.keep("t.csv", media.Text, table), s.keep("x.bin", media.Bytes, []byte{0}))
	a.Called(1, a.NextCall())
	a.Told(event.Text{}, s.keep("late.png", media.PNG, drawn(t, 1)))
	a.Heard(2, &event.ModelResult{Parts: []event.Part{{Kind: event.PartToolCall, ID: "a", Name: "see"}}})
	a.Used(3, &event.ToolCall{Answer: 2, Part: 0})
	a.Got(0, 3, event.Text{Text: "seen"}, false, s.keep("shot.png", media.PNG, drawn(t, 2)), s.keep("log.txt", media.Text, []byte("ok")))
	line := func(name string, n int) string {
		return fmt.Sprintf("[picture %s, image/png, %d bytes]", name, len(drawn(t, n)))
	}
	want := []string{
		`text look""`,
		`text ` + line("plot.png", 0) + `""`, `image "\x89PNG"`,
		"text [file t.csv, text/plain, 9 bytes]\na,b\n1,2\\x1b\n\n[end of file]\"\"",
		`text [file x.bin, application/octet-stream, 1 bytes]""`,
		`tool_call ""`,
		"tool_result seen\n" + line("shot.png", 2) + "\n[file log.txt, text/plain, 2 bytes]\nok\n[end of file]\"\"", `image "\x89PNG"`,
		`text ""`, `text ` + line("late.png", 1) + `""`, `image "\x89PNG"`,
	}
	if diff := cmp.Diff(want, shown(t, &a.Transcript, s)); diff != "" {
		t.Errorf("what the model is shown differs (-want +got):\n%s", diff)
	}
}

func TestARenderingKeepsNoPictures(t *testing.T) {
	t.Parallel()
	s := store{}
	a := New(event.AgentSpec{Name: "agent-0", Window: 100000}, true)
	a.Told(event.Text{Text: "look"}, s.keep("plot.png", media.PNG, drawn(t, 0)))
	r := new(Rendering)
	for range 2 {
		got, err := r.Messages(&a.Transcript, &event.ModelCall{Last: a.Transcript.End() - 1}, s.read)
		if err != nil || len(got[0].Parts[2].Data) == 0 {
			t.Fatalf("the picture is not there: %v", err)
		}
		if len(r.messages[0].Parts[2].Data) > 0 {
			t.Error("the bytes of a picture are kept between requests")
		}
	}
}

func TestBytesAreNotTakenForWhatALedgerSaysTheyAre(t *testing.T) {
	t.Parallel()
	s := store{}
	a := New(event.AgentSpec{Name: "agent-0", Window: 100000}, true)
	a.Told(event.Text{Text: "look"}, s.keep("plot.png", media.PNG, []byte("<svg/>")), s.keep("plot.svg", "image/svg+xml", []byte("<svg/>")))
	want := []string{`text look""`, `text [picture plot.png, image/png, 6 bytes]""`, "text " + model.Unseen + `""`, `text [file plot.svg, image/svg+xml, 6 bytes]""`}
	if diff := cmp.Diff(want, shown(t, &a.Transcript, s)); diff != "" {
		t.Errorf("what the model is shown differs (-want +got):\n%s", diff)
	}
	delete(s, event.HashOf([]byte("<svg/>")))
	if _, err := new(Rendering).Messages(&a.Transcript, &event.ModelCall{}, s.read); err == nil {
		t.Error("a picture whose blob is missing was rendered")
	}
}

func TestOnlySoManyPicturesAreShown(t *testing.T) {
	t.Parallel()
	s := store{}
	a := New(event.AgentSpec{Name: "agent-0", Window: 1000000}, true)
	for n := range 45 {
		a.Told(event.Text{Text: "look"}, s.keep("plot.png", media.PNG, drawn(t, n)))
		pictures, first := 0, -1
		for i, line := range shown(t, &a.Transcript, s) {
			if strings.HasPrefix(line, "image ") {
				pictures++
				if first < 0 {
					first = i / 3
				}
			}
		}
		if pictures > media.MaxShown || pictures < min(n+1, media.MaxShown/2) || first%10 != 0 || first+pictures != n+1 {
			t.Fatalf("of %d pictures %d are shown, from number %d on", n+1, pictures, first)
		}
	}
	large := make([]event.Ref, 12)
	for i := range large {
		large[i].Size = media.MaxPicture
	}
	for n, want := range map[int]int{12: 10, 10: 7, 3: 0} {
		if got := firstShown(large[:n]); got != want {
			t.Errorf("of %d pictures of the largest size those from %d on are shown, want %d", n, got, want)
		}
	}
}

func TestFilesCountAndShowInHashes(t *testing.T) {
	t.Parallel()
	s := store{}
	tell := func(files ...event.Attachment) (tokens int64, sum event.Hash) {
		tr := &Transcript{}
		tr.add(model.User, []Part{{Kind: event.PartText, Text: event.Text{Text: "look"}, Attached: files}})
		return tr.Size, tr.Messages[0].Sum
	}
	plain, before := tell()
	if got, want := before.String(), "fa5f6067f14e40d40b19919cef821cfe62258489d63bf1243b5d82c08e46104b"; got != want {
		t.Errorf("a message without files has the sum %s, not %s as ever", got, want)
	}
	picture, text := s.keep("a.png", media.PNG, drawn(t, 0)), s.keep("a.txt", media.Text, bytes.Repeat([]byte("x"), 4000))
	for name, c := range map[string]struct {
		file event.Attachment
		most int64
	}{
		"a picture":   {picture, plain + media.PictureTokens + 40},
		"a text":      {text, plain + 1000 + 40},
		"a long text": {s.keep("a.txt", media.Text, bytes.Repeat([]byte("x"), 4<<20)), plain + media.MaxQuote/4 + 40},
		"a file":      {s.keep("a.bin", media.Bytes, bytes.Repeat([]byte{0}, 4<<20)), plain + 40},
	} {
		if got, _ := tell(c.file); got != c.most {
			t.Errorf("%s makes it %d tokens, want %d", name, got, c.most)
		}
	}
	seen := map[event.Hash]string{before: "nothing"}
	renamed, retyped, other := picture, picture, picture
	renamed.Name, retyped.Media, other.Ref = "b.png", media.GIF, text.Ref
	for name, files := range map[string][]event.Attachment{
		"one": {picture}, "another name": {renamed}, "another type": {retyped}, "other bytes": {other}, "two": {picture, text}, "two otherwise": {text, picture},
	} {
		_, sum := tell(files...)
		if twin, ok := seen[sum]; ok {
			t.Errorf("%s has the sum of %s", name, twin)
		}
		seen[sum] = name
	}
}

// TestAFullWindowLosesItsPictures: they are cut like any other content.
func TestAFullWindowLosesItsPictures(t *testing.T) {
	t.Parallel()
	s := store{}
	a := New(event.AgentSpec{Name: "agent-0", Model: "m", Window: 6000}, true)
	a.Told(event.Text{Text: "look"})
	for n := range 5 {
		seq := uint64(4 * n)
		c := a.NextCall()
		a.Called(seq+1, c)
		a.Heard(seq+2, &event.ModelResult{Parts: []event.Part{{Kind: event.PartToolCall, ID: "a", Name: "see"}}})
		a.Used(seq+3, &event.ToolCall{Answer: seq + 2, Part: 0})
		a.Got(0, seq+3, event.Text{Text: "seen"}, false, s.keep("shot.png", media.PNG, drawn(t, n)))
	}
	c := a.NextCall()
	a.Called(30, c)
	if c.First == 0 || a.Transcript.Size > 6000 {
		t.Errorf("five pictures stay in a window of 6000 tokens: it begins at %d and has %d", c.First, a.Transcript.Size)
	}
}

// TestAPromptShowsThePicturesThatFit: an executor that sees is shown the last ones that there is room
// for; the text says of each which it is, and of the others that they are not shown.
func TestAPromptShowsThePicturesThatFit(t *testing.T) {
	t.Parallel()
	blobs := store{}
	a := New(event.AgentSpec{Name: "a", System: blobs.keep("", media.Text, []byte("SYSTEM")).Ref}, false)
	a.Session = &Session{}
	a.Told(event.Text{Text: "Look."}, blobs.keep("one.png", media.PNG, drawn(t, 1)), blobs.keep("notes.txt", media.Text, []byte("words")), blobs.keep("two.png", media.PNG, drawn(t, 2)))
	a.Told(event.Text{Text: "And here."}, blobs.keep("liar.png", media.PNG, []byte("no picture")), blobs.keep("three.png", media.PNG, drawn(t, 3)))
	c := a.NextPrompt()
	shown := func(most int64) (string, []string) {
		t.Helper()
		text, pictures, err := a.Prompt(c, most, blobs.read)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range pictures {
			if p.Kind != model.PartImage || p.Media != media.PNG {
				t.Errorf("a picture is a %s of %s", p.Kind, p.Media)
			}
			for n := 1; n <= 3; n++ {
				if bytes.Equal(p.Data, drawn(t, n)) {
					got = append(got, fmt.Sprint(n))
				}
			}
		}
		return text, got
	}
	for _, tc := range []struct {
		most   int64
		want   string
		unseen int
	}{{0, "", 4}, {1 << 20, "1 2 3", 1}, {1100, "3", 3}, {10, "", 4}} {
		text, got := shown(tc.most)
		if strings.Join(got, " ") != tc.want || strings.Count(text, model.Unseen) != tc.unseen {
			t.Errorf("with %d bytes %v are shown, want %q and %d times that one is not:\n%s", tc.most, got, tc.want, tc.unseen, text)
		}
		for _, name := range []string{"SYSTEM", "Look.", "one.png", "notes.txt", "words", "two.png", "And here.", "liar.png", "three.png"} {
			if !strings.Contains(text, name) {
				t.Errorf("with %d bytes the text lacks %s:\n%s", tc.most, name, text)
			}
		}
	}
	// However small they are, a prompt shows no more than a request does.
	for n := range media.MaxShown + 5 {
		a.Told(event.Text{Text: "more"}, blobs.keep(fmt.Sprint(n), media.PNG, drawn(t, n)))
	}
	if _, pictures, err := a.Prompt(a.NextPrompt(), 1<<20, blobs.read); err != nil || len(pictures) != media.MaxShown {
		t.Errorf("%d pictures are shown, %v, want %d", len(pictures), err, media.MaxShown)
	}
	// One that cannot be read is an error, not a prompt without it.
	a.Told(event.Text{Text: "lost"}, event.Attachment{Media: media.PNG, Name: "x", Ref: event.RefOf([]byte("gone"))})
	if _, _, err := a.Prompt(a.NextPrompt(), 1<<20, blobs.read); err == nil {
		t.Error("a picture that is gone is left out without a word")
	}
}
