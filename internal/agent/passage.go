package agent

import (
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Passage is one of the texts that a file for people and agents is put together from.
type Passage struct {
	event.Text
	// Quoted is set of the words of somebody whose headings must not pass for the file's
	// own: they stand there as a quotation.
	Quoted bool
}

// Passages are texts that stand as they are.
func Passages(texts ...event.Text) (out []Passage) {
	for _, t := range texts {
		out = append(out, Passage{Text: t})
	}
	return out
}

// Join is what parts say together. Files of an earlier time have no quotations: as is
// keeps to that.
func Join(parts []Passage, asIs bool, blobs Blobs) (string, error) {
	var out strings.Builder
	for _, p := range parts {
		text, err := Read(p.Text, blobs)
		if err != nil {
			return "", err
		}
		if p.Quoted && !asIs {
			text = plain.Quotation(text)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}
