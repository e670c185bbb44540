package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
)

// concluding is a quest whose events a test tells one by one, with its state and its views.
type concluding struct {
	*story
	state *quest.State
	views *Views
	n     int64
}

func conclude(t *testing.T, society quest.Society, b *event.QuestCreated) *concluding {
	t.Helper()
	c := &concluding{story: &story{t: t, quest: "q", blobs: map[event.Hash][]byte{}}, views: &Views{}}
	c.add("person", "", b)
	var err error
	if c.state, err = quest.New(c.events[0], []quest.Society{society}); err != nil {
		t.Fatalf("make a quest: %v", err)
	}
	c.state.Apply(c.events[0])
	c.views.Take(c.events[0], c.state)
	return c
}

func (c *concluding) take(actor string, b event.Body) uint64 {
	c.t.Helper()
	seq := c.add(actor, "", b)
	e := c.events[seq-1]
	c.state.Apply(e)
	c.views.Take(e, c.state)
	return seq
}

// publish has an agent publish a paper that names a value, and returns its reference. Of one
// with a program, missing says whether that prints something else.
func (c *concluding) publish(claim string, program, missing bool) string {
	c.t.Helper()
	c.n++
	ref := fmt.Sprintf("%032x", c.n)
	c.take("agent-0", &event.PublicationSubmitted{Ref: ref, Title: "On " + claim, Claims: []string{claim}, Named: true, Part: c.n})
	if program {
		call := c.take("core", &event.ReproductionCall{Ref: ref, Entrypoint: "run.py"})
		r := &event.ReproductionResult{Call: call, Status: event.SameOutput}
		if missing {
			r.Missing = []string{claim}
		}
		c.take("core", r)
	}
	c.take("core", &event.PublicationDecided{Ref: ref, Status: event.Published, Accepts: 2})
	return ref
}

func labOf(t *testing.T, agents int64) *concluding {
	b := questtest.Created(lab.Society{}, agents)
	b.Lab = &event.LabSpec{Deadline: 40, Decision: lab.Majority}
	return conclude(t, lab.Society{}, b)
}

func TestTheConclusionOfALabSaysWhoAgreesAndHowItCameAbout(t *testing.T) {
	t.Parallel()
	c := labOf(t, 24)
	if got := c.views.Conclusion(c.state); got != nil {
		t.Fatalf("before anything is published the conclusion is %+v, want none", got)
	}
	wrong := c.publish("12161", false, false)
	best := c.publish("12160", true, false)
	c.publish("12,160", true, true)
	c.publish("12160", false, false)
	c.publish("7", false, false)
	c.publish("12161.0", false, false)
	c.take("agent-1", &event.VoteCast{Ref: wrong, Part: 1})
	for i := range 2 {
		c.take(fmt.Sprintf("agent-%d", i+2), &event.VoteCast{Ref: best, Part: int64(i)})
	}
	got := c.views.Conclusion(c.state)
	if want := "3 of 6 papers say so, 2 say 12161, 1 says 7; 3 of 24 voted, 2 for it"; got.Said != want {
		t.Errorf("who agrees: got %q, want %q", got.Said, want)
	}
	if want := "1 program prints it, 1 program does not, 1 paper has none"; got.Printed != want {
		t.Errorf("what programs say: got %q, want %q", got.Printed, want)
	}
	if len(got.Carriers) != 3 || got.Carriers[0].Ref != best || got.Carriers[0].Value != "12160" || got.More != 0 {
		t.Errorf("it is carried by %+v and %d more, want 3 papers, the best first", got.Carriers, got.More)
	}
	if len(got.Others) != 2 || got.Others[0].Papers != 2 || got.Others[0].Ref != wrong {
		t.Errorf("other values: got %+v, want 12161 of 2 papers and 7 of 1", got.Others)
	}
	last, first := got.History[len(got.History)-1], got.History[0]
	if first.Value != "" || first.Submitted != 1 || last.Value != "12160" || last.Same != 3 || last.Of != 6 || last.Votes != 2 || last.Published != 6 {
		t.Errorf("the history begins with %+v and ends with %+v", first, last)
	}
	var values []string
	for _, turn := range got.History {
		if n := len(values); n == 0 || values[n-1] != turn.Value {
			values = append(values, turn.Value)
		}
	}
	if want := []string{"", "12161", "12160", "12161", "12160"}; fmt.Sprint(values) != fmt.Sprint(want) {
		t.Errorf("the values in turn: got %q, want %q", values, want)
	}
	if v := c.state.Verdict(); *v.Same+1 != last.Same || *v.Otherwise != last.Of-last.Same {
		t.Errorf("the conclusion counts %d and %d, the verdict %d and %d besides the best", last.Same, last.Of-last.Same, *v.Same, *v.Otherwise)
	}
}

func TestAConclusionIsSavedWithTheViews(t *testing.T) {
	t.Parallel()
	c := labOf(t, 3)
	ref := c.publish("7", false, false)
	c.take("agent-1", &event.VoteCast{Ref: ref, Part: 1})
	data, err := c.views.Encode()
	if err != nil {
		t.Fatalf("save the views: %v", err)
	}
	again, err := DecodeViews(data)
	if err != nil {
		t.Fatalf("read the saved views: %v", err)
	}
	want, _ := json.Marshal(c.views.Conclusion(c.state))
	if got, _ := json.Marshal(again.Conclusion(c.state)); string(got) != string(want) {
		t.Errorf("saved and read the conclusion is\n%s\nwant\n%s", got, want)
	}
}

func TestALongHistoryIsThinnedAndKeepsItsEnds(t *testing.T) {
	t.Parallel()
	var all []Turn
	for i := range 5000 {
		value := "a"
		if i == 777 || i > 4000 {
			value = "b"
		}
		all = record(all, Turn{Seq: uint64(i + 1), Value: value, Votes: int64(i)})
	}
	if same := record(all, Turn{Seq: 9000, Value: "b", Votes: 4999}); len(same) != len(all) {
		t.Errorf("an event that changes nothing is a turn of its own")
	}
	got := thinned(all)
	if len(got) > maxTurns+10 || got[0].Seq != 1 || got[len(got)-1].Seq != 5000 {
		t.Errorf("%d turns from %d to %d are left, want about %d from 1 to 5000", len(got), got[0].Seq, got[len(got)-1].Seq, maxTurns)
	}
	seqs := fmt.Sprint(got)
	for _, want := range []string{"{778 ", "{779 ", "{4002 "} {
		if !strings.Contains(seqs, want) {
			t.Errorf("the turn %s} with which the value changed is left out", want)
		}
	}
}

func TestTheConclusionOfAContractNetIsItsClaims(t *testing.T) {
	t.Parallel()
	b := questtest.Created(contract.Society{}, 1)
	b.Contract = &event.ContractSpec{Audit: contract.Standard}
	b.Agents = []event.AgentSpec{{Name: "planner", System: b.Spec, Tools: b.Spec, Window: 1000}, {Name: "synthesizer", System: b.Spec, Tools: b.Spec, Window: 1000}}
	c := conclude(t, contract.Society{}, b)
	for n := range int64(3) {
		c.take("synthesizer", &event.ClaimMade{Claim: n + 1, Text: fmt.Sprintf("It is %d.", n), Confidence: 900})
	}
	if got := c.views.Conclusion(c.state); got.Said != "3 claims are made, not weighed yet" || got.Claims[0].Status != "made" {
		t.Errorf("before the audit: got %+v", got)
	}
	c.take("auditor", &event.ArgumentsWeighed{Stand: []int64{2}, Undecided: []int64{1}, Defeated: []event.Defeat{{Claim: 3, By: "claim 2"}}})
	got := c.views.Conclusion(c.state)
	var states []string
	for _, k := range got.Claims {
		states = append(states, k.Status)
	}
	if fmt.Sprint(states) != "[undecided stands defeated]" {
		t.Errorf("the claims are %v, want undecided, stands, defeated", states)
	}
	if n := len(got.History); n != 1 || got.History[0].Same != 1 || got.History[0].Of != 3 || got.History[0].Value != "It is 1." {
		t.Errorf("the history is %+v, want one turn in which 1 of 3 claims stands", got.History)
	}
}

func TestTheConclusionOfOneAgentIsWhichResultsHoldItsAnswer(t *testing.T) {
	t.Parallel()
	b := questtest.Created(solo.Society{}, 1, "calculate")
	b.Problem.Text = "What is the sum below 10,000?"
	c := conclude(t, solo.Society{}, b)
	if got := c.views.Conclusion(c.state); got != nil {
		t.Errorf("before the answer the conclusion is %+v, want none", got)
	}
	took := &workings{}
	for i, r := range []event.ToolResult{{Output: event.Text{Text: "sum: 12160\n"}}, {Output: event.Text{Text: "12161"}}, {Error: true, Output: event.Text{Text: "division by zero"}}} {
		took.take(c.views, event.Event{Seq: uint64(i + 5), Tool: "calculate", Body: &r}, c.state)
	}
	took.take(c.views, event.Event{Seq: 9, Tool: "write_file", Body: &event.ToolResult{Output: event.Text{Text: "wrote 12160 bytes"}}}, c.state)
	c.views.society = took
	c.take("agent-0", &event.QuestFinished{Answer: event.Text{Text: "The sum below 10,000 is **12160**.\n\nIt was summed."}})
	got := c.views.Conclusion(c.state)
	if got.Printed != "1 of 3 results of tools hold it" {
		t.Errorf("what tools say: got %q", got.Printed)
	}
	if len(got.Checks) != 3 || got.Checks[0].Holds != "failed" || got.Checks[1].Holds != "no" || got.Checks[2].Holds != "yes" || got.Checks[2].Output != "sum: 12160" {
		t.Errorf("the checks: got %+v, want failed, no, yes", got.Checks)
	}
	for range 3 * maxChecks {
		took.take(c.views, event.Event{Body: &event.ToolResult{}}, c.state)
	}
	if len(took.List) != maxChecks || len(took.Whole) != maxChecks {
		t.Errorf("%d outputs are kept, want the last %d", len(took.List), maxChecks)
	}
}

func TestPapersThatSayTheSameSaySoOnTheCanvasInOneForm(t *testing.T) {
	t.Parallel()
	c := labOf(t, 3)
	for _, claim := range []string{"12,160", "12160", "12161"} {
		c.publish(claim, false, false)
	}
	encoded, err := c.views.Encode()
	if err != nil {
		t.Fatalf("save the views: %v", err)
	}
	if c.views, err = DecodeViews(encoded); err != nil {
		t.Fatalf("read the saved views: %v", err)
	}
	c.publish("12160", false, false)
	nodes, _, _ := c.views.Canvas.Graph(0, 100)
	var says []string
	for _, n := range nodes {
		if n.Time == 0 {
			t.Errorf("%s has no time, want when it came about", n.ID)
		}
		if n.Kind == "paper" {
			says = append(says, n.Says)
		}
	}
	if got := strings.Join(says, " | "); got != "12,160 | 12,160 | 12161 | 12,160" {
		t.Errorf("the papers say %s, want the first form of each value for all that have it", got)
	}
}
