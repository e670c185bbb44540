// Package starlarktest holds programs that each dialect of Starlark runs, and
// compares what comes out with what came out before.
//
// A golden file has, for each program, what it printed and how it failed when
// nothing was short; and for each thing that a run has a limit of, the least
// that was enough and how the program ended with one less. So a price that
// changes by one step shows, although the program ends well.
package starlarktest

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

//go:embed programs
var programs embed.FS

var update = flag.Bool("update", false, "write the golden files anew")

// Limit is something that a run has only so much of.
type Limit struct {
	Name string
	Most int
}

// Programs returns the programs by name.
func Programs(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"random", "tests", "written"} {
		data, err := programs.ReadFile("programs/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			all[name+"/"+f.Name] = string(f.Data)
		}
	}
	return all
}

// Golden runs all programs, and more, and compares what comes out with the file
// at path. run gets as much of each limit as it may use up.
func Golden(t *testing.T, path string, more map[string]string, limits []Limit, run func(code string, most []int) (string, error)) {
	all := Programs(t)
	maps.Copy(all, more)
	want := map[string]string{}
	if data, err := os.ReadFile(path); err == nil {
		for _, f := range txtar.Parse(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))).Files {
			want[f.Name] = string(f.Data)
		}
	} else if !*update {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, code := range all {
		got[name] = record(code, want[name], limits, run)
	}
	if *update {
		var a txtar.Archive
		for _, name := range slices.Sorted(maps.Keys(got)) {
			a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
		}
		if err := os.WriteFile(path, txtar.Format(&a), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(want) != len(got) {
		t.Errorf("%s has %d programs, and %d were run", path, len(want), len(got))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s\n%s\ncame out as\n%swant\n%s", name, all[name], got[name], text)
		}
	}
}

// record runs a program with less and less, until it is not enough. before is what was
// recorded of it: the least that was enough then is tried first.
func record(code, before string, limits []Limit, run func(string, []int) (string, error)) string {
	most := make([]int, len(limits))
	for i, l := range limits {
		most[i] = l.Most
	}
	outcome := func(i, n int) string {
		given := slices.Clone(most)
		given[i] = n
		out, err := run(code, given)
		text := "printed " + short(out) + "\n"
		if err != nil {
			text += "error " + short(err.Error()) + "\n"
		}
		return text
	}
	enough := outcome(0, most[0])
	text := enough
	for i, l := range limits {
		least := recorded(before, l)
		if least > 1 && outcome(i, least-1) == enough || least < l.Most && outcome(i, least) != enough {
			least = l.Most
			if outcome(i, least-1) == enough { // else it met the limit; do not make it do so again and again
				least = 1 + sort.Search(l.Most-1, func(n int) bool { return outcome(i, n+1) == enough })
			}
		}
		text += fmt.Sprintf("%s %d\n", l.Name, least)
		if least > 1 {
			text += "with one less " + strings.ReplaceAll(outcome(i, least-1), "\nerror", ", error")
		}
	}
	return text
}

// recorded is the least of a limit that was enough before, or all of it.
func recorded(before string, l Limit) int {
	for line := range strings.Lines(before) {
		var n int
		if _, err := fmt.Sscanf(line, l.Name+" %d\n", &n); err == nil && n >= 1 && n <= l.Most {
			return n
		}
	}
	return l.Most
}

// short quotes a text; of a long one only its beginning and what tells it from
// others.
func short(s string) string {
	if len(s) <= 160 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q... of %d bytes, sha256 %x", s[:80], len(s), sha256.Sum256([]byte(s)))
}
