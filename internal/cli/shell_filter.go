package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// A screenFilter passes on what a stranger's program writes to a person's terminal.
// It lets through text, colours, cursor movements and the modes that shells and
// editors need. Everything else is dropped: what would have the terminal answer, for
// its answer is typed into whatever reads the terminal next; what reaches beyond the
// screen, such as titles, the clipboard, printers and files; and what it does not
// know. A sequence is passed on whole or not at all, however it was cut into writes.
//
// Of what is text it stops the controls alone: a program that may write anywhere on the
// screen needs no mark of direction to mislead.
//
// It is made for terminals that speak UTF-8, as all do by now. To one that does not,
// bytes of ordinary letters could be controls.
type screenFilter struct {
	w     io.Writer
	state filterState
	seq   []byte // the sequence or the character so far
	out   []byte
	modes []string // those that are not as they were found
	shift bool     // another alphabet is in use
}

type filterState uint8

const (
	inText   filterState = iota
	inEscape             // after ESC
	inPick               // after ESC and an intermediate byte
	inCSI                // after ESC [
	inJunk               // a CSI that is too long to be one
	inString             // after the start of a string that is dropped
)

// maxSequence is how long a control sequence may be.
const maxSequence = 128

const (
	escape = 0x1b
	cancel = 0x18
	subst  = 0x1a
)

// Write implements io.Writer.
func (f *screenFilter) Write(p []byte) (int, error) {
	f.out = f.out[:0]
	for _, b := range p {
		f.take(b)
	}
	if _, err := f.w.Write(f.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *screenFilter) take(b byte) {
	// These end whatever was begun, in every state.
	switch b {
	case escape:
		f.spoil()
		f.state, f.seq = inEscape, append(f.seq[:0], b)
		return
	case cancel, subst:
		f.spoil()
		f.state = inText
		return
	}
	switch f.state {
	case inText:
		f.text(b)
	case inEscape:
		f.escaped(b)
	case inPick:
		f.picked(b)
	case inCSI, inJunk:
		f.control(b)
	case inString:
		if b == 0x07 {
			f.drop()
		}
	}
}

// spoil shows that a character was not finished.
func (f *screenFilter) spoil() {
	if f.state == inText && len(f.seq) > 0 {
		f.out = utf8.AppendRune(f.out, utf8.RuneError)
	}
	f.seq = f.seq[:0]
}

// text takes a byte of text: valid UTF-8 without controls beyond the simple ones.
func (f *screenFilter) text(b byte) {
	if b < 0x80 {
		f.spoil()
		if b >= ' ' && b < 0x7f || b >= 0x07 && b <= 0x0f { // BEL to CR, and the shifts
			f.out = append(f.out, b)
			f.shift = b == 0x0e || f.shift && b != 0x0f
		}
		return
	}
	if len(f.seq) > 0 && utf8.RuneStart(b) {
		f.spoil()
	}
	f.seq = append(f.seq, b)
	if !utf8.FullRune(f.seq) {
		return
	}
	if r, _ := utf8.DecodeRune(f.seq); !plain.Controls.Has(r) {
		f.out = utf8.AppendRune(f.out, r)
	}
	f.seq = f.seq[:0]
}

// escaped takes what follows ESC.
func (f *screenFilter) escaped(b byte) {
	switch {
	case b == '[':
		f.state, f.seq = inCSI, append(f.seq, b)
	case bytes.IndexByte([]byte("]PX^_k"), b) >= 0:
		f.state = inString
	case b >= ' ' && b <= '/':
		f.state, f.seq = inPick, append(f.seq, b)
	case b < ' ' || b == 0x7f:
	case bytes.IndexByte([]byte("78DEHM=>c"), b) >= 0:
		f.pass(b)
	case b >= 0x80:
		f.again(b)
	default:
		f.drop()
	}
}

// picked takes the end of a sequence such as the choice of an alphabet.
func (f *screenFilter) picked(b byte) {
	switch {
	case b >= 0x80:
		f.again(b)
	case b < ' ' || b == 0x7f:
	case b <= '/':
		f.seq = append(f.seq[:0], escape, '%') // none that we know has two
	case f.seq[1] == '(' || f.seq[1] == ')' || f.seq[1] == '#' && b == '8':
		f.shift = f.shift || f.seq[1] != '#' && b != 'B'
		f.pass(b)
	default:
		f.drop()
	}
}

// control takes a byte of a CSI sequence.
func (f *screenFilter) control(b byte) {
	switch {
	case b >= 0x80:
		f.again(b)
	case b < ' ' || b == 0x7f:
	case b < '@':
		if f.seq = append(f.seq, b); len(f.seq) > maxSequence {
			f.state, f.seq = inJunk, f.seq[:2]
		}
	case f.state == inCSI && f.harmless(f.seq[2:], b):
		f.pass(b)
	default:
		f.drop()
	}
}

func (f *screenFilter) pass(b byte) {
	f.out = append(append(f.out, f.seq...), b)
	f.drop()
}

func (f *screenFilter) drop() { f.state, f.seq = inText, f.seq[:0] }

// again takes a byte that cannot be part of a sequence as text.
func (f *screenFilter) again(b byte) {
	f.drop()
	f.text(b)
}

// harmless tells whether a CSI sequence may pass: its parameters with what is before
// and after them, and its last byte.
func (f *screenFilter) harmless(params []byte, final byte) bool {
	private := len(params) > 0 && params[0] == '?'
	if private {
		params = params[1:]
	}
	numbers := bytes.TrimRight(params, " !\"#$%&'()*+,-./")
	between := string(params[len(numbers):])
	for n := range bytes.FieldsFuncSeq(numbers, func(r rune) bool { return r == ';' || r == ':' }) {
		// A million repetitions would be a long wait.
		if len(n) > 5 || len(bytes.Trim(n, "0123456789")) > 0 {
			return false
		}
	}
	switch {
	case between == " ":
		return !private && final == 'q' // the cursor's shape
	case between == "!":
		return !private && final == 'p' // a soft reset
	case between != "":
		return false
	case final == 'h' || final == 'l':
		return f.mode(private, string(numbers), final)
	case private:
		return final == 'J' || final == 'K'
	}
	return bytes.IndexByte([]byte("@ABCDEFGHIJKLMPSTXZ`abdefgmrsu"), final) >= 0
}

// The modes that programs may set, and those of them that are on by themselves.
var (
	screenModes = []string{"?1", "?5", "?6", "?7", "?12", "?25", "?47", "?66", "?1000", "?1002", "?1003", "?1004", "?1005", "?1006", "?1015", "?1047", "?1048", "?1049", "?2004", "?2026", "4"}
	modesOn     = []string{"?7", "?25"}
)

// mode tells whether modes may be set, and remembers which of them are.
func (f *screenFilter) mode(private bool, numbers string, final byte) bool {
	var list []string
	for n := range bytes.SplitSeq([]byte(numbers), []byte{';'}) {
		name := string(n)
		if private {
			name = "?" + name
		}
		if !slices.Contains(screenModes, name) {
			return false
		}
		list = append(list, name)
	}
	for _, name := range list {
		f.modes = slices.DeleteFunc(f.modes, func(m string) bool { return m == name })
		if (final == 'h') != slices.Contains(modesOn, name) {
			f.modes = append(f.modes, name)
		}
	}
	return true
}

// leave sets the terminal back to how it was found, as far as it was changed: a mouse
// that goes on reporting would type into the person's own shell.
func (f *screenFilter) leave() error {
	out := []byte("\x1b[0m")
	for _, m := range slices.Backward(f.modes) {
		final := 'l'
		if slices.Contains(modesOn, m) {
			final = 'h'
		}
		out = fmt.Appendf(out, "\x1b[%s%c", m, final)
	}
	if f.shift {
		out = append(out, "\x0f\x1b(B"...)
	}
	_, err := f.w.Write(out)
	return err
}
