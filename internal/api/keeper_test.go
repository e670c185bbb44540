package api_test

import (
	"slices"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

func TestShutdown(t *testing.T) {
	t.Parallel()
	t.Run("LetsWhatIsUnderWayComeInAndTheNextServerGoesOn", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		h.gate.says = func(r *model.Request) *model.Answer {
			if r.Turn < 3 {
				return call("calculate", `{"code":"print(7)"}`, r.Turn)
			}
			return said("Seven.")
		}
		first := h.serve(api.Options{})
		first.create("q", nil)
		first.control("q", map[string]any{"action": "start"}).want(t, 200)
		until(t, first.rt, "q", isType("model.call"))
		go h.gate.let(1) // the answer comes while the server shuts down, or just before
		first.stop()

		second := h.serve(api.Options{})
		st, err := second.rt.Load(t.Context(), "q")
		must(t, err)
		if st.Status != quest.Paused || st.Reason != api.ShutdownReason || len(st.Calls) != 0 {
			t.Fatalf("after the shutdown it is %s (%s) with %d calls open", st.Status, st.Reason, len(st.Calls))
		}
		names, err := second.Keeper().GoOn(t.Context())
		must(t, err)
		if !slices.Equal(names, []string{"q"}) {
			t.Fatalf("it goes on with %v", names)
		}
		h.gate.let(5)
		until(t, second.rt, "q", isType("quest.finished"))
		second.released("q")
		if second.rt.IsMarked(t.Context(), "q") {
			t.Error("it is still noted as one that is to run")
		}
		calls := 0
		for e, err := range second.rt.Ledger.Read(t.Context(), "q", 1) {
			must(t, err)
			if e.Type == "model.call" {
				calls++
			}
		}
		if calls != 3 {
			t.Errorf("%d model calls, want 3: none lost, none twice", calls)
		}
	})
	t.Run("LeavesAQuestThatAPersonPaused", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		first := h.serve(api.Options{})
		first.create("q", nil)
		first.control("q", map[string]any{"action": "start"}).want(t, 200)
		first.control("q", map[string]any{"action": "pause"}).want(t, 200)
		h.gate.let(1)
		first.stop()
		second := h.serve(api.Options{})
		names, err := second.Keeper().GoOn(t.Context())
		must(t, err)
		if len(names) != 0 || second.Keeper().Has("q") {
			t.Errorf("it goes on with %v", names)
		}
		second.control("q", map[string]any{"action": "resume"}).want(t, 200)
		until(t, second.rt, "q", isType("quest.resumed"))
	})
	t.Run("LeavesAQuestThatAnotherProcessRan", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.serve(api.Options{})
		w := s.writer("q")
		w.append(&event.QuestStarted{}) // and its process died
		names, err := s.Keeper().GoOn(t.Context())
		must(t, err)
		if len(names) != 0 {
			t.Errorf("it goes on with %v", names)
		}
		var q struct{ Status string }
		s.do("GET", "/api/quests/q", nil).want(t, 200).into(t, &q)
		if q.Status != "interrupted" {
			t.Errorf("it is %s", q.Status)
		}
	})
	t.Run("RefusesNewRuns", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		s := h.serve(api.Options{})
		s.create("q", nil)
		s.Keeper().Shutdown(t.Context())
		s.control("q", map[string]any{"action": "start"}).want(t, 503)
	})
}

// append puts one event into the ledger.
func (w *writer) append(b event.Body) {
	w.t.Helper()
	o := *w
	e, err := event.Seal(w.name, w.seq+1, w.hash, event.Draft{Time: w.rt.Clock(), Actor: "person", Body: b})
	must(w.t, err)
	w.seq, w.hash = e.Seq, e.Hash
	must(w.t, o.rt.Ledger.Append(w.t.(*testing.T).Context(), ledgerBatch(w.name, e)))
}

func TestOrders(t *testing.T) {
	t.Parallel()
	t.Run("ReachAQuestOfAnotherProcess", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		owner, other := h.serve(api.Options{}), h.serve(api.Options{})
		owner.create("q", nil)
		owner.control("q", map[string]any{"action": "start"}).want(t, 200)
		var c struct {
			Told  bool
			Quest struct {
				Status  string
				Running bool
				Held    bool
				Here    bool `json:"held_here"`
			}
		}
		other.control("q", map[string]any{"action": "pause"}).want(t, 200).into(t, &c)
		if !c.Told || c.Quest.Status != "paused" || c.Quest.Running || !c.Quest.Held || c.Quest.Here {
			t.Errorf("the other process says %+v", c)
		}
		other.do("POST", "/api/quests/q/messages", map[string]any{"text": "Hear me."}).want(t, 202)
		until(t, owner.rt, "q", isType("user.message"))
		other.control("q", map[string]any{"action": "stop"}).want(t, 200).into(t, &c)
		if c.Quest.Status != "stopped" {
			t.Errorf("after the stop it is %s", c.Quest.Status)
		}
		h.gate.let(1)
	})
	t.Run("ThatCannotBeMetAreRefusedWithTheReason", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.finish("demo-number", "q", "")
		for _, action := range []string{"start", "resume"} {
			a := s.control("q", map[string]any{"action": action}).want(t, 409)
			if !contains(a, "has its answer") {
				t.Errorf("%s says %s", action, a.body)
			}
		}
		s.control("q", map[string]any{"action": "dance"}).want(t, 400)
		s.control("q", map[string]any{"action": "fork", "at": 10_000}).want(t, 400)
		s.control("q", map[string]any{"action": "fork", "model": "script:../../etc/passwd"}).want(t, 400)
	})
	t.Run("ToGoOnAtALimitWantAHigherOne", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		h.gate.says = func(r *model.Request) *model.Answer {
			if r.Turn < 4 {
				return call("calculate", `{"code":"print(7)"}`, r.Turn)
			}
			return said("Seven.")
		}
		s := h.serve(api.Options{})
		s.create("q", nil)
		turns := func(action string, n int) map[string]any {
			return map[string]any{"action": action, "limits": map[string]any{"turns": n}}
		}
		h.gate.let(9)
		s.control("q", turns("start", 1)).want(t, 200)
		until(t, s.rt, "q", isType("budget.exceeded"))
		s.released("q")
		head, err := s.rt.Ledger.Head(t.Context(), "q")
		must(t, err)
		if a := s.control("q", map[string]any{"action": "start"}).want(t, 409); !contains(a, "has reached its limit on turns") {
			t.Errorf("to start it at its limit says %s", a.body)
		}
		if now, err := s.rt.Ledger.Head(t.Context(), "q"); err != nil || now != head {
			t.Errorf("a start at the limit has moved the head from %d to %d, %v", head.Seq, now.Seq, err)
		}
		s.control("q", map[string]any{"action": "limit"}).want(t, 400)
		s.control("q", turns("limit", 9)).want(t, 200)
		s.control("q", map[string]any{"action": "start"}).want(t, 200)
		until(t, s.rt, "q", isType("quest.finished"))
		s.released("q")
	})
	t.Run("ToForkAndStartGoTheirOwnWay", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.finish("demo-number", "q", "")
		var c struct{ Quest struct{ Name string } }
		s.control("q", map[string]any{"action": "fork", "at": 5, "name": "other", "start": true}).want(t, 201).into(t, &c)
		if c.Quest.Name != "other" {
			t.Fatalf("the fork is %s", c.Quest.Name)
		}
		until(t, s.rt, "other", isType("quest.finished"))
		s.released("other")
		var d struct {
			Shared int `json:"shared_events"`
		}
		s.do("GET", "/api/diff?a=q&b=other", nil).want(t, 200).into(t, &d)
		if d.Shared != 5 {
			t.Errorf("they share %d events", d.Shared)
		}
	})
}
