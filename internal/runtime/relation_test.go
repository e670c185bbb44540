package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// noting plays a plan that is noted, changed and cut down.
const noting = `
rules:
  - on: {turn: 1}
    call:
      - {tool: relate, args: {id: plan, type: plan, description: "measure it"}}
      - {tool: relate, args: {id: s1, type: step, parents: [plan]}}
      - {tool: relate, args: {id: s2, type: step, parents: [plan, s1]}}
      - {tool: relate, args: {id: file, type: file, parents: [s2]}}
  - on: {turn: 2}
    call:
      - {tool: relate, args: {id: plan, update: true, parents: [file]}}
      - {tool: unrelate, args: {id: s2, cascade: true}}
      - {tool: relate, args: {id: s1, update: true, status: done}}
  - on: {turn: 3}
    say: "Done."
`

// TestRelationsHoldWhereverAQuestIsCut forks a quest after each of its events: a note whose call had
// its effect is not made again, and none is lost.
func TestRelationsHoldWhereverAQuestIsCut(t *testing.T) {
	l := newLab(t)
	want := noted(l.run(l.create(plan(t, "q", "relations: true\n", noting))))
	if want != "plan [pending]; s1 [done] (plan)" {
		t.Fatalf("the notes are %s", want)
	}
	l.sound("q")
	events := l.events("q")
	for _, e := range events {
		name := fmt.Sprintf("fork-%d", e.Seq)
		_, err := l.Fork(t.Context(), "q", runtime.ForkOptions{At: e.Seq, Name: name})
		must(t, err)
		if got := noted(l.run(name)); got != want {
			t.Errorf("forked after event %d (%s) the notes are %s, want %s", e.Seq, e.Type, got, want)
		}
		// The origin's open calls have no result in a fork, so that sound is not for it.
		rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
		must(t, err)
		if rep.Difference != nil {
			t.Errorf("the fork after event %d does not verify: %v", e.Seq, rep.Difference)
		}
	}
	for _, e := range events { // at any seq
		s, err := l.At(t.Context(), "q", e.Seq)
		must(t, err)
		if e.Type == "relation.set" && s.Related.Node(e.Body.(*event.RelationSet).ID) == nil {
			t.Errorf("after event %d its note is not there", e.Seq)
		}
	}
}

func noted(s *quest.State) string {
	var out []string
	for _, n := range s.Related.Nodes {
		line := n.ID + " [" + n.Status + "]"
		if len(n.Parents) > 0 {
			line += " (" + strings.Join(n.Parents, ", ") + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// TestNotesAreShownWithinTheirShare fills a graph, and looks at what the agent is told of it when it
// is told where it stands: at most 5 % of the window, the rest is named.
func TestNotesAreShownWithinTheirShare(t *testing.T) {
	l := newLab(t)
	var b strings.Builder
	b.WriteString("rules:\n")
	for turn := 1; turn <= 21; turn++ {
		fmt.Fprintf(&b, "  - on: {turn: %d}\n    call:\n", turn)
		for i := range 3 {
			fmt.Fprintf(&b, "      - {tool: relate, args: {id: step-%d-%d, type: step, description: \"%s\"}}\n", turn, i, strings.Repeat("word ", 20))
		}
	}
	b.WriteString("  - on: {turn: 22}\n    say: \"Done.\"\n")
	l.run(l.create(plan(t, "q", "relations: true\nwindow: 16000\n", b.String())))
	l.sound("q")
	told := 0
	for _, e := range l.events("q") {
		s, ok := e.Body.(*event.StandingShown)
		if !ok || !strings.Contains(s.Text.Text, "Notes of agents") {
			continue
		}
		told++
		_, block, _ := strings.Cut(s.Text.Text, "- Notes of agents")
		block, _, _ = strings.Cut(block, "\n- ")
		if !strings.Contains(block, "\nstep step-1-0: word") || !strings.Contains(block, "Left out for lack of room: step-") {
			t.Errorf("the agent is told %s", block)
		}
		if most := 16000 * 5 / 100 * 4; len(block) > most {
			t.Errorf("the notes take %d bytes, want at most %d", len(block), most)
		}
	}
	if told == 0 {
		t.Error("the agent was never told what was noted")
	}
}
