package tool

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"

	"lyceum/internal/media"
	"lyceum/internal/model"
)

func drawn(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 5, 5))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadFileShowsPictures(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	picture := drawn(t)
	w.put("sub/plot.txt", picture) // its name says something else
	w.put("cut.png", picture[:len(picture)-1])
	w.put("huge.png", picture+strings.Repeat("x", media.MaxPicture))
	w.put("words.gif", "GIF89a is how a GIF begins\n")
	w.put("drawing.svg", "<svg/>\n")
	for path, c := range map[string]struct {
		want  string
		shown bool
	}{
		"sub/plot.txt": {"The file is a picture.", true},
		"cut.png":      {"(binary file, ", false},
		"huge.png":     {"(picture of type image/png, 3670", false},
		"words.gif":    {"GIF89a is how a GIF begins\n", false},
		"drawing.svg":  {"<svg/>\n", false},
	} {
		got := Builtin().Do(t.Context(), "read_file", Call{Args: []byte(`{"path":"` + path + `"}`), Home: w.root})
		if got.Error || !strings.HasPrefix(got.Text, c.want) || (len(got.Files) == 1) != c.shown {
			t.Errorf("read_file of %s gave %d files and %q, want %q", path, len(got.Files), got.Text, c.want)
		}
		if c.shown && (got.Files[0].Name != path || string(got.Files[0].Data) != picture) {
			t.Errorf("read_file of %s gave %d bytes as %q", path, len(got.Files[0].Data), got.Files[0].Name)
		}
	}
}

func TestAToolThatGivesFiles(t *testing.T) {
	t.Parallel()
	give := func(err error, broken bool) Result {
		r, fault := New(Tool{
			Tool: model.Tool{Name: "give", Description: "gives", Schema: `{"type":"object"}`},
			Give: func(context.Context, Call) (string, []media.File, error) {
				if broken {
					panic("broken")
				}
				return "here", []media.File{{Name: "a"}}, err
			},
		})
		if fault != nil {
			t.Fatalf("a tool that gives files is refused: %v", fault)
		}
		return r.Do(t.Context(), "give", Call{})
	}
	if got := give(nil, false); got.Error || got.Text != "here" || len(got.Files) != 1 {
		t.Errorf("a tool that gives a file gave %+v", got)
	}
	if got := give(errors.New("half of it"), false); !got.Error || got.Text != "here\nerror: half of it" || len(got.Files) != 1 {
		t.Errorf("a tool that fails with a file gave %+v", got)
	}
	if got := give(nil, true); !got.Error || len(got.Files) != 0 {
		t.Errorf("a tool that panics gave %+v", got)
	}
}
