package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/need"
)

func TestEditFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, rest, after, want string }{
		"ReplacesAText":         {"one\ntwo\nthree\n", `"old":"two","new":"2"`, "one\n2\nthree\n", "replaced the text at line 2 of f"},
		"ReplacesSeveralLines":  {"one\ntwo\nthree\n", `"old":"two\nth","new":""`, "one\nree\n", "replaced the text at line 2 of f"},
		"ReplacesAll":           {"a a\na", `"old":"a","new":"aa","all":true`, "aa aa\naa", "replaced the text at 3 places of f"},
		"TakesAllOfOne":         {"a", `"old":"a","new":"b","all":true`, "b", "replaced the text at line 1 of f"},
		"KeepsOtherBytes":       {"\xff\x00a\r\n", `"old":"a","new":"$1"`, "\xff\x00$1\r\n", "replaced the text at line 1 of f"},
		"RefusesSeveral":        {"a\n\na a\n", `"old":"a","new":"b"`, "", "error: the old text is in f 3 times, at lines 1, 3, 3; give more of the lines around it, or set all"},
		"RefusesVeryMany":       {strings.Repeat("a\n", 50), `"old":"a","new":"b"`, "", "error: the old text is in f 50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...; give more of the lines around it, or set all"},
		"RefusesNoChange":       {"a", `"old":"a","new":"a"`, "", "error: old and new are the same"},
		"RefusesWhatIsNotThere": {"a", `"old":"b","new":"a"`, "", "error: the old text is not in f; read_file shows what is there"},
		"SeesWhiteSpace":        {"x\n\tif a {\n\t\tb()\n", `"old":"if a {\n  b()\n","new":"a"`, "", `error: the old text is not in f; line 2 and on differ from it only in white space: "\tif a {"`},
		"SeesWhereItDiffers":    {"}\nif a {\nb(1)\n}", `"old":"if a {\nb(2)\n","new":"a"`, "", `error: the old text is not in f; it is there from line 2 on, up to line 3, which is "b(1)"`},
		"SeesTheEnd":            {"x\nif a {", `"old":"if a {\nb(2)\n","new":"a"`, "", `error: the old text is not in f; it is there from line 2 on, but the file ends before it does`},
		"SeesWindowsLines":      {"a\r\nb\r\n", `"old":"a\nb","new":"a"`, "", `error: the old text is not in f; the lines of the file end in \r\n, those of the old text in \n`},
		"RefusesAnEmptyText":    {"a", `"old":"","new":"a"`, "", `error: the argument "old" is ""`},
		"RefusesBlanks":         {"a", `"old":" \n ","new":"a"`, "", "error: the old text is not in f; read_file shows what is there"},
		"RefusesToGrowTooMuch":  {strings.Repeat("a", 1<<20), `"old":"a","new":"aaaaaaaaaaaaaaaaaaaa","all":true`, "", "error: f would be larger than 8 MiB"},
		"RefusesALargeFile":     {strings.Repeat("a", maxEdit+1), `"old":"a","new":"b"`, "", "error: f is larger than 8 MiB; a program such as sed can change it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.put("f", c.before)
			w.must(os.Chmod(filepath.Join(w.dir, "f"), 0o640))
			got := w.run("edit_file", `{"path":"f",`+c.rest+`}`)
			if failed := strings.HasPrefix(c.want, "error"); got.Error != failed || !strings.HasPrefix(got.Text, c.want) || len(got.Text) > 600 {
				t.Errorf("got %+v", got)
			} else if failed {
				c.after = c.before
			}
			after, err := os.ReadFile(filepath.Join(w.dir, "f"))
			w.must(err)
			info, err := os.Stat(filepath.Join(w.dir, "f"))
			w.must(err)
			if string(after) != c.after || info.Mode().Perm() != 0o640 {
				t.Errorf("the file is %.100q, %v", after, info.Mode())
			}
			if _, err := os.Lstat(filepath.Join(w.dir, ".write_file.tmp")); err == nil {
				t.Error("something was left behind")
			}
		})
	}
	w := newFixture(t)
	for name, c := range map[string]struct{ path, want string }{
		"RefusesAFolder":  {"sub", "error: sub is a folder; give the path of a file"},
		"RefusesALink":    {"link", "error: link is a link; it is not written to"},
		"RefusesAPipe":    {"pipe", "error: pipe is a pipe; it is not written to"},
		"RefusesNoFile":   {"none", "error: there is no none; list_files shows what there is"},
		"RefusesTheHome":  {".", "error: . is a folder; give the path of a file"},
		"RefusesTheHome2": {"/home/agent", "error: /home/agent is a folder; give the path of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, w.run("edit_file", `{"path":"`+c.path+`","old":"t","new":"x"}`), Output{c.want, true})
		})
	}
	t.Run("LeavesAnotherNameOfTheFileAlone", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.must(os.Link(filepath.Join(w.dir, "..", "secret"), filepath.Join(w.dir, "hard")))
		contains(t, w.run("edit_file", `{"path":"hard","old":"secret","new":"known"}`), false)
		if got, err := os.ReadFile(filepath.Join(w.dir, "..", "secret")); err != nil || string(got) != "secret" {
			t.Errorf("the secret is %q, %v", got, err)
		}
	})
	t.Run("LosesNoEdit", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		r, done, before := Builtin(), make(chan Output), ""
		for i := range 20 {
			before += fmt.Sprintf("<%d>", i)
		}
		w.put("f", before)
		for i := range 20 {
			go func() {
				args := fmt.Sprintf(`{"path":"f","old":"<%d>","new":"(%d)"}`, i, i)
				done <- r.Run(context.WithoutCancel(t.Context()), "edit_file", Call{Args: []byte(args), Home: w.root})
			}()
		}
		for range 20 {
			contains(t, <-done, false)
		}
		after, err := os.ReadFile(filepath.Join(w.dir, "f"))
		w.must(err)
		if strings.Contains(string(after), "<") {
			t.Errorf("some edits are lost: %s", after)
		}
	})
}

func TestPathsAsAComputerSeesThem(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	same(t, w.run("write_file", `{"path":"/home/agent/new/f","content":"x"}`), Output{Text: "wrote 1 bytes to /home/agent/new/f"})
	same(t, w.run("read_file", `{"path":"new/f"}`), Output{Text: "x"})
	same(t, w.run("list_files", `{"path":"/home/agent/new/"}`), Output{Text: "f  1\n"})
	same(t, w.run("glob", `{"pattern":"/home/agent/new/*"}`), Output{Text: "new/f\n"})
	contains(t, w.run("read_file", `{"path":"/home/agent/../secret"}`), true, "leads out of the workspace")
	contains(t, w.run("read_file", `{"path":"/home/agent//etc/passwd"}`), true, "leads out of the workspace through a link")
	contains(t, w.run("read_file", `{"path":"/home/agents/x"}`), true, "is not relative")
}

// TestFilesBelongToTheAgent is about a Lyceum that is root: what it makes must be
// of the user whose the home is, and nothing else may become so.
func TestFilesBelongToTheAgent(t *testing.T) {
	t.Parallel()
	need.Root(t, "give files away")
	const uid, gid = 54321, 54322
	w := newFixture(t)
	w.must(os.Chown(w.dir, uid, gid))
	w.must(os.Chown(filepath.Join(w.dir, "sub"), 777, 777))
	contains(t, w.run("write_file", `{"path":"x/y/z.txt","content":"one"}`), false)
	contains(t, w.run("write_file", `{"path":"sub/deep/f","content":"one"}`), false)
	contains(t, w.run("edit_file", `{"path":"a.txt","old":"two","new":"2"}`), false)
	contains(t, w.run("write_file", `{"path":"a.txt/b/c","content":"2"}`), true, "not a directory")
	contains(t, w.run("write_file", `{"path":"up/b/c","content":"2"}`), true, "leads out of the workspace through a link")
	for name, want := range map[string][2]uint32{
		"x": {uid, gid}, "x/y": {uid, gid}, "x/y/z.txt": {uid, gid}, "sub/deep": {uid, gid}, "sub/deep/f": {uid, gid}, "a.txt": {uid, gid},
		"sub": {777, 777}, "sub/b.txt": {0, 0}, "../secret": {0, 0}, "..": {0, 0},
	} {
		info, err := os.Lstat(filepath.Join(w.dir, name))
		w.must(err)
		if st := info.Sys().(*syscall.Stat_t); st.Uid != want[0] || st.Gid != want[1] {
			t.Errorf("%s belongs to %d:%d", name, st.Uid, st.Gid)
		}
	}
}
