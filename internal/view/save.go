package view

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"

	"lyceum/internal/event"
)

// Format changes whenever what Encode writes, or what it means, does: views that were
// saved under another are made again.
const Format = 15

// saved is how views are written. It has what the views keep to themselves, and names
// by number what they point to.
type saved struct {
	Format   int
	Timeline []byte
	Types    []string
	Actors   []string
	Tools    []string
	Things   []string

	Costs []CostPoint
	Total CostPoint
	Sums  map[string]*AgentCost
	Order []string

	Nodes []*Node
	Edges []*Edge

	Desks map[string]savedDesk
	Open  map[uint64]savedPlace

	First    *event.TreeRef
	Versions map[string][]Version

	Artifacts []Artifact

	Talk Talk

	// Rules name the society, Society is what it adds.
	Rules   string
	Society []byte
}

type savedDesk struct {
	Desk    Desk
	Mind    []savedThought
	Answers map[uint64]int
	Reports map[string]int
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
		Timeline: v.Timeline.pack(), Types: v.Timeline.types.list, Actors: v.Timeline.actors.list, Tools: v.Timeline.tools.list, Things: v.Timeline.things.list,
		Costs: v.Cost.all, Total: v.Cost.total, Sums: v.Cost.sums, Order: v.Cost.order,
		Nodes: v.Canvas.nodes, Edges: v.Canvas.edges,
		Desks: map[string]savedDesk{}, Open: map[uint64]savedPlace{},
		First: v.Spaces.first, Versions: v.Spaces.versions,
		Artifacts: v.Artifacts.List,
		Talk:      v.Talk,
		Rules:     v.rules,
	}
	var err error
	if out.Society, err = json.Marshal(v.society); err != nil {
		return nil, fmt.Errorf("save views: %w", err)
	}
	for seq, p := range v.Desks.calls {
		out.Open[seq] = savedPlace{p.agent, p.answer, p.part}
	}
	for name, d := range v.Desks.agents {
		one := savedDesk{Desk: *d, Answers: d.answers, Reports: d.reports}
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
		Spaces:    Workspaces{first: in.First, versions: full(in.Versions)},
		Artifacts: Artifacts{List: in.Artifacts},
		Talk:      in.Talk,
	}
	v.Canvas.restore(&in)
	err := errors.Join(v.restore(&in), v.Timeline.unpack(in.Timeline, in.Types, in.Actors, in.Tools, in.Things), v.Desks.restore(&in))
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

func (c *Canvas) restore(in *saved) {
	*c = Canvas{nodes: in.Nodes, edges: in.Edges}
	for _, n := range in.Nodes {
		if c.byID == nil {
			c.byID = map[string]*Node{}
		}
		c.byID[n.ID] = n
	}
}

// restore makes the society's part, of what it was saved as.
func (v *Views) restore(in *saved) error {
	if in.Rules == "" {
		return nil // no event was taken yet
	}
	v.rules, v.society = in.Rules, named(in.Rules).begin()
	return json.Unmarshal(in.Society, v.society)
}

func (d *Desks) restore(in *saved) error {
	if len(in.Desks) == 0 {
		return nil
	}
	d.agents, d.calls = map[string]*Desk{}, map[uint64]place{}
	for name, one := range in.Desks {
		desk := one.Desk
		desk.answers, desk.reports = full(one.Answers), full(one.Reports)
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
		kind := uint64(r.kind) << 2
		if r.failed {
			kind |= 1
		}
		if r.matters {
			kind |= 2
		}
		out = binary.AppendUvarint(out, kind)
		out = binary.AppendUvarint(out, uint64(r.actor))
		out = binary.AppendUvarint(out, uint64(r.tool))
		out = binary.AppendUvarint(out, uint64(r.thing))
		out = binary.AppendVarint(out, int64(t.times[i]-last))
		out = binary.AppendVarint(out, int64(i)-int64(t.parents[i]))
		last = t.times[i]
	}
	return out
}

func (t *Timeline) unpack(data []byte, types, actors, tools, things []string) error {
	in := numbers{data: data}
	n := in.unsigned(uint64(len(data))) // a row takes more than a byte
	*t = Timeline{rows: make([]row, n), times: make([]event.Time, n), parents: make([]uint32, n)}
	t.types.restore(types)
	t.actors.restore(actors)
	t.tools.restore(tools)
	t.things.restore(things)
	last := event.Time(0)
	for i := range t.rows {
		kind, marks := t.types.marked(&in)
		t.rows[i] = row{kind, t.actors.again(&in), t.tools.again(&in), t.things.again(&in), marks&1 != 0, marks&2 != 0}
		last += event.Time(in.signed())
		t.times[i] = last
		t.parents[i] = uint32(int64(i) - in.signed())
	}
	if in.failed {
		return errors.New("a row of the timeline is none")
	}
	for i := range t.rows {
		t.link(i)
	}
	if len(in.data) > 0 {
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

// marked reads such a number that has marks in its last two bits.
func (w *lexicon) marked(in *numbers) (n uint16, marks uint64) {
	v := in.unsigned(4*uint64(len(w.list)) + 3)
	if v/4 >= uint64(len(w.list)) {
		in.failed = true
		return 0, 0
	}
	w.counts[v/4]++
	return uint16(v / 4), v & 3
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
