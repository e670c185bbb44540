package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// asker is a model that asks a person, then writes what it was told, and then answers.
type asker struct{}

func (asker) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	switch r.Turn {
	case 1:
		return call("ask_person", `{"question":"Which colour?","options":["red","blue"]}`, 1), nil
	case 2:
		return call("write_file", `{"path":"colour.txt","content":"it"}`, 2), nil
	}
	return said("Done."), nil
}

// asking makes a quest that asks twice: its agent a colour, and a policy whether it may
// write.
func (s *server) asking(name string) {
	s.t.Helper()
	s.create(name, map[string]any{"model": "asker", "may_ask": true, "policies": []any{
		map[string]any{"name": "careful", "steps": []any{map[string]any{
			"ask": map[string]any{"type": "tool.call", "where": map[string]any{"tool": "write_file"}, "reason": "It writes.", "default": "no", "within": "1h"}}}},
	}})
	s.control(name, map[string]any{"action": "start"}).want(s.t, 200)
}

// waits waits until a quest waits for a person and nobody has it, and returns what it asks.
func (s *server) waits(name string) api.Detail {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		var d api.Detail
		s.do("GET", "/api/quests/"+name, nil).want(s.t, 200).into(s.t, &d)
		if d.Status == "waiting" && !d.Running && s.Keeper().Waits(name) {
			return d
		}
		if time.Now().After(end) {
			s.t.Fatalf("quest %s does not wait: it is %s (running %v, %s)", name, d.Status, d.Running, d.Trouble)
		}
	}
}

// askQuestions goes through a quest that asks.
func (w *world) askQuestions(t *testing.T, ask func(string, string, any, ...func(*http.Request)) answer) {
	const answers = "POST /api/quests/{quest}/answers"
	w.asking("asking")
	at := "/api/quests/asking"
	first := w.waits("asking").Questions[0]
	ask(answers, at+"/answers", map[string]any{"question": first.ID, "choice": "green"}).want(t, 400)
	ask(answers, at+"/answers", map[string]any{"question": 1, "text": "What?"}).want(t, 409)
	ask(answers, "/api/quests/nowhere/answers", map[string]any{"question": 1, "text": "What?"}).want(t, 404)
	ask(answers, at+"/answers", map[string]any{"question": first.ID, "choice": "blue", "text": "As the sky."}).want(t, 202)
	until(t, w.rt, "asking", func(e event.Event) bool {
		b, ok := e.Body.(*event.InteractionOpened)
		return ok && b.Proposal != ""
	})
	second := w.waits("asking").Questions[0]
	ask("GET /api/quests/{quest}", at, nil).want(t, 200)
	ask(answers, at+"/answers", map[string]any{"question": second.ID, "choice": "yes"}).want(t, 202)
	w.released("asking")
	w.left(t, "left")
	ask(answers, "/api/quests/left/answers", map[string]any{"question": first.ID, "choice": "red"}).want(t, 202)
	ask("GET /api/quests/{quest}", "/api/quests/left", nil).want(t, 200)
}

// left makes a quest that asks, and that a run of another process has left waiting.
func (s *server) left(t *testing.T, name string) {
	s.create(name, map[string]any{"model": "asker", "may_ask": true})
	st, err := s.rt.Run(t.Context(), name, runtime.RunOptions{Leave: true})
	must(t, err)
	if !st.Waiting() {
		t.Fatalf("quest %s is %s, want one that waits", name, st.Status)
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	t.Run("AnAnswerWakesAQuestThatIsInNoMemory", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.asking("q")
		d := s.waits("q")
		q := d.Questions[0]
		if d.Summary.Questions != 1 || q.Asker != "agent-0" || q.Text != "Which colour?" || len(q.Options) != 2 || !q.Blocking || !d.Here {
			t.Fatalf("it asks %+v", d)
		}
		if n := s.Keeper().Running(); n != 0 {
			t.Errorf("%d quests are run while one waits", n)
		}
		if !s.rt.IsMarked(t.Context(), "q") {
			t.Error("the mark is gone: after a crash nobody would wake it")
		}
		s.do("POST", "/api/quests/q/answers", map[string]any{"question": q.ID, "choice": "red"}).want(t, 202)
		s.do("POST", "/api/quests/q/answers", map[string]any{"question": q.ID, "choice": "red"}).want(t, 409)
		for s.waits("q").Questions[0].ID == q.ID {
			time.Sleep(5 * time.Millisecond)
		}
		next := s.waits("q").Questions[0]
		if next.Proposal != "tool.call" || next.Policies[0] != "careful" || next.Expires == nil || next.Default != "no" {
			t.Errorf("the policy asks %+v", next)
		}
		s.do("POST", "/api/quests/q/answers", map[string]any{"question": next.ID, "choice": "no", "text": "Never."}).want(t, 202)
		s.released("q")
		for e, err := range s.rt.Ledger.Read(t.Context(), "q", 1) {
			must(t, err)
			if e.Type == "quest.resumed" || e.Type == "quest.paused" {
				t.Errorf("event %d is a %s: waiting is neither", e.Seq, e.Type)
			}
		}
	})
	t.Run("TheNextServerWakesIt", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		first := h.serve(api.Options{})
		first.asking("q")
		q := first.waits("q").Questions[0]
		first.stop()
		// Somebody answers while no server is up.
		rt, closeAll := h.runtime()
		_, err := rt.Post(t.Context(), "q", ledger.Command{Key: "k", Body: &event.InteractionAnswered{Interaction: q.ID, Choice: "red"}})
		must(t, err)
		st, err := rt.Settle(t.Context(), "q")
		must(t, err)
		if !st.Waiting() {
			t.Error("settling has taken a quest out of its wait")
		}
		closeAll()
		second := h.serve(api.Options{})
		_, err = second.Keeper().GoOn(t.Context())
		must(t, err)
		until(t, second.rt, "q", func(e event.Event) bool { return e.Seq > q.ID && e.Type == "interaction.opened" })
	})
	t.Run("AnotherProcessAnswers", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.serve(api.Options{})
		s.asking("q")
		q := s.waits("q").Questions[0]
		rt, closeAll := h.runtime()
		defer closeAll()
		_, err := rt.Post(t.Context(), "q", ledger.Command{Key: "k", Body: &event.InteractionAnswered{Interaction: q.ID, Choice: "red"}})
		must(t, err)
		_, _ = rt.Settle(t.Context(), "q") // as the command line does, perhaps while the server wakes
		until(t, rt, "q", func(e event.Event) bool { return e.Seq > q.ID && e.Type == "interaction.opened" })
	})
	t.Run("AnAnswerThatNobodyTakesIsThereOnce", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.left(t, "q")
		read := func() (d api.Detail) {
			s.do("GET", "/api/quests/q", nil).want(t, 200).into(t, &d)
			return d
		}
		d := read()
		if d.Status != "waiting" || d.Here || d.Questions[0].Answered {
			t.Fatalf("nobody looks after it: %+v", d)
		}
		var posted api.Posted
		s.do("POST", "/api/quests/q/answers", map[string]any{"question": d.Questions[0].ID, "choice": "red"}).want(t, 202).into(t, &posted)
		s.do("POST", "/api/quests/q/answers", map[string]any{"question": d.Questions[0].ID, "choice": "blue"}).want(t, 409)
		if d = read(); posted.Running || !d.Questions[0].Answered {
			t.Errorf("running %v, and the question says %+v, want that it has an answer which nobody takes", posted.Running, d.Questions[0])
		}
		// Another process has looked before there was one, and answers too.
		_, err := s.rt.Post(t.Context(), "q", ledger.Command{Key: "late", Body: &event.InteractionAnswered{Interaction: d.Questions[0].ID, Choice: "blue"}})
		must(t, err)
		s.control("q", map[string]any{"action": "start"}).want(t, 200)
		s.released("q")
		var choices []string
		for e, err := range s.rt.Ledger.Read(t.Context(), "q", 1) {
			must(t, err)
			if b, ok := e.Body.(*event.InteractionAnswered); ok {
				choices = append(choices, b.Choice)
			}
		}
		if len(choices) != 1 || choices[0] != "red" {
			t.Errorf("%q count, want the first answer alone", choices)
		}
	})
	t.Run("AQuestionExpires", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.create("q", map[string]any{"model": "asker", "may_ask": false, "policies": []any{map[string]any{"name": "careful", "steps": []any{map[string]any{
			"ask": map[string]any{"type": "model.call", "default": "yes", "within": "1s"}}}}}})
		s.control("q", map[string]any{"action": "start"}).want(t, 200)
		s.waits("q")
		until(t, s.rt, "q", isType("interaction.expired"))
		until(t, s.rt, "q", isType("model.call"))
	})
	t.Run("AStopIsNoAnswer", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.serve(api.Options{})
		s.asking("q")
		s.waits("q")
		s.control("q", map[string]any{"action": "stop"}).want(t, 200)
		s.released("q")
		st, err := s.rt.Load(t.Context(), "q")
		must(t, err)
		if st.Status != quest.Stopped || !strings.Contains(st.Reason, "person") {
			t.Errorf("it is %s (%s)", st.Status, st.Reason)
		}
		for end := time.Now().Add(patience); s.Keeper().Waits("q") || s.rt.IsMarked(t.Context(), "q"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it is still looked after")
			}
		}
		time.Sleep(300 * time.Millisecond)
		if st, err = s.rt.Load(t.Context(), "q"); err != nil || st.Status != quest.Stopped {
			t.Errorf("it is %s, %v", st.Status, err)
		}
	})
	t.Run("ATerminalTakesItOver", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		s := h.serve(api.Options{})
		s.asking("q")
		q := s.waits("q").Questions[0]
		rt, closeAll := h.runtime()
		defer closeAll()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := rt.Run(ctx, "q", runtime.RunOptions{})
			done <- err
		}()
		for end := time.Now().Add(patience); s.rt.IsMarked(t.Context(), "q") && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		_, err := rt.Post(t.Context(), "q", ledger.Command{Key: "k", Body: &event.InteractionAnswered{Interaction: q.ID, Choice: "red"}})
		must(t, err)
		until(t, rt, "q", func(e event.Event) bool { return e.Seq > q.ID && e.Type == "interaction.opened" })
		if s.Keeper().Has("q") {
			t.Error("the server runs it, too")
		}
		cancel()
		<-done
	})
}
