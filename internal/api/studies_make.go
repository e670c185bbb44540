package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"lyceum/internal/conduct"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/survey"
	"lyceum/internal/view"

	"github.com/goccy/go-yaml"
)

// NewStudy is what a study is to be made of: the keys of its file, as docs/studies.md has them.
type NewStudy struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Models   []string `json:"models"`
	// Seeds are numbers, or ranges such as 1..3; one is 1 if there are none.
	Seeds []string `json:"seeds,omitempty"`
	// Societies are those that work on the question; one is solo if there are none.
	Societies []NewArm `json:"societies,omitempty"`
	// Budget is in US dollars, for all quests together.
	Budget json.RawMessage `json:"budget_usd"`
	// Parallel is how many quests are under way at once, 1 if it is missing.
	Parallel *int64 `json:"parallel,omitempty"`
	// Quest is what every quest.yaml says besides.
	Quest json.RawMessage `json:"quest,omitempty"`
	Start bool            `json:"start,omitempty"`
}

// NewArm is a society of a study.
type NewArm struct {
	Society string `json:"society"`
	// Label is what the table calls it.
	Label string `json:"label,omitempty"`
	// Agents is how many it has, as its rules say if it is missing; Quest what the quest.yaml of such
	// quests says besides.
	Agents *int64          `json:"agents,omitempty"`
	Quest  json.RawMessage `json:"quest,omitempty"`
}

// designed reads what a caller sent, and all that is wrong with it before its quests are planned.
func designed(n *NewStudy) (d *survey.Draft, faults []FieldError) {
	bad := func(field string, err error) {
		if err != nil {
			faults = append(faults, FieldError{Field: field, Message: err.Error()})
		}
	}
	d = &survey.Draft{Name: n.Name, SurveyDesigned: event.SurveyDesigned{Question: n.Question, Models: n.Models, Parallel: 1}}
	if n.Parallel != nil {
		d.Parallel = *n.Parallel
	}
	if text := strings.Trim(string(n.Budget), `"`); text != "" && text != "null" {
		bad("budget_usd", d.SetBudget(text))
	}
	for _, text := range n.Seeds[:min(len(n.Seeds), survey.MaxCells+1)] {
		bad("seeds", d.AddSeeds(text))
	}
	for _, a := range n.Societies[:min(len(n.Societies), survey.MaxCells+1)] {
		arm := event.SurveyArm{Society: a.Society, Label: a.Label}
		if a.Agents != nil {
			arm.Spec = fmt.Sprintf("agents: %d\n", *a.Agents)
		}
		keys, err := keysIn(a.Quest)
		bad("societies", err)
		arm.Spec += keys
		d.Arms = append(d.Arms, arm)
	}
	var err error
	d.Common, err = keysIn(n.Quest)
	bad("quest", err)
	return d, faults
}

// keysIn are keys of a quest.yaml that came as JSON.
func keysIn(raw json.RawMessage) (string, error) {
	switch text := strings.TrimSpace(string(raw)); {
	case text == "" || text == "null" || text == "{}":
		return "", nil
	case !strings.HasPrefix(text, "{"):
		return "", errors.New("want an object with keys of a quest.yaml")
	}
	if err := modest(raw); err != nil {
		return "", err
	}
	data, err := yaml.JSONToYAML(raw)
	return string(data), err
}

// studyFaults are what an error about a design consists of, each at the member of a request that it is about.
func (s *Server) studyFaults(err error) (out []FieldError) {
	for _, fault := range quest.FaultsOf(err) {
		f := FieldError{Field: quest.FieldOf(fault), Message: s.discreet(fault.Error(), "")}
		if f.Field == "budget" {
			f.Field = "budget_usd"
		}
		out = append(out, f)
	}
	return out
}

// rehearsed is the study that a request would make, or all that is wrong with it.
func (s *Server) rehearsed(ctx context.Context, n *NewStudy) (*survey.Draft, *survey.State, []FieldError, error) {
	d, faults := designed(n)
	m, err := s.studies(false)
	if errors.Is(err, conduct.ErrNone) {
		m = &conduct.Studies{Runtime: s.rt}
	} else if err != nil {
		return nil, nil, nil, err
	}
	st, err := m.Rehearse(ctx, d)
	if plan, ok := errors.AsType[*runtime.PlanError](err); ok {
		return d, nil, without(faults, s.studyFaults(plan.Err)), nil
	}
	return d, st, faults, err
}

// without are faults, and others about members that have none yet: that seeds are missing is no news
// where they could not be read.
func without(faults, others []FieldError) []FieldError {
	has := map[string]bool{}
	for _, f := range faults {
		has[f.Field] = true
	}
	for _, f := range others {
		if !has[f.Field] {
			faults = append(faults, f)
		}
	}
	return faults
}

// makeStudy records the design of a study, and starts it if that is wanted.
func (s *Server) makeStudy(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var n NewStudy
	if err := decode(r, &n); err != nil {
		return err
	}
	d, _, faults, err := s.rehearsed(r.Context(), &n)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return badStudy(faults)
	}
	m, err := s.studies(true)
	if errors.Is(err, conduct.ErrNone) {
		return conflict("this server has no studies")
	} else if err != nil {
		return err
	}
	st, err := m.Make(r.Context(), d)
	if errors.Is(err, conduct.ErrThere) {
		return problemf(http.StatusConflict, "name", "%v", err) // somebody was faster
	} else if err != nil {
		return err
	}
	if n.Start {
		if err := s.startStudy(r.Context(), m, st); err != nil {
			return conflict("study %s was made, and cannot run: %v", st.Name, err)
		}
	}
	out, err := s.stands(r.Context(), m, st.View(false))
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/studies/"+st.Name)
	return s.send(w, http.StatusCreated, out)
}

func badStudy(faults []FieldError) *problem {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.Message
	}
	return &problem{status: http.StatusBadRequest, field: faults[0].Field, fields: faults, text: strings.Join(texts, "\n")}
}

// validateStudy checks a design without making a study of it.
func (s *Server) validateStudy(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var n NewStudy
	if err := decode(r, &n); err != nil {
		return err
	}
	out := struct {
		Valid  bool         `json:"valid"`
		Errors []FieldError `json:"errors"`
		// Cells is how many quests it would have, Share what each may cost.
		Cells    int       `json:"cells"`
		Share    string    `json:"share_usd"`
		Strict   bool      `json:"strict"`
		Estimate *estimate `json:"estimate,omitempty"`
	}{Errors: []FieldError{}}
	d, st, faults, err := s.rehearsed(r.Context(), &n)
	if err != nil {
		return err
	}
	out.Errors = append(out.Errors, faults...)
	out.Valid, out.Cells, out.Share, out.Strict = len(faults) == 0, len(d.Seeds)*len(d.Arms)*len(d.Models), quest.USD(survey.Share(&d.SurveyDesigned)).String(), d.Strict
	if out.Valid {
		if out.Estimate, err = s.estimatedStudy(r.Context(), st); err != nil {
			return err
		}
	}
	return s.send(w, http.StatusOK, out)
}

// estimatedStudy weighs all quests of a study; nil if they would cost nothing.
func (s *Server) estimatedStudy(ctx context.Context, st *survey.State) (*estimate, error) {
	past, err := pasts(ctx, s.rt, "", nil)
	if err != nil {
		return nil, err
	}
	var cost int64
	var unknown string
	costs := false
	m := &conduct.Studies{Runtime: s.rt}
	err = m.Weigh(ctx, st, func(c *survey.Cell, created *event.QuestCreated) error {
		var models []string
		for _, a := range created.Agents {
			if view.Costly(a.Model) {
				models = append(models, a.Model)
			}
		}
		if len(models) == 0 {
			return nil
		}
		costs = true
		w := view.Weigh(past, c.Arm.Society, models, prices(s.rt))
		if !w.Known && unknown == "" {
			w.Limit = created.Limits.Cost
			unknown = w.Words()
		}
		cost += min(int64(w.Estimate.Cost), survey.Share(st.Design)) * int64(len(st.Design.Seeds))
		return nil
	})
	switch {
	case err != nil || !costs:
		return nil, err
	case unknown != "":
		return &estimate{Words: unknown}, nil
	}
	return &estimate{true, fmt.Sprintf("Estimate: about %s for %s, of a budget of %s", view.Dollars(cost), view.Several(int64(len(st.Cells)), "quest"), view.Dollars(st.Design.Budget))}, nil
}
