package view

import (
	"slices"
	"strings"

	"lyceum/internal/event"
)

// Lanes are who did what when, in a stretch of a quest's time. All times are in microseconds
// after the first event.
type Lanes struct {
	Head  uint64     `json:"head"`
	Start event.Time `json:"start"`
	// Long is how long the quest has taken so far; From and To is the stretch that is drawn, and
	// First to Last are its events.
	Long  int64  `json:"long_us"`
	From  int64  `json:"from_us"`
	To    int64  `json:"to_us"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Lanes []Lane `json:"lanes"`
}

// Lane is one actor. Between its first bar and its last it waits where it has none.
type Lane struct {
	Actor string     `json:"actor"`
	Bars  []LaneBar  `json:"bars"`
	Marks []LaneMark `json:"marks"`
}

// LaneBar is a stretch in which an actor was at something: thinking, reviewing or using tools.
// Where several are too near to be told apart they are one, of which Seq is the first.
type LaneBar struct {
	Kind  string `json:"kind"`
	From  int64  `json:"from_us"`
	To    int64  `json:"to_us"`
	Seq   uint64 `json:"seq"`
	Count int64  `json:"count"`
}

// LaneMark is something that matters by itself.
type LaneMark struct {
	Kind  string `json:"kind"`
	At    int64  `json:"at_us"`
	Seq   uint64 `json:"seq"`
	Count int64  `json:"count"`
}

// The kinds of bars, and the type of event that begins each.
const (
	Thinking  = "thinking"
	Reviewing = "reviewing"
	Tools     = "tools"
)

// begins are the types of calls that take an actor's time, by what it does meanwhile; any other
// call is one of a tool.
var begins = map[string]string{"model.call": Thinking, "prompt.call": Thinking, "gateway.call": Thinking, "timer.call": ""}

// endsCall reports whether events of this type end a call.
func endsCall(kind string) bool {
	return strings.HasSuffix(kind, ".result") || kind == "tool.answered"
}

// farthest is how many causes are looked at to find the call that an event ends.
const farthest = 8

// callOf is the call that the event at a place ends, 0 if it ends none.
func (t *Timeline) callOf(i int) uint64 {
	kind := t.types.list[t.rows[i].kind]
	if !endsCall(kind) {
		return 0
	}
	want, _, _ := strings.Cut(kind, ".")
	for range farthest {
		seq := t.parents[i]
		if seq == 0 || int(seq) > i {
			return 0
		}
		i = int(seq) - 1
		if name := t.types.list[t.rows[i].kind]; name == want+".call" {
			return uint64(seq)
		}
	}
	return 0
}

// link notes of which call the event at a place is the end; the first that ends one counts.
func (t *Timeline) link(i int) {
	t.ends = append(t.ends, 0)
	if call := t.callOf(i); call > 0 && t.ends[call-1] == 0 {
		t.ends[call-1] = uint32(i + 1)
		t.ended++
	}
}

// Joined are all events but those that end a call, and for each of them how much later the
// event stands that ends it, 0 if it is no call or has no end yet.
func (t *Timeline) Joined() (seqs, ends []uint64) {
	hidden := make([]bool, len(t.rows))
	for _, end := range t.ends {
		if end > 0 {
			hidden[end-1] = true
		}
	}
	n := len(t.rows) - t.ended
	seqs, ends = make([]uint64, 0, n), make([]uint64, 0, n)
	for i, end := range t.ends {
		if hidden[i] {
			continue
		}
		after := uint64(0)
		if end > 0 {
			after = uint64(end) - uint64(i+1)
		}
		seqs, ends = append(seqs, uint64(i+1)), append(ends, after)
	}
	return seqs, ends
}

// Lanes draws a stretch of time, in microseconds after the first event. Where from and to are 0 it is
// the one in which the agents were at work; to alone is 0 for the end. Bars and marks that are nearer
// than a part of it are put together.
func (t *Timeline) Lanes(from, to int64, parts int) *Lanes {
	out := &Lanes{Head: t.Len(), Lanes: []Lane{}}
	if len(t.rows) == 0 {
		return out
	}
	out.Start = t.times[0]
	out.Long = max(0, int64(t.times[len(t.times)-1]-out.Start))
	if from <= 0 && to <= 0 {
		from, to = t.busy()
	}
	if to <= 0 || to > out.Long {
		to = out.Long
	}
	out.From, out.To = min(max(from, 0), to), to
	d := &drawing{t: t, out: out, near: max(1, (out.To-out.From)/int64(max(1, parts))), lanes: make([]*Lane, len(t.actors.list)), owners: t.owners()}
	d.reviews = t.tools.number[reviewTool]
	d.reviewed = t.reviewed(d.reviews)
	for i := range t.rows {
		d.take(i)
	}
	for _, lane := range d.lanes {
		if lane != nil {
			out.Lanes = append(out.Lanes, *lane)
		}
	}
	slices.SortStableFunc(out.Lanes, func(a, b Lane) int { return compareActors(a.Actor, b.Actor) })
	return out
}

// rules is who acts where nobody does: what follows from the rules.
const rules = "core"

// busy is the stretch between the first call or mark of somebody but the rules and the last one. What a
// quest waited for before, or still checks after its agents are done, is no reason to draw them small.
func (t *Timeline) busy() (from, to int64) {
	from = -1
	for i, r := range t.rows {
		if t.actors.list[r.actor] == rules || t.ends[i] == 0 && t.markOf(i) == "" {
			continue
		}
		at := max(0, int64(t.times[i]-t.times[0]))
		if from < 0 {
			from = at
		}
		to = max(to, at)
		if end := t.ends[i]; end > 0 {
			to = max(to, int64(t.times[end-1]-t.times[0]))
		}
	}
	if from < 0 || to <= from {
		return 0, 0
	}
	return from, to
}

// owners are, for each thing, who brought it into the quest, and whether anybody but the rules did.
func (t *Timeline) owners() map[uint16]uint16 {
	out := map[uint16]uint16{}
	for _, r := range t.rows {
		if _, known := out[r.thing]; !known && t.things.list[r.thing] != "" && t.actors.list[r.actor] != rules {
			out[r.thing] = r.actor
		}
	}
	return out
}

// reviewed marks the model's answers that led to a review.
func (t *Timeline) reviewed(tool uint16) map[uint64]bool {
	out := map[uint64]bool{}
	for i, r := range t.rows {
		if tool > 0 && r.tool == tool && t.types.list[r.kind] == "tool.call" {
			out[uint64(t.parents[i])] = true
		}
	}
	return out
}

// drawing puts events on lanes.
type drawing struct {
	t        *Timeline
	out      *Lanes
	near     int64
	lanes    []*Lane
	reviews  uint16
	reviewed map[uint64]bool
	owners   map[uint16]uint16
}

func (d *drawing) after(i int) int64 { return max(0, int64(d.t.times[i]-d.out.Start)) }

func (d *drawing) take(i int) {
	r, at := d.t.rows[i], d.after(i)
	kind := d.t.types.list[r.kind]
	if at >= d.out.From && at <= d.out.To {
		if d.out.First == 0 {
			d.out.First = uint64(i + 1)
		}
		d.out.Last = uint64(i + 1)
		d.mark(i, at)
	}
	end := d.t.ends[i]
	if end == 0 {
		return
	}
	doing, known := begins[kind]
	switch {
	case !known:
		doing = Tools
	case doing == Thinking && d.reviewed[uint64(end)]:
		doing = Reviewing
	}
	until := d.after(int(end) - 1)
	if doing != "" && at <= d.out.To && until >= d.out.From {
		d.lane(r.actor).bar(LaneBar{Kind: doing, From: max(at, d.out.From), To: min(until, d.out.To), Seq: uint64(i + 1), Count: 1}, d.near)
	}
}

// markOf is the kind of mark that the event at a place is, empty for none.
func (t *Timeline) markOf(i int) string {
	what := vocabulary[event.Type(t.types.list[t.rows[i].kind])].mark
	switch failed := t.rows[i].failed; {
	case failed && what == "published":
		return "rejected"
	case failed:
		return "failed"
	}
	return what
}

// mark puts a mark on the lane of who did it. What the rules decided of a thing stands on the lane of
// who brought it.
func (d *drawing) mark(i int, at int64) {
	what := d.t.markOf(i)
	if what == "" {
		return
	}
	r := d.t.rows[i]
	on := r.actor
	if owner, ok := d.owners[r.thing]; ok && d.t.actors.list[on] == rules {
		on = owner
	}
	d.lane(on).mark(LaneMark{Kind: what, At: at, Seq: uint64(i + 1), Count: 1}, d.near)
}

func (d *drawing) lane(actor uint16) *Lane {
	if d.lanes[actor] == nil {
		d.lanes[actor] = &Lane{Actor: d.t.actors.list[actor], Bars: []LaneBar{}, Marks: []LaneMark{}}
	}
	return d.lanes[actor]
}

// bar adds a bar, to the last of its kind if that is near.
func (l *Lane) bar(b LaneBar, near int64) {
	for i := len(l.Bars) - 1; i >= 0 && i > len(l.Bars)-4; i-- {
		if last := &l.Bars[i]; last.Kind == b.Kind {
			if b.From-last.To > near {
				break
			}
			last.To = max(last.To, b.To)
			last.Count++
			return
		}
	}
	l.Bars = append(l.Bars, b)
}

func (l *Lane) mark(m LaneMark, near int64) {
	for i := len(l.Marks) - 1; i >= 0 && m.At-l.Marks[i].At < near; i-- {
		if last := &l.Marks[i]; last.Kind == m.Kind {
			last.Count++
			return
		}
	}
	l.Marks = append(l.Marks, m)
}

// compareActors puts agent-2 before agent-10.
func compareActors(a, b string) int {
	if x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789"); x == y && len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// failed reports whether an event says that something went wrong, or was turned down.
func failed(e event.Event) bool {
	if e.Body == nil {
		return false
	}
	wrong := vocabulary[e.Body.Type()].wrong
	return wrong != nil && wrong(e)
}
