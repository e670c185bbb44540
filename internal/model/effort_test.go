package model_test

import (
	"strings"
	"testing"

	"lyceum/internal/model"
)

func TestEffortsAreWordsAndNumbers(t *testing.T) {
	t.Parallel()
	for effort, want := range map[model.Effort]struct {
		tokens int64
		word   string
	}{
		"": {0, ""}, "low": {2048, "low"}, "medium": {8192, "medium"}, "high": {24576, "high"},
		"1024": {1024, "low"}, "8191": {8191, "low"}, "8192": {8192, "medium"}, "100000": {100000, "high"},
	} {
		if effort.Tokens() != want.tokens || effort.Word() != want.word {
			t.Errorf("the effort %q: got %d tokens and %q, want %d and %q", effort, effort.Tokens(), effort.Word(), want.tokens, want.word)
		}
		if err := model.CheckEffort(string(effort)); effort != "" && err != nil {
			t.Errorf("the effort %q: %v", effort, err)
		}
	}
	for _, text := range []string{"", "lots", "LOW", "0", "1023", "-5", "1e4", "01024", "1048577", "99999999999999999999", "max", "8192.5"} {
		if err := model.CheckEffort(text); err == nil || !strings.Contains(err.Error(), "there are none, low, medium, high, and a number of tokens from 1024 to 1048576") {
			t.Errorf("%q: got %v, want what there is", text, err)
		}
	}
}
