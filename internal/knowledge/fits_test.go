package knowledge

import (
	"slices"
	"testing"
)

func TestFits(t *testing.T) {
	t.Parallel()
	subjects := []Subject{
		{"release.md", "Releasing a package", "Tag the commit and push it."},
		{"tests.md", "How tests are written", "Each statement has a test. Packages share no state."},
		{"style.md", "Style", "Short sentences."},
	}
	for intent, want := range map[string][]string{
		"release the package":           {"release.md"},
		"write tests for a new package": {"tests.md", "release.md"},
		"brew coffee":                   nil,
		"":                              nil,
		"a package of sentences":        {"release.md"},
	} {
		var got []string
		for _, f := range Fits(intent, subjects, 3) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is about %v, want %v", intent, got, want)
		}
	}
	if got := Fits("write tests for a new package", subjects, 1); len(got) != 1 || got[0].Name != "tests.md" {
		t.Errorf("of the best one alone there are %v", got)
	}
}
