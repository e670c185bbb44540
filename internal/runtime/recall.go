package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/knowledge/answers"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/search"

	"github.com/go-json-experiment/json"
)

// Answers that were given before. A call that allows it (model.call's cache) is first looked up
// among the answers of this home's other quests. What is found is read from the ledger that has
// it and recorded whole, so that the quest stands alone. An answer is offered to others once it
// is durable, never before: nobody is given what a crash could take back.

// recalling is a model.call whose answer may have been given before, or may serve others. The
// goroutine of the call has it until its result is in the mailbox, then the owner.
type recalling struct {
	answers.Question
	seq  uint64
	call *event.ModelCall
	// made is the time of the call.
	made event.Time
	// release lets the next one look that asks the same at the same time; it may be called
	// often.
	release func()
}

func (r *Runtime) answersPath() string { return filepath.Join(r.Home, "cache", "answers.db") }

// openAnswers makes the answers of the home ready, if the quest may use them.
func (l *live) openAnswers() (err error) {
	if l.state.Cache == "" || l.state.Origin != nil || l.rt.Home == "" {
		return nil
	}
	l.recalls = map[uint64]*recalling{}
	l.answers, err = answers.Open(l.rt.answersPath())
	return err
}

// closeAnswers lets those go on that wait for an answer of this quest.
func (l *live) closeAnswers() {
	for _, q := range l.recalls {
		q.release()
	}
	if l.answers != nil {
		_ = l.answers.Close() // what it keeps can be asked again
	}
}

// forgetAnswers forgets what a quest that goes has answered.
func (r *Runtime) forgetAnswers(ctx context.Context, name string) error {
	if _, err := os.Lstat(r.answersPath()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	s, err := answers.Open(r.answersPath())
	if err != nil {
		return err
	}
	return errors.Join(s.Forget(ctx, name), s.Close())
}

// recallable says what a call asks, nil if it must be asked anew. Everything that the answer
// depends on is part of the key: a model that is played from a file, the file; and the agent's
// name, so that agents of one kind do not all get the answer of one of them.
func (l *live) recallable(e event.Event, a *agent.Agent, c *event.ModelCall) (*recalling, error) {
	if c.Cache == "" || l.answers == nil {
		return nil, nil
	}
	about, err := json.Marshal([]any{a.Name, l.state.Pins})
	if err != nil {
		return nil, fmt.Errorf("key of an answer: %w", err)
	}
	q := &recalling{seq: e.Seq, call: c, made: e.Time, release: func() {}}
	q.Exact = event.HashOf(slices.Concat([]byte("exact\n"), c.Rendering[:], about))
	if asked, ok := a.Transcript.Question(c); ok && c.Cache == event.CacheNear && l.rt.Embedder != nil && len(asked) <= answers.MaxAsked {
		set, err := json.Marshal([]any{c.Model, c.System, c.Tools, c.Thinking, c.Effort, c.MaxTokens})
		if err != nil {
			return nil, fmt.Errorf("key of an answer: %w", err)
		}
		q.Setting, q.Asked = event.HashOf(slices.Concat([]byte("near\n"), set, about)), asked
	}
	l.recalls[e.Seq] = q
	return q, nil
}

// knownAnswer is the result of a call if its question was answered before. Of several calls that ask
// the same at one time the first asks its model, and the others wait for its answer: nil leaves
// it to the caller to ask.
func (l *live) knownAnswer(ctx context.Context, name string, q *recalling) *event.Draft {
	if q == nil {
		return nil
	}
	l.embed(ctx, q)
	for {
		wait, release := l.rt.flights.enter(q.Exact)
		if wait == nil {
			q.release = release
			d := l.lookUp(ctx, name, q)
			if d == nil {
				// Nobody here asks it, and somebody in another process may: then it is known by and by.
				let := l.alone(ctx, q.Exact)
				q.release = func() { let(); release() }
				d = l.lookUp(ctx, name, q)
			}
			if d != nil {
				q.release()
			}
			return d
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil
		case <-model.Wanted(ctx).Done():
			return nil
		}
	}
}

// The pauses between two looks whether another process still asks a question.
const (
	firstLook = 5 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// alone waits until no other process asks a question, and keeps it until it is let go. Where questions
// cannot be locked, each process asks: that costs an answer, and is no failure of the quest.
func (l *live) alone(ctx context.Context, key event.Hash) (let func()) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		let, ok, err := l.answers.Ask(key)
		switch {
		case ok:
			return let
		case err != nil:
			return func() {}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return func() {}
		case <-model.Wanted(ctx).Done():
			timer.Stop()
			return func() {}
		}
	}
}

// unless lets the next one ask if a call has no result: it was given up.
func (q *recalling) unless(result *[]event.Draft) {
	if q != nil && len(*result) == 0 {
		q.release()
	}
}

// embed gives a question its vector. Without one it is only the same rendering that fits.
func (l *live) embed(ctx context.Context, q *recalling) {
	if q.Setting == (event.Hash{}) {
		return
	}
	within, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	v, err := search.Directions(within, l.rt.Embedder, answers.Counting(q.Asked))
	if err != nil {
		l.embedderFailed(ctx, "the cache of answers", err)
		return
	}
	q.Direction, q.Embedder = v[0], l.rt.Embedder.Name()
}

// embedTime is how long vectors are waited for.
const embedTime = 15 * time.Second

// embedderFailed has the ledger say once that vectors were not to be had.
func (l *live) embedderFailed(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	l.unembedded.Do(func() {
		l.mail.put(l.input("core", &event.EmbedderFailed{Embedder: AtMost(l.rt.Embedder.Name(), 200), For: what, Text: AtMost(l.rt.Redact(err.Error()), 300)}))
	})
}

// lookUp finds the best answer that is still there. A cache that cannot be read has none.
func (l *live) lookUp(ctx context.Context, name string, q *recalling) *event.Draft {
	now := l.rt.Clock()
	found, err := l.answers.Find(ctx, &q.Question, now)
	if err != nil {
		return nil
	}
	for _, m := range found {
		if m.Quest == l.key || q.made-m.Time >= answers.Limit {
			continue
		}
		b, blobs, err := l.original(ctx, &m, name, q.call)
		if errors.Is(err, errGone) {
			_ = l.answers.Drop(ctx, &m.Entry)
		}
		if err != nil {
			continue
		}
		out := &event.ModelResult{Call: q.seq, Parts: b.Parts, Stop: b.Stop, Recalled: &event.Recalled{Quest: m.Quest, Seq: m.Seq, Hash: m.Hash}}
		t := &texts{rt: l.rt, small: blobs}
		if m.Cosine != 0 {
			r := out.Recalled
			r.Asked, r.Cosine, r.Embedder = &event.Text{Text: m.Asked}, m.Cosine, q.Embedder
			if _, err := event.EncodeBody(out); err != nil {
				if *r.Asked, err = t.of(ctx, m.Asked, 0); err != nil {
					continue
				}
			}
		}
		if _, err := event.EncodeBody(out); err != nil {
			continue // there is no room to say whose it is
		}
		_ = l.answers.Used(ctx, &m.Entry, now)
		return &event.Draft{Parent: q.seq, Actor: name, Time: now, Body: out, Blobs: t.small}
	}
	return nil
}

var errGone = errors.New("the answer is not there any more")

// original reads an answer from the ledger that has it, and the small blobs that it names.
func (l *live) original(ctx context.Context, m *answers.Match, who string, c *event.ModelCall) (*event.ModelResult, [][]byte, error) {
	e, err := l.rt.EventAt(ctx, m.Quest, m.Seq)
	if err != nil {
		return nil, nil, err
	}
	b, ok := e.Body.(*event.ModelResult)
	if !ok || e.Hash != m.Hash {
		return nil, nil, errGone
	}
	if e, err = l.rt.EventAt(ctx, m.Quest, b.Call); err != nil {
		return nil, nil, err
	}
	asked := ""
	if m.Cosine != 0 {
		asked = m.Asked
	}
	if then, ok := e.Body.(*event.ModelCall); !ok || e.Actor != who || !SameQuestion(c, then, asked) {
		return nil, nil, errGone
	}
	var small [][]byte
	for _, p := range b.Parts {
		for _, t := range []*event.Text{p.Args, p.Opaque, p.Text} {
			if t == nil {
				continue
			}
			text := t.Text
			if t.Ref != nil {
				data, err := l.rt.Blob(ctx, *t.Ref)
				if err != nil {
					return nil, nil, err
				}
				if text = string(data); len(data) <= ledger.MaxInlineBlob {
					small = append(small, data)
				}
			}
			if l.rt.Redact(text) != text {
				return nil, nil, errGone // it holds what is a secret by now
			}
		}
	}
	return b, small, nil
}

// SameQuestion reports whether the call then was shown to the model what c is: the same
// rendering, or, if asked is not empty, that question alone by the same settings.
func SameQuestion(c, then *event.ModelCall, asked string) bool {
	if asked == "" {
		return then.Rendering == c.Rendering
	}
	return then.Model == c.Model && then.System == c.System && then.Tools == c.Tools && then.Thinking == c.Thinking && then.Effort == c.Effort &&
		then.MaxTokens == c.MaxTokens && then.Rendering == agent.Renders(then, asked)
}

// EventAt reads one event of a quest. One that is not there is errGone.
func (r *Runtime) EventAt(ctx context.Context, name string, seq uint64) (event.Event, error) {
	for e, err := range r.Ledger.Read(ctx, name, seq) {
		if errors.Is(err, ledger.ErrNoQuest) {
			return event.Event{}, errGone
		}
		if err == nil && e.Seq != seq {
			return event.Event{}, errGone
		}
		return e, err
	}
	return event.Event{}, errGone
}

// Gone reports whether an error of EventAt says that there is no such event.
func Gone(err error) bool { return errors.Is(err, errGone) }

// offer offers an answer to others, now that it is durable, and lets those look that waited
// for it. Answers that are none, or broke off, are nobody's; neither is one that was given
// before: whoever wants it finds the first.
func (l *live) offer(ctx context.Context, e event.Event) {
	b, ok := e.Body.(*event.ModelResult)
	if !ok || l.recalls[b.Call] == nil {
		return
	}
	q := l.recalls[b.Call]
	delete(l.recalls, b.Call)
	defer q.release()
	if b.Error != nil || b.Recalled != nil || b.Stop != model.StopEnd && b.Stop != model.StopTools {
		return
	}
	says := false
	for _, p := range b.Parts {
		says = says || p.Kind == event.PartToolCall || p.Kind == event.PartText && p.Text != nil && p.Text.Len() > 0
		if p.Kind == event.PartToolCall {
			q.Setting = event.Hash{} // what it calls for is for this question alone
		}
	}
	if says {
		// A cache that cannot be written is not the quest's failure: the next one asks again.
		_ = l.answers.Put(ctx, answers.Entry{Question: q.Question, Quest: l.key, Seq: e.Seq, Hash: e.Hash, Time: e.Time})
	}
}

// flights are the questions that are being asked, in all quests of this process.
type flights struct {
	mu   sync.Mutex
	open map[event.Hash]chan struct{}
}

// enter makes the caller the one that asks, until it releases; or returns what to wait for.
func (f *flights) enter(key event.Hash) (wait <-chan struct{}, release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.open[key]; c != nil {
		return c, nil
	}
	if f.open == nil {
		f.open = map[event.Hash]chan struct{}{}
	}
	c := make(chan struct{})
	f.open[key] = c
	return nil, sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, key)
		close(c)
	})
}
