package lab_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"

	"github.com/google/go-cmp/cmp"
)

// world is a lab under way, with the little that rules ask of a world.
type world struct {
	*questtest.Story
	// delivered is what get_publication last gave.
	delivered *quest.Delivery
}

func created(agents int64, spec event.LabSpec) *event.QuestCreated {
	var names []string
	for _, t := range (lab.Society{}).Own() {
		names = append(names, t.Name)
	}
	b := questtest.Created(lab.Society{}, agents, append(names, "look")...)
	b.Lab, b.Seed, b.Computer = &spec, 7, &event.ComputerSpec{}
	return b
}

// open opens a lab and starts it.
func open(t questtest.T, agents int64, spec event.LabSpec) *world {
	t.Helper()
	w := &world{Story: questtest.Begin(t, lab.Society{}, created(agents, spec))}
	w.Start()
	return w
}

func usual(agents int64) event.LabSpec {
	return event.LabSpec{Deadline: 40, Decision: lab.Majority, Reviewers: min(3, agents-1)}
}

// name is an agent's.
func name(i int) string { return fmt.Sprintf("agent-%d", i) }

// does has an agent call one tool, and the world do its part; it returns what the
// agent was answered.
func (w *world) does(i int, tool, args string) string {
	w.T.Helper()
	from := len(w.Events)
	w.Answer(name(i), questtest.Calls(questtest.Call{Tool: tool, Args: args}))
	for {
		calls := w.Open("tool.call", name(i))
		if len(calls) == 0 {
			break
		}
		w.settle(calls[0])
	}
	for _, e := range w.Events[from:] {
		switch b := e.Body.(type) {
		case *event.ToolAnswered:
			if e.Actor == name(i) {
				return b.Output.Text
			}
		case *event.ToolResult:
			if e.Actor == name(i) {
				return b.Output.Text
			}
		}
	}
	w.T.Fatalf("%s was not answered", name(i))
	return ""
}

// settle does the world's part of a call.
func (w *world) settle(seq uint64) {
	w.T.Helper()
	c := w.State.Calls[seq]
	if c.Kind == "reproduction.call" {
		w.Take("core", &event.ReproductionResult{Call: seq, Status: event.SameOutput})
		return
	}
	own := w.State.Own(c.Tool)
	u, err := w.State.Agent(c.Agent).Use(seq)
	if err != nil {
		w.T.Fatalf("apply an event: %v", err)
	}
	switch {
	case own == nil:
		w.Take(c.Agent, &event.ToolResult{Call: seq, Output: event.Text{Text: "seen"}})
	case own.Step == quest.PreparedTool:
		w.Take(c.Agent, prepare(w.State, own, u))
	default:
		r := &event.ToolResult{Call: seq}
		if w.delivered, err = w.State.Deliver(w.State.Agent(c.Agent), &u); err != nil {
			r.Error, r.Output.Text = true, err.Error()
		} else {
			r.Output.Text = w.delivered.Said
		}
		w.Take(c.Agent, r)
	}
}

// prepare reads arguments as the runtime does.
func prepare(s *quest.State, own *quest.OwnTool, u agent.Use) *event.ToolPrepared {
	p := &event.ToolPrepared{Call: u.Call}
	var args map[string]any
	if err := json.Unmarshal([]byte(u.Args.Text), &args); err != nil {
		p.Error = "The arguments are no JSON object."
		return p
	}
	for _, key := range slices.Sorted(maps.Keys(args)) {
		text, _ := args[key].(string)
		switch key {
		case own.Content:
			f := s.Scan(u.Name, text)
			p.Content, p.Abstract, p.Citations, p.Loose, p.Numbers = &event.Text{Text: text}, f.Abstract, f.Citations, f.Loose, f.Numbers
		case own.Files:
			for _, f := range args[key].([]any) {
				p.Files = append(p.Files, path.Base(f.(string)))
			}
			slices.Sort(p.Files)
			p.Tree = &event.TreeRef{Size: 1}
		default:
			p.Values = append(p.Values, quest.Values(key, args[key])...)
		}
	}
	return p
}

func args(namesAndValues ...string) string {
	m := map[string]string{}
	for i := 0; i < len(namesAndValues); i += 2 {
		m[namesAndValues[i]] = namesAndValues[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// judged are the arguments of a review, with what it rests on.
func judged(namesAndValues ...string) string {
	return strings.TrimSuffix(args(namesAndValues...), "}") + `,"confidence":4,"checked":{"claim":"that it is so","ran":"run.sh, which printed 42","counterexample":"zero"}}`
}

// publishes has an agent hand in a paper, and returns its reference.
func (w *world) publishes(i int, title, content string, more ...string) string {
	w.T.Helper()
	n := len(lab.Library(w.State).Papers)
	said := w.does(i, "submit_publication", args(append([]string{"title", title, "content", content}, more...)...))
	if len(lab.Library(w.State).Papers) == n {
		w.T.Fatalf("%s could not publish: %s", name(i), said)
	}
	return lab.Library(w.State).Papers[n].Ref
}

// grades has every agent that is asked review a paper.
func (w *world) grades(ref string, grades ...string) {
	w.T.Helper()
	for _, grade := range grades {
		for i, r := range lab.Library(w.State).Paper(ref).Requests {
			if r.State == "open" {
				w.reviews(index(r.Reviewer), ref, grade)
				break
			} else if i == len(lab.Library(w.State).Paper(ref).Requests)-1 {
				w.T.Fatalf("nobody is asked to review %s", ref)
			}
		}
	}
}

func (w *world) reviews(i int, ref, grade string) string {
	w.T.Helper()
	return w.does(i, "submit_review", judged("ref", ref, "grade", grade, "content", "checked by "+name(i)))
}

func index(agent string) (i int) {
	if _, err := fmt.Sscanf(agent, "agent-%d", &i); err != nil {
		panic(err)
	}
	return i
}

func (w *world) paper(ref string) (status string, votes, cited int64) {
	p := lab.Library(w.State).Paper(ref)
	return p.Status, p.Votes, p.Cited
}

// kinds are the types of events from the nth on, one word each.
func (w *world) kinds(from int) (out []string) {
	for _, e := range w.Events[from:] {
		switch b := e.Body.(type) {
		case *event.AdvisorySent:
			out = append(out, "advise "+b.Kind)
		case *event.PublicationDecided:
			out = append(out, b.Status)
		default:
			out = append(out, string(e.Type))
		}
	}
	return out
}

func (w *world) advisories(kind string) (out []*event.AdvisorySent) {
	for _, e := range w.Events {
		if b, ok := e.Body.(*event.AdvisorySent); ok && b.Kind == kind {
			out = append(out, b)
		}
	}
	return out
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("what happened differs (-want +got):\n%s", diff)
	}
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Fatalf("%q does not say %q", text, p)
		}
	}
}
