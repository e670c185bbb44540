package view

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// story is a ledger that a test tells, event by event.
type story struct {
	t      *testing.T
	quest  string
	events []event.Event
	blobs  map[event.Hash][]byte
}

func tell(t *testing.T, quest string) *story {
	s := &story{t: t, quest: quest, blobs: map[event.Hash][]byte{}}
	s.add("person", "", &event.QuestCreated{Name: quest, Rules: "lab/2", Agents: []event.AgentSpec{{Name: "agent-0", Model: "m"}}, Spec: s.blob("name: " + quest + "\nseed: 1\n")})
	return s
}

func (s *story) blob(text string) event.Ref {
	s.blobs[event.HashOf([]byte(text))] = []byte(text)
	return event.RefOf([]byte(text))
}

// add seals an event at a time of its own, and returns its seq.
func (s *story) add(actor, tool string, b event.Body) uint64 {
	s.t.Helper()
	var prev event.Hash
	if n := len(s.events); n > 0 {
		prev = s.events[n-1].Hash
	}
	seq := uint64(len(s.events) + 1)
	e, err := event.Seal(s.quest, seq, prev, event.Draft{Time: event.Time(seq * 1000), Actor: actor, Tool: tool, Body: b})
	if err != nil {
		s.t.Fatal(err)
	}
	s.events = append(s.events, e)
	return seq
}

// turn is a turn in which an agent says something and calls one tool, with its result.
func (s *story) turn(actor, says, tool, args, output string, micros int64) {
	s.t.Helper()
	call := s.add(actor, "", &event.ModelCall{Turn: 1, Model: "m"})
	parts := []event.Part{{Kind: event.PartText, Text: &event.Text{Text: says}}}
	if tool != "" {
		parts = append(parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint("id", len(s.events)), Name: tool, Args: &event.Text{Text: args}})
	}
	answer := s.add(actor, "", &event.ModelResult{Call: call, Duration: micros, Parts: parts, Usage: event.Usage{Input: 10, Output: 2}, Cost: 5})
	if tool == "" {
		return
	}
	use := s.add(actor, tool, &event.ToolCall{Answer: answer, Part: 1, ID: "x"})
	s.add(actor, tool, &event.ToolResult{Call: use, Duration: micros, Output: event.Text{Text: output}})
}

func (s *story) finish(answer string) *story {
	s.add("agent-0", "", &event.QuestFinished{Answer: event.Text{Text: answer}})
	return s
}

func (s *story) seq() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *story) run() *Run {
	s.t.Helper()
	r, err := Read(s.quest, s.seq(), func(ref event.Ref) ([]byte, error) {
		if data, ok := s.blobs[ref.Hash]; ok {
			return data, nil
		}
		return nil, errors.New("no such blob")
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func simple(t *testing.T, quest string, numbers ...int) *story {
	s := tell(t, quest)
	for _, n := range numbers {
		s.turn("agent-0", fmt.Sprintf("I try %d.", n), "calculate", fmt.Sprintf(`{"code":"print(%d)"}`, n), fmt.Sprint(n), int64(1000+n))
	}
	return s
}

func kindsOf(steps []Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Kind)
	}
	return strings.Join(out, " ")
}

func TestSteps(t *testing.T) {
	t.Parallel()
	t.Run("AreWhatAReaderWouldCallThem", func(t *testing.T) {
		t.Parallel()
		s := simple(t, "a", 1)
		s.add("core", "", &event.MessageSent{To: "agent-0", Text: event.Text{Text: "go on"}})
		s.add("person", "", &event.QuestPaused{})
		s.add("person", "", &event.QuestResumed{})
		steps := s.finish("one").run().Steps
		if got := kindsOf(steps); got != "turn tool message answer" {
			t.Fatalf("steps: %s", got)
		}
		if u := steps[1]; u.Tool != "calculate" || u.Seq != 4 || u.Last != 5 || u.Duration != 1001 || !strings.Contains(u.Text, "print(1)") || !strings.Contains(u.Text, "→ 1") {
			t.Errorf("the tool step is %+v", u)
		}
	})
	t.Run("WithoutAResultWait", func(t *testing.T) {
		t.Parallel()
		s := tell(t, "a")
		s.add("agent-0", "", &event.ModelCall{Turn: 1})
		if steps := s.run().Steps; len(steps) != 1 || !steps[0].Waiting {
			t.Errorf("the steps: got %+v, want one that waits", steps)
		}
	})
	t.Run("AreThereForEveryTypeOfTheCatalogue", func(t *testing.T) {
		t.Parallel()
		// A new type is either a step or known to be none; it never breaks a reader.
		for _, typ := range event.Types() {
			r := newReader("x", func(event.Ref) ([]byte, error) { return nil, nil })
			if err := r.take(event.Event{Quest: "x", Seq: 7, Actor: "agent-0", Type: typ, Body: event.New(typ)}); err != nil {
				t.Errorf("a type of the catalogue breaks the reader, %s: %v", typ, err)
			}
		}
	})
	t.Run("OfADamagedQuestAreAnError", func(t *testing.T) {
		t.Parallel()
		s := tell(t, "a")
		clear(s.blobs)
		if _, err := Steps(s.seq(), func(event.Ref) ([]byte, error) { return nil, errors.New("gone") }); err == nil || !strings.Contains(err.Error(), "event 1") {
			t.Errorf("a blob that is gone: got %v, want the event named", err)
		}
	})
}

func total(a, b *story) Similarity { return Compare(a.run(), b.run()).Similarity }

func TestCompare(t *testing.T) {
	t.Parallel()
	t.Run("ARunWithItselfIsExactlyOne", func(t *testing.T) {
		t.Parallel()
		s := simple(t, "a", 1, 2, 3).finish("six")
		d := Compare(s.run(), s.run())
		if d.Similarity != (Similarity{Whole, Whole, Whole, Whole}) || d.Shared != uint64(len(s.events)) || d.Steps.Same != 7 || d.Spec.Unified != "" {
			t.Errorf("%+v, shared %d, steps %+v", d.Similarity, d.Shared, d.Steps)
		}
	})
	t.Run("TimesNamesAndPlacesDoNotCount", func(t *testing.T) {
		t.Parallel()
		a, b := simple(t, "a", 1, 2).finish("three"), tell(t, "other")
		b.add("person", "", &event.QuestStarted{}) // everything stands one further on
		for _, n := range []int{1, 2} {
			// Spelled otherwise, and slower.
			b.turn("agent-0", fmt.Sprintf("I try %d.", n), "calculate", fmt.Sprintf(`{ "code": "print(%d)" }`, n), fmt.Sprint(n), 77)
		}
		d := Compare(a.run(), b.finish("three").run())
		if d.Similarity.Total != Whole || d.Shared != 0 || d.Spec.Same {
			t.Errorf("%+v, shared %d, spec the same: %v", d.Similarity, d.Shared, d.Spec.Same)
		}
	})
	t.Run("AStepMoreDoesNotShiftTheRest", func(t *testing.T) {
		t.Parallel()
		d := Compare(simple(t, "a", 1, 2, 3, 4).run(), simple(t, "b", 1, 9, 2, 3, 4).run())
		if d.Steps.Same != 8 || d.Steps.OnlyB != 2 || d.Steps.OnlyA != 0 || d.Steps.Changed != 0 {
			t.Errorf("the steps: got %+v, want eight the same and two of b", d.Steps)
		}
		if p := d.Steps.Pairs[2]; p.Mark != OnlyB || !strings.Contains(p.B.Text, "9") {
			t.Errorf("the new step does not stand third: %+v", p)
		}
	})
	t.Run("GradesWhatIsAlike", func(t *testing.T) {
		t.Parallel()
		score := func(args, output, tool string) Millionths {
			a, b := tell(t, "a"), tell(t, "b")
			a.turn("agent-0", "x", "calculate", `{"code":"1"}`, "1", 1)
			b.turn("agent-0", "x", tool, args, output, 1)
			return Compare(a.run(), b.run()).Steps.Pairs[1].Score
		}
		sameArgs, sameTool, sameKind := score(`{"code":"1"}`, "2", "calculate"), score(`{"code":"3"}`, "2", "calculate"), score(`{}`, "2", "exec")
		if !(Whole > sameArgs && sameArgs > sameTool && sameTool > sameKind && sameKind > 0) {
			t.Errorf("the weights are not in order: %d, %d, %d", sameArgs, sameTool, sameKind)
		}
	})
	t.Run("TheOrderOfDifferentAgentsIsChance", func(t *testing.T) {
		t.Parallel()
		a, b := tell(t, "a"), tell(t, "b")
		for _, n := range []int{0, 1} {
			a.turn(fmt.Sprint("agent-", n), "I", "calculate", "{}", "0", 1)
			b.turn(fmt.Sprint("agent-", 1-n), "I", "calculate", "{}", "0", 1)
		}
		for _, n := range []int{0, 1} {
			a.add("core", "", &event.MessageSent{To: fmt.Sprint("agent-", n), Text: event.Text{Text: "Go on."}})
			b.add("core", "", &event.MessageSent{To: fmt.Sprint("agent-", 1-n), Text: event.Text{Text: "Go on."}})
		}
		if s := total(a, b); s.Total != Whole {
			t.Errorf("the similarity with itself: got %+v, want whole", s)
		}
	})
	t.Run("AnotherAgentDidTheSame", func(t *testing.T) {
		t.Parallel()
		a, b := tell(t, "a"), tell(t, "b")
		a.turn("agent-0", "I", "calculate", `{"code":"7"}`, "7", 1)
		b.turn("agent-5", "I", "calculate", `{"code":"7"}`, "7", 1)
		d := Compare(a.run(), b.run())
		if d.Steps.Changed != 2 || !slices.Equal(d.Steps.Pairs[1].Differs, []string{"agent"}) || d.Similarity.Tools != Whole {
			t.Errorf("the steps: got %+v, want two changed, by the agent", d.Steps)
		}
	})
	t.Run("IsSymmetric", func(t *testing.T) {
		t.Parallel()
		rng := rand.New(rand.NewPCG(1, 2))
		for round := range 60 {
			pick := func(name string) *story {
				var n []int
				for range rng.IntN(12) {
					n = append(n, rng.IntN(4))
				}
				s := simple(t, name, n...)
				if rng.IntN(4) > 0 {
					s.finish(strings.Repeat("word ", rng.IntN(4)) + fmt.Sprint(rng.IntN(3)))
				}
				return s
			}
			a, b := pick("a").run(), pick("b").run()
			x, y := Compare(a, b), Compare(b, a)
			if x.Similarity != y.Similarity || x.Steps.OnlyA != y.Steps.OnlyB || x.Steps.Changed != y.Steps.Changed || x.Evidence.Anchors.OnlyA != y.Evidence.Anchors.OnlyB {
				t.Fatalf("round %d: %+v and %+v", round, x.Similarity, y.Similarity)
			}
			if n := x.Steps.Same*2 + x.Steps.Changed*2 + x.Steps.OnlyA + x.Steps.OnlyB; n != int64(len(a.Steps)+len(b.Steps)) {
				t.Fatalf("round %d: %d steps of %d are listed", round, n, len(a.Steps)+len(b.Steps))
			}
		}
	})
	t.Run("SaysWhatAForkShares", func(t *testing.T) {
		t.Parallel()
		a := simple(t, "a", 1, 2)
		b := &story{t: t, quest: "b", events: slices.Clone(a.events[:5]), blobs: a.blobs}
		b.turn("agent-0", "Otherwise.", "", "", "", 1)
		if d := Compare(a.run(), b.run()); d.Shared != 5 || d.Steps.Same != 2 {
			t.Errorf("shared %d, %+v", d.Shared, d.Steps)
		}
	})
	t.Run("AnAnswerOnOneSideIsNoLikeness", func(t *testing.T) {
		t.Parallel()
		if s := total(simple(t, "a", 1), simple(t, "b", 1).finish("")); s.Answer != 0 {
			t.Errorf("the similarity to no answer: got %+v, want 0", s)
		}
	})
	t.Run("AnswersThatDifferInASpaceAreNotOne", func(t *testing.T) {
		t.Parallel()
		s := total(simple(t, "a", 1).finish("forty two"), simple(t, "b", 1).finish("forty  two"))
		if s.Answer == Whole || s.Total == Whole || s.Answer < Whole*99/100 {
			t.Errorf("the similarity of nearly the same answer: got %+v, want a little less than whole", s)
		}
	})
	t.Run("SumsUpWhatItTook", func(t *testing.T) {
		t.Parallel()
		d := Compare(simple(t, "a", 1, 2, 3).run(), simple(t, "b").run())
		if d.A.Cost != 15 || d.A.Input != 30 || d.A.Turns != 3 || d.A.Tools != 3 || d.B.Turns != 0 {
			t.Errorf("the costs: got %+v", d.A)
		}
		want := Latency{Kind: "tool", A: Lasted{3, 3006, 1002}}
		if len(d.Latency) != 2 || d.Latency[0] != want {
			t.Errorf("the latencies: got %+v", d.Latency)
		}
	})
}

func TestPapersAreCalledByWhoMadeThem(t *testing.T) {
	t.Parallel()
	write := func(quest, ref, second string) *story {
		s := tell(t, quest)
		s.add("agent-0", "", &event.PublicationSubmitted{Ref: ref, Title: "On it", Content: event.Text{Text: "It holds."}})
		s.add("agent-1", "", &event.PublicationSubmitted{Ref: second, Title: "Too", Content: event.Text{Ref: new(s.blob("As [" + ref + "] says."))}})
		s.add("core", "", &event.CitationMade{Ref: second, To: []string{ref}})
		call := s.add("core", "", &event.ReproductionCall{Ref: ref, Entrypoint: "a.sh"})
		s.add("core", "", &event.ReproductionResult{Call: call, Status: event.SameOutput, Output: new(s.blob("42\n"))})
		s.add("agent-1", "", &event.VoteCast{Ref: ref})
		return s.finish("see " + ref + ".")
	}
	x, y := strings.Repeat("a", 32), strings.Repeat("b", 32)
	d := Compare(write("a", x, y).run(), write("b", y, x).run())
	if d.Similarity.Total != Whole {
		t.Errorf("the similarity of the same papers with other references: got %+v %+v, want whole", d.Similarity, d.Steps)
	}
	if d.Evidence.Anchors != (Overlap{Same: 2}) || d.Evidence.Documents.Same != 1 {
		t.Errorf("evidence: %+v", d.Evidence)
	}
	other := write("c", x, y)
	other.events = other.events[:len(other.events)-5]
	if d := Compare(write("a", x, y).run(), other.run()); d.Evidence.Anchors.OnlyA != 2 || len(d.Evidence.OnlyA) != 2 {
		t.Errorf("evidence: %+v", d.Evidence)
	}
}

func TestCommandsAndTheirTimesAreNotWords(t *testing.T) {
	t.Parallel()
	run := func(quest string, shift int, took string) *story {
		s := tell(t, quest)
		for range shift {
			s.add("person", "", &event.QuestPaused{})
		}
		for i := range 2 { // the second speaks of the first
			call := s.add("agent-0", "", &event.ModelCall{})
			args := `{"command":"sleep 2"}`
			if i == 1 {
				args = fmt.Sprintf(`{"id":"c%d"}`, 4+shift)
			}
			answer := s.add("agent-0", "", &event.ModelResult{Call: call, Parts: []event.Part{{Kind: event.PartToolCall, Name: "exec", Args: &event.Text{Text: args}}}})
			use := s.add("agent-0", "exec", &event.ToolCall{Answer: answer})
			s.add("agent-0", "", &event.CliRun{Call: use, Command: fmt.Sprintf("c%d", use), Args: event.Text{Text: "[]"}})
			s.add("agent-0", "exec", &event.ToolResult{Call: use, Computer: event.HashOf(nil), Output: event.Text{Text: "exit code 0, after " + took + " s\nstdout:\nx\n"}})
		}
		return s
	}
	if s := total(run("a", 0, "2.0"), run("b", 3, "2.1")); s.Total != Whole {
		t.Errorf("the similarity of the same commands with other numbers and times: got %+v, want whole", s)
	}
}

func TestOtherPicturesAreOtherSteps(t *testing.T) {
	t.Parallel()
	run := func(quest, picture string) *story {
		s := tell(t, quest)
		shot := event.Attachment{Media: "image/png", Name: "shot.png", Ref: event.RefOf([]byte(picture))}
		s.add("person", "", &event.UserMessage{Attachments: []event.Attachment{shot}, Text: event.Text{Text: "Look."}})
		call := s.add("agent-0", "", &event.ModelCall{})
		answer := s.add("agent-0", "", &event.ModelResult{Call: call, Parts: []event.Part{{Kind: event.PartToolCall, Name: "look", Args: &event.Text{Text: "{}"}}}})
		use := s.add("agent-0", "look", &event.ToolCall{Answer: answer})
		s.add("agent-0", "look", &event.ToolResult{Attachments: []event.Attachment{shot}, Call: use, Output: event.Text{Text: "seen"}})
		return s
	}
	one, same, other := run("a", "one").run().Steps, run("b", "one").run().Steps, run("c", "two").run().Steps
	differ := 0
	for i := range one {
		if one[i].Output != same[i].Output {
			t.Errorf("step %d (%s) with the same picture has another output", i, one[i].Kind)
		}
		if one[i].Output != other[i].Output {
			differ++
		}
	}
	if differ != 2 {
		t.Errorf("%d of %d steps differ with another picture, want the message and the tool", differ, len(one))
	}
}
