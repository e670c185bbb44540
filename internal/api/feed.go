package api

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// feed follows one quest. What it reads it encodes once, gathers into chunks, and keeps
// the last of them: readers write the same bytes, each from its own place. So a reader
// costs a goroutine and no buffer, and one that stalls holds up nobody; once the feed
// has let go of the chunk that it wants next, it is cut off.
type feed struct {
	hub    *hub
	name   string
	cancel context.CancelFunc
	count  int // readers; the hub's lock guards it

	dirty chan struct{}

	mu      sync.Mutex
	pending *chunk
	// read is the last seq that was read. early is what models say to calls beyond it.
	read   uint64
	early  []early
	chunks []*chunk
	base   uint64 // the number of chunks[0]
	bytes  int
	// low is the first seq in chunks, high the last one that was published.
	low, high uint64
	wake      chan struct{}
	status    quest.Status
	reason    string
	warned    bool
	rested    bool // its rules have paused it, and nobody holds it
	over      *ending
	err       error
}

// chunk is some frames, ready to be sent.
type chunk struct {
	data   []byte
	frames []frame
}

// frame is one event or delta in a chunk: where it begins, and what filters look at. A
// delta has no seq.
type frame struct {
	at, end     int
	seq         uint64
	kind        event.Type
	actor, tool string
	line        []byte
}

// early is a delta whose turn has not come.
type early struct {
	call uint64
	data []byte
}

// ending is the data of an end.
type ending struct {
	Status string `json:"status"`
	Head   uint64 `json:"head"`
	Reason string `json:"reason,omitempty"`
}

// gather is how long events are gathered before they are sent; the first after a pause
// is sent at once. With hundreds of readers that is what keeps two cores idle.
const gather = 40 * time.Millisecond

func (c *chunk) add(head string, data []byte, fr frame) {
	fr.at = len(c.data)
	c.data = append(append(append(c.data, head...), data...), "\n\n"...)
	fr.end = len(c.data)
	c.frames = append(c.frames, fr)
}

func (f *feed) touch() {
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

// follow reads the ledger. The feed never waits for readers. Its memory is bounded by the
// chunks it keeps; a reader that falls behind them is cut off.
func (f *feed) follow(ctx context.Context, from uint64) {
	for e, err := range f.hub.rt.Ledger.Follow(ctx, f.name, from) {
		f.mu.Lock()
		if err != nil {
			if ctx.Err() == nil {
				f.err = err
			}
			f.mu.Unlock()
			f.touch()
			return
		}
		f.note(e)
		f.pending.add(eventHead(e.Seq), e.Line(), frame{seq: e.Seq, kind: e.Type, actor: e.Actor, tool: e.Tool, line: e.Line()})
		f.read = e.Seq
		f.early = slices.DeleteFunc(f.early, func(d early) bool {
			due := d.call <= f.read
			if due {
				f.speak(d.data)
			}
			return due
		})
		f.mu.Unlock()
		f.touch()
	}
}

// hear takes what a model says. Deltas arrive directly; events arrive through the ledger
// and can be later. A delta may thus precede its own model.call, and the result of the
// call before. Readers get it in its place.
func (f *feed) hear(d runtime.Delta, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d.Call > f.read {
		f.early = append(f.early, early{d.Call, data})
		return
	}
	f.speak(data)
	f.touch()
}

func (f *feed) speak(data []byte) {
	f.pending.add("event: delta\ndata: ", data, frame{line: data})
}

func eventHead(seq uint64) string { return "id: " + strconv.FormatUint(seq, 10) + "\ndata: " }

// note keeps account of where the quest stands.
func (f *feed) note(e event.Event) {
	status, reason, ok := standing(e.Body)
	if !ok {
		return
	}
	f.status, f.reason = status, reason
	_, f.rested = e.Body.(*event.QuestRested)
	if b, ok := e.Body.(*event.QuestFinished); ok {
		f.warned = len(b.Warnings) > 0
	}
}

// standing is the status that an event brings a quest to.
func standing(b event.Body) (quest.Status, string, bool) {
	switch b := b.(type) {
	case *event.QuestStarted, *event.QuestResumed:
		return quest.Running, "", true
	case *event.QuestPaused:
		return quest.Paused, b.Reason, true
	case *event.QuestRested:
		return quest.Paused, b.Reason, true
	case *event.QuestForked:
		return quest.Paused, "", true
	case *event.QuestStopped:
		return quest.Stopped, b.Reason, true
	case *event.QuestFinished:
		return quest.Finished, "", true
	case *event.QuestFailed:
		return quest.Failed, b.Reason, true
	case *event.BudgetExceeded:
		return quest.Exceeded, b.Limit, true
	}
	return "", "", false
}

// pump publishes what was gathered, and looks whether the quest has ended.
func (f *feed) pump(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		wait := time.Duration(-1)
		if f.publish(ctx) {
			wait = 5 * gather // it rests, but somebody has it still
		}
		if wait > 0 {
			pause.Reset(wait)
			select {
			case <-f.dirty:
			case <-pause.C:
				continue
			case <-ctx.Done():
				return
			}
		} else {
			select {
			case <-f.dirty:
			case <-ctx.Done():
				return
			}
		}
		f.publish(ctx)
		pause.Reset(gather)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// publish makes a chunk of what was gathered, wakes the readers, and reports whether to
// look again soon whether the quest has ended.
func (f *feed) publish(ctx context.Context) (again bool) {
	f.mu.Lock()
	news := len(f.pending.frames) > 0 || f.err != nil
	if len(f.pending.frames) > 0 {
		f.keep(f.pending)
		f.pending = &chunk{}
	}
	rests, high := ends(f.status) || f.rested, f.high
	f.mu.Unlock()
	if rests {
		if over := f.look(ctx, high); over != nil {
			f.hub.mu.Lock()
			f.hub.drop(f) // whoever comes later looks for itself
			f.hub.mu.Unlock()
			f.mu.Lock()
			if len(f.pending.frames) == 0 {
				f.over, news = over, true
			}
			f.mu.Unlock()
		} else {
			again = true
		}
	}
	if news {
		f.mu.Lock()
		close(f.wake)
		f.wake = make(chan struct{})
		f.mu.Unlock()
	}
	return again
}

// keep adds a chunk, and lets go of the oldest beyond the buffer.
func (f *feed) keep(c *chunk) {
	f.chunks = append(f.chunks, c)
	f.bytes += len(c.data)
	for len(f.chunks) > 1 && f.bytes > f.hub.buffer {
		f.bytes -= len(f.chunks[0].data)
		f.chunks[0] = nil
		f.chunks = f.chunks[1:]
		f.base++
	}
	for _, fr := range c.frames {
		f.high = max(f.high, fr.seq)
	}
	f.low = f.high + 1
	for _, kept := range f.chunks {
		if i := slices.IndexFunc(kept.frames, func(fr frame) bool { return fr.seq > 0 }); i >= 0 {
			f.low = kept.frames[i].seq
			break
		}
	}
}

// ends reports whether a quest of that status is over until somebody starts it again.
func ends(s quest.Status) bool {
	return s == quest.Finished || s == quest.Failed || s == quest.Stopped || s == quest.Exceeded
}

// look tells how a quest ended, nil while somebody has it or there is more to read.
func (f *feed) look(ctx context.Context, high uint64) *ending {
	claimed, err := f.hub.rt.Ledger.Claimed(f.name)
	if err != nil || claimed {
		return nil
	}
	head, err := f.hub.rt.Ledger.Head(ctx, f.name)
	if err != nil || head.Seq != high {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &ending{Status: statusText(f.status, false, f.warned, false), Head: high, Reason: f.reason}
}

// errCut says that a reader wants what the feed no longer has.
var errCut = errors.New("cut off")

// join finds a reader's place: the chunk from which on to read. If the feed does not
// reach back that far, behind is true. The chunk, and those after it, may hold what the
// reader has already: it knows what to skip.
func (f *feed) join(after uint64) (at uint64, behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after+1 < f.low {
		return 0, true
	}
	for i, c := range f.chunks {
		if slices.ContainsFunc(c.frames, func(fr frame) bool { return fr.seq > after }) {
			return f.base + uint64(i), false
		}
	}
	return f.base + uint64(len(f.chunks)), false
}

// from is where in a chunk that begins which a reader has not had yet.
func (c *chunk) from(after uint64) (at int) {
	for _, fr := range c.frames {
		if fr.seq > after {
			break
		}
		if fr.seq > 0 {
			at = fr.end
		}
	}
	return at
}

// next returns the chunks from a place on, or what to wait for.
func (f *feed) next(at uint64) (list []*chunk, wake <-chan struct{}, over *ending, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < f.base {
		return nil, nil, nil, errCut
	}
	list = f.chunks[at-f.base:]
	if len(list) > 0 {
		return slices.Clone(list), nil, nil, nil
	}
	return nil, f.wake, f.over, f.err
}

// reached is the last seq that was published.
func (f *feed) reached() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.high
}

// isGone reports whether a feed ended because its quest was removed.
func isGone(err error) bool { return errors.Is(err, ledger.ErrNoQuest) }
