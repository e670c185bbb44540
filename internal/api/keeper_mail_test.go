package api_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// researcher makes a study whose researcher rests after each turn that it is let.
func (h *home) researcher(name string) *server {
	h.t.Helper()
	h.gate = newGate()
	h.gate.says = func(r *model.Request) *model.Answer { return said(fmt.Sprint("Turn ", r.Turn)) }
	s := h.serve(api.Options{})
	s.create(name, map[string]any{"society": "stages"})
	return s
}

// leftInTheMiddle makes a study as a server leaves it that is killed during a turn: it counts as
// running, a call is open, and the mark is there.
func (h *home) leftInTheMiddle(name string) *server {
	h.t.Helper()
	s := h.researcher(name)
	ctx, kill := context.WithCancel(h.t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = s.rt.Run(ctx, name, runtime.RunOptions{Served: func(*quest.State, error) bool { return true }})
	}()
	until(h.t, s.rt, name, isType("model.call"))
	kill()
	<-over
	return s
}

// heard waits until a message is delivered, and fails the test if somebody paused the study.
func (s *server) heard(name, text string) {
	s.t.Helper()
	seq := uint64(0)
	until(s.t, s.rt, name, func(e event.Event) bool {
		switch b := e.Body.(type) {
		case *event.UserMessage:
			if b.Text.Text == text {
				seq = e.Seq
			}
		case *event.QuestPaused:
			s.t.Errorf("the study was paused: %s", b.Reason)
		case *event.MailDelivered:
			return slices.Contains(b.Messages, seq)
		case *event.SittingBegun:
			return seq != 0 && slices.Contains(b.Mail, seq)
		}
		return false
	})
}

// TestMessagesWhileTheServerComesUp: who speaks to a study in the moment in which the next server
// takes it up neither stops it nor is left unheard.
func TestMessagesWhileTheServerComesUp(t *testing.T) {
	t.Parallel()
	say := func(s *server, text string) (got posted) {
		s.do("POST", "/api/quests/q/messages", map[string]any{"text": text}).want(t, 202).into(t, &got)
		return got
	}
	t.Run("BeforeItGoesOnWithIt", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.leftInTheMiddle("q")
		say(s, "Hear me.")
		_, err := s.Keeper().GoOn(t.Context())
		must(t, err)
		h.gate.let(9)
		s.heard("q", "Hear me.")
		s.waits("q")
	})
	t.Run("WhileSomebodyElseHasItForAMoment", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.leftInTheMiddle("q")
		claim, err := s.rt.Ledger.Claim(t.Context(), "q") // as lyceum message does in another process
		must(t, err)
		_, err = s.Keeper().GoOn(t.Context())
		must(t, err)
		time.Sleep(100 * time.Millisecond) // whoever tries once only has tried
		claim.Release()
		until(t, s.rt, "q", isType("quest.resumed"))
		say(s, "Hear me.")
		h.gate.let(9)
		s.heard("q", "Hear me.")
		s.waits("q")
	})
	t.Run("ToAStudyThatNoServerRan", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.researcher("q")
		h.gate.let(9)
		_, err := s.rt.Run(t.Context(), "q", runtime.RunOptions{Leave: true})
		must(t, err)
		claim, err := s.rt.Ledger.Claim(t.Context(), "q")
		must(t, err)
		say(s, "Hear me.")
		claim.Release()
		s.heard("q", "Hear me.")
		s.waits("q")
	})
}

// TestAMessageTakesUpAStudyThatHasItsAnswer: whoever says something to it is heard, and nobody has to resume it.
func TestAMessageTakesUpAStudyThatHasItsAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	h.gate.says = func(r *model.Request) *model.Answer {
		if r.Turn == 1 {
			return call("complete", `{"answer":"42"}`, r.Turn)
		}
		return said(fmt.Sprint("Turn ", r.Turn))
	}
	h.gate.let(9)
	s := h.serve(api.Options{})
	s.create("q", map[string]any{"society": "stages", "anchor": "finalize"})
	s.control("q", map[string]any{"action": "start"}).want(t, 200)
	until(t, s.rt, "q", isType("quest.finished"))
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "And in binary?"}).want(t, 202)
	s.heard("q", "And in binary?")
	s.waits("q")
}

// TestTheNextServerReadsNothingOfQuestsThatWait: a mark says how such a quest stands, so that its
// ledger is not read before somebody says something; where the mark does not hold, it is.
func TestTheNextServerReadsNothingOfQuestsThatWait(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.researcher("q")
	h.gate.let(1)
	first.control("q", map[string]any{"action": "start"}).want(t, 200)
	first.waits("q")
	first.stop()
	for _, now := range []struct {
		what  string
		mark  func(w ledger.Wanted) ledger.Wanted
		reads bool
	}{
		{"as it was left", func(w ledger.Wanted) ledger.Wanted { return w }, false},
		{"without how it stands", func(w ledger.Wanted) ledger.Wanted { return ledger.Wanted{Quest: "q"} }, true},
		{"of another head", func(w ledger.Wanted) ledger.Wanted {
			return ledger.Wanted{Quest: "q", Rest: &ledger.Rest{Seq: 3, Hash: w.Rest.Hash}}
		}, true},
	} {
		rt, closeAll := h.runtime()
		left, err := rt.Ledger.Wanted(t.Context(), "q")
		must(t, err)
		if left == nil || left.Rest == nil || left.Rest.Seq < 4 {
			t.Fatalf("of a quest that waits is noted %+v, want how it stands", left)
		}
		must(t, rt.Ledger.Want(t.Context(), now.mark(*left)))
		closeAll()
		reads := new(atomic.Int64)
		h.wrap = func(s ledger.Store) ledger.Store { return counting{s, reads} }
		s := h.serve(api.Options{})
		names, err := s.Keeper().GoOn(t.Context())
		must(t, err)
		if len(names) != 0 || !s.Keeper().Waits("q") || reads.Load() > 0 != now.reads {
			t.Errorf("a mark %s: it goes on with %v, waits: %v, after reading %d events", now.what, names, s.Keeper().Waits("q"), reads.Load())
		}
		h.gate.let(1)
		text := "Mark " + now.what
		s.do("POST", "/api/quests/q/messages", map[string]any{"text": text}).want(t, 202)
		s.heard("q", text)
		s.waits("q")
		s.stop()
	}
}
