package runtime_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/media"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
)

// drawn is a picture of a width, of which no two are the same.
func drawn(t *testing.T, width int) []byte {
	t.Helper()
	d := image.NewGray(image.Rect(0, 0, width, 2))
	d.SetGray(0, 0, color.Gray{9})
	var b bytes.Buffer
	must(t, png.Encode(&b, d))
	return b.Bytes()
}

// watched keeps the last request of a model.
type watched struct {
	model.Model
	mu   sync.Mutex
	last *model.Request
}

func (w *watched) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	w.mu.Lock()
	w.last = r
	w.mu.Unlock()
	return w.Model.Generate(ctx, r, emit)
}

// pictures are the bytes of those in the last request.
func (w *watched) pictures() (out [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	model.EachPicture(w.last.Messages, func(p *model.Part) string {
		out = append(out, p.Data)
		return ""
	})
	return out
}

// watch has all models of a runtime watched.
func (l *lab) watch() *watched {
	w, open := &watched{}, l.Models
	l.Models = func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		m, err := open(name, pin)
		if w.Model == nil {
			w.Model = m
		}
		return w, err
	}
	return w
}

const looking = `
rules:
  - on: {last: "figure\\.png"}
    say: "It is a line."
  - on: {turn: 1}
    call: [{tool: read_file, args: {path: plot.png}}]
  - on: {tool: read_file, result: "\\[picture plot\\.png, image/png, \\d+ bytes\\]"}
    say: "It is a dot."
`

func TestAPictureOfAToolReachesTheModel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.watch()
	p := plan(t, "q", "data: files\n", looking)
	picture := drawn(t, 40)
	must(t, os.Mkdir(filepath.Join(p.Dir, "files"), 0o700))
	must(t, os.WriteFile(filepath.Join(p.Dir, "files", "plot.png"), picture, 0o600))
	name := l.create(p)
	s := l.run(name)
	if s.Status != quest.Finished || s.Answer.Text != "It is a dot." {
		t.Fatalf("the quest is %s with the answer %v", s.Status, s.Answer)
	}
	if got := seen.pictures(); len(got) != 1 || !bytes.Equal(got[0], picture) {
		t.Errorf("the model was shown %d pictures, want the one of the file", len(got))
	}
	want := event.Attachment{Media: media.PNG, Name: "plot.png", Ref: event.RefOf(picture)}
	if !slices.ContainsFunc(l.events(name), func(e event.Event) bool {
		b, ok := e.Body.(*event.ToolResult)
		return ok && len(b.Attachments) == 1 && b.Attachments[0] == want
	}) {
		t.Errorf("no tool.result has the picture %+v", want)
	}
	l.sound(name)
}

func TestAPersonsFilesReachTheModel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seen := l.watch()
	name := l.create(plan(t, "q", "", looking))
	picture := drawn(t, 30)
	files, err := l.Attach(t.Context(), []media.File{{Name: "/home/ann/figure.png", Data: picture}, {Name: "notes.svg", Data: []byte("<svg/>")}})
	must(t, err)
	if files[0] != (event.Attachment{Media: media.PNG, Name: "figure.png", Ref: event.RefOf(picture)}) || files[1].Media != media.Text {
		t.Fatalf("the files are attached as %+v", files)
	}
	_, err = l.Post(t.Context(), name, ledger.Command{Body: &event.UserMessage{Attachments: files, Text: event.Text{Text: "And this?"}}})
	must(t, err)

	// Nothing but the inbox knows of the blobs yet: they must stay all the same.
	if _, _, err := l.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := l.run(name); s.Status != quest.Finished || s.Answer.Text != "It is a line." {
		t.Fatalf("the quest is %s with the answer %v", s.Status, s.Answer)
	}
	if got := seen.pictures(); len(got) != 1 || !bytes.Equal(got[0], picture) {
		t.Errorf("the model was shown %d pictures, want the one that was sent", len(got))
	}
	l.sound(name)

	fork, err := l.Fork(t.Context(), name, runtime.ForkOptions{Name: "again", Message: "Once more: figure.png?"})
	must(t, err)
	must(t, l.Clean(t.Context(), name, true))
	if _, _, err := l.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.run(fork.Name)
	if got := seen.pictures(); len(got) != 1 || !bytes.Equal(got[0], picture) {
		t.Errorf("the fork's model was shown %d pictures, want that of the origin", len(got))
	}
	l.sound(fork.Name)
}

func TestAttachRefusesWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for words, files := range map[string][]media.File{
		"at most 8 files; this one has 9":                 make([]media.File, media.MaxFiles+1),
		`at most 25 MiB; "series.csv" has 26214401 bytes`: {{Data: []byte("x")}, {Name: "/home/ann/series.csv", Data: make([]byte, media.MaxFile+1)}},
	} {
		if _, err := l.Attach(t.Context(), files); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("too much was refused with %v, want %q", err, words)
		}
	}
	l.Secrets = func() []string { return []string{"sk-secret-1234567"} }
	got, err := l.Attach(t.Context(), []media.File{{Name: strings.Repeat("n", 500) + "\x00", Data: []byte("key: sk-secret-1234567")}})
	must(t, err)
	data, err := l.Blob(t.Context(), got[0].Ref)
	must(t, err)
	if string(data) != "key: [key]" || len(got[0].Name) > media.MaxName+3 {
		t.Errorf("a file is kept as %q under a name of %d bytes", data, len(got[0].Name))
	}
}

// TestAToolCannotGiveTooMuch: what does not fit is left out, and the agent is told.
func TestAToolCannotGiveTooMuch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  []media.File
		window string
		kept   int
		told   string
	}{
		"many":  {make([]media.File, 30), "", media.MaxFiles, "(and 14 more)"},
		"large": {[]media.File{{Name: "a.bin", Data: make([]byte, media.MaxBytes)}, {Name: "b.txt", Data: []byte("b")}}, "", 1, "(left out: [file b.txt, text/plain, 1 bytes])"},
		"wide":  {[]media.File{{Name: "a.png", Data: drawn(t, 3)}, {Name: "b.png", Data: drawn(t, 4)}}, "window: 5000\n", 1, "(left out: [picture b.png, image/png, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			reg, err := tool.New(tool.Tool{
				Tool: model.Tool{Name: "give", Description: "gives", Schema: `{"type":"object"}`},
				Give: func(context.Context, tool.Call) (string, []media.File, error) { return "Here.", c.files, nil },
			})
			must(t, err)
			l.Tools = reg
			q := l.create(plan(t, "q", c.window, "rules:\n  - on: {turn: 1}\n    call: [{tool: give, args: {}}]\n  - on: {turn: 2}\n    say: Done.\n"))
			l.run(q)
			for _, e := range l.events(q) {
				if b, ok := e.Body.(*event.ToolResult); ok && (len(b.Attachments) != c.kept || !strings.Contains(b.Output.Text, c.told)) {
					t.Errorf("%d files came with %q, want %d and %q", len(b.Attachments), b.Output.Text, c.kept, c.told)
				}
			}
			l.sound(q)
		})
	}
}
