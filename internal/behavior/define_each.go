package behavior

import (
	"errors"
	"maps"
	"slices"
)

// each is a run of a definition with Per: in effect one run for each value of a
// field. An event is for the run of the value that it has, and for all if it has
// none. If the value cannot be told, blocks take the event for the worst and
// nobody moves by it, except those who requested it.
//
// All values that nothing has happened to stand at one spot, so that a value
// need not be known before it is seen, and what an event costs depends on the
// number of points alone, unless it moves all.
type each struct {
	*course
	// rest is where all values stand that are not in at.
	rest spot
	at   map[string]spot
	// count is how many stand at each point and at the end, the rest being one.
	count []int
}

func newEach(c *course) *each {
	r := &each{course: c, at: make(map[string]spot)}
	r.recount()
	return r
}

func (r *each) recount() {
	r.count = make([]int, len(r.points)+1)
	r.count[r.rest.Point]++
	for _, p := range r.at {
		r.count[p.Point]++
	}
}

// valueKey is the text by which values are told apart: JSON, the same for equal
// ones.
func valueKey(v Value) string {
	if v.Kind == Number {
		return plainNumber(v.Text)
	}
	return v.String()
}

// audience says whom an event is for: one value, or all. It is not sure where the
// value cannot be told; it may then be any.
func (r *each) audience(e Event) (key string, all, sure bool) {
	switch v := e.Field(r.per); v.Kind {
	case Missing, Null:
		return "", true, true
	case Text, Number, Bool:
		return valueKey(v), false, true
	}
	return "", true, false
}

func (r *each) stands(key string) spot {
	if p, ok := r.at[key]; ok {
		return p
	}
	return r.rest
}

// match asks the points at which those stand whom the event is for.
func (r *each) match(e Event, ask func(*point) Truth) Truth {
	key, all, sure := r.audience(e)
	if !all {
		if p := r.stands(key); !r.ended(p) {
			return ask(&r.points[p.Point])
		}
		return No
	}
	best := No
	for i := range r.points {
		if r.count[i] > 0 {
			best = max(best, ask(&r.points[i]))
		}
	}
	if !sure {
		best = min(best, Maybe)
	}
	return best
}

// Bids implements Behavior. To the program an interrupt is like any event that is
// waited for, because it may end one value and leave the others. Requests do not
// depend on the value; those of earlier points come first.
func (r *each) Bids() Bids {
	b := Bids{Wait: heed{r}, Block: []Ban{{Match: gate{r, false, nil}}, {Match: gate{r, true, nil}, Later: true}}}
	for _, q := range r.asks {
		b.Block = append(b.Block, Ban{Match: gate{r, false, q}, Ask: q})
	}
	for i := range b.Block {
		b.Block[i].Why = b.Block[i].Match.(gate).why
	}
	for i := range r.points {
		if r.count[i] > 0 {
			b.Request = append(b.Request, r.points[i].Request...)
		}
	}
	return b
}

// heed matches what moves or ends the run of a value.
type heed struct{ *each }

// Match implements Matcher.
func (h heed) Match(e Event) Truth {
	return h.match(e, func(p *point) Truth {
		t := No
		if p.Interrupt != nil {
			t = p.Interrupt.Match(e)
		}
		if p.Wait != nil {
			t = max(t, p.Wait.Match(e))
		}
		return t
	})
}

func (h heed) String() string {
	var all Any
	for i, p := range h.points {
		if h.count[i] == 0 {
			continue
		}
		for _, m := range []Matcher{p.Wait, p.Interrupt} {
			if m != nil && m.String() != "" {
				all = append(all, m)
			}
		}
	}
	return all.String()
}

// gate matches what the run of a value blocks, later or for good, or asks about.
type gate struct {
	*each
	later bool
	ask   *Question
}

func (g gate) has(b *Ban) bool { return b.Later == g.later && b.Ask == g.ask }

// Match implements Matcher.
func (g gate) Match(e Event) Truth {
	return g.match(e, func(p *point) Truth {
		best := No
		for i := range p.Block {
			if ban := &p.Block[i]; g.has(ban) {
				best = max(best, ban.Match.Match(e))
			}
		}
		return best
	})
}

func (g gate) why(e Event) (reason string) {
	g.match(e, func(p *point) Truth {
		for i := range p.Block {
			if ban := &p.Block[i]; reason == "" && g.has(ban) && ban.Match.Match(e) != No {
				reason = ban.Reason
			}
		}
		return No
	})
	return reason
}

func (g gate) String() string {
	var all Any
	for i, p := range g.points {
		for j := range p.Block {
			if ban := &p.Block[j]; g.count[i] > 0 && g.has(ban) {
				all = append(all, ban.Match)
			}
		}
	}
	return all.String()
}

// Next implements Behavior.
func (r *each) Next(e Event) bool {
	key, all, sure := r.audience(e)
	if sure && !all {
		r.move(key, r.after(r.stands(key), r.effect(e, r.stands(key).Point, true)))
	}
	// Whoever requested the event moves on by it, whomever it is for.
	others := make([]effect, len(r.points))
	moved := false
	for i := range r.points {
		if r.count[i] > 0 {
			others[i] = r.effect(e, i, sure && all)
			moved = moved || others[i] != stays
		}
	}
	if moved {
		r.moveOthers(key, !all, others)
	}
	for _, n := range r.count[:len(r.points)] {
		if n > 0 {
			return true
		}
	}
	return false
}

// effect is what an event does to those who stand at a point.
type effect int8

const (
	stays effect = iota
	moves
	ends
)

// effect says what e does to those at a point, be it meant for them or not.
func (r *each) effect(e Event, at int, meant bool) effect {
	if at == len(r.points) {
		return stays
	}
	p := &r.points[at]
	switch {
	case meant && p.Interrupt != nil && p.Interrupt.Match(e) == Yes:
		return ends
	case meant && p.Wait != nil && p.Wait.Match(e) == Yes, slices.ContainsFunc(p.Request, e.Equal):
		return moves
	}
	return stays
}

func (r *each) after(p spot, what effect) spot {
	switch what {
	case moves:
		return r.next(p)
	case ends:
		return spot{Point: len(r.points)}
	}
	return p
}

// move puts one value at a spot. It is not kept if that is where the rest are.
func (r *each) move(key string, to spot) {
	if from, ok := r.at[key]; ok {
		r.count[from.Point]--
		delete(r.at, key)
	}
	if to != r.rest {
		r.at[key] = to
		r.count[to.Point]++
	}
}

// moveOthers moves all but one value, if that is so, by what happens at each
// point.
func (r *each) moveOthers(key string, but bool, what []effect) {
	what = append(what, stays)
	was := r.stands(key)
	if but {
		r.at[key] = was
	}
	r.rest = r.after(r.rest, what[r.rest.Point])
	for k, p := range r.at {
		if !but || k != key {
			p = r.after(p, what[p.Point])
		}
		if r.at[k] = p; p == r.rest {
			delete(r.at, k)
		}
	}
	r.recount()
}

// savedEach is how the run of each value is saved, sorted by value.
type savedEach struct {
	Rest   spot         `json:"rest,omitzero"`
	Values []savedValue `json:"values,omitempty"`
}

type savedValue struct {
	spot
	Value string `json:"value"`
}

// Save implements Saver.
func (r *each) Save() string {
	s := savedEach{Rest: r.rest}
	for _, key := range slices.Sorted(maps.Keys(r.at)) {
		s.Values = append(s.Values, savedValue{spot: r.at[key], Value: key})
	}
	return encode(s)
}

// Restore implements Saver.
func (r *each) Restore(saved string) error {
	s, err := decode[savedEach](saved)
	if err != nil {
		return err
	}
	end := spot{Point: len(r.points)}
	alive := s.Rest != end
	for i, v := range s.Values {
		alive = alive || v.spot != end
		switch {
		case !r.valid(v.spot) && v.spot != end, v.spot == s.Rest:
			return errors.New("a value cannot stand there")
		case i > 0 && s.Values[i-1].Value >= v.Value:
			return errors.New("the values are not sorted")
		case !isValueKey(v.Value):
			return errors.New("one is no value")
		}
	}
	if !r.valid(s.Rest) && s.Rest != end || !alive {
		return errors.New("it cannot stand there")
	}
	r.rest = s.Rest
	clear(r.at)
	for _, v := range s.Values {
		r.at[v.Value] = v.spot
	}
	r.recount()
	return nil
}

func isValueKey(key string) bool {
	d, err := JSONDetail(`{"v":` + key + `}`)
	if err != nil {
		return false
	}
	v := d.Field([]string{"v"})
	return (v.Kind == Text || v.Kind == Number || v.Kind == Bool) && valueKey(v) == key
}
