package proof

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Checkpoint says that the first Size events of a log have a root, in the C2SP format
// tlog-checkpoint. It is worth what its signatures are.
type Checkpoint struct {
	// Origin names the log: the name of a key, a slash, and a random id of the quest at this
	// home. A fork and an imported quest that goes on are other logs.
	Origin string
	Size   uint64
	Root   event.Hash
	// extensions are lines that other programs put below; they are signed like the others.
	extensions string
}

// Text is what is signed.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatUint(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Root[:]) + "\n" + c.extensions
}

// ParseCheckpoint reads the text of a note. What it takes, Text writes the same.
func ParseCheckpoint(text string) (c Checkpoint, err error) {
	if err := checkText(text); err != nil {
		return c, err
	}
	parts := strings.SplitN(text, "\n", 4)
	if len(parts) < 4 || parts[0] == "" || len(parts[0]) > 2*maxName || !plain.Printable(parts[0]) {
		return c, fmt.Errorf("it is no checkpoint: want a line each with an origin of up to %d bytes, a size and a root", 2*maxName)
	}
	size, err := strconv.ParseUint(parts[1], 10, 64)
	if err != nil || strconv.FormatUint(size, 10) != parts[1] || size > math.MaxInt64 {
		return c, errors.New("the size in a checkpoint is no number")
	}
	root, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(root) != sha256.Size {
		return c, errors.New("the root in a checkpoint is not the base64 of a hash")
	}
	if strings.HasPrefix(parts[3], "\n") || strings.Contains(parts[3], "\n\n") {
		return c, errors.New("a checkpoint has an empty line")
	}
	return Checkpoint{Origin: parts[0], Size: size, Root: event.Hash(root), extensions: parts[3]}, nil
}

// Owner is the name of the key that an origin begins with, "" if it is of another form.
func (c Checkpoint) Owner() string {
	if at := strings.LastIndexByte(c.Origin, '/'); at > 0 {
		return c.Origin[:at]
	}
	return ""
}

// Origin makes the name of a log of a key's name and some random bytes.
func Origin(key string, id []byte) string { return fmt.Sprintf("%s/%x", key, id) }

// What a log may tell a witness in headers, besides what the protocol has. Witnesses that know their logs need
// none of it.
const (
	// KeyHeader is the public key that the log signs by.
	KeyHeader = "Lyceum-Key"
	// FollowsHeader is a statement by which that key follows one before, in base64; there may be
	// MaxFollows.
	FollowsHeader = "Lyceum-Key-Follows"
	MaxFollows    = 12
)

// maxPath is how many lines of proof a request to a witness may have.
const maxPath = 63

// Request is what a log asks of a witness, in the C2SP format tlog-witness: to cosign a checkpoint
// that begins with the one of size Old, which the witness saw last.
type Request struct {
	Old  uint64
	Path []event.Hash
	Note Note
	// Checkpoint is what the note's text says.
	Checkpoint Checkpoint
}

// String is the body of the request.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", r.Old)
	for _, h := range r.Path {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteString("\n" + r.Note.String())
	return b.String()
}

// ParseRequest reads the body of a request.
func ParseRequest(body string) (r Request, err error) {
	if len(body) > MaxNote+8<<10 {
		return r, fmt.Errorf("a request of %d bytes, more than %d", len(body), MaxNote+8<<10)
	}
	head, note, ok := strings.Cut(body, "\n\n")
	lines := strings.Split(head, "\n")
	old, isOld := strings.CutPrefix(lines[0], "old ")
	r.Old, err = strconv.ParseUint(old, 10, 64)
	if !ok || !isOld || err != nil || strconv.FormatUint(r.Old, 10) != old {
		return Request{}, errors.New("want a line with old and a size, the lines of a proof, an empty line, and a checkpoint")
	}
	if len(lines)-1 > maxPath {
		return Request{}, fmt.Errorf("a proof has at most %d lines", maxPath)
	}
	for _, line := range lines[1:] {
		h, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(h) != sha256.Size || strings.Contains(line, "\r") {
			return Request{}, errors.New("a line of the proof is not the base64 of a hash")
		}
		r.Path = append(r.Path, event.Hash(h))
	}
	if r.Note, err = ParseNote(note); err != nil {
		return Request{}, err
	}
	if r.Checkpoint, err = ParseCheckpoint(r.Note.Text); err != nil {
		return Request{}, err
	}
	return r, nil
}
