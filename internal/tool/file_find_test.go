package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		whole, below  bool
	}{
		{"*.go", "a.go", true, false},
		{"*.go", "d/a.go", false, false},
		{"*", ".hidden", true, false},
		{"d/*.go", "d", false, true},
		{"d/*.go", "e", false, false},
		{"d/*.go", "d/a.go", true, false},
		{"**/*.go", "a.go", true, true},
		{"**/*.go", "d/e/a.go", true, true},
		{"**/*.go", "d/e", false, true},
		{"**", "d/e", true, true},
		{"d/**", "d", true, true},
		{"d/**", "e", false, false},
		{"d/**/x", "d/x", true, true},
		{"d/**/x/y", "d/a/b/x/x/y", true, true},
		{"d/**/x/y", "d/a/b/x/x/z", false, true},
		{"[a-c]?", "bz", true, false},
		{`\*`, "*", true, false},
		{`\*`, "a", false, false},
		{"./d//x", "d/x", true, false},
		{strings.Repeat("**/", 300) + "x", strings.Repeat("a/", 300) + "y", false, true},
	} {
		all, err := parsePattern(c.pattern)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d patterns, %v", c.pattern, len(all), err)
			continue
		}
		if whole, below := all[0].match(c.path); whole != c.whole || below != c.below {
			t.Errorf("%.20s and %.20s: match %v, below %v", c.pattern, c.path, whole, below)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.put(".git/config", "")
	w.put(".hidden/config", "")
	w.put("src/b.go", "")
	w.put("src/a.go", "")
	w.put("src/deep/er/c.go", "")
	w.put("src/new\nline.go", "")
	w.must(os.Symlink("src", filepath.Join(w.dir, "again")))
	for name, c := range map[string]struct{ args, want string }{
		"FindsByName":            {`{"pattern":"*.txt"}`, "a.txt\n"},
		"FindsInAllFolders":      {`{"pattern":"**/*.go"}`, "src/a.go\nsrc/b.go\nsrc/deep/er/c.go\n\"src/new\\nline.go\"\n"},
		"FindsBelowAPath":        {`{"pattern":"**/*.go","path":"src/deep"}`, "src/deep/er/c.go\n"},
		"FindsThroughALinkNamed": {`{"pattern":"a*","path":"again"}`, "again/a.go\n"},
		"FindsHiddenOnes":        {`{"pattern":"**/config"}`, ".hidden/config\n"},
		"FindsAllThatIsWanted":   {`{"pattern":"**/config","ignored":true}`, ".git/config\n.hidden/config\n"},
		"FindsFolders":           {`{"pattern":"s*"}`, "src/\nsub/\n"},
		"FindsEither":            {`{"pattern":"{a,sub/b,none}.{txt,md}"}`, "a.txt\nsub/b.txt\n"},
		"MarksLinksAndPipes":     {`{"pattern":"{up,pipe,again}"}`, "again  (a link)\npipe  (a pipe)\nup  (a link)\n"},
		"DoesNotFollowLinks":     {`{"pattern":"{up,etc,again}/**"}`, "again  (a link)\netc  (a link)\nup  (a link)\n"},
		"SaysThatThereIsNone":    {`{"pattern":"*.zip"}`, "(nothing matches; 12 files and folders were looked at)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, w.run("glob", c.args), Output{Text: c.want})
		})
	}
	for name, c := range map[string]struct{ args, want string }{
		"AParent":       {`{"pattern":"../*"}`, `the pattern "../*" leads out of the workspace`},
		"AHiddenParent": {`{"pattern":"a/../../{x,..}"}`, "leads out of the workspace"},
		"AnAbsolute":    {`{"pattern":"/etc/*"}`, `the pattern "/etc/*" is not relative; give it from the workspace on`},
		"ABrokenOne":    {`{"pattern":"[a"}`, `"[a" is no pattern: there are *, ?,`},
		"AnOpenBrace":   {`{"pattern":"{a,b"}`, "braces are like {a,b}"},
		"BraceInBrace":  {`{"pattern":"{a,{b,c}}"}`, "not one within another"},
		"ManyBraces":    {`{"pattern":"` + strings.Repeat("{a,b}", 100) + `"}`, "more than 100 patterns"},
		"NothingAtAll":  {`{"pattern":"./"}`, "the pattern is empty; ** matches everything"},
		"ALongOne":      {`{"pattern":"` + strings.Repeat("a", 1001) + `"}`, "at most 1000 characters"},
		"AFile":         {`{"pattern":"*","path":"a.txt"}`, "a.txt is a file; give the path of a folder"},
	} {
		t.Run("Refuses/"+name, func(t *testing.T) {
			t.Parallel()
			contains(t, w.run("glob", c.args), true, c.want)
		})
	}
	t.Run("SaysWhenItIsCut", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		for i := range maxListed + 1 {
			w.put(fmt.Sprintf("many/%04d", i), "")
		}
		got := w.run("glob", `{"pattern":"many/*"}`)
		if !strings.HasSuffix(got.Text, "many/0999\n(there are more than these 1000; give a narrower pattern or a path)\n") {
			t.Errorf("got ...%s", got.Text[len(got.Text)-100:])
		}
		contains(t, w.run("glob", `{"pattern":"many/*[0-8]"}`), false, "many/0998\n")
		if got := w.run("glob", `{"pattern":"many/0*"}`); strings.Contains(got.Text, "more than") {
			t.Error("a whole list is called cut")
		}
	})
	t.Run("SaysWhenFoldersAreTooDeep", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put(strings.Repeat("d/", maxFolders+5)+"f", "")
		contains(t, w.run("glob", `{"pattern":"**/f"}`), false, "(nothing matches; ", "(1 folders more than 100 deep were left out)")
	})
	t.Run("StopsWithItsCall", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := glob(ctx, room{Root: w.root}, ".", "**", false); err != context.Canceled {
			t.Errorf("error is %v", err)
		}
	})
}

// TestWalkIsNotHeldUp is about programs that change a folder while it is walked.
func TestWalkIsNotHeldUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.put("z1/f", "needle")
	w.put("z2/f", "needle")
	w.put("z3/f", "needle")
	walked := &walk{home: room{Root: w.root}}
	var seen []string
	walked.enter = func(path string) bool {
		// What was a folder when its name was read is now something else.
		switch full := filepath.Join(w.dir, path); path {
		case "z1":
			w.must(os.Rename(full, full+"old"))
			w.must(syscall.Mkfifo(full, 0o644))
		case "z2":
			w.must(os.Rename(full, full+"old"))
			w.must(os.Symlink("/etc", full))
		}
		return true
	}
	walked.visit = func(path string, _ os.DirEntry) error { seen = append(seen, path); return nil }
	w.must(walked.folder(t.Context(), ".", 0))
	if got := strings.Join(seen, " "); got != "a.txt etc link loop out pipe sub sub/b.txt up z1 z2 z3 z3/f" {
		t.Errorf("saw %s", got)
	}
	if got := walked.notes(); got != "(2 folders could not be read, such as z1)\n" {
		t.Errorf("said %q", got)
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.put("n.txt", "1\n2\n3 hit\n4\n5\n6\n7\n8 hit\n9 hit\n10")
	w.put("src/a.py", "import os\r\nprint('Hit (x)')\r\n")
	w.put("src/b.c", "int hit;\x1b[31m\xff\n")
	w.put("bin", "hit\x00hit")
	w.put("empty", "")
	const links = "(5 links not followed)\n"
	const skipped = "(1 binary files skipped)\n" + links
	for name, c := range map[string]struct{ args, want string }{
		"ShowsPathLineAndText": {`{"pattern":"hit"}`, "n.txt:3:3 hit\nn.txt:8:8 hit\nn.txt:9:9 hit\nsrc/b.c:1:int hit;\\x1b[31m\\xff\n" + skipped},
		"SearchesAFolder":      {`{"pattern":"hit","path":"src"}`, "src/b.c:1:int hit;\\x1b[31m\\xff\n"},
		"SearchesAFile":        {`{"pattern":"^8","path":"n.txt"}`, "n.txt:8:8 hit\n"},
		"SearchesALinkNamed":   {`{"pattern":"two","path":"link"}`, "link:2:two\n"},
		"SearchesSomeNames":    {`{"pattern":"(?i)hit","glob":"*.{py,none}"}`, "src/a.py:2:print('Hit (x)')\n" + links},
		"SearchesSomePaths":    {`{"pattern":"hit","glob":"src/*"}`, "src/b.c:1:int hit;\\x1b[31m\\xff\n" + links},
		"IgnoresCase":          {`{"pattern":"HIT|nix","ignore_case":true,"glob":"*.py"}`, "src/a.py:2:print('Hit (x)')\n" + links},
		"KnowsTheLinesEnd":     {`{"pattern":"\\)$","glob":"*.py"}`, "src/a.py:2:print('Hit (x)')\n" + links},
		"ShowsLinesAround": {`{"pattern":"hit","path":"n.txt","context":1}`,
			"n.txt-2-2\nn.txt:3:3 hit\nn.txt-4-4\n--\nn.txt-7-7\nn.txt:8:8 hit\nn.txt:9:9 hit\nn.txt-10-10\n"},
		"JoinsLinesAround": {`{"pattern":"hit","path":"n.txt","context":2}`,
			"n.txt-1-1\nn.txt-2-2\nn.txt:3:3 hit\nn.txt-4-4\nn.txt-5-5\nn.txt-6-6\nn.txt-7-7\nn.txt:8:8 hit\nn.txt:9:9 hit\nn.txt-10-10\n"},
		"SaysThatThereIsNone": {`{"pattern":"nowhere"}`, "(no line matches, in 6 files)\n" + skipped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, w.run("grep", c.args), Output{Text: c.want})
		})
	}
	for name, c := range map[string]struct{ args, want string }{
		"ABrokenPattern": {`{"pattern":"(a"}`, "the pattern does not compile: missing closing ): `(a`; a \\ before"},
		"ABackreference": {`{"pattern":"(a)\\1"}`, "the pattern does not compile: invalid escape sequence"},
		"AHugeRepeat":    {`{"pattern":"((a{1000}){1000}){1000}"}`, "the pattern does not compile"},
		"ABrokenGlob":    {`{"pattern":"a","glob":"[a"}`, "is no pattern"},
		"AGlobOut":       {`{"pattern":"a","glob":"../*"}`, "leads out of the workspace"},
		"NegativeLines":  {`{"pattern":"a","context":-1}`, "integer from 0 to 10"},
		"ManyLines":      {`{"pattern":"a","context":11}`, "integer from 0 to 10"},
	} {
		t.Run("Refuses/"+name, func(t *testing.T) {
			t.Parallel()
			contains(t, w.run("grep", c.args), true, c.want)
		})
	}
}

func TestGrepIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("InMatches", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put("m", strings.Repeat("x\n", maxMatches))
		if got := w.run("grep", `{"pattern":"x","path":"m"}`); strings.Count(got.Text, "\n") != maxMatches || strings.Contains(got.Text, "stopped") {
			t.Errorf("got %d lines", strings.Count(got.Text, "\n"))
		}
		w.put("m", strings.Repeat("x\n", maxMatches+1))
		contains(t, w.run("grep", `{"pattern":"x","path":"m"}`), false, "m:200:x\n(stopped, for there are 200 matches; there may be more: give a path, a glob or a narrower pattern)\n")
	})
	t.Run("InTheLengthOfALine", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put("l", strings.Repeat("ä", 1000)+"xneedle"+strings.Repeat("ö", 1000))
		got := w.run("grep", `{"pattern":"needle","path":"l"}`)
		want := "l:1:..." + strings.Repeat("ä", 49) + "xneedle" + strings.Repeat("ö", (maxGrepShown-105)/2) + "...\n"
		same(t, got, Output{Text: want})
	})
	t.Run("InTheLengthOfAllLines", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put("l", strings.Repeat(strings.Repeat("\x01", 399)+"\n", 150))
		got := w.run("grep", `{"pattern":"\\x01","path":"l"}`)
		contains(t, got, false, "(stopped, for the output is full (48 KiB); there may be more")
		if len(got.Text) > maxGrepped+200 {
			t.Errorf("%d bytes", len(got.Text))
		}
	})
	t.Run("InPieces", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		w.put("l", strings.Repeat("a", maxGrepLine)+"needle\nneedle")
		contains(t, w.run("grep", `{"pattern":"needle","path":"l"}`), false, "l:1:needle\nl:2:needle\n(of lines longer than 64 KiB each piece was searched by itself, at 1 places)\n")
	})
	t.Run("InWhatItReads", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		f, err := os.Create(filepath.Join(w.dir, "huge"))
		w.must(err)
		_, err = f.WriteString(strings.Repeat("text\n", 2000)) // text at first, and then a hole
		w.must(err)
		w.must(f.Truncate(1 << 40))
		w.must(f.Close())
		contains(t, w.run("grep", `{"pattern":"needle"}`), false, "(stopped, for 256 MiB were searched; there may be more")
	})
	t.Run("ByItsCall", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got, err := Grep().Run(ctx, Call{Args: []byte(`{"pattern":"x","path":"a.txt"}`), Home: w.root})
		if err != context.Canceled {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
