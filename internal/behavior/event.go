package behavior

import "strings"

// Event is something that can happen: what kind of thing, and what is known of
// it. Two events are equal if both are.
type Event struct {
	Type string
	// Detail may be nil: nothing is known, and nothing need be.
	Detail Detail
}

// Detail is what is known of an event.
type Detail interface {
	// Field returns what stands at a path of member names.
	Field(path []string) Value
	// JSON is the whole detail as text, the same for equal details.
	JSON() string
}

// Equal reports whether a and b are the same event: of one type, with one detail.
func (e Event) Equal(o Event) bool {
	if e.Type != o.Type || (e.Detail == nil) != (o.Detail == nil) {
		return false
	}
	return e.Detail == nil || e.Detail.JSON() == o.Detail.JSON()
}

// Field returns what stands at a path of the detail.
func (e Event) Field(path []string) Value {
	if e.Detail == nil {
		return Value{}
	}
	return e.Detail.Field(path)
}

func (e Event) String() string {
	if e.Detail == nil {
		return e.Type
	}
	return e.Type + e.Detail.JSON()
}

// Kind is what sort of thing a Value is.
type Kind int8

// The kinds of values. Unknown is one that is there but cannot be seen, because
// it is too long to be kept at hand or cannot be read; whoever guards something
// must take it for the worst.
const (
	Missing Kind = iota
	Unknown
	Null
	Bool
	Number
	Text
	List
	Object
)

// Value is what stands in a field.
type Value struct {
	Kind Kind
	// Text is a text itself, a number as it is written, true or false.
	Text string
	// Items are those of a list.
	Items []Value
}

// TextValue, BoolValue and IntValue make values.
func TextValue(s string) Value { return Value{Kind: Text, Text: s} }

// BoolValue is true or false.
func BoolValue(b bool) Value {
	if b {
		return Value{Kind: Bool, Text: "true"}
	}
	return Value{Kind: Bool, Text: "false"}
}

// same compares values; numbers by what they mean. Those that cannot be seen or
// measured may be the same as any.
func (v Value) same(o Value) Truth {
	switch {
	case v.Kind == Unknown || o.Kind == Unknown:
		return Maybe
	case v.Kind != o.Kind || len(v.Items) != len(o.Items) || v.Kind == Object:
		return No
	case v.Kind == List:
		worst := Yes
		for i := range v.Items {
			worst = min(worst, v.Items[i].same(o.Items[i]))
		}
		return worst
	case v.Text == o.Text:
		return Yes
	case v.Kind == Number:
		switch c, ok := compareNumbers(v.Text, o.Text); {
		case !ok:
			return Maybe
		case c == 0:
			return Yes
		}
	}
	return No
}

// CleanPath brings a path to one form: no dots, no doubled or outer slashes, and
// no way out. Within a workspace, /data, ./data and a/../data are all data.
func CleanPath(p string) string {
	var out []string
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, part)
		}
	}
	return strings.Join(out, "/")
}

// Under reports whether a clean path is dir or below it.
func Under(path, dir string) bool {
	return dir == "" || path == dir || strings.HasPrefix(path, dir+"/")
}
