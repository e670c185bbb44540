package tool

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCalculate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, want string }{
		"PrintsAndShowsTheLastExpression": {"print(6*7)\n'a' + 'b'", "42\n\"ab\"\n"},
		"DoesNotShowNone":                 {"print(1)", "1\n"},
		"DoesNotShowAStatement":           {"x = 1", ""},
		"AcceptsNothing":                  {"", ""},
		"HasExactIntegers":                {"pow(2, 100) + 1", "1267650600228229401496703205377\n"},
		"HasModularPowers":                {"pow(3, pow(10, 20), 1000007)", "537680\n"},
		"HasFloatPowers":                  {"(pow(2, -1), pow(2.0, 0.5), pow(-1, 3), pow(-1, pow(10, 30)), pow(0, 0))", "(0.5, 1.4142135623730951, -1, 1, 1)\n"},
		"HasWhileAndReassignment":         {"x = 10\nwhile x > 3:\n    x -= 2\nx", "2\n"},
		"HasRecursion":                    {"def fib(n):\n    return n if n < 2 else fib(n-1) + fib(n-2)\nfib(15)", "610\n"},
		"HasSets":                         {"sorted(set([3, 1, 3]) | set([2]))", "[1, 2, 3]\n"},
		"HasMath":                         {"math.sqrt(2) + math.floor(2.5)", "3.414213562373095\n"},
		"HasJSON":                         {`json.decode(json.encode({"a": [1, 2.5, None]}))`, "{\"a\": [1, 2.5, None]}\n"},
		"KeepsTheOrderOfDicts":            {`{k: 1 for k in ["z", "a", "m"]}`, "{\"z\": 1, \"a\": 1, \"m\": 1}\n"},
		"SumsExactly":                     {"(sum([0.1]*10), sum(range(101)), sum([[1], [2]], []), sum([1e100, 1.0, -1e100]))", "(1.0, 5050, [1, 2], 1.0)\n"},
		"RoundsHalfToEven":                {"(round(0.5), round(1.5), round(-2.5), round(2.675, 2), round(1234, -2), round(1250, -2), round(1350.0, -2), round(1250.5, -2), round(-1250.5, -2))", "(0, 2, -2, 2.67, 1200, 1200, 1400.0, 1300.0, -1300.0)\n"},
		"ChangesAListInPlace":             {"a = [1]\nb = a\na += [2]\na += (3,)\nb", "[1, 2, 3]\n"},
		"ChangesADictInPlace":             {"a = {}\nb = a\na |= {1: 2}\nb", "{1: 2}\n"},
		"ReadsBeforeItComputes":           {"c = [1]\ndef f():\n    c[0] += 10\n    return 1\nc[0] += f()\nc", "[2]\n"},
		"HasAllAugmentedOperators":        {"x = 7\nx += 3; x *= 5; x //= 2; x -= 1; x |= 64; x &= 127; x ^= 3; x <<= 2; x >>= 1; x %= 100\ny = 8\ny /= 2\ns = '%d!'\ns %= 5\n(x, y, s)", "(82, 4.0, \"5!\")\n"},
		"SortsByAKey":                     {"sorted([3, -1, 2], key=lambda x: -x), max([1, -5], key=abs), sorted(['b', 'A'], reverse=True)", "([3, 2, -1], -5, [\"b\", \"A\"])\n"},
		"SpreadsArguments":                {"def f(*a, **k):\n    return a, k\nf(*[1, 2], **{'x': 3})", "((1, 2), {\"x\": 3})\n"},
		"SlicesAndFormats":                {"'{}-{x}'.format([1, 2, 3][::-1], x='y') + ' %s %d' % ('a', 3)", "\"[3, 2, 1]-y a 3\"\n"},
		"ComparesDeeply":                  {"([1, [2]] == [1, [2]], (1, 2) < (1, 3), 2 in [1, 2], 'x' not in {'x': 1}, 'b' in 'abc', 5 in range(10))", "(True, True, True, False, True, True)\n"},
		"FindsMethodsByName":              {"getattr('a,b', 'split')(','), hasattr([], 'append')", "([\"a\", \"b\"], True)\n"},
		"HandlesLargeButFairPrograms":     {"a = list(range(50000))\nb = [x*x % 1000 for x in a]\nd = {}\nfor x in b:\n    d[x] = d.get(x, 0) + 1\nlen(d), sum(sorted(b))", "(159, 23075000)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := calculate(t.Context(), c.code, maxSteps)
			if err != nil {
				t.Fatalf("error: %v (printed %q)", err, got)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the result differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCalculateExplains(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, want string }{
		"ASyntaxError":            {"x = = 1", "line 1, column 5: got '=', want primary expression"},
		"AnUnknownName":           {"x = 1\ny = X", "line 2: undefined: X"},
		"WhereItHappened":         {"def f(x):\n    return 1 // x\n\nf(0)", "floored division by zero\n  at line 2 in f\n  at line 4"},
		"AWrongOperand":           {"1 + 'a'", "unknown binary op: int + string\n  at line 1"},
		"AWrongAugmentedOperand":  {"x = 1\nx += 'a'", "unknown binary op: int + string\n  at line 2"},
		"ThatThereIsNoLoad":       {"load('x', 'y')", "line 1: there is no load; math and json are there already"},
		"ThatThereIsNoImport":     {"import math", "there is no import; math and json are there already"},
		"ThatThereIsNoPower":      {"2 ** 3", "use pow(x, y) for powers"},
		"AFailure":                {"fail('no', 3)", "fail: no 3"},
		"AMissingMethod":          {"[].push(1)", "list has no .push field or method"},
		"AnUnsupportedAssignment": {"a = [1]\na[0] <<= 2", "line 2: <<= works on plain names only; write x[i] = x[i] << y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := calculate(t.Context(), c.code, maxSteps)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "$") {
				t.Errorf("the error shows a guard: %v", err)
			}
		})
	}
}

func TestCalculateKeepsWhatWasPrintedBeforeAnError(t *testing.T) {
	t.Parallel()
	got := Builtin().Run(t.Context(), "calculate", Call{Args: []byte(`{"code":"print('so far')\n1//0"}`)})
	want := Output{Text: "so far\nerror: floored division by zero\n  at line 2", Error: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the results differ (-want +got):\n%s", diff)
	}
}

func TestCalculateLimitsItsOutput(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"InManyLines": "for i in range(100000):\n    print(i)",
		"InOneLine":   "print('a' * 1000000)",
		"InTheValue":  "list(range(100000))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := calculate(t.Context(), code, maxSteps)
			if err == nil || !strings.Contains(err.Error(), "more than 64 KiB") {
				t.Errorf("error is %v", err)
			}
			if len(got) > maxPrinted || len(got) < maxPrinted-100 {
				t.Errorf("captured %d bytes", len(got))
			}
		})
	}
}

// bombs each try to take much memory or endless time in few instructions.
var bombs = map[string]string{
	"EndlessLoop":          "while True:\n    pass",
	"EndlessRecursion":     "def f(): f()\nf()",
	"EndlessLambda":        "f = lambda: f()\nf()",
	"RecursionThroughSort": "def f(x): return sorted([1, 2], key=f)\nf(1)",
	"RepeatedString":       "'a' * 1000000000",
	"RepeatedStringFlip":   "1000000000 * 'a'",
	"RepeatedBytes":        "b'a' * 1000000000",
	"RepeatedList":         "[0] * 1000000000",
	"RepeatedTuple":        "(0,) * 1000000000",
	"HugeRepeat":           "'a' * pow(10, 30)",
	"DoubledString":        "s = 'a'\nfor i in range(100):\n    s += s",
	"DoubledList":          "s = [1]\nfor i in range(100):\n    s += s",
	"DoubledItem":          "s = ['a']\nfor i in range(100):\n    s[0] += s[0]",
	"DoubledByMultiply":    "s = [['a']]\nfor i in range(100):\n    s[0] *= 2",
	"SquaredInteger":       "x = 3\nfor i in range(100):\n    x *= x",
	"ShiftedInteger":       "x = 1\nl = []\nfor i in range(1000000):\n    x <<= 511\n    l.append(x)",
	"NegatedIntegers":      "x = pow(2, 1000000)\nl = []\nwhile True:\n    l.append(-x)",
	"SumOfIntegers":        "x = pow(2, 1000000)\nl = []\nwhile True:\n    l.append(x + 1)",
	"HugePower":            "pow(10, pow(10, 8))",
	"HugeModularPower":     "x = pow(2, 1000000)\npow(x, x, x - 1)",
	"HugeShift":            "1 << 1000000000",
	"HugeRangeList":        "list(range(1000000000))",
	"HugeRangeTuple":       "tuple(range(1000000000))",
	"HugeRangeSet":         "set(range(1000000000))",
	"HugeRangeSorted":      "sorted(range(1000000000))",
	"HugeRangeReversed":    "reversed(range(1000000000))",
	"HugeRangeSum":         "sum(range(1000000000))",
	"HugeRangeMax":         "max(range(1000000000))",
	"HugeRangeExtend":      "[].extend(range(1000000000))",
	"HugeRangeAdd":         "a = []\na += range(1000000000)",
	"HugeRangeSpread":      "print(*range(1000000000))",
	"HugeRangeEnumerate":   "enumerate(range(1000000000))",
	"HugeRangeZip":         "zip(range(1000000000), range(1000000000))",
	"HugeRangeAsJSON":      "json.encode(range(1000000000))",
	"HugeRangeBytes":       "bytes(range(1000000000))",
	"HugeRangeUnion":       "set().union(range(1000000000))",
	"HugeRangeUpdate":      "set().update(range(1000000000))",
	"HugeRangeByKey":       "sorted([range(1000000000)], key=list)",
	"HugeRangeByName":      "getattr([], 'extend')(range(1000000000))",
	"HugeReplace":          "('a' * 100000).replace('a', 'b' * 100000)",
	"HugeReplaceOfNothing": "('a' * 100000).replace('', 'b' * 100000)",
	"HugeJoin":             "'x'.join(['a' * 100000] * 100000)",
	"HugeSeparator":        "('a' * 100000).join(['x'] * 100000)",
	"HugeFormat":           "('{0}' * 10000).format('a' * 1000000)",
	"HugePercent":          "('%(a)s' * 10000) % {'a': 'a' * 1000000}",
	"HugePrintSeparator":   "print(sep='b' * 1000000, *(['a'] * 10000))",
	"SplitString":          "(',' * 50000000).split(',')",
	"SplitElements":        "list(('a' * 50000000).elems())",
	"SplitCodepoints":      "list(('a' * 50000000).codepoints())",
	"SplitBytes":           "list(bytes('a' * 50000000).elems())",
	"SharedRepr":           "a = [1]\nfor i in range(60):\n    a = [a, a]\nstr(a)",
	"SharedPrint":          "a = [1]\nfor i in range(60):\n    a = [a, a]\nprint(a)",
	"SharedShow":           "a = [1]\nfor i in range(60):\n    a = [a, a]\na",
	"SharedJSON":           "a = [1]\nfor i in range(60):\n    a = [a, a]\njson.encode(a)",
	"SharedDicts":          "a = {}\nfor i in range(60):\n    a = {1: a, 2: a}\nrepr(a)",
	"SharedCompare":        "def m():\n    a = [0] * 1000\n    for i in range(8):\n        a = [a] * 1000\n    return a\nm() == m()",
	"SharedIn":             "def m():\n    a = [0] * 1000\n    for i in range(8):\n        a = [a] * 1000\n    return a\nm() in [m()]",
	"SharedIndex":          "def m():\n    a = [0] * 1000\n    for i in range(8):\n        a = [a] * 1000\n    return a\n[m()].index(m())",
	"SharedSort":           "def m():\n    a = [0] * 1000\n    for i in range(8):\n        a = [a] * 1000\n    return a\nsorted([m(), m()])",
	"SharedSortKeys":       "def m(i):\n    a = [0] * 1000\n    for i in range(8):\n        a = [a] * 1000\n    return a\nsorted([1, 2], key=m)",
	"SharedMax":            "def m(i):\n    a = [0] * 1000\n    for i in range(8):\n        a = [a] * 1000\n    return a\nmax(1, 2, key=m)",
	"SharedTupleHash":      "t = (1,)\nfor i in range(60):\n    t = (t, t)\nd = {t: 1}",
	"SharedTupleByArgs":    "def f(*a): return a\nt = (1,)\nfor i in range(60):\n    t = f(t, t)\nd = {t: 1}",
	"SharedTupleByZip":     "t = (1,)\nfor i in range(60):\n    t = zip([t], [t])[0]\nd = {t: 1}",
	"SharedTupleByDict":    "t = (1,)\nfor i in range(60):\n    t = {t: t}.popitem()\nhash(str(t))",
	"DeepList":             "a = []\nfor i in range(1000000):\n    a = [a]\nstr(a)",
	"DeepTuple":            "a = ()\nfor i in range(1000000):\n    a = (a,)\nd = {a: 1}",
	"DeepJSON":             "json.encode(json.decode('[' * 100000 + ']' * 100000))",
	"DeepCycle":            "a = []\na.append(a)\nprint(a)",
	"WideCycle":            "a = []\nfor i in range(100):\n    a.append(a)\nprint(a)",
	"ManyDicts":            "l = []\nwhile True:\n    l.append({})",
	"ManyDictsAtOnce":      "[{} for i in range(10000000)]",
	"ManySets":             "[set() for i in range(10000000)]",
	"ManyLists":            "[[] for i in range(10000000)]",
	"ManyListsInALine":     "l = []\nwhile True:\n    l += [[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]",
	"ManyTuples":           "[(i, i) for i in range(10000000)]",
	"ManyFunctions":        "[lambda: i for i in range(10000000)]",
	"ManyDefinitions":      "l = []\nwhile True:\n    def f(a=1, b=2): return l\n    l.append(f)",
	"ManyKeys":             "d = {}\ni = 0\nwhile True:\n    d[i] = i\n    i += 1",
	"ManyKeysAtOnce":       "{i: i for i in range(10000000)}",
	"ManyFloats":           "[i + 0.5 for i in range(10000000)]",
	"ManyDecodedDicts":     "l = []\ns = '[' + '{},' * 50000 + '{}]'\nwhile True:\n    l.append(json.decode(s))",
	"ManySlices":           "a = [0] * 100000\nl = []\nwhile True:\n    l.append(a[1:])",
	"ManyItems":            "a = {i: i for i in range(1000)}\nl = []\nwhile True:\n    l.append(a.items())",
	"ManyUppers":           "a = 'a' * 100000\nl = []\nwhile True:\n    l.append(a.upper())",
	"ManyMethods":          "l = []\nwhile True:\n    l.append(l.append)",
	"ManyFrames":           "def f(n):\n    a = [n] * 1000\n    return f(n + 1)\nf(0)",
	"HugeNumberText":       "int('9' * 10000000)",
	"HugeNumberInJSON":     "json.decode('9' * 10000000)",
	"HugeIntegerText":      "str(pow(7, 350000)) * 100",
}

// TestCalculateSurvives runs alone, since it looks at the memory of the process.
// A program is charged for all that it makes, so what is allocated in all bounds
// what it can hold at once, which is about a third of it. To be quick it gets a
// tenth of the steps.
func TestCalculateSurvives(t *testing.T) {
	const mebibytes = 100
	for name, code := range bombs {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := calculate(ctx, code, maxSteps/10)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Error("it ran through")
			}
			if ctx.Err() != nil {
				t.Error("only the clock stopped it")
			}
			used := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d MiB, %.100v", used, err)
			if used > mebibytes {
				t.Errorf("allocated %d MiB, want at most %d", used, mebibytes)
			}
		})
	}
}

func TestCalculateRefusesDeepSource(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"Brackets":  strings.Repeat("[", 30000) + strings.Repeat("]", 30000),
		"Unary":     strings.Repeat("-", 60000) + "1",
		"Not":       strings.Repeat("not ", 16000) + "1",
		"Sum":       strings.Repeat("1+", 30000) + "'a'",
		"Calls":     "x" + strings.Repeat("()", 30000),
		"Dots":      "x" + strings.Repeat(".a", 30000),
		"Lambdas":   strings.Repeat("lambda:", 9000) + "y",
		"Ternaries": strings.Repeat("1 if 0 else ", 5000) + "z",
		"TooLong":   strings.Repeat("x = 1\n", 20000),
		"NotText":   "\xff\xfe\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := calculate(t.Context(), code, maxSteps); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestCalculateStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	// Each step hashes 100 MB, so that the steps would last for hours.
	const code = "print('begun')\ns = 'a' * 100000000\nd = {}\nwhile True:\n    d.get(s)"
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := calculate(ctx, code, maxSteps)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestCalculateIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	const code = "d = {('k%d' % i): hash('k%d' % i) for i in range(100)}\nprint(d, set(d.keys()), dir([]), len, (lambda: 1))"
	first, _ := calculate(t.Context(), code, maxSteps)
	for range 5 {
		again, err := calculate(t.Context(), code, maxSteps)
		if err != nil || again != first {
			t.Fatalf("error %v, output %s, want %s", err, again, first)
		}
	}
}

// slow are programs of few steps, each of which takes long.
var slow = map[string]string{
	"HashesOfALongText":    "s = 'x' * (1 << 20)\nd = {s: 0}\nwhile True:\n    d[s]",
	"HashesOfALongTuple":   "t = tuple(range(100000))\nd = {t: 0}\nwhile True:\n    d[t]",
	"KeysOfOneHash":        "d = {}\nfor i in range(1000000):\n    d[i << 32] = 0",
	"MembersOfOneHash":     "s = set()\nfor i in range(1000000):\n    s.add(i << 32)",
	"DivisionsOfLargeOnes": "a = pow(3, 400000)\nb = pow(7, 100000)\nwhile True:\n    a // b",
	"LettersWithAccents":   "a = 'é' * 300000\nwhile True:\n    a.upper()",
}

// TestCalculateEndsInTime: whatever a program does, the call ends, and the agent is told why; the
// next calculation is not held up by what is left of it for longer than a step lasts.
func TestCalculateEndsInTime(t *testing.T) {
	t.Parallel()
	for name, code := range slow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := New(calculator(300 * time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			args, err := json.Marshal(map[string]string{"code": "print('begun')\n" + code})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			got := r.Run(t.Context(), "calculate", Call{Args: args})
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s, want it to end after 0.3 s", took)
			}
			if !got.Error || !strings.Contains(got.Text, "it took more than 300ms; use a smaller problem") {
				t.Errorf("the agent is told %q, want that it took too long", got.Text)
			}
		})
	}
	t.Run("AndIsGivenUpWithItsCaller", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if got := Builtin().Run(ctx, "calculate", Call{Args: []byte(`{"code":"while True:\n    'x' * 100"}`)}); !got.Error || strings.Contains(got.Text, "30s") {
			t.Errorf("a call whose caller has gone is told %q", got.Text)
		}
	})
}
