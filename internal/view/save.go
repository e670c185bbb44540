package view

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"

	"lyceum/internal/event"
)

// Format changes whenever what Encode writes, or what it means, does: views that were
// saved under another are made again.
const Format = 1

// saved is how views are written. It has what the views keep to themselves, and names
// by number what they point to.
type saved struct {
	Format   int
	Timeline []byte
	Types    []string
	Actors   []string
	Tools    []string

	Costs []CostPoint
	Total CostPoint
	Sums  map[string]*AgentCost
	Order []string

	Nodes   []*Node
	Edges   []*Edge
	Votes   map[string]int // by their place among the edges
	Calls   map[uint64]string
	Sources int
	Stand   []int64

	Desks map[string]savedDesk
	Open  map[uint64]savedPlace

	Papers PaperTrail
	Trials map[uint64]string

	First    *event.TreeRef
	Versions map[string][]Version

	Artifacts []Artifact
}

type savedDesk struct {
	Desk    Desk
	Mind    []savedThought
	Answers map[uint64]int
}

type savedThought struct {
	Seq  uint64
	Type event.Type
	Body []byte
}

type savedPlace struct {
	Agent  string
	Answer uint64
	Part   int64
}

// Encode writes the views, for Decode.
func (v *Views) Encode() ([]byte, error) {
	out := saved{
		Format:   Format,
		Timeline: v.Timeline.pack(), Types: v.Timeline.types.list, Actors: v.Timeline.actors.list, Tools: v.Timeline.tools.list,
		Costs: v.Cost.all, Total: v.Cost.total, Sums: v.Cost.sums, Order: v.Cost.order,
		Nodes: v.Canvas.nodes, Edges: v.Canvas.edges, Votes: map[string]int{}, Calls: map[uint64]string{},
		Sources: v.Canvas.sources, Stand: v.Canvas.stand,
		Desks: map[string]savedDesk{}, Open: map[uint64]savedPlace{},
		Papers: v.Papers, Trials: v.Papers.trial,
		First: v.Spaces.first, Versions: v.Spaces.versions,
		Artifacts: v.Artifacts.List,
	}
	current := map[*Edge]string{}
	for agent, x := range v.Canvas.votes {
		current[x] = agent
	}
	for i, x := range v.Canvas.edges {
		if agent, ok := current[x]; ok {
			out.Votes[agent] = i
		}
	}
	for seq, n := range v.Canvas.calls {
		out.Calls[seq] = n.ID
	}
	for seq, p := range v.Desks.calls {
		out.Open[seq] = savedPlace{p.agent, p.answer, p.part}
	}
	for name, d := range v.Desks.agents {
		one := savedDesk{Desk: *d, Answers: d.answers}
		one.Desk.Mind = nil
		for _, t := range d.Mind {
			body, err := event.EncodeBody(t.Body)
			if err != nil {
				return nil, fmt.Errorf("save views: %w", err)
			}
			one.Mind = append(one.Mind, savedThought{t.Seq, t.Body.Type(), body})
		}
		out.Desks[name] = one
	}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(&out); err != nil {
		return nil, fmt.Errorf("save views: %w", err)
	}
	return buf.Bytes(), nil
}

// DecodeViews reads what Encode wrote. Whatever does not fit is an error, and the
// caller reads the ledger instead.
func DecodeViews(data []byte) (*Views, error) {
	var in saved
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&in); err != nil {
		return nil, fmt.Errorf("read saved views: %w", err)
	}
	if in.Format != Format {
		return nil, fmt.Errorf("read saved views: format %d, want %d", in.Format, Format)
	}
	v := &Views{
		Cost:      CostSeries{all: in.Costs, total: in.Total, sums: in.Sums, order: in.Order},
		Papers:    in.Papers,
		Spaces:    Workspaces{first: in.First, versions: full(in.Versions)},
		Artifacts: Artifacts{List: in.Artifacts},
	}
	v.Papers.trial = in.Trials
	err := errors.Join(v.Timeline.unpack(in.Timeline, in.Types, in.Actors, in.Tools), v.Canvas.restore(&in), v.Desks.restore(&in))
	if err != nil {
		return nil, fmt.Errorf("read saved views: %w", err)
	}
	return v, nil
}

// full is a map that can be written to: an empty one is not saved.
func full[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	return m
}

func (c *Canvas) restore(in *saved) error {
	*c = Canvas{nodes: in.Nodes, edges: in.Edges, sources: in.Sources, stand: in.Stand}
	if len(in.Nodes) == 0 {
		return nil
	}
	c.byID, c.votes, c.calls = map[string]*Node{}, map[string]*Edge{}, map[uint64]*Node{}
	for _, n := range in.Nodes {
		c.byID[n.ID] = n
	}
	for agent, i := range in.Votes {
		if i < 0 || i >= len(in.Edges) {
			return errors.New("a vote is no edge")
		}
		c.votes[agent] = in.Edges[i]
	}
	for seq, name := range in.Calls {
		n := c.byID[name]
		if n == nil {
			return errors.New("a call is no node")
		}
		c.calls[seq] = n
	}
	return nil
}

func (d *Desks) restore(in *saved) error {
	if len(in.Desks) == 0 {
		return nil
	}
	d.agents, d.calls = map[string]*Desk{}, map[uint64]place{}
	for name, one := range in.Desks {
		desk := one.Desk
		desk.answers = full(one.Answers)
		for _, t := range one.Mind {
			body, err := event.DecodeBody(t.Type, t.Body)
			if err != nil {
				return err
			}
			desk.Mind = append(desk.Mind, Thought{t.Seq, body})
		}
		d.agents[name] = &desk
	}
	for seq, p := range in.Open {
		if d.agents[p.Agent] == nil {
			return errors.New("a call is of nobody")
		}
		d.calls[seq] = place{p.Agent, p.Answer, p.Part}
	}
	return nil
}

// pack writes a timeline's rows as numbers, which mostly fit into a byte each: how much
// later an event is than the one before, and how far back its cause.
func (t *Timeline) pack() []byte {
	out := binary.AppendUvarint(nil, uint64(len(t.rows)))
	last := event.Time(0)
	for i, r := range t.rows {
		out = binary.AppendUvarint(out, uint64(r.kind))
		out = binary.AppendUvarint(out, uint64(r.actor))
		out = binary.AppendUvarint(out, uint64(r.tool))
		out = binary.AppendVarint(out, int64(t.times[i]-last))
		out = binary.AppendVarint(out, int64(i)-int64(t.parents[i]))
		last = t.times[i]
	}
	return out
}

func (t *Timeline) unpack(data []byte, types, actors, tools []string) error {
	in := numbers{data: data}
	n := in.unsigned(uint64(len(data))) // a row takes more than a byte
	*t = Timeline{rows: make([]row, n), times: make([]event.Time, n), parents: make([]uint32, n)}
	t.types.restore(types)
	t.actors.restore(actors)
	t.tools.restore(tools)
	last := event.Time(0)
	for i := range t.rows {
		t.rows[i] = row{t.types.again(&in), t.actors.again(&in), t.tools.again(&in)}
		last += event.Time(in.signed())
		t.times[i] = last
		t.parents[i] = uint32(int64(i) - in.signed())
	}
	if in.failed || len(in.data) > 0 {
		return errors.New("the timeline does not end where it should")
	}
	return nil
}

func (w *lexicon) restore(list []string) {
	for _, s := range list {
		w.of(s)
	}
	clear(w.counts)
}

// again reads the number of a word that occurs once more.
func (w *lexicon) again(in *numbers) uint16 {
	n := in.unsigned(uint64(len(w.list)))
	if n == uint64(len(w.list)) {
		in.failed = true
		return 0
	}
	w.counts[n]++
	return uint16(n)
}

// numbers reads numbers until one is not there.
type numbers struct {
	data   []byte
	failed bool
}

// unsigned reads a number up to most.
func (r *numbers) unsigned(most uint64) uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > most {
		r.failed = true
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *numbers) signed() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.data = r.data[n:]
	return v
}
