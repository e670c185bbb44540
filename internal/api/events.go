package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/view"
)

// How many events a page has at most, and how many are looked at for one.
const (
	maxPage     = 5000
	defaultPage = 500
	maxScan     = 50_000
)

// query reads which events are wanted.
func query(p *params) (q eventQuery) {
	q.after = uint64(p.number("after", 0, maxSeq, 0))
	q.before = uint64(p.number("before", 1, maxSeq, 0))
	q.limit = int(p.number("limit", 1, maxPage, defaultPage))
	q.tail = int(p.number("tail", 1, maxPage, 0))
	q.filter = filter(p)
	q.text = lowerASCII(p.text("text", 200))
	q.acp = p.choice("format", "raw", "acp") == "acp"
	q.seqs = p.seqs("seqs")
	if len(q.seqs) > 0 && (q.after > 0 || q.before > 0 || q.tail > 0 || !q.all()) {
		p.fail(badParameter("seqs", "it names the events already: after, before, tail and filters do not go with it"))
	}
	if q.tail > 0 && (q.after > 0 || q.before > 0) {
		p.fail(badParameter("tail", "it does not go with after or before"))
	}
	return q
}

func filter(p *params) view.Filter {
	return view.Filter{Types: p.list("type"), Actors: p.list("actor"), Tools: p.list("tool")}
}

// events answers with a page, or with the live stream if that is asked for.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	q := query(p)
	if err := p.done(); err != nil {
		return err
	}
	name := r.PathValue("quest")
	// Who asks for the head alone would never hear a stream, nor end it.
	if r.Method == http.MethodHead || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return s.eventPage(w, r, name, q)
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 53)
		if err != nil {
			return badParameter("Last-Event-ID", "%.30q is not a seq", last)
		}
		q.after = n
	}
	if q.before > 0 || q.tail > 0 || len(q.seqs) > 0 {
		return badParameter("before", "a stream has no end: before, tail and seqs are for pages")
	}
	return s.stream(w, r, name, q)
}

// eventJSON is one event of a page, and what it says to people.
type eventJSON struct {
	Input bool            `json:"input"`
	Line  string          `json:"line"`
	Event json.RawMessage `json:"event"`
}

// maxLine is how many characters of a text a line has.
const maxLine = 200

// lineOf is what an event says, for people who see its actor beside it.
func lineOf(e event.Event) string { return (&view.Teller{Most: maxLine}).Tell(e).Text }

// span is the part of the ledger that a page has looked at.
type span struct {
	events      []event.Event
	first, last uint64 // looked at, both included; first > last for none
	head        uint64
	end         uint64 // the last that was wanted
}

// ends are where the following page and the one in front begin, nil where there is none.
// The pages between two events stay between them, so that whoever follows them comes to
// an end; all others lead to either end of the ledger.
func (sp *span) ends(between bool) (next, previous *uint64) {
	if between {
		if sp.last < sp.end {
			next = &sp.last
		}
		return next, nil
	}
	if sp.last < sp.head {
		next = &sp.last
	}
	if sp.first > 1 && sp.first <= sp.head+1 {
		previous = &sp.first
	}
	return next, previous
}

func (s *Server) eventPage(w http.ResponseWriter, r *http.Request, name string, q eventQuery) error {
	if !event.ValidName(name) {
		return missing("%.80q is not a quest's name: want %s", name, event.NameRule)
	}
	// An after of 0 is one, too: who gives it together with before goes up from there.
	between := q.before > 0 && r.URL.Query().Has("after")
	sp, err := s.span(r.Context(), name, q, between)
	if err != nil {
		return err
	}
	next, previous := sp.ends(between)
	if q.acp {
		return s.send(w, http.StatusOK, s.acpPage(r.Context(), name, sp, next, previous))
	}
	out := struct {
		Events   []eventJSON `json:"events"`
		Head     uint64      `json:"head"`
		Next     *uint64     `json:"next,omitempty"`
		Previous *uint64     `json:"previous,omitempty"`
	}{[]eventJSON{}, sp.head, next, previous}
	for _, e := range sp.events {
		out.Events = append(out.Events, eventJSON{e.Input(), lineOf(e), e.Line()})
	}
	return s.send(w, http.StatusOK, out)
}

// span reads a page. Going up it begins after an event, going down it ends before one;
// either way what it says to have looked at it has looked at whole, so that pages that
// are joined at their ends lose nothing and repeat nothing.
func (s *Server) span(ctx context.Context, name string, q eventQuery, between bool) (*span, error) {
	head, err := s.rt.Ledger.Head(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(q.seqs) > 0 {
		return s.spanOf(ctx, name, q.seqs, head.Seq)
	}
	end := head.Seq // the last that may be looked at
	if q.before > 0 {
		end = min(end, q.before-1)
	}
	if q.tail > 0 {
		q.limit = q.tail
	}
	if q.tail > 0 || q.before > 0 && !between {
		return s.spanDown(ctx, name, q, end, head.Seq)
	}
	sp := &span{first: q.after + 1, last: min(q.after, head.Seq), head: head.Seq, end: end}
	for e, err := range s.rt.Ledger.Read(ctx, name, q.after+1) {
		if err != nil {
			return nil, err
		}
		if e.Seq > end {
			break
		}
		sp.last = e.Seq
		if q.match(e.Type, e.Actor, e.Tool, e.Line()) {
			sp.events = append(sp.events, e)
		}
		if len(sp.events) == q.limit || e.Seq-q.after >= s.scan || e.Seq == end {
			break
		}
	}
	return sp, nil
}

// spanOf reads the events that a reader knows by their seqs. It has no next page.
func (s *Server) spanOf(ctx context.Context, name string, seqs []uint64, head uint64) (*span, error) {
	events, err := s.some(ctx, name, seqs)
	if err != nil {
		return nil, err
	}
	sp := &span{first: 1, last: head, head: head}
	for _, seq := range slices.Sorted(maps.Keys(events)) {
		sp.events = append(sp.events, events[seq])
	}
	return sp, nil
}

// spanDown reads the last events up to end, in stretches from the end backwards.
func (s *Server) spanDown(ctx context.Context, name string, q eventQuery, end, head uint64) (*span, error) {
	sp := &span{first: end + 1, last: end, head: head}
	stretch := uint64(q.limit)
	for sp.first > 1 && len(sp.events) < q.limit && end-sp.first+1 < s.scan {
		from := uint64(1)
		if sp.first > stretch {
			from = sp.first - stretch
		}
		var found []event.Event
		for e, err := range s.rt.Ledger.Read(ctx, name, from) {
			if err != nil {
				return nil, err
			}
			if e.Seq >= sp.first {
				break
			}
			if q.match(e.Type, e.Actor, e.Tool, e.Line()) {
				found = append(found, e)
			}
			if e.Seq == sp.first-1 {
				break
			}
		}
		sp.first = from
		if over := len(sp.events) + len(found) - q.limit; over > 0 {
			sp.first = found[over].Seq
			found = found[over:]
		}
		sp.events = append(found, sp.events...)
		stretch = min(5000, s.scan-min(s.scan, end-sp.first+1))
	}
	return sp, nil
}

// brief is an event in a line.
type brief struct {
	Seq   uint64     `json:"seq"`
	Type  event.Type `json:"type"`
	Actor string     `json:"actor"`
	Tool  string     `json:"tool"`
	Time  event.Time `json:"time"`
	Line  string     `json:"line"`
}

func briefOf(e event.Event) brief {
	return brief{e.Seq, e.Type, e.Actor, e.Tool, e.Time, lineOf(e)}
}

const maxEffects = 200

// event answers with one event, its cause, its effects, and a check of its hash.
func (s *Server) event(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	name := r.PathValue("quest")
	if !event.ValidName(name) {
		return missing("%.80q is not a quest's name: want %s", name, event.NameRule)
	}
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 53)
	if err != nil || seq == 0 {
		return badParameter("seq", "%.30q: want a number from 1 on", r.PathValue("seq"))
	}
	e, prev, err := s.one(r.Context(), name, seq)
	if err != nil {
		return err
	}
	out := struct {
		Event    json.RawMessage `json:"event"`
		Input    bool            `json:"input"`
		Line     string          `json:"line"`
		Previous string          `json:"previous_hash"`
		HashOK   bool            `json:"hash_ok"`
		Cause    *brief          `json:"cause,omitempty"`
		Effects  []brief         `json:"effects"`
		Refs     []event.Ref     `json:"refs"`
	}{Event: e.Line(), Input: e.Input(), Line: lineOf(e), Previous: prev.String(), HashOK: e.Follows(seq-1, prev) == nil, Effects: []brief{}, Refs: []event.Ref{}}
	if e.Parent > 0 {
		cause, _, err := s.one(r.Context(), name, e.Parent)
		if err != nil {
			return err
		}
		out.Cause = new(briefOf(cause))
	}
	blobs, _ := event.Refs(e.Body)
	out.Refs = append(out.Refs, blobs...)
	if out.Effects, err = s.effects(r.Context(), name, seq); err != nil {
		return err
	}
	return s.send(w, http.StatusOK, out)
}

// one reads an event and the hash before it.
func (s *Server) one(ctx context.Context, name string, seq uint64) (e event.Event, prev event.Hash, err error) {
	head, err := s.rt.Ledger.Head(ctx, name)
	if err != nil {
		return e, prev, err
	}
	if seq > head.Seq {
		return e, prev, missing("quest %s has no event %d: the last is %d", name, seq, head.Seq)
	}
	for e, err := range s.rt.Ledger.Read(ctx, name, max(seq, 2)-1) {
		if err != nil {
			return e, prev, err
		}
		if e.Seq == seq {
			return e, prev, nil
		}
		prev = e.Hash
	}
	return e, prev, missing("quest %s has no event %d", name, seq)
}

// effects are the events that have an event as their parent.
func (s *Server) effects(ctx context.Context, name string, seq uint64) ([]brief, error) {
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return nil, err
	}
	seqs := b.Timeline.Effects(seq, maxEffects)
	done()
	events, err := s.some(ctx, name, seqs)
	if err != nil {
		return nil, err
	}
	out := []brief{}
	for _, at := range seqs {
		out = append(out, briefOf(events[at]))
	}
	return out, nil
}
