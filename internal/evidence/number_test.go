package evidence

import (
	"slices"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ea is 35.09 kJ/mol.":                "3509e-2",
		"1.02e3, 1020 and 1,020":             "102e1 102e1 102e1",
		"1.02E+03 1.02×10^3 1.02 × 10³":      "102e1 102e1 102e1",
		"1.02 x 10^{3} 1.02*10**3 1.02·10⁺³": "102e1 102e1 102e1",
		"10^-3, 10⁻³ and 0.001":              "1e-3 1e-3 1e-3",
		"1'234'567 and 1\u202f234":           "1234567e0 1234e0",
		"1,234.5 but 12,34 and 1,2345":       "12345e-1 12e0 34e0 1e0 2345e0",
		"-5, −5, (–5) and = -5":              "-5e0 -5e0 -5e0 -5e0",
		"300-500 K, 300–500 K, 300K-400K":    "3e2 5e2 3e2 5e2 3e2 4e2",
		"- 5 samples":                        "5e0",
		".5 and 0.50 and 5.":                 "5e-1 5e-1 5e0",
		"0, 0.0, -0 and 0e5":                 "0 0 0 0",
		"98.7%, 98.7 % and 98.7 percent":     "987e-3 987e-3 987e-3",
		"٣٥ and ３５":                          "35e0 35e0",
		"±0.5 and ~7 and <9":                 "5e-1 7e0 9e0",
		"k=0.3;T=500":                        "3e-1 5e2",
		"a 10-min run, 5-fold":               "1e1 5e0",
		"\"about 42\"":                       "42e0",
		"5mL/2min at 3s-1 and 4 s-1":         "5e0 2e0 3e0 4e0",
		"5s^-1, 6m^2 and 7m²":                "5e0 6e0 7e0",
		"1/2 of 3/4":                         "1e0 2e0 3e0 4e0",
		// What only holds digits.
		"H2O, CO2, sha256, x1, pH7, UTF-8, GPT-4":       "",
		"rates-2.csv, 2.csv, 2024_run.txt, data/r2.txt": "",
		"version 1.2.3, 5f3a9c, deadbeef12":             "",
		"[1][2], [12] and [1, 2]":                       "",
		"1. One\n2) Two\n  (3) Three\n> 4. Four":        "",
		"1st, 2nd, 3rd and 20th":                        "",
		"Section 2.1, Fig. 3, Table 4, Eq. (5), #6, §7": "",
		"1/s, s^-1, s⁻¹, m², m^2, kJ mol-1":             "",
		"[300, 350] and [1000]":                         "3e2 35e1 1e3",
		"":                                              "",
	} {
		var got []string
		for _, n := range Numbers(text) {
			got = append(got, n.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q\nhas %s\nwant %s", text, strings.Join(got, " "), want)
		}
	}
}

func TestNumbersAreKeptAsWritten(t *testing.T) {
	t.Parallel()
	var got []string
	for _, n := range Numbers("−5, 1,020, 1.02 × 10³, 98.7 %, ３５ and 300K") {
		got = append(got, n.Text)
	}
	if want := []string{"−5", "1,020", "1.02 × 10³", "98.7 %", "３５", "300"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	const output = "activation energy Ea = 35.0942 kJ/mol\npre-exponential factor A = 1024.12 1/s\nR² = 0.986754\npoints n = 5\n"
	for _, c := range []struct{ claim, source, want string }{
		{"Ea is 35.0942 kJ/mol with n = 5.", output, ""},
		{"Ea is 35.09 kJ/mol, or 35.1, or 35.", output, ""},
		{"A is 1.02e3 1/s, that is 1,024 or 1.02×10³.", output, ""},
		{"R² is 0.9868, 98.7% or 99 percent.", output, ""},
		{"Ea is 125.34 kJ/mol, A is 2.45e12.", output, "125.34 2.45e12"},
		{"Ea is 35.08 kJ/mol.", output, "35.08"},
		{"Ea is 35.0 kJ/mol, not 35.", output, "35.0"},
		{"Ea is 35.0942001 kJ/mol.", output, "35.0942001"},
		{"Ea is -35.09 kJ/mol.", output, "-35.09"},
		{"About 1000 and 1020.", output, "1000 1020"},
		{"Seen 7 times, 7 times [1][2].", output, "7"},
		{"1. The first 5 points, see Fig. 2.", output, ""},
		{"Half up 0.13, half even 0.12, cut 0.11.", "0.125", "0.11"},
		{"Half of odd 0.14, cut 0.13.", "0.135", "0.13"},
		{"Nines: 10.0, 10 and 9.", "9.995", "9"},
		{"Small: 1 of 0.7, not 0.", "0.7", "0"},
		{"None: 0.", "0.0", ""},
		{"Just 1,020.", "1020", ""},
		{"Just 1020.", "1,020 pieces", ""},
		{"A list: 300,350 and 400.", "T\n300\n350\n400", ""},
		{"From a table: 300 and 350.", "300,350\n400,450", ""},
		{"Not from a table: 300350.", "300;350", "300350"},
		{"A part: 5.", "50 and 0.55 and 15", "5"},
		{"As fraction 0.42.", "42 %", ""},
		{"As percentage 42 %.", "yield (%)\n42", ""},
		{"As percentage 42 %.", "4.2", "42 %"},
		{"Not without the sign: 42.", "0.42", "42"},
		{"Names: H2O at pH7, rates-2.csv.", "", ""},
		{"Only a name has 256.", "sha256", "256"},
		{"Minus −5.", "-5.0", ""},
		{"1e999999999 and 1e999999998", "1e999999999", "1e999999998"},
		{"١٢٣", "124", "١٢٣"},
		{"", "5", ""},
	} {
		got := strings.Join(Missing(c.claim, []string{"nothing here", c.source}), " ")
		if got != c.want {
			t.Errorf("%q of %q: missing %q, want %q", c.claim, c.source, got, c.want)
		}
	}
	if got := Missing("5", nil); len(got) != 1 {
		t.Errorf("without a source nothing is there: %q", got)
	}
}

// TestHostileTexts: time in proportion to the text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 1<<20)
	many := strings.Repeat("1e300 1e-300 0.5 ", 1<<16)
	for _, text := range []string{
		long, long + "." + long, "1e" + long, "-" + strings.Repeat("-", 1<<20) + "5", strings.Repeat("1,000", 1<<18), strings.Repeat("[1,", 1<<18),
		strings.Repeat("1.", 1<<19), many, strings.Repeat("10^", 1<<18), strings.Repeat("\n 1", 1<<18), strings.Repeat("5 K/(", 1<<17), strings.Repeat(" ", 1<<20) + "1) ", strings.Repeat("(", 1<<20) + "1. x", strings.Repeat("a-", 1<<19) + "1",
		strings.Repeat("one ", 1<<18), strings.Repeat("one ", 1<<18) + "kJ", strings.Repeat("E9 kJ ", 1<<16), strings.Repeat("E9.", 1<<18), strings.Repeat("九", 1<<19) + "kJ", strings.Repeat("⁹", 1<<19) + " kJ", strings.Repeat("①½", 1<<18), "E" + strings.Repeat("9m", 1<<18), strings.Repeat("0x", 1<<18),
	} {
		if got := Missing(text, []string{text}); len(got) != 0 {
			t.Errorf("%.20q is not in itself: %d numbers", text, len(got))
		}
		Values(text)
	}
}

func FuzzMissing(f *testing.F) {
	f.Add("Ea is 35.09 kJ/mol [1], 98.7 %", "35.0942, 1,024.12e-3 and 0.98675")
	f.Add("1.02 × 10⁻³ −5", "\xff٣1/s")
	f.Add("1e999999999", "0x1p-2 1..2 1,,3")
	f.Fuzz(func(t *testing.T, claim, source string) {
		for _, text := range Missing(claim, []string{source}) {
			if !strings.Contains(string([]rune(claim)), text) {
				t.Errorf("%q is not in %q", text, claim)
			}
		}
		if got := Missing(claim, []string{claim}); len(got) != 0 {
			t.Errorf("%q lacks its own numbers %q", claim, got)
		}
		values := Values(claim)
		for i, v := range values {
			if !Agree(v, v, 0) {
				t.Errorf("%v does not agree with itself", v)
			}
			if w := values[len(values)-1-i]; Agree(v, w, 10) != Agree(w, v, 10) {
				t.Errorf("%v and %v agree one way", v, w)
			}
		}
	})
}
