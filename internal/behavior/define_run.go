package behavior

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// Thread compiles a definition.
func (d *Definition) Thread() (Thread, error) {
	c, err := d.compile()
	if err != nil {
		return Thread{}, fmt.Errorf("thread %.80q: %w", d.Name, err)
	}
	t := Thread{Name: d.Name, Priority: int(d.Priority), Text: d.Text}
	scope := Any{}
	for _, p := range c.points {
		for _, ban := range p.Block {
			scope = append(scope, ban.Match)
		}
		t.Outline = append(t.Outline, p.Bids)
	}
	t.Scope = scope
	if d.Per == "" {
		t.Repeat = d.Repeat
		t.Start = func() Behavior { return &single{course: c} }
		return t, nil
	}
	// Each value repeats on its own. All of them end only where an interrupt does
	// it, and that is for good: the thread as a whole never begins anew.
	t.Start = func() Behavior { return newEach(c) }
	return t, nil
}

// course is a compiled definition: the way that every run of it takes.
type course struct {
	repeat bool
	per    []string
	points []point
	asks   []*Question
}

type point struct {
	Bids
	times int64
}

func (d *Definition) compile() (*course, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	c := &course{repeat: d.Repeat}
	if d.Per != "" {
		c.per = strings.Split(d.Per, ".")
	}
	for i := range d.Steps {
		p, err := d.Steps[i].compile(d)
		if err != nil {
			return nil, err
		}
		c.points = append(c.points, p)
		for j := range p.Block {
			if q := p.Block[j].Ask; q != nil {
				c.asks = append(c.asks, q)
			}
		}
	}
	return c, nil
}

func (p *Point) compile(d *Definition) (out point, err error) {
	out.times = max(p.Times, 1)
	for _, e := range p.Request {
		r := Event{Type: e.Type}
		if e.Detail != "" {
			if r.Detail, err = JSONDetail(e.Detail); err != nil {
				return out, err
			}
		}
		out.Request = append(out.Request, r)
	}
	if p.passes() {
		wait, err := anyOf(p.Wait)
		if err != nil {
			return out, err
		}
		out.Wait = passage{Matcher: wait, times: out.times, per: d.Per, repeat: d.Repeat}
	}
	if len(p.Interrupt) > 0 {
		if out.Interrupt, err = anyOf(p.Interrupt); err != nil {
			return out, err
		}
	}
	for i := range p.Block {
		ban, err := p.Block[i].ban("blocked by the policy " + d.Name)
		if err != nil {
			return out, err
		}
		out.Block = append(out.Block, ban)
	}
	// What a step blocks it does not ask about: the first ban that matches counts.
	for i := range p.Ask {
		ban, err := p.Ask[i].ban("the policy " + d.Name + " has a person decide")
		if err != nil {
			return out, err
		}
		ban.Ask = &Question{Default: p.Ask[i].Default, Within: p.Ask[i].Within}
		out.Block = append(out.Block, ban)
	}
	return out, nil
}

// ban is what blocks the events that are meant; reason stands for one that is not given.
func (p *PatternDef) ban(reason string) (Ban, error) {
	m, err := p.compile()
	return Ban{Match: m, Reason: cmp.Or(p.Reason, reason), Later: p.Later}, err
}

func anyOf(list []PatternDef) (Any, error) {
	out := Any{}
	for i := range list {
		m, err := list[i].compile()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func (p *PatternDef) compile() (*Pattern, error) {
	out := &Pattern{Types: p.Types}
	for _, c := range p.Where {
		to := Condition{Path: strings.Split(c.Path, "."), Min: c.Min, Max: c.Max, Prefix: c.Prefix}
		for _, s := range c.In {
			v, err := s.value()
			if err != nil {
				return nil, err
			}
			to.In = append(to.In, v)
		}
		out.Where = append(out.Where, to)
	}
	return out, nil
}

// passage is what leads on from a point, with what a drawing of the thread cannot
// tell from its bids.
type passage struct {
	Matcher
	times  int64
	per    string
	repeat bool
}

func (p passage) String() string {
	text := p.Matcher.String()
	if p.times > 1 && text != "" {
		text += fmt.Sprintf(", %d times", p.times)
	}
	return text
}

// spot is where a run stands: at a point, and how often it has passed there.
// At the end the point is the number of points.
type spot struct {
	Passed int64 `json:"passed,omitzero"`
	Point  int   `json:"point,omitzero"`
}

// next is the spot behind p.
func (c *course) next(p spot) spot {
	if p.Passed++; p.Passed < c.points[p.Point].times {
		return p
	}
	p = spot{Point: p.Point + 1}
	if c.repeat && c.ended(p) {
		return spot{}
	}
	return p
}

func (c *course) ended(p spot) bool { return p.Point == len(c.points) }

// valid reports whether a run can stand at p.
func (c *course) valid(p spot) bool {
	return p.Point >= 0 && p.Point < len(c.points) && p.Passed >= 0 && p.Passed < c.points[p.Point].times
}

// single is a run of a definition.
type single struct {
	*course
	spot
}

// Bids implements Behavior.
func (s *single) Bids() Bids { return s.points[s.Point].Bids }

// Next implements Behavior.
func (s *single) Next(Event) bool {
	s.spot = s.next(s.spot)
	return !s.ended(s.spot)
}

// Save implements Saver.
func (s *single) Save() string { return encode(s.spot) }

// Restore implements Saver.
func (s *single) Restore(saved string) error {
	p, err := decode[spot](saved)
	if err != nil {
		return err
	}
	if !s.valid(p) {
		return errors.New("it cannot stand there")
	}
	s.spot = p
	return nil
}

func encode(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic("behavior: a place cannot be encoded: " + err.Error())
	}
	return string(b)
}

// decode reads what encode wrote, and nothing else.
func decode[T any](text string) (v T, err error) {
	if err := json.Unmarshal([]byte(text), &v, json.RejectUnknownMembers(true)); err != nil {
		return v, fmt.Errorf("read a place: %w", err)
	}
	if encode(v) != text {
		return v, errors.New("read a place: it was not written so")
	}
	return v, nil
}
