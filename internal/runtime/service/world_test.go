package service_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/analysis"
	"lyceum/internal/blob"
	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// treeOf stores files.
func treeOf(ctx context.Context, dir string, store blob.Store, files map[string]string) (event.TreeRef, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return event.TreeRef{}, err
	}
	defer root.Close()
	for p, text := range files {
		if err := root.WriteFile(p, []byte(text), 0o755); err != nil {
			return event.TreeRef{}, err
		}
	}
	tree, _, _, err := blob.Snapshot(ctx, store, root, nil)
	return tree, err
}

const goodPage = `<!doctype html>
<html lang="en"><head><title>Counter</title></head>
<body><button id="b">Add one</button><output id="o">0</output>
<script>let n = 0; b.onclick = () => { o.textContent = ++n }</script></body></html>
`

// inAWorld has work done by the workshop of a quest that runs.
func inAWorld(t *testing.T, secrets []string, work func(ctx context.Context, q *runtime.Quest) error) *runtime.Runtime {
	t.Helper()
	rt := openRuntime(t, t.TempDir(), newShop(work))
	rt.Secrets = func() []string { return secrets }
	create(t, rt)
	run(t, rt)
	return rt
}

// TestTheRulesOfAWorld: tier 1 is the built-in looks and the author's commands; only those that
// are required block, and one whose program is missing has not passed.
func TestTheRulesOfAWorld(t *testing.T) {
	t.Parallel()
	const secret = "sk-1234567890abcdef"
	check := func(name, run string, required bool) world.Check {
		return world.Check{Name: name, Run: run, Required: required}
	}
	cases := []struct {
		name, page string
		checks     []world.Check
		want       string
		findings   []string // check, kind, required
	}{
		{"Good", goodPage, []world.Check{check("there", "test -e index.html", true)}, "passed", nil},
		{"UnnamedButton", strings.Replace(goodPage, "Add one", "", 1), nil, "failed", []string{"name failed true"}},
		{"RequiredFails", goodPage, []world.Check{check("no", "echo why; exit 3", true)}, "failed", []string{"check no failed true"}},
		{"OtherFails", goodPage, []world.Check{check("no", "exit 3", false)}, "passed", []string{"check no failed false"}},
		{"RequiredIsMissing", goodPage, []world.Check{check("lint", "no-such-program .", true)}, "unavailable", []string{"check lint unavailable true"}},
		{"OtherIsMissing", goodPage, []world.Check{check("lint", "no-such-program .", false)}, "passed", []string{"check lint unavailable false"}},
		{"FailedBeatsMissing", goodPage, []world.Check{check("a", "no-such-program", true), check("b", "false", true)}, "failed", []string{"check a unavailable true", "check b failed true"}},
		{"NoNetworkNoSecret", goodPage, []world.Check{check("net", "echo "+secret+"; (exec 3<>/dev/tcp/1.1.1.1/80) 2>/dev/null && exit 0; exit 4", false)}, "passed", []string{"check net failed false"}},
	}
	rt := inAWorld(t, []string{secret}, func(ctx context.Context, q *runtime.Quest) error {
		for i, c := range cases {
			tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": c.page, "key.txt": secret})
			if err != nil {
				return err
			}
			set := world.Settings{Kind: trial.Web, Checks: c.checks}
			body, err := service.WorldOf(q, set, nil).Answer(ctx, uint64(10+i), &event.AnalysisCall{Attempt: 1, Tier: 1, Tree: tree})
			if err != nil {
				return err
			}
			b := body.(*event.AnalysisResult)
			var got []string
			for _, f := range b.Findings {
				got = append(got, fmt.Sprint(f.Check, " ", f.Kind, " ", f.Required))
				if strings.Contains(f.Observed, secret) {
					t.Errorf("%s: a finding has the secret", c.name)
				}
			}
			if b.Verdict != c.want || !slices.Equal(got, c.findings) || b.Analyser != analysis.Version || b.Call != uint64(10+i) {
				t.Errorf("%s: got %s by %s, %+v; want %s, %q", c.name, b.Verdict, b.Analyser, b.Findings, c.want, c.findings)
			}
			text, err := q.Blob(ctx, *b.Text)
			if err != nil {
				return err
			}
			if !strings.HasPrefix(string(text), "=== index.html (") || strings.Contains(string(text), secret) || !strings.Contains(string(text), "[key]") {
				t.Errorf("%s: judges are shown %q", c.name, text)
			}
		}
		return nil
	})
	if _, err := os.Stat(rt.Place("q", "checks-10").Home); !os.IsNotExist(err) {
		t.Errorf("the home of the commands is still there: %v", err)
	}
}

// seenAs is what a fake browser sees: a status with a text.
func seenAs(end, count string) *browser.Seen {
	return &browser.Seen{End: end, Why: "why", After: browser.Sight{
		Nodes: []browser.Node{{Role: "RootWebArea", Name: "Counter"}, {Depth: 1, Role: "status"}, {Depth: 2, Role: "StaticText", Name: count}}, Text: count, Title: "Counter", Picture: []byte("png " + count),
	}}
}

var counted = event.WorldCondition{Kind: "text", At: event.WorldPlace{Role: "status"}, Text: "1"}

// TestVerdictsOfStories: each story is run twice, and once without scripts, and has one verdict.
func TestVerdictsOfStories(t *testing.T) {
	t.Parallel()
	story := []event.WorldStory{{Name: "count", Intent: "to count", Expect: []event.WorldCondition{counted}, Steps: []event.WorldStep{{Do: "click", At: event.WorldPlace{Role: "button", Name: "Add one"}}}}}
	passing := func(v browser.Visit, _ int) *browser.Seen {
		if v.NoScripts {
			return seenAs(trial.Done, "0")
		}
		return seenAs(trial.Done, "1")
	}
	cases := []struct {
		name    string
		stories []event.WorldStory
		see     func(browser.Visit, int) *browser.Seen
		want    string
		visits  int
		found   string
	}{
		{"Passed", story, passing, trial.Passed, 3, ""},
		{"Assertion", story, func(browser.Visit, int) *browser.Seen { return seenAs(trial.Done, "0") }, trial.Assertion, 2, `text of status is "1" | status, StaticText "0"`},
		{"Accessibility", story, func(browser.Visit, int) *browser.Seen { return seenAs(trial.Missing, "0") }, trial.Accessibility, 2, `step 1, click button "Add one" | missing: why`},
		{"Timeout", story, func(browser.Visit, int) *browser.Seen { return seenAs(trial.Timeout, "1") }, trial.Timeout, 2, `step 1, click button "Add one" | timeout: why`},
		{"Crash", story, func(browser.Visit, int) *browser.Seen { return seenAs(trial.Crash, "1") }, trial.Crash, 2, `step 1, click button "Add one" | crash: why`},
		{"Error", story, func(browser.Visit, int) *browser.Seen { return seenAs(trial.Error, "1") }, trial.Error, 2, `step 1, click button "Add one" | error: why`},
		{"Vacuous", story, func(browser.Visit, int) *browser.Seen { return seenAs(trial.Done, "1") }, trial.Vacuous, 3, "a condition that needs the page's scripts | the story passes without them as well"},
		{"NoCondition", []event.WorldStory{{Name: "count"}}, passing, trial.Vacuous, 2, "a condition | the story expects nothing"},
		{"Flaky", story, func(_ browser.Visit, n int) *browser.Seen { return seenAs(trial.Done, fmt.Sprint(n)) }, trial.Flaky, 2, "the same in two runs | two runs that differ"},
	}
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage, "a.css": "b{}"})
		if err != nil {
			return err
		}
		for i, c := range cases {
			visits := 0
			see := func(v browser.Visit) (*browser.Seen, error) {
				visits++
				if data, kind, err := v.Files("a.css"); err != nil || string(data) != "b{}" || !strings.HasPrefix(kind, "text/css") || v.Entry != "index.html" {
					t.Errorf("a browser is given %q as %s, %v", data, kind, err)
				}
				if _, _, err := v.Files("other"); err == nil {
					t.Error("a browser is given a file that is not there")
				}
				return c.see(v, visits), nil
			}
			for n, held := range []bool{false, true} {
				visits = 0
				call := &event.AnalysisCall{Attempt: 1, Tier: 3, Tree: tree, Stories: c.stories}
				set := world.Settings{Kind: trial.Web}
				if held {
					set.HeldOut, call.Stories, call.HeldOut = c.stories, nil, true
				}
				body, err := service.WorldOf(q, set, see).Answer(ctx, uint64(10+2*i+n), call)
				if err != nil {
					return err
				}
				b := body.(*event.AnalysisResult)
				s := b.Stories[0]
				if s.Verdict != c.want || visits != c.visits || (b.Verdict == "passed") != (c.want == trial.Passed) || b.Analyser != "a fake" {
					t.Errorf("%s: got %s, tier %s, in %d visits; want %s in %d", c.name, s.Verdict, b.Verdict, visits, c.want, c.visits)
				}
				found := ""
				if len(s.Findings) > 0 {
					found = s.Findings[0].Expected + " | " + s.Findings[0].Observed
				}
				if found != c.found {
					t.Errorf("%s: got %q, want %q", c.name, found, c.found)
				}
				if s.After == nil || s.After.Picture == nil || s.After.Accessibility.Text == "" {
					t.Errorf("%s: what was seen is not there: %+v", c.name, s.After)
				}
			}
		}
		return nil
	})
}

// TestManyStoriesFitIntoAnEvent: what does not fit stands in the blob of the runs, and pictures of
// what failed stay longest.
func TestManyStoriesFitIntoAnEvent(t *testing.T) {
	t.Parallel()
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		var list []event.WorldStory
		for i := range 20 {
			list = append(list, event.WorldStory{Name: fmt.Sprintf("story %d", i), Expect: []event.WorldCondition{counted, {Kind: "title", Text: "x"}}})
		}
		see := func(browser.Visit) (*browser.Seen, error) {
			s := seenAs(trial.Done, strings.Repeat("\x01\"", 3000))
			s.After.Console = []string{strings.Repeat("\"", 500)}
			return s, nil
		}
		body, err := service.WorldOf(q, world.Settings{Kind: trial.Web}, see).Answer(ctx, 10, &event.AnalysisCall{Tier: 3, Tree: tree, Stories: list})
		if err != nil {
			return err
		}
		b := body.(*event.AnalysisResult)
		if _, err := event.EncodeBody(b); err != nil {
			t.Errorf("record it: %v", err)
		}
		for _, s := range b.Stories {
			if len(s.Findings) == 0 || s.After == nil || s.After.Picture == nil {
				t.Errorf("%s: got %d findings and the sight %+v, want at least one and a picture", s.Name, len(s.Findings), s.After)
			}
		}
		return nil
	})
}

// TestWithoutABrowser: nothing passes, and it says what to do.
func TestWithoutABrowser(t *testing.T) {
	t.Parallel()
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		w := service.WorldOf(q, world.Settings{Kind: trial.Web}, nil).WithoutBrowser()
		body, err := w.Answer(ctx, 10, &event.AnalysisCall{Tier: 3, Tree: tree, Stories: []event.WorldStory{{Name: "a", Expect: []event.WorldCondition{counted}}}})
		if err != nil {
			return err
		}
		if b := body.(*event.AnalysisResult); b.Verdict != "unavailable" || b.Stories[0].Verdict != trial.Unavailable || !strings.Contains(b.Error.Text, "install chromium") {
			t.Errorf("stories: got %+v, want unavailable and what to do", b)
		}
		body, err = w.Answer(ctx, 11, &event.WorldCall{Tree: tree, Expect: []event.WorldCondition{counted}})
		if err != nil {
			return err
		}
		if b := body.(*event.WorldObserved); b.End != trial.Unavailable || len(b.Held) > 0 || !strings.Contains(b.Error.Text, "install chromium") {
			t.Errorf("a trial: got %+v, want unavailable and what to do", b)
		}
		return nil
	})
}

const sorting = `#!/bin/sh
case "$1" in
loop) while :; do :; done ;;
die) kill -SEGV $$ ;;
file) echo made > made.txt; echo changed > old.txt; ln -s /etc/passwd link ;;
fail) echo wrong >&2; exit 3 ;;
count) date +%N%s ;;
*) sort ;;
esac
`

// TestProgramsInAWorld: a program is run by a command, in a fresh computer for each run.
func TestProgramsInAWorld(t *testing.T) {
	t.Parallel()
	step := func(input string, args ...string) []event.WorldStep {
		return []event.WorldStep{{Do: "run", Args: args, Input: input}}
	}
	output := func(text string) []event.WorldCondition {
		return []event.WorldCondition{{Kind: "output", Text: text}, {Kind: "exit"}}
	}
	stories := []event.WorldStory{
		{Name: "sorts", Steps: step("b\na\n"), Expect: output("a b")},
		{Name: "wrong", Steps: step("b\na\n"), Expect: output("b a")},
		{Name: "fails", Steps: step("", "fail"), Expect: []event.WorldCondition{{Kind: "exit", Number: 3}, {Kind: "error", Text: "wrong"}}},
		{Name: "files", Steps: append(step("", "file"), step("x")...), Expect: []event.WorldCondition{{Kind: "file", Path: "made.txt", Text: "made"}, {Kind: "file", Path: "old.txt", Text: "changed"}, {Kind: "file", Path: "link", Not: true}, {Kind: "file", Path: "same.txt", Not: true}, {Kind: "output", Text: "x"}}},
		{Name: "fresh", Steps: step(""), Expect: []event.WorldCondition{{Kind: "file", Path: "made.txt", Not: true}}},
		{Name: "loops", Steps: step("", "loop"), Expect: output("")},
		{Name: "dies", Steps: step("", "die"), Expect: output("")},
		{Name: "differs", Steps: step("", "count"), Expect: output("1")},
	}
	want := []string{trial.Passed, trial.Assertion, trial.Passed, trial.Passed, trial.Passed, trial.Timeout, trial.Crash, trial.Assertion}
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"main.sh": sorting, "old.txt": "old", "same.txt": "same"})
		if err != nil {
			return err
		}
		w := service.WorldOf(q, world.Settings{Kind: trial.Program}, nil)
		body, err := w.Answer(ctx, 10, &event.AnalysisCall{Tier: 3, Tree: tree, Stories: stories})
		if err != nil {
			return err
		}
		b := body.(*event.AnalysisResult)
		for i, s := range b.Stories {
			if s.Verdict != want[i] {
				t.Errorf("%s: got %s, %+v; want %s", s.Name, s.Verdict, s.Findings, want[i])
			}
		}
		if f := b.Stories[1].Findings; len(f) != 1 || f[0].Observed != `"a\nb\n"` {
			t.Errorf("of what is wrong: got %+v, want what was printed", f)
		}
		if tree, err = treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"main.js": "1"}); err != nil {
			return err
		}
		call := &event.WorldCall{Tree: tree, Steps: step("b\na\n"), Expect: output("a b")}
		body, err = w.Answer(ctx, 11, call)
		if err != nil {
			return err
		}
		if o := body.(*event.WorldObserved); o.End == trial.Done && o.After.Exit == 0 && o.Held[0] {
			t.Errorf("another program: got %+v, want that it does not sort", o)
		}
		return nil
	})
}

// TestATryInAWorld: what was seen before and after, what held, and what nobody foresaw.
func TestATryInAWorld(t *testing.T) {
	t.Parallel()
	const secret = "sk-1234567890abcdef"
	inAWorld(t, []string{secret}, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		see := func(v browser.Visit) (*browser.Seen, error) {
			s := seenAs(trial.Done, "1")
			s.Before = seenAs(trial.Done, "0").After
			s.After.Title = "Other " + secret
			s.After.Text = strings.Repeat("long ", 1000)
			return s, nil
		}
		expect := []event.WorldCondition{counted, {Kind: "title", Text: "Counter"}, {Kind: "text", How: "contains", Text: strings.TrimSpace(strings.Repeat("long ", 190))}}
		body, err := service.WorldOf(q, world.Settings{Kind: trial.Web}, see).Answer(ctx, 10, &event.WorldCall{Tree: tree, Expect: expect})
		if err != nil {
			return err
		}
		o := body.(*event.WorldObserved)
		if !slices.Equal(o.Held, []bool{true, false, true}) || o.End != trial.Done || o.Before.Picture == nil || o.After.Picture == nil || o.Call != 10 {
			t.Errorf("got %+v, want the first and the last condition held, and pictures", o)
		}
		if o.After.Title != "Other [key]" || o.After.Text.Ref == nil || o.After.Text.Size() != 5000 {
			t.Errorf("got the title %q and %d bytes of text, want no secret and the whole text in a blob", o.After.Title, o.After.Text.Size())
		}
		for _, end := range []string{trial.Missing, trial.Timeout} {
			see := func(browser.Visit) (*browser.Seen, error) {
				s := seenAs(end, "1")
				if end == trial.Timeout {
					s.After = browser.Sight{}
				}
				return s, nil
			}
			body, err := service.WorldOf(q, world.Settings{Kind: trial.Web}, see).Answer(ctx, 11, &event.WorldCall{Tree: tree, Expect: expect})
			if err != nil {
				return err
			}
			if o := body.(*event.WorldObserved); o.End != end || (len(o.Held) > 0) != (end == trial.Missing) {
				t.Errorf("%s: got %+v, want that something held only if something was seen", end, o)
			}
		}
		return nil
	})
}

// TestQuotations: a mark counts with a quotation that is there.
func TestQuotations(t *testing.T) {
	t.Parallel()
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		ref, err := q.Blobs.Put(ctx, []byte("=== a ===\n<button>\n  Add one</button>"))
		if err != nil {
			return err
		}
		call := &event.MarksCall{Text: ref, Marks: []event.WorldMark{{Criterion: "a", Quotation: "<button> Add one"}, {Criterion: "b", Quotation: "Add two"}, {Criterion: "c", Quotation: " "}}}
		body, err := service.WorldOf(q, world.Settings{}, nil).Answer(ctx, 10, call)
		if err != nil {
			return err
		}
		if got, want := body.(*event.MarksResult).Missing, []string{"b: Add two", "c: "}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		return nil
	})
}
