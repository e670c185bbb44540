package dialect

import (
	"bytes"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// maxCalls is how many calls of one answer are read.
const maxCalls = 64

// maxUnread is how much is kept of a call that cannot be read.
const maxUnread = 4 << 10

// Read takes a whole answer apart.
func (d *Dialect) Read(text string) []model.Part {
	r := &reader{d: d, calls: true}
	r.write(text)
	return r.close()
}

// scan is how far the end of a call was looked for.
type scan struct {
	at int
	in bool // a string
}

// reader takes an answer apart while it comes. However it is cut into pieces, the parts are
// the same, and what it says adds up to the words in them.
type reader struct {
	d     *Dialect
	calls bool
	say   func(string)

	buf  []byte // what is not decided yet
	call bool   // buf is a call, without its beginning
	scan scan
	// strokes are how many backslashes are known to stand behind the first byte of buf.
	strokes int
	over    bool // nothing more counts

	parts []model.Part
	made  int // calls
	words strings.Builder
	space []byte // white space behind the words: part of them if more come
}

func (r *reader) write(piece string) {
	if r.over {
		return
	}
	r.buf = append(r.buf, piece...)
	r.decide(false)
}

func (r *reader) close() []model.Part {
	r.decide(true)
	if r.words.Len() > 0 || r.made == 0 {
		r.tell(string(r.space))
	}
	r.space = nil
	r.flush()
	return r.parts
}

// decide takes in what is certain; at the end all is.
func (r *reader) decide(last bool) {
	at := 0
	for at < len(r.buf) && !r.over {
		var n int
		if r.call {
			n = r.readCall(r.buf[at:], last)
		} else {
			n = r.readWords(r.buf[at:], last)
		}
		if n == 0 {
			break
		}
		at += n
	}
	if r.over {
		r.buf = nil
		return
	}
	if at > 0 {
		r.buf = append(r.buf[:0], r.buf[at:]...)
	}
	if last && r.call { // not a byte came behind its beginning
		r.readCall(nil, true)
	}
}

// readWords takes words from the front of text, up to the next call, and returns how many
// bytes it took. It takes none if more must come first.
func (r *reader) readWords(text []byte, last bool) int {
	n := bytes.IndexAny(text, "<[")
	if n < 0 {
		n = len(text)
	}
	if n > 0 {
		r.hear(string(text[:n]))
		return n
	}
	rest := string(text[:min(len(text), len(r.d.begin)+len(r.d.reply))])
	switch {
	case r.calls && strings.HasPrefix(rest, r.d.begin):
		r.flush()
		r.call, r.scan = true, scan{}
		return len(r.d.begin)
	case r.made > 0 && strings.HasPrefix(rest, r.d.reply):
		r.over = true // what comes is a result that the model makes up
		return 0
	case !last && (len(rest) == 1 || strings.HasPrefix(r.d.begin, rest) || strings.HasPrefix(r.d.reply, rest)):
		return 0
	}
	known := text[1+r.strokes:]
	strokes := r.strokes + len(known) - len(bytes.TrimLeft(known, `\`))
	r.strokes = strokes
	if strokes > 0 {
		behind := string(text[1+strokes : min(len(text), 1+strokes+maxToken)])
		whole, more := tail(text[0], behind)
		if more && !last {
			return 0
		}
		r.strokes = 0
		if whole > 0 {
			r.hear(string(text[0]) + string(text[2:1+strokes]) + behind[:whole])
			return 1 + strokes + whole
		}
	}
	r.hear(string(text[:1+strokes]))
	return 1 + strokes
}

// readCall takes a call from the front of text, with its end.
func (r *reader) readCall(text []byte, last bool) int {
	n := r.d.closing(text, &r.scan)
	if n < 0 && !last {
		return 0
	}
	r.call = false
	if n < 0 {
		// It may be that a string is open. What stands before the end is no call then, and is
		// not made one.
		n = bytes.Index(text, []byte(r.d.end))
	}
	if n < 0 {
		r.add(r.bad("", string(text), fmt.Errorf("it ends before %s", r.d.end)))
		return len(text)
	}
	inner := string(text[:n])
	name, args, err := r.d.parse(inner)
	switch {
	case r.made == maxCalls:
		r.add(r.bad(name, inner, fmt.Errorf("an answer has at most %d calls; those behind them were not read", maxCalls)))
		r.over = true
	case err != nil:
		r.add(r.bad(name, inner, err))
	default:
		r.add(model.Part{Kind: event.PartToolCall, Name: name, Args: args})
	}
	return n + len(r.d.end)
}

func (r *reader) add(p model.Part) {
	r.parts = append(r.parts, p)
	r.made++
}

// unread begins the arguments of a call that could not be read. They are no JSON, so that
// no tool takes them.
const unread = "unreadable: "

// bad is a call that cannot be read. Its arguments say why, and what it was.
func (r *reader) bad(name, text string, err error) model.Part {
	if name == "" {
		// As far as it got: the tool can then say what it wants.
		name, _, _ = r.d.parse(text)
	}
	if !isName(name) {
		name = unnamed
	}
	why := strings.ReplaceAll(err.Error(), "\n", " ")
	args := strings.ToValidUTF8(unread+why+"\n"+event.Shorten(text, maxUnread), "\uFFFD")
	return model.Part{Kind: event.PartToolCall, Name: name, Args: args}
}

// unreadable takes arguments apart that are no JSON: why, and the text of the call.
func unreadable(args string) (why, text string) {
	if rest, ok := strings.CutPrefix(args, unread); ok {
		why, text, _ = strings.Cut(rest, "\n")
		return why, text
	}
	return "the arguments are no JSON object", args
}

const white = " \t\r\n"

// hear takes in words. White space around calls is none.
func (r *reader) hear(words string) {
	if r.words.Len() == 0 && r.made > 0 {
		words, r.space = strings.TrimLeft(words, white), nil
	}
	bare := strings.TrimRight(words, white)
	if bare != "" {
		r.tell(string(r.space) + bare)
		r.space = r.space[:0]
	}
	r.space = append(r.space, words[len(bare):]...)
}

func (r *reader) tell(words string) {
	if words == "" {
		return
	}
	r.words.WriteString(words)
	if r.say != nil {
		r.say(words)
	}
}

// flush ends a part that is words.
func (r *reader) flush() {
	r.space = nil
	if r.words.Len() > 0 {
		r.parts = append(r.parts, model.Part{Kind: event.PartText, Text: r.words.String()})
		r.words.Reset()
	}
}
