// Package trial is a small test of searching by meaning: paragraphs, each with a
// question in other words and one by name. The texts are written for it. It is small
// enough to be read and too small to prove anything but gross faults.
package trial

import (
	_ "embed"
	"fmt"
	"strings"

	"lyceum/internal/search"
)

//go:embed pairs.txt
var pairs string

// Case is a paragraph and two questions that it answers.
type Case struct{ Text, Paraphrase, Name string }

// Cases returns all of them.
func Cases() []Case {
	var list []Case
	for block := range strings.SplitSeq(strings.TrimSpace(pairs), "\n\n") {
		lines := strings.Split(block, "\n")
		list = append(list, Case{lines[0], lines[1], lines[2]})
	}
	return list
}

// Documents returns the paragraphs, each a document of its own.
func Documents(cases []Case) []search.Document {
	docs := make([]search.Document, len(cases))
	for i, c := range cases {
		docs[i] = search.Document{ID: ID(i), Title: ID(i), Paragraphs: []string{c.Text}}
	}
	return docs
}

// ID is the name of the document of a case.
func ID(i int) string { return fmt.Sprintf("%02d.txt", i) }
