package study_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

// tale feeds a study with events that have the next numbers.
type tale struct {
	t *testing.T
	*Study
	seq uint64
}

func begin(t *testing.T, mode string) *tale { return &tale{t, New(mode, Scout, false), 1} }

// take feeds an event, and returns its number.
func (s *tale) take(actor string, b event.Body) uint64 {
	s.t.Helper()
	s.seq++
	s.Apply(event.Event{Seq: s.seq, Time: event.Time(s.seq) * 1e6, Actor: actor, Type: b.Type(), Body: b})
	return s.seq
}

// forged feeds an event that must not fold.
func (s *tale) forged(actor string, b event.Body) {
	s.t.Helper()
	defer func() {
		s.t.Helper()
		if recover() == nil {
			s.t.Errorf("%s folds, and cannot follow from what was before: %+v", b.Type(), b)
		}
	}()
	s.take(actor, b)
}

func (s *tale) sit(mail ...uint64) {
	s.t.Helper()
	s.take("researcher", &event.SittingBegun{Number: s.Next(), Anchor: s.Anchor, Branch: s.Current, Skill: s.SkillOf(mail), Mail: mail, Recovers: s.Recovers(), Runner: "native"})
}

func (s *tale) end(outcome string) {
	s.t.Helper()
	s.take("researcher", &event.SittingEnded{Number: s.Sitting.Number, Outcome: outcome, Durable: s.Sitting.Durable})
}

func (s *tale) say(kind, reply, text string) uint64 {
	s.t.Helper()
	return s.take("researcher", &event.InteractSaid{Answer: s.seq + 1, Kind: kind, Reply: reply, Text: event.Text{Text: text}})
}

func (s *tale) message(text string, reply uint64) uint64 {
	s.t.Helper()
	return s.take("person", &event.UserMessage{Text: event.Text{Text: text}, Reply: reply})
}

func (s *tale) card(kind, title, summary string) string {
	s.t.Helper()
	id := fmt.Sprintf("%032x", s.seq+1)
	s.take("researcher", &event.CardWritten{Answer: s.seq + 1, ID: id, Kind: kind, Title: title, Summary: summary, Revision: 1, Stage: s.Anchor, Text: event.Text{Text: summary}})
	return id
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	move := func(s *tale, to string) *event.AnchorMoved {
		return &event.AnchorMoved{From: s.Anchor, To: to, By: "tool", Reason: "r"}
	}
	t.Run("ForwardPassesTheGates", func(t *testing.T) {
		t.Parallel()
		for from, f := range Anchors {
			for to, g := range Anchors {
				s := begin(t, Copilot)
				s.Anchor = f
				var want []string
				for _, x := range []struct {
					policy string
					before int
				}{{BaselineFirst, 2}, {IdeaFirst, 3}, {ResultFirst, 4}, {CheckedPaper, 6}} {
					if from < x.before && to >= x.before {
						want = append(want, x.policy)
					}
				}
				var got []string
				for _, l := range s.Lacks(g) {
					got = append(got, l.Name)
				}
				if !slices.Equal(got, want) {
					t.Errorf("from %s to %s: %v keep it, want %v", f, g, got, want)
				}
				if ok := s.MayMove(g) == nil; ok != (len(want) == 0 && from != to) {
					t.Errorf("from %s to %s: it may move is %v", f, g, ok)
				}
				if len(want) > 0 {
					s.forged("researcher", move(s, g))
				}
			}
		}
	})
	t.Run("AWaiverHasAReasonAndLetsThrough", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.forged("person", &event.StudyOrder{Action: event.SteerWaive, What: BaselineFirst})
		s.forged("person", &event.StudyOrder{Action: event.SteerWaive, What: "no-such", Reason: "r"})
		s.take("person", &event.StudyOrder{Action: event.SteerWaive, What: BaselineFirst, Reason: "the field has none"})
		s.take("researcher", move(s, Idea))
		if s.Anchor != Idea || s.Moves[0].From != Scout || s.Moves[0].Reason != "r" {
			t.Errorf("the study is at %s after %+v", s.Anchor, s.Moves)
		}
		s.forged("researcher", move(s, Experiment))
		s.take("researcher", move(s, Baseline)) // back
		s.forged("researcher", &event.AnchorMoved{From: Scout, To: Baseline})
		s.forged("researcher", move(s, "elsewhere"))
	})
}

func TestThreads(t *testing.T) {
	t.Parallel()
	t.Run("RequestsBlockAndNewsAreThreaded", func(t *testing.T) {
		t.Parallel()
		want := map[string]string{Progress: ReplyThreaded, Milestone: ReplyThreaded, Request: ReplyBlocking, Approval: ReplyNone, Answer: ReplyNone}
		for _, kind := range Kinds {
			if got := Reply(kind); got != want[kind] {
				t.Errorf("%s wants the reply %s, want %s", kind, got, want[kind])
			}
		}
	})
	t.Run("AReplyGoesWhereItSaysElseToTheQuestionElseToTheLastThread", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		if got := s.Route(0); got != 0 {
			t.Errorf("before anything was said a reply goes to %d", got)
		}
		news := s.say(Milestone, ReplyThreaded, "done")
		later := s.say(Progress, ReplyThreaded, "more")
		if got := s.Route(0); got != later {
			t.Errorf("a reply goes to %d, want the last thread %d", got, later)
		}
		question := s.say(Request, ReplyBlocking, "which?")
		s.say(Progress, ReplyThreaded, "meanwhile")
		if got := s.Route(0); got != question {
			t.Errorf("a reply goes to %d, want the question %d", got, question)
		}
		if got := s.Route(news); got != news {
			t.Errorf("a reply to %d goes to %d", news, got)
		}
		for reply, ok := range map[uint64]bool{0: true, news: true, question: true, 999: false} {
			if err := s.MayReply(reply); (err == nil) != ok {
				t.Errorf("a reply to %d: %v", reply, err)
			}
		}
	})
	t.Run("ANewerQuestionSupersedesTheOpenOne", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		first := s.say(Request, ReplyBlocking, "a?")
		if u := s.Unasked(); u == nil || u.Text != "a?" || s.Question != first {
			t.Fatalf("people are yet to be asked %+v, want %d", u, first)
		}
		asked := s.take("researcher", &event.InteractionOpened{Answer: first, Question: event.Text{Text: "a?"}})
		if s.Unasked() != nil {
			t.Fatalf("%+v is still to be asked", s.Unasked())
		}
		answer := s.take("person", &event.InteractionAnswered{Interaction: asked, Text: "yes"})
		if s.Unasked() != nil {
			t.Error("people have answered, and are asked again")
		}
		if s.take("core", &event.MailWithdrawn{Message: answer}); s.Unasked() == nil {
			t.Error("the answer was withdrawn, and people are not asked again")
		}
		s.take("researcher", &event.InteractionOpened{Answer: first, Question: event.Text{Text: "a?"}})
		if s.Abandon(); s.Unasked() == nil {
			t.Error("a fork does not ask what its origin asked")
		}
		asked = s.take("researcher", &event.InteractionOpened{Answer: first, Question: event.Text{Text: "a?"}})
		second := s.say(Request, ReplyBlocking, "b?")
		s.take("core", &event.InteractionWithdrawn{Interaction: asked})
		if s.Question != second {
			t.Errorf("%d is waited for, want %d", s.Question, second)
		}
		if s.MayReply(asked) == nil || s.MayReply(first) == nil {
			t.Error("one can reply to a question that is closed")
		}
	})
	t.Run("TheQuestionIsClosedByTheDeliveryOfItsAnswer", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		news := s.say(Milestone, ReplyThreaded, "done")
		s.say(Request, ReplyBlocking, "a?")
		aside := s.message("nice", news)
		reply := s.message("yes", 0)
		s.take("core", &event.MailDelivered{Messages: []uint64{aside}, To: "researcher", With: event.WithResults})
		if s.Question == 0 {
			t.Fatal("a word to another thread closes the question")
		}
		s.take("core", &event.MailDelivered{Messages: []uint64{reply}, To: "researcher", With: event.WithResults})
		if s.Question != 0 || len(s.Letters) != 0 {
			t.Errorf("after its answer was delivered %d is waited for, and %v wait", s.Question, s.Letters)
		}
	})
	t.Run("AnAnswerByItsNumberIsALetterToo", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		question := s.say(Request, ReplyBlocking, "a?")
		asked := s.take("researcher", &event.InteractionOpened{Answer: question, Question: event.Text{Text: "a?"}})
		reply := s.take("person", &event.InteractionAnswered{Interaction: asked, Choice: "yes"})
		if got := s.SkillOf([]uint64{reply}); got != SkillDecision {
			t.Errorf("the sitting with the answer has the skill %s", got)
		}
		s.take("person", &event.InteractionAnswered{Interaction: 999, Choice: "yes"}) // a policy's question
		if len(s.Letters) != 1 {
			t.Errorf("%v wait", s.Letters)
		}
	})
	t.Run("EqualProgressIsSaidOnce", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.say(Progress, ReplyThreaded, "half done")
		if !s.Repeats(Progress, "half done") || s.Repeats(Progress, "all done") || s.Repeats(Milestone, "half done") {
			t.Error("only the same progress repeats")
		}
		s.message("and?", 0)
		if s.Repeats(Progress, "half done") {
			t.Error("after a word of a person it is said again")
		}
	})
	t.Run("Forged", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.take("researcher", &event.InteractSaid{Answer: 7, Kind: Progress, Reply: ReplyNone})
		s.forged("researcher", &event.InteractSaid{Answer: 7, Kind: Progress, Reply: ReplyNone})
		s.forged("researcher", &event.InteractSaid{Answer: 8, Kind: "gossip", Reply: ReplyNone})
		s.forged("researcher", &event.InteractSaid{Answer: 9, Kind: Progress, Reply: ReplyNone, Thread: 77})
	})
}

func TestSittings(t *testing.T) {
	t.Parallel()
	t.Run("TheSkill", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.Materials = true
		if got := s.SkillOf(nil); got != SkillIntake {
			t.Errorf("the first sitting with materials has %s", got)
		}
		s.sit()
		question := s.say(Request, ReplyBlocking, "a?")
		s.end(event.SittingRested)
		if got := s.SkillOf(nil); got != Scout {
			t.Errorf("the second sitting has %s, want the anchor's", got)
		}
		reply := s.message("yes", question)
		if got := s.SkillOf([]uint64{reply}); got != SkillDecision {
			t.Errorf("with the answer it has %s", got)
		}
		s.forged("researcher", &event.SittingBegun{Number: 2, Anchor: Scout, Skill: Scout, Mail: []uint64{reply}})
		s.sit(reply)
		s.end(event.SittingFailed)
		if got := s.SkillOf(nil); got != SkillDecision {
			t.Errorf("after one that failed it has %s", got)
		}
		s.take("person", &event.StudyOrder{Action: event.SteerUse, What: SkillFigures})
		s.sit()
		if s.Sitting.Skill != SkillFigures {
			t.Errorf("a person wants %s, and it has %s", SkillFigures, s.Sitting.Skill)
		}
		s.end(event.SittingRested)
		if got := s.SkillOf(nil); got != Scout {
			t.Errorf("a person's choice is for one sitting, and the next has %s", got)
		}
	})
	t.Run("ThreeThatLeaveNothingPark", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Autonomous)
		for range 2 {
			s.sit()
			s.end(event.SittingRested)
		}
		s.sit()
		s.card(Knowledge, "t", "s")
		s.end(event.SittingRested)
		for i := range 3 {
			if s.Parks() {
				t.Fatalf("parked after %d", i)
			}
			s.sit()
			s.end(event.SittingRested)
		}
		if !s.Parks() {
			t.Error("three in a row left nothing, and it is not parked")
		}
		if s.message("go on", 0); s.Parks() {
			t.Error("a message does not end it")
		}
	})
	t.Run("WhatIsDurable", func(t *testing.T) {
		t.Parallel()
		for name, b := range map[string]event.Body{
			"a move": &event.AnchorMoved{From: Scout, To: Baseline, Answer: 9}, "words": &event.InteractSaid{Answer: 9, Kind: Progress, Reply: ReplyNone},
			"files": &event.FileDiff{Cause: event.CauseTool},
		} {
			s := begin(t, Autonomous)
			s.sit()
			s.take("researcher", b)
			if !s.Sitting.Durable {
				t.Errorf("%s is nothing durable", name)
			}
			s.forged("researcher", &event.SittingEnded{Number: 1, Outcome: event.SittingRested})
		}
		s := begin(t, Autonomous)
		s.sit()
		s.take("core", &event.FileDiff{Cause: event.CauseOutside})
		if s.Sitting.Durable {
			t.Error("what somebody else did to the files counts as the sitting's")
		}
	})
	t.Run("AFailedModelIsTriedFourTimes", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		for _, want := range []event.Time{10, 60, 360, 1800} {
			s.sit()
			s.end(event.SittingFailed)
			if got, ok := s.Delay(); !ok || got != want*1_000_000 {
				t.Errorf("after %d failures it waits %d µs, %v, want %d s", s.Failures, got, ok, want)
			}
		}
		s.sit()
		s.end(event.SittingFailed)
		if _, ok := s.Delay(); ok {
			t.Error("after the last delay it waits again")
		}
		s.message("again", 0)
		if got, ok := s.Delay(); !ok || got != 0 {
			t.Errorf("after a message it waits %d, %v", got, ok)
		}
	})
	t.Run("AFreshWindow", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		if !s.Fresh("native", false) {
			t.Error("the first has no window before it")
		}
		s.sit()
		s.end(event.SittingRested)
		if s.Fresh("native", false) || !s.Fresh("native", true) || !s.Fresh("other", false) {
			t.Error("the window goes on while branch and runner stay and it is not half full")
		}
		s.prepare(KindIdea, "a", Main)
		if s.Fresh("native", false) {
			t.Error("a branch that is only prepared needs no other window")
		}
		s.activate("idea/a")
		if !s.Fresh("native", false) {
			t.Error("another branch needs another window")
		}
		s.activate(Main)
		s.take("person", &event.AnchorMoved{From: Scout, To: Baseline, By: "person"})
		if !s.Fresh("native", false) {
			t.Error("another anchor needs another window")
		}
	})
	t.Run("Forged", func(t *testing.T) {
		t.Parallel()
		s := begin(t, Copilot)
		s.forged("researcher", &event.SittingBegun{Number: 2, Anchor: Scout, Branch: Main, Skill: Scout})
		s.forged("researcher", &event.SittingBegun{Number: 1, Anchor: Scout, Branch: "idea/a", Skill: Scout})
		s.forged("researcher", &event.SittingEnded{Number: 1, Outcome: event.SittingRested})
		s.sit()
		s.forged("researcher", &event.SittingBegun{Number: 2, Anchor: Scout, Skill: Scout})
	})
}

func TestAStudyIsSavedAndReadBack(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	question := s.say(Request, ReplyBlocking, "which?")
	s.take("researcher", &event.InteractionOpened{Answer: question})
	s.message("the first", 0)
	s.sit(s.Letters[0].Seq)
	old := s.card(Ideas, "eins", "gradient descent")
	s.card(Ideas, "zwei", "something else")
	s.take("researcher", &event.CardWritten{Answer: s.seq + 1, ID: old, Kind: Ideas, Title: "eins", Summary: "annealing", Revision: 2, Stage: Scout})
	s.end(event.SittingRested)
	s.save(Main, "one")
	s.prepare(KindRun, "a", Main)
	s.activate("run/a")
	head := s.save("run/a", "two")
	data, err := json.Marshal(s.Study)
	if err != nil {
		t.Fatal(err)
	}
	back := &Study{}
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(data) {
		t.Errorf("it comes back as another: %v\n%s\n%s", err, data, again)
	}
	f := &Facts{Skill: Scout, Mail: []Letter{{Seq: 99, Text: "annealing"}}}
	if want, got := s.Blocks(f), back.Blocks(f); !reflect.DeepEqual(got, want) {
		t.Errorf("its prompt is another: %v, want %v", got, want)
	}
	if back.Effect(agent.Place{Answer: question}) != question {
		t.Error("a tool call that had its effect is forgotten")
	}
	if back.Current != "run/a" || back.Here().Head != head || back.Graph() != s.Graph() {
		t.Errorf("its lines of work are\n%s\nwant\n%s", back.Graph(), s.Graph())
	}
	if !strings.Contains(string(data), "annealing") {
		t.Error("the card's last revision is not saved")
	}
}
