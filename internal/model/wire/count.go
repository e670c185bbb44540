package wire

import (
	"bytes"

	"lyceum/internal/event"
)

// Counter reads what an answer used out of what a provider sends, while that passes to
// somebody else. It keeps nothing of the answer.
type Counter interface {
	// Event takes the data of a server-sent event in, Whole an answer that is not streamed.
	// What cannot be read tells nothing.
	Event(data []byte)
	Whole(body []byte)
	// Usage is what was told so far. told says that it is all: of an answer that was cut
	// off, only the input may be known.
	Usage() (u event.Usage, told bool)
	// Ended reports whether the provider has said why the answer ends: what comes after is
	// no more of it.
	Ended() bool
}

// Splitter finds the events in a stream whose bytes pass by. Lines that are longer than any
// that a client would read are left out.
type Splitter struct {
	// Each is given the data of each event. It must not keep it.
	Each func(data []byte)
	// Soon gives it a line of data when that is whole, and the event only if it has more of
	// them: whoever listens by lines does not wait for its end.
	Soon bool

	line, data []byte
	has, skip  bool
	lines      int
	// first is an event's first line of data, while nobody knows whether it has more: most have not,
	// and it need not be kept. It is a part of what is being written, or of line.
	first []byte
}

// Write implements io.Writer. It never fails.
func (s *Splitter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			break
		}
		switch {
		case s.skip:
			s.skip = false
		case len(s.line) == 0:
			s.take(p[:i])
		default:
			if s.keep(p[:i]); !s.skip {
				s.take(s.line)
			}
			s.hold()
			s.skip = false
		}
		s.line = s.line[:0]
		if cap(s.line) > 64<<10 {
			s.line = nil // one long line is no reason to hold so much
		}
		p = p[i+1:]
	}
	s.hold()
	return n, nil
}

// hold keeps an event's first line of data, which would be gone otherwise.
func (s *Splitter) hold() {
	if s.first != nil {
		s.data, s.first = append(s.data, s.first...), nil
	}
}

// keep holds the beginning of a line.
func (s *Splitter) keep(p []byte) {
	if s.skip || len(s.line)+len(p) > maxLine {
		s.skip, s.line = true, nil
		return
	}
	s.line = append(s.line, p...)
}

// take takes a whole line in.
func (s *Splitter) take(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		if !s.Soon || s.lines > 1 {
			s.hold()
		}
		if s.has && len(s.data) <= maxLine && (!s.Soon || s.lines > 1) {
			s.Each(s.data)
		}
		s.has, s.lines, s.data, s.first = false, 0, s.data[:0], nil
		if cap(s.data) > 64<<10 {
			s.data = nil
		}
		return
	}
	value, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	s.has = true
	if s.lines++; s.lines == 1 {
		if s.first = value; s.Soon {
			s.Each(value)
		}
		return
	}
	s.hold()
	s.data = append(s.data, '\n')
	if len(s.data) <= maxLine {
		s.data = append(s.data, value...)
	}
}
