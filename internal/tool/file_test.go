package tool

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func quote(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "?"))
	if err != nil {
		panic(err)
	}
	return string(b)
}

// fixture is an agent's home with a few things in it, and a secret beside it.
type fixture struct {
	t    *testing.T
	dir  string
	root *os.Root
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	outer := t.TempDir()
	w := &fixture{t: t, dir: filepath.Join(outer, "home")}
	w.must(os.Mkdir(w.dir, 0o755))
	w.must(os.WriteFile(filepath.Join(outer, "secret"), []byte("secret"), 0o644))
	w.put("a.txt", "one\ntwo\nthree\n")
	w.put("sub/b.txt", "b")
	w.must(os.Symlink("../secret", filepath.Join(w.dir, "out")))
	w.must(os.Symlink("..", filepath.Join(w.dir, "up")))
	w.must(os.Symlink("/etc", filepath.Join(w.dir, "etc")))
	w.must(os.Symlink("a.txt", filepath.Join(w.dir, "link")))
	w.must(os.Symlink("loop", filepath.Join(w.dir, "loop")))
	w.must(syscall.Mkfifo(filepath.Join(w.dir, "pipe"), 0o644))
	root, err := os.OpenRoot(w.dir)
	w.must(err)
	t.Cleanup(func() { w.must(root.Close()) })
	w.root = root
	return w
}

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) put(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.must(os.WriteFile(path, []byte(content), 0o644))
}

func (w *fixture) run(tool, args string) Output {
	return Builtin().Run(context.WithoutCancel(w.t.Context()), tool, Call{Args: []byte(args), Home: w.root})
}

func TestFilesStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	before := w.run("list_files", "")
	for name, c := range map[string]struct{ path, want string }{
		"Parent":         {"../secret", "leads out of the workspace"},
		"HiddenParent":   {"sub/../../secret", "leads out of the workspace"},
		"Absolute":       {"/etc/passwd", "is not relative; give the path from the workspace on"},
		"Home":           {"~/x", "is not relative"},
		"LinkOut":        {"out", "link"},
		"FolderLinkOut":  {"up/secret", "leads out of the workspace through a link"},
		"AbsoluteLink":   {"etc/passwd", "leads out of the workspace through a link"},
		"Loop":           {"loop/x", "too many"},
		"NUL":            {"a\x00b", "NUL"},
		"Empty":          {"", "the path is empty"},
		"LongName":       {strings.Repeat("x", 5000), "file name too long"},
		"ThroughAFile":   {"a.txt/x", "not a directory"},
		"Pipe":           {"pipe", "pipe"},
		"FolderOfParent": {"..", "leads out of the workspace"},
	} {
		for tool, rest := range map[string]string{
			"read_file": "", "write_file": `,"content":"x"`, "list_files": "", "edit_file": `,"old":"s","new":"x"`, "glob": `,"pattern":"**"`, "grep": `,"pattern":"."`,
		} {
			t.Run(name+"/"+tool, func(t *testing.T) {
				t.Parallel()
				got := w.run(tool, `{"path":`+quote(c.path)+rest+`}`)
				if !got.Error || !strings.Contains(got.Text, c.want) {
					t.Errorf("got %+v, want an error with %q", got, c.want)
				}
				if strings.Contains(got.Text, w.dir) || len(got.Text) > 500 {
					t.Errorf("the error tells of the host, or at length: %s", got.Text)
				}
			})
		}
	}
	t.Cleanup(func() {
		if diff := cmp.Diff(before, w.run("list_files", "")); diff != "" {
			t.Errorf("a refused call changed the workspace: %s", diff)
		}
		secret, err := os.ReadFile(filepath.Join(w.dir, "..", "secret"))
		if err != nil || string(secret) != "secret" {
			t.Errorf("the secret is %q, %v", secret, err)
		}
	})
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.put("empty", "")
	w.put("image.png", "\x89PNG\r\n\x1a\n\x00\x00rest")
	w.put("latin1", "caf\xe9 au lait")
	w.put("long-line", strings.Repeat("ä", 300<<10))
	w.put("many", strings.Repeat("0123456789abcde\n", 20<<10))
	w.put("open-end", "x\ny")
	for name, c := range map[string]struct {
		args string
		want Output
	}{
		"ReturnsAFile":           {`{"path":"a.txt"}`, Output{Text: "one\ntwo\nthree\n"}},
		"FollowsALinkInside":     {`{"path":"./link"}`, Output{Text: "one\ntwo\nthree\n"}},
		"StartsAtALine":          {`{"path":"a.txt","offset":2}`, Output{Text: "two\nthree\n"}},
		"StopsAfterSomeLines":    {`{"path":"a.txt","limit":1}`, Output{Text: "one\n(there is more; go on with offset 2)"}},
		"TakesALineFromWithin":   {`{"path":"a.txt","offset":2.0,"limit":1}`, Output{Text: "two\n(there is more; go on with offset 3)"}},
		"DoesNotPromiseMore":     {`{"path":"a.txt","offset":2,"limit":2}`, Output{Text: "two\nthree\n"}},
		"TakesAnOpenLastLine":    {`{"path":"open-end","offset":2,"limit":5}`, Output{Text: "y"}},
		"SaysThatAFileIsEmpty":   {`{"path":"empty"}`, Output{Text: "(empty file)"}},
		"SaysThatTheOffsetIsOff": {`{"path":"a.txt","offset":4}`, Output{"error: the offset is 4, but the file has fewer lines", true}},
		"DescribesABinaryFile":   {`{"path":"image.png"}`, Output{Text: "(binary file, 14 bytes, not shown; it begins with 89 50 4e 47 0d 0a 1a 0a 00 00 72 65 73 74)"}},
		"DescribesOtherEncoding": {`{"path":"latin1"}`, Output{Text: "(file that is not UTF-8 text, 12 bytes, not shown; it begins with 63 61 66 e9 20 61 75 20 6c 61 69 74)"}},
		"SendsFoldersElsewhere":  {`{"path":"sub"}`, Output{"error: sub is a folder; list_files shows what is in it", true}},
		"SaysWhatIsMissing":      {`{"path":"nope"}`, Output{"error: there is no nope; list_files shows what there is", true}},
		"CutsALongLine":          {`{"path":"long-line"}`, Output{Text: strings.Repeat("ä", 128<<10) + "\n(line 1 is longer than 256 KiB; the rest of it is not shown)"}},
		"CutsALongFile":          {`{"path":"many"}`, Output{Text: strings.Repeat("0123456789abcde\n", 16<<10) + "(there is more; go on with offset 16385)"}},
		"GoesOnInALongFile":      {`{"path":"many","offset":20480}`, Output{Text: "0123456789abcde\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, w.run("read_file", c.args)); diff != "" {
				t.Errorf("what was read differs (-want +got):\n%.2000s", diff)
			}
		})
	}
	t.Run("GivesUpOnAHugeFile", func(t *testing.T) {
		t.Parallel()
		w.put("huge", "text\n")
		w.must(os.Truncate(filepath.Join(w.dir, "huge"), 1<<40)) // sparse
		got := w.run("read_file", `{"path":"huge"}`)
		if !strings.HasPrefix(got.Text, "(binary file, 1099511627776 bytes") {
			t.Errorf("got %.200s", got.Text)
		}
		w.put("huge.txt", strings.Repeat("x", 8<<10))
		w.must(os.Truncate(filepath.Join(w.dir, "huge.txt"), 1<<40))
		got = w.run("read_file", `{"path":"huge.txt","offset":2}`)
		if got.Text != "(stopped after 64 MiB of the file, in line 1)" {
			t.Errorf("got %.200s", got.Text)
		}
	})
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	t.Run("MakesTheFileAndItsFolders", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		for range 2 { // it may be repeated
			got := w.run("write_file", `{"path":"x/y/z.txt","content":"hällo\n"}`)
			if got != (Output{Text: "wrote 7 bytes to x/y/z.txt"}) {
				t.Errorf("got %+v", got)
			}
		}
		if got := w.run("read_file", `{"path":"x/y/z.txt"}`); got.Text != "hällo\n" {
			t.Errorf("got %+v", got)
		}
		if got := w.run("list_files", `{"path":"x/y"}`); got.Text != "z.txt  7\n" {
			t.Errorf("more than the file is there: %q", got.Text)
		}
	})
	t.Run("ReplacesAFileAndKeepsItsMode", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put("run.sh", "old and longer")
		w.must(os.Chmod(filepath.Join(w.dir, "run.sh"), 0o700))
		if got := w.run("write_file", `{"path":"run.sh","content":"new"}`); got.Error {
			t.Errorf("got %+v", got)
		}
		info, err := os.Stat(filepath.Join(w.dir, "run.sh"))
		w.must(err)
		if info.Mode().Perm() != 0o700 || info.Size() != 3 {
			t.Errorf("mode %v, size %d", info.Mode(), info.Size())
		}
	})
	t.Run("ClearsWhatACrashLeft", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.must(syscall.Mkfifo(filepath.Join(w.dir, "sub", ".write_file.tmp"), 0o644))
		if got := w.run("write_file", `{"path":"sub/c","content":"c"}`); got.Error {
			t.Errorf("got %+v", got)
		}
		if got := w.run("list_files", `{"path":"sub"}`); got.Text != "b.txt  1\nc  1\n" {
			t.Errorf("got %q", got.Text)
		}
	})
	t.Run("ManyAtOnce", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		r := Builtin()
		done := make(chan Output)
		for i := range 20 {
			go func() {
				args := `{"path":"n","content":"` + strings.Repeat(strconv.Itoa(i%10), 1000) + `"}`
				done <- r.Run(context.WithoutCancel(t.Context()), "write_file", Call{Args: []byte(args), Home: w.root})
			}()
		}
		for range 20 {
			if got := <-done; got.Error {
				t.Errorf("got %+v", got)
			}
		}
		content, err := os.ReadFile(filepath.Join(w.dir, "n"))
		w.must(err)
		if string(content) != strings.Repeat(string(content[:1]), 1000) {
			t.Errorf("the file is a mixture: %s", content)
		}
	})
	w := newFixture(t)
	for name, c := range map[string]struct{ args, want string }{
		"RefusesAFolder":      {`{"path":"sub","content":""}`, "error: sub is a folder; give the path of a file"},
		"RefusesAFolderPath":  {`{"path":"new/","content":""}`, "error: new/ is a folder; give the path of a file"},
		"RefusesTheWorkspace": {`{"path":".","content":""}`, "error: . is a folder; give the path of a file"},
		"RefusesALink":        {`{"path":"link","content":""}`, "error: link is a link; it is not written to"},
		"RefusesAPipe":        {`{"path":"pipe","content":""}`, "error: pipe is a pipe; it is not written to"},
		"RefusesMuch":         {`{"path":"big","content":"` + strings.Repeat("x", maxWrite+1) + `"}`, "error: the content has 1048577 bytes, more than the 1048576 that are allowed; write several files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(Output{c.want, true}, w.run("write_file", c.args)); diff != "" {
				t.Errorf("what was written differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("NeedsAWorkspace", func(t *testing.T) {
		t.Parallel()
		got := Builtin().Run(t.Context(), "write_file", Call{Args: []byte(`{"path":"a","content":""}`)})
		if got != (Output{"error: there is no workspace here", true}) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestListFiles(t *testing.T) {
	t.Parallel()
	t.Run("ShowsWhatThereIs", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put("new\nline", "")
		want := "a.txt  14\netc  (a link)\nlink  (a link)\nloop  (a link)\n\"new\\nline\"  0\nout  (a link)\npipe  (a pipe)\nsub/\nup  (a link)\n"
		for _, args := range []string{"", `{}`, `{"path":"."}`, `{"path":"sub/.."}`} {
			if diff := cmp.Diff(Output{Text: want}, w.run("list_files", args)); diff != "" {
				t.Errorf("the list differs (-want +got):\n%s", diff)
			}
		}
		if got := w.run("list_files", `{"path":"sub"}`); got.Text != "b.txt  1\n" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("SendsFilesElsewhere", func(t *testing.T) {
		t.Parallel()
		got := newFixture(t).run("list_files", `{"path":"a.txt"}`)
		if got != (Output{"error: a.txt is a file of 14 bytes; read_file shows it", true}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("SaysThatAFolderIsEmpty", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.must(os.Mkdir(filepath.Join(w.dir, "void"), 0o755))
		if got := w.run("list_files", `{"path":"void"}`); got != (Output{Text: "(empty folder)"}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("ShortensALongList", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		for i := range maxListed + 5 {
			w.put("many/"+strconv.Itoa(i), "")
		}
		got := w.run("list_files", `{"path":"many"}`)
		if !strings.HasSuffix(got.Text, "\n(and 5 more)\n") || strings.Count(got.Text, "\n") != maxListed+1 {
			t.Errorf("got %d lines that end in %q", strings.Count(got.Text, "\n"), got.Text[len(got.Text)-40:])
		}
	})
}
