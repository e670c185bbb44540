package site

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// Man makes a man page of each document: lyceum-<name>.7. version stands below each.
func Man(files fs.FS, version string) (map[string][]byte, error) {
	all, err := read(files)
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{}
	for _, d := range all {
		m := &roff{document: d}
		name := "lyceum-" + strings.ToLower(d.Name)
		m.b.WriteString(Head(name, 7, version, d.Title) + ".SH DESCRIPTION\n")
		for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
			m.block(n)
		}
		pages[name+".7"] = []byte(m.b.String())
	}
	return pages, nil
}

// Head is the beginning of a man page: what it is called, and what it is about in a line.
func Head(name string, section int, version, about string) string {
	return fmt.Sprintf(".TH %s %d \"\" %s Lyceum\n.SH NAME\n%s \\- %s\n", quoted(strings.ToUpper(name)), section, quoted("Lyceum "+version), Escape(name), Escape(about))
}

// Escape makes a text that roff prints as it is. A line that begins with a dot or an apostrophe is no
// request.
func Escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// quoted is an argument of a request.
func quoted(text string) string { return `"` + strings.ReplaceAll(Escape(text), `"`, `\(dq`) + `"` }

// roff is a man page that is being written.
type roff struct {
	*document
	b strings.Builder
}

func (m *roff) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		switch n.Level {
		case 1: // it stands under NAME
		case 2:
			fmt.Fprintf(&m.b, ".SH %s\n", quoted(strings.ToUpper(m.words(n))))
		default:
			fmt.Fprintf(&m.b, ".SS %s\n", quoted(m.words(n)))
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		fmt.Fprintf(&m.b, ".PP\n.EX\n%s.EE\n", Escape(string(n.Lines().Value(m.source))))
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			m.b.WriteString(".IP \\(bu 2\n")
			m.items(item)
		}
	case *ast.Blockquote:
		m.b.WriteString(".RS\n")
		m.items(n)
		m.b.WriteString(".RE\n")
	case *extension.Table:
		m.table(n)
	case *ast.Paragraph, *ast.TextBlock:
		fmt.Fprintf(&m.b, ".PP\n%s\n", m.line(n))
	}
}

// items are the blocks of an item of a list: the first is its text.
func (m *roff) items(item ast.Node) {
	for n := item.FirstChild(); n != nil; n = n.NextSibling() {
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			fmt.Fprintf(&m.b, "%s\n", m.line(n))
		default:
			m.b.WriteString(".RS\n")
			m.block(n)
			m.b.WriteString(".RE\n")
		}
	}
}

// table tells each row: what stands first, and the rest indented below.
func (m *roff) table(t *extension.Table) {
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		if _, head := row.(*extension.TableHeader); head {
			continue
		}
		var rest []string
		for c := row.FirstChild().NextSibling(); c != nil; c = c.NextSibling() {
			if text := m.line(c); text != "" {
				rest = append(rest, text)
			}
		}
		fmt.Fprintf(&m.b, ".TP\n%s\n%s\n", orNothing(m.line(row.FirstChild())), orNothing(strings.Join(rest, " \\(bu ")))
	}
}

// orNothing is a line that is not empty: an empty one would end what it belongs to.
func orNothing(text string) string {
	if text == "" {
		return `\&`
	}
	return text
}

// line is the text of a node, with what is code or strong in bold.
func (m *roff) line(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.WriteString(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(string(n.Value(m.source))))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.CodeSpan, *ast.Emphasis:
			b.WriteString(map[bool]string{true: `\fB`, false: `\fR`}[entering])
		}
		return ast.WalkContinue, nil
	})
	text := strings.Join(strings.Fields(b.String()), " ")
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
