package compute

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// small are limits that a test meets quickly.
var small = limits{steps: 20_000_000, memory: 16 << 20, output: 1 << 20, input: 1 << 20, text: 64 << 10}

func tried(t *testing.T, text string) (string, error) {
	t.Helper()
	out, err := interpret(t.Context(), text, map[string][]byte{"a.txt": []byte("é\n"), "b.bin": {0xff}, "d/c.txt": nil}, small)
	return string(out), err
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"print(1 + 2 * 3 - 4 // 3, 7 % 3, 1 / 4, 2 < 3)":                                                   "6 1 0.25 True",
		"x = [1]\ny = x\nx.append(2)\nx.extend(x)\nx[-1] = 9\nprint(len(y), y[3])":                         "4 9",
		"d = {\"a\": 1}\nd[\"b\"] = 2\nfor k in d:\n    print(k, d[k])":                                    "a 1\nb 2",
		"def f(a, b=2):\n    a += b\n    return a, b\nx, y = f(1)\nprint(x, y)":                            "3 2",
		"s = \"a\"\ns += \"b\"\nprint(s, \"b\" in s, s.replace(\"a\", \"c\"), \"-\".join(s.split(\"a\")))": "ab True cb -b",
		"i = 0\nwhile i < 3:\n    i = i + 1\n    if i == 2:\n        continue\n    print(i)":               "1\n3",
		"print(files()[0], len(files()), read(\"b.bin\") == None, read(\"a.txt\").strip(\"\\n\"))":         "a.txt 3 True é",
		"for p in enumerate(sorted([3, 1, 2])):\n    print(p[0], p[1])":                                    "0 1\n1 2\n2 3",
		"print(min(2, 1), max(2, 1.5), abs(-3), int(\"12\"), float(\"1.5\"), str(3) + \"x\")":              "1 2 3 12 1.5 3x",
		"print(math.sqrt(9.0), math.pi > 3, \"abc\"[1:], \"abc\".find(\"c\"))":                             "3.0 True bc 2",
		"print(\"aXa\".strip(\"a\"), \"ab\".upper(), [1, 2, 3].pop(), {}.get(1, 2))":                       "X AB 3 2",
		"print(1 if \"\" else 2, not 0, \"x\" not in \"abc\", [i * i for i in range(4) if i > 1][1])":      "2 True True 9",
	} {
		out, err := tried(t, text)
		if err != nil || out != want+"\n" {
			t.Errorf("%s\nprints %q, %v; want %q", text, out, err, want)
		}
		if got := python(t, text, map[string]data{"x": {"a.txt": "é\n", "b.bin": "\xff", "d/c.txt": ""}})["x"]; got.err != nil || got.out != want+"\n" {
			t.Errorf("%s\nin python3 prints %q, %v; want %q", text, got.out, got.err, want)
		}
	}
}

// TestFaults: each is an error that names the line, and no refusal.
func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"x = ":                                 "line 1",
		"\nprint(y)":                           "line 2: undefined: y",
		"def f(n):\n    return f(n)\nf(1)":     "line 2: function f called recursively",
		"load(\"a\", \"b\")":                   "no load",
		"if True:\n    def f():\n        pass": "line 2: def f",
		"f = lambda x: x":                      "no lambda",
		"print(*[1])":                          "no * or **",
		"def f(*a):\n    pass":                 "takes * or **",
		"x = 1 << 3":                           "no << here",
		"x = 5 | 3":                            "no | here",
		"x = ~5":                               "no ~ here",
		"x = {i: i for i in [1]}":              "comprehensions of lists only",
		"x = [].append":                        "no .append here",
		"x = \"\".format(1)":                   "no .format here",
		"x = \"%d\" % 3":                       "no string % int here",
		"x = math.gamma(1)":                    "no .gamma here",
		"math.log(0)":                          "math.log of 0 is no number",
		"x = [1]\nx += [2]":                    "use append or extend",
		"x = {}\nx[0] += 1":                    "work on names only",
		"x = getattr([], \"append\")":          "there is no getattr here",
		"x = dict([])":                         "there is no dict here",
		"x = ((1, 2), 3)":                      "a tuple within a tuple",
		"x = enumerate([(1, 2)])":              "a tuple within a tuple",
		"print([1])":                           "a list cannot be written out",
		"x = [[1]] == [[1]]":                   "cannot be compared",
		"x = \"a b\".split()":                  "split got 1 arguments",
		"x = \"ab\".split(\"\")":               "needs something to split at",
		"x = 1 / 0":                            "division by zero",
		"x = [1][2]":                           "out of range",
		"x = read(\"../secret\")":              "no data file",
		"x = read(\"nowhere.csv\")":            "no data file",
		"x = sorted([[1]])":                    "numbers or texts",
		"[a[0] for a[0] in [1]]":               "only names",
		"print(a=1)":                           "no named arguments",
	} {
		out, err := tried(t, text)
		if _, refused := errors.AsType[*Refusal](err); err == nil || refused || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line") && !strings.Contains(want, "no load") {
			t.Errorf("%s\nprints %q and ends with %v; want %s", text, out, err, want)
		}
	}
}

func TestARefusalIsNoFault(t *testing.T) {
	t.Parallel()
	out, err := tried(t, "print(\"so far\")\nfail(\"no: line 3\")\nprint(\"never\")")
	if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Reason != "no: line 3" || out != "so far\n" {
		t.Errorf("fail() in line 3: got %q %v, want what was printed and the refusal", out, err)
	}
}

// TestLimits: whatever a program does, it ends, and soon.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"AnEndlessLoop":           {"while True:\n    pass", "steps"},
		"AllOfARange":             {"for i in range(1000000000000):\n    pass", "steps"},
		"Output":                  {"while True:\n    print(\"0123456789\")", "printed more than 1024 KiB"},
		"OneLongLine":             {"s = \"a\"\nwhile True:\n    s = s + s\n    print(s)", "printed more than 1024 KiB"},
		"RepeatedText":            {"x = \"x\" * 1000000000", "no string * int"},
		"RepeatedTextTheOtherWay": {"x = 1000000000 * \"x\"", "no int * string"},
		"RepeatedList":            {"x = [0] * 1000000000", "no list * int"},
		"DoubledText":             {"s = \"a\"\nwhile True:\n    s += s", "memory"},
		"DoubledList":             {"s = [1]\nwhile True:\n    s = s + s", "memory"},
		"DoubledInPlace":          {"s = [1]\nwhile True:\n    s.extend(s)", "memory"},
		"Appending":               {"s = []\nwhile True:\n    s.append(1.5)", "memory"},
		"Nesting":                 {"s = []\nwhile True:\n    s = [s]", "memory"},
		"NestingDicts":            {"s = {}\nwhile True:\n    s = {1: s}", "memory"},
		"FillingADict":            {"d = {}\nfor i in range(1000000000):\n    d[i] = i", "memory"},
		"AComprehension":          {"x = [0 for i in range(1000000000)]", "memory"},
		"Joining":                 {"x = [\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" for i in range(10000)]\nwhile True:\n    x = [\"\".join(x)]\n    x.extend(x)\n    x.extend(x)", "memory"},
		"Replacing":               {"s = \"aaaaaaaa\"\nwhile True:\n    s = s.replace(\"a\", s)", "memory"},
		"Splitting":               {"s = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\nx = []\nwhile True:\n    x.append(s.split(\"a\"))", "memory"},
		"Slicing":                 {"s = [0 for i in range(10000)]\nx = []\nwhile True:\n    x.append(s[1:])", "memory"},
		"LargeNumbers":            {"x = 3\nwhile True:\n    x = x * x", "bits"},
		"LargeSums":               {"x = 3\nwhile True:\n    x += x", "bits"},
		"ManyLargeNumbers":        {"x = 3\nfor i in range(12):\n    x = x * x\nl = []\nfor i in range(100000):\n    l.append(x - i)", "memory"},
		// What is no float must not pass for one: arithmetic of floats is not guarded.
		"DoublingAParameter": {"def f(s):\n    for i in range(26):\n        s = s + s\nf(\"a\")", "memory"},
		"DoublingEither":     {"def f(s):\n    x = 1.0 if s == 0 else s\n    for i in range(26):\n        x = x + x\nf(\"a\")", "memory"},
		"DoublingALoopsName": {"def f():\n    x = 1.0\n    for x in [\"a\"]:\n        for i in range(26):\n            x = x + x\nf()", "memory"},
		"DoublingOneOfTwo":   {"def f(s):\n    x = 1.0\n    x, y = s, s\n    for i in range(26):\n        x += x\nf(\"a\")", "memory"},
		"LookingThrough":     {"x = [i for i in range(100000)]\nwhile True:\n    y = -1 in x", "steps"},
		"Comparing":          {"s = \"a\"\nfor i in range(22):\n    s = s + s\nt = s + \"b\"\nwhile True:\n    x = s < t", "steps"},
		"Stripping":          {"s = \"a\"\nfor i in range(20):\n    s = s + s\nwhile True:\n    x = s.strip(\"ab\")", "steps"},
		"ALongProgram":       {strings.Repeat("#", 65<<10), "the program has"},
		"DeepBrackets":       {"x = " + strings.Repeat("(", 60000), "line 1"},
		"DeepLists":          {"x = " + strings.Repeat("[", 30000) + strings.Repeat("]", 30000) + "\nprint(x)", "excessive nesting"},
		"ManySigns":          {"x = " + strings.Repeat("-", 60000) + "1", "excessive nesting"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := tried(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ends with %v, want %s", err, c.want)
			}
			if len(out) > small.output {
				t.Errorf("printed %d bytes", len(out))
			}
		})
	}
}

func TestTooMuchDataIsNotBegun(t *testing.T) {
	t.Parallel()
	_, err := Interpret(t.Context(), "print(1)", map[string][]byte{"a": make([]byte, 20<<20), "b": make([]byte, 13<<20)})
	if err == nil || !strings.Contains(err.Error(), "fewer or smaller files") {
		t.Errorf("too many files: got %v, want advice to give fewer", err)
	}
}

func TestContextEndsAProgram(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		most := small
		most.steps = 1 << 60
		_, err := interpret(ctx, "while True:\n    pass", nil, most)
		ended <- err
	}()
	runtime.Gosched()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ends with %v", err)
	}
	if _, err := Interpret(ctx, "print(1)", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("begins although its context is over: %v", err)
	}
}

// TestMemoryIsWhatWasCounted: the greediest program that the limits let live
// holds not much more than they say.
func TestMemoryIsWhatWasCounted(t *testing.T) {
	for _, text := range []string{
		"x = []\nwhile True:\n    x.append(1.5)",
		"x = {}\ni = 0\nwhile True:\n    x[str(i)] = {}\n    i = i + 1",
		"x = []\nwhile True:\n    x = [x, 1.5]",
		"x = \"a,b,c,d,e,f\"\ny = []\nwhile True:\n    y.append(x.split(\",\"))",
	} {
		most := small
		most.memory, most.steps = 64<<20, 1<<40
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := interpret(t.Context(), text, nil, most)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s\nends with %v", text, err)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 4*64 {
			t.Errorf("%s\nmade %d MiB of 64", text, made)
		}
	}
}
