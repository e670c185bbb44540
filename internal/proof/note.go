package proof

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// The bounds of what is read: of a stranger's note, how many bytes and signatures it may have, and
// how long the name of a key may be.
const (
	MaxNote       = 64 << 10
	maxSignatures = 100
	maxName       = 200
)

// Kind tells signatures apart that one key could make.
type Kind byte

// The kinds that Lyceum makes and checks, by their numbers in the C2SP formats.
const (
	// Author is a plain signature of a text, by whoever wrote it.
	Author Kind = 1
	// Cosigner is a witness's signature of a checkpoint and a time.
	Cosigner Kind = 4
)

// Verifier is a public key under its name: what a signature is checked by.
type Verifier struct {
	Name   string
	Kind   Kind
	Public [ed25519.PublicKeySize]byte
}

// ID is the short number by which a signature names its key. It is no proof of anything.
func (v Verifier) ID() uint32 {
	h := sha256.New()
	h.Write([]byte(v.Name))
	h.Write([]byte{'\n', byte(v.Kind)})
	h.Write(v.Public[:])
	return binary.BigEndian.Uint32(h.Sum(nil))
}

// String is the key as people hand it on: name+id+key, the vkey of the C2SP formats.
func (v Verifier) String() string {
	return fmt.Sprintf("%s+%08x+%s", v.Name, v.ID(), base64.StdEncoding.EncodeToString(append([]byte{byte(v.Kind)}, v.Public[:]...)))
}

// Fingerprint is the hash of the key itself, for people to compare.
func (v Verifier) Fingerprint() string {
	h := sha256.Sum256(v.Public[:])
	return hex.EncodeToString(h[:])
}

// ParseVerifier reads what String wrote.
func ParseVerifier(s string) (v Verifier, err error) {
	name, rest, _ := strings.Cut(s, "+")
	id, key, ok := strings.Cut(rest, "+")
	if !ok || len(s) > maxName+100 {
		return v, errors.New("it is not a public key: want name+8 hex digits+base64, as lyceum key show prints it")
	}
	data, err := base64.StdEncoding.Strict().DecodeString(key)
	if err != nil || len(data) != 1+ed25519.PublicKeySize || strings.ContainsAny(key, "\r\n") {
		return v, fmt.Errorf("the key after the second plus is not the base64 of %d bytes", 1+ed25519.PublicKeySize)
	}
	v = Verifier{Name: name, Kind: Kind(data[0])}
	copy(v.Public[:], data[1:])
	switch {
	case !validName(name):
		return Verifier{}, fmt.Errorf("the name of a key is 1 to %d bytes without spaces and plus signs", maxName)
	case v.Kind != Author && v.Kind != Cosigner:
		return Verifier{}, fmt.Errorf("signatures of kind %d are unknown here: an Ed25519 key (1) or a witness's (4) is wanted", v.Kind)
	case id != fmt.Sprintf("%08x", v.ID()):
		return Verifier{}, fmt.Errorf("its number is %08x and not what it says: a letter of it is wrong", v.ID())
	}
	return v, nil
}

func validName(name string) bool {
	return name != "" && len(name) <= maxName && plain.Printable(name) && !strings.ContainsFunc(name, func(r rune) bool { return r == '+' || unicode.IsSpace(r) })
}

// Signer is a secret key under its name. It is never printed: its String says what it verifies by.
type Signer struct {
	name    string
	private ed25519.PrivateKey
}

// NewSigner makes a signer of 32 random bytes.
func NewSigner(name string, seed []byte) (Signer, error) {
	if !validName(name) {
		return Signer{}, fmt.Errorf("the name of a key is 1 to %d bytes without spaces and plus signs", maxName)
	}
	if len(seed) != ed25519.SeedSize {
		return Signer{}, fmt.Errorf("a key is made of %d bytes, not %d", ed25519.SeedSize, len(seed))
	}
	return Signer{name, ed25519.NewKeyFromSeed(seed)}, nil
}

// Verifier is what signatures of a kind by this key are checked by.
func (s Signer) Verifier(k Kind) Verifier {
	v := Verifier{Name: s.name, Kind: k}
	copy(v.Public[:], s.private[ed25519.SeedSize:])
	return v
}

// Seed is the secret, for whoever keeps it.
func (s Signer) Seed() []byte { return s.private.Seed() }

func (s Signer) String() string { return s.Verifier(Author).String() }

// GoString keeps the secret out of what %#v writes.
func (s Signer) GoString() string { return s.String() }

// Sign signs a text, which must be one that a note can have.
func (s Signer) Sign(text string) (Signature, error) {
	if err := checkText(text); err != nil {
		return Signature{}, err
	}
	return Signature{s.name, s.Verifier(Author).ID(), ed25519.Sign(s.private, []byte(text))}, nil
}

// Cosign says that the checkpoint of a text was the largest this witness had seen of its log at a
// time, in seconds since 1970.
func (s Signer) Cosign(text string, seconds int64) (Signature, error) {
	if err := checkText(text); err != nil {
		return Signature{}, err
	}
	if seconds < 0 {
		return Signature{}, errors.New("a time before 1970")
	}
	data := binary.BigEndian.AppendUint64(nil, uint64(seconds))
	return Signature{s.name, s.Verifier(Cosigner).ID(), append(data, ed25519.Sign(s.private, cosigned(text, uint64(seconds)))...)}, nil
}

func cosigned(text string, seconds uint64) []byte {
	return []byte("cosignature/v1\ntime " + strconv.FormatUint(seconds, 10) + "\n" + text)
}

// Signature is a line below a note: who says to have signed it, and the signature, unchecked.
type Signature struct {
	Name string
	ID   uint32
	Data []byte
}

// Line is the signature as it stands in a note, with its newline.
func (s Signature) Line() string {
	return "— " + s.Name + " " + base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, s.ID), s.Data...)) + "\n"
}

// ParseSignature reads a line, without its newline.
func ParseSignature(line string) (s Signature, err error) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(line, "— "), " ")
	data, err := base64.StdEncoding.Strict().DecodeString(rest)
	if !ok || err != nil || !strings.HasPrefix(line, "— ") || !validName(name) || len(data) < 5 || strings.ContainsAny(rest, "\r\n") {
		return Signature{}, errors.New("a line that is no signature")
	}
	return Signature{name, binary.BigEndian.Uint32(data), data[4:]}, nil
}

// Note is a text and signatures of it, in the C2SP format signed-note.
type Note struct {
	Text       string
	Signatures []Signature
}

// String is the note as it is stored and sent.
func (n Note) String() string {
	var b strings.Builder
	b.WriteString(n.Text + "\n")
	for _, s := range n.Signatures {
		b.WriteString(s.Line())
	}
	return b.String()
}

// ParseNote reads a note and checks none of its signatures. What it takes, String writes the same.
func ParseNote(data string) (n Note, err error) {
	if len(data) > MaxNote {
		return n, fmt.Errorf("a note of %d bytes, more than %d", len(data), MaxNote)
	}
	at := strings.LastIndex(data, "\n\n")
	if at < 0 || !strings.HasSuffix(data, "\n") {
		return n, errors.New("it is no signed note: want a text, an empty line, and signatures")
	}
	text, rest := data[:at+1], data[at+2:]
	if err := checkText(text); err != nil {
		return n, err
	}
	n.Text = text
	for line := range strings.Lines(rest) {
		s, err := ParseSignature(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return Note{}, err
		}
		if n.Signatures = append(n.Signatures, s); len(n.Signatures) > maxSignatures {
			return Note{}, fmt.Errorf("more than %d signatures", maxSignatures)
		}
	}
	if len(n.Signatures) == 0 {
		return Note{}, errors.New("it is not signed")
	}
	return n, nil
}

func checkText(text string) error {
	switch {
	case !strings.HasSuffix(text, "\n"):
		return errors.New("the text of a note ends with a newline")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' }):
		return errors.New("the text of a note is UTF-8 without control characters")
	}
	return nil
}

// Signed is what a note has of one key.
type Signed int

// What a note can have of a key.
const (
	// Unsigned: no line names the key.
	Unsigned Signed = iota
	// Good: the key signed this text.
	Good
	// Bad: a line names the key, and the key did not sign this text.
	Bad
)

// By tells whether a key signed the note, and when, in seconds since 1970, if the key is a
// witness's. One bad line makes all of them bad, for nobody honest writes one.
func (n Note) By(v Verifier) (signed Signed, seconds int64) {
	id := v.ID()
	for _, s := range n.Signatures {
		if s.Name != v.Name || s.ID != id {
			continue
		}
		at, ok := s.check(v, n.Text)
		if !ok {
			return Bad, 0
		}
		signed, seconds = Good, max(seconds, at)
	}
	return signed, seconds
}

func (s Signature) check(v Verifier, text string) (seconds int64, ok bool) {
	switch v.Kind {
	case Author:
		return 0, len(s.Data) == ed25519.SignatureSize && ed25519.Verify(v.Public[:], []byte(text), s.Data)
	case Cosigner:
		if len(s.Data) != 8+ed25519.SignatureSize {
			return 0, false
		}
		t := binary.BigEndian.Uint64(s.Data)
		return int64(t & math.MaxInt64), t <= math.MaxInt64 && ed25519.Verify(v.Public[:], cosigned(text, t), s.Data[8:])
	}
	return 0, false
}
