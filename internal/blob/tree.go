package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// Limits of a tree. A folder beyond them is not stored, a tree beyond them not
// believed.
const (
	// MaxDepth is how many folders may stand in each other.
	MaxDepth = 1000
	// MaxEntries is how many entries Restore writes, all folders together. It is
	// counted before anything is written, for a few small trees that name each
	// other many times over can stand for more files than there are atoms.
	MaxEntries = 10_000_000

	maxTree   = 256 << 20 // bytes of one tree blob
	maxName   = 255       // bytes of a name, as on every Unix
	maxTarget = 4095      // bytes of a link's target, as on Linux
	maxSize   = 1 << 53   // the largest integer JSON readers agree on
	version   = 1
)

// Kind says what an entry of a tree is.
type Kind string

// The kinds.
const (
	File Kind = "file"
	Dir  Kind = "dir"
	Link Kind = "link"
)

// The modes of files. Of all the bits only the owner's right to execute is kept.
const (
	ModePlain fs.FileMode = 0o644
	ModeExec  fs.FileMode = 0o755
)

// Entry is one name in a folder.
type Entry struct {
	Name string
	Kind Kind
	// Mode is ModePlain or ModeExec for files, 0 for the rest.
	Mode fs.FileMode
	// Hash and Size are those of a file's content or of a folder's tree.
	Hash event.Hash
	Size int64
	// Target is where a link points; it need not exist and may be anywhere.
	Target string
}

// Ref returns the blob the entry refers to. Links refer to none.
func (e Entry) Ref() event.Ref { return event.Ref{Hash: e.Hash, Size: e.Size} }

// Tree lists one folder, sorted by the bytes of the names.
type Tree []Entry

// Encode writes t in its one spelling, canonical JSON as of RFC 8785. It refuses
// a tree that ParseTree would refuse.
func (t Tree) Encode() ([]byte, error) {
	var w treeWriter
	for _, e := range t {
		if err := w.add(e); err != nil {
			return nil, fmt.Errorf("tree entry %s: %w", quote(e.Name), err)
		}
	}
	return w.whole()
}

// treeWriter encodes a tree one entry after another.
type treeWriter struct {
	b    []byte
	last string
	n    int
}

const treeHead = `{"entries":[`

// add writes the next entry. After an error it is not there, and others can follow.
func (w *treeWriter) add(e Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	switch {
	case w.n == 0:
		w.b = append(w.b, treeHead...)
	case w.last >= e.Name:
		return errors.New("names must be sorted and differ")
	default:
		w.b = append(w.b, ',')
	}
	w.b = e.append(w.b)
	w.last, w.n = e.Name, w.n+1
	return nil
}

// whole is the tree of all entries.
func (w *treeWriter) whole() ([]byte, error) {
	if w.n == 0 {
		w.b = append(w.b, treeHead...)
	}
	b := append(w.b, treeTail...)
	if len(b) > maxTree {
		return nil, fmt.Errorf("tree of %d bytes is over the limit of %d: spread its %d entries over several folders", len(b), maxTree, w.n)
	}
	return b, nil
}

var treeTail = fmt.Sprintf(`],"tree":%d}`, version)

// append writes the members in the order RFC 8785 asks for. It is written by
// hand because encoding/json escapes more than the RFC does.
func (e Entry) append(b []byte) []byte {
	b = append(b, '{')
	if e.Kind != Link {
		b = append(b, `"hash":"`...)
		b, _ = e.Hash.AppendText(b)
		b = append(b, `",`...)
	}
	b = append(b, `"kind":"`...)
	b = append(b, e.Kind...)
	b = append(b, `",`...)
	if e.Kind == File {
		b = append(b, `"mode":"0`...) // of four digits, as check has seen to
		b = strconv.AppendUint(b, uint64(e.Mode), 8)
		b = append(b, `",`...)
	}
	b = appendString(append(b, `"name":`...), e.Name)
	if e.Kind == Link {
		b = appendString(append(b, `,"target":`...), e.Target)
	} else {
		b = strconv.AppendInt(append(b, `,"size":`...), e.Size, 10)
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if short := strings.IndexByte("\"\\\b\t\n\f\r", c); short >= 0 {
			b = append(b, '\\', `"\btnfr`[short])
		} else if c < 0x20 {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// check refuses what no Snapshot writes. Restore relies on it: a name that
// passes is one component below its folder and can mean nothing else.
func (e Entry) check() error {
	if err := checkName(e.Name); err != nil {
		return err
	}
	if e.Kind == Link {
		if e.Mode != 0 || e.Size != 0 || !e.Hash.IsZero() {
			return errors.New("a link has no mode, hash or size")
		}
		return checkTarget(e.Target)
	}
	if e.Size < 0 || e.Size > maxSize {
		return fmt.Errorf("size %d is out of range", e.Size)
	}
	if e.Target != "" {
		return errors.New("only a link has a target")
	}
	switch {
	case e.Kind == File && (e.Mode == ModePlain || e.Mode == ModeExec):
	case e.Kind == File:
		return fmt.Errorf("mode %04o is neither %04o nor %04o", e.Mode, ModePlain, ModeExec)
	case e.Kind != Dir:
		return fmt.Errorf("unknown kind %q", e.Kind)
	case e.Mode != 0:
		return errors.New("a folder has no mode")
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return errors.New("the name is reserved")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	case strings.ContainsAny(name, "/\x00"):
		return errors.New("the name holds a slash or NUL")
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	}
	return nil
}

func checkTarget(target string) error {
	switch {
	case target == "" || len(target) > maxTarget:
		return fmt.Errorf("the link's target has %d bytes, want 1 to %d", len(target), maxTarget)
	case strings.Contains(target, "\x00"):
		return errors.New("the link's target holds NUL")
	case !utf8.ValidString(target):
		return errors.New("the link's target is not UTF-8")
	}
	return nil
}

// ParseTree reads a tree. It accepts exactly what Encode writes: every other
// spelling of the same folder is refused, so a folder has one hash.
func ParseTree(data []byte) (Tree, error) {
	var w struct {
		Entries []wireEntry `json:"entries"`
		Tree    int         `json:"tree"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("parse tree: %w", err)
	}
	if w.Tree != version {
		return nil, fmt.Errorf("parse tree: version %d, want %d: a newer Lyceum may have written it", w.Tree, version)
	}
	t := make(Tree, len(w.Entries))
	for i, e := range w.Entries {
		t[i] = e.entry()
	}
	again, err := t.Encode()
	if err != nil {
		return nil, fmt.Errorf("parse tree: %w", err)
	}
	// This one comparison catches unknown and repeated members, white space,
	// replaced invalid UTF-8 and odd spellings of modes alike.
	if !bytes.Equal(again, data) {
		return nil, errors.New("parse tree: not in canonical form")
	}
	return t, nil
}

type wireEntry struct {
	Hash   event.Hash `json:"hash"`
	Kind   Kind       `json:"kind"`
	Mode   string     `json:"mode"`
	Name   string     `json:"name"`
	Size   int64      `json:"size"`
	Target string     `json:"target"`
}

func (w wireEntry) entry() Entry {
	e := Entry{Name: w.Name, Kind: w.Kind, Hash: w.Hash, Size: w.Size, Target: w.Target}
	if m, err := strconv.ParseUint(w.Mode, 8, 12); err == nil {
		e.Mode = fs.FileMode(m)
	}
	return e
}

// ReadTree reads the tree that ref names. It never takes more memory than ref
// promises, however long the blob turns out to be.
func ReadTree(ctx context.Context, s Store, ref event.TreeRef) (Tree, error) {
	data, err := readTree(ctx, s, ref)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", ref.Hash, err)
	}
	t, err := ParseTree(data)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", ref.Hash, err)
	}
	return t, nil
}

func readTree(ctx context.Context, s Store, ref event.TreeRef) ([]byte, error) {
	if ref.Size < 0 || ref.Size > maxTree {
		return nil, fmt.Errorf("size %d is out of range", ref.Size)
	}
	r, err := s.Open(ctx, ref.Hash)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, ref.Size+1))
	if err != nil {
		return nil, err
	}
	// Reading one byte more than promised has also reached the verified end.
	if int64(len(data)) != ref.Size {
		return nil, fmt.Errorf("the blob does not have the %d bytes it is listed with", ref.Size)
	}
	return data, nil
}

// quote spells a name for people: as it is where it is plain text, with escapes
// where it is not.
func quote(s string) string {
	q := strconv.Quote(s)
	if q[1:len(q)-1] == s {
		return s
	}
	return q
}
