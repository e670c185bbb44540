package tool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is what is in a home, by path, with what files hold.
func (w *fixture) tree() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, path)
		switch {
		case err != nil:
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			out[rel] = string(data)
			return err
		case rel != ".":
			out[rel] = d.Type().String()
		}
		return nil
	}))
	return out
}

func (w *fixture) closed(tool, args string, closed ...string) Output {
	return Builtin().Run(w.t.Context(), tool, Call{Args: []byte(args), Home: w.root, Closed: closed})
}

func TestMoveFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, want string
		after      func(before map[string]string)
	}{
		"Renames": {`{"from":"a.txt","to":"b.txt"}`, "moved a.txt to b.txt", func(b map[string]string) { b["b.txt"] = b["a.txt"]; delete(b, "a.txt") }},
		"MakesFolders": {`{"from":"/home/agent/a.txt","to":"x//y/./b.txt"}`, "moved", func(b map[string]string) {
			b["x"], b["x/y"], b["x/y/b.txt"] = b["sub"], b["sub"], b["a.txt"]
			delete(b, "a.txt")
		}},
		"MovesAFolder": {`{"from":"sub","to":"x/sub2"}`, "moved", func(b map[string]string) {
			b["x"], b["x/sub2"], b["x/sub2/b.txt"] = b["sub"], b["sub"], "b"
			delete(b, "sub")
			delete(b, "sub/b.txt")
		}},
		"MovesALink":     {`{"from":"link","to":"sub/link"}`, "moved", func(b map[string]string) { b["sub/link"] = b["link"]; delete(b, "link") }},
		"NotOntoAFile":   {`{"from":"a.txt","to":"sub/b.txt"}`, "error: sub/b.txt is there already", nil},
		"NotOntoALink":   {`{"from":"a.txt","to":"out"}`, "error: out is there already", nil},
		"NotIntoAFolder": {`{"from":"a.txt","to":"sub"}`, "error: sub is a folder; give the new path with its name, such as sub/a.txt", nil},
		"NotIntoItself":  {`{"from":"sub","to":"sub/x"}`, "error: sub/x is in sub itself", nil},
		"NotToItself":    {`{"from":"sub","to":"./sub/"}`, "error: ./sub/ is in sub itself", nil},
		"NotTheHome":     {`{"from":".","to":"x"}`, "error: the workspace itself stays", nil},
		"NotToTheHome":   {`{"from":"a.txt","to":"."}`, "error: the workspace itself is there", nil},
		"NotOut":         {`{"from":"a.txt","to":"../x"}`, `error: "../x" leads out of the workspace`, nil},
		"NotOutByALink":  {`{"from":"a.txt","to":"up/x"}`, "error: ", nil},
		"NotIn":          {`{"from":"up/secret","to":"x"}`, "error: ", nil},
		"NotNothing":     {`{"from":"none","to":"x"}`, "error: there is no none", nil},
		"NotUnderAFile":  {`{"from":"sub","to":"a.txt/x"}`, "error: ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			want := w.tree()
			got := w.run("move_file", c.args)
			if failed := c.after == nil; got.Error != failed || !strings.HasPrefix(got.Text, c.want) {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			if c.after != nil {
				c.after(want)
			}
			if after := w.tree(); fmt.Sprint(after) != fmt.Sprint(want) {
				t.Errorf("then there is %v, want %v", after, want)
			}
		})
	}
}

func TestDeleteFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, want string
		gone       []string
	}{
		"AFile":            {`{"path":"a.txt"}`, "deleted a.txt", []string{"a.txt"}},
		"ALink":            {`{"path":"link"}`, "deleted link", []string{"link"}},
		"ALinkWithAll":     {`{"path":"up","contents":true}`, "deleted up", []string{"up"}},
		"APipe":            {`{"path":"pipe"}`, "deleted pipe", []string{"pipe"}},
		"AFolder":          {`{"path":"sub","contents":true}`, "deleted the folder sub, with 2 files and folders in it", []string{"sub", "sub/b.txt", "sub/away"}},
		"NotAFullFolder":   {`{"path":"sub"}`, "error: sub: directory not empty; if it is not empty, contents: true deletes", nil},
		"NotTheHome":       {`{"path":".","contents":true}`, "error: the workspace itself stays", nil},
		"NotOut":           {`{"path":"../secret"}`, "error: ", nil},
		"NotOutByALink":    {`{"path":"up/secret"}`, "error: ", nil},
		"NotOutByAFolder":  {`{"path":"etc/ssl","contents":true}`, "error: ", nil},
		"NotWhatIsNot":     {`{"path":"none"}`, "error: there is no none", nil},
		"NotThroughAFile":  {`{"path":"a.txt/x"}`, "error: ", nil},
		"NotWithoutAPath":  {`{"contents":true}`, `error: the argument "path" is missing`, nil},
		"NotWhatIsNoWords": {`{"path":"a\u0000"}`, "error: ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.must(os.Symlink("..", filepath.Join(w.dir, "sub/away")))
			want := w.tree()
			got := w.run("delete_file", c.args)
			if got.Error != (c.gone == nil) || !strings.HasPrefix(got.Text, c.want) {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			for _, path := range c.gone {
				delete(want, path)
			}
			if after := w.tree(); fmt.Sprint(after) != fmt.Sprint(want) {
				t.Errorf("then there is %v, want %v", after, want)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "../secret")); err != nil {
				t.Errorf("what is outside is gone: %v", err)
			}
		})
	}
	t.Run("ManyAndDeep", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		for i := range 2500 {
			w.put(fmt.Sprintf("many/%04d", i), "")
		}
		contains(t, w.run("delete_file", `{"path":"many","contents":true}`), false, "with 2500 files")
		w.put(strings.Repeat("d/", maxFolders+5)+"f", "")
		contains(t, w.run("delete_file", `{"path":"d","contents":true}`), true, "more than 100 folders deep; a program such as rm can delete it. 0 files and folders were deleted")
	})
}

// TestWhatIsClosedStays: nothing that is closed is moved or deleted, nor a folder around it, nor
// is anything put there, by whatever path.
func TestWhatIsClosedStays(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.put("top/sub/x", "closed")
	w.put("top/other", "open")
	w.must(os.Symlink("top", filepath.Join(w.dir, "way")))
	w.must(os.Symlink("top/sub/x", filepath.Join(w.dir, "direct")))
	before := w.tree()
	for _, closed := range []string{"top/sub/x", "top/sub"} {
		for tool, all := range map[string][]string{
			"move_file":   {`{"from":"top","to":"n"}`, `{"from":"top/sub","to":"n"}`, `{"from":"top/sub/x","to":"n"}`, `{"from":"way/sub","to":"n"}`, `{"from":"way/sub/x","to":"n"}`, `{"from":"a.txt","to":"way/sub/x"}`, `{"from":"a.txt","to":"top/sub/x/y"}`},
			"delete_file": {`{"path":"top","contents":true}`, `{"path":"top/sub","contents":true}`, `{"path":"top/sub/x"}`, `{"path":"way/sub","contents":true}`, `{"path":"way/sub/x"}`},
			"edit_files":  {`{"paths":["top/sub/x"],"edits":[{"old":"closed","new":"c"}]}`, `{"paths":["a.txt","way/sub/x"],"edits":[{"path":"way/sub/x","old":"closed","new":"c"}]}`, `{"paths":["direct"],"edits":[{"old":"closed","new":"c"}]}`},
		} {
			for _, args := range all {
				if got := w.closed(tool, args, closed); !got.Error {
					t.Errorf("with %s closed, %s %s: got %q, want an error", closed, tool, args, got.Text)
				}
				if after := w.tree(); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Fatalf("with %s closed, %s %s changed something: %v", closed, tool, args, after)
				}
			}
		}
	}
	contains(t, w.closed("delete_file", `{"path":"direct"}`, "top/sub"), false, "deleted direct") // the link alone
	contains(t, w.closed("move_file", `{"from":"top/other","to":"other"}`, "top/sub"), false, "moved")
}

func TestEditFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, want string
		a, b       string
	}{
		"InOneFile":       {`{"paths":["a.txt"],"edits":[{"old":"one","new":"1"},{"old":"1\ntwo","new":"12"}]}`, "edit 1: replaced the text at line 1 of a.txt\nedit 2: replaced the text at line 1 of a.txt", "12\nthree\n", ""},
		"InTwo":           {`{"paths":["a.txt","sub/b.txt"],"edits":[{"path":"a.txt","old":"e","new":"E","all":true},{"path":"./sub//b.txt","old":"b","new":"c"}]}`, "edit 1: replaced the text at 3 places of a.txt\nedit 2: ", "onE\ntwo\nthrEE\n", "c"},
		"BackAgain":       {`{"paths":["a.txt"],"edits":[{"old":"one","new":"1"},{"old":"1","new":"one"}]}`, "edit 1: ", "", ""},
		"NoneIfOneFails":  {`{"paths":["a.txt","sub/b.txt"],"edits":[{"path":"sub/b.txt","old":"b","new":"c"},{"path":"a.txt","old":"four","new":"4"}]}`, "error: edit 2: the old text is not in a.txt; read_file shows what is there\nNothing was changed", "", ""},
		"NoneIfTwice":     {`{"paths":["a.txt"],"edits":[{"old":"one","new":"1"},{"old":"e","new":"E"}]}`, "error: edit 2: the old text is in a.txt 2 times", "", ""},
		"NoneIfUnlisted":  {`{"paths":["a.txt"],"edits":[{"old":"one","new":"1"},{"path":"sub/b.txt","old":"b","new":"c"}]}`, "error: edit 2: sub/b.txt is not among the paths\nNothing", "", ""},
		"NoneWithoutPath": {`{"paths":["a.txt","sub/b.txt"],"edits":[{"old":"one","new":"1"}]}`, "error: edit 1: it has no path, and there are 2 files", "", ""},
		"NoneIfNotThere":  {`{"paths":["a.txt","none"],"edits":[{"path":"a.txt","old":"one","new":"1"}]}`, "error: there is no none", "", ""},
		"NotTheSameFile":  {`{"paths":["a.txt","./a.txt"],"edits":[{"path":"a.txt","old":"one","new":"1"}]}`, "error: ./a.txt is among the paths twice", "", ""},
		"NotByALink":      {`{"paths":["sub/b.txt","way/b.txt"],"edits":[{"path":"way/b.txt","old":"b","new":"1"}]}`, "error: sub/b.txt and way/b.txt are the same file", "", ""},
		"NotALink":        {`{"paths":["link"],"edits":[{"old":"one","new":"1"}]}`, "error: link is a link; it is not written to", "", ""},
		"NotOut":          {`{"paths":["../secret"],"edits":[{"old":"s","new":"1"}]}`, "error: ", "", ""},
		"NotNothing":      {`{"paths":["a.txt"],"edits":[]}`, `error: the argument "edits" is`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.must(os.Symlink("sub", filepath.Join(w.dir, "way")))
			want := w.tree()
			got := w.run("edit_files", c.args)
			if failed := strings.HasPrefix(c.want, "error"); got.Error != failed || !strings.HasPrefix(got.Text, c.want) {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			if c.a != "" {
				want["a.txt"] = c.a
			}
			if c.b != "" {
				want["sub/b.txt"] = c.b
			}
			if after := w.tree(); fmt.Sprint(after) != fmt.Sprint(want) {
				t.Errorf("then there is %v, want %v", after, want)
			}
		})
	}
}

// TestFilesThatWereReplacedArePutBack: if one of several cannot take its place after all, the
// others are as before, and nothing is left beside them.
func TestFilesThatWereReplacedArePutBack(t *testing.T) {
	t.Parallel()
	for fails := range 3 {
		w := newFixture(t)
		w.put("c", "c")
		want := w.tree()
		moved := 0
		s := &several{home: room{Root: w.root}, rename: func(from, to string) error {
			if moved++; moved == fails+1 {
				return &os.LinkError{Op: "rename", Old: from, New: to, Err: os.ErrPermission}
			}
			return w.root.Rename(from, to)
		}}
		w.must(s.read([]string{"a.txt", "sub/b.txt", "c"}))
		if _, err := s.edit([]oneEdit{{Path: "a.txt", Old: "one", New: "1"}, {Path: "sub/b.txt", Old: "b", New: "B"}, {Path: "c", Old: "c", New: "C"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.write(); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("the error is %v, want that nothing was changed", err)
		}
		if after := w.tree(); fmt.Sprint(after) != fmt.Sprint(want) {
			t.Errorf("after file %d failed there is %v, want %v", fails, after, want)
		}
	}
}

// TestWhatGitignoreNamesIsLeftOut: nested files, negation, anchors, folders; the tools say so, and
// show it if they are asked to.
func TestWhatGitignoreNamesIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for _, name := range []string{"src/keep.o", "src/x.o", "src/main.c", "build/out.c", "src/build/in.c", "deep/only.c", "deep/er/only.c", "logs/a.log", "logs/keep/b.log", ".git/config", "mod/.git/config"} {
		w.put(name, "needle\n")
	}
	w.put(".gitignore", "*.o\n!keep.o\n/build/\nlogs/*\n!logs/keep/\n")
	w.put("deep/.gitignore", "/only.c\n")
	const left = "(left out, as .gitignore says: build/, deep/only.c, logs/a.log, src/x.o; with ignored: true they are there)\n"
	grep := w.run("grep", `{"pattern":"needle"}`)
	contains(t, grep, false, left)
	var hits []string
	for line := range strings.Lines(grep.Text) {
		if path, _, ok := strings.Cut(line, ":1:needle"); ok {
			hits = append(hits, path)
		}
	}
	if want := []string{"deep/er/only.c", "logs/keep/b.log", "src/build/in.c", "src/keep.o", "src/main.c"}; !slices.Equal(hits, want) {
		t.Errorf("grep finds %v, want %v", hits, want)
	}
	contains(t, w.run("glob", `{"pattern":"**/*.c"}`), false, "deep/er/only.c\nsrc/build/in.c\nsrc/main.c\n", "(left out, as .gitignore says: ")
	contains(t, w.run("list_files", `{"path":"src"}`), false, "build/\nkeep.o  7\nmain.c  7\n(left out, as .gitignore says: src/x.o; with ignored: true they are there)\n")
	contains(t, w.run("list_files", `{"path":"logs"}`), false, "keep/\n(left out, as .gitignore says: logs/a.log;")
	contains(t, w.run("grep", `{"pattern":"needle","path":"build"}`), false, "build/out.c:1:needle") // who names it wants it
	for tool, args := range map[string]string{"grep": `{"pattern":"needle","ignored":true}`, "glob": `{"pattern":"**","ignored":true}`, "list_files": `{"path":"src","ignored":true}`} {
		got := w.run(tool, args)
		if strings.Contains(got.Text, "left out") || tool != "list_files" && !strings.Contains(got.Text, ".git/config") || tool == "list_files" && !strings.Contains(got.Text, "x.o") {
			t.Errorf("%s with ignored: got %s", tool, got.Text)
		}
	}
	w.put("sub/.gitignore", "*\n")
	contains(t, w.run("list_files", `{"path":"sub"}`), false, "(left out, as .gitignore says: sub/.gitignore, sub/b.txt; with ignored: true they are there)\n")
}

// TestAGitignoreThatIsNoneCountsForNothing: links, folders, pipes, long ones, closed ones.
func TestAGitignoreThatIsNoneCountsForNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.put("rules", "*.c\n")
	w.put("one/x.c", "")
	w.must(os.Symlink("../rules", filepath.Join(w.dir, "one/.gitignore")))
	w.put("two/x.c", "")
	w.must(os.Mkdir(filepath.Join(w.dir, "two/.gitignore"), 0o755))
	w.put("three/x.c", "")
	w.put("three/.gitignore", "*.c\n"+strings.Repeat("#", 64<<10))
	w.put("four/x.c", "")
	w.put("four/.gitignore", "*.c\n")
	got := w.closed("glob", `{"pattern":"**/*.c"}`, "four/.gitignore")
	contains(t, got, false, "four/x.c\none/x.c\nthree/x.c\ntwo/x.c\n")
}
