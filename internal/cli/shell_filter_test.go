package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestWhatReachesAPersonsTerminal gives each text to the filter whole, byte by byte,
// and cut in two at every place.
func TestWhatReachesAPersonsTerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"Text":                    {"hello\r\n\tyou\b\x07", "hello\r\n\tyou\b\x07"},
		"Letters":                 {"naïve 漢字 🙂", "naïve 漢字 🙂"},
		"BytesThatAreNoText":      {"a\xff\xc3b\xe6\xbc", "a��b"},
		"ALetterCutByASequence":   {"\xe6\xbc\x1b[mx", "�\x1b[mx"},
		"Colours":                 {"\x1b[1;38;5;196mred\x1b[0m\x1b[38:2::1:2:3m", "\x1b[1;38;5;196mred\x1b[0m\x1b[38:2::1:2:3m"},
		"Cursor":                  {"\x1b[2J\x1b[H\x1b[10;20H\x1b[3A\x1b[K\x1b[?2K\x1b[4 q\x1b7\x1b8\x1bM", "\x1b[2J\x1b[H\x1b[10;20H\x1b[3A\x1b[K\x1b[?2K\x1b[4 q\x1b7\x1b8\x1bM"},
		"ScrollingAndInserting":   {"\x1b[2;23r\x1b[L\x1b[2M\x1b[P\x1b[3@\x1b[S\x1b[T\x1b[s\x1b[u\x1b[d\x1b[5G", "\x1b[2;23r\x1b[L\x1b[2M\x1b[P\x1b[3@\x1b[S\x1b[T\x1b[s\x1b[u\x1b[d\x1b[5G"},
		"ModesOfEditors":          {"\x1b[?1049h\x1b[?25l\x1b[?1;7h\x1b[?2004h\x1b[4l\x1b=\x1b>\x1b[!p\x1b(0\x1b(B\x1b)0", "\x1b[?1049h\x1b[?25l\x1b[?1;7h\x1b[?2004h\x1b[4l\x1b=\x1b>\x1b[!p\x1b(0\x1b(B\x1b)0"},
		"Titles":                  {"a\x1b]0;evil\x07b\x1b]2;evil\x1b\\c\x1bkevil\x1b\\d", "abcd"},
		"TheClipboard":            {"a\x1b]52;c;cm0gLXJm\x07b", "ab"},
		"DeviceStrings":           {"a\x1bP$q\"p\x1b\\b\x1bP+q544e\x1b\\c", "abc"},
		"OtherStrings":            {"a\x1b_G\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", "abcd"},
		"StringsWithinStrings":    {"a\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\b", "ab"},
		"AStringThatNeverEnds":    {"a\x1b]0;evil", "a"},
		"AStringThatIsCancelled":  {"a\x1b]0;evil\x18b\x1bP\x1ac", "abc"},
		"ASequenceEndsAString":    {"a\x1b]0;evil\x1b[1mb", "a\x1b[1mb"},
		"WhoAreYou":               {"a\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1b[>0q\x1bZ\x05b", "ab"},
		"WhereIsTheCursor":        {"a\x1b[6n\x1b[5n\x1b[?6n\x1b[?15nb", "ab"},
		"OtherReports":            {"a\x1b[x\x1b[1x\x1b[?1$p\x1b[1$w\x1b[1;1;1;1;1;1*y\x1b[?u\x1b[?4m\x1b[?1;1Sb", "ab"},
		"TheWindow":               {"a\x1b[21t\x1b[18t\x1b[8;1;1t\x1b[2tb", "ab"},
		"Printers":                {"a\x1b[i\x1b[5i\x1b[?5ib", "ab"},
		"ModesThatLastOrAnswer":   {"a\x1b[2h\x1b[20h\x1b[?3h\x1b[?1036h\x1b[?2031h\x1b[?2048h\x1b[?25;2048h\x1b[h\x1b[?hb", "ab"},
		"Keyboards":               {"a\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[=1;1ub", "ab"},
		"OtherEncodings":          {"a\x1b%@\x1b%G\x1b F\x1b G\x1b~\x1bnb", "ab"},
		"Conformance":             {"a\x1b[61\"p\x1b[64;2\"pb", "ab"},
		"OldControlsAsLetters":    {"a\u009b6n\u009d0;x\u009cb\u0085c", "a6n0;xbc"},
		"OldControlsAsBytes":      {"a\x9bc\x90b", "a�c�b"},
		"HugeNumbers":             {"a\x1b[999999999b\x1b[1;1000000Hb\x1b[99999C", "ab\x1b[99999C"},
		"ASequenceThatIsTooLong":  {"a\x1b[" + strings.Repeat("1;", 100) + "mb", "ab"},
		"ControlsInASequence":     {"a\x1b[1\r\n;2\x07Hb\x1b\r[1mc", "a\x1b[1;2Hb\x1b[1mc"},
		"ASequenceCutByALetter":   {"a\x1b[1é\x1bé\x1b(éb", "aéééb"},
		"ASequenceCutByAnother":   {"a\x1b[1\x1b[2mb\x1b\x1b[3mc", "a\x1b[2mb\x1b[3mc"},
		"ASequenceThatIsCut":      {"a\x1b[1\x18mb", "amb"},
		"ParametersOutOfPlace":    {"a\x1b[1?25hb\x1b[ 1qc\x1b[?25$hd", "abcd"},
		"TwoBytesBeforeTheEnd":    {"a\x1b(%0b", "ab"},
		"NothingThatIsNotVisible": {"a\x00\x01\x06\x10\x1c\x7fb", "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pieces [][]string
			pieces = append(pieces, strings.Split(c.in, ""), nil)
			for _, b := range []byte(c.in) {
				pieces[1] = append(pieces[1], string([]byte{b}))
			}
			for i := range len(c.in) + 1 {
				pieces = append(pieces, []string{c.in[:i], c.in[i:]})
			}
			for _, list := range pieces {
				var out bytes.Buffer
				f := &screenFilter{w: &out}
				for _, p := range list {
					if n, err := f.Write([]byte(p)); n != len(p) || err != nil {
						t.Fatalf("the write: got %d and %v, want all of it", n, err)
					}
				}
				if out.String() != c.want {
					t.Fatalf("%q became %q, want %q", list, out.String(), c.want)
				}
			}
		})
	}
}

func TestATerminalIsLeftAsItWasFound(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"text":                                 "\x1b[0m",
		"\x1b[?1049h\x1b[?25l\x1b[?1000;1006h": "\x1b[0m\x1b[?1006l\x1b[?1000l\x1b[?25h\x1b[?1049l",
		"\x1b[?1049h\x1b[?25l\x1b[?25h\x1b[?1049l\x1b[?7h\x1b[4l": "\x1b[0m",
		"\x1b[4h\x1b[4h\x1b(0": "\x1b[0m\x1b[4l\x0f\x1b(B",
		"\x0e":                 "\x1b[0m\x0f\x1b(B",
	} {
		var out bytes.Buffer
		f := &screenFilter{w: &out}
		if _, err := f.Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := f.leave(); err != nil || out.String() != want {
			t.Errorf("after %q it is left with %q, want %q (%v)", in, out.String(), want, err)
		}
	}
}
