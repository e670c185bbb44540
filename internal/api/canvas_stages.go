package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"lyceum/internal/event"
	"lyceum/internal/view"
)

// branches are the lines of work of a study as a graph.
func (s *Server) branches(_ *http.Request, b *book) (any, error) { return b.Branches(b.state), nil }

// tracedEvent is a node with the body of its event, where one is asked for.
type tracedEvent struct {
	*view.EventNode
	Payload json.RawMessage `json:"payload,omitempty"`
}

// traced is the graph of what a study has come to.
type traced struct {
	Head      uint64            `json:"head"`
	Events    []tracedEvent     `json:"events"`
	Stages    []*view.StageNode `json:"stages"`
	Edges     []view.Edge       `json:"edges"`
	Truncated bool              `json:"truncated"`
}

func (s *Server) nodeTraces(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	q := view.TraceQuery{View: p.choice("view", "event", "stage"), Branch: p.text("branch", 200), Stage: p.text("stage", 100), Max: maxNodes}
	selection := p.text("selection", 400)
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	if selection != "" {
		return s.traceOne(w, r, b, done, selection)
	}
	all := b.Traces(b.state, q)
	out := traced{Head: all.Head, Events: []tracedEvent{}, Stages: all.Stages, Edges: all.Edges, Truncated: all.Truncated}
	for _, n := range all.Events {
		out.Events = append(out.Events, tracedEvent{EventNode: n})
	}
	return s.sendAndClose(w, out, done)
}

// traceOne sends one node, with all that is known of it.
func (s *Server) traceOne(w http.ResponseWriter, r *http.Request, b *book, done func(), ref string) error {
	out := traced{Head: b.state.Seq, Events: []tracedEvent{}, Stages: []*view.StageNode{}, Edges: []view.Edge{}}
	name := b.name
	if n := b.Stage(b.state, ref); n != nil {
		out.Stages = append(out.Stages, n)
		return s.sendAndClose(w, out, done)
	}
	n := b.Trace(b.state, ref)
	if n == nil {
		return badParameter("selection", "quest %s has no node %.80q", name, ref)
	}
	done()
	one := tracedEvent{EventNode: n}
	if n.Seq > 0 {
		events, err := s.some(r.Context(), name, []uint64{n.Seq})
		if err != nil {
			return err
		}
		if one.Payload, err = event.EncodeBody(events[n.Seq].Body); err != nil {
			return err
		}
	}
	out.Events = append(out.Events, one)
	return s.send(w, http.StatusOK, out)
}

// workEntry is a step of a study's work.
type workEntry struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
	By       string     `json:"by"`
	Text     string     `json:"text"`
	Artifact string     `json:"artifact,omitempty"`
}

// workflow is what a study has done, by page, and the files that changed last.
func (s *Server) workflow(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	window(p, 0, 500, 100) // a fault is told before the quest is looked for
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	total := int64(len(b.Trail().Flow))
	from, to := window(p, total, 500, 100)
	seqs := slices.Clone(b.Trail().Flow[from:to])
	out := struct {
		Entries  []workEntry        `json:"entries"`
		Files    []view.ChangedFile `json:"changed_files"`
		Total    int64              `json:"total"`
		Next     *int64             `json:"next,omitempty"`
		Previous *int64             `json:"previous,omitempty"`
	}{Entries: []workEntry{}, Files: slices.Clone(b.Trail().Files), Total: total}
	name := b.name
	slices.Reverse(out.Files)
	out.Files = append([]view.ChangedFile{}, out.Files...)
	if total > 0 {
		for _, name := range []string{"plan.md", "status.md", "SUMMARY.md"} {
			out.Files = append(out.Files, view.ChangedFile{Path: name, Kind: "document"})
		}
	}
	done()
	if out.Entries, err = s.workEntries(r.Context(), name, seqs); err != nil {
		return err
	}
	if to < total {
		out.Next = new(to - 1)
	}
	if from > 0 {
		out.Previous = &from
	}
	return s.send(w, http.StatusOK, out)
}

func (s *Server) workEntries(ctx context.Context, name string, seqs []uint64) ([]workEntry, error) {
	events, err := s.some(ctx, name, slices.Clone(seqs))
	if err != nil {
		return nil, err
	}
	out := []workEntry{}
	teller := &view.Teller{Most: 400}
	for _, seq := range seqs {
		e := events[seq]
		kind, id := view.Work(e)
		out = append(out, workEntry{ID: strconv.FormatUint(seq, 10), Kind: kind, Seq: seq, Time: e.Time, By: e.Actor, Text: teller.Tell(e).Text, Artifact: id})
	}
	return out, nil
}
