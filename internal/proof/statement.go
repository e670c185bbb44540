package proof

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
)

// Statement is what an owner says of his keys, in a signed note: that another key of the same name
// takes over, signed by both, or that a key is not to be believed from a time on, signed by it.
type Statement struct {
	// Old is the key that says so.
	Old Verifier
	// New is the key that takes over; nil says that Old is revoked.
	New *Verifier
	// Since is from when on that holds, in seconds since 1970.
	Since int64
}

const (
	rotation   = "lyceum key rotation/v1"
	revocation = "lyceum key revocation/v1"
)

// Text is what is signed.
func (s Statement) Text() string {
	if s.New == nil {
		return fmt.Sprintf("%s\n%s\n%d\n", revocation, s.Old, s.Since)
	}
	return fmt.Sprintf("%s\n%s\n%s\n%d\n", rotation, s.Old, s.New, s.Since)
}

// Rotate has a key name the one that takes over; both sign.
func Rotate(from, to Signer, seconds int64) (Note, error) {
	next := to.Verifier(Author)
	return signedBy(Statement{from.Verifier(Author), &next, seconds}.Text(), from, to)
}

// Revoke has a key say that what it signed from a time on is not to be believed.
func Revoke(key Signer, seconds int64) (Note, error) {
	return signedBy(Statement{Old: key.Verifier(Author), Since: seconds}.Text(), key)
}

func signedBy(text string, keys ...Signer) (Note, error) {
	n := Note{Text: text}
	for _, k := range keys {
		s, err := k.Sign(text)
		if err != nil {
			return Note{}, err
		}
		n.Signatures = append(n.Signatures, s)
	}
	return n, nil
}

// ParseStatement reads a note that is a statement, and checks that the keys it names signed it.
func ParseStatement(note string) (s Statement, err error) {
	n, err := ParseNote(note)
	if err != nil {
		return s, err
	}
	wrong := errors.New("it is not a statement about a key")
	lines := strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")
	if len(lines) < 3 {
		return s, wrong
	}
	if s.Old, err = ParseVerifier(lines[1]); err != nil {
		return s, err
	}
	signers := []Verifier{s.Old}
	switch {
	case lines[0] == rotation && len(lines) == 4:
		next, err := ParseVerifier(lines[2])
		if err != nil {
			return s, err
		}
		s.New, signers = &next, append(signers, next)
	case lines[0] != revocation || len(lines) != 3:
		return s, wrong
	}
	if s.Since, err = strconv.ParseInt(lines[len(lines)-1], 10, 64); err != nil || s.Since < 0 || s.Text() != n.Text {
		return s, wrong
	}
	if s.New != nil && (s.New.Name != s.Old.Name || s.New.Public == s.Old.Public) {
		return s, errors.New("a key is followed by another of the same name")
	}
	for _, v := range signers {
		if v.Kind != Author {
			return s, errors.New("statements are about the keys of authors")
		}
		if signed, _ := n.By(v); signed != Good {
			return s, fmt.Errorf("the key %s did not sign it", v)
		}
	}
	return s, nil
}

// Key is an author's key that a verifier knows, and what is known of it.
type Key struct {
	Verifier
	// Trust says why the key is known: own, trusted, or follows a key that is.
	Trust string
	// Revoked is from when on what it signed is not believed, 0 for never.
	Revoked event.Time
}

// Extend adds to known keys those that they name as theirs to follow, and marks those that were
// revoked. Statements by keys that nobody knows change nothing, and a key that was revoked names no
// other: whoever stole it can write any time into what he signs.
func Extend(keys []Key, statements []Statement) []Key {
	out := slices.Clone(keys)
	index := func(v Verifier) int { return slices.IndexFunc(out, func(k Key) bool { return k.Verifier == v }) }
	for _, s := range statements {
		if i := index(s.Old); s.New == nil && i >= 0 {
			if at := event.Time(s.Since) * second; out[i].Revoked == 0 || at < out[i].Revoked {
				out[i].Revoked = max(at, 1)
			}
		}
	}
	for range statements { // chains may come in any order
		for _, s := range statements {
			i := index(s.Old)
			if s.New == nil || i < 0 || index(*s.New) >= 0 || out[i].Revoked != 0 {
				continue
			}
			k := Key{Verifier: *s.New, Trust: "follows " + s.Old.short()}
			for _, r := range statements {
				if r.New == nil && r.Old == k.Verifier && (k.Revoked == 0 || event.Time(r.Since)*second < k.Revoked) {
					k.Revoked = max(event.Time(r.Since)*second, 1)
				}
			}
			out = append(out, k)
		}
	}
	return out
}

// second is in event.Time.
const second = 1_000_000

func (v Verifier) short() string { return fmt.Sprintf("%s+%08x", v.Name, v.ID()) }
