package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/need"
	rules "lyceum/internal/society/lab"
)

// attempt is a submission that is refused, or not.
type attempt struct {
	// args are those besides the title and the content.
	args args
	// make puts something into the home.
	make func(home string) error
	// says is what the agent is told; nothing, if the paper is taken.
	says string
}

func attaching(paths ...string) args { return args{"attachments": paths} }

func file(name string) func(string) error {
	return func(home string) error {
		path := filepath.Join(home, name)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o644))
	}
}

func sparse(size int64, names ...string) func(string) error {
	return func(home string) (err error) {
		for _, name := range names {
			err = errors.Join(err, file(name)(home), os.Truncate(filepath.Join(home, name), size))
		}
		return err
	}
}

func attempts() map[string]attempt {
	many, long := []string{}, []string{}
	for i := range 101 {
		many = append(many, fmt.Sprint("many/", i))
	}
	for i := range 100 {
		long = append(long, fmt.Sprintf("long/%s%02d", strings.Repeat(`"`, 90), i))
	}
	odd := strings.Repeat("\x01", 1000)
	list := map[string]attempt{
		"good":                {attaching("good/a.txt"), file("good/a.txt"), ""},
		"good, as it is seen": {attaching("/home/agent/seen.txt"), file("seen.txt"), ""},
		"a link inside": {attaching("near"), func(h string) error {
			return errors.Join(file("real")(h), os.Symlink("real", filepath.Join(h, "near")))
		}, ""},
		"odd but good names": {attaching("-rf", "a b;c", "$(touch x).sh", "ünï"), func(h string) error {
			return errors.Join(file("-rf")(h), file("a b;c")(h), file("$(touch x).sh")(h), file("ünï")(h))
		}, ""},
		"a long text": {args{"content": strings.Repeat("x", 1<<20)}, nil, ""},
		"much but not too much": {args{"content": strings.Repeat("y", 4000), "attachments": long[:30]}, func(h string) (err error) {
			for _, name := range long {
				err = errors.Join(err, file(name)(h))
			}
			return err
		}, ""},

		"missing":               {attaching("nothing.txt"), nil, `there is no file "nothing.txt" in your home`},
		"a folder":              {attaching("folder"), file("folder/x"), "is a folder; attach its files"},
		"up and away":           {attaching("../../../../../../etc/passwd"), nil, "it is not a file of your home"},
		"another's home":        {attaching("../agent-1/x"), nil, "it is not a file of your home"},
		"absolute":              {attaching("/etc/passwd"), nil, "it is not a file of your home"},
		"a link out":            {attaching("leak"), func(h string) error { return os.Symlink("/etc/passwd", filepath.Join(h, "leak")) }, "it is not a file of your home"},
		"a pipe":                {attaching("pipe"), func(h string) error { return syscall.Mkfifo(filepath.Join(h, "pipe"), 0o644) }, "is not a plain file"},
		"a clash of names":      {attaching("one/same", "two/same"), func(h string) error { return errors.Join(file("one/same")(h), file("two/same")(h)) }, `two of the files are called "same"`},
		"the paper itself":      {attaching("publication.md"), file("publication.md"), "the lab has a file of that name"},
		"the paper, shouting":   {attaching("PUBLICATION.md"), file("PUBLICATION.md"), "the lab has a file of that name"},
		"the lab's own":         {attaching("Reviews.md"), file("Reviews.md"), "the lab has a file of that name"},
		"git's":                 {attaching(".git"), file(".git"), "cannot be attached; rename it"},
		"git's, shouting":       {attaching(".GIT"), file(".GIT"), "cannot be attached; rename it"},
		"git's attributes":      {attaching("x/.gitattributes"), file("x/.gitattributes"), "cannot be attached; rename it"},
		"git's, in short":       {attaching("git~1"), file("git~1"), "cannot be attached; rename it"},
		"ten gigabytes":         {attaching("huge"), sparse(10<<30, "huge"), "larger than 64 MiB together"},
		"too much together":     {attaching("half-1", "half-2"), sparse(40<<20, "half-1", "half-2"), "larger than 64 MiB together"},
		"two lines in a name":   {attaching("a\nb"), file("a\nb"), "characters that cannot be seen"},
		"an escape in a name":   {attaching("a\x1b[2Jb"), file("a\x1b[2Jb"), "characters that cannot be seen"},
		"a name without end":    {attaching(strings.Repeat("n", 101)), file(strings.Repeat("n", 101)), "longer than 100 bytes"},
		"no name":               {attaching(""), nil, "give the path of a file"},
		"nul":                   {attaching("a\x00b"), nil, "cannot be seen"},
		"too many":              {attaching(many...), nil, "at most 100 are allowed"},
		"names that do not fit": {attaching(long...), nil, "too long together"},
		"words that do not fit": {args{"title": odd, "entrypoint": odd, "revises": odd}, nil, "too long together"},
		"a text without end":    {args{"content": strings.Repeat("x", 1<<20+1)}, nil, "put the rest into attached files"},
		"a title of two lines":  {args{"title": "a\nb"}, nil, "must be one line"},
		"an escape in a title":  {args{"title": "a\x1b[31mb"}, nil, "must be one line, without control characters"},
		"no citation":           {args{"content": "see [ffffffffffffffffffffffffffffffff]"}, nil, "cites publications that do not exist: ffffffffffffffffffffffffffffffff"},
		"an entry point":        {args{"entrypoint": "x.sh"}, nil, "is not among the attachments"},
	}
	if os.Geteuid() != 0 {
		list["unreadable"] = attempt{attaching("closed"), func(h string) error { return errors.Join(file("closed")(h), os.Chmod(filepath.Join(h, "closed"), 0)) }, "cannot be read: change its mode"}
	}
	return list
}

// TestWhatCanBeHandedIn: what is wrong with a submission is told in words that the
// agent can act on, nothing comes of it, and the quest goes on.
func TestWhatCanBeHandedIn(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	table := attempts()
	var names []string
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if int(r.Turn) > len(names) {
			return nil
		}
		call := args{"title": names[r.Turn-1], "content": "text"}
		for k, v := range table[names[r.Turn-1]].args {
			call[k] = v
		}
		return []act{{"submit_publication", call}}
	})
	name := l.found(1, "")
	for _, x := range table {
		if x.make != nil {
			must(t, x.make(l.home(name, "agent-0")))
		}
	}
	s := l.run(name)
	if s.Rested != event.RestNoAgreement {
		t.Fatalf("the quest is %s: %s, want it to rest without a vote", s.Status, s.Reason)
	}
	said := l.answers(name, "agent-0")
	if len(said) != len(names) {
		t.Fatalf("%d answers to %d calls", len(said), len(names))
	}
	var taken []string
	for i, a := range said {
		want := table[names[i]].says
		if a.failed != (want != "") || !strings.Contains(a.text, want) {
			t.Errorf("%s: %.300q, want %q", names[i], a.text, want)
		}
		if strings.Contains(a.text, l.Home) {
			t.Errorf("%s: the agent is told a path of the host: %.300q", names[i], a.text)
		}
		if want == "" {
			taken = append(taken, names[i])
		}
	}
	var have []string
	for _, p := range rules.Library(s).Papers {
		have = append(have, p.Title)
	}
	if !slices.Equal(have, taken) {
		t.Errorf("the papers are %q, want %q", have, taken)
	}
	l.onDisk(name)
	l.whole(name)
}

// inTheWay is what an agent can have put where a paper is to be delivered.
var inTheWay = map[string]struct {
	make  func(publications, ref, outside string) error
	fails bool
}{
	"nothing":       {func(string, string, string) error { return nil }, false},
	"an older copy": {func(p, ref, _ string) error { return file(ref + "/old")(p) }, false},
	"a link out": {func(p, ref, out string) error {
		return errors.Join(os.Mkdir(p, 0o755), os.Symlink(out, filepath.Join(p, ref)))
	}, false},
	"a file": {func(p, ref, _ string) error { return file(ref)(p) }, false},
	"a pipe for a file": {func(p, ref, _ string) error {
		return errors.Join(os.MkdirAll(filepath.Join(p, ref), 0o755), syscall.Mkfifo(filepath.Join(p, ref, "publication.md"), 0o644))
	}, false},
	"a link for a file": {func(p, ref, out string) error {
		return errors.Join(os.MkdirAll(filepath.Join(p, ref), 0o755), os.Symlink(filepath.Join(out, "kept"), filepath.Join(p, ref, "publication.md")))
	}, false},
	"all linked out":        {func(p, _, out string) error { return os.Symlink(out, p) }, true},
	"a file for the folder": {func(p, _, _ string) error { return os.WriteFile(p, nil, 0o644) }, true},
}

// TestDeliveryReplacesWhatIsThere: whatever an agent puts in the way of a paper, nothing
// outside its home is touched, and it gets the paper or hears what to do.
func TestDeliveryReplacesWhatIsThere(t *testing.T) {
	t.Parallel()
	for what, x := range inTheWay {
		t.Run(strings.ReplaceAll(what, " ", "-"), func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			must(t, os.WriteFile(filepath.Join(outside, "kept"), []byte("mine"), 0o644))
			var l *lab
			var name, ref string
			l = research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
				switch r.Turn {
				case 1:
					return []act{{"submit_publication", args{"title": "T", "content": "C", "attachments": []string{"a"}}}}
				case 2:
					ref = regexp.MustCompile(`[0-9a-f]{32}`).FindString(heard(r))
					if err := x.make(filepath.Join(l.home(name, "agent-0"), "publications"), ref, outside); err != nil {
						t.Error(err)
					}
					return []act{{"get_publication", args{"ref": ref}}}
				}
				return nil
			})
			name = l.found(1, "")
			must(t, file("a")(l.home(name, "agent-0")))
			l.run(name)
			got := l.answers(name, "agent-0")[1]
			if got.failed != x.fails || strings.Contains(got.text, l.Home) {
				t.Fatalf("the tool: got %+v, want what the case says and no path of the host", got)
			}
			kept, err := os.ReadFile(filepath.Join(outside, "kept"))
			must(t, err)
			if list, err := os.ReadDir(outside); err != nil || len(list) != 1 || string(kept) != "mine" {
				t.Errorf("what is outside was changed: %v %v %q", list, err, kept)
			}
			if x.fails {
				if !strings.Contains(got.text, "move away what is there") {
					t.Errorf("got %q, want advice to move away what is there", got.text)
				}
				return
			}
			dir := filepath.Join(l.home(name, "agent-0"), "publications", ref)
			text, err := os.ReadFile(filepath.Join(dir, "publication.md"))
			must(t, err)
			attached, err := os.ReadFile(filepath.Join(dir, "a"))
			must(t, err)
			if list, err := os.ReadDir(dir); err != nil || len(list) != 2 || !strings.Contains(string(text), "title: \"T\"") || string(attached) != "a" {
				t.Errorf("delivered were %v %v: %q and %q", list, err, text, attached)
			}
			l.whole(name)
		})
	}
}
