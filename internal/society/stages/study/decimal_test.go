package study_test

import (
	"strings"
	"testing"

	. "lyceum/internal/society/stages/study"
)

func decimal(t *testing.T, text string) *Decimal {
	t.Helper()
	d, err := ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  string
		cmp   int
		minus string
	}{
		{"1", "1.000", 0, "0.000"}, {"0.3", "0.30000000000000004", -1, "-0.00000000000000004"}, {"-2", "1", -1, "-3"},
		{"-0", "0.0", 0, "0.0"}, {"007.5", "7.50", 0, "0.00"}, {"10", "9.99", 1, "0.01"}, {"-1.5", "-1.25", -1, "-0.25"},
		{"12345678901234567890123456789", "12345678901234567890123456788", 1, "1"},
	} {
		a, b := decimal(t, c.a), decimal(t, c.b)
		d := a.Minus(b)
		if a.Cmp(b) != c.cmp || b.Cmp(a) != -c.cmp || d.String() != c.minus {
			t.Errorf("%s and %s compare as %d and differ by %s, want %d and %s", c.a, c.b, a.Cmp(b), d.String(), c.cmp, c.minus)
		}
	}
	for _, c := range []struct {
		a, b, tolerance string
		want            bool
	}{{"0.1", "0.2", "0.1", true}, {"0.2", "0.1", "0.1", true}, {"0.1", "0.2", "0.099", false}, {"1", "1.0", "0", true}, {"-1", "1", "1.9", false}} {
		if got := decimal(t, c.a).Within(decimal(t, c.b), decimal(t, c.tolerance)); got != c.want {
			t.Errorf("%s is within %s of %s: %v, want %v", c.a, c.tolerance, c.b, got, c.want)
		}
	}
}

func TestWhatIsNoDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "missing", "NaN": "no number", "-inf": "no number", "+Infinity": "no number", "1e5": "exponent", "1.5E-3": "exponent", "-2e+8": "exponent",
		".5": "no decimal", "5.": "no decimal", "+5": "no decimal", "1,5": "no decimal", "0x10": "no decimal", " 1": "no decimal", "1\n": "no decimal",
		"--1": "no decimal", "1.2.3": "no decimal", "١": "no decimal", "e": "no decimal", "-": "no decimal", strings.Repeat("9", 41): "too long",
	} {
		if _, err := ParseDecimal(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzDecimals(f *testing.F) {
	for _, s := range []string{"0", "-12.50", "1e5", "NaN", "00.1", "-.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDecimal(text)
		if err != nil {
			return
		}
		again, err := ParseDecimal(d.String())
		if err != nil || again.Cmp(&d) != 0 {
			t.Errorf("%q is written as %q, which reads as %s, %v", text, d.String(), again.String(), err)
		}
	})
}
