package wire

import (
	"strings"
	"unicode/utf16"

	"lyceum/internal/plain"
)

// Style is how a service writes what is set apart. Only code, bold words and headings are: an
// address stays beside the words that it is behind, for a link of a stranger's should be seen.
type Style struct {
	// Escape makes a text one that the service takes for nothing else.
	Escape func(string) string
	// Bold, Code and Block are what stands before and behind.
	Bold, Code, Block [2]string
	// Break is the end of a line.
	Break string
	// Most is how much the service takes, in units of UTF-16.
	Most int
}

// cutHere is what stands at the end of a text that was too long.
const cutHere = "\n\n[… the rest is on the page of the quest]"

// Cut is a text that a service takes, of so many units at most.
func Cut(s string, most int) string {
	s = plain.Text(s)
	if length(s) <= most {
		return s
	}
	most -= length(cutHere)
	n := 0
	for at, r := range s {
		if n += max(utf16.RuneLen(r), 1); n > most {
			return s[:at] + cutHere
		}
	}
	return s
}

func length(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// Render writes Markdown as the service has it. It takes time that grows with the length, and
// whatever it does not know stays as it is written.
func (s *Style) Render(markdown string) string {
	var b strings.Builder
	lines := strings.Split(Cut(markdown, s.Most), "\n")
	for i := 0; i < len(lines); i++ {
		if i > 0 {
			b.WriteString(s.Break)
		}
		fence := fenced(lines[i])
		if fence == "" {
			s.line(&b, lines[i])
			continue
		}
		first := i + 1
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != fence; i++ {
		}
		b.WriteString(s.Block[0] + s.Escape(strings.Join(lines[min(first, len(lines)):min(i, len(lines))], "\n")) + s.Block[1])
	}
	return b.String()
}

// fenced is the fence that a line begins a block of code with, if it does.
func fenced(line string) string {
	for _, fence := range []string{"```", "~~~"} {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			return fence
		}
	}
	return ""
}

func (s *Style) line(b *strings.Builder, line string) {
	if title := strings.TrimLeft(line, "#"); len(line)-len(title) <= 6 && len(title) < len(line) && strings.HasPrefix(title, " ") {
		b.WriteString(s.Bold[0] + s.Escape(strings.ReplaceAll(strings.TrimSpace(title), "**", "")) + s.Bold[1])
		return
	}
	for line != "" {
		at := strings.IndexAny(line, "`*")
		if at < 0 {
			break
		}
		b.WriteString(s.Escape(line[:at]))
		line = line[at:]
		mark, form := "`", s.Code
		if line[0] == '*' {
			mark, form = "**", s.Bold
		}
		inner, rest, ok := strings.Cut(strings.TrimPrefix(line, mark), mark)
		if !strings.HasPrefix(line, mark) || !ok || inner == "" || strings.TrimSpace(inner) != inner {
			// Marks that set nothing apart are what they are.
			n := len(line) - len(strings.TrimLeft(line, line[:1]))
			b.WriteString(s.Escape(line[:n]))
			line = line[n:]
			continue
		}
		b.WriteString(form[0] + s.Escape(inner) + form[1])
		line = rest
	}
	b.WriteString(s.Escape(line))
}

// Angles escapes what HTML and Slack give a meaning.
var Angles = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// Choices is a text with options as lines, for services without buttons.
func Choices(text string, options []string) string {
	if len(options) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(text, "\n") + "\n")
	for _, o := range options {
		b.WriteString("\n- " + plain.Line(o))
	}
	return b.String()
}

// Omitted is the line that stands in a message for a file that did not come along.
func Omitted(name, why string) string {
	return "[the file " + plain.Brief(name, 80) + " was left out: " + why + "]"
}
