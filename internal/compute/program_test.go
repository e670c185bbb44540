package compute

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

type data map[string]string

func (d data) files() map[string][]byte {
	files := map[string][]byte{}
	for name, text := range d {
		files[name] = []byte(text)
	}
	return files
}

// ran runs a program in the interpreter.
func ran(t testing.TB, name string, d data) (string, error) {
	t.Helper()
	text, ok := Program(name)
	if !ok {
		t.Fatalf("there is no program %s", name)
	}
	out, err := Interpret(t.Context(), text, d.files())
	return string(out), err
}

// result runs a program that must end well.
func result(t testing.TB, name string, d data) string {
	t.Helper()
	out, err := ran(t, name, d)
	if err != nil {
		t.Fatalf("a program that must end well, %s: %v", name, err)
	}
	return out
}

const rates = "T (K),k (1/s)\n300,0.001\n350,0.005\n400,0.02\n450,0.08\n500,0.3\n"

// peaks are as a calorimeter would find them for about 105 kJ/mol.
const peaks = "beta (K/min),Tp (K)\n2,540.0\n5,559.9\n10,576.2\n20,593.5\n"

func TestProgram(t *testing.T) {
	t.Parallel()
	t.Run("IsUnchangedInsideOfThePythonText", func(t *testing.T) {
		t.Parallel()
		for _, name := range Names() {
			text, ok := Program(name)
			if !ok || len(text) < 100 {
				t.Fatalf("%s: %d bytes", name, len(text))
			}
			if !strings.HasSuffix(Python(text), text) || Python(text) == text {
				t.Errorf("%s is not at the end of its Python text, behind the prelude", name)
			}
			if again, _ := Program(name); again != text {
				t.Errorf("%s is another text the second time", name)
			}
			for i := range len(text) {
				if text[i] >= utf8.RuneSelf || text[i] == '\r' || text[i] == 0 {
					t.Fatalf("%s: byte %d is %#x, not plain ASCII", name, i, text[i])
				}
			}
		}
	})
	t.Run("IsThereForNamesOnly", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"", "fit", "table", "../prelude", "prelude.py", "Arrhenius"} {
			if _, ok := Program(name); ok {
				t.Errorf("%q is a program", name)
			}
		}
		if got := strings.Join(Names(), " "); got != "activation-energy arrhenius kissinger linear statistics" {
			t.Errorf("names are %s", got)
		}
	})
}

// TestEarlierProgramsAreKnown: the sum is that of a text that a crate of an earlier build has,
// see TestQuestsMadeBefore.
func TestEarlierProgramsAreKnown(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		text, _ := Program(name)
		if !Known(name, sha256.Sum256([]byte(text))) {
			t.Errorf("%s is not known by its own text", name)
		}
		if Known(name, sha256.Sum256([]byte(text+"\n"))) {
			t.Errorf("%s is known by a text that it never had", name)
		}
		for _, sum := range earlier[name] {
			var was [sha256.Size]byte
			if n, err := hex.Decode(was[:], []byte(sum)); err != nil || n != len(was) || !Known(name, was) || Known(name+"x", was) {
				t.Errorf("the earlier %s, %s, is not known by its name alone", name, sum)
			}
		}
	}
	for name := range earlier {
		if !slices.Contains(Names(), name) {
			t.Errorf("an earlier %s is known, and there is no such program", name)
		}
	}
}

func TestFiguresOfTheFixture(t *testing.T) {
	t.Parallel()
	var fixture struct {
		Arrhenius struct {
			T, K     []float64
			Ea       float64 `json:"Ea_kJ_mol"`
			A, R, R2 float64
		}
		Stats struct {
			Data        []float64
			Mean, Stdev float64
		} `json:"generic_stats"`
	}
	raw, err := os.ReadFile("testdata/rar_numbers.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &fixture); err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	table.WriteString("T (K);k (1/s)\n")
	for i, temperature := range fixture.Arrhenius.T {
		fmt.Fprintf(&table, "%v;%v\n", temperature, fixture.Arrhenius.K[i])
	}
	a := fixture.Arrhenius
	// The fixture is of R = 8.314; the programs have R as it is. Nothing else differs.
	energy := a.Ea / a.R * 8.31446261815324
	has(t, result(t, "arrhenius", data{"rates.csv": table.String()}),
		"method: Arrhenius, ln k = ln A - Ea/(R T)", "R = 8.31446261815324 J/(mol K)", "file: rates.csv\n",
		fmt.Sprintf("activation energy Ea = %.1f kJ/mol\n", a.Ea), fmt.Sprintf("activation energy Ea = %.1f kJ/mol\n", energy),
		fmt.Sprintf("pre-exponential factor A = %.1e 1/s\n", a.A), fmt.Sprintf("R² = %.3f\n", a.R2), "points n = 5\n",
		fmt.Sprintf("\nunrounded: Ea = %.4f kJ/mol, ", energy), fmt.Sprintf(", A = %.2f 1/s, R² = %.6f\n", a.A, a.R2))
	column := "x\n"
	for _, x := range fixture.Stats.Data {
		column += fmt.Sprintln(x)
	}
	has(t, result(t, "statistics", data{"x.csv": column}),
		fmt.Sprintf("mean = %.2f\n", fixture.Stats.Mean), "standard error of the mean = 0.76\n", fmt.Sprintf("standard deviation = %.1f\n", fixture.Stats.Stdev),
		"values n = 6\n", "minimum = 1.2\n", "maximum = 6.1\n", "median = 3.8\n",
		fmt.Sprintf("unrounded: mean = %.5f, standard deviation = %.5f\n", fixture.Stats.Mean, fixture.Stats.Stdev))
}

func has(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
}

func TestKissinger(t *testing.T) {
	t.Parallel()
	out := result(t, "kissinger", data{"dsc.csv": peaks})
	// By decimal arithmetic of forty digits.
	has(t, out, "activation energy Ea = 105.26 kJ/mol\n", "R² = 0.999967\n", "points n = 4\n", "pre-exponential factor A = 2.2e+07 1/s", "Ea = 105.256 kJ/mol", "A = 2.20689e+07 1/s")
	both := result(t, "activation-energy", data{"a.csv": rates, "b.csv": peaks, "c.csv": "T (K),k (1/s),beta (K/min),Tp (K)\n300,1,2,540\n310,2,5,560\n320,4,10,576\n"})
	if strings.Count(both, "method: Arrhenius") != 2 || strings.Count(both, "method: Kissinger") != 2 || strings.Count(both, "file: ") != 3 {
		t.Errorf("each file by what it holds:\n%s", both)
	}
}

func TestLinear(t *testing.T) {
	t.Parallel()
	out := result(t, "linear", data{"a.csv": "label,x,y,z\na,1,3,9\nb,2,5,9\nc,3,7,9\n"})
	has(t, out, `x: "x"`, `y: "y"`, "slope = 2\n", "intercept = 1\n", "R² = 1\n", "points n = 3\n")
	has(t, result(t, "linear", data{"a.csv": "x,y\n1,5\n2,5\n3,5\n"}), "slope = 0\n", "intercept = 5\n", "R² = undefined, since all values are equal")
}

// TestTheSameRatesInOtherWords: whatever a table looks like, the result is that
// of rates.
func TestTheSameRatesInOtherWords(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Semicolons":          strings.ReplaceAll(rates, ",", ";"),
		"Tabs":                strings.ReplaceAll(rates, ",", "\t"),
		"DecimalCommas":       "T (K);k (1/s)\n300;0,001\n350;0,005\n400;0,02\n450;0,08\n500;0,3\n",
		"WindowsLines":        strings.ReplaceAll(rates, "\n", "\r\n"),
		"OldMacLines":         strings.ReplaceAll(rates, "\n", "\r"),
		"AByteOrderMark":      "\ufeff" + rates,
		"CommentsAndBlanks":   "# made by hand\n\n" + strings.ReplaceAll(rates, "400", "# not this\n\n400"),
		"Spaces":              strings.ReplaceAll(rates, ",", " ,  "),
		"Quotes":              "\"T (K)\",\"k (1/s)\"\n\"300\",0.001\n350,\"0.005\"\n400,0.02\n450,0.08\n500,0.3\n",
		"AnotherColumn":       "sample,T (K),k (1/s)\n\"a, b\",300,0.001\n\"c\nd\",350,0.005\n\"\"\"e\"\"\",400,0.02\nf,450,0.08\n,500,0.3\n",
		"Celsius":             "T [°C],k (1/s)\n26.85,0.001\n76.85,0.005\n126.85,0.02\n176.85,0.08\n226.85,0.3\n",
		"Fahrenheit":          "T (°F),k (1/s)\n80.33,0.001\n170.33,0.005\n260.33,0.02\n350.33,0.08\n440.33,0.3\n",
		"PerMinute":           "temperature_K,k_per_min\n300,0.06\n350,0.3\n400,1.2\n450,4.8\n500,18\n",
		"PerHour":             "Temperature / K,rate constant (h^-1)\n300,3.6\n350,18\n400,72\n450,288\n500,1080\n",
		"Exponents":           "TEMP (Kelvin),K_obs [s⁻¹]\n3e2,1E-3\n+350,.5e-2\n4.00e+02,2e-2\n450.,8e-02\n500,0.3\n",
		"SlashedUnits":        "T/K,k/s^-1\n300,0.001\n350,0.005\n400,0.02\n450,0.08\n500,0.3\n",
		"TimeIsNoTemperature": "t (s),T (K),k (1/s)\n1,300,0.001\n2,350,0.005\n3,400,0.02\n4,450,0.08\n5,500,0.3\n",
		"NoLastLineEnd":       strings.TrimSuffix(rates, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := result(t, "arrhenius", data{"r.csv": text})
			has(t, out, "Ea = 35.1 kJ/mol\n", "unrounded: Ea = 35.0961 kJ/mol, ", "A = 1024.12 1/s, R² = 0.986754\n", "points n = 5\n")
		})
	}
}

func TestProseIsNoTable(t *testing.T) {
	t.Parallel()
	out := result(t, "statistics", data{"README.txt": "How it was done\nHe said \"42\", and \"43\"\n", "x.csv": "x\n1\n2\n"})
	has(t, out, "file: x.csv", "left out: README.txt: it has no row of numbers under a header")
}

func TestQuotesInNames(t *testing.T) {
	t.Parallel()
	has(t, result(t, "statistics", data{"a.csv": "\"a \"\"b\"\", c\",\"\"\n\"1\",2\n2,\" 3\"\n"}), `column: "a "b", c"`, `column: ""`, "mean = 1.50\n", "mean = 2.50\n")
}

func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	out := result(t, "arrhenius", data{"b/rates.csv": rates, "a.tsv": strings.ReplaceAll(rates, ",", "\t"), "README.txt": "Rates, as measured.\nBy hand.\n", "photo.dat": "\xff\xd8", "notes.md": "T (K),k (1/s)\n"})
	if a, b := strings.Index(out, "file: a.tsv\n"), strings.Index(out, "file: b/rates.csv\n"); a < 0 || b < a {
		t.Errorf("each that fits is computed, in order:\n%s", out)
	}
	has(t, out, `left out: README.txt: it has no column T and no column k; its columns are "Rates", "as measured."`, "left out: photo.dat: it is not text in UTF-8")
	if strings.Contains(out, "notes.md") {
		t.Errorf("notes.md is no table:\n%s", out)
	}
}

// TestRefusals: there is a reason, with file, line and column, and no figure.
func TestRefusals(t *testing.T) {
	t.Parallel()
	row := func(lines string) data { return data{"r.csv": "T (K),k (1/s)\n300,1\n310,2\n320,3\n" + lines} }
	for name, c := range map[string]struct {
		program string
		data    data
		want    []string
	}{
		"NoData":           {"arrhenius", data{}, []string{"there is no data"}},
		"NoTable":          {"statistics", data{"a.md": "x\n1\n"}, []string{"there is no data"}},
		"MissingColumn":    {"arrhenius", data{"r.csv": "T (K),rho\n1,2\n"}, []string{"r.csv", "no column k", `"T (K)", "rho"`}},
		"NoPeaks":          {"kissinger", data{"r.csv": rates}, []string{"r.csv", "no column beta and no column Tp"}},
		"NothingOfEnergy":  {"activation-energy", data{"r.csv": "a,b\n1,2\n"}, []string{"neither T and k nor beta and Tp", `"a", "b"`}},
		"ANaN":             {"arrhenius", row("330,nan\n"), []string{"r.csv, line 5", `"k (1/s)"`, `"nan"`}},
		"AnInfinity":       {"arrhenius", row("inf,1\n"), []string{"r.csv, line 5", `"T (K)"`, `"inf"`}},
		"AnEmptyCell":      {"arrhenius", row("330,\n"), []string{"r.csv, line 5", `"k (1/s)"`, "empty"}},
		"AWord":            {"arrhenius", row("330,fast\n"), []string{"r.csv, line 5", `"fast"`}},
		"AnOddNumber":      {"arrhenius", row("330,1_000\n"), []string{"line 5", `"1_000"`}},
		"AHugeNumber":      {"arrhenius", row("330,1e101\n"), []string{"line 5", `"1e101" is out of range`}},
		"NotANumber":       {"arrhenius", row("330,NaN\n"), []string{`line 5, column "k (1/s)": "NaN" is not a number`}},
		"ADate":            {"arrhenius", row("330,2024-01-05\n"), []string{`"2024-01-05" is not a number`}},
		"ATime":            {"arrhenius", row("330,12:30\n"), []string{`"12:30" is not a number`}},
		"Thousands":        {"arrhenius", row("\"1,300\",1\n"), []string{`"1,300" has a thousands separator or a decimal comma; write 1300 or 1.3`}},
		"ThousandsInDots":  {"linear", data{"r.csv": "x;y\n1;2\n1.300,5;3\n3;4\n"}, []string{`"1.300,5" has a thousands separator`}},
		"ASpaceInside":     {"arrhenius", row("1\u202f300,1\n"), []string{"has a thousands separator"}},
		"AUnitInTheCell":   {"arrhenius", row("77 °C,1\n"), []string{`"77 °C" has a unit or other text in the cell; leave only the number and put the unit into the header`}},
		"AUnitBehind":      {"arrhenius", row("330K,1\n"), []string{`"330K" has a unit`}},
		"ATinyNumber":      {"arrhenius", row("330,1e-300\n"), []string{`"1e-300" is out of range; apart from 0, numbers must be between 1e-100 and 1e100 in size`}},
		"AHugePower":       {"arrhenius", row("330,-1e99999999\n"), []string{"is out of range"}},
		"ManyDigits":       {"arrhenius", row("330," + strings.Repeat("9", 61) + "\n"), []string{"has more than 60 characters"}},
		"ALongText":        {"arrhenius", row("330,5 " + strings.Repeat("x", 90) + "\n"), []string{"is not a number"}},
		"ForeignDigits":    {"arrhenius", row("330,١٢\n"), []string{"line 5", "not a number"}},
		"AMissingCell":     {"arrhenius", row("330\n"), []string{"r.csv, line 5", "not as many cells as the header, which has 2"}},
		"ACellTooMany":     {"arrhenius", row("330,1,2\n"), []string{"r.csv, line 5", "not as many cells"}},
		"NoUnit":           {"arrhenius", data{"r.csv": "T,k (1/s)\n300,1\n310,2\n320,3\n"}, []string{"r.csv", `"T"`, "unit is missing"}},
		"AnUnknownUnit":    {"arrhenius", data{"r.csv": "T (K),k (L/(mol s))\n300,1\n310,2\n320,3\n"}, []string{`"k (L/(mol s))"`, "not known", "1/s, 1/min, 1/h"}},
		"TwoTemperatures":  {"arrhenius", data{"r.csv": "T (K),T (°C),k (1/s)\n300,27,1\n310,37,2\n320,47,3\n"}, []string{`"T (K)" and "T (°C)" both stand for T`}},
		"BelowZero":        {"arrhenius", row("-5,1\n"), []string{"r.csv, line 5", "-5 K", "is the column in °C?"}},
		"BelowZeroCelsius": {"arrhenius", data{"r.csv": "T (°C),k (1/s)\n20,1\n30,2\n-300,3\n"}, []string{"line 4", "-300 °C is not above absolute zero"}},
		"TooFewPoints":     {"arrhenius", data{"r.csv": "T (K),k (1/s)\n300,1\n310,2\n"}, []string{"r.csv: 2 points", "at least 3"}},
		"NoRows":           {"arrhenius", data{"r.csv": "T (K),k (1/s)\n"}, []string{"r.csv: 0 points"}},
		"EqualTemperature": {"arrhenius", data{"r.csv": "T (K),k (1/s)\n300,1\n300,2\n300,3\n"}, []string{`"T (K)"`, "all temperatures are equal"}},
		"NearlyEqual":      {"arrhenius", data{"r.csv": "T (K),k (1/s)\n300,1\n300,2\n300.00000000000006,3\n"}, []string{"temperatures"}},
		"ZeroRate":         {"arrhenius", row("330,0\n"), []string{"r.csv, line 5", `"k (1/s)"`, "0 is not positive"}},
		"NegativeRate":     {"kissinger", data{"r.csv": "beta (K/min),Tp (K)\n2,500\n-3,510\n4,520\n"}, []string{"line 3", "-3 is not positive"}},
		"NoHeader":         {"arrhenius", data{"r.csv": "300,1\n310,2\n320,3\n"}, []string{"r.csv", "first line holds numbers"}},
		"AnOpenQuote":      {"arrhenius", data{"r.csv": "T (K),k (1/s)\n300,\"1\n310,2\n"}, []string{"r.csv: line 2: a quote is not closed"}},
		"AnEmptyFile":      {"statistics", data{"r.csv": "\n\n"}, []string{"r.csv: it is empty"}},
		"MixedPoints":      {"linear", data{"r.csv": "x;y\n1,5;2\n2.5;3\n3;4\n"}, []string{"r.csv, line 3", "decimal comma and with a decimal point"}},
		"MixedColumn":      {"statistics", data{"r.csv": "x,y\n1,2\n2,-\n"}, []string{"r.csv, line 3", `column "y": "-"`}},
		"OneColumn":        {"linear", data{"r.csv": "x,name\n1,a\n2,b\n3,c\n"}, []string{"1 columns of numbers"}},
		"EqualX":           {"linear", data{"r.csv": "x,y\n1,2\n1,3\n1,4\n"}, []string{`column "x": all values are equal`}},
		"TooManyColumns":   {"statistics", data{"r.csv": strings.Repeat("x,", 1000) + "x\n1\n"}, []string{"more than 1000 columns"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := ran(t, c.program, c.data)
			refusal, ok := errors.AsType[*Refusal](err)
			if !ok || out != "" {
				t.Fatalf("not refused: %v\n%s", err, out)
			}
			has(t, refusal.Reason, c.want...)
		})
	}
}

func BenchmarkArrhenius(b *testing.B) {
	for b.Loop() {
		result(b, "arrhenius", data{"rates.csv": rates})
	}
}
