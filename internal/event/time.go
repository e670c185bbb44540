package event

import (
	"fmt"
	"time"
)

// Time is a moment in UTC, in microseconds since 1970. It is an integer so that
// rules can compare and add without a time zone or a clock in reach.
type Time int64

// layout writes every digit, always, so that one moment has one spelling.
const layout = "2006-01-02T15:04:05.000000Z"

// maxTime is the end of the year 9999, the last that the layout can write.
const maxTime Time = 253402300799999999

// TimeOf converts t, dropping what is finer than a microsecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// Time returns t for people and for the standard library.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

func (t Time) String() string {
	var b [len(layout)]byte
	return string(t.append(b[:0]))
}

func (t Time) append(b []byte) []byte { return t.Time().AppendFormat(b, layout) }

func (t Time) valid() bool { return t >= 0 && t <= maxTime }

func parseTime(s string) (Time, error) {
	v, err := time.Parse(layout, s)
	t := TimeOf(v)
	var b [len(layout)]byte
	// time.Parse takes a comma for the point, so the spelling is compared.
	if err != nil || string(t.append(b[:0])) != s {
		return 0, fmt.Errorf("time %q: want the form %s", clip(s), layout)
	}
	if !t.valid() {
		return 0, fmt.Errorf("time %q is out of range", clip(s))
	}
	return t, nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("time %d is out of range", int64(t))
	}
	return t.append(make([]byte, 0, len(layout))), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(b []byte) error {
	v, err := parseTime(string(b))
	*t = v
	return err
}
