package cli_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/need"
	"lyceum/internal/survey"
)

// survey is a study as show --json says it.
func (h *home) survey(name string) (v survey.View) {
	h.t.Helper()
	must(h.t, json.Unmarshal([]byte(h.ok("study", "show", name, "--json")), &v))
	return v
}

// quests are the names of all quests of a home.
func (h *home) quests() map[string]int {
	h.t.Helper()
	var list []struct{ Quest string }
	must(h.t, json.Unmarshal([]byte(h.ok("list", "--json")), &list))
	names := map[string]int{}
	for _, q := range list {
		names[q.Quest]++
	}
	return names
}

// surveyed are the events of a study, out of its crate. The crate has the table, too, and its quests
// verify by themselves.
func (h *home) surveyed(name string) (out []surveyEntry) {
	h.t.Helper()
	file := filepath.Join(h.work, name+".zip")
	h.ok("study", "export", name, "--crate", file, "--force")
	packed, err := zip.OpenReader(file)
	must(h.t, err)
	defer packed.Close()
	read := func(name string) []byte {
		f, err := packed.Open(name)
		must(h.t, err)
		defer f.Close()
		data, err := io.ReadAll(f)
		must(h.t, err)
		return data
	}
	for line := range bytes.Lines(read("study.jsonl")) {
		var e surveyEntry
		must(h.t, json.Unmarshal(line, &e))
		out = append(out, e)
	}
	if got, want := string(read("cells.csv")), h.ok("study", "export", name, "--csv", "-"); got != want {
		h.t.Errorf("the table in the crate is not that of the study:\n%s\n%s", got, want)
	}
	var about struct {
		Graph []struct {
			ID string `json:"@id"`
		} `json:"@graph"`
	}
	must(h.t, json.Unmarshal(read("ro-crate-metadata.json"), &about))
	for _, f := range packed.File {
		if !slices.ContainsFunc(about.Graph, func(e struct {
			ID string `json:"@id"`
		}) bool {
			return e.ID == f.Name
		}) {
			h.t.Errorf("the metadata of the crate do not name %s", f.Name)
		}
	}
	one := h.survey(name).Rows[0].Quest + ".zip"
	must(h.t, os.WriteFile(filepath.Join(h.work, one), read("quests/"+one), 0o600))
	h.run("verify", one).want(h.t, 0, "consistent")
	return out
}

type surveyEntry struct {
	Type string
	Body struct{ Budget, Cell int64 }
}

// TestAStudyThatIsKilledGoesOn: lyceum is killed again and again in the middle of a study. A quest is there
// only once its cell has its money; in the end each cell was made once, observed once, and has its
// answer, and the money of all is no more than the budget.
func TestAStudyThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	kills := need.Times(12, 200)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	h := newHome(t, nil)
	cells := 20
	h.ok("study", "new", "--name", "many", "--question", "What is 17 * 23?", "--model", "demo", "--seed", fmt.Sprintf("1..%d", cells), "--budget", "1", "--parallel", "3")
	killed := 0
	for range kills {
		p := h.start("study", "run", "many")
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		if p.kill().code == -1 {
			killed++
		}
		made := h.quests()
		for _, r := range h.survey("many").Rows {
			if made[r.Quest] > 0 && r.State == survey.Waits {
				t.Fatalf("quest %s is there, and its cell has no money", r.Quest)
			}
			delete(made, r.Quest)
		}
		if len(made) > 0 {
			t.Fatalf("there are quests that are no cell's: %v", made)
		}
	}
	if killed == 0 {
		t.Fatal("no run was killed: the test has not tried anything")
	}
	h.ok("study", "run", "many")
	h.surveyedWell("many", cells)
}

// TestAServerThatIsKilledGoesOnWithItsStudy: a server is killed again and again in the middle of a study
// that it conducts, and each next one goes on with the study by itself.
func TestAServerThatIsKilledGoesOnWithItsStudy(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	cells, kills := need.Times(8, 60), need.Times(3, 30)
	s := h.serve()
	parallel := int64(3)
	_, err := s.client.MakeStudy(t.Context(), api.NewStudy{Name: "many", Question: "What is 17 * 23?", Models: []string{"demo"}, Seeds: []string{fmt.Sprintf("1..%d", cells)}, Budget: []byte(`"1"`), Parallel: &parallel, Start: true})
	must(t, err)
	under := 0
	for range kills {
		// Some more is done with each server, and then it is killed at once.
		v, err := s.client.Study(t.Context(), "many")
		must(t, err)
		before := v.Observed
		for end := time.Now().Add(patience); v.State != "finished" && v.Observed == before; {
			if time.Now().After(end) {
				t.Fatalf("the study does not go on: %+v\n%s", v, s.errOut.String())
			}
			v, err = s.client.Study(t.Context(), "many")
			must(t, err)
		}
		if v.State == "running" {
			under++
		}
		s.kill()
		s = h.serve()
	}
	if under == 0 {
		t.Fatal("no server was killed while the study was under way: the test has not tried anything")
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		v, err := s.client.Study(t.Context(), "many")
		if err != nil { // one connection of many may be lost
			if time.Now().After(end) {
				t.Fatalf("the last server does not answer: %v\n%s", err, s.errOut.String())
			}
			continue
		}
		if v.State == "finished" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the study does not end: %+v\n%s", v, s.errOut.String())
		}
	}
	s.kill()
	h.surveyedWell("many", cells)
}

// surveyedWell fails the test unless each cell of a study got its money once, was made once, observed
// once and has the same answer, and the money of all is no more than the budget of a dollar.
func (h *home) surveyedWell(name string, cells int) {
	h.t.Helper()
	t := h.t
	v := h.survey(name)
	if v.State != "finished" || v.Answered != cells || len(v.Answers) != 1 || len(v.Answers[0].Cells) != cells {
		t.Errorf("the study is %s with %d answers, %+v; want it finished with %d that are the same", v.State, v.Answered, v.Answers, cells)
	}
	if n := len(h.quests()); n != cells {
		t.Errorf("there are %d quests, want %d", n, cells)
	}
	given, seen, sum := map[int64]int{}, map[int64]int{}, int64(0)
	for _, e := range h.surveyed(name) {
		switch e.Type {
		case "survey.allotted":
			given[e.Body.Cell]++
			sum += e.Body.Budget
		case "survey.observed":
			seen[e.Body.Cell]++
		}
	}
	for _, r := range v.Rows {
		if given[r.Cell] != 1 || seen[r.Cell] != 1 {
			t.Errorf("cell %d got money %d times and was observed %d times, want once each", r.Cell, given[r.Cell], seen[r.Cell])
		}
		h.sound(r.Quest)
	}
	if sum > 1_000_000_000 {
		t.Errorf("%d nanodollars were allotted of a dollar", sum)
	}
}
