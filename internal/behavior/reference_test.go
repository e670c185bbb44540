package behavior

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// sign is an event of a tiny alphabet: a type, and a number unless it is zero.
type sign struct {
	typ string
	n   int
}

var numbers = []string{"", `{"n":1}`, `{"n":2}`}

func (s sign) event() Event {
	if s.n == 0 {
		return Event{Type: s.typ}
	}
	d, err := JSONDetail(numbers[s.n])
	if err != nil {
		panic(err)
	}
	return Event{Type: s.typ, Detail: d}
}

func (s sign) String() string { return s.typ + numbers[s.n] }

var alphabet = []sign{{"a", 0}, {"a", 1}, {"a", 2}, {"b", 0}, {"b", 1}, {"b", 2}, {"c", 0}, {"c", 1}, {"c", 2}}

// shape is a set of signs: of a type or every one, with a number or any or none.
type shape sign

func (s shape) covers(x sign) bool {
	return (s.typ == "*" || s.typ == x.typ) && (s.n == 0 || s.n == x.n)
}

func covers(shapes []shape, x sign) bool {
	return slices.ContainsFunc(shapes, func(s shape) bool { return s.covers(x) })
}

func matcher(shapes []shape) Matcher {
	var out Any
	for _, s := range shapes {
		p := Of(s.typ)
		if s.n != 0 {
			p.Where = []Condition{{Path: []string{"n"}, In: []Value{{Kind: Number, Text: strconv.Itoa(s.n)}}}}
		}
		out = append(out, p)
	}
	return out
}

// refPoint and refThread are a thread as data.
type refPoint struct {
	request                []sign
	wait, block, interrupt []shape
}

type refThread struct {
	name     string
	priority int
	repeat   bool
	points   []refPoint
	breaks   int // at this point; -1 never
	scope    []shape
	bids     []Bids // the same as points
}

func randomThread(r *rand.Rand, name string) *refThread {
	t := &refThread{name: name, priority: r.IntN(3), repeat: r.IntN(3) == 0, breaks: -1, scope: shapes(r, 1)}
	for range 1 + r.IntN(4) {
		var p refPoint
		for range r.IntN(3) {
			p.request = append(p.request, alphabet[r.IntN(9)])
		}
		p.wait, p.block = shapes(r, r.IntN(3)), shapes(r, max(0, r.IntN(4)-2))
		p.interrupt = shapes(r, max(0, r.IntN(6)-4))
		t.points = append(t.points, p)
	}
	if r.IntN(12) == 0 {
		t.breaks = r.IntN(len(t.points))
	}
	for _, p := range t.points {
		t.bids = append(t.bids, p.state())
	}
	return t
}

// state states the bids of a point.
func (p refPoint) state() (b Bids) {
	for _, s := range p.request {
		b.Request = append(b.Request, s.event())
	}
	b.Wait, b.Interrupt = matcher(p.wait), matcher(p.interrupt)
	for _, s := range p.block {
		b.Block = append(b.Block, Ban{Match: matcher([]shape{s})})
	}
	return b
}

func shapes(r *rand.Rand, n int) (out []shape) {
	for range n {
		out = append(out, shape{[]string{"a", "b", "c", "a", "b", "c", "*"}[r.IntN(7)], r.IntN(3)})
	}
	return out
}

// thread makes a real one of it.
func (t *refThread) thread(straight bool) Thread {
	out := Thread{Name: t.name, Priority: t.priority, Repeat: t.repeat, Scope: matcher(t.scope)}
	if straight {
		out.Start = Straight(func(sync Sync) {
			for i, b := range t.bids {
				if i == t.breaks {
					panic("broken")
				}
				sync(b)
			}
		})
		return out
	}
	out.Start = func() Behavior {
		if t.breaks == 0 {
			panic("broken")
		}
		return &breaking{points{all: t.bids}, t.breaks}
	}
	return out
}

type breaking struct {
	points
	breaks int
}

func (b *breaking) Next(e Event) bool {
	if b.at+1 == b.breaks {
		panic("broken")
	}
	return b.points.Next(e)
}

// reference is the engine once more, as slow and plain as can be: it keeps what
// happened, and works out from the beginning where everything stands whenever
// something has.
type reference struct {
	past      []happening
	known     int // of the past, when now was worked out
	now       []stand
	queue     []offer
	reactions []reaction
	log       []string
}

// happening is a thread that was added or an event that was selected, for a
// thread or, if by is empty, from outside.
type happening struct {
	added    *refThread
	selected sign
	by       string
}

type offer struct {
	sign sign
	hold bool
}

// reaction is what an effect triggers when it sees an event of a type.
type reaction struct {
	typ   string
	offer offer
}

// stand is where a thread stands.
type stand struct {
	*refThread
	refPoint
	broken bool
}

func (s stand) wants(x sign) bool { return slices.Contains(s.request, x) || covers(s.wait, x) }

// stands works out where the threads stand that have not ended, in order.
func (r *reference) stands() (out []stand) {
	if r.known == len(r.past) {
		return r.now
	}
	for i, h := range r.past {
		if h.added == nil {
			continue
		}
		if s, ok := follow(h.added, r.past[i+1:]); ok {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b stand) int { return a.priority - b.priority })
	r.known, r.now = len(r.past), out
	return out
}

// follow leads a thread through what happened after it was added.
func follow(t *refThread, past []happening) (stand, bool) {
	s, at := stand{refThread: t, refPoint: t.points[0]}, 0
	for _, h := range past {
		switch {
		case at == t.breaks || h.added != nil:
			continue
		case covers(s.interrupt, h.selected):
			return stand{}, false
		case !s.wants(h.selected):
			continue
		}
		at++
		if at == len(t.points) {
			if !t.repeat {
				return stand{}, false
			}
			at = 0
		}
		s.refPoint = t.points[at]
	}
	if at == t.breaks {
		return stand{refThread: t, refPoint: refPoint{block: t.scope}, broken: true}, true
	}
	return s, true
}

func (r *reference) blockers(x sign) (out []string) {
	for _, s := range r.stands() {
		if covers(s.block, x) {
			out = append(out, s.name)
		}
	}
	return out
}

// requests returns the signs that threads want, each with the first that does.
func (r *reference) requests() (all []sign, by []string) {
	for _, s := range r.stands() {
		for _, x := range s.request {
			if !slices.Contains(all, x) {
				all, by = append(all, x), append(by, s.name)
			}
		}
	}
	return all, by
}

func (r *reference) status() string {
	all, _ := r.requests()
	for i := len(r.queue) - 1; i >= 0; i-- {
		all = slices.Insert(all, 0, r.queue[i].sign)
	}
	if len(all) == 0 {
		return "idle"
	}
	var blocked []string
	for _, x := range all {
		by := r.blockers(x)
		if len(by) == 0 {
			return "ready"
		}
		blocked = append(blocked, x.String()+" is blocked by "+strings.Join(by, ", "))
	}
	return "deadlock: " + strings.Join(blocked, "; ")
}

// note writes down a step: before is what there was to choose from.
func (r *reference) note(before, selected, by string, interrupted, advanced []string) {
	r.log = append(r.log, fmt.Sprintf("%s chose %s by %s, ended %v, moved %v, %s", before, selected, by, interrupted, advanced, r.status()))
}

// choices describes what there is to choose from.
func (r *reference) choices(outside *sign) string {
	var out []string
	add := func(x sign, by string) {
		out = append(out, x.String()+"/"+by+"/"+strings.Join(r.blockers(x), ","))
	}
	if outside != nil {
		add(*outside, "")
	}
	for _, q := range r.queue {
		add(q.sign, "")
	}
	all, by := r.requests()
	for i := range all {
		add(all[i], by[i])
	}
	return strings.Join(out, " ")
}

func (r *reference) choose(x sign, by string) {
	var outside *sign
	if by == "" {
		outside = &x
	}
	before := r.choices(outside)
	var interrupted, advanced []string
	for _, s := range r.stands() {
		if covers(s.interrupt, x) {
			interrupted = append(interrupted, s.name)
		} else if s.wants(x) {
			advanced = append(advanced, s.name)
		}
	}
	r.past = append(r.past, happening{selected: x, by: by})
	r.note(before, x.String(), by, interrupted, advanced)
	for _, re := range r.reactions {
		if re.typ == x.typ {
			r.queue = append(r.queue, re.offer)
		}
	}
}

func (r *reference) refuse(x sign) {
	r.note(r.choices(&x), "nothing", "", nil, nil)
}

// outside selects the first of those that wait and can be, and refuses what comes
// before it and need not be held.
func (r *reference) outside() bool {
	var held []offer
	for len(r.queue) > 0 {
		q := r.queue[0]
		by := r.blockers(q.sign)
		rest := r.queue[1:]
		r.queue = slices.Concat(held, rest)
		switch {
		case len(by) == 0:
			r.choose(q.sign, "")
			return true
		case q.hold:
			held = append(held, q)
		default:
			r.refuse(q.sign)
			r.log = append(r.log, fmt.Sprintf("told %s %v", q.sign, by))
		}
		r.queue = rest
	}
	r.queue = held
	return false
}

func (r *reference) step() bool {
	if r.outside() {
		return true
	}
	all, by := r.requests()
	for i, x := range all {
		if len(r.blockers(x)) == 0 {
			r.choose(x, by[i])
			return true
		}
	}
	return false
}

func (r *reference) trigger(o offer) string {
	for r.outside() {
	}
	by := r.blockers(o.sign)
	switch {
	case len(by) == 0:
		r.choose(o.sign, "")
		return "selected []"
	case o.hold:
		r.queue = append(r.queue, o)
		return fmt.Sprintf("deferred %v", by)
	}
	r.refuse(o.sign)
	return fmt.Sprintf("refused %v", by)
}

// subject is the real engine, asked in the same words.
type subject struct {
	*Program
	straight  bool
	threads   []*refThread
	reactions []reaction
	log       []string
}

func newSubject(straight bool, reactions []reaction) *subject {
	s := &subject{straight: straight, reactions: reactions}
	s.Program = New(s.options())
	return s
}

func (s *subject) options() *Options {
	return &Options{
		Record: func(st Step) { s.log = append(s.log, describe(st)) },
		Refused: func(e Event, by []Blocker) {
			s.log = append(s.log, fmt.Sprintf("told %s %v", e, blockerNames(by)))
		},
		Effect: func(e Event) {
			for _, re := range s.reactions {
				if re.typ == e.Type {
					s.Program.Trigger(re.offer.sign.event(), re.offer.hold)
				}
			}
		},
	}
}

func blockerNames(by []Blocker) (out []string) {
	for _, b := range by {
		out = append(out, b.Thread)
	}
	return out
}

func describe(st Step) string {
	var choices []string
	blocked := slices.Clone(st.Blocked)
	for _, c := range st.Candidates {
		var by []string
		if len(blocked) > 0 && blocked[0].Event.Equal(c.Event) {
			by, blocked = blockerNames(blocked[0].By), blocked[1:]
		}
		choices = append(choices, c.Event.String()+"/"+c.Thread+"/"+strings.Join(by, ","))
	}
	selected := "nothing"
	if st.Selected != nil {
		selected = st.Selected.String()
	}
	return fmt.Sprintf("%s chose %s by %s, ended %v, moved %v, %s",
		strings.Join(choices, " "), selected, st.Thread, st.Interrupted, st.Advanced, st.Status)
}

func (s *subject) add(t *refThread) {
	s.threads = append(s.threads, t)
	if err := s.Add(t.thread(s.straight)); err != nil {
		panic(err)
	}
}

func (s *subject) trigger(o offer) string {
	out := s.Trigger(o.sign.event(), o.hold)
	word := "?"
	switch {
	case out.Selected && !out.Refused && !out.Deferred:
		word = "selected"
	case out.Refused && !out.Deferred:
		word = "refused"
	case out.Deferred && !out.Refused:
		word = "deferred"
	}
	return fmt.Sprintf("%s %v", word, blockerNames(out.By))
}

// reopen goes on with a new program that was given what the old one saved, by way
// of a file as it were.
func (s *subject) reopen() error {
	text, err := json.Marshal(s.Save())
	if err != nil {
		return err
	}
	var saved []Saved
	if err := json.Unmarshal(text, &saved); err != nil {
		return err
	}
	s.Close()
	s.Program = New(s.options())
	for _, t := range s.threads {
		if err := s.Add(t.thread(s.straight)); err != nil {
			return err
		}
	}
	return s.Restore(saved)
}

// double goes on with a clone; the original is led astray first.
func (s *subject) double() error {
	c, err := s.Clone()
	if err != nil {
		return err
	}
	before := c.key()
	s.opts = Options{}
	s.Step()
	s.Close()
	if c.key() != before {
		return fmt.Errorf("a step of the original moved its clone")
	}
	c.opts = *s.options()
	s.Program = c
	return nil
}

// match is one random program in the reference and as threads of both kinds.
type match struct {
	r        *rand.Rand
	ref      *reference
	subjects []*subject
	names    int
}

func newMatch(seed uint64) *match {
	m := &match{r: rand.New(rand.NewPCG(seed, 1)), ref: &reference{}}
	// What is triggered comes later in the alphabet than what it is triggered by,
	// so that it comes to an end.
	for _, pair := range []string{"ab", "ac", "bc"} {
		if m.r.IntN(4) == 0 {
			o := offer{sign{pair[1:], m.r.IntN(3)}, m.r.IntN(2) == 0}
			m.ref.reactions = append(m.ref.reactions, reaction{pair[:1], o})
		}
	}
	m.subjects = []*subject{newSubject(false, m.ref.reactions), newSubject(true, m.ref.reactions)}
	for range 1 + m.r.IntN(5) {
		m.add()
	}
	return m
}

func (m *match) add() {
	t := randomThread(m.r, fmt.Sprintf("t%d", m.names))
	m.names++
	m.ref.past = append(m.ref.past, happening{added: t})
	for _, s := range m.subjects {
		s.add(t)
	}
}

func (m *match) close() {
	for _, s := range m.subjects {
		s.Close()
	}
}

// act does one random thing to all, and compares.
func (m *match) act() error {
	var did, want string
	var do func(*subject) (string, error)
	switch kind := m.r.IntN(20); {
	case kind < 10:
		did, want = "step", fmt.Sprint(m.ref.step())
		do = func(s *subject) (string, error) { return fmt.Sprint(s.Step()), nil }
	case kind < 16:
		o := offer{alphabet[m.r.IntN(9)], kind < 12}
		did, want = fmt.Sprintf("trigger %+v", o), m.ref.trigger(o)
		do = func(s *subject) (string, error) { return s.trigger(o), nil }
	case kind < 18:
		did = "add a thread"
		if len(m.ref.stands()) < 7 {
			m.add()
		}
		do = func(*subject) (string, error) { return "", nil }
	case kind == 18:
		did, m.ref.queue = "save and restore", nil
		do = func(s *subject) (string, error) { return "", s.reopen() }
	default:
		did, m.ref.queue = "clone", nil
		do = func(s *subject) (string, error) { return "", s.double() }
	}
	seen := m.ref.seen()
	for _, s := range m.subjects {
		got, err := do(s)
		if err == nil && got != want {
			err = fmt.Errorf("got %s, want %s", got, want)
		}
		if has := s.seen(); err == nil && has != seen {
			err = fmt.Errorf("got\n%s\nwant\n%s", has, seen)
		}
		if err != nil {
			return fmt.Errorf("%s, straight %v: %w", did, s.straight, err)
		}
	}
	return nil
}

// seen is all that can be seen: the steps since the last time, the status, the
// threads, and those that broke down.
func (r *reference) seen() string {
	var names, broken []string
	for _, st := range r.stands() {
		names = append(names, st.name)
		if st.broken {
			broken = append(broken, st.name)
		}
	}
	out := append(r.log, r.status(), fmt.Sprint(names, broken))
	r.log = nil
	return strings.Join(out, "\n")
}

func (s *subject) seen() string {
	out := append(s.log, s.Status().String(), fmt.Sprint(s.Names(), blockerNames(s.Broken())))
	s.log = nil
	return strings.Join(out, "\n")
}

// replay selects again what was selected, on new threads.
func (m *match) replay(s *subject) error {
	p := New(nil)
	defer p.Close()
	for _, h := range m.ref.past {
		err := error(nil)
		if h.added != nil {
			err = p.Add(h.added.thread(s.straight))
		} else {
			err = p.Select(h.selected.event(), h.by == "")
		}
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	if p.key() != s.key() || fmt.Sprint(p.Save()) != fmt.Sprint(s.Save()) {
		return fmt.Errorf("replay led to\n%v\nwant\n%v", p.Save(), s.Save())
	}
	requested, _ := m.ref.requests()
	for _, x := range alphabet {
		for _, outside := range []bool{false, true} {
			if len(m.ref.blockers(x)) == 0 && (outside || slices.Contains(requested, x)) {
				continue
			}
			if err := p.Select(x.event(), outside); err == nil {
				return fmt.Errorf("%s was selected, outside %v, and is not enabled", x, outside)
			}
		}
	}
	if p.key() != s.key() {
		return fmt.Errorf("a selection that was refused changed something")
	}
	return nil
}

func TestReference_AgreesOnRandomPrograms(t *testing.T) {
	t.Parallel()
	const shards, programs, actions = 4, 2000, 50
	for shard := range uint64(shards) {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := shard; seed < programs; seed += shards {
				if err := playMatch(seed, actions); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// raced says whether the race detector looks on.
var raced = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

func playMatch(seed uint64, actions int) error {
	m := newMatch(seed)
	defer m.close()
	if raced { // and slow: every program as one of the kinds
		m.subjects[1-seed/2%2].Close()
		m.subjects = m.subjects[seed/2%2:][:1]
	}
	for i := range actions {
		if err := m.act(); err != nil {
			return fmt.Errorf("action %d: %w", i, err)
		}
	}
	for _, s := range m.subjects {
		if err := m.replay(s); err != nil {
			return fmt.Errorf("straight %v: %w", s.straight, err)
		}
	}
	return nil
}

func FuzzJSONDetail(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"b":[1,{"c":null}],"a":"\u00e9\ud83d\ude00"}`, `{"n":-0.0e5}`, `{"n":12e-7,"m":1e41,"k":1E+400000000}`,
		`{"a":1,"a":2}`, `[1]`, `{"a":1}x`, `{"\u2028":"\u0000"}`, "{\"\xff\":1}", strings.Repeat(`{"a":`, 70), `{"a":tru`,
		`{"n":1e00000000000000000001}`, `{"n":1e99999999999}`, strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := JSONDetail(text)
		if err != nil {
			return
		}
		again, err := JSONDetail(d.JSON())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, d.JSON(), err)
		}
		if again.JSON() != d.JSON() {
			t.Fatalf("%q was written as %q and then as %q", text, d.JSON(), again.JSON())
		}
		if !(Event{Type: "x", Detail: d}).Equal(Event{Type: "x", Detail: again}) {
			t.Fatalf("%q is not equal to itself", text)
		}
	})
}

func TestCompareNumbers_AgreesWithRationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0001259"[r.IntN(7)]
		}
		return string(b)
	}
	number := func() string {
		s := []string{"", "-"}[r.IntN(2)] + digits(1+r.IntN(4))
		if r.IntN(2) == 0 {
			s += "." + digits(1+r.IntN(4))
		}
		if r.IntN(2) == 0 {
			s += []string{"e", "E", "e+", "e-"}[r.IntN(4)] + []string{"", "00", "00000000000"}[r.IntN(3)] + strconv.Itoa(r.IntN(8))
		}
		return s
	}
	equals := 0
	for range 20_000 {
		a, b := number(), number()
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Fatalf("big.Rat does not read %s or %s", a, b)
		}
		got, ok := compareNumbers(a, b)
		if want := x.Cmp(y); !ok || max(-1, min(1, got)) != want {
			t.Fatalf("%s and %s compare as %d (%v), want %d", a, b, got, ok, want)
		}
		if (plainNumber(a) == plainNumber(b)) != (got == 0) {
			t.Fatalf("%s is written %s, and %s is written %s", a, plainNumber(a), b, plainNumber(b))
		}
		if z, ok := new(big.Rat).SetString(plainNumber(a)); !ok || z.Cmp(x) != 0 {
			t.Fatalf("%s is written %s", a, plainNumber(a))
		}
		if got == 0 {
			equals++
		}
	}
	if equals < 100 {
		t.Errorf("only %d were equal: the numbers say little", equals)
	}
}

func TestCompareNumbers_RefusesWhatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "-", "+1", "1.", ".5", "1e", "1e+", "1e1.5", "0x1", "1_0", "NaN", "1e1000000000", "--1", "1e--1"} {
		if _, ok := compareNumbers(s, "1"); ok {
			t.Errorf("%q was taken for a number", s)
		}
	}
}
