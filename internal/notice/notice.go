// Package notice holds the licences of all that others wrote and this binary carries:
// the Go modules that are linked, Go itself, the packages of the page, its fonts, and
// the word vectors.
//
// The texts are gathered by the program in gather, which looks at what is really linked
// and bundled, and packed into a file of this folder. A test fails when something is
// linked that has no notice here.
package notice

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the packed notices
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// The kinds of what is carried.
const (
	Own    = "program"
	Module = "go"
	Page   = "npm"
	Font   = "font"
	Data   = "data"
)

// Notice is what one work of others asks to be told with it.
type Notice struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
	Kind    string `json:"kind"`
	// License is an SPDX expression, found by reading the texts.
	License string `json:"license"`
	Texts   []Text `json:"texts,omitzero"`
}

// Text is one file of a licence, as its authors wrote it.
type Text struct {
	File string `json:"file"`
	Text string `json:"text"`
}

//go:embed notices.json.gz
var packed []byte

// All are the notices of this binary, its own first, then by kind and name.
func All() ([]Notice, error) { return Unpack(packed) }

// Unpack reads what Pack wrote.
func Unpack(data []byte) ([]Notice, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack the notices: %w", err)
	}
	var all []Notice
	if err := json.UnmarshalRead(r, &all); err != nil {
		return nil, fmt.Errorf("read the notices: %w", err)
	}
	return all, nil
}

// Pack writes notices as the file that is embedded: the same bytes for the same notices.
func Pack(all []Notice) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := json.MarshalWrite(w, all, json.Deterministic(true)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Write prints notices with their texts, for people to read.
func Write(w io.Writer, all []Notice) error {
	for _, n := range all {
		if _, err := fmt.Fprintf(w, "==== %s\n     %s\n", n.Title(), n.License); err != nil {
			return err
		}
		for _, t := range n.Texts {
			if _, err := fmt.Fprintf(w, "\n---- %s of %s\n\n%s\n", t.File, n.Name, t.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// Title is the name, with its version if it has one.
func (n Notice) Title() string {
	if n.Version == "" {
		return n.Name
	}
	return n.Name + " " + n.Version
}
