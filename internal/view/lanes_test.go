package view

import (
	"fmt"
	"reflect"
	"testing"

	"lyceum/internal/event"
)

// worked is a timeline in which an agent thinks, uses a tool that fails, reviews, and waits.
func worked() *Timeline {
	t := &Timeline{}
	take := func(kind event.Type, actor, tool string, parent uint64, at event.Time, body event.Body) {
		t.Take(event.Event{Type: kind, Actor: actor, Tool: tool, Parent: parent, Time: at, Body: body})
	}
	take("quest.created", "person", "", 0, 1000, nil)
	take("model.call", "agent-10", "", 1, 2000, nil)
	take("model.call", "agent-2", "", 1, 2000, nil)
	take("model.result", "agent-2", "", 3, 5000, nil)
	take("tool.call", "agent-2", "exec", 4, 5000, nil)
	take("tool.result", "agent-2", "exec", 5, 9000, &event.ToolResult{Error: true})
	take("model.call", "agent-2", "", 6, 9000, nil)
	take("model.result", "agent-2", "", 7, 12000, nil)
	take("tool.call", "agent-2", "submit_review", 8, 12000, nil)
	take("tool.prepared", "agent-2", "submit_review", 9, 12000, nil)
	take("review.submitted", "agent-2", "submit_review", 10, 12000, nil)
	take("tool.answered", "agent-2", "submit_review", 11, 12000, nil)
	take("publication.decided", "core", "", 12, 12000, &event.PublicationDecided{Status: event.Rejected})
	take("model.result", "agent-10", "", 2, 21000, nil)
	return t
}

func TestLanesSayWhoDidWhatWhen(t *testing.T) {
	t.Parallel()
	got := worked().Lanes(0, 0, 100)
	var said []string
	for _, l := range got.Lanes {
		said = append(said, l.Actor)
		for _, b := range l.Bars {
			said = append(said, fmt.Sprintf("%s %d-%d", b.Kind, b.From, b.To))
		}
		for _, m := range l.Marks {
			said = append(said, fmt.Sprintf("%s at %d", m.Kind, m.At))
		}
	}
	want := []string{"agent-2", "thinking 1000-4000", "tools 4000-8000", "reviewing 8000-11000", "tools 11000-11000", "failed at 8000", "review at 11000",
		"agent-10", "thinking 1000-20000", "core", "rejected at 11000"}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("the lanes: got %q, want %q", said, want)
	}
	if got.Long != 20000 || got.From != 1000 || got.First != 2 || got.Last != 14 {
		t.Errorf("all of it takes %d µs, work begins at %d, events %d to %d; want 20000, 1000, 2 to 14", got.Long, got.From, got.First, got.Last)
	}
}

// TestWhatWasDecidedStandsOnTheLaneOfWhoBroughtIt: a paper is published by its author, whoever counts the reviews. And what the rules
// still do when the agents are done, or did before, makes their lanes no shorter.
func TestWhatWasDecidedStandsOnTheLaneOfWhoBroughtIt(t *testing.T) {
	t.Parallel()
	line := &Timeline{}
	take := func(actor string, parent uint64, at event.Time, body event.Body) {
		line.Take(event.Event{Type: body.Type(), Actor: actor, Parent: parent, Time: at, Body: body})
	}
	take("person", 0, 0, &event.QuestCreated{})
	take("core", 0, 100, &event.TimerSet{})
	take("agent-1", 1, 50_000, &event.PublicationSubmitted{Ref: "one"})
	take("core", 3, 52_000, &event.PublicationDecided{Ref: "one", Status: event.Published})
	take("core", 3, 54_000, &event.PublicationDecided{Ref: "of nobody", Status: event.Rejected})
	take("agent-2", 3, 58_000, &event.VoteCast{Ref: "one"})
	take("core", 3, 58_000, &event.ReproductionCall{Ref: "one"})
	take("core", 7, 90_000, &event.ReproductionResult{Status: event.SameOutput})
	again := &Timeline{}
	if err := again.unpack(line.pack(), line.types.list, line.actors.list, line.tools.list, line.things.list); err != nil {
		t.Fatalf("read a saved timeline: %v", err)
	}
	for _, line := range []*Timeline{line, again} {
		got := line.Lanes(0, 0, 1000)
		if got.Long != 90_000 || got.From != 50_000 || got.To != 58_000 {
			t.Errorf("of %d µs %d to %d are drawn, want what the agents did, 50000 to 58000 of 90000", got.Long, got.From, got.To)
		}
		marks := map[string]string{}
		for _, l := range got.Lanes {
			for _, m := range l.Marks {
				marks[m.Kind] = l.Actor
			}
		}
		if want := map[string]string{"paper": "agent-1", "published": "agent-1", "rejected": "core", "vote": "agent-2"}; !reflect.DeepEqual(marks, want) {
			t.Errorf("the marks stand on %v, want %v", marks, want)
		}
		if all := line.Lanes(0, 90_000, 1000); all.From != 0 || all.To != 90_000 || all.First != 1 || all.Last != 8 {
			t.Errorf("all of it: got %d to %d, events %d to %d, want 0 to 90000, 1 to 8", all.From, all.To, all.First, all.Last)
		}
	}
}

func TestAStretchOfLanesHasItsEventsAndCutsItsBars(t *testing.T) {
	t.Parallel()
	got := worked().Lanes(3000, 8000, 100)
	if got.First != 4 || got.Last != 7 {
		t.Errorf("the events of the stretch: got %d to %d, want 4 to 7", got.First, got.Last)
	}
	if b := got.Lanes[0].Bars[0]; b.From != 3000 || b.To != 4000 {
		t.Errorf("a bar that began before: got %d to %d, want it cut to 3000 to 4000", b.From, b.To)
	}
	if b := got.Lanes[1].Bars[0]; got.Lanes[1].Actor != "agent-10" || b.From != 3000 || b.To != 8000 {
		t.Errorf("a bar that goes through: got %+v, want all of the stretch", b)
	}
	if wide := worked().Lanes(0, 0, 1); len(wide.Lanes[0].Bars) != 3 || wide.Lanes[0].Bars[1].Count != 2 {
		t.Errorf("where all is near there are %+v, want a bar of each kind", wide.Lanes[0].Bars)
	}
	if empty := (&Timeline{}).Lanes(0, 0, 10); empty.Lanes == nil || empty.Last != 0 {
		t.Errorf("nothing drawn is %+v, want an empty list", empty)
	}
}

func TestACallAndItsEndAreOneRow(t *testing.T) {
	t.Parallel()
	line := worked()
	seqs, ends := line.Joined()
	if fmt.Sprint(seqs) != "[1 2 3 5 7 9 10 11 13]" || fmt.Sprint(ends) != "[0 12 1 1 1 3 0 0 0]" {
		t.Errorf("the rows are %v, and their ends so much later: %v", seqs, ends)
	}
	again := &Timeline{}
	if err := again.unpack(line.pack(), line.types.list, line.actors.list, line.tools.list, line.things.list); err != nil {
		t.Fatalf("read a saved timeline: %v", err)
	}
	if !reflect.DeepEqual(again.Lanes(0, 0, 100), line.Lanes(0, 0, 100)) {
		t.Error("saved and read the lanes are others")
	}
}

func BenchmarkLanesOfAHundredThousandEvents(b *testing.B) {
	line := &Timeline{}
	for i := range uint64(50_000) {
		line.Take(event.Event{Type: "tool.call", Actor: fmt.Sprint("agent-", i%24), Tool: "exec", Time: event.Time(i * 100)})
		line.Take(event.Event{Type: "tool.result", Actor: fmt.Sprint("agent-", i%24), Tool: "exec", Parent: 2*i + 1, Time: event.Time(i*100 + 50)})
	}
	for b.Loop() {
		line.Lanes(0, 0, 300)
	}
}
