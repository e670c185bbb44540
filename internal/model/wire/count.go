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
			s.skip = false
		}
		s.line = s.line[:0]
		if cap(s.line) > 64<<10 {
			s.line = nil // one long line is no reason to hold so much
		}
		p = p[i+1:]
	}
	return n, nil
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
		if s.has && len(s.data) <= maxLine && (!s.Soon || s.lines > 1) {
			s.Each(s.data)
		}
		s.has, s.lines, s.data = false, 0, s.data[:0]
		if cap(s.data) > 64<<10 {
			s.data = nil
		}
		return
	}
	value, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return
	}
	if s.has {
		s.data = append(s.data, '\n')
	}
	s.has = true
	if s.lines++; s.Soon && s.lines == 1 {
		s.Each(bytes.TrimPrefix(value, []byte(" ")))
	}
	if len(s.data) <= maxLine {
		s.data = append(s.data, bytes.TrimPrefix(value, []byte(" "))...)
	}
}
