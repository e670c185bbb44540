package helper

import "lyceum/internal/computer/link"

// spool holds the part of a stream that Lyceum has not acknowledged yet. Its
// owner's lock guards it.
type spool struct {
	base   int64 // the offset of data[0]
	data   []byte
	closed bool // nothing more will come
}

func (s *spool) end() int64 { return s.base + int64(len(s.data)) }

// room is how much may be read now.
func (s *spool) room() int { return link.Window - len(s.data) }

func (s *spool) add(b []byte) { s.data = append(s.data, b...) }

// ack drops what is before offset.
func (s *spool) ack(offset int64) {
	n := offset - s.base
	if n <= 0 || n > int64(len(s.data)) {
		return
	}
	s.base = offset
	if int(n) == len(s.data) {
		s.data = s.data[:0]
		return
	}
	s.data = append(s.data[:0], s.data[n:]...)
}

// from copies what there is from offset on, up to one frame.
func (s *spool) from(offset int64, into []byte) []byte {
	if offset < s.base || offset >= s.end() {
		return nil
	}
	return append(into[:0], s.data[offset-s.base:][:min(s.end()-offset, link.MaxData)]...)
}
