package search

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"LowersWords":                   {"The Quick, brown FOX.", "the quick brown fox"},
		"LowersByUnicode":               {"ÄRGER Straße ΣΊΣΥΦΟΣ Ångström İzmir", "ärger straße σίσυφοσ ångström izmir"},
		"TakesBothSigmasForOne":         {"σίσυφος", "σίσυφοσ"},
		"ComposesAccents":               {"cafe\u0301", "café"},
		"NormalisesWidthAndLigatures":   {"Ｆｕｌｌ ｗｉｄｔｈ ﬁnd m²", "full width find m2"},
		"SplitsWhatNormalisingSplits":   {"1½", "11 2"},
		"SplitsCamelCase":               {"parseHTTPRequest", "parsehttprequest parse http request"},
		"SplitsSnakeCase":               {"max_token_count", "max_token_count max token count"},
		"SplitsBothAtOnce":              {"MAX_retryCount", "max_retrycount max retry count"},
		"SplitsCamelCaseBeyondASCII":    {"großeÜbung", "großeübung große übung"},
		"TrimsUnderscores":              {"__init__ _ ___", "init"},
		"KeepsCapitals":                 {"NASA DNA2", "nasa dna2"},
		"KeepsNumbersWhole":             {"35.0942 kJ/mol, 1,000 or 3. and v2.5.7", "35.0942 kj k j mol 1,000 or 3 and v2.5.7"},
		"SplitsAtApostrophes":           {"Newton's l’eau 'quoted'", "newton's newton s l'eau l eau quoted"},
		"PairsHan":                      {"化学反应", "化 化学 学 学反 反 反应 应"},
		"PairsKana":                     {"データの", "デ デー ー ータ タ タの の"},
		"PairsHangul":                   {"한국어", "한 한국 국 국어 어"},
		"ComposesJamo":                  {"\u1112\u1161\u11ab", "한"},
		"PairsHalfWidthKana":            {"ﾃﾞｰﾀ", "デ デー ー ータ タ"},
		"SplitsWhereScriptsMeet":        {"使用Go语言3次", "使 使用 用 go 语 语言 言 3 次"},
		"ReadsPersianWithJoiners":       {"می\u200cخواهم", "میخواهم"},
		"ReadsThroughSoftHyphens":       {"soft\u00adware", "software"},
		"KeepsMarksOfIndicScripts":      {"हिन्दी", "हिन्दी"},
		"IgnoresVariationSelectors":     {"葛\U000e0100城", "葛 葛城 城"},
		"SplitsAtHyphensAndPunctuation": {"state-of-the-art (e.g. this)", "state of the art e g this"},
		"SkipsWhatIsNoText":             {"\xff\xfe \x00 🙂 -- …", ""},
		"EndsAWordAtInvalidBytes":       {"a\xffb", "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(Tokens(c.text), " "); got != c.want {
				t.Errorf("tokens of %q:\n got %s\nwant %s", c.text, got, c.want)
			}
		})
	}
	t.Run("CutsWhatIsNoWord", func(t *testing.T) {
		t.Parallel()
		for _, word := range []string{strings.Repeat("a", 5000), strings.Repeat("é", 5000)} {
			if got := Tokens(word); len(got) != 1 || len(got[0]) > maxToken || !utf8.ValidString(got[0]) {
				t.Errorf("%d tokens, the first of %d bytes", len(got), len(got[0]))
			}
		}
	})
}

// FuzzTokens: tokens are valid, small and in lower case; the words they stand for lie
// within the text, in order.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"parseHTTPRequest's", "化学 data_setÜbung", "\xff½ﾞ'a'b", "1.2.3,4", "ǅ’ǅ", "\u0345a\u0345", "ﷺﷺ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		var s scanner
		s.scan(text, func(token []byte, start, end int) {
			switch {
			case start < last || end <= start || end > len(text):
				t.Fatalf("%q: %q from %d to %d, after %d", text, token, start, end, last)
			case len(token) == 0 || len(token) > maxToken || !utf8.Valid(token):
				t.Fatalf("%q: bad token %q", text, token)
			case strings.ContainsFunc(string(token), func(r rune) bool { return unicode.IsSpace(r) || unicode.ToLower(r) != r }):
				t.Fatalf("%q: token %q is not one lower-case word", text, token)
			}
			last = start
		})
		if again := Tokens(text); !slices.Equal(again, Tokens(text)) {
			t.Fatal("not the same twice")
		}
	})
}
