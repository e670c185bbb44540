package event_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
)

// The vectors of RFC 8785 and of the test data that its authors publish. The
// results spell invisible characters as Go escapes.
var vectors = []struct{ name, in, want string }{
	{
		"TheWorkedExampleOfSection322",
		`{
			"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			"literals": [null, true, false]
		}`,
		`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
			`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
	},
	{
		"TheSortingExampleOfSection323",
		`{
			"\u20ac": "Euro Sign",
			"\r": "Carriage Return",
			"\ufb33": "Hebrew Letter Dalet With Dagesh",
			"1": "One",
			"\ud83d\ude00": "Emoji: Grinning Face",
			"\u0080": "Control",
			"\u00f6": "Latin Small Letter O With Diaeresis"
		}`,
		`{"\r":"Carriage Return","1":"One",` + "\"\u0080\":\"Control\"," +
			`"ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign",` +
			"\"\U0001f600\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
	},
	{
		"Arrays",
		"[\n  56,\n  {\n    \"d\": true,\n    \"10\": null,\n    \"1\": [ ]\n  }\n]\n",
		`[56,{"1":[],"10":null,"d":true}]`,
	},
	{
		"French",
		`{
			"peach": "This sorting order",
			"péché": "is wrong according to French",
			"pêche": "but canonicalization MUST",
			"sin":   "ignore locale"
		}`,
		`{"peach":"This sorting order","péché":"is wrong according to French",` +
			`"pêche":"but canonicalization MUST","sin":"ignore locale"}`,
	},
	{
		"Structures",
		`{
			"1": {"f": {"f": "hi","F": 5} ,"\n": 56.0},
			"10": { },
			"": "empty",
			"a": { },
			"111": [ {"e": "yes","E": "no" } ],
			"A": { }
		}`,
		`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
	},
	{
		"UnicodeStaysUnnormalized",
		`{ "Unnormalized Unicode":"A\u030a" }`,
		"{\"Unnormalized Unicode\":\"A\u030a\"}",
	},
	{
		"Weird",
		`{
			"\u20ac": "Euro Sign",
			"\r": "Carriage Return",
			"\u000a": "Newline",
			"1": "One",
			"\u0080": "Control\u007f",
			"\ud83d\ude02": "Smiley",
			"\u00f6": "Latin Small Letter O With Diaeresis",
			"\ufb33": "Hebrew Letter Dalet With Dagesh",
			"</script>": "Browser Challenge"
		}`,
		`{"\n":"Newline","\r":"Carriage Return","1":"One","</script>":"Browser Challenge",` +
			"\"\u0080\":\"Control\u007f\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\"," +
			"\"\U0001f602\":\"Smiley\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
	},
	{"ShortEscapesOnly", `"\u0008\u0009\u000a\u000b\u000c\u000d\u001F\u2028\u2029"`, `"\b\t\n\u000b\f\r\u001f` + "\u2028\u2029\""},
	{"ScalarWithSpaceAround", " \t\r\n true \n", "true"},
	{"EmptyString", `""`, `""`},
}

// The result of the worked example, as the octets that section 3.2.4 prints.
const workedExampleHex = `
7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e
75 6d 62 65 72 73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30
2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24
5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			expectCanonical(t, v.in, v.want)
			expectCanonical(t, v.want, v.want)
		})
	}
	t.Run("WritesTheOctetsOfSection324", func(t *testing.T) {
		t.Parallel()
		want, err := hex.DecodeString(strings.Join(strings.Fields(workedExampleHex), ""))
		if err != nil {
			t.Fatal(err)
		}
		expectCanonical(t, vectors[0].in, string(want))
	})
	t.Run("LeavesItsInputAlone", func(t *testing.T) {
		t.Parallel()
		in := []byte(`{"b": 1, "a": "\u0041"}`)
		before := string(in)
		if _, err := event.Canonical(in); err != nil {
			t.Fatal(err)
		}
		if string(in) != before {
			t.Errorf("Canonical changed its input to %s", in)
		}
	})
}

// Appendix B of RFC 8785: the bits of a double, and how it is written.
var numbers = []struct {
	bits uint64
	want string
}{
	{0x0000000000000000, "0"},
	{0x8000000000000000, "0"},
	{0x0000000000000001, "5e-324"},
	{0x8000000000000001, "-5e-324"},
	{0x7fefffffffffffff, "1.7976931348623157e+308"},
	{0xffefffffffffffff, "-1.7976931348623157e+308"},
	{0x4340000000000000, "9007199254740992"},
	{0xc340000000000000, "-9007199254740992"},
	{0x4430000000000000, "295147905179352830000"},
	{0x44b52d02c7e14af5, "9.999999999999997e+22"},
	{0x44b52d02c7e14af6, "1e+23"},
	{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
	{0x444b1ae4d6e2ef4e, "999999999999999700000"},
	{0x444b1ae4d6e2ef4f, "999999999999999900000"},
	{0x444b1ae4d6e2ef50, "1e+21"},
	{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
	{0x3eb0c6f7a0b5ed8d, "0.000001"},
	{0x41b3de4355555553, "333333333.3333332"},
	{0x41b3de4355555554, "333333333.33333325"},
	{0x41b3de4355555555, "333333333.3333333"},
	{0x41b3de4355555556, "333333333.3333334"},
	{0x41b3de4355555557, "333333333.33333343"},
	{0xbecbf647612f3696, "-0.0000033333333333333333"},
	{0x43143ff3c1cb0959, "1424953923781206.2"},
}

func TestCanonicalNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range numbers {
		f := math.Float64frombits(n.bits)
		// A double may arrive in any spelling: with the 17 digits that tell it
		// from its neighbours, with all the digits it has, or as we write it.
		for spelling, in := range map[string]string{
			"SeventeenDigits": strconv.FormatFloat(f, 'e', 16, 64),
			"EveryDigit":      strconv.FormatFloat(f, 'f', 1074, 64),
			"AsWritten":       n.want,
		} {
			t.Run(fmt.Sprintf("%016x/%s", n.bits, spelling), func(t *testing.T) {
				t.Parallel()
				expectCanonical(t, in, n.want)
			})
		}
	}
}

func TestCanonicalIntegers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"-0":                       "0",
		"9007199254740991":         "9007199254740991",
		"9007199254740992":         "9007199254740992",
		"-9007199254740992":        "-9007199254740992",
		"9007199254740994":         "9007199254740994",
		"295147905179352825856":    "295147905179352830000",
		"-295147905179352825856":   "-295147905179352830000",
		"1000000000000000000000":   "1e+21",
		"10000000000000000000000":  "1e+22",
		"-10000000000000000000000": "-1e+22",
	} {
		t.Run("Keeps"+in, func(t *testing.T) {
			t.Parallel()
			expectCanonical(t, in, want)
			expectCanonical(t, want, want)
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, why string }{
		"AnIntegerJustBeyondDoubles":        {`9007199254740993`, "beyond 2^53"},
		"ANegativeIntegerJustBeyondDoubles": {`-9007199254740993`, "beyond 2^53"},
		"ALongIntegerBetweenDoubles":        {`10000000000000000000001`, "beyond 2^53"},
		"TheLargestUint64":                  {`18446744073709551615`, "beyond 2^53"},
		"AnIntegerBeyondDoublesDeepInside":  {`{"a":[{"b":[1,9007199254740993]}]}`, "beyond 2^53"},
		"ANumberOutOfRange":                 {`1e400`, "out of range"},
		"ANegativeNumberOutOfRange":         {`[-1e400]`, "out of range"},
		"AnIntegerOutOfRange":               {`1` + strings.Repeat("0", 309), "out of range"},
		"NotANumber":                        {`NaN`, "invalid character"},
		"Infinity":                          {`Infinity`, "invalid character"},
		"NegativeInfinity":                  {`-Infinity`, "invalid character"},
		"ALeadingZero":                      {`01`, "after top-level value"},
		"ALeadingPlus":                      {`+1`, "invalid character"},
		"DuplicateMembers":                  {`{"a":1,"a":1}`, "duplicate"},
		"DuplicateMembersInOtherSpelling":   {`{"a":1,"\u0061":1}`, "duplicate"},
		"DuplicateMembersDeepInside":        {`[{"b":{"a":1,"a":2}}]`, "duplicate"},
		"InvalidUTF8":                       {"\"\xff\"", "UTF-8"},
		"OverlongUTF8":                      {"\"\xc0\xaf\"", "UTF-8"},
		"ASurrogateInUTF8":                  {"\"\xed\xa0\x80\"", "UTF-8"},
		"InvalidUTF8InAName":                {"{\"\xff\":1}", "UTF-8"},
		"ALoneHighSurrogate":                {`"\ud800"`, "surrogate"},
		"ALoneLowSurrogate":                 {`"\udc00"`, "surrogate"},
		"AHighSurrogateBeforeAnotherLetter": {`"\ud800a"`, "surrogate"},
		"SurrogatesInTheWrongOrder":         {`"\udc00\ud800"`, "surrogate"},
		"ARawControlCharacter":              {"\"\n\"", "invalid character"},
		"TrailingGarbage":                   {`{"a":1}x`, "invalid character 'x'"},
		"ASecondValue":                      {`{} {}`, "after top-level value"},
		"AVerticalTabAfterTheValue":         {"1\v", "after top-level value"},
		"ANonBreakingSpaceAfterTheValue":    {"1\u00a0", "after top-level value"},
		"AByteOrderMark":                    {"\ufeff{}", "invalid character"},
		"EmptyInput":                        {``, "EOF"},
		"OnlySpace":                         {" \n", "EOF"},
		"AnUnfinishedValue":                 {`{"a":[1`, "EOF"},
		"ATrailingComma":                    {`[1,]`, "invalid character"},
		"AComment":                          {`[1]//`, "invalid character '/'"},
		"AMemberThatIsNoString":             {`{1:1}`, "name must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := event.Canonical([]byte(c.in))
			if err == nil {
				t.Fatalf("Canonical(%q) = %s; want an error", c.in, got)
			}
			if got != nil {
				t.Errorf("Canonical(%q) gave %q along with the error", c.in, got)
			}
			expectError(t, err, c.why)
		})
	}
}

func FuzzCanonical(f *testing.F) {
	for _, v := range vectors {
		f.Add([]byte(v.in))
	}
	for _, n := range numbers {
		f.Add([]byte(n.want))
	}
	f.Add([]byte("295147905179352825856"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := event.Canonical(in)
		if err != nil {
			return
		}
		expectCanonical(t, string(got), string(got))
		var before, after any
		if err := json.Unmarshal(in, &before); err != nil {
			t.Fatalf("Canonical took %q, which is no JSON: %v", in, err)
		}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("Canonical(%q) = %q, which is no JSON: %v", in, got, err)
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("Canonical(%q) = %q means something else", in, got)
		}
	})
}

func expectCanonical(t *testing.T, in, want string) {
	t.Helper()
	got, err := event.Canonical([]byte(in))
	if err != nil {
		t.Fatalf("Canonical(%q): %v", in, err)
	}
	if string(got) != want {
		t.Fatalf("Canonical(%q):\n%s", in, cmp.Diff(want, string(got)))
	}
}

func expectError(t *testing.T, err error, why string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", why)
	}
	if !strings.Contains(err.Error(), why) {
		t.Errorf("error %q does not say %q", err, why)
	}
}
