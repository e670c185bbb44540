package behavior

// Event is something that can happen: what kind of thing, and what is known of
// it. Two events are equal if both of these are.
type Event struct {
	Type string
	// Detail may be nil: nothing is known, and nothing need be.
	Detail Detail
	// Allowed says that a person lets it pass, as far as they were to be asked.
	Allowed bool
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
