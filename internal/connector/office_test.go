package connector_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
)

// service is one that a test drives: what is said to it, and what it has others say.
type service struct {
	mu    sync.Mutex
	fails func(connector.Outgoing) error
	got   []connector.Outgoing
	in    chan connector.Message
	acked chan error
}

func newService() *service {
	return &service{in: make(chan connector.Message), acked: make(chan error)}
}

func (s *service) Run(ctx context.Context, take func(context.Context, connector.Message) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-s.in:
			s.acked <- take(ctx, m)
		}
	}
}

func (s *service) Send(_ context.Context, o connector.Outgoing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		if err := s.fails(o); err != nil {
			return err
		}
	}
	s.got = append(s.got, o)
	return nil
}

func (s *service) texts() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.got {
		out = append(out, o.Text)
	}
	return out
}

// desk is quests that note what is said to them.
type desk struct {
	mu     sync.Mutex
	said   []string
	keys   map[string]bool
	orders []string
	fail   error
}

func (*desk) Needs(text string) connector.Right {
	switch {
	case text == "/status":
		return connector.Read
	case strings.HasPrefix(text, "/"):
		return connector.Control
	}
	return connector.Talk
}

func (d *desk) Say(_ context.Context, quest, key, source string, m connector.Message) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return "", d.fail
	}
	if !d.keys[key] {
		d.said = append(d.said, fmt.Sprintf("%s %s %s %s: %s", quest, source, m.Conversation, m.Sender, m.Text))
		d.keys[key] = true
	}
	if strings.HasPrefix(m.Text, "/") {
		return "done " + m.Text, nil
	}
	return "", nil
}

func (d *desk) Bind(_ context.Context, quest, key string, b *event.ConversationBound) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.keys[key] {
		d.orders = append(d.orders, fmt.Sprint(quest, " ", b.Conversation, " ", b.Gone))
		d.keys[key] = true
	}
	return nil
}

func (d *desk) Gone(_ context.Context, quest string) (bool, error) { return quest == "removed", nil }

func (d *desk) saidSoFar() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.said, "; ")
}

// home is a box with an office that runs.
type home struct {
	t       *testing.T
	dir     string
	now     event.Time
	mu      sync.Mutex
	box     connector.Box
	service *service
	desk    *desk
	office  *connector.Office
	stop    func()
}

func (h *home) clock() event.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now++
	return h.now
}

func (h *home) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now += event.Time(d.Microseconds())
}

const key = "s3cret-key"

func open(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), now: 1_800_000_000_000_000, service: newService(), desk: &desk{keys: map[string]bool{}}}
	st, err := sqlite.Open(filepath.Join(h.dir, "lyceum.db"), nil)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	h.box = connector.Box{Notes: st, Clock: h.clock}
	h.office = &connector.Office{
		Box: h.box, Quests: h.desk, First: time.Millisecond, Look: 5 * time.Millisecond,
		Connectors: map[string]*connector.Connector{
			"chat": {Name: "chat", Driver: h.service, Most: connector.Control, Secrets: []string{key}, Allow: map[string]connector.Right{"ada": connector.Control, "bob": connector.Talk, "eve": connector.Read}},
			"mail": {Name: "mail", Driver: newService(), Most: connector.Talk, Allow: map[string]connector.Right{"ada": connector.Control}},
			"bad":  {Name: "bad", Fault: errors.New("no key " + key), Secrets: []string{key}},
		},
	}
	return h
}

// run starts the office.
func (h *home) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); h.office.Run(ctx, filepath.Join(h.dir, "lock")) }()
	h.stop = sync.OnceFunc(func() { cancel(); <-done })
	h.t.Cleanup(h.stop)
}

// hear has the service tell of a message, and returns what it was answered.
func (h *home) hear(m connector.Message) error {
	h.t.Helper()
	m.Proven = true
	h.service.in <- m
	return <-h.service.acked
}

func (h *home) bind(conversation, quest string) *connector.Binding {
	h.t.Helper()
	b, err := h.box.Bind(h.t.Context(), connector.Binding{Connector: "chat", Conversation: conversation, Quest: quest}, func(q string) (bool, error) { return q == "removed", nil })
	must(h.t, err)
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func (h *home) state(key string) string {
	all, err := h.box.Deliveries(h.t.Context())
	must(h.t, err)
	for _, d := range all {
		if d.Key == key {
			return d.State + " " + d.Error
		}
	}
	return "none"
}

func TestDeliveriesAreSentInOrderAndOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	var failed int
	h.service.fails = func(o connector.Outgoing) error {
		if o.Text == "2" && failed < 3 {
			failed++
			return errors.New("down, with " + key)
		}
		return nil
	}
	for _, n := range []string{"1", "2", "3", "2"} {
		must(t, h.box.Put(t.Context(), connector.Delivery{Key: "k" + n, Connector: "chat", Conversation: "c", Text: n}))
	}
	h.run()
	until(t, "all is sent", func() bool { return strings.HasPrefix(h.state("k3"), connector.Sent) })
	h.stop()
	if got := strings.Join(h.service.texts(), " "); got != "1 2 3" || failed != 3 {
		t.Errorf("the service got %q after %d failures, want 1 2 3 in order, each once", got, failed)
	}
}

func TestADeadLetterIsSentAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	refuse := true
	h.service.fails = func(connector.Outgoing) error {
		if refuse {
			return &connector.Refused{Reason: "who are you, " + key}
		}
		return nil
	}
	must(t, h.box.Put(t.Context(), connector.Delivery{Key: "k", Connector: "chat", Conversation: "c", Text: "words"}))
	must(t, h.box.Put(t.Context(), connector.Delivery{Key: "b", Connector: "bad", Conversation: "c", Text: "words"}))
	must(t, h.box.Put(t.Context(), connector.Delivery{Key: "n", Connector: "none", Conversation: "c", Text: "words"}))
	h.run()
	until(t, "it is dead", func() bool { return strings.HasPrefix(h.state("k"), connector.Dead) })
	until(t, "the others were tried", func() bool {
		return strings.Contains(h.state("b"), "no key") && strings.Contains(h.state("n"), "no connector")
	})
	for _, k := range []string{"k", "b"} {
		if s := h.state(k); strings.Contains(s, key) || !strings.Contains(s, "[key]") {
			t.Errorf("the box says of a failure %q: a key is in it", s)
		}
	}
	h.service.mu.Lock()
	refuse = false
	h.service.mu.Unlock()
	if n, err := h.box.Retry(t.Context(), "k"); n != 1 || err != nil {
		t.Errorf("retry: got %d %v, want 1", n, err)
	}
	until(t, "it is sent", func() bool { return strings.HasPrefix(h.state("k"), connector.Sent) })
	if _, err := h.box.Retry(t.Context(), "k"); !errors.Is(err, connector.ErrNoEntry) {
		t.Errorf("retry of what was sent: got %v, want ErrNoEntry", err)
	}
	if got := h.service.texts(); !slices.Equal(got, []string{"words"}) {
		t.Errorf("the service got %q, want the words once", got)
	}
}

func TestOneOfficeAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	release, ok, err := connector.Lock(path)
	must(t, err)
	if _, again, err := connector.Lock(path); !ok || again || err != nil {
		t.Fatalf("got %v, then %v %v; want it once", ok, again, err)
	}
	release()
	if release, ok, err = connector.Lock(path); !ok || err != nil {
		t.Fatalf("after it was let go: %v %v", ok, err)
	}
	release()
}

func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.bind("room", "q")
	h.run()
	n := 0
	for _, c := range []struct {
		sender, text string
		m            connector.Message
		said, reply  string
	}{
		{sender: "ada", text: "hello", said: "q chat room ada: hello"},
		{sender: "bob", text: "hello", said: "q chat room bob: hello"},
		{sender: "bob", text: "/stop", reply: "takes the right to control, and you may talk"},
		{sender: "ada", text: "/stop", said: "q chat room ada: /stop", reply: "done /stop"},
		{sender: "eve", text: "hello", reply: "takes the right to talk, and you may read"},
		{sender: "eve", text: "/status", said: "q chat room eve: /status", reply: "done /status"},
		{sender: "eve", text: "/status", m: connector.Message{Files: []connector.File{{Name: "x"}}}, reply: "takes the right to talk"},
		{sender: "mallory", text: "hello"},
		{sender: "mallory", text: "AAAAA-AAAAA"},
		{sender: "ada", text: "not to us", m: connector.Message{Group: true}},
		{sender: "ada", text: "@us", m: connector.Message{Group: true, Mentioned: true}, said: "q chat room ada: @us"},
		{sender: "ada", text: "elsewhere", m: connector.Message{Conversation: "hall"}, reply: "bound to no quest. On the machine that has it: lyceum connector bind chat 'hall' <quest>"},
		{sender: strings.Repeat("x", 300), text: "long"},
	} {
		n++
		before, replies := h.desk.saidSoFar(), len(h.service.texts())
		c.m.ID, c.m.Sender, c.m.Text = fmt.Sprint("m", n), c.sender, c.text
		if c.m.Conversation == "" {
			c.m.Conversation = "room"
		}
		for range 2 { // the service tells of it twice
			if err := h.hear(c.m); err != nil {
				t.Fatalf("%s says %q, and it was not taken: %v", c.sender, c.text, err)
			}
		}
		want := strings.TrimPrefix(before+"; "+c.said, "; ")
		if c.said == "" {
			want = before
		}
		if got := h.desk.saidSoFar(); got != want {
			t.Errorf("%.20s says %q: the quests heard %q, want %q", c.sender, c.text, got, want)
		}
		if c.reply != "" {
			until(t, "a reply to "+c.text, func() bool { return len(h.service.texts()) > replies })
			if got := h.service.texts()[replies]; !strings.Contains(got, c.reply) {
				t.Errorf("%s is told %q, want %q", c.sender, got, c.reply)
			}
		}
	}
	unproven := connector.Message{ID: "u", Sender: "ada", Conversation: "room", Text: "/stop"}
	h.service.in <- unproven
	must(t, <-h.service.acked)
	if strings.Count(h.desk.saidSoFar(), "/stop") != 1 {
		t.Error("a message that the service does not vouch for was obeyed")
	}
	replies := 6
	if got := h.service.texts(); len(got) != replies {
		t.Errorf("there were %d replies, want %d: %q", len(got), replies, got)
	}
}

func TestMailHasNoControl(t *testing.T) {
	t.Parallel()
	h := open(t)
	if r, err := h.office.Right(t.Context(), h.office.Connectors["mail"], "ada"); r != connector.Talk || err != nil {
		t.Errorf("got %v %v, want the most that the driver allows: talk", r, err)
	}
}

func TestStrangersAreCounted(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.run()
	for i := range 3 {
		must(t, h.hear(connector.Message{ID: fmt.Sprint(i), Sender: "mallory", Conversation: "c", Text: "x"}))
	}
	h.stop()
	refused, err := h.box.Refusals(t.Context())
	must(t, err)
	if len(refused) != 1 || refused[0].Count != 3 || refused[0].Connector != "chat" {
		t.Errorf("got %+v, want three of chat", refused)
	}
}

// TestCopiesAreCountedByTheNextProcessToo: a message whose signature comes anew was copied by somebody, whoever took it
// the first time. Who signs anew repeats itself, and one that arrived once and is told of again is no copy.
func TestCopiesAreCountedByTheNextProcessToo(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.bind("c", "q")
	code, _, err := h.box.Pair(t.Context(), connector.Pairing{Connector: "chat", Right: connector.Talk})
	must(t, err)
	said := connector.Message{ID: "1", Sender: "ada", Conversation: "c", Text: "hello", Signature: "s1"}
	mail := connector.Message{ID: "2", Sender: "ada", Conversation: "c", Text: "by mail", Signature: "s2", Arrival: "7"}
	pairs := connector.Message{ID: "3", Sender: "joe", Conversation: "c", Text: code, Signature: "s3"}
	h.run()
	for _, m := range []connector.Message{said, mail, pairs} {
		must(t, h.hear(m))
	}
	h.stop()
	h.run()
	anew, copied := said, mail
	anew.Signature, copied.Arrival = "s9", "8"
	for what, m := range map[string]connector.Message{"signed anew": anew, "told of again": mail} {
		if err := h.hear(m); err != nil {
			t.Errorf("what is %s: got %v, want that it is acknowledged", what, err)
		}
	}
	for _, m := range []connector.Message{said, copied, pairs} {
		if err := h.hear(m); !errors.Is(err, connector.ErrReplayed) {
			t.Errorf("a copy of %q: got %v, want ErrReplayed", m.Text, err)
		}
	}
	h.stop()
	refused, err := h.box.Refusals(t.Context())
	must(t, err)
	if len(refused) != 1 || refused[0].Count != 3 {
		t.Errorf("got %+v, want three of chat", refused)
	}
	if got := h.desk.saidSoFar(); got != "q chat c ada: hello; q chat c ada: by mail" {
		t.Errorf("said is %q, want each once", got)
	}
}

// late is a box that is looked through only once somebody says so, and fails the first time that
// a count is put into it.
type late struct {
	box          ledger.Notes
	look, failed chan struct{}
	once         sync.Once
}

func (l *late) Notes(ctx context.Context, kind string, due event.Time, most int) ([]ledger.Note, error) {
	if kind == "heard" {
		<-l.look
	}
	return l.box.Notes(ctx, kind, due, most)
}

func (l *late) Note(ctx context.Context, kind, key string) (ledger.Note, error) {
	return l.box.Note(ctx, kind, key)
}

func (l *late) SwapNote(ctx context.Context, n ledger.Note, old []byte) (ok bool, err error) {
	if n.Kind == "refused" {
		l.once.Do(func() { err = errors.New("the box is full"); close(l.failed) })
	}
	if err != nil {
		return false, err
	}
	return l.box.SwapNote(ctx, n, old)
}

func TestACountThatTheBoxDidNotTakeIsCountedAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := &late{box: h.box.Notes, look: make(chan struct{}), failed: make(chan struct{})}
	h.office.Box.Notes = l
	h.run()
	for i := range 3 {
		must(t, h.hear(connector.Message{ID: fmt.Sprint(i), Sender: "mallory", Conversation: "c", Text: "x"}))
	}
	close(l.look)
	<-l.failed
	h.stop()
	refused, err := h.box.Refusals(t.Context())
	must(t, err)
	if len(refused) != 1 || refused[0].Count != 3 {
		t.Errorf("got %+v, want all three, of which the box did not take the first count", refused)
	}
}

func TestAMessageIsHeardOnceWhateverIsKilledWhen(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := h.bind("room", "q")
	h.run()
	m := connector.Message{ID: "m", Sender: "ada", Conversation: "room", Text: "/stop"}
	h.desk.mu.Lock()
	h.desk.fail = errors.New("the disk is full")
	h.desk.mu.Unlock()
	if err := h.hear(m); err == nil {
		t.Fatal("it was acknowledged, and is not durable")
	}
	// Meanwhile the conversation goes to another quest: the message does not.
	must(t, h.box.Unbind(t.Context(), b))
	h.bind("room", "other")
	h.desk.mu.Lock()
	h.desk.fail = nil
	h.desk.mu.Unlock()
	for range 3 {
		must(t, h.hear(m))
	}
	if got := h.desk.saidSoFar(); got != "q chat room ada: /stop" {
		t.Errorf("the quests heard %q, want it once, by the quest that it was said to", got)
	}
	until(t, "the reply", func() bool { return len(h.service.texts()) == 1 })
}

func TestPairing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.run()
	pair := func(right connector.Right, quest string) string {
		code, _, err := h.box.Pair(t.Context(), connector.Pairing{Connector: "chat", Right: right, Quest: quest})
		must(t, err)
		return code
	}
	n := 0
	says := func(sender, conversation, text string) {
		t.Helper()
		n++
		must(t, h.hear(connector.Message{ID: fmt.Sprint("p", n), Sender: sender, Conversation: conversation, Text: text}))
	}
	right := func(sender string) connector.Right {
		r, err := h.office.Right(t.Context(), h.office.Connectors["chat"], sender)
		must(t, err)
		return r
	}
	code := pair(connector.Talk, "q")
	says("cyd", "dm", strings.ToLower(code))
	if right("cyd") != connector.Talk {
		t.Errorf("cyd may %v, want talk", right("cyd"))
	}
	says("dan", "dm2", code)
	if right("dan") != connector.Nothing {
		t.Error("a code was good twice")
	}
	says("cyd", "dm", "hello")
	if got := h.desk.saidSoFar(); got != "q chat dm cyd: hello" {
		t.Errorf("the quests heard %q", got)
	}
	if got := strings.Join(h.desk.orders, ";"); got != "q dm false" {
		t.Errorf("the quest was told of %q, want its conversation, once", got)
	}
	late := pair(connector.Control, "")
	h.later(10 * time.Minute)
	says("dan", "dm2", late)
	if right("dan") != connector.Nothing {
		t.Error("a code was good after ten minutes")
	}
	wrong, _, err := h.box.Pair(t.Context(), connector.Pairing{Connector: "mail", Right: connector.Talk})
	must(t, err)
	says("dan", "dm2", wrong)
	if right("dan") != connector.Nothing {
		t.Error("a code was good for another connector")
	}
	if had, err := h.box.Unpair(t.Context(), "chat", "cyd"); !had || err != nil || right("cyd") != connector.Nothing {
		t.Errorf("unpaired: %v %v, and cyd may %v", had, err, right("cyd"))
	}
}

func TestAConversationIsBoundToOneQuest(t *testing.T) {
	t.Parallel()
	h := open(t)
	first := h.bind("c", "one")
	gone := func(q string) (bool, error) { return q == "removed", nil }
	if _, err := h.box.Bind(t.Context(), connector.Binding{Connector: "chat", Conversation: "c", Quest: "two"}, gone); !errors.Is(err, connector.ErrBound) {
		t.Errorf("bound twice: got %v, want ErrBound", err)
	}
	if again := h.bind("c", "one"); again.Nonce != first.Nonce {
		t.Error("bound again to the same quest it is another binding: its quest would be told twice")
	}
	must(t, h.box.Unbind(t.Context(), first))
	h.bind("c", "removed")
	if b := h.bind("c", "two"); b.Quest != "two" {
		t.Errorf("a quest that is gone holds a conversation: %+v", b)
	}
	must(t, h.box.Unbind(t.Context(), first)) // an old one lets nothing go
	if b, err := h.box.Bound(t.Context(), "chat", "c"); err != nil || b == nil || b.Quest != "two" {
		t.Errorf("got %+v %v, want two", b, err)
	}
}

// TestAQuestIsToldOfItsBinding: whoever was killed after the box had a binding leaves a quest
// that does not know of it.
func TestAQuestIsToldOfItsBinding(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.bind("c", "q")
	h.run()
	until(t, "the quest is told", func() bool {
		h.desk.mu.Lock()
		defer h.desk.mu.Unlock()
		return strings.Join(h.desk.orders, ";") == "q c false"
	})
}
