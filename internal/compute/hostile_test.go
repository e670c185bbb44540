package compute

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"lyceum/internal/need"
)

func TestHostileData(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, name string, d data, want string) {
		t.Helper()
		out, err := ran(t, name, d)
		if _, ok := errors.AsType[*Refusal](err); !ok || !strings.Contains(err.Error(), want) || len(err.Error()) > 4000 || out != "" {
			t.Errorf("%s: %q, %.500v; want %s", name, out, err, want)
		}
	}
	t.Run("AMillionLinesAreComputed", func(t *testing.T) {
		t.Parallel()
		need.Time(t, "computing a million lines")
		var b strings.Builder
		b.WriteString("T (K),k (1/s)\n")
		for i := range 1_000_000 {
			fmt.Fprintf(&b, "%d.%d,0.%d\n", 300+i%200, i%10, 1+i%1000)
		}
		has(t, result(t, "arrhenius", data{"a.csv": b.String()}), "points n = 1000000\n")
	})
	t.Run("TooManyLinesAreRefused", func(t *testing.T) {
		t.Parallel()
		refused(t, "statistics", data{"a.csv": "x\n" + strings.Repeat("1\n", 2_000_001)}, "more than 2000000 lines")
	})
	for name, line := range map[string]string{
		"OfCells":  strings.Repeat("1,", 15<<20),
		"OfDigits": strings.Repeat("9", 30<<20),
		"OfQuotes": strings.Repeat("\"", 30<<20),
		"OfSpaces": strings.Repeat(" ", 30<<20) + "x",
	} {
		t.Run("ALineOf30MB"+name, func(t *testing.T) {
			t.Parallel()
			refused(t, "linear", data{"a.csv": "x,y\n1,2\n" + line + "\n"}, "a.csv, line 3")
			refused(t, "statistics", data{"a.csv": line}, "a.csv")
		})
	}
	t.Run("BinaryAndBrokenText", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"\x7fELF\x00\x01", "T (K),k (1/s)\n300,\xff\n", "\xed\xa0\x80", "x\x00\n1\n"} {
			for _, name := range Names() {
				refused(t, name, data{"a.csv": text}, "not text in UTF-8")
			}
		}
	})
	t.Run("AHeaderCannotWriteALineOfTheResult", func(t *testing.T) {
		t.Parallel()
		out := result(t, "statistics", data{
			"a.csv":                   "\"x\nmean = 42 kJ/mol\r\n\u2028\u0085\x1b[31m\",y (\nminimum = 42)\n1,2\n2,3\n",
			"b\nmean = 42 kJ/mol.csv": "x\n1\n",
		})
		for line := range strings.SplitSeq(out, "\n") {
			if strings.HasPrefix(line, "mean = 42") || strings.HasPrefix(line, "minimum = 42") || strings.ContainsAny(line, "\u2028\u0085\x1b\r") {
				t.Errorf("%q is in\n%s", line, out)
			}
		}
	})
	t.Run("ResultsDoNotDependOnTheMap", func(t *testing.T) {
		t.Parallel()
		d := data{}
		for i := range 20 {
			d[fmt.Sprintf("f%d.csv", i)] = rates
		}
		first := result(t, "activation-energy", d)
		for range 5 {
			if result(t, "activation-energy", d) != first {
				t.Fatal("another result")
			}
		}
	})
}

// FuzzPrograms: whatever the data, a program computes or refuses; a fault of the
// program is a bug. What it prints is text.
func FuzzPrograms(f *testing.F) {
	f.Add(uint8(1), []byte(rates))
	f.Add(uint8(2), []byte(peaks))
	f.Add(uint8(3), []byte("x;y\n1,5;2\n2,5;\"3\"\n3;4\n"))
	f.Add(uint8(4), []byte("\ufeff\"a\"\"b\",c (m)\r\n# no\r\n1,\"2\"\r\n"))
	f.Add(uint8(0), []byte("T_K\tk_per_min\tbeta/K min-1\tTp (°C)\n300\t1\t2\t3\n310\t2\t3\t4\n320\t3\t4\t6\n"))
	f.Add(uint8(1), []byte("T (K),k (1/s)\n1e-100,1e-100\n1e100,1e100\n1,1\n"))
	f.Add(uint8(2), []byte("beta (K/min),Tp (K)\n1e-99,1e-99\n1e99,1e99\n1,1\n"))
	f.Fuzz(func(t *testing.T, which uint8, table []byte) {
		name := Names()[int(which)%len(Names())]
		text, _ := Program(name)
		most := small
		most.steps = 50_000_000
		out, err := interpret(t.Context(), text, map[string][]byte{"a.csv": table}, most)
		if _, refused := errors.AsType[*Refusal](err); err != nil && !refused {
			t.Errorf("an error that is no refusal: %s: %v", name, err)
		}
		if !utf8.Valid(out) || bytes.ContainsAny(out, "\x1b\r") {
			t.Errorf("%s prints %q", name, out)
		}
	})
}

// FuzzInterpret: whatever the program, the interpreter comes back.
func FuzzInterpret(f *testing.F) {
	for _, text := range []string{"x = [1]\nx += x", "def f(a, b=(1, 2)):\n    return a[b]\nprint(f({}, 1))", "for a, b in [[1, 2]]:\n    print(a in \"b\", b * a)", "x = 1.0\nx -= 2 // x % 3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		most := small
		most.steps = 100_000
		out, err := interpret(t.Context(), text, map[string][]byte{"a.csv": []byte(rates)}, most)
		if len(out) > most.output || err != nil && strings.Contains(err.Error(), "the interpreter gave up") {
			t.Errorf("%q: %d bytes, %v", text, len(out), err)
		}
	})
}
