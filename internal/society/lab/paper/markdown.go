package paper

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Header is what stands before the content of a publication.md: YAML between two
// lines of dashes. What agents wrote is quoted in it, so that nothing can end it.
func (p *Paper) Header() string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %s\nauthor: %s\nstatus: %s\nreference: %s\n", Quote(p.Title), Quote(p.Author), p.Status, Quote(p.Ref))
	if p.Revises != "" {
		fmt.Fprintf(&b, "revises: %s\n", Quote(p.Revises))
	}
	if p.Entrypoint != "" {
		fmt.Fprintf(&b, "entrypoint: %s\nreproduction: %s\n", Quote(p.Entrypoint), p.Shown())
		p.evidence(&b)
	}
	list := func(name string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "%s:\n", name)
		}
		for _, s := range items {
			fmt.Fprintf(&b, "  - %s\n", Quote(s))
		}
	}
	list("claims", p.Claims)
	if p.Reproduction != nil {
		list("claims_not_in_output", p.Reproduction.Missing)
	}
	list("repeats", p.Repeats)
	list("citations", p.Cites)
	list("attachments", p.Attachments)
	b.WriteString("---\n\n")
	return b.String()
}

// evidence is what running the entry point came to: why it did not go well, and the
// hashes of what it printed, which are those of the files beside the paper.
func (p *Paper) evidence(b *strings.Builder) {
	r := p.Reproduction
	if r == nil {
		return
	}
	if r.Reason != "" {
		fmt.Fprintf(b, "reproduction_reason: %s\n", Quote(r.Reason))
	}
	if r.Printed != "" {
		fmt.Fprintf(b, "reproduction_printed: %s\n", Quote(r.Printed))
	}
	for _, o := range Outputs(r) {
		name := strings.ReplaceAll(strings.TrimSuffix(o.File, ".txt"), "-", "_")
		fmt.Fprintf(b, "%s_sha256: %s\n", name, Quote(o.Ref.Hash.String()))
	}
}

// Shown is what a reader is told of the reproduction: same output twice, differs, failed, or
// pending; nothing, if the paper has no entry point.
func (p *Paper) Shown() string {
	switch {
	case p.Entrypoint == "":
		return ""
	case p.Reproduction == nil:
		return "pending"
	}
	return p.Reproduction.Status
}

// Markdown is a paper's publication.md. read gives a text whole.
func Markdown(p *Paper, read func(event.Text) (string, error)) (string, error) {
	content, err := read(p.Content)
	if err != nil {
		return "", fmt.Errorf("read the content of publication %s: %w", p.Ref, err)
	}
	return p.Header() + strings.TrimRight(content, "\n") + "\n", nil
}

// Quote writes a text that somebody else wrote as a JSON string on one line, which
// is YAML too. Whatever could be taken for markup, for a call of a tool or for the end
// of a line, or changes the direction of writing, is written as a number.
func Quote(s string) string {
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case plain.Papers.Has(r) || strings.ContainsRune("<>[]{}`", r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '"'))
}
