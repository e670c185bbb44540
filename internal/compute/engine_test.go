package compute

// No race detector: what it tries is an interpreter, with limits on time and memory.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// forks runs one program in several folders, a process each, without starting
// Python again for each: that would take most of the time.
const forks = `
import os, runpy, sys
program = sys.argv[1]
for folder in sys.argv[2:]:
    if os.fork() == 0:
        for fd, name in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(folder + name, os.O_CREAT | os.O_WRONLY), fd)
        sys.argv = [program, folder]
        code = 0
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as e:
            code = e.code
        except BaseException as e:
            sys.stderr.write(repr(e))
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        with open(folder + ".rc", "w") as f:
            f.write(str(code))
            f.flush()
            os._exit(0)
    os.wait()
`

type said struct {
	out string
	err error
}

// python runs a program with python3 on several sets of data.
func python(t testing.TB, text string, sets map[string]data) map[string]said {
	t.Helper()
	bin := need.Program(t, "python3")
	base := t.TempDir()
	program := filepath.Join(base, "program.py")
	put(t, program, Python(text))
	args := []string{"-I", "-S", "-B", "-c", forks, program}
	for key, d := range sets {
		folder := filepath.Join(base, key)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range d {
			put(t, filepath.Join(folder, filepath.FromSlash(name)), content)
		}
		args = append(args, folder)
	}
	if out, err := exec.CommandContext(t.Context(), bin, args...).CombinedOutput(); err != nil {
		t.Fatalf("python3: %v\n%s", err, out)
	}
	results := map[string]said{}
	for key := range sets {
		folder := filepath.Join(base, key)
		r := said{out: got(t, folder+".out")}
		switch code := got(t, folder+".rc"); code {
		case "0":
		case "3":
			r.err = &Refusal{Reason: strings.TrimSuffix(got(t, folder+".err"), "\n")}
		default:
			t.Fatalf("%s: python3 exits with %s\n%s", key, code, got(t, folder+".err"))
		}
		results[key] = r
	}
	return results
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func got(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// generated is data that nobody chose, most of it sound.
func generated(seed uint64) data {
	r := rand.New(rand.NewPCG(seed, 1))
	d := data{}
	for f := range 1 + r.IntN(2) {
		var b strings.Builder
		b.WriteString([]string{"T (K),k (1/s)\n", "T [°C],k (1/min)\n", "beta (K/min),Tp (K)\n", "x,y (mol/L)\n"}[r.IntN(4)])
		for range 1 + r.IntN(40) {
			// Powers of ten far apart show what the last bits do.
			a, c := 1+r.Float64()*1000, r.ExpFloat64()*pow10(r.IntN(24)-12)
			if r.IntN(2) == 0 {
				a, c = c+1, a
			}
			fmt.Fprintf(&b, []string{"%g,%g\n", "%.3f,%.9e\n", "%.0f,%v\n"}[r.IntN(3)], a, c)
		}
		d[fmt.Sprintf("f%d.csv", f)] = b.String()
	}
	return d
}

func pow10(n int) float64 {
	x := 1.0
	for range max(n, -n) {
		x *= 10
	}
	if n < 0 {
		return 1 / x
	}
	return x
}

func TestBothEnginesSayTheSame(t *testing.T) {
	t.Parallel()
	sets := map[string]data{
		"rates":     {"rates.csv": rates},
		"peaks":     {"sub/peaks.csv": peaks, "rates.csv": rates, ".hidden.csv": rates, ".git/x.csv": rates},
		"none":      {},
		"names":     {"ü \u202e.csv": rates, "a=b (1).CSV": rates, strings.Repeat("é", 70) + ".csv": rates},
		"headers":   {"a.csv": "x\u2028Ea = 1 kJ/mol,\"y\nz\"\n1,2\n3,4\n5,7\n", "b.csv": strings.Repeat("ö", 100) + ",y (µm)\n1,2\n2,4\n3,1\n"},
		"bytes":     {"a.csv": "\xff\xfe", "b.csv": "T (K),k (1/s)\n300,\x001\n", "c.csv": rates},
		"letters":   {"a.csv": "İ (K),ſ,ß (1/s),K (1/s),T (K)\n1,2,3,4,5\n2,3,4,5,6\n4,4,4,4,4\n"},
		"spaces":    {"a.csv": "x,y\n\u00a01,2\n\x1c3,4\n\u30005,6\n", "b.csv": "x,y\n1\u2028,2\n"},
		"digits":    {"a.csv": "x,y\n١,2\n1,2\n"},
		"commas":    {"a.csv": "x;y\n1,5;2\n2,5;3\n3;4,25\n"},
		"extremes":  {"a.csv": "x,y\n1e-100,1e100\n-1e-100,5e-324\n0,0\n", "b.csv": "x,y\n1e100,-1e100\n1e99,3\n2,2\n-0,+0\n"},
		"tiny":      {"a.csv": "T (K),k (1/s)\n1,1e-99\n1.001,1e99\n1.002,1e-99\n1.3,1\n"},
		"one":       {"a.csv": "x (g)\n3\n"},
		"equal":     {"a.csv": "T (K),k (1/s)\n300,0.1\n310,0.1\n320,0.1\n"},
		"long":      {"a.csv": "x,y\n1," + strings.Repeat("9", 61) + "\n"},
		"cellNaN":   {"a.csv": "x,y\n1,2\n2,NaN\n"},
		"cellComma": {"a.csv": "x,y\n1,2\n2,\"1,300\"\n"},
		"cellSpace": {"a.csv": "x,y\n1,2\n2,1\u202f300\n"},
		"cellUnit":  {"a.csv": "x,y\n1,2\n2,77 °C\n"},
		"cellOdd":   {"a.csv": "x,y\n1,2\n2,5٣é\n"},
		"cellRange": {"a.csv": "x,y\n1,2\n2,1e-300\n"},
		"cellPower": {"a.csv": "x,y\n1,2\n2,1e99999\n"},
		"quotes":    {"a.csv": "\"a\"\"b\",y\n1,\"2\"\n\"3\",4\n5,\"\"\n"},
		"manyFiles": {},
	}
	for i := range 25 {
		sets["manyFiles"][fmt.Sprintf("f%02d.txt", i)] = "some prose, of no use\n"
	}
	for seed := range uint64(40) {
		sets[fmt.Sprint("seed", seed)] = generated(seed)
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _ := Program(name)
			wants := python(t, text, sets)
			results := 0
			for _, key := range slices.Sorted(maps.Keys(sets)) {
				want := wants[key]
				out, err := ran(t, name, sets[key])
				if out != want.out || fmt.Sprint(err) != fmt.Sprint(want.err) {
					t.Errorf("%s: the interpreter says\n%s%v\npython3 says\n%s%v", key, out, err, want.out, want.err)
				}
				if err == nil {
					results++
				}
			}
			if results < 5 {
				t.Errorf("only %d data sets gave a result; the comparison shows nothing", results)
			}
		})
	}
}

// TestShownIsTheSameInBoth compares the one function that both engines have of
// their own making.
func TestShownIsTheSameInBoth(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for c := rune(1); c < 0x2100; c++ {
		if c%50 == 0 {
			b.WriteString("\\n")
		}
		b.WriteString("\\u" + fmt.Sprintf("%04x", c))
	}
	text := "for line in \"" + b.String() + "\\ufeff\\ufffa\\U000e0001\\U0001f600\".split(\"\\n\"):\n    print(shown(line))\nprint(shown(\"\\u00e9\\U0001f600\".replace(\"\\u00e9\", \"" + strings.Repeat("\\u00e9", 70) + "\")))\n"
	want := python(t, text, map[string]data{"none": {}})["none"].out
	out, err := Interpret(t.Context(), text, nil)
	if err != nil || string(out) != want {
		t.Errorf("the interpreter shows something else than Python: %v\ngot  %q\nwant %q", err, out, want)
	}
	if strings.ContainsAny(want, "\u202e\u2028\r\x1b") || !strings.Contains(want, "é...") {
		t.Errorf("what it lets through: %q", want)
	}
}

// TestFigureIsRoundedExactly compares the writing of numbers with Go's, which is
// exact too.
func TestFigureIsRoundedExactly(t *testing.T) {
	t.Parallel()
	program, _ := Program("linear")
	program = program[:strings.LastIndex(program, "def linear_of")]
	r := rand.New(rand.NewPCG(7, 7))
	var want strings.Builder
	for i := range 400 {
		x := (r.Float64() - 0.5) * pow10(r.IntN(60)-30)
		if i%4 == 0 { // ties and borders
			x = []float64{0.5, 1, 999999.5, 9999995, 1234565, 0.0001, 0.00009999995, 100000, 2.5, 1.000005, 123456.5, 1e22, 8.5}[r.IntN(13)]
		}
		program += fmt.Sprintf("print(figure(%s))\n", literal(x))
		want.WriteString(sixDigits(x) + "\n")
	}
	got, err := Interpret(t.Context(), program, nil)
	if err != nil || string(got) != want.String() {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want.String())
	}
}

func literal(x float64) string {
	if x < 0 {
		return fmt.Sprintf("0.0 - %.17e", -x)
	}
	return fmt.Sprintf("%.17e", x)
}

func sixDigits(x float64) string {
	s := fmt.Sprintf("%#.6g", x)
	return strings.TrimSuffix(s, ".")
}

func TestLogarithmsAreGood(t *testing.T) {
	t.Parallel()
	program, _ := Program("linear")
	program = program[:strings.LastIndex(program, "def linear_of")]
	program += `
worst = 0.0
x = 1e-120
while x < 1e120:
    worst = max(worst, abs(ln(x) - math.log(x)) / max(abs(math.log(x)), 1e-3))
    worst = max(worst, abs(exponential(ln(x)) / x - 1.0) / 1000.0)
    x = x * 1.37
print(worst < 0.000000000000001)
`
	got, err := Interpret(t.Context(), program, nil)
	if err != nil || string(got) != "True\n" {
		t.Errorf("ln and exponential: got %s %v, want them close to math.log", got, err)
	}
}
