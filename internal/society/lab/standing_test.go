package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
)

// long is a lab whose agents work for so long that their windows are cut again and again.
// Each request is rendered, and held against what its agent must know.
type long struct {
	*world
	rendered map[string]*agent.Rendering
	last     map[string][]string // the messages of each agent's last request
	first    map[string]int64    // where its window began
	size     map[string]int      // bytes of it
	prefix   int                 // bytes of the prompt and the tools
	cuts     int
	// shown are the bytes of all requests, cached those of them that the request before
	// began with.
	shown, cached int
}

// look looks at an agent's open request, and returns its size. It does so as soon as there is
// one: what happens afterwards the agent cannot know.
func (l *long) look(name string) int {
	l.T.Helper()
	a := l.State.Agent(name)
	e := l.Events[a.Asked-1]
	call := e.Body.(*event.ModelCall)
	if l.rendered[name] == nil {
		l.rendered[name] = new(agent.Rendering)
	}
	messages, err := l.rendered[name].Messages(&a.Transcript, call, nil)
	if err != nil {
		l.T.Fatalf("request %d of %s cannot be rendered: %v", call.Turn, name, err)
	}
	var texts []string
	size := l.prefix
	for _, m := range messages {
		texts = append(texts, fmt.Sprint(m))
		size += len(texts[len(texts)-1])
	}
	before := l.last[name]
	if len(before) > 0 {
		l.cached += l.prefix
	}
	for i := 0; i < min(len(before), len(texts)) && before[i] == texts[i]; i++ {
		l.cached += len(texts[i])
	}
	l.shown += size
	l.last[name] = texts
	if call.Compact != nil {
		return size
	}
	if call.First != l.first[name] {
		l.cuts++
		l.first[name] = call.First
		l.knows(name, texts[len(texts)-1])
	} else if call.First > 0 && !strings.Contains(strings.Join(texts, "\n"), "You are "+name+", one of 8 agents.") {
		l.T.Fatalf("request %d of %s, whose window was cut, does not say who it is", call.Turn, name)
	}
	return size
}

// knows checks what an agent is told last after a cut.
func (l *long) knows(name, told string) {
	l.T.Helper()
	want := []string{"You are " + name + ", one of 8 agents.", "notes.md", "Turns: you " + fmt.Sprint(l.State.Agent(name).Turns-1)}
	lib := lab.Library(l.State)
	for _, ref := range lib.Asked[name] {
		left := lib.Paper(ref).Request(name).Deadline - (l.State.Agent(name).Turns - 1)
		want = append(want, fmt.Sprintf("%s by %s, ", ref, lib.Paper(ref).Author), fmt.Sprintf("within %d of your turns", left))
	}
	for _, p := range lib.By(name) {
		want = append(want, p.Ref+" "+p.Status)
	}
	if ref := lib.Votes[name]; ref != "" {
		want = append(want, "Your vote: "+ref)
	}
	for _, w := range want {
		if !strings.Contains(told, w) {
			l.T.Fatalf("after a cut %s is told last\n%s\nwhich has no %q", name, told, w)
		}
	}
}

// turn is one of an agent's: it reviews late, publishes now and then, votes once, and works.
func (l *long) turn(i, turn int) {
	l.T.Helper()
	lib := lab.Library(l.State)
	call := questtest.Call{Tool: "look", Args: "{}"}
	switch asked := lib.Asked[name(i)]; {
	case len(asked) > 0 && turn%9 == i:
		call = questtest.Call{Tool: "submit_review", Args: args("ref", asked[0], "grade", []string{"ACCEPT", "REJECT"}[turn%2], "content", "checked by "+name(i))}
	case len(asked) == 0 && turn%50 == 5*i:
		call = questtest.Call{Tool: "submit_publication", Args: args("title", fmt.Sprint("finding ", turn, " of ", name(i)), "content", "It holds.")}
	case turn == 150+i:
		for _, p := range lib.Papers {
			if p.Status == event.Published {
				call = questtest.Call{Tool: "vote_solution", Args: args("ref", p.Ref)}
			}
		}
	}
	r := questtest.Calls(call)
	r.Parts = append([]event.Part{{Kind: event.PartText, Text: &event.Text{Text: strings.Repeat("I think of it. ", 20)}}}, r.Parts...)
	r.Usage = event.Usage{Input: int64(l.size[name(i)]) / 4, Output: 150}
	l.Answer(name(i), r)
	for _, seq := range l.Open("tool.call", name(i)) {
		if l.State.Calls[seq].Tool == "look" {
			l.Take(name(i), &event.ToolResult{Call: seq, Output: event.Text{Text: fmt.Sprint(turn, strings.Repeat(" numbers", 250))}})
			continue
		}
		l.settle(seq)
	}
	l.size[name(i)] = l.look(name(i))
	for l.Events[l.State.Agent(name(i)).Asked-1].Body.(*event.ModelCall).Compact != nil {
		r := questtest.Says(strings.Repeat("what I found so far. ", 60))
		r.Usage = event.Usage{Input: int64(l.size[name(i)]) / 4, Output: 300}
		l.Answer(name(i), r)
		l.size[name(i)] = l.look(name(i))
	}
}

// work has a lab of eight agents work for some turns each, in windows of some tokens.
func work(t *testing.T, window int64, turns int, context string) *long {
	t.Helper()
	b := created(8, event.LabSpec{Deadline: 40, Decision: lab.Majority, Reviewers: 3})
	b.Context = context
	var system string
	for _, x := range (lab.Society{}).Texts() {
		if x.Name == "system" {
			system = x.Text
		}
	}
	b.Agents[0].System, b.Agents[0].Window = event.RefOf([]byte(system)), window
	b.Agents[0].ToolNames = append(b.Agents[0].ToolNames, "write_file")
	l := &long{
		world: &world{Story: questtest.Begin(t, lab.Society{}, b)}, prefix: len(system),
		rendered: map[string]*agent.Rendering{}, last: map[string][]string{}, first: map[string]int64{}, size: map[string]int{},
	}
	l.Start()
	for i := range 8 {
		l.size[name(i)] = l.look(name(i))
	}
	for turn := range turns {
		for i := range 8 {
			l.turn(i, turn)
		}
	}
	l.Sound()
	return l
}

func (l *long) check(t *testing.T, least int) {
	t.Helper()
	share := 100 * float64(l.cached) / float64(l.shown)
	t.Logf("%d cuts, %d papers, %.1f %% of what was sent had been sent at the same place before", l.cuts, len(lab.Library(l.State).Papers), share)
	if l.cuts < least {
		t.Errorf("%d cuts of windows: want at least %d, or the test shows nothing", l.cuts, least)
	}
	if share < 85 {
		t.Errorf("%.1f %% of what was sent could be cached: want 85 %%", share)
	}
}

func TestAgentsKnowThemselvesAfterEveryCut(t *testing.T) {
	t.Parallel()
	work(t, 12_000, 60, "").check(t, 8)
}

func TestAgentsKnowThemselvesAfterEveryCompaction(t *testing.T) {
	t.Parallel()
	l := work(t, 12_000, 60, event.ContextCompact)
	l.check(t, 8)
	summaries := 0
	for _, e := range l.Events {
		if c, ok := e.Body.(*event.ModelCall); ok && c.Compact != nil {
			summaries++
		}
	}
	if summaries != l.cuts {
		t.Errorf("%d summaries were asked for, and %d windows moved on: want as many", summaries, l.cuts)
	}
	if text := l.last["agent-0"]; !strings.Contains(strings.Join(text[:3], "\n"), "your own summary of it") {
		t.Errorf("the last request begins with\n%s\nand no summary is there that is marked as the model's own words", strings.Join(text[:3], "\n"))
	}
}

// The figure of docs/performance.md.
func TestAgentsKnowThemselvesFor400Turns(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	for _, context := range []string{event.ContextCut, event.ContextCompact} {
		t.Run(context, func(t *testing.T) {
			work(t, 40_000, 400, context).check(t, 8)
		})
	}
}
