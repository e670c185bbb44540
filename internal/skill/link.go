package skill

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/plain"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Link is a link of a Markdown text to a file.
type Link struct {
	Text string
	// Path is as it stands there, without what is behind a #; Part is that.
	Path, Part string
	Title      string
	Line       int
}

// maxLinks is how many links of a text are looked at.
const maxLinks = 1000

// scheme is what an address begins with that is no path.
var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*:|//)`)

// Links are the links of a text to files, inline and by reference, in order. Pictures, what
// stands in code, other schemes and links within the text itself are none. more says that
// there are further ones than anybody looks at.
func Links(source string) (links []Link, more bool) {
	data := []byte(source)
	lines := newlines(data)
	// What is emphasised is nothing to a link, and takes the parser long where somebody means it to.
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewRawHTMLParser(), 400),
		),
		parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)),
	)
	root := p.Parse(text.NewReader(data))
	last := 0 // where the last text began: a link without words stands behind it
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			last = n.Segment.Start
		case *ast.Image:
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			if len(links) == maxLinks {
				more = true
				return ast.WalkStop, nil
			}
			words, at := said(n, data)
			if at < 0 {
				at = last
			}
			if l, ok := linkTo(string(n.Destination)); ok {
				l.Text, l.Title, l.Line = words, string(n.Title), lineOf(lines, at)
				links = append(links, l)
			}
		default:
			if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
				last = n.Lines().At(0).Start
			}
		}
		return ast.WalkContinue, nil
	})
	return links, more
}

// linkTo reads where a link leads; not ok, if that is no file.
func linkTo(dest string) (l Link, ok bool) {
	if dest == "" || scheme.MatchString(dest) || strings.HasPrefix(dest, "#") {
		return l, false
	}
	dest, l.Part, _ = strings.Cut(dest, "#")
	dest, _, _ = strings.Cut(dest, "?")
	l.Path = dest
	if plain, err := url.PathUnescape(dest); err == nil {
		l.Path = plain
	}
	return l, l.Path != ""
}

// said are the words of a link, and where they begin; -1 if it has none.
func said(n ast.Node, source []byte) (words string, at int) {
	var b strings.Builder
	at = -1
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		t, ok := n.(*ast.Text)
		if !entering || !ok {
			return ast.WalkContinue, nil
		}
		if at < 0 {
			at = t.Segment.Start
		}
		b.Write(t.Value(source))
		if t.SoftLineBreak() || t.HardLineBreak() {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return plain.Unmarked(strings.Join(strings.Fields(b.String()), " ")), at
}

// What a text may not be, because the parser takes time with its square.
const (
	maxLine = 8 << 10
	maxNest = 50
)

// nested is how deep the quotations and lists are that a line begins.
var nested = regexp.MustCompile(`^[ \t]*(?:>|[-*+][ \t]|[0-9]{1,9}[.)][ \t])`)

// monstrous says which line of a text is not parsed, and why; 0 if all are.
func monstrous(source string) (line int, why string) {
	for text := range strings.Lines(source) {
		line++
		if len(text) > maxLine {
			return line, fmt.Sprintf("the line has %d bytes: break it, at most %d are allowed", len(text), maxLine)
		}
		depth := 0
		for at := nested.FindString(text); at != ""; at = nested.FindString(text) {
			text = text[len(at):]
			if depth++; depth > maxNest {
				return line, fmt.Sprintf("quotations and lists stand in each other more than %d deep", maxNest)
			}
		}
	}
	return 0, ""
}

// newlines are the places of all ends of lines.
func newlines(data []byte) (out []int) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return out
		}
		at += i
		out = append(out, at)
	}
}

func lineOf(newlines []int, at int) int {
	i, _ := slices.BinarySearch(newlines, at)
	return i + 1
}

// inside is the path of a link's target below the folder that a text stands in, at the path
// dir of its root. It is refused if it leads out of the root.
func inside(dir, target string) (string, error) {
	if strings.ContainsRune(target, 0) || path.IsAbs(target) {
		return "", fmt.Errorf("%.120q is no path within the folder", target)
	}
	clean := path.Join(dir, target)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%.120q leads out of the folder", target)
	}
	return clean, nil
}

// link looks where the links of a skill's body lead. One that leads out of the folder is a
// fault; one to what is not there is told.
func (s *Skill) link(at string) []error {
	if line, why := monstrous(s.Body); line > 0 {
		return []error{fault(at, line+s.Begins-1, "%s", why)}
	}
	links, more := Links(s.Body)
	if more {
		s.warn(at, 0, "it has more than %d links: the others are not looked at", maxLinks)
	}
	var faults []error
	for _, l := range links {
		l.Line += s.Begins - 1
		to, err := inside(".", l.Path)
		switch {
		case err != nil:
			faults = append(faults, fault(at, l.Line, "the link %v: a skill has all it needs in its own folder", err))
			continue
		case s.file(to) == nil && !s.hasFolder(to):
			s.warn(at, l.Line, "the link %.120q leads to nothing", l.Path)
			continue
		}
		l.Path = to
		s.Links = append(s.Links, l)
		if s.file(to) != nil && strings.EqualFold(path.Ext(to), ".md") && to != File {
			s.References = append(s.References, l)
		}
	}
	return faults
}

func (s *Skill) hasFolder(name string) bool {
	return name == "." || slices.ContainsFunc(s.Files, func(f Content) bool { return strings.HasPrefix(f.Path, name+"/") })
}
