package lab_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// player is a lab whose agents and world do anything.
type player struct {
	*world
	rnd *rand.Rand
}

func play(t questtest.T, seed uint64) *player {
	rnd := rand.New(rand.NewPCG(seed, 1))
	agents := 1 + rnd.Int64N(6)
	b := created(agents, event.LabSpec{
		Deadline: 1 + rnd.Int64N(6), Decision: []string{lab.Majority, lab.Unanimous}[rnd.IntN(2)], Reviewers: rnd.Int64N(agents),
	})
	b.Seed = seed
	if rnd.IntN(3) == 0 {
		b.Limits.Agent = &event.Share{Turns: new(5 + rnd.Int64N(20))}
	}
	p := &player{&world{Story: questtest.Begin(t, lab.Society{}, b)}, rnd}
	p.Start()
	return p
}

// step answers one open call, whichever, or has a person do something.
func (p *player) step() {
	if p.State.Status != quest.Running {
		p.Take("person", &event.QuestResumed{})
		return
	}
	switch p.rnd.IntN(60) {
	case 0:
		p.Take("person", &event.QuestPaused{})
	case 1:
		p.Take("person", &event.UserMessage{Text: event.Text{Text: "go on"}})
		return
	}
	var calls []uint64
	for _, kind := range []event.Type{"model.call", "tool.call", "reproduction.call"} {
		calls = append(calls, p.Open(kind, "")...)
	}
	if len(calls) == 0 {
		p.T.Fatalf("the quest is %s and nothing is under way", p.State.Status)
	}
	seq := calls[p.rnd.IntN(len(calls))]
	c := p.State.Calls[seq]
	if c.Kind != "model.call" {
		p.settle(seq)
		return
	}
	switch p.rnd.IntN(12) {
	case 0, 1:
		p.Answer(c.Agent, questtest.Says("hm"))
	case 2:
		p.Answer(c.Agent, event.ModelResult{})
	case 3:
		if p.rnd.IntN(4) == 0 {
			p.Answer(c.Agent, questtest.Fails(model.Unavailable))
			return
		}
		fallthrough
	default:
		var list []questtest.Call
		for range 1 + p.rnd.IntN(3) {
			list = append(list, p.call(c.Agent))
		}
		p.Answer(c.Agent, questtest.Calls(list...))
	}
}

// call is any call of a tool, sensible or not.
func (p *player) call(agent string) questtest.Call {
	any := func() string {
		if n := len(lab.Library(p.State).Papers); n > 0 && p.rnd.IntN(12) > 0 {
			return lab.Library(p.State).Papers[p.rnd.IntN(n)].Ref
		}
		return []string{"", strings.Repeat("0", 32), "x"}[p.rnd.IntN(3)]
	}
	asked := any
	if list := lab.Library(p.State).Asked[agent]; len(list) > 0 && p.rnd.IntN(8) > 0 {
		asked = func() string { return list[p.rnd.IntN(len(list))] }
	}
	switch p.rnd.IntN(10) {
	case 0, 1:
		content := fmt.Sprintf("content %d", p.rnd.IntN(1000))
		if p.rnd.IntN(2) == 0 {
			content += " [" + any() + "]"
		}
		if p.rnd.IntN(4) == 0 {
			return questtest.Call{Tool: "submit_publication", Args: `{"title":"T","content":"c","attachments":["a"],"entrypoint":"a"}`}
		}
		if p.rnd.IntN(3) == 0 {
			return questtest.Call{Tool: "submit_publication", Args: args("title", "T", "content", content, "revises", any())}
		}
		return questtest.Call{Tool: "submit_publication", Args: args("title", "T", "content", content)}
	case 2, 3, 4, 5:
		return questtest.Call{Tool: "submit_review", Args: judged("ref", asked(), "grade", []string{"ACCEPT", "ACCEPT", "REJECT", "?"}[p.rnd.IntN(4)], "content", "r")}
	case 6:
		return questtest.Call{Tool: "vote_solution", Args: args("ref", any())}
	case 7:
		return questtest.Call{Tool: "get_publication", Args: args("ref", any())}
	case 8:
		return questtest.Call{Tool: "list_publications", Args: fmt.Sprintf(`{"limit":%d}`, p.rnd.IntN(5))}
	}
	return questtest.Call{Tool: []string{"look", "nothing", "list_review_requests"}[p.rnd.IntN(3)], Args: fmt.Sprintf(`{"n":%d}`, p.rnd.IntN(9))}
}

// drain has everybody do nothing until the quest is over.
func (p *player) drain() {
	p.T.Helper()
	if p.State.Status != quest.Running {
		p.Take("person", &event.QuestResumed{})
	}
	for n := 0; p.State.Status == quest.Running; n++ {
		if n > 2000 {
			p.T.Fatalf("it does not end")
		}
		if calls := append(p.Open("tool.call", ""), p.Open("reproduction.call", "")...); len(calls) > 0 {
			p.settle(calls[0])
		} else if calls := p.Open("model.call", ""); len(calls) > 0 {
			p.Answer(p.State.Calls[calls[0]].Agent, questtest.Says("done"))
		} else {
			p.T.Fatalf("nothing is under way, but the quest goes on")
		}
	}
}

// sane checks what must hold of a ledger, and, once it is over, of its end.
func sane(t questtest.T, s *questtest.Story, over bool) {
	t.Helper()
	once := map[string]bool{}
	first := func(format string, args ...any) {
		t.Helper()
		key := fmt.Sprintf(format, args...)
		if once[key] {
			t.Fatalf("%s happened twice", key)
		}
		once[key] = true
	}
	status, open, cites, author := map[string]string{}, map[string]bool{}, map[string]int64{}, map[string]string{}
	votes := map[string]string{}
	for _, e := range s.Events {
		switch b := e.Body.(type) {
		case *event.ToolAnswered:
			first("the result of %d", b.Call)
		case *event.ToolResult:
			first("the result of %d", b.Call)
		case *event.PublicationSubmitted:
			first("the effect of %d.%d", b.Answer, b.Part)
			first("paper %s", b.Ref)
			status[b.Ref], author[b.Ref] = event.Submitted, e.Actor
		case *event.ReviewRequested:
			first("request %s %s", b.Ref, b.Reviewer)
			if open[b.Ref+b.Reviewer] = true; status[b.Ref] != event.Submitted || b.Reviewer == author[b.Ref] {
				t.Fatalf("%s is asked to review %s", b.Reviewer, b.Ref)
			}
		case *event.ReviewExpired:
			if !open[b.Ref+b.Reviewer] {
				t.Fatalf("a request expired that was not open")
			}
			delete(open, b.Ref+b.Reviewer)
		case *event.ReviewSubmitted:
			first("the effect of %d.%d", b.Answer, b.Part)
			if !open[b.Ref+e.Actor] {
				t.Fatalf("%s reviews %s without being asked", e.Actor, b.Ref)
			}
			delete(open, b.Ref+e.Actor)
		case *event.PublicationDecided:
			first("decision of %s", b.Ref)
			status[b.Ref] = b.Status
			for key := range open {
				if strings.HasPrefix(key, b.Ref) {
					t.Fatalf("%s is decided while a review is open", b.Ref)
				}
			}
		case *event.CitationMade:
			first("citations of %s", b.Ref)
			for _, to := range b.To {
				cites[to]++
			}
			if status[b.Ref] != event.Published {
				t.Fatalf("the citations of %s count", b.Ref)
			}
		case *event.VoteCast:
			first("the effect of %d.%d", b.Answer, b.Part)
			if b.Ref != "" && status[b.Ref] != event.Published {
				t.Fatalf("a vote for %s, which is %q", b.Ref, status[b.Ref])
			}
			votes[e.Actor] = b.Ref
		case *event.AdvisorySent:
			for _, to := range b.To {
				if b.Kind != event.AdviseReceived {
					first("advisory %s %s %s", b.Kind, b.Ref, to)
				}
			}
			if len(b.To) == 0 {
				first("advisory %s %s", b.Kind, b.Ref)
			}
		}
	}
	l := lab.Library(s.State)
	for _, p := range l.Papers {
		var n int64
		for _, ref := range votes {
			if ref == p.Ref {
				n++
			}
		}
		if p.Votes != n || p.Cited != cites[p.Ref] || p.Status != status[p.Ref] {
			t.Fatalf("paper %+v should have %d votes, %d citations, status %s", p, n, cites[p.Ref], status[p.Ref])
		}
		if !over {
			continue
		}
		if p.Status == event.Submitted {
			t.Fatalf("paper %s is not decided at the end", p.Ref)
		}
		for _, r := range p.Requests {
			if r.State == paper.Open || !r.Told {
				t.Fatalf("request %+v at the end", r)
			}
		}
	}
	if over && (len(l.Due) > 0 || len(open) > 0 || len(l.Asked) > 0) {
		t.Fatalf("left at the end: due %v, open %v, asked %v", l.Due, open, l.Asked)
	}
}

func TestALabWhoseAgentsDoAnything(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := play(t, seed)
			for range 150 {
				p.step()
				if p.rnd.IntN(10) == 0 {
					p.Sound() // a process that ends and begins again
				}
			}
			sane(t, p.Story, false)
			p.drain()
			sane(t, p.Story, true)
			p.Sound()

			again := play(t, seed)
			for range 150 {
				again.step()
				again.rnd.IntN(10)
			}
			again.drain()
			if got, want := again.Events[len(again.Events)-1].Line(), p.Events[len(p.Events)-1].Line(); !bytes.Equal(got, want) {
				t.Fatalf("the same seed ends in\n%s and\n%s", want, got)
			}
		})
	}
}

// A fork may cut a ledger anywhere, also within what followed from one input.
func TestALabGoesOnWhereverItIsCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := play(t, seed+1000)
			for range 45 {
				p.step()
			}
			state, err := quest.New(p.Events[0], []quest.Society{lab.Society{}})
			if err != nil {
				t.Fatal(err)
			}
			for n, e := range p.Events {
				state.Apply(e)
				saved, err := state.Encode()
				if err != nil {
					t.Fatal(err)
				}
				copied, err := quest.Decode(saved, []quest.Society{lab.Society{}})
				if err != nil {
					t.Fatal(err)
				}
				f := &player{&world{Story: p.Fork(n+1, copied)}, rand.New(rand.NewPCG(seed, uint64(n)))}
				if f.State.Seq == 2 && f.State.Status == quest.Created {
					f.Take("person", &event.QuestStarted{})
				}
				for range 6 {
					f.step()
				}
				f.drain()
				sane(t, f.Story, true)
			}
		})
	}
}

// What had its effect before a cut is answered as what it was, not refused because of
// its own effect.
func TestACallThatHadItsEffectIsAnsweredAfterACut(t *testing.T) {
	t.Parallel()
	w := open(t, 2, usual(2))
	ref := w.publishes(0, "A", "a")
	w.reviews(1, ref, event.Accept)
	w.does(0, "vote_solution", args("ref", ref))
	for n, e := range w.Events {
		want := map[event.Type]string{"publication.submitted": "Submitted as " + ref, "review.submitted": "is taken", "vote.cast": "for " + ref}[e.Type]
		if want == "" {
			continue
		}
		f := &world{Story: w.Fork(n+1, nil)}
		from := len(f.Events)
		f.Take("person", &event.QuestResumed{})
		var said []string
		for _, x := range f.Events[from:] {
			if b, ok := x.Body.(*event.ToolAnswered); ok && x.Actor == e.Actor {
				said = append(said, b.Output.Text)
			}
		}
		has(t, strings.Join(said, "\n"), want)
		same(t, len(said), 1)
	}
}
