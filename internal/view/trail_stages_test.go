package view

import (
	"fmt"
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// sees tells the trail of an event alone, whatever the study would say of it.
func (c *course) sees(b event.Body) uint64 {
	c.t.Helper()
	e, err := event.Seal("series", c.seq+1, c.prev, event.Draft{Time: event.Time(c.seq+1) * 1000, Actor: "researcher", Body: b})
	if err != nil {
		c.t.Fatalf("seal %s: %v", b.Type(), err)
	}
	c.seq, c.prev = e.Seq, e.Hash
	c.trail.take(e, c.Study)
	return e.Seq
}

func (c *course) says(reply string) uint64 {
	return c.sees(&event.InteractSaid{Answer: c.seq + 1, Kind: study.Progress, Reply: reply, Text: event.Text{Text: "words"}})
}

func (c *course) asks() uint64 {
	return c.sees(&event.InteractionOpened{Answer: c.seq, Question: event.Text{Text: "Which?"}})
}

func (c *course) hears(reply uint64) uint64 {
	return c.sees(&event.UserMessage{Reply: reply, Text: event.Text{Text: "words"}})
}

// TestWhatBecomesOfAThread: a word goes to the thread that it names, else to the open question,
// else to the last thread; and a question that has come to an end stays as it ended.
func TestWhatBecomesOfAThread(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		told func(c *course)
		want string
	}{
		"AWordGoesToTheLastThread":       {func(c *course) { c.says("threaded"); c.says("none"); c.hears(0) }, "[said 0 [] said 0 [3]]"},
		"OrToTheOneThatItNames":          {func(c *course) { first := c.says("threaded"); c.says("none"); c.hears(first) }, "[said 0 [3] said 0 []]"},
		"OrToTheQuestionThatIsOpen":      {func(c *course) { c.says("blocking"); c.asks(); c.says("none"); c.hears(0) }, "[answered 2 [4] said 0 []]"},
		"AQuestionIsNamedByItsAnswer":    {func(c *course) { c.says("blocking"); asked := c.asks(); c.says("none"); c.hears(asked) }, "[answered 2 [4] said 0 []]"},
		"WhatTheRulesAskStandsForItself": {func(c *course) { c.says("none"); c.asks() }, "[said 0 [] open 2 []]"},
		"SoDoesASecondQuestion":          {func(c *course) { c.says("blocking"); c.asks(); c.asks() }, "[superseded 2 [] open 3 []]"},
		"ItExpires": {func(c *course) {
			c.sees(&event.InteractionExpired{Interaction: c.asks()})
		}, "[expired 1 []]"},
		"ItIsWithdrawn": {func(c *course) {
			c.sees(&event.InteractionWithdrawn{Interaction: c.asks()})
		}, "[withdrawn 1 []]"},
		"OneThatWasAnsweredByAWordStaysSo": {func(c *course) {
			asked := c.asks()
			c.hears(0)
			c.sees(&event.InteractionWithdrawn{Interaction: asked})
		}, "[answered 1 [2]]"},
		"OneThatWasSupersededIsNotAnswered": {func(c *course) {
			asked := c.asks()
			c.asks()
			c.hears(asked)
			c.sees(&event.InteractionAnswered{Interaction: asked, Choice: "yes"})
		}, "[superseded 1 [3 4] open 2 []]"},
		"NobodyHasSaidAnything": {func(c *course) { c.hears(0) }, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCourse(t)
			x.told(c)
			var got []string
			for _, h := range c.trail.Threads {
				got = append(got, fmt.Sprint(h.Status, " ", h.Interaction, " ", h.Replies))
			}
			if fmt.Sprint(got) != x.want {
				t.Errorf("the threads are %v, want %s", got, x.want)
			}
		})
	}
}

// TestTheTrailIsBounded: of threads, files and calls the last are kept, of the files of a thing the
// first, and it is said how many there were.
func TestTheTrailIsBounded(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	for range maxThreads + 3 {
		c.says("none")
	}
	if n := len(c.trail.Threads); n != maxThreads || c.trail.Threads[n-1].Seq != c.seq || c.trail.Threads[0].Seq != 4 {
		t.Errorf("%d threads are kept, from %d, want the last %d", n, c.trail.Threads[0].Seq, maxThreads)
	}
	diff := func(more int64, paths ...string) {
		b := &event.FileDiff{After: *treeOf("home"), Cause: event.CauseTool, More: more}
		for _, p := range paths {
			b.Changes = append(b.Changes, event.Change{Kind: event.Changed, Path: p})
		}
		c.sees(b)
	}
	for i := range maxChangedFiles + 5 {
		diff(0, fmt.Sprint("f", i))
	}
	diff(7, "f50", "f51")
	files := c.trail.Files
	if n := len(files); n != maxChangedFiles || files[0].Path != "f5" || files[n-1].Path != "f51" || files[n-1].Seq != c.seq {
		t.Errorf("%d files are kept, from %s to %s, want the last %d, each once", n, files[0].Path, files[n-1].Path, maxChangedFiles)
	}
	for range maxActions + 2 {
		c.sees(&event.ToolCall{Answer: 1, ID: "x"})
	}
	c.records("milestone", "Half way")
	x := c.trail.Things[len(c.trail.Things)-1]
	if len(x.Changed) != maxTrailFiles || x.Changed[0] != "f0" || x.Counts.Files != maxChangedFiles+5+2+7 {
		t.Errorf("the thing has %d files from %s, of %d, want the first %d of %d", len(x.Changed), x.Changed[0], x.Counts.Files, maxTrailFiles, maxChangedFiles+14)
	}
	if n := len(x.Actions); n != maxActions || x.Actions[n-1].Seq != c.seq-1 || x.Counts.Actions != maxActions+2 {
		t.Errorf("the thing has %d calls of %d, the last %d, want the last %d", n, x.Counts.Actions, x.Actions[n-1].Seq, maxActions)
	}
}

// TestAPaperOnTheTrail: a revision takes the place of the one before and rests on its outline, a
// review rests on the revision that was read.
func TestAPaperOnTheTrail(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	rows := []event.ChecklistRow{{Item: "limits", Holds: true}, {Item: "losers", Findings: []string{"one is not told"}}, {Item: "figures", Holds: true}}
	c.sees(&event.OutlineSubmitted{Answer: 1, ID: "outline-1", Because: []string{"decision-1"}, Claims: []event.OutlineClaim{{ID: "a", Results: []string{"result-1"}}, {ID: "b", Results: []string{"result-2", "result-3"}}}, Title: "o"})
	c.sees(&event.OutlineSubmitted{Answer: 2, ID: "outline-2", Supersedes: "outline-1", Claims: []event.OutlineClaim{{ID: "a", Results: []string{"result-1"}}}, Title: "o"})
	for revision := range int64(3) {
		c.sees(&event.PaperSubmitted{Checklist: rows, ID: "paper-1", Outline: "outline-2", Revision: revision + 1, Title: "p"})
	}
	c.sees(&event.PaperSubmitted{ID: "paper-11", Outline: "outline-2", Revision: 1, Title: "another"})
	c.sees(&event.ReviewGiven{Paper: "paper-1", Round: 1, Source: "reviewer", Summary: "Fine.", Points: []event.ReviewPoint{{Number: 1}, {Number: 2}}})
	var got []string
	for _, x := range c.trail.Things {
		got = append(got, fmt.Sprint(x.ID, " ", x.Because, " ", x.Old))
	}
	want := []string{
		"outline-1 [decision-1 result-1 result-2 result-3] ", "outline-2 [result-1] outline-1",
		"paper-1 [outline-2] ", "paper-1.2 [outline-2] paper-1", "paper-1.3 [outline-2] paper-1.2", "paper-11 [outline-2] ", fmt.Sprintf("review-%d [paper-1.3] ", c.seq),
	}
	if !slices.Equal(got, want) {
		t.Errorf("on the trail are\n%q, want\n%q", got, want)
	}
	if s := c.trail.Things[2].Summary; s != "Revision 1; 2 of 3 items of its checklist hold." {
		t.Errorf("the paper is told as %q", s)
	}
	if s := c.trail.Things[6].Title; s != "Review 1 of paper-1: 2 points" {
		t.Errorf("the review is told as %q", s)
	}
}

// TestWhatChangesAThing: a run that came to its end, and a baseline that was accepted.
func TestWhatChangesAThing(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.save("Begin")
	c.branch("run", "naive", "main")
	c.save("Naive")
	base := c.results(study.ResultBaseline, "2")
	if x := c.trail.Things[0]; x.Last != c.seq || x.Time != event.Time(c.seq)*1000 || len(c.trail.Calls) != 0 {
		t.Errorf("%s was last changed by %d, and %d runs are under way; want the end of its run, %d, and none", x.ID, x.Last, len(c.trail.Calls), c.seq)
	}
	accepted := c.take("core", "", &event.BaselineAccepted{By: study.ByReproduction, Result: base})
	if x := c.trail.Things[0]; x.Last != accepted {
		t.Errorf("%s was last changed by %d, want %d, which accepts it", x.ID, x.Last, accepted)
	}
	for revision := range int64(2) {
		c.sees(&event.CardWritten{ID: "card", Revision: revision + 1, Title: "t"})
	}
	if r := c.trail.Revisions["card"]; len(r) != 2 || r[1].Revision != 2 || r[1].Seq != c.seq {
		t.Errorf("the card has the revisions %+v, want both", r)
	}
	promoted := c.sees(&event.CardPromoted{ID: "card"})
	if f := c.trail.Flow; f[len(f)-1] != promoted {
		t.Errorf("the workflow ends with %d, want the card that was offered, %d", f[len(f)-1], promoted)
	}
}

// TestWhenALineOfWorkWasLastChanged: by its own checkpoint or by what was made there, whichever
// came last; a checkpoint that it began with is its parent's.
func TestWhenALineOfWorkWasLastChanged(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.save("Begin")
	c.branch("idea", "a", "main")
	began := c.Branch("idea/a").Time
	node := func() *BranchNode { return branchCanvas(c.Study, &c.trail, c.seq).Nodes[1] }
	if n := node(); n.Updated != began {
		t.Errorf("a line of work that has just begun was changed at %v, want %v, and not when its parent was", n.Updated, began)
	}
	c.records("report", "First")
	saved := c.save("Own")
	if n := node(); n.Updated != event.Time(saved)*1000 {
		t.Errorf("it was changed at %v, want its checkpoint's %v", n.Updated, event.Time(saved)*1000)
	}
	c.records("report", "Second")
	if n := node(); n.Updated != event.Time(c.seq)*1000 {
		t.Errorf("it was changed at %v, want %v, when something was made there", n.Updated, event.Time(c.seq)*1000)
	}
}

// TestASliceIsNotComparedWithTheBaseline: it asks about its run, and two slices of one run show
// that run once.
func TestASliceIsNotComparedWithTheBaseline(t *testing.T) {
	t.Parallel()
	c := studied(t)
	c.branch("analysis", "holt/1-season", "run/holt")
	m := event.Metric{Name: "mae", Direction: study.Lower, Value: "3"}
	c.Study.Results = append(c.Study.Results, &study.Result{ID: "result-3", Kind: study.ResultSlice, Branch: "analysis/holt/1-noise", Metrics: []event.Metric{m}})
	got := branchCanvas(c.Study, &c.trail, c.seq)
	for _, x := range got.Edges {
		if x.Kind == Compares && x.From != "run/holt" {
			t.Errorf("%s is compared with %s, want run/holt alone to be", x.From, x.To)
		}
	}
	if want := []string{"run/holt", "analysis/holt/1-noise", "analysis/holt/1-season"}; !slices.Equal(got.Views.Analysis, want) {
		t.Errorf("the analyses are %q, want %q, each once", got.Views.Analysis, want)
	}
}
