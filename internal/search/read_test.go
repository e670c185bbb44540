package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// folder makes a folder of files, in the order given.
func folder(t *testing.T, files ...[2]string) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f[0])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root
}

func read(t *testing.T, root *os.Root) ([]Document, map[string]string) {
	t.Helper()
	docs, skipped, err := Read(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, s := range skipped {
		reasons[s.Path] = s.Reason
	}
	return docs, reasons
}

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("DoesNotDependOnTheFoldersOrder", func(t *testing.T) {
		t.Parallel()
		var files [][2]string
		for i := range 40 {
			files = append(files, [2]string{fmt.Sprintf("%c/%d/n.md", 'a'+i%7, i), fmt.Sprintf("# Note %d\n\nenergy number %d\n\nanother", i, i)})
		}
		files = append(files, [2]string{"a.md", "energy"}, [2]string{"a/x.png", "no"}, [2]string{"b.bin", "no"})
		_, first := folder(t, files...)
		slices.Reverse(files)
		_, second := folder(t, files...)
		docs, skipped, err := Read(context.Background(), first)
		if err != nil {
			t.Fatal(err)
		}
		again, skippedAgain, err := Read(context.Background(), second)
		if err != nil || fmt.Sprint(docs, skipped) != fmt.Sprint(again, skippedAgain) || len(docs) != 41 {
			t.Errorf("%d and %d documents, or others: %v", len(docs), len(again), err)
		}
		slices.Reverse(again)
		if got, want := find(t, NewIndex(again), "energy number", 50), find(t, NewIndex(docs), "energy number", 50); !slices.Equal(got, want) || len(got) != 41 {
			t.Error("the hits differ")
		}
	})
	t.Run("TellsFilesOfOneNameApart", func(t *testing.T) {
		t.Parallel()
		_, root := folder(t, [2]string{"a/note.txt", "apples"}, [2]string{"b/note.txt", "pears"})
		docs, _ := read(t, root)
		if len(docs) != 2 || docs[0].ID != "a/note.txt" || docs[1].ID != "b/note.txt" || docs[0].Title != "note.txt" {
			t.Errorf("got %v", docs)
		}
	})
	t.Run("NamesWhatItCannotUse", func(t *testing.T) {
		t.Parallel()
		dir, root := folder(t,
			[2]string{"good.md", "\ufeff# Good\n\nText."}, [2]string{"empty.md", ""}, [2]string{"blank.txt", " \n\t\n"},
			[2]string{"program.txt", "\x7fELF\x00\x01"}, [2]string{"picture.png", "\x89PNG"}, [2]string{"latin.txt", "caf\xe9 au lait"},
			[2]string{"wide.txt", "\xff\xfeh\x00i\x00"}, [2]string{".git/config.md", "hidden"}, [2]string{"bad\nname.md", "x"},
			[2]string{"bad\xff.md", "x"}, [2]string{"turned\u202egpj.md", "x"}, [2]string{"sub/UPPER.TXT", "Fine."},
			[2]string{"chinese.txt", "化学反应的速率。"}, [2]string{"locked.md", "x"})
		outside := filepath.Join(t.TempDir(), "secret.md")
		if err := errors.Join(os.WriteFile(outside, []byte("secret"), 0o600),
			os.Symlink(outside, filepath.Join(dir, "absolute.md")), os.Symlink("../../../../../../etc/hostname", filepath.Join(dir, "relative.md")),
			os.Symlink(filepath.Dir(outside), filepath.Join(dir, "away")), os.Symlink("good.md", filepath.Join(dir, "inside.md")),
			os.Symlink("sub", filepath.Join(dir, "loop")), os.Symlink("self.md", filepath.Join(dir, "self.md")), os.Symlink("nowhere", filepath.Join(dir, "dangling.md")),
			unix.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600)); err != nil {
			t.Fatal(err)
		}
		// One line of 100 MB, most of it a hole.
		if err := os.Truncate(filepath.Join(dir, "locked.md"), 100_000_000); err != nil {
			t.Fatal(err)
		}
		docs, reasons := read(t, root)
		var ids []string
		for _, d := range docs {
			ids = append(ids, d.ID)
		}
		if want := []string{"chinese.txt", "good.md", "sub/UPPER.TXT"}; !slices.Equal(ids, want) {
			t.Errorf("read %v, want %v", ids, want)
		}
		for name, want := range map[string]string{
			"empty.md": "empty", "blank.txt": "empty", "program.txt": "binary", "picture.png": "only .md", "latin.txt": "byte 3",
			"wide.txt": "UTF-16", ".git": "hidden", "bad\nname.md": "rename", "bad\ufffd.md": "rename", "turned\u202egpj.md": "rename",
			"absolute.md": "out of the folder", "relative.md": "out of the folder", "away": "out of the folder", "inside.md": "where it is",
			"loop": "where they are", "self.md": "circle", "dangling.md": "nowhere", "pipe.md": "regular", "locked.md": "larger than 16 MiB",
		} {
			if !strings.Contains(reasons[name], want) {
				t.Errorf("%q is left out because %q, want %q", name, reasons[name], want)
			}
			delete(reasons, name)
		}
		if len(reasons) != 0 {
			t.Errorf("also left out: %v", reasons)
		}
	})
	t.Run("DoesNotWaitForAPipe", func(t *testing.T) {
		t.Parallel()
		dir, root := folder(t)
		if err := unix.Mkfifo(filepath.Join(dir, "a.md"), 0o600); err != nil {
			t.Fatal(err)
		}
		// As if it had been a file when the folder was listed.
		if _, err := (&reader{root: root}).open("a.md"); err == nil || !strings.Contains(err.Error(), "regular") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("SplitsALineWithoutEnd", func(t *testing.T) {
		t.Parallel()
		line := strings.Repeat("word ", 5000) + strings.Repeat("化", 5000)
		_, root := folder(t, [2]string{"long.txt", line})
		docs, _ := read(t, root)
		if len(docs) != 1 || strings.ReplaceAll(strings.Join(docs[0].Paragraphs, ""), " ", "") != strings.ReplaceAll(line, " ", "") {
			t.Fatal("something is lost")
		}
		for _, p := range docs[0].Paragraphs {
			if len(p) > maxParagraph || !utf8.ValidString(p) || strings.HasPrefix(p, "ord") {
				t.Errorf("a paragraph of %d bytes, or cut within a word", len(p))
			}
		}
	})
	t.Run("RefusesMoreThanACorpusMayHold", func(t *testing.T) {
		t.Parallel()
		_, root := folder(t, [2]string{"a.md", "aaaa"}, [2]string{"b.md", "bbbb"}, [2]string{"c.png", "x"}, [2]string{"d.png", "x"})
		for name, r := range map[string]reader{"documents": {maxDocuments: 1, maxCorpus: 100}, "bytes": {maxDocuments: 10, maxCorpus: 7}} {
			r.ctx, r.root = context.Background(), root
			if err := walk(&r); err == nil || !strings.Contains(err.Error(), "split it") {
				t.Errorf("too many %s: got %v", name, err)
			}
		}
	})
	t.Run("SaysThatTheFolderIsGone", func(t *testing.T) {
		t.Parallel()
		dir, root := folder(t)
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		root.Close()
		if _, _, err := Read(context.Background(), root); err == nil {
			t.Error("no error")
		}
	})
	t.Run("StopsWhenToldTo", func(t *testing.T) {
		t.Parallel()
		_, root := folder(t, [2]string{"a.md", "a"})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, _, err := Read(ctx, root); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestParagraphs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		plain bool
		want  []string
	}{
		"SplitsAtBlankLines":        {text: "a\nb\n\n \t\nc\r\n\r\nd\n", want: []string{"a\nb", "c", "d"}},
		"JoinsAHeadingToItsText":    {text: "# A\n\ntext\n## B\n\n### C\n\nmore\n\nend\n\n# D\n", want: []string{"# A\n\ntext", "## B\n\n### C\n\nmore", "end", "# D"}},
		"KeepsCodeTogether":         {text: "see\n```go\na\n\n# b\n\n````\n\nc\n\n~~~\nd\n\n```\n~~~\n\ne", want: []string{"see\n```go\na\n\n# b\n\n````", "c", "~~~\nd\n\n```\n~~~", "e"}},
		"EndsCodeWithTheFile":       {text: "```\na\n\nb", want: []string{"```\na\n\nb"}},
		"KnowsNoMarkdownInText":     {text: "# a\n\n```\nb\n\nc", plain: true, want: []string{"# a", "```\nb", "c"}},
		"TakesHashtagsForText":      {text: "#tag\n\nb", want: []string{"#tag", "b"}},
		"FindsNothingInBlankFiles":  {text: "\n \n\r\n"},
		"TakesOldMacintoshLineEnds": {text: "a\r\rb", want: []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Paragraphs(c.text, !c.plain); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"text\n\n## The  *rate* ##\n# Other": "The *rate*", "no heading": "f.md", "```\n# code\n```\n# After": "After", "#\n# C#": "C#",
		"# bell\x07 \x1b[31mred": "bell [31mred", "# " + strings.Repeat("é", 300): strings.Repeat("é", 100),
	} {
		if got := title(text, "f.md", true); got != want {
			t.Errorf("title of %q is %q, want %q", text, got, want)
		}
	}
	if got := title("# a", "f.txt", false); got != "f.txt" {
		t.Errorf("a text file's title is %q", got)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing to see in this sentence. ", 60)
	for name, c := range map[string]struct{ text, query, want string }{
		"IsTheWholeOfAShortOne":     {"A short one.", "short", "A short one."},
		"StandsAroundTheMatch":      {filler + "The needle is here. " + filler, "needle", "The needle is here."},
		"PrefersMoreOfTheQuery":     {filler + "A needle, a needle, a needle. " + filler + "The needle and the thread. " + filler, "needle thread", "The needle and the thread."},
		"BeginsWhereNothingMatches": {filler, "absent", "Nothing to see"},
		"CutsBetweenRunes":          {strings.Repeat("化", 600) + "针" + strings.Repeat("学", 600), "针", "针"},
		"CutsWordsWithoutEnd":       {strings.Repeat("é", 3000), "éé", "é"},
		"FindsTheEnd":               {filler + "Last comes the needle", "needle", "Last comes the needle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hits := find(t, NewIndex(texts(c.text, "needle", "b", "c")), c.query, 10)
			got := snippet(c.text, weights{})
			for _, h := range hits {
				if h.Text == c.text {
					got = h.Snippet
				}
			}
			if !strings.Contains(got, c.want) || !strings.Contains(c.text, got) || len(got) > maxSnippet || !utf8.ValidString(got) {
				t.Errorf("got %d bytes: %q", len(got), got)
			}
			if len(c.text) > maxSnippet && strings.HasPrefix(c.text, "Nothing") && !strings.HasSuffix(got, ".") && name != "FindsTheEnd" {
				t.Errorf("it ends within a sentence: %q", got)
			}
		})
	}
}
