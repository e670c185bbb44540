// Package bundle makes a paper of what a researcher wrote: the Markdown as it is, one HTML file
// that needs nothing else, LaTeX, a bibliography, and the claims with what they rest on.
//
// All of it is hostile. A text is data in each form that it takes: HTML in it is shown as text,
// no command of TeX comes through, links lead to the web or nowhere, and a picture is one that a
// program of the paper has made. What cannot be a paper is refused with a sentence for whoever
// wrote it; nothing is left out in silence.
//
// The same source makes the same files, to the byte. No clock, no file and no network is asked.
package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/plain"
)

// The files of a bundle. Figures stand in a folder, each under its id.
const (
	FileMarkdown   = "paper.md"
	FileHTML       = "paper.html"
	FileLaTeX      = "paper.tex"
	FilePDF        = "paper.pdf"
	FileReferences = "references.bib"
	FileClaims     = "claims.json"
	FolderFigures  = "figures"
)

// Bounds of a paper.
const (
	MaxText         = event.MaxPaper
	MaxBibliography = 1 << 20
	MaxFigures      = 32
	MaxFigure       = 8 << 20
	// MaxOutput is how much of what a result printed is looked through for numbers, the half of it
	// in front and the half at the end.
	MaxOutput = 1 << 20
	maxTitle  = 300
)

// What became of a figure.
const (
	Same      = "same"
	Differs   = "differs"
	Failed    = "failed"
	Unchecked = "unchecked"
)

// Source is what a paper is made of.
type Source struct {
	Title string
	// Language is that of the text, such as en or de-CH; empty is English.
	Language     string
	Markdown     []byte
	Bibliography []byte
	Claims       []event.OutlineClaim
	Figures      []Figure
	Outputs      []Output
	// Cards are the titles of the study's cards of papers, by id.
	Cards map[string]string
}

// Figure is a picture and how it was made. Without data there is none, and Why says why.
type Figure struct {
	event.BundleFigure
	Data         []byte
	Verdict, Why string
}

// Kind is the type of a figure's picture, by its name and its bytes; or what is wrong with it.
func Kind(output string, data []byte) (string, error) {
	_, ext, _ := cutLast(output, ".")
	switch kind := media.Sniff(data); {
	case len(data) > MaxFigure:
		return "", fmt.Errorf("it has %d bytes, and a figure may have %d", len(data), MaxFigure)
	case ext == "svg":
		return SVG, harmless(data)
	case ext == "png" && kind == media.PNG:
		return kind, nil
	case ext == "pdf" && WholePDF(data):
		return media.PDF, nil
	case ext == "png" || ext == "pdf":
		return "", fmt.Errorf("it is no whole %s", strings.ToUpper(ext))
	}
	return "", errors.New("a figure is a file .svg, .png or .pdf")
}

// WholePDF reports whether bytes are a PDF from the first to the last.
func WholePDF(data []byte) bool {
	end := data[max(0, len(data)-1024):]
	return bytes.HasPrefix(data, []byte("%PDF-")) && bytes.Contains(end, []byte("startxref")) && bytes.Contains(end, []byte("%%EOF"))
}

// SVG is the type of a drawing.
const SVG = "image/svg+xml"

// File is where the figure stands in the bundle.
func (f *Figure) File() string {
	_, ext, _ := cutLast(f.Output, ".")
	return FolderFigures + "/" + f.ID + "." + ext
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Output is a result that the paper rests on, and what its program printed.
type Output struct {
	event.BundleOutput
	Text string
}

// File is one of a bundle.
type File struct {
	Path string
	Data []byte
}

// Paper is what was made.
type Paper struct {
	Files []File
	// Numbers are those of the text, each with the result that it follows from.
	Numbers []event.NumberTraced
	// References are the keys that are cited, Unknown those that nothing is known of.
	References, Unknown []string
	// Sections are the headings that have words below them, Named the results that the text names.
	Sections, Named []string
	// Text is the paper as somebody reads it who has only that.
	Text string
}

// Make makes a paper. Its error is a sentence for whoever wrote it.
func Make(s Source) (out *Paper, err error) {
	defer func() {
		// A text that breaks the parser is still no reason to end a study.
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("the text cannot be set: %v", v)
		}
	}()
	if err := s.check(); err != nil {
		return nil, err
	}
	d, err := read(&s)
	if err != nil {
		return nil, err
	}
	p := &Paper{Numbers: d.trace(), Sections: d.sections(), Named: d.named(), References: d.cited, Unknown: d.unknown()}
	if p.Text = d.told(); len(p.Text) > MaxText {
		return nil, fmt.Errorf("the paper has %d bytes with what belongs to it, and may have %d: a reviewer reads all of it at once", len(p.Text), MaxText)
	}
	claims, err := d.claims(p.Numbers)
	if err != nil {
		return nil, err
	}
	p.Files = []File{{FileMarkdown, s.Markdown}, {FileHTML, []byte(d.html())}, {FileLaTeX, []byte(d.latex())}, {FileClaims, claims}}
	if len(s.Bibliography) > 0 {
		p.Files = append(p.Files, File{FileReferences, s.Bibliography})
	}
	for i := range s.Figures {
		if f := &s.Figures[i]; f.Data != nil {
			p.Files = append(p.Files, File{f.File(), f.Data})
		}
	}
	return p, nil
}

// check says what is wrong with a source before any of it is read.
func (s *Source) check() error {
	switch {
	case strings.TrimSpace(s.Title) == "" || len(s.Title) > maxTitle:
		return fmt.Errorf("a paper has a title of 1 to %d bytes", maxTitle)
	case len(s.Markdown) > MaxText:
		return fmt.Errorf("the text has %d bytes, and a paper may have %d", len(s.Markdown), MaxText)
	case strings.TrimSpace(string(s.Markdown)) == "":
		return errors.New("the text is empty")
	case media.Sniff(s.Markdown) != media.Text:
		return errors.New("the text is no text: write it in UTF-8")
	case len(s.Bibliography) > MaxBibliography:
		return fmt.Errorf("the bibliography has %d bytes, and may have %d", len(s.Bibliography), MaxBibliography)
	case len(s.Bibliography) > 0 && media.Sniff(s.Bibliography) != media.Text:
		return errors.New("the bibliography is no text: write it in UTF-8")
	case len(s.Figures) > MaxFigures:
		return fmt.Errorf("there are %d figures, and a paper may have %d", len(s.Figures), MaxFigures)
	}
	seen := map[string]bool{}
	for i := range s.Figures {
		f := &s.Figures[i]
		if !event.ValidName(f.ID) || seen[f.ID] {
			return fmt.Errorf("%s cannot name a figure: each has a name of its own, of letters a to z, digits and hyphens", plain.Quoted(f.ID, 40))
		}
		seen[f.ID] = true
		if f.Data == nil {
			continue
		}
		if _, err := Kind(f.Output, f.Data); err != nil {
			return fmt.Errorf("the figure %s: %w", f.ID, err)
		}
	}
	return nil
}

// ResultID reports whether a word is the id of a result.
func ResultID(s string) bool {
	digits, ok := strings.CutPrefix(s, "result-")
	return ok && digits != "" && len(digits) < 10 && strings.Trim(digits, "0123456789") == ""
}

// result is the output of that id, nil if the paper has none.
func (s *Source) result(id string) *Output {
	i := slices.IndexFunc(s.Outputs, func(o Output) bool { return o.Result == id })
	if i < 0 {
		return nil
	}
	return &s.Outputs[i]
}
