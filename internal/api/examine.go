package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"
)

// examined is a check that the caller waits for, as lyceum verify and lyceum replay do it. A job tells
// how far it is.
func (s *Server) examined(kind string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := s.named(r)
		if err != nil {
			return err
		}
		done, err := s.turn(r.Context())
		if err != nil {
			return err
		}
		defer done()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a long quest takes long
		out, err := s.check(r.Context(), kind, name, nil)
		if err != nil {
			return err
		}
		_ = http.NewResponseController(w).SetWriteDeadline(runtime.SystemClock().Time().Add(s.opts.Stall))
		return s.send(w, http.StatusOK, out)
	}
}

// named is the quest in the path of a request without parameters, which is there.
func (s *Server) named(r *http.Request) (string, error) {
	if err := none(r); err != nil {
		return "", err
	}
	name := r.PathValue("quest")
	if !event.ValidName(name) {
		return "", missing("%.80q is not a quest's name: want %s", name, event.NameRule)
	}
	_, err := s.rt.Ledger.Head(r.Context(), name)
	return name, err
}

// LastCheck is the last check of a quest by a job of a server of this home: a GET changes nothing.
type LastCheck struct {
	Verdict string `json:"verdict"`
	// Events is how many there were, Head the hash of the last.
	Events uint64     `json:"events"`
	Head   event.Hash `json:"head"`
	Time   event.Time `json:"time"`
	// Replayed says that every derived event was derived again, identical.
	Replayed bool `json:"replayed"`
	// Different and NotCheckable are how many calls of tools came out otherwise, or cannot be run again.
	Different    int `json:"different"`
	NotCheckable int `json:"not_checkable"`
	// Wrong is the first thing that does not hold.
	Wrong string `json:"wrong,omitempty"`
}

// kindCheck is the kind of the notes in which the last check of each quest is kept.
const kindCheck = "last check"

// remember keeps what a check found. A replay that holds says less than a verification of the same events.
func (s *Server) remember(ctx context.Context, name, kind string, c *Checked) error {
	last := LastCheck{Verdict: c.Verdict, Events: c.Events, Head: c.Head, Time: s.rt.Clock(), Replayed: c.Difference == nil}
	if c.Again != nil {
		last.Different, last.NotCheckable = c.Again.Different, c.Again.NotCheckable
	}
	if c.Difference != nil {
		last.Wrong = c.Difference.Error()
	} else if c.Proof != nil && len(c.Proof.Missing) > 0 {
		last.Wrong = c.Proof.Missing[0]
	}
	body, err := json.Marshal(last)
	if err != nil {
		return err
	}
	for {
		before, had, err := s.lastCheck(ctx, name)
		if err != nil || had != nil && kind == jobReplay && c.Difference == nil && had.Head == last.Head {
			return err
		}
		done, err := s.rt.Ledger.SwapNote(ctx, ledger.Note{Kind: kindCheck, Key: name, Body: body}, before)
		if done || err != nil {
			return err
		}
	}
}

// lastCheck is what stands in the store. What cannot be read there is as good as nothing.
func (s *Server) lastCheck(ctx context.Context, name string) (body []byte, last *LastCheck, err error) {
	n, err := s.rt.Ledger.Note(ctx, kindCheck, name)
	if err != nil || len(n.Body) == 0 || json.Unmarshal(n.Body, &last) != nil {
		return n.Body, nil, err
	}
	return n.Body, last, nil
}

// checked is the last check of a quest, nil if there was none. One of a quest of the same name that was
// removed since is not it.
func (s *Server) checked(ctx context.Context, name string) (*LastCheck, error) {
	_, last, err := s.lastCheck(ctx, name)
	if err != nil || last == nil || last.Events == 0 {
		return nil, err
	}
	for e, err := range s.rt.Ledger.Read(ctx, name, last.Events) {
		switch {
		case err != nil && last.Verdict != "differs": // what was checked is damaged by now
			return nil, err
		case err == nil && e.Hash != last.Head:
			return nil, nil
		}
		return last, nil
	}
	return nil, nil
}

// Record is what is known of what is recorded of a quest.
type Record struct {
	Quest  string     `json:"quest"`
	Events uint64     `json:"events"`
	Head   event.Hash `json:"head"`
	// Words say what the checkpoints are worth, Signed who signed the last that holds, and Seen who else
	// saw the last that somebody else saw.
	Words  string   `json:"words"`
	Signed *Vouched `json:"signed,omitempty"`
	Seen   *Vouched `json:"seen,omitempty"`
	// Witnesses is how many witnesses there are among Seen.
	Witnesses int      `json:"witnesses"`
	Missing   []string `json:"missing,omitempty"`
	// Checked is the last check by a job of a server of this home, nil if there was none.
	Checked *LastCheck `json:"checked,omitempty"`
	// Cite is the command by which whoever gets the quest checks that it has this head.
	Cite string `json:"cite"`
}

// Vouched is who stands for the first events of a quest.
type Vouched struct {
	By     []string   `json:"by"`
	Events uint64     `json:"events"`
	Time   event.Time `json:"time,omitzero"`
}

// record says what is known of a quest without checking it: who signed it, who saw it, and what the last check found.
func (s *Server) record(w http.ResponseWriter, r *http.Request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	b, done, err := s.shelf.open(r.Context(), name)
	if err != nil {
		return err
	}
	out := Record{Quest: name, Events: b.state.Seq, Head: b.state.Hash}
	done()
	if out.Checked, err = s.checked(r.Context(), name); err != nil {
		return err
	}
	out.Cite = "lyceum verify " + name + ".zip --head " + out.Head.String()
	select { // a long quest takes a second, and a processor
	case s.proving <- struct{}{}:
		defer func() { <-s.proving }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	p, err := s.prove(r.Context(), name)
	if err != nil {
		return err
	}
	out.Words, out.Missing = p.Words, p.Missing
	if p.Last != nil {
		out.Signed = &Vouched{By: knownBy(p.Last.Signed), Events: p.Last.Size}
	}
	if p.Bound != nil {
		out.Witnesses = p.Bound.Witnesses()
		out.Seen = &Vouched{By: append(knownBy(p.Bound.Witnessed), knownBy(p.Bound.Stamped)...), Events: p.Bound.Size, Time: p.Bound.By()}
	}
	return s.send(w, http.StatusOK, out)
}

// knownBy are the names of those whom this home believes.
func knownBy(marks []proof.Mark) []string {
	out := []string{}
	for _, m := range marks {
		if m.State == proof.MarkKnown {
			out = append(out, m.By)
		}
	}
	return out
}
