package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// The limits of grep. Of a line that is longer than maxGrepLine each piece of that
// length is searched by itself.
const (
	maxMatches    = 200
	maxGrepped    = 48 << 10 // bytes shown
	maxGrepScan   = 256 << 20
	maxGrepLine   = 64 << 10
	maxGrepShown  = 400 // bytes of one line
	maxGrepBefore = 100 // of these before the match
)

// Grep returns the tool grep.
func Grep() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "grep",
			Description: "Searches the text files of your workspace for lines that match a regular expression (RE2: no lookaround, no backreferences), hidden files too, and shows path:line:text, at most 200 lines. " +
				"Binary files are skipped, links are not followed, and .git and what .gitignore files name are left out.",
			Schema: `{"type":"object","properties":{` +
				`"pattern":{"type":"string","minLength":1,"maxLength":1000,"description":"The regular expression."},` +
				`"path":{"type":"string","description":"File or folder to search, relative to the workspace; all of it if left out."},` +
				`"glob":{"type":"string","minLength":1,"maxLength":1000,"description":"Only files whose path matches, such as *.py or src/**/*.{c,h}."},` +
				`"ignore_case":{"type":"boolean","description":"Whether A and a are the same; false if left out."},` +
				`"context":{"type":"integer","minimum":0,"maximum":10,"description":"How many lines to show before and after each; 0 if left out."},` + ignoredSchema +
				`},"required":["pattern"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Reads:      true,
		Paths:      []string{"path"},
		Run: func(ctx context.Context, c Call) (string, error) {
			args := struct {
				Pattern    string  `json:"pattern"`
				Path       string  `json:"path"`
				Glob       string  `json:"glob"`
				IgnoreCase bool    `json:"ignore_case"`
				Context    float64 `json:"context"`
				Ignored    bool    `json:"ignored"`
			}{Path: "."}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			if args.IgnoreCase {
				args.Pattern = "(?i:" + args.Pattern + ")"
			}
			rule, err := regexp.Compile(args.Pattern)
			if err != nil {
				return "", fmt.Errorf("the pattern does not compile: %.300s; a \\ before a character such as ( takes its meaning", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			}
			s := &search{home: c.room(), rule: rule, around: int(args.Context), ignored: args.Ignored}
			return s.run(ctx, args.Path, args.Glob)
		},
	}
}

// search is one run of grep.
type search struct {
	home   room
	rule   *regexp.Regexp
	around int
	// ignored says that what .gitignore files name is searched, too.
	ignored bool

	out                    strings.Builder
	matches, files         int
	binaries, failed, long int
	scanned                int64
	stopped                string
}

func (s *search) run(ctx context.Context, path, glob string) (string, error) {
	f, info, err := open(s.home, path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		defer f.Close()
		if err := s.file(ctx, path, f); err != nil && !errors.Is(err, errEnough) {
			return "", err
		}
		return s.text(&walk{}), nil
	}
	if err := f.Close(); err != nil {
		return "", inWords(path, err)
	}
	base, err := local(s.home, path)
	if err != nil {
		return "", err
	}
	var patterns []pattern
	if glob != "" {
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		if patterns, err = parsePattern(glob); err != nil {
			return "", err
		}
	}
	w := &walk{home: s.home, rules: s.home.ignoring(s.ignored)}
	w.visit = func(path string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() {
			return nil
		}
		if whole, _ := matchAny(patterns, base, path); glob != "" && !whole {
			return nil
		}
		f, _, err := open(s.home, path)
		if err != nil {
			s.failed++
			return nil
		}
		defer f.Close()
		return s.file(ctx, path, f)
	}
	if err := w.folder(ctx, base, 0); err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	return s.text(w), nil
}

// file searches one; errEnough says that no other need be.
func (s *search) file(ctx context.Context, path string, f io.Reader) error {
	in := bufio.NewReaderSize(f, maxGrepLine)
	start, err := in.Peek(8 << 10)
	if err != nil && err != io.EOF {
		s.failed++
		return nil
	}
	if bytes.IndexByte(start, 0) >= 0 {
		s.binaries++
		return nil
	}
	s.files++
	h := hits{search: s, path: label(path)}
	for number := 1; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := in.ReadSlice('\n')
		if len(piece) > 0 {
			if s.scanned += int64(len(piece)); s.scanned > maxGrepScan {
				return s.stop(fmt.Sprintf("%d MiB were searched", maxGrepScan>>20))
			}
			if err := h.line(number, bytes.TrimRight(piece, "\r\n")); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
			number++
		case err == bufio.ErrBufferFull:
			s.long++
		case err == io.EOF:
			return nil
		default:
			s.failed++
			return nil
		}
	}
}

// text returns what was found and what was left out.
func (s *search) text(w *walk) string {
	b := &s.out
	if s.matches == 0 {
		fmt.Fprintf(b, "(no line matches, in %d files)\n", s.files)
	}
	if s.stopped != "" {
		fmt.Fprintf(b, "(stopped, for %s; there may be more: give a path, a glob or a narrower pattern)\n", s.stopped)
	}
	for _, left := range []struct {
		n    int
		text string
	}{
		{s.binaries, "(%d binary files skipped)\n"},
		{s.failed, "(%d files could not be read)\n"},
		{w.links, "(%d links not followed)\n"},
		{s.long, "(of lines longer than 64 KiB each piece was searched by itself, at %d places)\n"},
	} {
		if left.n > 0 {
			fmt.Fprintf(b, left.text, left.n)
		}
	}
	return b.String() + w.notes()
}
