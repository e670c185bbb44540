package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"errors"
	"fmt"
	"io"
)

var errLarge = errors.New("it unpacks to more than is read")

// decode unpacks a stream.
func (f *file) decode(s *stream) ([]byte, error) {
	filters, settings := f.list(s.dict["Filter"]), f.list(s.dict["DecodeParms"])
	if filters == nil && f.resolve(s.dict["Filter"]) != nil {
		filters, settings = list{s.dict["Filter"]}, list{s.dict["DecodeParms"]}
	}
	data := s.raw
	if len(filters) > 4 {
		return nil, errors.New("it is packed too often")
	}
	for i, v := range filters {
		how, _ := f.resolve(v).(name)
		var with dict
		if i < len(settings) {
			with = f.dict(settings[i])
		}
		var err error
		if data, err = f.undo(how, with, data); err != nil {
			return nil, err
		}
		if f.decoded += len(data); f.decoded > maxDecoded {
			return nil, errLarge
		}
	}
	return data, nil
}

// undo undoes one filter.
func (f *file) undo(how name, with dict, data []byte) ([]byte, error) {
	switch how {
	case "FlateDecode", "Fl":
		out, err := inflate(data)
		if err != nil {
			return nil, err
		}
		return f.unpredict(with, out)
	case "ASCIIHexDecode", "AHx":
		r := &reader{data: append([]byte("<"), data...), fuel: new(int)}
		out, _ := r.hex().(word)
		return []byte(out), nil
	case "ASCII85Decode", "A85":
		data = bytes.TrimSpace(data)
		if end := bytes.Index(data, []byte("~")); end >= 0 {
			data = data[:end]
		}
		data = bytes.TrimPrefix(data, []byte("<"))
		out := make([]byte, len(data)*4+8) // a z is four zeros
		n, _, err := ascii85.Decode(out, data, true)
		return out[:n], err
	case "RunLengthDecode", "RL":
		return unrun(data)
	}
	return nil, fmt.Errorf("it is packed by %.40q, which is not read", string(how))
}

// inflate unpacks as much as there is: streams that are cut off, or whose sum is wrong, are common.
func inflate(data []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it is not packed as it says: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxStream+1))
	switch {
	case len(out) > maxStream:
		return nil, errLarge
	case err != nil && len(out) == 0:
		return nil, fmt.Errorf("it is not packed as it says: %w", err)
	}
	return out, nil
}

func unrun(data []byte) (out []byte, err error) {
	for i := 0; i < len(data) && data[i] != 128; {
		n := int(data[i])
		if i++; n < 128 {
			to := min(len(data), i+n+1)
			out = append(out, data[i:to]...)
			i = to
			continue
		}
		if i < len(data) {
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
		}
		if i++; len(out) > maxStream {
			return nil, errLarge
		}
	}
	return out, nil
}

// unpredict undoes the prediction by which rows of bytes are told from the ones above, as PNG has
// it.
func (f *file) unpredict(with dict, data []byte) ([]byte, error) {
	how := f.number(with["Predictor"], 1)
	if how < 10 {
		if how > 1 {
			return nil, errors.New("it is packed by a prediction that is not read")
		}
		return data, nil
	}
	bits := f.number(with["Colors"], 1) * f.number(with["BitsPerComponent"], 8)
	row := (bits*f.number(with["Columns"], 1) + 7) / 8
	if bits < 1 || bits > 256 || row < 1 || row > 1<<20 {
		return nil, errors.New("it is packed in rows of no length")
	}
	step, width := max(1, int(bits)/8), int(row)
	above := make([]byte, width)
	var out []byte
	for len(data) > 1 {
		kind := data[0]
		line := bytes.Clone(data[1:min(len(data), width+1)])
		data = data[1+len(line):]
		for i := range line {
			var left, corner byte
			if i >= step {
				left, corner = line[i-step], above[i-step]
			}
			line[i] += predicted(kind, left, above[i], corner)
		}
		out = append(out, line...)
		copy(above, line)
	}
	return out, nil
}

// predicted is what a byte is taken to be, by the ones to its left, above it, and in the corner.
func predicted(kind, left, up, corner byte) byte {
	switch kind {
	case 1:
		return left
	case 2:
		return up
	case 3:
		return byte((int(left) + int(up)) / 2)
	case 4:
		distance := func(a byte) int {
			return abs(int(left) + int(up) - int(corner) - int(a))
		}
		switch l, u, c := distance(left), distance(up), distance(corner); {
		case l <= u && l <= c:
			return left
		case u <= c:
			return up
		}
		return corner
	}
	return 0
}

func abs(n int) int { return max(n, -n) }
