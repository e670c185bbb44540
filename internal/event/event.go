// Package event defines what can happen in a quest, and how it is written down.
//
// An event is one line of canonical JSON (RFC 8785) in a chain: its hash is the
// SHA-256 of the hash before it and of its own envelope and body. Whoever knows
// the last hash of a quest can tell that nothing before it was changed.
//
// The catalogue is closed: an event whose type is unknown, or whose body does
// not fit the struct of its type to the byte, cannot be made and cannot be read.
// There is no other way to obtain an Event than Seal and Parse, so a ledger that
// is given one need not check it again.
package event

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strconv"
)

// MaxBody is how many bytes the body of an event may have. What does not fit
// goes to a blob, and the body holds its Ref.
const MaxBody = 16 << 10

// Event is one immutable entry of a quest's ledger.
type Event struct {
	// Quest is the name under which the event was recorded. A fork keeps the
	// events of its origin as they are, under the origin's name.
	Quest string
	// Seq counts 1, 2, 3… within the quest, without gaps.
	Seq uint64
	// Parent is the seq of the event that caused this one, 0 for none.
	Parent uint64
	// Time is when an input came in; a derived event carries its cause's.
	Time  Time
	Actor string
	Type  Type
	// Tool names the tool that the event is about, or is empty.
	Tool string
	Body Body
	Hash Hash

	line []byte
	cut  int // where the member with the hash begins in line
	prev Hash
}

// Draft is an event that has not got its place in a ledger yet.
type Draft struct {
	Parent uint64
	Time   Time
	Actor  string
	Tool   string
	Body   Body
	// Blobs are the bytes that Body refers to and that nobody has stored yet.
	// They become durable together with the event.
	Blobs [][]byte
}

// Input reports whether the event came from outside the core. All others are
// derived: replay computes them again.
func (e Event) Input() bool { return e.Type.Input() }

// Line returns the event as it stands in the ledger: canonical JSON, without a
// line break. The caller must not change it.
func (e Event) Line() []byte { return e.line }

// Prev returns the hash that the event follows, as it was sealed. Of a parsed
// event it is unknown until Follows has been asked.
func (e Event) Prev() Hash { return e.prev }

// Sealed reports whether e was made by Seal or Parse.
func (e Event) Sealed() bool { return e.line != nil }

// Seal places a draft in the chain of a quest.
func Seal(quest string, seq uint64, prev Hash, d Draft) (Event, error) {
	e := Event{Quest: quest, Seq: seq, Parent: d.Parent, Time: d.Time, Actor: d.Actor, Tool: d.Tool, Body: d.Body, prev: prev}
	if d.Body == nil {
		return e, fmt.Errorf("seal event %d of quest %s: no body", seq, quest)
	}
	e.Type = d.Body.Type()
	if !known(d.Body) {
		return e, fmt.Errorf("seal event %d of quest %s: %T as %q is not in the catalogue", seq, quest, d.Body, clip(string(e.Type)))
	}
	if reflect.ValueOf(d.Body).IsNil() {
		return e, fmt.Errorf("seal event %d of quest %s: no body", seq, quest)
	}
	if err := e.checkEnvelope(); err != nil {
		return e, fmt.Errorf("seal event %d of quest %s: %w", seq, quest, err)
	}
	body, err := encode(d.Body)
	if err != nil {
		return e, fmt.Errorf("seal event %d of quest %s: %w", seq, quest, err)
	}
	line := make([]byte, 0, len(body)+300)
	line = append(line, `{"actor":"`...)
	line = append(line, e.Actor...)
	line = append(line, `","body":`...)
	line = append(line, body...)
	cut := len(line)
	line = append(line, hashMember...)
	line = append(line, zeroHex...)
	rest := len(line) + 1
	line = append(line, `","parent":`...)
	line = strconv.AppendUint(line, e.Parent, 10)
	line = append(line, `,"quest":"`...)
	line = append(line, e.Quest...)
	line = append(line, `","seq":`...)
	line = strconv.AppendUint(line, e.Seq, 10)
	line = append(line, `,"time":"`...)
	line = e.Time.append(line)
	line = append(line, `","tool":"`...)
	line = append(line, e.Tool...)
	line = append(line, `","type":"`...)
	line = append(line, e.Type...)
	line = append(line, `"}`...)
	e.Hash = sum(prev, line[:cut], line[rest:])
	at := cut + len(hashMember)
	_, _ = e.Hash.AppendText(line[at:at])
	e.line, e.cut = line, cut
	return e, nil
}

const hashMember = `,"hash":"`

const zeroHex = "0000000000000000000000000000000000000000000000000000000000000000"

// sum hashes an event's line without its hash member.
func sum(prev Hash, before, after []byte) Hash {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(before)
	h.Write(after)
	var out Hash
	h.Sum(out[:0])
	return out
}

// Follows checks that e stands in the chain right after the event with the
// given seq and hash.
func (e *Event) Follows(seq uint64, prev Hash) error {
	if e.Seq != seq+1 {
		return fmt.Errorf("event %d stands where event %d belongs", e.Seq, seq+1)
	}
	if e.cut == 0 {
		return fmt.Errorf("event %d has no hash", e.Seq)
	}
	rest := e.cut + len(hashMember) + len(zeroHex) + 1
	if sum(prev, e.line[:e.cut], e.line[rest:]) != e.Hash {
		return fmt.Errorf("event %d does not match its hash: it, or one before it, was changed", e.Seq)
	}
	e.prev = prev
	return nil
}

// Parse reads one line of a ledger. Whatever it accepts is canonical to the
// byte: Parse(line).Line() equals line. It does not check the hash, for which
// the event before is needed: see Follows. The event keeps line.
func Parse(line []byte) (Event, error) {
	e, err := parse(line)
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}

func parse(line []byte) (Event, error) {
	e := Event{line: line}
	// The members after the body hold no quotes, so the last place where the
	// hash member begins is the right one, whatever the body says.
	cut := bytes.LastIndex(line, []byte(hashMember))
	if cut < 0 {
		return e, fmt.Errorf("not an event line: %q", clip(string(line)))
	}
	e.cut = cut
	head, tail := scanner{rest: line[:cut]}, scanner{rest: line[cut:]}
	e.Actor = head.quoted(`{"actor":`)
	head.literal(`,"body":`)
	body := head.rest

	hash := tail.quoted(`,"hash":`)
	e.Parent = tail.number(`,"parent":`)
	e.Quest = tail.quoted(`,"quest":`)
	e.Seq = tail.number(`,"seq":`)
	stamp := tail.quoted(`,"time":`)
	e.Tool = tail.quoted(`,"tool":`)
	e.Type = Type(tail.quoted(`,"type":`))
	tail.literal(`}`)
	if head.failed || tail.failed || len(tail.rest) > 0 {
		return e, fmt.Errorf("not an event line: %q", clip(string(line)))
	}
	var err error
	if e.Hash, err = ParseHash(hash); err != nil {
		return e, err
	}
	if e.Time, err = parseTime(stamp); err != nil {
		return e, err
	}
	if err := e.checkEnvelope(); err != nil {
		return e, err
	}
	e.Body, err = decode(e.Type, body)
	return e, err
}

func (e *Event) checkEnvelope() error {
	switch {
	case !ValidName(e.Quest):
		return fmt.Errorf("quest name %q: want %s", clip(e.Quest), NameRule)
	case e.Seq == 0 || e.Seq > 1<<53:
		return fmt.Errorf("seq %d is out of range", e.Seq)
	case e.Parent >= e.Seq:
		return fmt.Errorf("parent %d does not come before seq %d", e.Parent, e.Seq)
	case !e.Time.valid():
		return fmt.Errorf("time %d is out of range", int64(e.Time))
	case !validWord(e.Actor) || e.Actor == "":
		return fmt.Errorf("actor %q: want 1 to 64 letters, digits and . _ : / -", clip(e.Actor))
	case !validWord(e.Tool):
		return fmt.Errorf("tool %q: want at most 64 letters, digits and . _ : / -", clip(e.Tool))
	}
	return nil
}

// NameRule says in words what ValidName checks.
const NameRule = "1 to 63 of a-z, 0-9 and -, beginning with a letter or a digit"

// ValidName reports whether s can name a quest: [a-z0-9][a-z0-9-]{0,62}. Such a
// name is also a safe file name.
func ValidName(s string) bool {
	if len(s) == 0 || len(s) > 63 || s[0] == '-' {
		return false
	}
	for i := range s {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// ValidTool reports whether s can stand in an envelope as a tool's name.
func ValidTool(s string) bool { return s != "" && validWord(s) }

func validWord(s string) bool {
	if len(s) > 64 {
		return false
	}
	for i := range s {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '.', c == '_', c == ':', c == '/', c == '-':
		default:
			return false
		}
	}
	return true
}

// scanner reads the envelope, whose members always come in the same order.
type scanner struct {
	rest   []byte
	failed bool
}

func (s *scanner) literal(want string) {
	if len(s.rest) < len(want) || string(s.rest[:len(want)]) != want {
		s.failed = true
		return
	}
	s.rest = s.rest[len(want):]
}

func (s *scanner) quoted(member string) string {
	s.literal(member)
	s.literal(`"`)
	end := bytes.IndexByte(s.rest, '"')
	if s.failed || end < 0 {
		s.failed = true
		return ""
	}
	v := string(s.rest[:end])
	s.rest = s.rest[end+1:]
	return v
}

func (s *scanner) number(member string) uint64 {
	s.literal(member)
	end := 0
	for end < len(s.rest) && s.rest[end] >= '0' && s.rest[end] <= '9' {
		end++
	}
	v, err := strconv.ParseUint(string(s.rest[:end]), 10, 64)
	if s.failed || err != nil || (end > 1 && s.rest[0] == '0') {
		s.failed = true
		return 0
	}
	s.rest = s.rest[end:]
	return v
}
