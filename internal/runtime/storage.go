package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
)

// storage is how much of the disk a quest that runs may take, and has taken. The ledger
// hears of it with results, so what a killed process had taken for a call without a result
// is not counted; but each time that is no more than the call was allowed. mu guards all.
type storage struct {
	mu     sync.Mutex
	quest  purse
	each   int64 // the limit of each agent
	agents map[string]int64
}

// purse is a limit and what is used of it.
type purse struct{ max, used int64 }

// newStorage knows what the state does. What is taken while the quest runs is counted here,
// before the ledger has it.
func newStorage(s *quest.State) *storage {
	out := &storage{agents: map[string]int64{}}
	out.quest.used = s.Spent.Stored
	for _, a := range s.Agents {
		out.agents[a.Name] = a.Stored
	}
	out.limit(s)
	return out
}

// limit takes over the limits that hold now.
func (s *storage) limit(state *quest.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quest.max, s.each = state.Storage()
}

// nobody is for whom a tab is that is the quest's alone.
const nobody = ""

// tab is what one call takes, for an agent or for nobody. Its storage's lock guards spent.
type tab struct {
	of    *storage
	agent string
	spent int64
}

func (s *storage) tab(agent string) *tab { return &tab{of: s, agent: agent} }

// fullError says that a limit leaves no room for so much more. What was used then includes
// what was half written, and is given back.
type fullError struct {
	event.Full
	more int64
	tab  *tab
}

func (e *fullError) Error() string {
	return fmt.Sprintf("%s of %s of storage are used, and %s more would be too much", policy.Room(e.Used), policy.Room(e.Max), policy.Room(e.more))
}

// spend implements blob.Spend.
func (t *tab) spend(n int64) error {
	s := t.of
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.agents[t.agent]
	switch {
	case n <= 0:
	case t.agent != nobody && n > s.each-used:
		return &fullError{event.Full{Max: s.each, Of: event.FullAgent, Used: used}, n, t}
	case n > s.quest.max-s.quest.used:
		return &fullError{event.Full{Max: s.quest.max, Of: event.FullQuest, Used: s.quest.used}, n, t}
	}
	t.add(n)
	return nil
}

// add counts without asking. The lock is held.
func (t *tab) add(n int64) {
	t.of.agents[t.agent] += n
	t.of.quest.used += n
	t.spent += n
}

// small counts texts that travel with events. They are bounded by what an event can have,
// and an agent must be told something even when nothing more may be stored.
func (t *tab) small(texts [][]byte) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	for _, b := range texts {
		t.add(int64(len(b)))
	}
}

// taken is how much was spent.
func (t *tab) taken() int64 {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	return count(t.spent)
}

// used is how much of a limit is used now.
func (t *tab) used(of string) int64 {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if of == event.FullQuest {
		return count(t.of.quest.used)
	}
	return count(t.of.agents[t.agent])
}

// on returns a context in which whatever is stored goes on the tab.
func (t *tab) on(ctx context.Context) context.Context { return blob.WithSpend(ctx, t.spend) }

// after is on for what has to be kept whatever it takes, as an answer that is paid for: it
// counts, and so does for what comes next.
func (t *tab) after(ctx context.Context) context.Context {
	return blob.WithSpend(ctx, func(n int64) error {
		t.of.mu.Lock()
		defer t.of.mu.Unlock()
		t.add(n)
		return nil
	})
}

// over is the quest's limit, if it is used up.
func (t *tab) over() *event.Full {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if q := t.of.quest; q.used >= q.max {
		return &event.Full{Max: q.max, Of: event.FullQuest, Used: count(q.used)}
	}
	return nil
}

// tabKey is that of the tab of a call of a society's own.
type tabKey struct{}

// Refusable is the context of a call of a society's own in which what there is no room for is
// refused: the error is one of NoRoom. Without it, what is stored is kept whatever it takes.
func Refusable(ctx context.Context) context.Context {
	if t, ok := ctx.Value(tabKey{}).(*tab); ok {
		return t.on(ctx)
	}
	return ctx
}

// keeping has a call of a society's own say what it stored, which the quest has to keep: it is
// paid for, or bounded. Once that is all there is room for, the result says so too.
func (l *live) keeping(call Work) Work {
	return func(ctx context.Context) ([]event.Draft, error) {
		tab := l.storage.tab(nobody)
		ds, err := call(context.WithValue(tab.after(ctx), tabKey{}, tab))
		for _, d := range ds {
			tab.small(d.Blobs)
		}
		for _, d := range ds {
			if k, ok := d.Body.(event.Keeper); ok {
				k.SetKept(tab.taken(), tab.over())
			}
		}
		return ds, err
	}
}

// scarce is from where on an agent hears how much room is left, in quarters of its limit.
const scarce = 3

// warning is what an agent hears that has taken something, and has little left.
func (t *tab) warning() string {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	used, most := t.of.agents[t.agent], t.of.each
	if t.spent <= 0 || used < most/4*scarce {
		return ""
	}
	return fmt.Sprintf("\n(Your files and outputs have taken %s of the %s of storage that you have. Every change is kept, so rewriting large files costs anew.)", policy.Room(used), policy.Room(most))
}

// unkept is what an agent hears whose files could not be recorded.
func unkept(err error) (full *event.Full, text string) {
	f, ok := errors.AsType[*fullError](err)
	if !ok {
		return nil, ""
	}
	who, now := "you have", event.Full{Max: f.Max, Of: f.Of, Used: f.tab.used(f.Of)}
	if f.Of == event.FullQuest {
		who = "the quest has"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "error: what this call changed in your home could not be recorded: %s of the %s of storage that %s are used, and it needs more than is left.", policy.Room(now.Used), policy.Room(now.Max), who)
	if s, ok := errors.AsType[*blob.StoreError](err); ok && len(s.Largest) > 0 {
		b.WriteString(" The largest files that are new:")
		for i, l := range s.Largest {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, " %s (%s)", AtMost(l.Path, 200), policy.Room(l.Size))
		}
		b.WriteByte('.')
	}
	fmt.Fprintf(&b, " Delete what you do not need, and do not write large files again and again: every change is kept. After %d calls in a row that cannot be recorded you are parked.", quest.MaxUnkept)
	return &now, b.String()
}

// leftOut tells an agent which of its files are not recorded, if that is news.
func leftOut(skipped []blob.Skipped) string {
	const most = 5
	if len(skipped) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n(Not recorded of your home, and lost if your computer is:")
	for i, s := range skipped[:min(len(skipped), most)] {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " %s: %s", AtMost(s.Path, 200), AtMost(s.Reason, 200))
	}
	if n := len(skipped) - most; n > 0 {
		fmt.Fprintf(&b, "; and %d more", n)
	}
	b.WriteString(".)")
	return b.String()
}
