package view

import (
	"slices"
	"testing"

	"lyceum/internal/event"
)

func TestInterestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		body event.Body
		want Interest
	}{
		{"a published paper", &event.PublicationDecided{Ref: "p1", Status: event.Published}, Interest{Published, "p1"}},
		{"a rejected paper", &event.PublicationDecided{Ref: "p2", Status: event.Rejected}, Interest{Rejected, "p2"}},
		{"a vote", &event.VoteCast{Ref: "p1"}, Interest{Voted, "p1"}},
		{"a refusal", &event.PolicyBlocked{}, Interest{What: Refused}},
		{"a model that failed", &event.ModelResult{Error: &event.ModelError{Kind: "overloaded"}}, Interest{What: Failed}},
		{"a model that answered", &event.ModelResult{}, Interest{}},
		{"a question to a person", &event.InteractionOpened{}, Interest{What: Asked}},
		{"the answer", &event.QuestFinished{}, Interest{What: Answered}},
		{"a task that was accepted", &event.TaskJudged{Task: "t1", Verdict: event.VerdictAccept}, Interest{Accepted, "t1"}},
		{"a task that was refused", &event.TaskJudged{Task: "t1", Verdict: event.VerdictRefuse}, Interest{Rejected, "t1"}},
		{"a task that failed", &event.TaskFailed{Task: "t2"}, Interest{Failed, "t2"}},
		{"a sitting that ended well", &event.SittingEnded{Outcome: "done"}, Interest{}},
		{"a sitting that failed", &event.SittingEnded{Outcome: event.SittingFailed}, Interest{What: Failed}},
		{"a turn", &event.ModelCall{}, Interest{}},
		{"a review", &event.ReviewSubmitted{}, Interest{}},
	} {
		if got := InterestOf(event.Event{Body: c.body}); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := InterestOf(event.Event{}); got != (Interest{}) {
		t.Errorf("an event without a body: got %+v, want none", got)
	}
}

func TestATimelineFindsWhatIsOfInterestAlsoOnceItWasSaved(t *testing.T) {
	t.Parallel()
	line := &Timeline{}
	for i := range 10 {
		e := event.Event{Type: "model.call", Body: &event.ModelCall{}}
		if i%3 == 0 {
			e = event.Event{Type: "vote.cast", Body: &event.VoteCast{}}
		}
		line.Take(e)
	}
	again := &Timeline{}
	if err := again.unpack(line.pack(), line.types.list, line.actors.list, line.tools.list, line.things.list); err != nil {
		t.Fatalf("read a saved timeline: %v", err)
	}
	for name, l := range map[string]*Timeline{"as it grew": line, "as it was saved": again} {
		for _, c := range []struct {
			before uint64
			max    int
			want   []uint64
		}{{0, 9, []uint64{10, 7, 4, 1}}, {0, 2, []uint64{10, 7}}, {7, 9, []uint64{4, 1}}, {1, 9, nil}} {
			if seqs, all := l.Interesting(c.before, c.max); !slices.Equal(seqs, c.want) || all != 4 {
				t.Errorf("%s: %d before %d: got %v of %d, want %v of 4", name, c.max, c.before, seqs, all, c.want)
			}
		}
	}
}
