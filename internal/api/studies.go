package api

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"strconv"

	"lyceum/internal/conduct"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/survey"
)

// StudyOutline is a study at a glance: what its ledger says, and how it stands.
type StudyOutline struct {
	survey.Outline
	// Spent is what its quests have cost so far, those under way included, at least if there are calls
	// of which nobody knows it. Share is what each may cost.
	Spent string `json:"spent_usd"`
	Share string `json:"share_usd"`
	// Here says that this server conducts it, Trouble why it last did not go on.
	Here    bool   `json:"held_here"`
	Trouble string `json:"trouble,omitempty"`
}

// StudyView is a study with its table.
type StudyView struct {
	StudyOutline
	Rows []StudyRow `json:"rows"`
}

// StudyRow is a cell. While its quest is under way it says what the quest has taken so far.
type StudyRow struct {
	survey.Row
	// Standing is how its quest stands, empty while there is none.
	Standing string `json:"standing,omitempty"`
	// Questions is how many of its quest wait for an answer.
	Questions int `json:"open_questions,omitempty"`
}

// studies are those of the home. Without mayCreate a home that has none is conduct.ErrNone.
func (s *Server) studies(mayCreate bool) (*conduct.Studies, error) {
	if s.opts.Studies == nil {
		return nil, conduct.ErrNone
	}
	store, err := s.opts.Studies(mayCreate)
	if err != nil {
		return nil, err
	}
	return &conduct.Studies{Log: store, Runtime: s.rt, Making: s.making, Say: func(line string) { s.opts.Log.Print(line) }}, nil
}

// making is around the making of a quest that no request makes: nothing is tidied up meanwhile.
func (s *Server) making(create func() error) error {
	s.changing.RLock()
	defer s.changing.RUnlock()
	return create()
}

// studyOf is the study of a request's path, as it is now.
func (s *Server) studyOf(r *http.Request) (*conduct.Studies, *survey.State, error) {
	name := r.PathValue("study")
	gone := missing("there is no study %.80q: GET /api/studies lists those that there are", name)
	if !event.ValidName(name) {
		return nil, nil, gone
	}
	m, err := s.studies(false)
	if err == nil {
		var st *survey.State
		if st, err = m.Load(r.Context(), name); err == nil {
			return m, st, nil
		}
	}
	if errors.Is(err, conduct.ErrNone) {
		err = gone
	}
	return nil, nil, err
}

// surveyedAt is what a study's ledger says, as of a seq: a study is never removed, nor made again.
type surveyedAt struct {
	seq  uint64
	view *survey.View
}

// viewed is a study by its name, from memory if its ledger has not moved.
func (s *Server) viewed(ctx context.Context, m *conduct.Studies, n conduct.Name) (*survey.View, error) {
	if v, ok := s.surveyed.Load(n.Name); ok && v.(surveyedAt).seq == n.Seq {
		return v.(surveyedAt).view, nil
	}
	st, err := m.Load(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	v := st.View(false)
	s.surveyed.Store(n.Name, surveyedAt{st.Seq, v})
	return v, nil
}

// stands says of a study how it and its quests stand.
func (s *Server) stands(ctx context.Context, m *conduct.Studies, v *survey.View) (*StudyView, error) {
	out := &StudyView{StudyOutline: StudyOutline{Outline: v.Outline, Here: s.conductor.has(v.Study), Trouble: s.discreet(s.conductor.said(v.Study), "")}, Rows: make([]StudyRow, len(v.Rows))}
	if v.State != survey.Finished {
		claimed, err := m.Running(v.Study)
		if err != nil {
			return nil, err
		}
		if claimed || out.Here {
			out.State = "running"
		}
	}
	budget, err := quest.ParseUSD(v.BudgetUSD)
	if err != nil {
		return nil, err
	}
	out.Share = (budget / quest.USD(max(v.Cells, 1))).String()
	var spent quest.USD
	for i, r := range v.Rows {
		out.Rows[i] = StudyRow{Row: r}
		if r.State != survey.Waits {
			if err := s.rowNow(ctx, &out.Rows[i]); err != nil {
				return nil, err
			}
		}
		cost, err := quest.ParseUSD(out.Rows[i].CostUSD)
		if err != nil {
			return nil, err
		}
		spent += cost
	}
	out.Spent = spent.String()
	return out, nil
}

// rowNow says of a cell how its quest stands. What the study has observed of it stays.
func (s *Server) rowNow(ctx context.Context, r *StudyRow) error {
	head, err := s.rt.Ledger.Head(ctx, r.Quest)
	if errors.Is(err, ledger.ErrNoQuest) { // it is just being made, was refused, or was removed
		return nil
	} else if err != nil {
		return err
	}
	q, err := s.glance(ctx, head, nil)
	if err != nil {
		return err
	}
	r.Standing = q.Status
	if r.State != survey.Runs {
		return nil
	}
	r.Questions, r.Unpriced, r.Tokens, r.Turns, r.Events, r.Seconds = q.Questions, q.Unpriced, q.Tokens, q.Turns, q.Events, survey.Seconds(q.Seconds*1e6)
	if q.Cost != nil {
		r.CostUSD = q.Cost.String()
	} else if q.AtLeast != nil {
		r.CostUSD = q.AtLeast.String()
	}
	return nil
}

func (s *Server) listStudies(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	out := struct {
		Studies []StudyOutline `json:"studies"`
	}{[]StudyOutline{}}
	m, err := s.studies(false)
	if errors.Is(err, conduct.ErrNone) {
		return s.send(w, http.StatusOK, out)
	} else if err != nil {
		return err
	}
	names, err := m.Names(r.Context())
	if err != nil {
		return err
	}
	for _, n := range names {
		v, err := s.viewed(r.Context(), m, n)
		if err != nil {
			return err
		}
		now, err := s.stands(r.Context(), m, v)
		if err != nil {
			return err
		}
		out.Studies = append(out.Studies, now.StudyOutline)
	}
	return s.send(w, http.StatusOK, out)
}

func (s *Server) study(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	m, st, err := s.studyOf(r)
	if err != nil {
		return err
	}
	out, err := s.stands(r.Context(), m, st.View(false))
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, out)
}

// studyCSV sends the table of a study, as lyceum study export --csv writes it.
func (s *Server) studyCSV(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	_, st, err := s.studyOf(r)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := st.CSV(&table); err != nil {
		return err
	}
	head := w.Header()
	head.Set("Content-Type", "text/csv; charset=utf-8")
	head.Set("Content-Security-Policy", blobCSP)
	head.Set("Content-Length", strconv.Itoa(table.Len()))
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": st.Name + ".csv"}))
	_, err = w.Write(table.Bytes())
	return err
}

// StudyOrder is an order to a study.
type StudyOrder struct {
	Action string `json:"action"`
}

// controlStudy starts a study or stops it. The owner has allowed its budget when it was made.
func (s *Server) controlStudy(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var o StudyOrder
	if err := decode(r, &o); err != nil {
		return err
	}
	m, st, err := s.studyOf(r)
	if err != nil {
		return err
	}
	switch o.Action {
	case "start":
		err = s.startStudy(r.Context(), m, st)
	case "stop":
		err = s.stopStudy(r.Context(), m, st)
	default:
		err = badParameter("action", "%.30q: want start or stop", o.Action)
	}
	if err == nil {
		st, err = m.Load(r.Context(), st.Name)
	}
	if err != nil {
		return err
	}
	out, err := s.stands(r.Context(), m, st.View(false))
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, out)
}

func (s *Server) startStudy(ctx context.Context, m *conduct.Studies, st *survey.State) error {
	if st.Over {
		return conflict("study %s is over: for other quests make another study", st.Name)
	}
	c, err := s.conductor.begin(m, st.Name, true)
	if err == nil {
		err = c.heard(ctx)
	}
	if errors.Is(err, ledger.ErrClaimed) {
		return conflict("study %s runs already, or is just coming to rest", st.Name)
	}
	return err
}

func (s *Server) stopStudy(ctx context.Context, m *conduct.Studies, st *survey.State) error {
	if s.conductor.has(st.Name) {
		// At once: what is under way may take its time, and whoever kills the server meanwhile has stopped the study, too.
		if err := m.Log.Unwant(ctx, st.Name); err != nil {
			return err
		}
	}
	if s.conductor.stop(ctx, st.Name) {
		return nil
	}
	claimed, err := m.Running(st.Name)
	switch {
	case err != nil:
		return err
	case claimed:
		return conflict("study %s is run by another process: end it there, with Ctrl-C", st.Name)
	}
	return conflict("study %s does not run: there is nothing to stop", st.Name)
}

// startStudyJob packs a study with its quests.
func (s *Server) startStudyJob(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var n NewJob
	if err := decode(r, &n); err != nil {
		return err
	}
	if n.Kind != jobExport {
		return badParameter("kind", "%.30q: want %s", n.Kind, jobExport)
	}
	m, st, err := s.studyOf(r)
	if err != nil {
		return err
	}
	j, ctx, err := s.jobs.begin(s.ctx, callerOf(r), Job{Kind: jobExport, Study: st.Name, State: jobWaiting, Unit: "bytes"})
	if err != nil {
		return err
	}
	started := j.now()
	s.background(ctx, j, func() {}, func(ctx context.Context) (*spooled, func(*Job), error) {
		return s.packed(ctx, j, st.Name, func(f *spooled) error { return m.Export(ctx, st.Name, f) })
	})
	return s.send(w, http.StatusAccepted, started)
}
