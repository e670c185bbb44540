package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"lyceum/internal/plain"
)

// Hash is a SHA-256 sum, written as 64 lower-case hex digits.
type Hash [sha256.Size]byte

// HashOf returns the sum of data.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// ParseHash reads the 64 hex digits of a sum. Upper-case digits are refused:
// one sum has one spelling.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*len(h) {
		return h, fmt.Errorf("hash %q: want %d hex digits", clip(s), 2*len(h))
	}
	for i := range s {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return h, fmt.Errorf("hash %q: want lower-case hex digits", clip(s))
		}
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err
}

// LineHash finds the hash that a ledger's line says it has, without reading the rest: for going
// through many lines that were checked before. Within a text a quotation mark is escaped, so the
// last member of that name is the event's own.
func LineHash(line []byte) (Hash, error) {
	at := bytes.LastIndex(line, []byte(`,"hash":"`))
	if at += len(`,"hash":"`); at < len(`,"hash":"`) || len(line) < at+2*len(Hash{}) {
		return Hash{}, errors.New("a line without a hash")
	}
	return ParseHash(string(line[at : at+2*len(Hash{})]))
}

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h is unset. The zero hash stands before the first
// event of every quest.
func (h Hash) IsZero() bool { return h == Hash{} }

// AppendText implements encoding.TextAppender.
func (h Hash) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, h[:]), nil }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(b []byte) error {
	got, err := ParseHash(string(b))
	*h = got
	return err
}

// Ref names a blob: bytes kept beside the ledger under their SHA-256.
type Ref struct {
	Hash Hash  `json:"hash"`
	Size int64 `json:"size"`
}

// RefOf names data.
func RefOf(data []byte) Ref { return Ref{Hash: HashOf(data), Size: int64(len(data))} }

// TreeRef names a blob that lists a folder, and so everything below it. It is a
// type of its own so that a walk over an event's references knows to go on.
type TreeRef struct {
	Hash Hash  `json:"hash"`
	Size int64 `json:"size"`
}

// Text is a text of any length. A short one stands in the event; a long one
// stands in a blob. Where both are set, Ref is the whole and Text the shortened
// form that a model is shown.
type Text struct {
	Ref  *Ref   `json:"ref,omitzero"`
	Text string `json:"text,omitzero"`
}

// Len returns how many bytes a model is shown.
func (t Text) Len() int64 {
	if t.Text == "" && t.Ref != nil {
		return t.Ref.Size
	}
	return int64(len(t.Text))
}

// Size returns how many bytes the whole text has.
func (t Text) Size() int64 {
	if t.Ref != nil {
		return t.Ref.Size
	}
	return int64(len(t.Text))
}

func clip(s string) string {
	if len(s) > 80 {
		return plain.Cut(s, 80) + "…"
	}
	return s
}
