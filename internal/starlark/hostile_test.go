package starlark

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Both dialects as they are used, with a tenth of the steps and a sixteenth of the
// memory, to be quick.
var (
	full = Dialect{
		Text: 64 << 10, Output: 64 << 10, Steps: 1_000_000,
		TooLong: "%d bytes of %d", TooManySteps: "more than %d steps", TooMuchPrinted: "printed more than %d KiB",
	}
	shared = Dialect{
		Shared: true, Text: 64 << 10, Output: 64 << 10, Steps: 10_000_000, Memory: 64 << 20,
		TooLong: "%d bytes of %d", TooManySteps: "more than %d steps", TooMuchPrinted: "printed more than %d KiB",
	}
)

// bombs of the full dialect each take much time or memory by one way that was
// once free of charge, or nearly. Without a charge most of them would run through.
var bombs = map[string]string{
	"ExtendByCodepoints":     "o = ('a' * 300000).codepoints()\nl = []\nfor i in range(20):\n    l.extend(o)",
	"AddCodepoints":          "o = ('a' * 300000).codepoints()\nl = []\nfor i in range(20):\n    l += o",
	"SpreadCodepoints":       "def f(*a): return a\no = ('a' * 300000).codepoints()\nl = []\nfor i in range(20):\n    l.append(f(*o))",
	"ExtendByBytes":          "o = bytes('a' * 300000).elems()\nl = []\nfor i in range(20):\n    l.extend(o)",
	"ZipCodepoints":          "o = ('a' * 300000).codepoints()\nzip(o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)",
	"ZipCodepointsAtWidth":   "o = ('a' * 300000).codepoints()\nzip(*([o] * 20000))",
	"UniteCodepointsAtWidth": "o = ('a' * 300000).codepoints()\nset().union(*([o] * 20000))",
	"EnumerateCodepoints":    "o = ('a' * 100000).codepoints()\nfor i in range(20):\n    enumerate(o)",
	"SumCodepoints":          "o = ('a' * 300000).codepoint_ords()\nwhile True:\n    sum(o)",
	"AllCodepoints":          "o = ('a' * 300000).codepoint_ords()\nwhile True:\n    all(o)",
	"SortByName":             "sorted(iterable=range(20000000))",
	"NumberByName":           "int(x='9' * 300000)",
	"RoundedIntegers":        "x = pow(7, 300000)\nl = []\nfor i in range(2000):\n    l.append(round(x, -1))",
	"ModularPowers":          "x = pow(2, 8191) - 1\nwhile True:\n    pow(x, x, x - 1)",
	"LongProducts":           "a = pow(3, 300000)\nb = pow(7, 170000)\nfor i in range(100):\n    a * b",
	"LongQuotients":          "a = pow(3, 600000)\nb = pow(7, 170000)\nfor i in range(100):\n    a // b",
	"LongRemainders":         "a = pow(3, 600000)\nb = pow(7, 170000)\nfor i in range(100):\n    a % b",
	"LongPowers":             "for i in range(100):\n    pow(3, 600000)",
	"LongDigits":             "a = pow(3, 600000)\nfor i in range(20):\n    str(a)",
	"LongFormats":            "a = pow(3, 600000)\nfor i in range(20):\n    '%d' % a",
	"ReadLongDigits":         "a = '9' * 200000\nfor i in range(100):\n    int(a)",
	"ReadDigitsOften":        "a = '9' * 2000\nfor i in range(5000):\n    int(a)",
	"DecodeLongDigits":       "a = '9' * 200000\nfor i in range(10):\n    json.decode(a)",
	"LongStrip":              "s = 'é' * 200000\nt = 'x' * 200000 + 'é'\nwhile True:\n    s.strip(t)",
	"PopFromTheFront":        "l = list(range(200000))\nwhile True:\n    l.append(l.pop(0))",
	"InsertAtTheFront":       "l = list(range(200000))\nwhile True:\n    l.insert(0, l.pop())",
	"LookUpALongTuple":       "d = {1: (0,) * 400000}\nwhile True:\n    d.get(1)",
	"KeyOfManyTexts":         "t = ('a' * 1000,) * 300000\n{}[t]",
	"KeyOfManyNumbers":       "t = (pow(2, 1000000),) * 2000\n{}[t]",
	"IndexOfAText":           "s = 'a' * 6000000 + 'b'\nwhile True:\n    s.index('ab')",
	"EqualHashes":            "set(range(0, 1 << 49, 1 << 33))",
	"EqualHashesInAList":     "l = [i << 32 for i in range(30000)]\nset().union(l)",
	"EqualHashesInPairs":     "l = zip(range(0, 1 << 48, 1 << 32), range(60000))\ndict(l)",
	"EqualHashesByUpdate":    "d = {}\nd.update(zip(range(0, 1 << 48, 1 << 32), range(60000)))",
}

func TestFullDialectSurvives(t *testing.T) {
	for name, code := range bombs {
		t.Run(name, func(t *testing.T) { survives(t, full, code, 100) })
	}
}

// TestStepsCostWhatTheyTake: what a program does is paid for by how long it takes, so whatever it does, its steps take no
// more than some tens of times as long as those of a plain loop, on a busy machine some more. What the thread took of a processor is compared, not the clock.
func TestStepsCostWhatTheyTake(t *testing.T) {
	const most = 300
	took := func(code string) time.Duration {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := ofThread(t)
		_, _ = full.Run(t.Context(), code)
		return ofThread(t) - before
	}
	const loop = "while True:\n    x = 1"
	loops := []time.Duration{took(loop), took(loop), took(loop), took(loop), took(loop)}
	slices.Sort(loops)
	plain := loops[2] // a kernel may count for one what another had
	for name, code := range bombs {
		var best time.Duration
		for range 3 { // a busy machine makes some of them longer
			if now := took(code); best == 0 || now < best {
				best = now
			}
			if best < most*plain {
				break
			}
		}
		t.Logf("%s: %.1f times", name, float64(best)/float64(plain))
		if best > most*plain {
			t.Errorf("%s: its %d steps took %s, and those of a loop %s: more than %d times as long", name, full.Steps, best, plain, most)
		}
	}
}

// ofThread is how long this thread had a processor.
func ofThread(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// survives looks at the memory of the process, so it runs alone. What is allocated
// in all bounds what is held at once.
func survives(t *testing.T, d Dialect, code string, mebibytes uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := d.Run(ctx, code)
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
}

func TestSharedDialectSurvives(t *testing.T) {
	for name, code := range map[string]string{
		"GrowingDifferences":   "x = 3\nwhile True:\n    x = x - (-x)",
		"GrowingByMinusEquals": "x = 3\nwhile True:\n    y = -x\n    x -= y",
		"NumbersInLists":       "x = 3\nfor i in range(13):\n    x = x * x\nl = []\nwhile True:\n    l.append([-x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x])",
		"NumbersInTuples":      "x = 3\nfor i in range(13):\n    x = x * x\nl = []\nwhile True:\n    l.append((-x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x, -x))",
		"NumbersInDicts":       "x = 3\nfor i in range(13):\n    x = x * x\nl = []\nwhile True:\n    l.append({1: -x, 2: -x, 3: -x, 4: -x, 5: -x, 6: -x, 7: -x, 8: -x, 9: -x, 10: -x})",
		"NumbersAsKeys":        "x = 3\nfor i in range(13):\n    x = x * x\nl = []\nwhile True:\n    l.append({-x - 1: 1, -x - 2: 1, -x - 3: 1, -x - 4: 1, -x - 5: 1, -x - 6: 1, -x - 7: 1})",
		"KeyOfManyTexts":       "s = \"aaaaaaaaaaaaaaaa\"\nfor i in range(16):\n    s = s + s\nd = {}\nd[(" + strings.Repeat("s, ", 200) + ")]",
	} {
		t.Run(name, func(t *testing.T) { survives(t, shared, code, 6*64) })
	}
}

// TestErrorsAreShort: an error lands in a ledger, however long the value is that
// it names.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60000)
	for text, d := range map[string]Dialect{
		"fail('a' * 10000000)":        full,
		"{}['a' * 10000000]":          full,
		"getattr([], 'a' * 10000000)": full,
		"float('a' * 10000000)":       full,
		long:                          full,
		"def " + long[:25000] + "(): return 1 // 0\n" + long[:25000] + "()": full,
		"d = {}\ns = \"a\"\nfor i in range(20):\n    s = s + s\nd[s]":       shared,
		"x = " + long: shared,
	} {
		_, err := d.Run(t.Context(), text)
		if err == nil || len(err.Error()) > maxError+10 {
			t.Errorf("%.60s: the error is %.60v, of %d bytes", text, err, len(err.Error()))
		}
		if _, ok := errors.AsType[*Refusal](err); ok {
			t.Errorf("%.60s: a refusal", text)
		}
	}
}
