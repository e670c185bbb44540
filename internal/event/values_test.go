package event_test

import (
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
)

func TestHash(t *testing.T) {
	t.Parallel()
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	t.Run("IsSHA256InLowerCaseHex", func(t *testing.T) {
		t.Parallel()
		if got := event.HashOf([]byte("abc")).String(); got != abc {
			t.Errorf("HashOf(abc) = %s; want %s", got, abc)
		}
		h, err := event.ParseHash(abc)
		if err != nil || h != event.HashOf([]byte("abc")) {
			t.Errorf("ParseHash gave %s, %v", h, err)
		}
	})
	t.Run("HasOneSpelling", func(t *testing.T) {
		t.Parallel()
		for _, s := range []string{"", abc[1:], abc + "0", strings.ToUpper(abc), "g" + abc[1:], " " + abc[1:]} {
			if h, err := event.ParseHash(s); err == nil {
				t.Errorf("ParseHash(%q) = %s", s, h)
			}
		}
	})
	t.Run("IsZeroOnlyWhenUnset", func(t *testing.T) {
		t.Parallel()
		if !(event.Hash{}).IsZero() || event.HashOf(nil).IsZero() || (event.Hash{31: 1}).IsZero() {
			t.Error("IsZero is wrong")
		}
	})
}

func TestTime(t *testing.T) {
	t.Parallel()
	t.Run("DropsWhatIsFinerThanAMicrosecondAndTheZone", func(t *testing.T) {
		t.Parallel()
		there := time.Date(2026, 1, 31, 14, 0, 0, 1999, time.FixedZone("", 2*60*60))
		if got := event.TimeOf(there); got != noon+1 {
			t.Errorf("TimeOf = %s; want %s", got, noon+1)
		}
		if got := (noon + 1).Time(); !got.Equal(there.Add(-999)) || got.Location() != time.UTC {
			t.Errorf("Time() = %s", got)
		}
	})
	t.Run("WritesEveryDigitAlways", func(t *testing.T) {
		t.Parallel()
		for moment, want := range map[event.Time]string{
			0:                   "1970-01-01T00:00:00.000000Z",
			noon:                "2026-01-31T12:00:00.000000Z",
			noon + 120:          "2026-01-31T12:00:00.000120Z",
			253402300799_999999: "9999-12-31T23:59:59.999999Z",
		} {
			if got := moment.String(); got != want {
				t.Errorf("String() = %s; want %s", got, want)
			}
			var back event.Time
			if err := back.UnmarshalText([]byte(want)); err != nil || back != moment {
				t.Errorf("%s came back as %s, %v", want, back, err)
			}
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	ref := event.Ref{Size: 1000}
	for name, c := range map[string]struct {
		text      event.Text
		len, size int64
	}{
		"EmptyShowsNothing":              {event.Text{}, 0, 0},
		"InTheEventShowsItsBytes":        {event.Text{Text: "größe"}, 7, 7},
		"InABlobShowsTheBlob":            {event.Text{Ref: &ref}, 1000, 1000},
		"ShortenedShowsLessThanTheWhole": {event.Text{Ref: &ref, Text: "short"}, 5, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.text.Len() != c.len || c.text.Size() != c.size {
				t.Errorf("Len() = %d, Size() = %d; want %d, %d", c.text.Len(), c.text.Size(), c.len, c.size)
			}
		})
	}
}

func TestRefOfNamesBytesBySumAndSize(t *testing.T) {
	t.Parallel()
	if got, want := event.RefOf([]byte("abc")), (event.Ref{Hash: event.HashOf([]byte("abc")), Size: 3}); got != want {
		t.Errorf("RefOf = %v; want %v", got, want)
	}
}
