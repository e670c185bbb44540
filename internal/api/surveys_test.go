package api_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/conduct"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
)

// studies opens the ledgers of the home's studies for a server, and closes them.
func (h *home) studies() (open func(mayCreate bool) (ledger.Store, error), end func()) {
	var mu sync.Mutex
	var store ledger.Store
	open = func(mayCreate bool) (ledger.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		file := filepath.Join(h.dir, "studies", "lyceum.db")
		if _, err := os.Stat(file); err != nil && !mayCreate {
			return nil, conduct.ErrNone
		}
		if store != nil {
			return store, nil
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		opened, err := sqlite.Open(file, nil)
		if err == nil {
			store = opened
		}
		return opened, err
	}
	return open, func() {
		mu.Lock()
		defer mu.Unlock()
		if store != nil {
			must(h.t, store.Close())
		}
	}
}

// aStudy is one of so many seeds.
func aStudy(name, model string, seeds int) map[string]any {
	return map[string]any{"name": name, "question": "What is 17 * 23?", "models": []string{model}, "seeds": []string{fmt.Sprintf("1..%d", seeds)}, "budget_usd": "1", "parallel": 2}
}

// surveyUntil waits until a study is as it is wanted.
func (s *server) surveyUntil(name, what string, fits func(*api.StudyView) bool) *api.StudyView {
	s.t.Helper()
	v := &api.StudyView{}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		v = &api.StudyView{}
		s.do("GET", "/api/studies/"+name, nil).want(s.t, 200).into(s.t, v)
		if fits(v) {
			return v
		}
	}
	s.t.Fatalf("study %s is not %s: it is %s (%s), %+v", name, what, v.State, v.Trouble, v.Rows)
	return nil
}

func isFinished(v *api.StudyView) bool { return v.State == "finished" }

func (s *server) order(name, action string) answer {
	s.t.Helper()
	return s.do("POST", "/api/studies/"+name+"/control", map[string]any{"action": action})
}

func TestAServerConductsAStudy(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	body := aStudy("many", "demo", 3)
	body["societies"] = []any{map[string]any{"society": "solo"}, map[string]any{"society": "lab", "label": "small lab", "agents": 2, "quest": map[string]any{"computer": "none", "limits": map[string]any{"turns": 40}}}}
	var made api.StudyView
	s.do("POST", "/api/studies", body).want(t, 201).into(t, &made)
	if made.State != "open" || len(made.Rows) != 6 || made.Share != "0.166666666" || made.Rows[0].Standing != "" {
		t.Errorf("a study that was made: %+v", made)
	}
	if n := len(s.questNames()); n != 0 {
		t.Errorf("a study that was not started has %d quests, want none", n)
	}
	s.order("many", "start").want(t, 200)
	v := s.surveyUntil("many", "finished", isFinished)
	if v.Observed != 6 || v.Here || v.Rows[0].Answer == "" || v.Rows[0].Standing == "" || v.Societies[1] != "small lab" {
		t.Errorf("a study that is over: %+v", v)
	}
	if got := s.questNames(); len(got) != 6 || got[0] != "many-1" {
		t.Errorf("its quests are %v, want six", got)
	}
	s.order("many", "start").want(t, 409)
	s.order("many", "stop").want(t, 409)
	var list struct{ Studies []api.StudyOutline }
	s.do("GET", "/api/studies", nil).want(t, 200).into(t, &list)
	if len(list.Studies) != 1 || list.Studies[0].Study != "many" || list.Studies[0].State != "finished" {
		t.Errorf("the list has %+v", list)
	}
	s.packs("many", 6)
}

// questNames are those of all quests.
func (s *server) questNames() (out []string) {
	s.t.Helper()
	heads, err := s.rt.Ledger.Quests(s.t.Context())
	must(s.t, err)
	for _, h := range heads {
		out = append(out, h.Quest)
	}
	return out
}

// packs fetches the table of a study and its crate.
func (s *server) packs(name string, cells int) {
	s.t.Helper()
	a := s.do("GET", "/api/studies/"+name+"/csv", nil).want(s.t, 200)
	rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	must(s.t, err)
	if len(rows) != cells+1 || rows[0][0] != "cell" || !strings.Contains(a.header.Get("Content-Disposition"), name+".csv") {
		s.t.Errorf("the table has %d lines as %s, want %d", len(rows), a.header.Get("Content-Disposition"), cells+1)
	}
	var j api.Job
	s.do("POST", "/api/studies/"+name+"/jobs", map[string]any{"kind": "verify"}).want(s.t, 400)
	s.do("POST", "/api/studies/"+name+"/jobs", map[string]any{"kind": "export"}).want(s.t, 202).into(s.t, &j)
	if j = s.over(j.ID); j.State != "done" || j.Study != name || j.Crate == nil {
		s.t.Fatalf("the export ends as %+v", j)
	}
	data := s.do("GET", "/api/jobs/"+j.ID+"/crate", nil).want(s.t, 200).body
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(s.t, err)
	var files []string
	for _, f := range z.File {
		files = append(files, f.Name)
	}
	if len(files) != cells+3 || !slices.Contains(files, "study.jsonl") || !slices.Contains(files, "quests/"+name+"-1.zip") {
		s.t.Errorf("the crate has %v", files)
	}
}

// TestAllFaultsOfAStudyAreTold: each at its member, those of the quests that it would have included.
func TestAllFaultsOfAStudyAreTold(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.create("taken-1", map[string]any{"model": "demo"})
	s.do("POST", "/api/studies", aStudy("there", "demo", 1)).want(t, 201)
	for _, c := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{}, "budget_usd models name question"},
		{map[string]any{"name": "Bad Name", "question": " ", "models": []string{"nope"}, "seeds": []string{"x", "2..1"}, "budget_usd": "much", "parallel": 99, "societies": []any{map[string]any{"society": "nowhere", "quest": []int{1}}}, "quest": "x"}, "budget_usd name parallel quest question seeds seeds societies"},
		{aStudy("there", "demo", 1), "name"},
		{aStudy("taken", "demo", 1), "name"},
		{map[string]any{"name": "x", "question": "What?", "models": []string{"nope", "demo"}, "budget_usd": 1, "societies": []any{map[string]any{"society": "solo"}, map[string]any{"society": "nowhere"}, map[string]any{"society": "lab", "agents": -1}}}, "models societies societies"},
		{map[string]any{"name": "x", "question": "What?", "models": []string{"demo"}, "seeds": []string{"1..400", "1000..1400"}, "budget_usd": 1}, "seeds"},
		{map[string]any{"name": "x", "question": "What?", "models": []string{"demo"}, "budget_usd": 1, "quest": map[string]any{"data": "secret", "limits": map[string]any{"cost": 5}}}, "quest quest"},
	} {
		var e struct {
			Error struct{ Fields []api.FieldError }
		}
		s.do("POST", "/api/studies", c.body).want(t, 400).into(t, &e)
		var checked struct {
			Valid  bool
			Errors []api.FieldError
		}
		s.do("POST", "/api/validate-study", c.body).want(t, 200).into(t, &checked)
		if got := fieldsIn(e.Error.Fields); got != c.want {
			t.Errorf("%v: the faults are at %q, want %q: %+v", c.body, got, c.want, e.Error.Fields)
		}
		if got := fieldsIn(checked.Errors); got != c.want || checked.Valid {
			t.Errorf("%v: a check finds faults at %q, want %q", c.body, got, c.want)
		}
	}
	if n := len(s.questNames()); n != 1 {
		t.Errorf("there are %d quests, want the one that was made", n)
	}
}

func fieldsIn(list []api.FieldError) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Field)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestAStudyIsStoppedAndStarted: its quests are paused, and go on when it is started again; none is made
// meanwhile. One that is stopped is not gone on with by the next server.
func TestAStudyIsStoppedAndStarted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	h.gate.says = func(*model.Request) *model.Answer { return said("391") }
	s := h.serve(api.Options{})
	body := aStudy("s", "gate", 4)
	body["start"] = true
	s.do("POST", "/api/studies", body).want(t, 201)
	s.surveyUntil("s", "under way", func(v *api.StudyView) bool {
		return v.Here && v.Rows[0].Standing == "running" && v.Rows[1].Standing == "running"
	})
	s.order("s", "start").want(t, 409)
	s.order("s", "stop").want(t, 200) // it says so though what is under way is still to come in
	h.gate.let(2)
	v := s.surveyUntil("s", "at rest", func(v *api.StudyView) bool { return v.State == "open" })
	if n := len(s.questNames()); n != 2 {
		t.Errorf("%d quests were made, want those that were under way", n)
	}
	if v.Observed == 4 || v.Trouble != "" {
		t.Errorf("a study that was stopped: %d cells are over, %q", v.Observed, v.Trouble)
	}
	if names, err := s.GoOnWithStudies(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("a study that a person stopped is gone on with: %v, %v", names, err)
	}
	s.order("s", "start").want(t, 200)
	h.gate.let(4)
	v = s.surveyUntil("s", "finished", isFinished)
	if v.Answered != 4 || len(v.Answers) != 1 {
		t.Errorf("the study has %d answers, want 4 that are the same: %+v", v.Answered, v.Answers)
	}
}

// TestTheNextServerGoesOnWithAStudy: one that was under way when the server shut down.
func TestTheNextServerGoesOnWithAStudy(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	h.gate.says = func(*model.Request) *model.Answer { return said("391") }
	s := h.serve(api.Options{})
	body := aStudy("s", "gate", 3)
	body["start"] = true
	s.do("POST", "/api/studies", body).want(t, 201)
	s.surveyUntil("s", "under way", func(v *api.StudyView) bool { return v.Rows[0].Standing == "running" })
	s.RestStudies()
	s.stop()
	next := h.serve(api.Options{})
	if _, err := next.Keeper().GoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := next.surveyUntil("s", "open", func(v *api.StudyView) bool { return v.State == "open" })
	if v.Here {
		t.Error("a study that nobody has gone on with yet is under way")
	}
	names, err := next.GoOnWithStudies(t.Context())
	if err != nil || !slices.Equal(names, []string{"s"}) {
		t.Fatalf("the next server goes on with %v, %v, want s", names, err)
	}
	h.gate.let(10)
	if v = next.surveyUntil("s", "finished", isFinished); v.Answered != 3 || len(next.questNames()) != 3 {
		t.Errorf("the study has %d answers of %d quests, want 3 of 3", v.Answered, len(next.questNames()))
	}
}

// TestAStudyWaitsForPeople: a quest of it that asks keeps its cell open until it has its answer.
func TestAStudyWaitsForPeople(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	body := aStudy("s", "asker", 1)
	body["quest"], body["start"] = map[string]any{"may_ask": true}, true
	s.do("POST", "/api/studies", body).want(t, 201)
	v := s.surveyUntil("s", "waiting for a person", func(v *api.StudyView) bool { return v.Rows[0].Questions > 0 })
	if v.State != "running" {
		t.Errorf("a study that waits for a person is %s, want running", v.State)
	}
	d := s.waits("s-1")
	s.do("POST", "/api/quests/s-1/answers", map[string]any{"question": d.Questions[0].ID, "choice": "red"}).want(t, 202)
	if v = s.surveyUntil("s", "finished", isFinished); v.Answered != 1 {
		t.Errorf("the study has %d answers, want 1", v.Answered)
	}
}

// askStudies goes through what studies answer.
func (w *world) askStudies(t *testing.T, ask func(string, string, any, ...func(*http.Request)) answer) {
	t.Helper()
	const order, job = "POST /api/studies/{study}/control", "POST /api/studies/{study}/jobs"
	ask(order, "/api/studies/nope/control", map[string]any{"action": "start"}).want(t, 404)
	body := aStudy("many", "demo", 2)
	ask("POST /api/validate-study", "/api/validate-study", body).want(t, 200)
	ask("POST /api/validate-study", "/api/validate-study", map[string]any{}).want(t, 200)
	ask("POST /api/validate-study", "/api/validate-study", aStudy("dear", "scholar", 2)).want(t, 200)
	ask("POST /api/studies", "/api/studies", body).want(t, 201)
	ask("POST /api/studies", "/api/studies", body).want(t, 400)
	ask(order, "/api/studies/many/control", map[string]any{"action": "stop"}).want(t, 409)
	ask(order, "/api/studies/many/control", map[string]any{"action": "start"}).want(t, 200)
	w.surveyUntil("many", "finished", isFinished)
	for _, path := range []string{"", "/csv"} {
		ask("GET /api/studies/{study}"+path, "/api/studies/many"+path, nil).want(t, 200)
		ask("GET /api/studies/{study}"+path, "/api/studies/nope"+path, nil).want(t, 404)
	}
	ask("GET /api/studies", "/api/studies", nil).want(t, 200)
	var j api.Job
	ask(job, "/api/studies/nope/jobs", map[string]any{"kind": "export"}).want(t, 404)
	ask(job, "/api/studies/many/jobs", map[string]any{"kind": "export"}).want(t, 202).into(t, &j)
	w.over(j.ID)
	ask("GET /api/jobs/{job}", "/api/jobs/"+j.ID, nil).want(t, 200)
}
