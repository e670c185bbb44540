package wire

import "bytes"

// What one answer may hold, whatever a server sends: no model says more, and a process has many
// of them under way.
const (
	maxAnswer = 8 << 20
	maxParts  = 1000
)

// maxNested is how many objects and lists one event may have. Each takes far more memory than
// the two bytes that it can be written in.
const maxNested = 1 << 17

// Room is what is left for an answer that is being put together. Its zero value has all of it.
type Room struct{ bytes, parts int }

// Take asks for room for texts that are kept, before they are.
func (r *Room) Take(c *Client, sizes ...int) error {
	for _, n := range sizes {
		r.bytes += n
	}
	if r.bytes > maxAnswer {
		return c.Garbled("an answer of more than %d MiB", maxAnswer>>20)
	}
	return nil
}

// Part asks for room for another part: a text, a thought, a call.
func (r *Room) Part(c *Client) error {
	if r.parts++; r.parts > maxParts {
		return c.Garbled("an answer of more than %d parts", maxParts)
	}
	return nil
}

// nested reports whether there are more objects and lists in data than anybody needs. Those that
// stand in texts count, too.
func nested(data []byte) bool {
	return bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxNested
}
