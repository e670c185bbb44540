package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestSuitesAreJudgedByNames(t *testing.T) {
	t.Parallel()
	const head = "Running tests…\n✗ this is no line of a summary\n\n=== SUITE SUMMARY ===\n\n"
	const passes = "✓ initialize: 3 passed, 0 failed\n✓ tools_call: 2 passed, 0 failed\n"
	expected := map[string]string{"auth/dpop": "there is no proof"}
	for name, c := range map[string]struct {
		said     string
		expected map[string]string
		want     []string
	}{
		"AllPass":             {passes + "✓ a: 1 passed, 0 failed\n", nil, nil},
		"OneFailsAsExpected":  {passes + "✗ auth/dpop: 2 passed, 1 failed, 1 warnings\n", expected, nil},
		"OneFails":            {passes + "✗ sse-retry: 2 passed, 1 failed\n", nil, []string{"sse-retry fails: ✗ sse-retry: 2 passed, 1 failed"}},
		"OneOnlyWarns":        {passes + "✗ sse-retry: 2 passed, 0 failed, 1 warnings\n", nil, []string{"sse-retry fails: ✗ sse-retry: 2 passed, 0 failed, 1 warnings"}},
		"OneIsMarkedWell":     {passes + "✓ sse-retry: 2 passed, 1 failed\n", nil, []string{"sse-retry fails: ✓ sse-retry: 2 passed, 1 failed"}},
		"NothingIsChecked":    {passes + "✓ sse-retry: 0 passed, 0 failed\n", nil, []string{"sse-retry fails: nothing was checked"}},
		"OneIsSkipped":        {passes + "- sse-retry: skipped\n", nil, []string{"sse-retry fails: it was skipped"}},
		"AnExpectedOnePasses": {passes + "✓ auth/dpop: 3 passed, 0 failed\n", expected, []string{"auth/dpop passes, and was expected to fail (there is no proof): take its line out of expected.txt"}},
		"OneForAnother": {"✓ initialize: 3 passed, 0 failed\n✗ tools_call: 1 passed, 1 failed\n✓ auth/dpop: 3 passed, 0 failed\n", expected,
			[]string{"auth/dpop passes, and was expected to fail (there is no proof): take its line out of expected.txt", "tools_call fails: ✗ tools_call: 1 passed, 1 failed"}},
		"AnExpectedOneIsNotRun": {passes + "✓ a: 1 passed, 0 failed\n", expected, []string{"auth/dpop was not run, and was expected to fail (there is no proof)"}},
		"OneIsMissing":          {passes, nil, []string{"2 scenarios were run, want 3"}},
		"OneFailsTheSecondTime": {passes + "✓ a: 1 passed, 0 failed\n✗ a: 0 passed, 1 failed\n", nil, []string{"a fails: ✗ a: 0 passed, 1 failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := read([]byte(head + c.said + "\nTotal: 5 passed, 0 failed\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := judge(results, c.expected, 3); !slices.Equal(got, c.want) {
				t.Errorf("the judgement is %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatCannotBeJudged(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{
		"":                                      2,
		"npm ERR! it broke\nTotal: 30 passed\n": 2,
		"✓ a: 1 passed, 0 failed\n":             0,
		"✗ a: 0 passed, 1 failed\n":             1,
	} {
		var out bytes.Buffer
		if got := run("a suite without a list", "1", strings.NewReader(said), &out); got != want {
			t.Errorf("of %q it ends with %d, want %d: %s", said, got, want, out.String())
		}
	}
}

// TestEachExpectedFailureHasItsReason: a list with a mistake would excuse nothing, or all.
func TestEachExpectedFailureHasItsReason(t *testing.T) {
	t.Parallel()
	if _, err := parse(written); err != nil {
		t.Errorf("expected.txt: %v", err)
	}
	for list, want := range map[string]string{
		"# why\n\nclient 1 core | auth/dpop\n":                           "line 3",
		"client 1 core | auth/dpop | \n":                                 "line 1",
		"client 1 core | a | why | so\nclient 1 core | a | once more\n":  "line 2",
		"client 1 core|auth/dpop|there are no blanks around the strokes": "line 1",
	} {
		if _, err := parse(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the list %q is read with %v, want an error of its %s", list, err, want)
		}
	}
}
