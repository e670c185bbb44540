package api

import (
	"context"
	"net/http"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/view"
)

const maxSeqs = 2_000_000

// timeline answers with counts and an index of what passes a filter.
func (s *Server) timeline(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	f, text := filter(p), lowerASCII(p.text("text", 200))
	buckets, want, join := int(p.number("buckets", 1, 500, 100)), p.truth("seqs"), p.truth("joined")
	if join && (text != "" || !f.Empty()) {
		p.fail(badParameter("joined", "it is for the whole ledger: type, actor, tool and text do not go with it"))
	}
	if err := p.done(); err != nil {
		return err
	}
	name := r.PathValue("quest")
	b, done, err := s.shelf.open(r.Context(), name)
	if err != nil {
		return err
	}
	head, seqs := b.Timeline.Len(), []uint64{} // what comes later is not looked at
	b.Timeline.Each(f, func(seq uint64) bool { seqs = append(seqs, seq); return true })
	if text != "" {
		done() // others want the book while the ledger is looked through
		if seqs, err = s.holding(r.Context(), name, seqs, text); err != nil {
			return err
		}
		if b, done, err = s.shelf.open(r.Context(), name); err != nil {
			return err
		}
	}
	defer done()
	out := struct {
		Head      uint64        `json:"head"`
		Matching  int           `json:"matching"`
		Types     []view.Count  `json:"types"`
		Actors    []view.Count  `json:"actors"`
		Tools     []view.Count  `json:"tools"`
		Buckets   []view.Bucket `json:"buckets"`
		Seqs      *[]uint64     `json:"seqs,omitempty"`
		Ends      *[]uint64     `json:"ends,omitempty"`
		Truncated bool          `json:"truncated,omitempty"`
	}{head, len(seqs), b.Timeline.Types(), b.Timeline.Actors(), b.Timeline.Tools(), b.Timeline.Buckets(buckets, seqs), nil, nil, false}
	if join {
		rows, ends := b.Timeline.Joined()
		n := min(len(rows), maxSeqs)
		out.Truncated = len(rows) > maxSeqs
		out.Seqs, out.Ends = new(rows[:n]), new(ends[:n])
		return s.sendAndClose(w, out, done)
	}
	if want {
		out.Truncated = len(seqs) > maxSeqs
		out.Seqs = new(seqs[:min(len(seqs), maxSeqs)])
	}
	return s.sendAndClose(w, out, done)
}

// maxLong is the longest time that can be asked for, in microseconds: some thousand years.
const maxLong = 1 << 55

// lanes answers with who did what when.
func (s *Server) lanes(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	from, to, parts := p.number("from", 0, maxLong, 0), p.number("to", 0, maxLong, 0), int(p.number("parts", 1, 2000, 300))
	if to > 0 && to < from {
		p.fail(badParameter("to", "it is before from: want a time after it, in microseconds after the first event"))
	}
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	return s.sendAndClose(w, b.Timeline.Lanes(from, to, parts), done)
}

// holding are those of the events whose lines hold a text.
func (s *Server) holding(ctx context.Context, name string, seqs []uint64, text string) ([]uint64, error) {
	out := seqs[:0]
	if len(seqs) == 0 {
		return out, nil
	}
	i, seq := 0, seqs[0]
	for line, err := range s.rt.Ledger.Lines(ctx, name, seq) {
		if err != nil {
			return nil, err
		}
		if seq == seqs[i] {
			if i++; holds(line, text) {
				out = append(out, seq)
			}
		}
		if i == len(seqs) {
			break
		}
		seq++
	}
	return slices.Clip(out), nil
}

// near is up to how far apart two events are read in one go: to find the place of one
// costs as much as reading some dozens.
const near = 64

// some reads events, by their seqs, which must be there.
func (s *Server) some(ctx context.Context, name string, seqs []uint64) (map[uint64]event.Event, error) {
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	out := make(map[uint64]event.Event, len(seqs))
	for len(seqs) > 0 {
		n := 1
		for n < len(seqs) && seqs[n]-seqs[n-1] <= near {
			n++
		}
		run := seqs[:n]
		seqs = seqs[n:]
		for e, err := range s.rt.Ledger.Read(ctx, name, run[0]) {
			if err != nil {
				return nil, err
			}
			if e.Seq == run[0] {
				out[e.Seq] = e
				run = run[1:]
			}
			if len(run) == 0 {
				break
			}
		}
		if len(run) > 0 {
			return nil, missing("quest %s has no event %d", name, run[0])
		}
	}
	return out, nil
}

func (s *Server) eventTypes(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	type kind struct {
		Type  event.Type `json:"type"`
		Input bool       `json:"input"`
	}
	var out struct {
		Types []kind `json:"types"`
	}
	for _, t := range event.Types() {
		out.Types = append(out.Types, kind{t, t.Input()})
	}
	return s.send(w, http.StatusOK, out)
}
