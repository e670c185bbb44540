package evidence

import (
	"strings"
	"testing"
)

// output is what a program has printed.
const output = "activation energy Ea = 35.0942 kJ/mol\npre-exponential factor A = 1024.12 1/s\nR² = 0.986754\npoints n = 5\n"

type claimed struct{ claim, source, want string }

func check(t *testing.T, cases []claimed) {
	t.Helper()
	for _, c := range cases {
		if got := strings.Join(Missing(c.claim, []string{"nothing here", c.source}), " "); got != c.want {
			t.Errorf("%q of %q: missing %q, want %q", c.claim, c.source, got, c.want)
		}
	}
}

func TestNumbersInScriptsWithoutSpaces(t *testing.T) {
	t.Parallel()
	check(t, []claimed{
		{"活化能为99.5kJ/mol", output, "99.5"},
		{"活化能为35.09kJ/mol。", output, ""},
		{"活化能为125.34千焦/摩尔", output, "125.34"},
		{"温度为99度和100度", "", "99 100"},
		{"温度为-5°C", "5 °C", "-5"},
		{"活性化エネルギーは99.5kJ/molです", output, "99.5"},
		{"활성화에너지는99.5kJ/mol이다", output, "99.5"},
		{"الطاقة تبلغ ب٩٩٫٥ kJ/mol", output, "٩٩٫٥"},
		{"活化能为９９．５ｋＪ/ｍｏｌ", output, "９９．５"},
		{"活化能为99.5kJ/mol的", "活化能是99.5千焦", ""},
		{"见Fig. 3和［1］", "", ""},
		{"H2O和CO2", "", ""},
	})
	a, b := Values("活化能为125.34kJ/mol的值"), Values("35.0942 kJ/mol")
	if len(a) != 1 || a[0].Unit != "kJ/mol" || !Comparable(a[0], b[0]) || Agree(a[0], b[0], 50) {
		t.Errorf("%v against %v", a, b)
	}
	if v := Values("活化能为１２５ｋＪ/ｍｏｌ"); len(v) != 1 || v[0].Unit != "kJ/mol" {
		t.Errorf("wide letters: %v", v)
	}
}

func TestAUnitMakesAQuantity(t *testing.T) {
	t.Parallel()
	check(t, []claimed{
		{"Ea is no. 99 kJ/mol.", output, "99"},
		{"Ea is [99] kJ", output, "99"},
		{"Ea is [99]  kJ/mol, [98] K.", output, "99 98"},
		{"Ea is #99 kJ", output, "99"},
		{"99. kJ", output, "99"},
		{"99) kJ is Ea", output, "99"},
		{"(99) kJ/mol", output, "99"},
		{"Ea is 99.kj/mol", output, "99"},
		{"Ea is 99_kJ", output, "99"},
		{"Ea is 99th kJ", output, "99"},
		{"It is E99 kJ", output, "E99"},
		{"It is E₉₉ kJ or E⁹⁹ kJ/mol or E99kJ/mol", output, "E₉₉ E⁹⁹ E99"},
		{"It is ca.99.5kJ/mol or ca.99 K.", output, "ca.99.5 ca.99"},
		{"It is ca.35.09 kJ/mol", output, ""},
		{"It is [35] kJ/mol, no. 35.09 kJ/mol", output, ""},
		{"It is no. 35.09 J/mol, [35] J/mol", output, "35.09 35"},
		{"There are CO₂ mg/L", "CO2 was found", ""},
		{"There are CO2 mg/L", "nothing", "CO2"},
		// What stays as it was.
		{"1. A catalyst\n2. T cells\n3. GC analysis\n4) K-means\n5. Bar charts", "", ""},
		{"see [1] A method, Fig. 3 A shows it, the 3rd day, run2.m, run2.s and data2.min.js", "", ""},
		{"8.314 J mol-1 K-1 and 8 W m-2 K-1 and 5 m3 s-1", "8.314 8 5", ""},
		{"1/s K, m² K, (m s)⁻¹ kJ, m^2 K, 7m² kJ, [1] bar-shaped", "7", ""},
	})
}

func TestOtherNumerals(t *testing.T) {
	t.Parallel()
	check(t, []claimed{
		{"Ea is ⁹⁹ kJ/mol", output, "⁹⁹"},
		{"Ea is ₉₉ kJ/mol", output, "₉₉"},
		{"Ea为⁹⁹kJ/mol", output, "⁹⁹"},
		{"n = ⁵ and ₅", output, ""},
		{"n = ⁻⁵", output, "⁻⁵"},
		{"m², 10³, R² and a footnote.¹²", "10^3", ""},
		{"It is ①② kJ and ½ K and Ⅻ", output, "①② ½ Ⅻ"},
		{"It is ①② kJ and ½ K and Ⅻ", "Ⅻ ½ ①②", ""},
		{"① One\n② Two", "", ""},
		{"① kJ", "", "①"},
		{"at 0x63 or 0b11", output, "0x63 0b11"},
		{"at 0x63 kJ", "99 kJ", ""},
		{"3509%", output, "3509%"},
		{"3509 %", "35.0942", "3509 %"},
		{"35.09", "3509 %", "35.09"},
		{"98.7 % and 100 %", "0.986754 and 0.996", ""},
	})
}

func TestSpelledOutNumbers(t *testing.T) {
	t.Parallel()
	check(t, []claimed{
		{"Ea is ninety-nine kJ/mol.", output, "ninety-nine"},
		{"Ea is Ninety nine kJ/mol.", "ninety-nine kJ mol^-1", ""},
		{"Ea is ninety-nine kJ/mol.", "ninety-nine K", "ninety-nine"},
		{"Ea is ninety-nine kJ/mol.", "ninety kJ/mol", "ninety-nine"},
		{"One hundred and five percent", "five percent", "One hundred and five"},
		{"two thousand three million K.", "", "two thousand three million"},
		{"thirty-five point one kilojoules per mole", "thirty-five point two kJ/mol", "thirty-five point one"},
		{"twelve kj", "", "twelve"},
		{"九十九 kJ/mol", output, "九十九"},
		{"3.5万 kJ", "3.5 kJ", "万"},
		{"九十九kJ/mol", "是九十九 kJ/mol", ""},
		{"九十九千焦/摩尔", output, "九十九千"},
		{"百分之九十九", "", "九十九"},
		{"八百分之九十九", "百分之九十九", ""},
		// Not before a unit.
		{"one day two methods, one A catalyst; none kJ, one-5 and 一般", "", ""},
	})
}

func TestUnitsMustFit(t *testing.T) {
	t.Parallel()
	check(t, []claimed{
		{"35.09 J/mol", output, "35.09"},
		{"35094 J/mol", output, ""},
		{"35095 J/mol", output, "35095"},
		{"0.0351 MJ/mol, 35.09 kilojoules per mole", output, ""},
		{"35.09  J/mol", output, "35.09"},
		{"35.09 K", output, "35.09"},
		{"35.09 and 35.09 things", output, ""},
		{"300 K", "T (K)\n300", ""},
		{"300 K", "300 °C", "300"},
		{"35 %", "35 kJ", "35 %"},
		{"35 kJ", "35 %", "35"},
		{"98 %", "98 mol%", ""},
		{"0.5 M, 20 C, 5 K/min, 3 Hz and 2 mL", "0.5 mol/L, 20 °C, 5 °C/min, 3 1/s and 2 cm^3", ""},
		{"1e999999 J", "1e999999 kJ", "1e999999"},
		{"300,350 K", "300 K and 350 K", ""},
		{"300,350 K", "300 J and 350 J", "300,350"},
	})
}
