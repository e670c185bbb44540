package plain

import (
	"regexp"
	"testing"
)

// TestAFormIsARegularExpression: a form takes what the expression takes that it says it is.
func TestAFormIsARegularExpression(t *testing.T) {
	t.Parallel()
	for _, f := range []Form{
		{First: "a-z", Rest: "a-z0-9-", Most: 32},
		{First: "A-Za-z_", Rest: "A-Za-z0-9_", Most: 4},
		{First: "A-Za-z0-9!#$%&'*+.^_`|~-", Rest: "A-Za-z0-9!#$%&'*+.^_`|~-", Most: 5},
		{First: "A-Za-z0-9", Rest: "A-Za-z0-9 ./()+_-", Most: 6},
		{First: "CDGU", Rest: "A-Z0-9", Least: 3, Most: 31},
		{First: "a", Rest: "-", Most: 2},
	} {
		rule := regexp.MustCompile(f.String())
		texts := []string{"", "a", "A", "-", "a-", "a--", "a-b", "aé", "é", "a\n", "a b", "abcdefghij", "C1", "C12", "CAB", "CAb", "a]", "a\\", "9", "_x", "x^y", "\x00", "a\xff"}
		for c := range 256 {
			texts = append(texts, string([]byte{byte(c)}), "a"+string([]byte{byte(c)}), "CA"+string([]byte{byte(c)}))
		}
		for _, text := range texts {
			if got, want := f.MatchString(text), rule.MatchString(text); got != want {
				t.Errorf("%s: %q is %v, and %v by the expression", f, text, got, want)
			}
		}
	}
	for text, want := range map[string]bool{"": false, "0a": true, "0A": false, "0": false, "0af": false, "g0": false} {
		if IsHex(text, 2) != want {
			t.Errorf("two hexadecimal digits: %q is %v", text, !want)
		}
	}
}
