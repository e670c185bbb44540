package event

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the RFC 8785 form of one JSON value: members sorted, white
// space gone, numbers and strings in their shortest spelling. A number that a
// double cannot hold exactly as written is refused instead of silently changed,
// for a ledger must not alter what it was given: an integer beyond 2^53 travels
// as a string. So are duplicate members and invalid UTF-8.
func Canonical(data []byte) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			if dec.StackDepth() == 0 && dec.InputOffset() > 0 && len(bytes.TrimSpace(data[dec.InputOffset():])) == 0 {
				break
			}
			return nil, fmt.Errorf("canonical JSON: %w", err)
		}
		if tok.Kind() == '0' {
			if err := checkNumber(tok.String()); err != nil {
				return nil, fmt.Errorf("canonical JSON: %w", err)
			}
		}
	}
	v := jsontext.Value(bytes.Clone(data))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return v, nil
}

// checkNumber refuses a number that would not come back from a double with the
// value it was written with: an integer beyond 2^53 that is not itself a
// double, or a magnitude out of range. Decimal fractions are taken as the
// nearest double, as the RFC does.
func checkNumber(s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return fmt.Errorf("number %s is out of range", clip(s))
	}
	if strings.ContainsAny(s, ".eE") {
		return nil
	}
	// 2^53 itself is looked at as well: 2^53+1 has been rounded to it. Beyond 2^53
	// the canonical spelling ends in zeros, and must be taken as it is written.
	if math.Abs(f) >= 1<<53 && strconv.FormatFloat(f, 'f', 0, 64) != s && strconv.FormatFloat(f, 'f', -1, 64) != s {
		return fmt.Errorf("integer %s is beyond 2^53: write it as a string", clip(s))
	}
	return nil
}

// encode writes a body of the catalogue. The structs list their members in
// sorted order and hold only strings, booleans and integers, so plain encoding
// is already canonical; TestBodiesEncodeCanonically proves that for each.
func encode(b Body) ([]byte, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Type(), err)
	}
	if len(data) > MaxBody {
		return nil, fmt.Errorf("encode %s: body of %d bytes is over the limit of %d: move long texts to blobs", b.Type(), len(data), MaxBody)
	}
	if err := checkIntegers(data); err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Type(), err)
	}
	return data, nil
}

// checkIntegers looks for integers beyond 2^53 in JSON that has just been
// encoded. Only a run of 16 digits outside a string can be one.
func checkIntegers(data []byte) error {
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = endOfString(data, i)
		case c >= '0' && c <= '9':
			start := i
			for i < len(data) && data[i] >= '0' && data[i] <= '9' {
				i++
			}
			if i-start >= 16 {
				if n, err := strconv.ParseUint(string(data[start:i]), 10, 64); err != nil || n > 1<<53 {
					return fmt.Errorf("integer %s is beyond 2^53", data[start:i])
				}
			}
			i--
		}
	}
	return nil
}

// endOfString returns the place of the quote that ends the string beginning at
// i. A quote ends it unless the backslashes before it are odd in number.
func endOfString(data []byte, i int) int {
	for {
		next := bytes.IndexByte(data[i+1:], '"')
		if next < 0 {
			return len(data)
		}
		end := i + 1 + next
		slashes := 0
		for data[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end
		}
		i = end
	}
}

// decode reads a body of type t and refuses what does not fit its struct: an
// unknown or repeated member, a wrong kind, or a spelling that is not canonical.
func decode(t Type, data []byte) (Body, error) {
	if len(data) > MaxBody {
		return nil, fmt.Errorf("decode %s: body of %d bytes is over the limit of %d", t, len(data), MaxBody)
	}
	b := New(t)
	if b == nil {
		return nil, fmt.Errorf("event type %q is not in the catalogue", clip(string(t)))
	}
	if err := json.Unmarshal(data, b, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("decode %s: %w", t, err)
	}
	again, err := encode(b)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, data) {
		return nil, fmt.Errorf("decode %s: body is not in canonical form", t)
	}
	return b, nil
}

// EncodeBody returns a body in canonical form, for those who keep one outside a
// ledger, as an inbox does.
func EncodeBody(b Body) ([]byte, error) {
	if b == nil || New(b.Type()) == nil {
		return nil, fmt.Errorf("encode: not a body of the catalogue")
	}
	return encode(b)
}

// DecodeBody reads what EncodeBody wrote.
func DecodeBody(t Type, data []byte) (Body, error) { return decode(t, data) }
