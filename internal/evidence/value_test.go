package evidence

import "testing"

func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"35.09 kJ/mol": "kJ/mol", "35.09 kJ mol^-1": "kJ/mol", "35.09 kJ·mol⁻¹": "kJ/mol", "35.09kJ mol-1": "kJ/mol", "35.09 kJ/mol.": "kJ/mol",
		"8.314 J/(mol K)": "J/(K·mol)", "8.314 J mol-1 K-1": "J/(K·mol)", "8.314 J/mol/K": "J/(K·mol)",
		"5 1/s": "1/s", "5 s^-1": "1/s", "5 s⁻¹": "1/s", "5 s-1": "1/s",
		"10 K/min": "K/min", "300K": "K", "300 K and": "K", "25 °C": "°C", "25 ℃": "°C", "3 μL": "µL", "3 ml": "mL", "2 m²": "m^2", "2 m^2": "m^2",
		"98 %": "%", "98 percent": "%",
		"5 samples": "", "5 is": "", "5 as": "", "5": "", "5 J/x": "J", "5 K5": "", "5 kk": "", "5 (K)": "", "5, K": "",
	} {
		values := Values(text)
		if len(values) != 1 || values[0].Unit != want {
			t.Errorf("%q has %v, want the unit %q", text, values, want)
		}
	}
}

func TestAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b      string
		tolerance int64
		want      bool
	}{
		{"35.09 kJ/mol", "35.0942 kJ/mol", 1, true},
		{"35.09 kJ/mol", "35.0942 kJ/mol", 0, false},
		{"35.09 kJ/mol", "35090 J mol^-1", 0, true},
		{"35.09 kJ/mol", "0.03509 MJ/mol", 0, true},
		{"35.09 kJ/mol", "125.34 kJ/mol", 100, false},
		{"35.09 kJ/mol", "35.09 K", 1000, false},
		{"100 K", "101 K", 10, true},
		{"100 K", "102 K", 10, false},
		{"-5 K", "5 K", 500, false},
		{"-5 K", "5 K", 2000, true},
		{"0 K", "0.0 K", 0, true},
		{"0 K", "0.001 K", 999, false},
		{"98.7 %", "0.987", 0, true},
		{"300 K", "27 °C", 1000, false},
		{"2 mm^2", "0.000002 m²", 0, true},
		{"5 1/ms", "5000 1/s", 0, true},
		{"1e400 K", "1e400 K", 0, true},
		{"1e400 K", "1e-400 K", 999, false},
		{"1e999999 K", "1e999999 K", 0, true},
		{"1e999999 K", "1e999998 K", 1000, false},
		{"5 K", "5 K", -1, true},
		{"5 K", "6 K", -1, false},
	} {
		a, b := Values(c.a)[0], Values(c.b)[0]
		if got := Agree(a, b, c.tolerance); got != c.want {
			t.Errorf("%s and %s within %d thousandths: %v", c.a, c.b, c.tolerance, got)
		}
		if Agree(a, b, c.tolerance) != Agree(b, a, c.tolerance) {
			t.Errorf("%s and %s agree one way", c.a, c.b)
		}
	}
	if !Comparable(Values("1 kJ/mol")[0], Values("9 J/mol")[0]) || Comparable(Values("1 s")[0], Values("1 min")[0]) || Comparable(Values("1")[0], Values("1 s")[0]) {
		t.Error("what can be compared")
	}
}
