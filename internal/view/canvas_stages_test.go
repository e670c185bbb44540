package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// course is a study that a test tells event by event: the fold, and the trail beside it.
type course struct {
	*study.Study
	t     testing.TB
	trail Trail
	// canvas is the one that every quest has.
	canvas Canvas
	seq    uint64
	prev   event.Hash
}

func newCourse(t testing.TB) *course {
	return &course{Study: study.New(study.Copilot, study.Scout, false), t: t}
}

func (c *course) take(actor, tool string, b event.Body) uint64 {
	c.t.Helper()
	e, err := event.Seal("series", c.seq+1, c.prev, event.Draft{Time: event.Time(c.seq+1) * 1000, Actor: actor, Tool: tool, Body: b})
	if err != nil {
		c.t.Fatalf("seal %s: %v", b.Type(), err)
	}
	c.seq, c.prev = e.Seq, e.Hash
	c.Apply(e)
	drawn := len(c.trail.Things)
	c.trail.take(e, c.Study)
	c.trail.draw(&c.canvas, e, c.Study, drawn)
	return e.Seq
}

// at is the place of a tool call of its own.
func (c *course) at() agent.Place { return agent.Place{Answer: c.seq + 1} }

func treeOf(text string) *event.TreeRef {
	return &event.TreeRef{Hash: event.HashOf([]byte(text)), Size: int64(len(text))}
}

// branch begins a line of work and goes there.
func (c *course) branch(kind, id, parent string) {
	c.t.Helper()
	name, err := study.BranchName(kind, id)
	if err != nil {
		c.t.Fatal(err)
	}
	at, from := c.at(), c.Branch(parent)
	call := c.take("researcher", "", &event.FolderCall{Answer: at.Answer, Branch: name, Tree: c.Tree(from)})
	c.take("core", "", &event.FolderResult{Call: call})
	c.take("researcher", "", &event.BranchPrepared{Answer: at.Answer, Kind: kind, Name: name, Parent: parent, From: from.Head, Tree: c.Tree(from)})
	at = c.at()
	call = c.take("researcher", "", &event.FolderCall{Answer: at.Answer, Branch: name, Tree: c.Tree(from)})
	c.take("core", "", &event.FolderResult{Call: call, There: true})
	c.take("researcher", "", &event.BranchActivated{Answer: at.Answer, Name: name})
}

// save makes a checkpoint of the line of work that the researcher is at.
func (c *course) save(message string) uint64 {
	c.t.Helper()
	at, tree := c.at(), treeOf(c.Current+message)
	call := c.take("researcher", "", &event.CheckpointCall{Answer: at.Answer, Branch: c.Current, Message: message})
	c.take("core", "", &event.CheckpointResult{Call: call, Files: 1, Size: 3, Tree: tree})
	return c.take("researcher", "", &event.CheckpointMade{Branch: c.Current, Message: message, Parent: c.Here().Head, Tree: *tree})
}

// records notes an artifact that rests on others.
func (c *course) records(kind, title string, because ...string) string {
	c.t.Helper()
	b := &event.ArtifactRecorded{ID: c.NewID(kind), Kind: kind, Title: title, Because: because, Text: event.Text{Text: "Text of " + title}}
	if kind == study.KindDecision {
		b.Verdict, b.Action = "good", "go on"
	}
	c.take("researcher", "", b)
	return b.ID
}

// results records a result where the researcher is, and has it run.
func (c *course) results(kind, value string, because ...string) string {
	c.t.Helper()
	m := event.Metric{Data: event.HashOf([]byte("data")), Direction: study.Lower, Name: "mae", Unit: "m", Value: value}
	b := &event.ResultRecorded{Answer: c.seq + 1, Branch: c.Current, Checkpoint: c.Here().Head, Entrypoint: "run.sh", ID: c.NewID("result"), Kind: kind, Metrics: []event.Metric{m}, Title: kind + " " + value, Summary: "It is " + value, Because: because}
	c.take("researcher", "", b)
	call := c.take("core", "", c.Try())
	c.take("core", "", &event.ReproductionResult{Call: call, Status: event.SameOutput, Fingerprint: event.HashOf(nil), Output: &event.Ref{Size: 3}, Figures: []event.Figure{{Name: "mae", First: value, Second: value}}})
	return b.ID
}

// studied goes from a baseline by an idea that loses and one that wins to an analysis that is
// still open.
func studied(t testing.TB) *course {
	c := newCourse(t)
	c.save("Begin")
	c.branch("run", "naive", "main")
	c.take("researcher", "run_command", &event.ToolCall{Answer: 3, ID: "x"})
	c.take("researcher", "", &event.CliRun{Command: "c1", Args: event.Text{Text: `["sh"]`}})
	c.take("researcher", "", &event.FileDiff{After: *treeOf("home"), Cause: event.CauseTool, Changes: []event.Change{{Kind: event.Added, Path: "work/run/naive/run.sh", Size: 3}}})
	c.save("Naive\n\nThe last value again")
	base := c.results(study.ResultBaseline, "2")
	c.take("core", "", &event.BaselineAccepted{By: study.ByReproduction, Result: base})
	c.branch("idea", "holt", "main")
	idea := c.records("idea", "Holt", "1")
	first := c.records("decision", "Try Holt", idea)
	c.branch("run", "holt", "idea/holt")
	c.save("Holt")
	won := c.results(study.ResultMain, "1", first)
	c.take("researcher", "", &event.ArtifactRecorded{ID: c.NewID("idea"), Kind: "idea", Title: "Holt, damped", Supersedes: idea, Text: event.Text{Text: "x"}})
	c.take("researcher", "", &event.CampaignCreated{Answer: c.seq + 1, ID: "campaign-1", Reason: "Is it noise?", Result: won, Slices: []event.CampaignSlice{{ID: "noise", Question: "Noise?"}}})
	c.branch("analysis", "holt/1-noise", "run/holt")
	return c
}

func (c *course) edges(kind string) (out []string) {
	for _, x := range traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{}).Edges {
		if x.Kind == kind {
			out = append(out, strings.ReplaceAll(x.From+" > "+x.To, "event:", ""))
		}
	}
	return out
}

// TestTheBranchCanvas: each line of work has the fields that a reader needs, and says which idea
// it came of, how far it is from its parent and how its figure stands to the baseline.
func TestTheBranchCanvas(t *testing.T) {
	t.Parallel()
	c := studied(t)
	got := branchCanvas(c.Study, &c.trail, c.seq)
	byRef := map[string]*BranchNode{}
	for _, n := range got.Nodes {
		byRef[n.Ref] = n
	}
	run, analysis := byRef["run/holt"], byRef["analysis/holt/1-noise"]
	if run == nil || analysis == nil {
		t.Fatalf("the canvas has %d branches and not run/holt and its analysis", len(got.Nodes))
	}
	if run.Label != "holt" || run.Kind != "run" || run.Tier != 1 || run.Mode != "idea" || run.Parent != "idea/holt" || run.Base != "idea/holt" || run.Worktree != "work/run/holt" {
		t.Errorf("run/holt: %+v, want it below idea/holt", run)
	}
	if run.Subject != "Holt" || run.Commits != 1 || run.Ahead != 1 || run.Behind != 0 || run.Closed == 0 || run.Head == 0 || run.Updated == 0 {
		t.Errorf("run/holt: %+v, want one checkpoint more than its parent, and closed", run)
	}
	if run.Run != "result-2" || run.RunKind != "main" || run.Idea != "idea-2" || run.Metric == nil || run.Metric.Value != "1" || run.Metric.Verdict != "verified" || run.Metric.Outcome != "better" {
		t.Errorf("run/holt: %+v %+v, want its result, its idea and a figure that is better", run, run.Metric)
	}
	if want := []string{"campaign-1", "idea-2", "result-2"}; !slices.Equal(run.Recent, want) || run.Summary != "Is it noise?" {
		t.Errorf("run/holt: recent %v, %q, want %v and the last summary", run.Recent, run.Summary, want)
	}
	if analysis.Tier != 2 || analysis.Mode != "analysis" || !analysis.Current || analysis.Idea != "idea-2" || got.Current != analysis.Ref {
		t.Errorf("the analysis: %+v, want it to be where the researcher is, and of the idea of its run", analysis)
	}
	if want := []string{"run/holt", "analysis/holt/1-noise"}; !slices.Equal(got.Views.Analysis, want) || slices.Contains(got.Views.Ideas, analysis.Ref) || len(got.Views.Ideas) != 4 {
		t.Errorf("views: %+v, want the analysis with its run apart from the ideas", got.Views)
	}
	var edges []string
	for _, x := range got.Edges {
		edges = append(edges, x.Kind+" "+x.From+" > "+x.To)
	}
	for _, want := range []string{"branch main > run/naive", "branch idea/holt > run/holt", "branch run/holt > analysis/holt/1-noise", "compares run/holt > run/naive"} {
		if !slices.Contains(edges, want) {
			t.Errorf("edges: %q, want %q among them", edges, want)
		}
	}
}

// TestBehindCountsWhatTheParentWentOnWith.
func TestBehindCountsWhatTheParentWentOnWith(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	c.save("One")
	c.branch("idea", "a", "main")
	c.save("Own")
	at := c.at()
	call := c.take("researcher", "", &event.FolderCall{Answer: at.Answer, Branch: "main", Tree: c.Tree(c.Branch("main"))})
	c.take("core", "", &event.FolderResult{Call: call, There: true})
	c.take("researcher", "", &event.BranchActivated{Answer: at.Answer, Name: "main"})
	c.save("Two")
	c.save("Three")
	n := branchCanvas(c.Study, &c.trail, c.seq).Nodes[1]
	ahead, behind := c.Ahead(c.Branch("idea/a"), c.Branch("main"))
	if n.Ahead != 1 || n.Behind != 2 || n.Ahead != ahead || n.Behind != behind {
		t.Errorf("idea/a is %d ahead and %d behind, want 1 and 2, as the study says: %d and %d", n.Ahead, n.Behind, ahead, behind)
	}
}

// TestEdgesSayWhy: what rests on what, what was decided, compared and replaced follows from
// recorded ids, and the rest from the order of events.
func TestEdgesSayWhy(t *testing.T) {
	t.Parallel()
	c := studied(t)
	for kind, want := range map[string][]string{
		Sequence:   {"idea-1 > decision-1", "result-2 > idea-2", "idea-2 > campaign-1"},
		BranchOf:   {"decision-1 > result-2", "campaign-1 > open:analysis/holt/1-noise"},
		EvidenceOf: {"idea-1 > decision-1", "result-2 > campaign-1"},
		DecidedBy:  {"decision-1 > result-2"},
		Compares:   {"result-2 > result-1"},
		Supersedes: {"idea-2 > idea-1"},
	} {
		if got := c.edges(kind); !slices.Equal(got, want) {
			t.Errorf("edges of the kind %s: %q, want %q", kind, got, want)
		}
	}
}

// TestEventNodes: a thing has what was done before it and since the last, and a line of work
// without a result is an open run.
func TestEventNodes(t *testing.T) {
	t.Parallel()
	c := studied(t)
	g := traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{View: "event"})
	n := g.Events[0]
	if n.Ref != "event:result-1" || n.Kind != "baseline" || n.Branch != "run/naive" || n.Stage != "scout" || n.Path != "work/run/naive" || n.Artifact.Verdict != "verified" || n.Head == 0 {
		t.Errorf("the first event: %+v %+v, want the baseline where it was made", n, n.Artifact)
	}
	if want := (Counts{1, 1, 1}); n.Counts != want || len(n.Actions) != 1 || n.Actions[0].Tool != "run_command" || !slices.Equal(n.Changed, []string{"work/run/naive/run.sh"}) {
		t.Errorf("the first event: %+v, want one call, one command and one file", n)
	}
	if n.Last <= n.Seq || n.Updated != event.Time(n.Last)*1000 {
		t.Errorf("the first event was last changed by %d at %v, want when it was accepted", n.Last, n.Updated)
	}
	if len(g.Events[1].Actions) != 0 || g.Events[1].Counts != (Counts{}) {
		t.Errorf("the second event: %+v, want nothing of what was done for the first", g.Events[1])
	}
	last := g.Events[len(g.Events)-1]
	if !last.Open || last.Ref != "open:analysis/holt/1-noise" || last.Artifact != nil || len(g.Stages) != 0 {
		t.Errorf("the last event: %+v, want the analysis that is open, and no stages", last)
	}
	if some := traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{Branch: "run/holt"}); len(some.Events) != 3 {
		t.Errorf("run/holt has %d events, want 3", len(some.Events))
	}
	if some := traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{Max: 2}); len(some.Events) != 2 || !some.Truncated {
		t.Errorf("at most 2: %d events, truncated %v, want it said", len(some.Events), some.Truncated)
	}
}

// TestStageNodes: there is one for each stage of each line of work, and decisions join theirs.
func TestStageNodes(t *testing.T) {
	t.Parallel()
	c := studied(t)
	c.take("person", "", &event.AnchorMoved{By: "person", From: "scout", To: "baseline", Reason: "Enough"})
	c.records("milestone", "Half way")
	c.records("decision", "Go on", "1")
	g := traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{View: "stage"})
	var got []string
	for _, n := range g.Stages {
		got = append(got, fmt.Sprintf("%s %d %d", n.Ref, len(n.Events), len(n.Decisions)))
	}
	want := []string{"stage:run/naive:scout 1 0", "stage:idea/holt:scout 1 1", "stage:run/holt:scout 3 0", "stage:analysis/holt/1-noise:baseline 2 1"}
	if !slices.Equal(got, want) || len(g.Events) != 0 {
		t.Errorf("stages: %q, want %q and no events", got, want)
	}
	c.take("person", "", &event.AnchorMoved{By: "person", From: "baseline", To: "scout", Reason: "Back"})
	c.records("milestone", "Again")
	g = traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{View: "stage"})
	if n := len(g.Edges); n != 1 || g.Edges[0].Kind != StageOrder || g.Edges[0].From != "stage:analysis/holt/1-noise:scout" || g.Edges[0].To != "stage:analysis/holt/1-noise:baseline" {
		t.Errorf("edges: %+v, want the one between the two stages of the analysis", g.Edges)
	}
}

// TestTheCanvasOfEveryQuestHasWhatAStudyCameTo: also who does not ask for a study's own canvas sees its
// things, how they stand, and what they rest on.
func TestTheCanvasOfEveryQuestHasWhatAStudyCameTo(t *testing.T) {
	t.Parallel()
	c := studied(t)
	run := c.Results[1].Run
	c.records("report", "What it is", fmt.Sprint(run))
	nodes, edges, more := c.canvas.Graph(0, 100)
	var got, joined []string
	for _, n := range nodes {
		got = append(got, fmt.Sprintf("%s %s %s", n.ID, n.Kind, n.Status))
	}
	for _, x := range edges {
		joined = append(joined, fmt.Sprintf("%s %s %s", x.From, x.Kind, x.To))
	}
	want := []string{
		"thing:result-1 baseline accepted", "thing:idea-1 idea replaced", "thing:decision-1 decision good", "thing:result-2 run verified", "thing:idea-2 idea ",
		"thing:campaign-1 campaign ", "thing:report-1 report ",
	}
	if !slices.Equal(got, want) || more {
		t.Errorf("the nodes are %q, want %q", got, want)
	}
	wantJoined := []string{
		"thing:idea-1 evidence thing:decision-1", "thing:decision-1 decision thing:result-2", "thing:result-2 compares thing:result-1",
		"thing:idea-2 supersedes thing:idea-1", "thing:result-2 evidence thing:campaign-1", "thing:result-2 evidence thing:report-1",
	}
	if !slices.Equal(joined, wantJoined) {
		t.Errorf("the edges are %q, want %q", joined, wantJoined)
	}
	// What a node was before is told too.
	if n := c.canvas.byID["thing:result-2"]; n == nil || n.Last <= n.Seq || len(n.Changes) != 1 || n.Label != "main 1" {
		t.Errorf("the result is drawn as %+v, want it changed by its run", n)
	}
}

// TestThreadsOfAStudy: a question is open until it is answered, or a newer one takes its place.
func TestThreadsOfAStudy(t *testing.T) {
	t.Parallel()
	c := newCourse(t)
	say := func(kind, reply string) uint64 {
		return c.take("researcher", "", &event.InteractSaid{Answer: c.seq + 1, Kind: kind, Reply: reply, Text: event.Text{Text: kind}})
	}
	say("milestone", "threaded")
	c.take("person", "", &event.UserMessage{Text: event.Text{Text: "Well done"}})
	say("decision_request", "blocking")
	c.take("core", "", &event.InteractionOpened{Answer: c.seq, Question: event.Text{Text: "Which?"}})
	say("decision_request", "blocking")
	c.take("core", "", &event.InteractionOpened{Answer: c.seq, Question: event.Text{Text: "Or this?"}})
	asked := c.seq
	if x := c.trail.thread(asked); x.Status != threadOpen || len(c.trail.Threads) != 3 {
		t.Errorf("the second question is %s of %d threads, want it open, and no thread for what it is asked by", x.Status, len(c.trail.Threads))
	}
	c.take("person", "", &event.InteractionAnswered{Interaction: asked, Choice: "yes"})
	var got []string
	for _, x := range c.trail.Threads {
		got = append(got, fmt.Sprint(x.Status, len(x.Replies)))
	}
	if want := []string{"said1", "superseded0", "answered1"}; !slices.Equal(got, want) {
		t.Errorf("threads: %q, want %q", got, want)
	}
}

// TestATrailIsSaved: read back it is the same, and goes on as one that was never saved.
func TestATrailIsSaved(t *testing.T) {
	t.Parallel()
	c := studied(t)
	data, err := json.Marshal(&c.trail)
	if err != nil {
		t.Fatal(err)
	}
	var again Trail
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if back, err := json.Marshal(&again); err != nil || string(back) != string(data) || len(again.Things) != 6 {
		t.Errorf("the trail is read back as another: %v\n%s\n%s", err, back, data)
	}
}

// wide is a study with so many artifacts, each of which rests on the one before, in 60 branches.
func wide(t testing.TB, artifacts int) *course {
	c := newCourse(t)
	c.save("Begin")
	for i := range 59 {
		c.branch("idea", fmt.Sprintf("i%d", i), "main")
	}
	last := "1"
	for i := range artifacts {
		b := &event.ArtifactRecorded{ID: c.NewID("report"), Kind: "report", Title: "r", Because: []string{last}, Branch: c.Branches[i%60].Name, Text: event.Text{Text: "x"}}
		c.take("researcher", "", b)
		last = b.ID
	}
	return c
}

func (c *course) draw() int {
	g := traceCanvas(c.Study, &c.trail, c.seq, TraceQuery{Max: 20_000})
	b := branchCanvas(c.Study, &c.trail, c.seq)
	return len(g.Events) + len(g.Edges) + len(b.Nodes)
}

func BenchmarkCanvasOfAStudy(b *testing.B) {
	for _, n := range []int{200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := wide(b, n)
			for b.Loop() {
				c.draw()
			}
		})
	}
}

// TestTheCanvasGrowsNoFasterThanTheStudy: what ten times the artifacts take is measured in
// allocations, which no load of the machine changes; BenchmarkCanvasOfAStudy has the times.
func TestTheCanvasGrowsNoFasterThanTheStudy(t *testing.T) {
	small, large := wide(t, 200), wide(t, 2000)
	if got := large.draw(); got < 2000*2 {
		t.Fatalf("the canvas of 2,000 artifacts has %d nodes and edges", got)
	}
	cost := func(c *course) float64 { return testing.AllocsPerRun(3, func() { c.draw() }) }
	if a, b := cost(small), cost(large); b > 11*a {
		t.Errorf("2,000 artifacts take %.0f allocations and 200 take %.0f, want at most ten times as many", b, a)
	}
}
