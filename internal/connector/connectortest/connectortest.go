// Package connectortest is one suite for all drivers of connectors, and a local server of each
// service for them to speak with. The servers can be told to lie, to flood and to fall silent.
package connectortest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/connector"
)

// Service is a local server as the suite sees it.
type Service interface {
	// Say has somebody say something in the conversation of the rig.
	Say(text string)
	// Again has the service tell of all that was said once more, acknowledged or not.
	Again()
	// Unread is how many messages were not acknowledged.
	Unread() int
	// Heard is what was delivered, in order.
	Heard() []Heard
	// Answer is how it answers deliveries from now on.
	Answer(Answer)
	// Turn has it do something else than its service.
	Turn(Trick)
	// Poured is how many bytes it could send as Endless; Followed, how many requests came to
	// where it sent them.
	Poured() int64
	Followed() int
}

// Heard is a delivery.
type Heard struct {
	Conversation, Key, Text string
	// Reply is the message that it answers.
	Reply string
	Files []connector.File
}

// Answer is how a service answers deliveries.
type Answer int

// Good takes them, Busy wants to be left alone for Wait, No takes none, Down has an error of its
// own, and Lost takes them but breaks the connection instead of saying so.
const (
	Good Answer = iota
	Busy
	No
	Down
	Lost
)

// Wait is what Busy asks for.
const Wait = 7 * time.Second

// Trick is what a hostile service does.
type Trick string

// What each does with every request or connection.
const (
	Endless Trick = "endless" // a line without an end
	Deep    Trick = "deep"    // JSON, or what else there is, with nothing in it but brackets
	Away    Trick = "away"    // sent elsewhere, for ever
	Slow    Trick = "slow"    // begins to answer, and falls silent
	Garbage Trick = "garbage" // what nobody can read
	HangUp  Trick = "hang up"
)

var tricks = []Trick{Endless, Deep, Away, Slow, Garbage, HangUp}

// mostPoured is what a driver may let into its memory of one answer, with what the buffers of
// connections hold.
const mostPoured = 64 << 20

// Rig is a service and what makes drivers that speak with it.
type Rig struct {
	Service      Service
	Conversation string
	// Keyed says that the service knows keys of deliveries.
	Keyed bool
	// Silent says that the service does not say when to come again.
	Silent bool
	// Without are tricks that make no sense here.
	Without []Trick
	// Secrets must not be seen in any error.
	Secrets []string
	// Open makes a driver, as a process that begins does.
	Open func(patience time.Duration) connector.Driver
}

// usual is a patience that no test outlasts, and short one that ends soon. Whoever is short of
// patience only expects errors.
const (
	usual = time.Minute
	short = 300 * time.Millisecond
)

// Exercise is what every driver does.
func Exercise(t *testing.T, open func(t *testing.T) *Rig) {
	for name, test := range map[string]func(*testing.T, *Rig){
		"AMessageComesOnce":               once,
		"WhatWasNotTakenComesAgain":       again,
		"ManyComeInOrder":                 many,
		"ItStopsWithItsContext":           stops,
		"DeliveriesArrive":                arrive,
		"ErrorsSayWhetherToComeAgain":     refusals,
		"ALostAnswerIsNotHeardTwice":      lost,
		"AConversationThatIsNoneIsNotOne": nowhere,
		"ACheckSaysNothingToAnybody":      checks,
		"AReplyNamesWhatItAnswers":        replies,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
	for _, trick := range tricks {
		t.Run("AHostileServiceEndsInAnError/"+string(trick), func(t *testing.T) {
			t.Parallel()
			if r := open(t); !slices.Contains(r.Without, trick) {
				hostile(t, r, trick)
			}
		})
	}
}

// inbox is what connectors keep: each message once, by its id.
type inbox struct {
	mu    sync.Mutex
	ids   map[string]bool
	got   []connector.Message
	wrong string
	busy  atomic.Int32 // how many messages are being handed over
	came  chan struct{}
}

func newInbox() *inbox { return &inbox{ids: map[string]bool{}, came: make(chan struct{}, 1000)} }

func (i *inbox) take(_ context.Context, m connector.Message) error {
	alone := i.busy.Add(1) == 1
	defer i.busy.Add(-1)
	runtime.Gosched()
	i.mu.Lock()
	defer i.mu.Unlock()
	if !alone {
		i.wrong = "two messages were handed over at the same time"
	}
	if m.ID == "" || !m.Proven || m.Time.IsZero() {
		i.wrong = fmt.Sprintf("a message came without an id, a proof or a time: %+v", m)
	}
	if !i.ids[m.ID] {
		i.ids[m.ID] = true
		i.got = append(i.got, m)
		select {
		case i.came <- struct{}{}:
		default:
		}
	}
	return nil
}

func (i *inbox) texts() (out []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, m := range i.got {
		out = append(out, strings.TrimSpace(m.Text))
	}
	return out
}

// running is a driver that receives.
type running struct {
	cancel context.CancelFunc
	ended  chan struct{} // closed when it has, with err
	err    error
}

func run(t *testing.T, d connector.Driver, take func(context.Context, connector.Message) error) *running {
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.err = d.Run(ctx, take)
	}()
	t.Cleanup(func() { cancel(); _ = r.wait() })
	return r
}

// wait returns how it ended.
func (r *running) wait() error {
	<-r.ended
	return r.err
}

// Until waits for a condition. It gives up after a minute, which no machine needs.
func Until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it did not come to this in a minute: %s", what)
}

func (i *inbox) until(t *testing.T, r *running, want ...string) {
	t.Helper()
	Until(t, fmt.Sprintf("the messages %.200q", want), func() bool {
		select {
		case <-r.ended:
			t.Fatalf("the driver ended with %v, and %.200q had come; want %.200q", r.err, i.texts(), want)
		default:
		}
		return len(i.texts()) >= len(want)
	})
	if got := i.texts(); !slices.Equal(got, want) {
		t.Errorf("the messages: got %.300q, want %.300q", got, want)
	}
	if i.wrong != "" {
		t.Error("handing over: " + i.wrong)
	}
}

func once(t *testing.T, r *Rig) {
	in, d := newInbox(), r.Open(usual)
	running := run(t, d, in.take)
	r.Service.Say("one")
	in.until(t, running, "one")
	if got := in.got[0].Conversation; got != r.Conversation {
		t.Errorf("it was said in %q, want %q", got, r.Conversation)
	}
	Until(t, "the service knows that it came", func() bool { return r.Service.Unread() == 0 })
	r.Service.Again()
	r.Service.Say("two")
	// A driver may take offence at repetitions. Then it begins anew, as after every error.
	Until(t, "the second message", func() bool {
		select {
		case <-running.ended:
			running = run(t, r.Open(usual), in.take)
		default:
		}
		return len(in.texts()) >= 2
	})
	in.until(t, running, "one", "two")
	Until(t, "the service knows that both came", func() bool { return r.Service.Unread() == 0 })
}

func again(t *testing.T, r *Rig) {
	full := errors.New("the disk is full")
	r.Service.Say("hello")
	unread := -1
	err := run(t, r.Open(usual), func(context.Context, connector.Message) error {
		unread = r.Service.Unread()
		return full
	}).wait()
	if !errors.Is(err, full) {
		t.Fatalf("a message that could not be taken: the driver ended with %v, want %v", err, full)
	}
	if unread != 1 || r.Service.Unread() != 1 {
		t.Errorf("it was acknowledged before it was taken: %d unread then, %d after, want 1", unread, r.Service.Unread())
	}
	in := newInbox()
	running := run(t, r.Open(usual), in.take)
	in.until(t, running, "hello")
	Until(t, "the service knows that it came", func() bool { return r.Service.Unread() == 0 })
}

func many(t *testing.T, r *Rig) {
	var want []string
	for i := range 150 {
		want = append(want, fmt.Sprintf("message %d", i))
		r.Service.Say(want[i])
	}
	in := newInbox()
	running := run(t, r.Open(usual), in.take)
	in.until(t, running, want...)
}

func stops(t *testing.T, r *Rig) {
	in := newInbox()
	running := run(t, r.Open(usual), in.take)
	r.Service.Say("hello")
	in.until(t, running, "hello")
	running.cancel()
	if err := running.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("a driver whose context ended: got %v, want %v", err, context.Canceled)
	}
	r.Service.Turn(Slow)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := r.Open(usual).Send(ctx, connector.Outgoing{Conversation: r.Conversation, Key: "k", Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a delivery whose context ended: got %v, want %v", err, context.Canceled)
	}
}

func arrive(t *testing.T, r *Rig) {
	d := r.Open(usual)
	file := connector.File{Name: "figure.txt", Type: "text/plain", Data: []byte("some data\r\n.\r\nmore")}
	o := connector.Outgoing{Conversation: r.Conversation, Key: "key-1", Text: "which **one**, `a<b` & c?", Options: []string{"the first", "<the second>"}, Files: []connector.File{file}, Quest: "q", Kind: "question"}
	if err := d.Send(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	heard := r.Service.Heard()
	all := fmt.Sprint(heard)
	for _, want := range []string{"which", "one", "the first", "the second"} {
		if !strings.Contains(all, want) {
			t.Errorf("the delivery arrived as %.600s, want %q in it", all, want)
		}
	}
	files := 0
	for _, h := range heard {
		if h.Conversation != r.Conversation {
			t.Errorf("a delivery arrived in %q, want %q", h.Conversation, r.Conversation)
		}
		if r.Keyed && !strings.Contains(h.Key, "key-1") {
			t.Errorf("a delivery arrived with the key %q, want that of its call in it", h.Key)
		}
		for _, f := range h.Files {
			if files++; f.Name != file.Name || string(f.Data) != string(file.Data) {
				t.Errorf("a file arrived as %s with %q, want %s with %q", f.Name, f.Data, file.Name, file.Data)
			}
		}
	}
	if files != 1 {
		t.Errorf("%d files arrived, want 1", files)
	}
}

// replies: a message has a mark, and what answers it comes there as a reply to it, and to nothing else.
func replies(t *testing.T, r *Rig) {
	r.Service.Say("which one?")
	in, d := newInbox(), r.Open(usual)
	running := run(t, d, in.take)
	<-in.came
	running.cancel()
	in.mu.Lock()
	mark := in.got[0].Mark
	in.mu.Unlock()
	if mark == "" {
		t.Fatal("a message has no mark that a reply could name")
	}
	for key, reply := range map[string]string{"key-1": mark, "key-2": ""} {
		if err := r.Open(usual).Send(t.Context(), connector.Outgoing{Conversation: r.Conversation, Key: key, Text: "the answer is " + key, Reply: reply, Quest: "q"}); err != nil {
			t.Fatal(err)
		}
	}
	heard := r.Service.Heard()
	if len(heard) != 2 {
		t.Fatalf("%d deliveries were heard, want 2", len(heard))
	}
	for _, h := range heard {
		want := ""
		if strings.Contains(h.Text, "key-1") {
			want = mark
		}
		if h.Reply != want {
			t.Errorf("the delivery %.80q answers %q, want %q", h.Text, h.Reply, want)
		}
	}
}

func refusals(t *testing.T, r *Rig) {
	d := r.Open(usual)
	send := func() error {
		return d.Send(t.Context(), connector.Outgoing{Conversation: r.Conversation, Key: "key", Text: "hello"})
	}
	r.Service.Answer(Busy)
	err := send()
	if later, ok := errors.AsType[*connector.Later](err); !r.Silent && (!ok || later.After != Wait) || err == nil {
		t.Errorf("a busy service: got %v, want a Later of %v", err, Wait)
	}
	if _, ok := errors.AsType[*connector.Refused](err); ok {
		t.Errorf("a busy service: got %v, want an error that another try may mend", err)
	}
	r.quiet(t, err)
	r.Service.Answer(No)
	err = send()
	if _, ok := errors.AsType[*connector.Refused](err); !ok {
		t.Errorf("a service that takes none: got %v, want a Refused", err)
	}
	r.quiet(t, err)
	r.Service.Answer(Down)
	err = send()
	if _, ok := errors.AsType[*connector.Refused](err); ok || err == nil {
		t.Errorf("a service with an error of its own: got %v, want an error that another try may mend", err)
	}
	r.quiet(t, err)
	if n := len(r.Service.Heard()); n != 0 {
		t.Errorf("%d deliveries were heard, want none", n)
	}
	r.Service.Answer(Good)
	if err := send(); err != nil {
		t.Error(err)
	}
}

func lost(t *testing.T, r *Rig) {
	d := r.Open(usual)
	o := connector.Outgoing{Conversation: r.Conversation, Key: "key", Text: "hello"}
	r.Service.Answer(Lost)
	if err := d.Send(t.Context(), o); err == nil {
		t.Error("an answer that was lost is taken for a good one")
	}
	r.Service.Answer(Good)
	for range 2 { // also by the next process
		if err := d.Send(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		d = r.Open(usual)
	}
	if n := len(r.Service.Heard()); r.Keyed && n != 1 {
		t.Errorf("a delivery with one key was heard %d times, want 1", n)
	}
}

func nowhere(t *testing.T, r *Rig) {
	for _, where := range []string{"", "\r\nRCPT TO:<x@example.org>", "../../x", "a b", r.Conversation + "\n", "?x=1#"} {
		err := r.Open(usual).Send(t.Context(), connector.Outgoing{Conversation: where, Key: "k", Text: "x"})
		if _, ok := errors.AsType[*connector.Refused](err); !ok {
			t.Errorf("a delivery to %q: got %v, want a Refused", where, err)
		}
	}
	if n := len(r.Service.Heard()); n != 0 {
		t.Errorf("%d deliveries were heard, want none", n)
	}
}

// checks: a check finds out whether the service takes the key, takes no message and sends none.
func checks(t *testing.T, r *Rig) {
	r.Service.Say("hello")
	text, err := r.Open(usual).(connector.Checker).Check(t.Context())
	if err != nil || text == "" {
		t.Errorf("check a service that is well: got %q and %v", text, err)
	}
	r.quiet(t, errors.New(text))
	if n, unread := len(r.Service.Heard()), r.Service.Unread(); n > 0 || unread != 1 {
		t.Errorf("after a check: %d deliveries and %d messages unread, want none and one", n, unread)
	}
	r.Service.Turn(HangUp)
	_, err = r.Open(short).(connector.Checker).Check(t.Context())
	if err == nil {
		t.Error("check a service that hangs up: got no error")
	}
	r.quiet(t, err)
}

func hostile(t *testing.T, r *Rig, trick Trick) {
	r.Service.Say("hello")
	r.Service.Turn(trick)
	taken := 0
	err := r.Open(short).Run(t.Context(), func(context.Context, connector.Message) error { taken++; return nil })
	if err == nil || taken > 0 {
		t.Errorf("receiving: got %v and %d messages, want an error and none", err, taken)
	}
	r.quiet(t, err)
	err = r.Open(short).Send(t.Context(), connector.Outgoing{Conversation: r.Conversation, Key: "k", Text: "x"})
	if err == nil {
		t.Error("a delivery to a hostile service is taken for a good one")
	}
	r.quiet(t, err)
	if n := r.Service.Poured(); n > mostPoured {
		t.Errorf("the driver let %d MiB in, want at most %d", n>>20, mostPoured>>20)
	}
	if n := r.Service.Followed(); n > 0 {
		t.Errorf("the driver followed %d times to elsewhere, want never", n)
	}
}

// quiet fails the test if an error has a secret in it, or is long.
func (r *Rig) quiet(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, s := range r.Secrets {
		if strings.Contains(err.Error(), s) {
			t.Errorf("an error has a secret in it: %v", err)
		}
	}
	if n := len(err.Error()); n > 1000 {
		t.Errorf("an error has %d bytes, want a sentence: %.200s", n, err)
	}
}
