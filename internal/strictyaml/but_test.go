package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/strictyaml"

	"github.com/google/go-cmp/cmp"
)

// page is what these tests read.
type page struct {
	Title string         `yaml:"title"`
	Lines int64          `yaml:"lines"`
	Notes map[string]int `yaml:"notes"`
	Tags  []string       `yaml:"tags"`
}

// TestDecodeButIsDecodeWhereNoKeyIsAnothers: the same values, and the same words about
// what is wrong.
func TestDecodeButIsDecodeWhereNoKeyIsAnothers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " \n\n", "# only a comment\n", "---\n", "null", "title: a", "title: a\nlines: 3\n", "---\ntitle: a\n", "# c\n---\ntitle: a\n", "title: a\n...\n",
		"{title: a, lines: 3}", "title: |\n  a\n  b\nlines: 3\n", "title: a # c\n# d\nlines: 3 # e\n", "'title': a", "title:\nlines: ~\n", "notes: {a: 1}\ntags: [x, y]",
		"- a\n- b\n", "a", "3", "colour: red", "title: a\ncolour: red\n", "title: a\ntitle: b\n", "title: [", "title: [a]\n", "lines: many\n", "lines: 99999999999999999999",
		"title: a\n---\ntitle: b\n", "title: &a b", "<<: {title: a}", "? title\n: a\n", "? [a, b]\n: c\n", "3: a\n", "\ttitle: a", "title: a\n lines: 3\n", "\x00\xff", "title: \"a",
	} {
		var want, got page
		wantErr := strictyaml.Decode("f.yaml", []byte(text), &want)
		taken, gotErr := strictyaml.DecodeBut("f.yaml", []byte(text), &got, func(string) bool { return false })
		if d := cmp.Diff(want, got); d != "" || fmt.Sprint(wantErr) != fmt.Sprint(gotErr) || len(taken) > 0 {
			t.Errorf("%q: got %v, want %v; values (-want +got):\n%s", text, gotErr, wantErr, d)
		}
	}
}

func TestDecodeButLeavesWhatIsAnothers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"title: a\ncolour: red\nlines: 3\n", "colour: red\nlines: 3\ntitle: a\n", "{colour: red, title: a, lines: 3}", "title: a\n'colour': red\nlines: 3"} {
		var got page
		taken, err := strictyaml.DecodeBut("f.yaml", []byte(text), &got, func(key string) bool { return key == "colour" })
		if err != nil {
			t.Fatalf("%q is refused: %v", text, err)
		}
		var colour string
		if err := strictyaml.Value(taken["colour"], &colour); err != nil || colour != "red" || got.Title != "a" || got.Lines != 3 || len(taken) != 1 {
			t.Errorf("%q: got %+v and the colour %q, %v", text, got, colour, err)
		}
	}
	for text, want := range map[string]string{
		"colour: red\n":                   "",
		"notes: {colour: red}\n":          "f.yaml:1:17:",
		"colour: red\ncolour: blue\n":     `f.yaml:2:1: mapping key "colour" already defined`,
		"colour: red\ntitle: a\nsize: 3":  `f.yaml:3:1: unknown field "size"`,
		"colour: red\n\n# c\nlines: many": "f.yaml:4:8: there must be a number here, not a text",
	} {
		_, err := strictyaml.DecodeBut("f.yaml", []byte(text), new(page), func(key string) bool { return key == "colour" })
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	taken, err := strictyaml.DecodeBut("f.yaml", []byte("title: a\ncolour: [red]\n"), new(page), func(key string) bool { return key == "colour" })
	if err != nil {
		t.Fatal(err)
	}
	var number int64
	if err := strictyaml.InFile("f.yaml", strictyaml.Value(taken["colour"], &number)); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:2:9:") {
		t.Errorf("a list for a number: got %v, want its place", err)
	}
}
