package behavior

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CheckOptions bound a check.
type CheckOptions struct {
	// Depth is how many selections deep it looks; 0 means 12.
	Depth int
	// States is how many states it looks at; 0 means MaxStates.
	States int
	// Accept says of a deadlock that it is meant to be one. Nil accepts none.
	Accept func(Status) bool
	// Never are events that must not be selected. One that it may match counts as
	// one that it does. Nil is none.
	Never Matcher
	// Reach are events of which one must stay possible: a state from which none can
	// come any more, whatever is selected, is wrong, though there may be much to do
	// in it. Nil is none.
	Reach Matcher
	// Once are events each of which must be possible somewhere: one that is blocked in
	// every state can never come. It is judged where every state was looked at.
	Once []Matcher
}

// MaxStates is how many states a check looks at, if nobody says how many.
const MaxStates = 100_000

// Result is what a check found.
type Result string

// The results.
const (
	Holds  Result = "holds"   // every state that can be reached was looked at
	Fails  Result = "fails"   // the trace leads to one that is wrong
	CutOff Result = "cut off" // nothing was wrong up to a bound
)

// Verdict is the result of a check, and what it rests on.
type Verdict struct {
	Result Result
	// Trace are the selections that lead to what is wrong, none shorter: to a
	// deadlock, to a thread that breaks down, or up to the forbidden event.
	Trace []Event
	// Reason says what is wrong there, or which bound was reached.
	Reason string
	// States and Depth are how many were looked at, and how many selections away
	// the furthest was.
	States, Depth int
}

// Check looks at every state that p can reach by itself, whichever of the
// requests that nobody blocks is selected, the nearest first. Events from outside
// are not tried: a thread that requests them stands for whoever sends them.
// Triggers that wait are left out. p itself stays where it is.
//
// States are told apart by what Save writes. A straight-line thread that loops
// within one run is never at the same point twice, and cuts the check off; let
// it repeat instead.
func (p *Program) Check(opts CheckOptions) (Verdict, error) {
	if opts.Depth == 0 {
		opts.Depth = 12
	}
	if opts.States == 0 {
		opts.States = MaxStates
	}
	c := &checker{opts: opts, threads: map[string]*thread{}, seen: map[[sha256.Size]byte]int{}, once: make([]hope, len(opts.Once))}
	for _, t := range p.threads {
		c.threads[t.Name] = t
	}
	return c.run(p)
}

// checker is a check under way.
type checker struct {
	opts    CheckOptions
	threads map[string]*thread
	seen    map[[sha256.Size]byte]int // the number of each state
	ways    []way
	// places is what is known of each state besides.
	places []place
	// once is what is known of each of Once.
	once []hope
}

// hope is whether an event was possible anywhere, and who blocked it where it was not.
type hope struct {
	came bool
	by   map[string]bool
}

// place is where a state leads.
type place struct {
	// from are the states that lead to it.
	from []int
	// good says that an event of Reach can be selected there, or that it need not
	// be; open, that nobody has looked further. by are those who block it.
	good, open bool
	by         []string
}

// way is how a state was first reached: by which event, from which state. The
// first state was not.
type way struct {
	from, depth int
	event       Event
}

// checkpoint is a state to go on from. It is kept as it was saved: programs that stand
// there would hold a coroutine for every straight-line thread.
type checkpoint struct {
	way     int
	saved   []Saved
	enabled []Event
}

func (c *checker) run(p *Program) (Verdict, error) {
	saved := p.Save()
	first, err := c.at(saved)
	if err != nil {
		return Verdict{}, err
	}
	defer first.Close()
	c.seen[sha256.Sum256([]byte(keyOf(saved)))] = 0
	enabled, at, wrong := c.look(first)
	c.ways, c.places = []way{{}}, []place{at}
	if wrong != "" {
		return c.verdict(Fails, wrong), nil
	}
	for level := []checkpoint{{0, saved, enabled}}; len(level) > 0; {
		var next []checkpoint
		for _, from := range level {
			found, v, err := c.expand(from)
			if v.Result == CutOff {
				return c.unless(v), nil
			}
			if err != nil || v.Result != "" {
				return v, err
			}
			next = append(next, found...)
		}
		level = next
	}
	return c.unless(c.verdict(Holds, "")), nil
}

// unless returns the verdict, unless there is a state from which nothing of Reach
// can come any more, or something of Once never came. States that nobody has looked
// further from may still lead there.
func (c *checker) unless(v Verdict) Verdict {
	if c.opts.Reach != nil {
		v = c.reached(v)
	}
	for i := range c.once {
		if h := &c.once[i]; v.Result == Holds && !h.came {
			v.Result, v.Reason = Fails, fmt.Sprintf("%s can never come%s", c.opts.Once[i], blockedBy(h.by))
		}
	}
	return v
}

func blockedBy(names map[string]bool) string {
	if len(names) == 0 {
		return ""
	}
	return ": it is blocked by " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

func (c *checker) reached(v Verdict) Verdict {
	var queue []int
	for i := range c.places {
		if c.places[i].good || c.places[i].open {
			queue = append(queue, i)
		}
	}
	reaches := make([]bool, len(c.places))
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if !reaches[i] {
			reaches[i] = true
			queue = append(queue, c.places[i].from...)
		}
	}
	trap := slices.Index(reaches, false) // the nearest: states are numbered as they were found
	if trap < 0 {
		return v
	}
	by := map[string]bool{}
	for i, ok := range reaches {
		for _, name := range c.places[i].by {
			by[name] = by[name] || !ok
		}
	}
	v.Result, v.Trace = Fails, c.trace(trap)
	v.Reason = fmt.Sprintf("from here on %s can never come%s", c.opts.Reach, blockedBy(by))
	return v
}

// expand tries all that can be selected at a place, and returns the places that
// are new. A verdict with a result ends the check.
func (c *checker) expand(from checkpoint) (found []checkpoint, _ Verdict, _ error) {
	if len(from.enabled) == 0 {
		return nil, Verdict{}, nil
	}
	c.places[from.way].open = false
	depth := c.ways[from.way].depth + 1
	if depth > c.opts.Depth {
		c.places[from.way].open = true
		return nil, c.verdict(CutOff, fmt.Sprintf("there is more than %d selections away", c.opts.Depth)), nil
	}
	p, err := c.at(from.saved)
	if err != nil {
		return nil, Verdict{}, err
	}
	defer p.Close()
	for _, e := range from.enabled {
		if c.opts.Never != nil && c.opts.Never.Match(e) != No {
			v := c.verdict(Fails, fmt.Sprintf("%s is selected, and must never be (%s)", e, c.opts.Never))
			v.Trace = append(c.trace(from.way), e)
			v.Depth = max(v.Depth, depth)
			return nil, v, nil
		}
		to, at, wrong, err := c.follow(p, from.saved, e)
		switch {
		case err != nil:
			return nil, Verdict{}, err
		case to.saved == nil:
			c.places[to.way].from = append(c.places[to.way].from, from.way)
			continue
		case len(c.ways) == c.opts.States:
			c.places[from.way].open = true
			return nil, c.verdict(CutOff, fmt.Sprintf("there are more than %d states", c.opts.States)), nil
		}
		c.ways = append(c.ways, way{from.way, depth, e})
		at.from = []int{from.way}
		c.places = append(c.places, at)
		if wrong != "" {
			return nil, c.verdict(Fails, wrong), nil
		}
		to.way = len(c.ways) - 1
		found = append(found, to)
	}
	return found, Verdict{}, nil
}

// follow selects e at p, which stays where it is, and returns the state where
// that leads, only its number if it is known, and what is wrong there.
func (c *checker) follow(p *Program, saved []Saved, e Event) (to checkpoint, at place, wrong string, err error) {
	after := New(nil)
	after.threads = slices.Clone(p.threads)
	// Only the threads that the event concerns will change; the others serve both.
	var own []*thread
	defer func() {
		for _, t := range own {
			t.end()
		}
	}()
	for i, t := range p.threads {
		if interrupted, advanced := t.wants(e); !interrupted && !advanced {
			continue
		}
		n, err := t.again(saved[i])
		if err != nil {
			return checkpoint{}, place{}, "", err
		}
		own = append(own, n)
		after.threads[i] = n
	}
	after.choose(e, "")
	to.saved = after.Save()
	key := sha256.Sum256([]byte(keyOf(to.saved)))
	if known, ok := c.seen[key]; ok {
		return checkpoint{way: known}, place{}, "", nil
	}
	c.seen[key] = len(c.ways)
	to.enabled, at, wrong = c.look(after)
	return to, at, wrong, nil
}

// look returns what can be selected at p, or what is wrong there.
func (c *checker) look(p *Program) (enabled []Event, at place, wrong string) {
	at.open = true
	for _, b := range p.Broken() {
		return nil, at, fmt.Sprintf("thread %s broke down: %s", b.Thread, b.Reason)
	}
	for _, r := range p.Requested() {
		r.Event.Allowed = true // a person who is asked may say yes
		by := p.Blocked(r.Event)
		for _, b := range by {
			if b.Fault != "" {
				return nil, at, fmt.Sprintf("thread %s breaks down over %s: %s", b.Thread, r.Event, b.Fault)
			}
		}
		c.hope(r.Event, by)
		meant := c.opts.Reach != nil && c.opts.Reach.Match(r.Event) == Yes
		if len(by) == 0 {
			enabled = append(enabled, r.Event)
			at.good = at.good || meant
		}
		for _, b := range by {
			if meant {
				at.by = append(at.by, b.Thread)
			}
		}
	}
	if len(enabled) > 0 {
		return enabled, at, ""
	}
	at.good = true // it has come to its end
	s := p.Status()
	if s.Standing == Deadlock && (c.opts.Accept == nil || !c.opts.Accept(s)) {
		return nil, at, s.String()
	}
	return nil, at, ""
}

// hope notes of an event that somebody wants whether it can come.
func (c *checker) hope(e Event, by []Blocker) {
	for i, m := range c.opts.Once {
		if m.Match(e) != Yes {
			continue
		}
		h := &c.once[i]
		h.came = h.came || len(by) == 0
		for _, b := range by {
			if h.by == nil {
				h.by = map[string]bool{}
			}
			h.by[b.Thread] = true
		}
	}
}

// at returns a program at a place.
func (c *checker) at(saved []Saved) (*Program, error) {
	p := New(nil)
	for _, s := range saved {
		t, err := c.threads[s.Name].again(s)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.threads = append(p.threads, t)
	}
	return p, nil
}

// again returns a second thread of the same kind, brought to where one stood.
func (t *thread) again(s Saved) (*thread, error) {
	n := &thread{Thread: t.Thread, order: t.order}
	n.begin()
	err := n.restore(s)
	if err == nil && (n.broken != s.Broken || !n.live()) {
		err = fmt.Errorf("it does not do the same again (%s)", n.broken)
	}
	if err != nil {
		n.end()
		return nil, fmt.Errorf("bring a second thread %s to the same point: %w", t.Name, err)
	}
	return n, nil
}

// verdict is about the state that was found last.
func (c *checker) verdict(r Result, reason string) Verdict {
	last := len(c.ways) - 1
	v := Verdict{Result: r, Reason: reason, States: len(c.ways), Depth: c.ways[last].depth}
	if r == Fails {
		v.Trace = c.trace(last)
	}
	return v
}

// trace returns the selections that led to a state.
func (c *checker) trace(to int) (out []Event) {
	for w := c.ways[to]; w.depth > 0; w = c.ways[w.from] {
		out = append(out, w.event)
	}
	slices.Reverse(out)
	return out
}
