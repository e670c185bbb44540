package api

import (
	"net/http"

	"lyceum/internal/event"
	"lyceum/internal/view"
)

// matter is an event of interest, in a line.
type matter struct {
	Seq   uint64     `json:"seq"`
	Time  event.Time `json:"time"`
	Actor string     `json:"actor"`
	What  string     `json:"what"`
	Of    string     `json:"of,omitempty"`
	Line  string     `json:"line"`
}

// maxMatters is how many a page of the feed has at most.
const maxMatters = 200

// matters answers with what is of interest in a quest, the newest first. The book is closed while the
// events are read, and opened again for what things are called.
func (s *Server) matters(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	before, limit := uint64(p.number("before", 1, maxSeq, 0)), int(p.number("limit", 1, maxMatters, 30))
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	out := struct {
		Head  uint64   `json:"head"`
		All   int      `json:"all"`
		Items []matter `json:"items"`
	}{Head: b.Timeline.Len(), Items: []matter{}}
	seqs, all := b.Timeline.Interesting(before, limit)
	done()
	out.All = all
	name := r.PathValue("quest")
	events, err := s.some(r.Context(), name, append([]uint64{}, seqs...))
	if err != nil {
		return err
	}
	if b, done, err = s.shelf.open(r.Context(), name); err != nil {
		return err
	}
	defer done()
	t := &view.Teller{Most: maxLine, Title: view.Titles(b.state)}
	for _, seq := range seqs {
		e := events[seq]
		why := view.InterestOf(e)
		out.Items = append(out.Items, matter{seq, e.Time, e.Actor, why.What, why.Of, t.Tell(e).Text})
	}
	return s.sendAndClose(w, out, done)
}
