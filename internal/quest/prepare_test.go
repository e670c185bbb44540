package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

func prepared(t *testing.T) *questtest.Story {
	b := questtest.Created(solo.Society{}, 1)
	b.Prepare = "make"
	b.Repo = &event.RepoSpec{Name: "x", Tree: event.TreeRef(event.RefOf([]byte("base")))}
	return questtest.Begin(t, solo.Society{}, b)
}

func types(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	tree := event.TreeRef(event.RefOf([]byte("prepared")))
	t.Run("ComesBeforeAnythingElse", func(t *testing.T) {
		t.Parallel()
		s := prepared(t)
		if got := types(s.Start()); got != "prepare.call" {
			t.Fatalf("the quest begins with %s, want the preparation alone", got)
		}
		if got := types(s.Take("person", &event.UserMessage{Text: event.Text{Text: "hello"}})); got != "" {
			t.Errorf("a message leads to %s, want nothing before all is prepared", got)
		}
		call := s.Open("prepare.call", "")[0]
		if got := types(s.Take("core", &event.PrepareResult{Call: call, Tree: &tree})); got != "model.call" {
			t.Errorf("the result leads to %s, want the agent to begin", got)
		}
		if a := s.State.Agents[0]; a.Tree == nil || *a.Tree != tree || s.State.Unprepared() || *s.State.Begun() != tree {
			t.Errorf("the agent begins with %v, want what was prepared", a.Tree)
		}
		s.Sound()
	})
	t.Run("ThatFailsEndsTheQuestUntilItIsRunAgain", func(t *testing.T) {
		t.Parallel()
		s := prepared(t)
		s.Start()
		got := s.Take("core", &event.PrepareResult{Call: s.Open("prepare.call", "")[0], Exit: 2, Output: event.Text{Text: "no rule to make target"}})
		if types(got) != "quest.failed" || s.State.Status != quest.Failed {
			t.Fatalf("a failure leads to %s", types(got))
		}
		if reason := got[0].Body.(*event.QuestFailed).Reason; !strings.Contains(reason, "exit code 2") || !strings.Contains(reason, "no rule to make target") {
			t.Errorf("the reason is %q, want the exit code and the output", reason)
		}
		if got := types(s.Take("person", &event.QuestResumed{})); got != "prepare.call" {
			t.Errorf("run again, the quest does %s; want it to try again", got)
		}
		s.Sound()
	})
	t.Run("ThatFindsNoRoomWaitsForMore", func(t *testing.T) {
		t.Parallel()
		s := prepared(t)
		s.Start()
		got := s.Take("core", &event.PrepareResult{
			Call: s.Open("prepare.call", "")[0], Error: "there is no room", Full: &event.Full{Max: 2 << 20, Of: event.FullQuest, Used: 1 << 20}, Stored: 5,
		})
		if types(got) != "budget.exceeded" || s.State.Status != quest.Exceeded || s.State.Reason != "storage" {
			t.Fatalf("a home without room leads to %s, and the quest is %s (%s); want that its storage is exceeded", types(got), s.State.Status, s.State.Reason)
		}
		if s.State.Spent.Stored != 5 {
			t.Errorf("%d bytes are stored, want the 5 of the result", s.State.Spent.Stored)
		}
		if got := types(s.Take("person", &event.QuestResumed{Limits: event.Limits{Storage: new(int64(3 << 20))}})); got != "prepare.call" {
			t.Errorf("with more room the quest does %s; want it to try again", got)
		}
		s.Sound()
	})
	t.Run("HasAResultThatSaysSomething", func(t *testing.T) {
		t.Parallel()
		s := prepared(t)
		s.Start()
		call := s.Open("prepare.call", "")[0]
		if _, err := s.Try("core", &event.PrepareResult{Call: call}); err == nil {
			t.Error("a success without a home was taken")
		}
		if _, err := s.Try("core", &event.PrepareResult{Call: call + 1, Tree: &tree}); err == nil {
			t.Error("a result of no call was taken")
		}
	})
}
