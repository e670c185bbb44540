package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"
)

// dot is a picture of one pixel, as base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

type shownFile struct {
	Media, Name string
	Ref         event.Ref
	Picture     bool
}

// attachedTo is what came with the messages of an agent, in order.
func (s *server) attachedTo(quest string) (out []shownFile) {
	s.t.Helper()
	var all struct {
		Messages []struct {
			Parts []struct{ Attachments []shownFile }
		}
	}
	s.do("GET", "/api/quests/"+quest+"/agents/agent-0/transcript", nil).want(s.t, 200).into(s.t, &all)
	for _, m := range all.Messages {
		for _, p := range m.Parts {
			out = append(out, p.Attachments...)
		}
	}
	return out
}

// noise is a picture too large to stand in a stream.
func noise(t *testing.T) []byte {
	t.Helper()
	d := image.NewGray(image.Rect(0, 0, 300, 300))
	_, _ = rand.NewChaCha8([32]byte{1}).Read(d.Pix)
	var b bytes.Buffer
	must(t, png.Encode(&b, d))
	return b.Bytes()
}

func TestFilesOfAMessage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.create("q", nil)
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "Look.", "attachments": []any{
		map[string]any{"name": "../a/dot.txt", "data": dot},
		map[string]any{"name": "dot.png", "data": base64.StdEncoding.EncodeToString([]byte(svg))},
		map[string]any{"name": "noise.png", "data": base64.StdEncoding.EncodeToString(noise(t))},
	}}).want(t, 202)

	files := s.attachedTo("q")
	if len(files) != 3 || !files[2].Picture || files[0].Media != media.PNG || files[0].Name != "dot.txt" || !files[0].Picture || files[1].Media != media.Text || files[1].Picture {
		t.Fatalf("the transcript has the files %+v, want a picture, a text and a large picture", files)
	}
	for i, want := range []struct{ kind, disposition string }{{"image/png", ""}, {"text/plain; charset=utf-8", "attachment"}} {
		got := s.do("GET", "/api/blobs/"+files[i].Ref.Hash.String(), nil).want(t, 200)
		if kind := got.header.Get("Content-Type"); kind != want.kind {
			t.Errorf("file %d is served as %s, want %s", i, kind, want.kind)
		}
		if d := got.header.Get("Content-Disposition"); !strings.HasPrefix(d, want.disposition) || d == "" != (want.disposition == "") {
			t.Errorf("file %d is served with the disposition %q, want %q", i, d, want.disposition)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("file %d is served with %v", i, got.header)
		}
	}

	var page struct {
		Updates []struct{ Notification json.RawMessage }
	}
	s.do("GET", "/api/quests/q/events?format=acp", nil).want(t, 200).into(t, &page)
	all := ""
	for _, u := range page.Updates {
		all += string(u.Notification) + "\n"
	}
	for _, want := range []string{`"text":"Look."`, `"data":"` + dot + `"`, `"mimeType":"image/png"`, `"type":"resource_link"`, "/api/blobs/" + files[1].Ref.Hash.String(), "/api/blobs/" + files[2].Ref.Hash.String()} {
		if !strings.Contains(all, want) {
			t.Errorf("the notifications have no %s:\n%s", want, all)
		}
	}
}

func TestFilesOfAMessageAreBounded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.create("q", nil)
	one := map[string]any{"name": "dot.png", "data": dot}
	large := map[string]any{"name": "series.csv", "data": strings.Repeat("QUFB", media.MaxFile/3+1)}
	for name, c := range map[string]struct {
		body map[string]any
		code int
		says string
	}{
		"nothing":   {map[string]any{"text": " "}, 400, "a message has 1 to 8192 bytes"},
		"too many":  {map[string]any{"attachments": []any{one, one, one, one, one, one, one, one, one}}, 400, "at most 8 files"},
		"too large": {map[string]any{"attachments": []any{large}}, 400, `a file of a message has at most 25 MiB; \"series.csv\" has 26214402 bytes`},
		"huge":      {map[string]any{"attachments": []any{large, large}}, 413, ""},
		"a member":  {map[string]any{"text": "x", "attachments": []any{map[string]any{"media": "image/png", "data": dot}}}, 400, "media"},
		"a ref":     {map[string]any{"text": "x", "attachments": []any{map[string]any{"ref": map[string]any{"hash": strings.Repeat("0", 64)}}}}, 400, "ref"},
	} {
		got := s.do("POST", "/api/quests/q/messages", c.body)
		if got.code != c.code || !strings.Contains(string(got.body), c.says) {
			t.Errorf("%s: answered with %d and %.200s, want %d and %q", name, got.code, got.body, c.code, c.says)
		}
	}
	if files := s.attachedTo("q"); files != nil {
		t.Errorf("what was refused is in the transcript: %+v", files)
	}
}

// TestAPictureOfAToolIsInTheTranscript has an agent read a picture that is in its home.
func TestAPictureOfAToolIsInTheTranscript(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	h.gate.says = func(r *model.Request) *model.Answer {
		if r.Turn == 1 {
			return call("read_file", `{"path":"dot.png"}`, 1)
		}
		return said("A dot.")
	}
	h.gate.let(9)
	s := h.serve(api.Options{})
	s.do("POST", "/api/quests", map[string]any{"start": true, "spec": map[string]any{
		"name": "q", "problem": "Look.", "model": "gate", "data": "data", "tools": []string{"read_file"},
	}, "files": []any{map[string]any{"path": "data/dot.png", "base64": dot}}}).want(t, 201)
	s.released("q")
	files := s.attachedTo("q")
	if len(files) != 1 || files[0].Media != media.PNG || files[0].Name != "dot.png" || !files[0].Picture {
		t.Errorf("the transcript has the files %+v, want the picture that was read", files)
	}
}
