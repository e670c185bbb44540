package plain

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"KeepsBreaksAndTabs":           {"a\tb\nc", "a\tb\nc"},
		"KeepsWriting":                 {"素数 é e\u0301 नमस्ते מה 🦉", "素数 é e\u0301 नमस्ते מה 🦉"},
		"LeavesOutCarriageReturns":     {"a\r\nb\rc", "a\nbc"},
		"ShowsEscapes":                 {"\x1b[2J\u009b31m\x00\x7f", "\uFFFD[2J\uFFFD31m\uFFFD\uFFFD"},
		"ShowsBrokenBytes":             {"a\xff\xfeb", "a\uFFFD\uFFFDb"},
		"ShowsDirections":              {"a\u202eb\u2066c\u200fd", "a\uFFFDb\uFFFDc\uFFFDd"},
		"ShowsSeparators":              {"a\u2028b\u2029", "a\uFFFDb\uFFFD"},
		"ShowsWhatHasNoWidth":          {"a\u200bb\u00adc\ufeff\u2060", "a\uFFFDb\uFFFDc\uFFFD\uFFFD"},
		"ShowsTags":                    {"x\U000e0041", "x\uFFFD"},
		"ShowsBlankLetters":            {"a\u3164b", "a\uFFFDb"},
		"ShowsPrivateUse":              {"\ue000\U0010fffd", "\uFFFD\uFFFD"},
		"ShowsNoncharacters":           {"\ufdd0\U0001ffff", "\uFFFD\uFFFD"},
		"ShowsJoinersBehindASCII":      {"a\u200d.py a\ufe0f", "a\uFFFD.py a\uFFFD"},
		"ShowsJoinersBehindLatin":      {"é\u200d e\u0301\u200d \u0430\u200c", "é\uFFFD e\u0301\uFFFD \u0430\uFFFD"},
		"LeavesJoinersOutOfHindi":      {"क्\u200dष", "क्ष"},
		"ShowsJoinersAtTheBeginning":   {"\u200dx", "\uFFFDx"},
		"LeavesJoinersOutOfPersian":    {"می\u200cخواهم", "میخواهم"},
		"LeavesPicturesPlain":          {"⚠\ufe0f ❤\ufe0f\u200d🔥", "⚠ ❤🔥"},
		"ShowsAThirdJoiner":            {"⚠\ufe0f\ufe0f\ufe0f\ufe0f", "⚠\uFFFD\uFFFD"},
		"KeepsThreeMarks":              {"a\u0301\u0301\u0301\u0301\u0301b\u0301", "a\u0301\u0301\u0301b\u0301"},
		"CountsMarksOverWhatIsLeftOut": {"म\u0301\u0301\r\u0301\u200d\u0301\u0301", "म\u0301\u0301\u0301"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: %q for people: got %q, want %q", name, c.in, got, c.want)
		}
	}
}

func TestPiecesBuildNoTower(t *testing.T) {
	t.Parallel()
	var p Pieces
	got := p.Text("a\u0301\u0301") + p.Text("\u0301\u0301") + p.Text("\u0301b")
	if want := "a\u0301\u0301\u0301b"; got != want {
		t.Errorf("a tower of three pieces: got %q, want %q", got, want)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{" a\n\tb  c\u00a0", 10, "a b c"},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcde…"},
		{"素数素数", 3, "素数…"},
		{"abe\u0301fg", 4, "ab…"},
		{"ab", 1, "…"},
		{"ab", 0, "…"},
		{"", 0, ""},
	} {
		if got := Brief(c.in, c.most); got != c.want {
			t.Errorf("%q in %d characters: got %q, want %q", c.in, c.most, got, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	in := "{\n\t\"a\": \"\u202e\u009b\u200d\ufe0f\U000e0041é🦉\"\n}"
	want := "{\n\t\"a\": \"\\u202e\\u009b\\u200d\\ufe0f\\udb40\\udc41é🦉\"\n}"
	if got := JSON(in); got != want {
		t.Errorf("JSON with what hides: got %s, want %s", got, want)
	}
}

// TestWhatIsRecorded holds the results that are in ledgers.
func TestWhatIsRecorded(t *testing.T) {
	t.Parallel()
	in := "\ta\x1b\u0085\u202e\u200b\xff\"é\n"
	for name, c := range map[string]struct{ got, want string }{
		"Escape":         {Escape(in), "\ta\\x1b\\u0085\u202e\u200b\\xff\"é\\x0a"},
		"EscapeOfText":   {Escape("a\tü"), "a\tü"},
		"Quoted":         {Quoted(in, 100), `\ta\x1b\u0085\u202e\u200b?"é\n`},
		"QuotedAndTorn":  {Quoted("aé", 2), "a?"},
		"Bare":           {Bare(in, 100), "a \"é"},
		"BareAndCut":     {Bare("aéé", 4), "aé…"},
		"ASCII":          {ASCII(in, 100), "?a??????????" + `"` + "???"},
		"ASCIIAndCut":    {ASCII("abc", 2), "ab"},
		"Cut":            {Cut("aé☃", 5), "aé"},
		"CutOfNoText":    {Cut("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80"},
		"CutFront":       {CutFront("☃éa", 2), "a"},
		"CutOfAll":       {Cut("é", 2) + CutFront("é", 2), "éé"},
		"ReplacedByNone": {Papers.Replace("a\u202e\nb\xff", -1), "ab\uFFFD"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", name, c.got, c.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"": true, "a b é 🦉 ⚠\ufe0f": true, "a\nb": false, "a\u00a0b": false, "\u202e": false, "\xff": false, "\ue000": false} {
		if got := Printable(s); got != want {
			t.Errorf("%q is printable: got %v, want %v", s, got, want)
		}
	}
}

// unfit finds a character that people must not be shown, by the tables of Go.
func unfit(s string) rune {
	marks := 0
	for _, r := range s {
		if marks++; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		switch {
		case r == '\n' || r == '\t':
		case marks > maxMarks, unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point):
			return r
		}
	}
	return -1
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{
		"", "a\r\n\tb", "\x1b[2J\x1b]0;t\a\x9b31m\u009b", "\u202egnp.exe\u2066", "❤\ufe0f\u200d🔥 می\u200cخواهم", "Z̵̢̛͎̬̗ẃ\u200d\U000e0041",
		"\xe2\x98", "\xf0\x9f\xa6\x89\x80\x80\x80\x80", "é\u0301\r\u0301\u0301\u0301", "\u2028\ufeff\ufffe\U0010ffff", `{"a":"` + "\u200b\U000e0041" + `"}`,
	} {
		f.Add(s, uint8(len(s)/2))
	}
	f.Fuzz(func(t *testing.T, s string, n uint8) {
		most := int(n)
		for name, c := range map[string]struct {
			of   func(string) string
			most int // bytes for each byte
		}{
			"Text":  {Text, 3},
			"Line":  {Line, 3},
			"Brief": {func(s string) string { return Brief(s, most) }, 4},
			"JSON":  {JSON, 6},
		} {
			got := c.of(s)
			if r := unfit(got); !utf8.ValidString(got) || r >= 0 && (name != "JSON" || !unicode.Is(unicode.M, r)) {
				t.Errorf("%s of %q: got %q, want text without %U", name, s, got, r)
			}
			if again := c.of(got); again != got {
				t.Errorf("%s of %q twice: got %q, want %q", name, s, again, got)
			}
			if len(got) > c.most*len(s)+3 {
				t.Errorf("%s of %d bytes: got %d, want at most %d", name, len(s), len(got), c.most*len(s)+3)
			}
			if name != "Text" && name != "JSON" && strings.ContainsAny(got, "\n\t") {
				t.Errorf("%s of %q: got %q, want one line", name, s, got)
			}
		}
		if got := Brief(s, most); utf8.RuneCountInString(got) > max(most, 1) {
			t.Errorf("%q in %d characters: got %q", s, most, got)
		}
		escapes(t, s, most)
		cuts(t, s, most)
		means(t, s)
	})
}

// escapes holds what is made for models, errors and logs.
func escapes(t *testing.T, s string, most int) {
	for name, c := range map[string]struct {
		got   string
		most  int
		bytes string // controls that may stand in it
	}{
		"Escape": {Escape(s), 6 * len(s), "\t"},
		"Quoted": {Quoted(s, most), 10 * most, ""},
		"Bare":   {Bare(s, most), most + len("…"), ""},
		"ASCII":  {ASCII(s, most), most, ""},
	} {
		bad := strings.IndexFunc(c.got, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(c.bytes, r) })
		if !utf8.ValidString(c.got) || bad >= 0 || len(c.got) > c.most {
			t.Errorf("%s of %q: got %q (%d bytes), want text without controls, at most %d bytes", name, s, c.got, len(c.got), c.most)
		}
	}
}

// cuts holds that a text is cut between characters, and no shorter than need be.
func cuts(t *testing.T, s string, most int) {
	head, tail := Cut(s, most), CutFront(s, most)
	if !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) || len(head) > most || len(tail) > most {
		t.Errorf("%q cut to %d bytes: got %q and %q", s, most, head, tail)
	}
	if text := whole(s); text == s {
		if !utf8.ValidString(head) || !utf8.ValidString(tail) {
			t.Errorf("%q cut to %d bytes: got %q and %q, want whole characters", s, most, head, tail)
		}
		if len(s) > most && (len(head) <= most-utf8.UTFMax || len(tail) <= most-utf8.UTFMax) {
			t.Errorf("%q cut to %d bytes: got %q and %q, want as much as fits", s, most, head, tail)
		}
	}
}

// means holds that JSON which was made fit to be shown says what it said.
func means(t *testing.T, s string) {
	in, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var want, got string
	if err := json.Unmarshal(in, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(JSON(string(in))), &got); err != nil || got != want {
		t.Errorf("%q as JSON that is shown: got %q, %v, want %q", s, got, err, want)
	}
}

func TestToldHidesNothing(t *testing.T) {
	t.Parallel()
	// Whatever the Go release calls ignorable, and blank letters, cannot be passed on unseen.
	ignorable := []*unicode.RangeTable{unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf, unicode.Bidi_Control, unicode.Noncharacter_Code_Point}
	if got := Told("a\x1b\u200b\u00ad", Controls|Papers); got != "a\x1b\u200b\ufffd" {
		t.Errorf("what others have rules for: got %q", got)
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			continue // no text has them
		}
		blanks := strings.ContainsRune("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00016fe4\U0001d159", r)
		if got := Told("a"+string(r)+"b", 0); (got == "a\ufffdb") != (blanks || unicode.In(r, ignorable...) || People.Has(r) || r == unicode.ReplacementChar) {
			t.Errorf("behind a Latin letter %U becomes %q", r, got)
		}
	}
	for text, want := range map[string]string{
		"plain text\n\twith breaks":                             "plain text\n\twith breaks",
		"heart \u2764\ufe0f, family \U0001f468\u200d\U0001f469": "heart \u2764\ufe0f, family \U0001f468\u200d\U0001f469",
		"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645":      "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
		"obey\U000e0041\U000e0042":                              "obey\ufffd\ufffd",
		"a\ufe0f\ufe0f b\u200d":                                 "a\ufffd\ufffd b\ufffd",
		"\u2764\ufe0f\ufe0f\ufe0f\ufe0f":                        "\u2764\ufe0f\ufe0f\ufffd\ufffd",
		"esc\x1b[2J \x9b\xff":                                   "esc\ufffd[2J \ufffd\ufffd",
		"":                                                      "",
	} {
		if got := Told(text, 0); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if again := Told(want, 0); again != want {
			t.Errorf("%q, told again, becomes %q", want, again)
		}
	}
}
