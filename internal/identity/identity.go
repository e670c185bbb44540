// Package identity keeps the keys by which a home signs, and those whose word it believes.
//
// What is public stands in the file keys/keys.json of the home: which keys are its own, which are
// trusted, and what was said about them (rotations, revocations). A secret stands in the keyring of
// the operating system, in a file of that folder that a passphrase opens, or, for servers, in a
// variable or a file that a variable names. It is never in a ledger, a crate, a log or a prompt.
//
// A secret that is lost cannot be made again. What it signed stays good; the home goes on with
// another key, which verifiers must be told of, since the old one can no longer name it.
package identity

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/proof"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The places where a secret can be.
const (
	Keyring  = "keyring"
	File     = "file"
	Variable = "variable"
)

// Own is a key of the home.
type Own struct {
	// Key is public, as proof.Verifier writes it.
	Key  string     `json:"key"`
	Made event.Time `json:"made"`
	// Place is where the secret is: keyring or file.
	Place string `json:"place"`
}

// Trusted is somebody else's key that the home believes.
type Trusted struct {
	Key string `json:"key"`
	// Note says whose it is, in the words of whoever trusted it.
	Note  string     `json:"note,omitempty"`
	Since event.Time `json:"since"`
}

// Book is what is public of a home's keys.
type Book struct {
	// Own are the home's keys, the one it signs by last.
	Own     []Own     `json:"own,omitempty"`
	Trusted []Trusted `json:"trusted,omitempty"`
	// Statements are signed notes about keys.
	Statements []string `json:"statements,omitempty"`
}

const maxBook = 4 << 20

func folder(home string) string   { return filepath.Join(home, "keys") }
func bookFile(home string) string { return filepath.Join(folder(home), "keys.json") }

// Load reads the book of a home, an empty one if there is none.
func Load(home string) (*Book, error) {
	f, err := os.Open(bookFile(home))
	if errors.Is(err, fs.ErrNotExist) {
		return new(Book), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > maxBook {
		return nil, fmt.Errorf("read %s: it has more than %d bytes", bookFile(home), maxBook)
	}
	b := new(Book)
	if err := json.UnmarshalRead(f, b, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read %s: %w", bookFile(home), err)
	}
	for _, k := range slices.Concat(keysOf(b.Own), trustedOf(b.Trusted)) {
		if _, err := proof.ParseVerifier(k); err != nil {
			return nil, fmt.Errorf("read %s: a key in it: %w", bookFile(home), err)
		}
	}
	return b, nil
}

func keysOf(own []Own) (out []string) {
	for _, k := range own {
		out = append(out, k.Key)
	}
	return out
}

func trustedOf(list []Trusted) (out []string) {
	for _, k := range list {
		out = append(out, k.Key)
	}
	return out
}

// Save writes the book, whole or not at all.
func (b *Book) Save(home string) error {
	data, err := json.Marshal(b, jsontext.Multiline(true), json.Deterministic(true))
	if err != nil {
		return err
	}
	return write(home, bookFile(home), append(data, '\n'))
}

// write puts a file of the folder of keys in place, durable, for its owner alone.
func write(home, path string, data []byte) error {
	if err := os.MkdirAll(folder(home), 0o700); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	dir, err := os.Open(folder(home))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Current is the key that the home signs by, if it has one of its own.
func (b *Book) Current() (proof.Verifier, bool) {
	if len(b.Own) == 0 {
		return proof.Verifier{}, false
	}
	v, err := proof.ParseVerifier(b.Own[len(b.Own)-1].Key)
	return v, err == nil
}

// Keys are those that the home believes: its own, those that it trusts, those that these name, with
// what was revoked.
func (b *Book) Keys() []proof.Key {
	var keys []proof.Key
	add := func(key, trust string) {
		v, err := proof.ParseVerifier(key)
		if err == nil && !slices.ContainsFunc(keys, func(k proof.Key) bool { return k.Verifier == v }) {
			keys = append(keys, proof.Key{Verifier: v, Trust: trust})
		}
	}
	for _, k := range b.Own {
		add(k.Key, "own")
	}
	for _, k := range b.Trusted {
		add(k.Key, "trusted")
	}
	return proof.Extend(keys, b.statements())
}

func (b *Book) statements() (out []proof.Statement) {
	for _, text := range b.Statements {
		if s, err := proof.ParseStatement(text); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// Lineage are the statements by which a key follows others of its name, for whoever knows those.
func (b *Book) Lineage(v proof.Verifier) (out []string) {
	for _, text := range b.Statements {
		if s, err := proof.ParseStatement(text); err == nil && s.New != nil && s.New.Name == v.Name {
			out = append(out, text)
		}
	}
	return out
}

// About are all statements about keys of a name.
func (b *Book) About(name string) (out []string) {
	for _, text := range b.Statements {
		if s, err := proof.ParseStatement(text); err == nil && s.Old.Name == name {
			out = append(out, text)
		}
	}
	return out
}

// Trust believes a key from now on. One that the book has is not added again.
func (b *Book) Trust(v proof.Verifier, note string, now event.Time) error {
	if v.Kind != proof.Author {
		return fmt.Errorf("%s is the key of a witness: it belongs into witnesses of config.yaml", v.Name)
	}
	if slices.Contains(trustedOf(b.Trusted), v.String()) {
		return nil
	}
	b.Trusted = append(b.Trusted, Trusted{Key: v.String(), Note: note, Since: now})
	return nil
}

// Hear takes statements in. One that is not signed as it should be is refused.
func (b *Book) Hear(note string) (proof.Statement, error) {
	s, err := proof.ParseStatement(note)
	if err == nil && !slices.Contains(b.Statements, note) {
		b.Statements = append(b.Statements, note)
	}
	return s, err
}

// Public is what a home hands on of its key: the key, and what was said about it and those before.
func (b *Book) Public(v proof.Verifier) string {
	return strings.Join(append([]string{v.String() + "\n"}, b.About(v.Name)...), "\n")
}

// Read takes apart what Public wrote, or a key alone.
func Read(text string) (v proof.Verifier, statements []string, err error) {
	first, rest, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if v, err = proof.ParseVerifier(strings.TrimSpace(first)); err != nil {
		return v, nil, err
	}
	// A note is a text, an empty line and signatures; between two notes there is an empty line.
	var note []string
	flush := func() error {
		text := strings.Join(note, "\n") + "\n"
		note = nil
		if _, err := proof.ParseStatement(text); err != nil {
			return err
		}
		statements = append(statements, text)
		return nil
	}
	lines := strings.Split(strings.Trim(rest, "\n"), "\n")
	for i, line := range lines {
		if line == "" && len(note) == 0 {
			continue
		}
		note = append(note, line)
		if strings.HasPrefix(line, "— ") && (i+1 == len(lines) || lines[i+1] == "") {
			if err := flush(); err != nil {
				return v, nil, err
			}
		}
	}
	if len(note) > 0 {
		return v, nil, errors.New("something stands below the key that is no statement about it")
	}
	return v, statements, nil
}

// newest is the order of keys: the last made comes last.
func newest(a, b Own) int { return cmp.Compare(a.Made, b.Made) }
