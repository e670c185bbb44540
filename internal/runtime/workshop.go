package runtime

import (
	"context"
	"errors"
	"net/http"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/tool"
)

// A workshop is what a society needs of the world besides models and tools: services
// that answer its calls, files that it keeps in the quest's folder, what is pinned when
// a quest is made. The runtime finds it by the society's name and knows no other
// society; one that needs nothing has none.

// Quest is what a workshop sees of the quest that it works for.
type Quest struct {
	*Runtime
	// Key is the name under which the home keeps the quest.
	Key string
	// State belongs to the goroutine that owns the quest: a workshop looks at it only
	// while it is called, never from work of its own.
	State *quest.State
	// Driver makes computers by Spec. It is nil if the quest has none.
	Driver computer.Driver
	Spec   computer.Spec
	// Extra are the tools that agents of this run can be shown besides Lyceum's own.
	Extra *tool.Extended
	// Progress tells a person what takes long. Fail ends the run with an error.
	Progress func(line string)
	Fail     func(error)

	use     func(context.Context, Proposal) (Answered, error)
	gateway func(name string) (http.Handler, error)
	put     func(...event.Draft)
	// stations are the computers that belong to no agent, nil if nobody runs the quest.
	stations *stations
	// desks are those of the run, nil if there is none.
	desks map[string]*desk
	find  func(context.Context, *quest.Delivery) (string, error)
}

// Find looks through texts, and tells what it found. It may be called from the work of a service.
func (q *Quest) Find(ctx context.Context, d *quest.Delivery) (string, error) { return q.find(ctx, d) }

// NoRoom says why something was not stored, if that is for a limit on storage.
func NoRoom(err error) (why string, ok bool) {
	full, ok := errors.AsType[*fullError](err)
	if !ok {
		return "", false
	}
	return full.Error(), true
}

// Unrecorded is what the last look at the home of an agent has left out, and why it recorded
// nothing, if it did not. It may be called from the work of a service.
func (q *Quest) Unrecorded(agent string) (skipped []blob.Skipped, refused string) {
	d := q.desks[agent]
	if d == nil {
		return nil, ""
	}
	d.looking.Lock()
	defer d.looking.Unlock()
	return d.skipped, d.refused
}

// Put hands inputs to the quest, which takes them in that order, if they may come then.
func (q *Quest) Put(inputs ...event.Draft) { q.put(inputs...) }

// Fresh is a computer for one purpose, of the kind that the quest's agents have.
func (q *Quest) Fresh(purpose string) *Fresh {
	return &Fresh{Driver: q.Driver, Spec: q.Spec, Place: q.Place(q.Key, purpose), Progress: q.Progress}
}

// Result drafts the result of a call.
func (q *Quest) Result(call uint64, actor string, b event.Result) event.Draft {
	return event.Draft{Parent: call, Time: q.Clock(), Actor: actor, Body: b}
}

// Workshop makes benches, one for each run of a quest.
type Workshop interface {
	Open(ctx context.Context, q *Quest) (Bench, error)
}

// Bench is a workshop at the disposal of one run.
type Bench interface {
	// Services answer the society's calls.
	Services() map[event.Type]Service
	// Printed is told of each event once it is durable, on the owner's goroutine.
	Printed(e event.Event)
	// Close waits until all that was begun is done. It is called once.
	Close() error
}

// Service answers one type of call. Calls of a workshop's services do no harm when they
// are made again after a crash.
type Service interface {
	// Start takes what a call needs of the quest. It runs on the goroutine that owns the
	// quest; the work it returns runs beside it, and brings the call's one result.
	Start(e event.Event) (Work, error)
}

// Work is a call under way. Its error is the failure of the run: what went wrong with
// the call itself is a result.
type Work func(ctx context.Context) ([]event.Draft, error)

// Maker is a workshop that pins something when a quest is made.
type Maker interface {
	Make(ctx context.Context, c *Creation, b *event.QuestCreated) error
}

// Folder is a workshop that keeps files in the quest's folder.
type Folder interface {
	// Write writes them anew, for a quest that was brought here, or forked.
	Write(ctx context.Context, q *Quest) error
	// Changed names those that are not as the ledger says.
	Changed(ctx context.Context, q *Quest) ([]string, error)
	// Finish writes what the last process of a finished quest did not come to.
	Finish(ctx context.Context, q *Quest) error
}

// Late is a folder of a society some of whose calls are made for a finished quest as well: what it
// said last is heard, also if its process was killed before that.
type Late interface {
	// Late makes those calls that are open, and returns their results.
	Late(ctx context.Context, q *Quest) ([]event.Draft, error)
}

// Workshop is that of a quest's society, nil if it has none.
func (r *Runtime) Workshop(rules string) Workshop {
	return r.Workshops[quest.NameOf(rules)]
}

// folder is what the society of a quest keeps in its folder; nil is nothing.
func (r *Runtime) folder(s *quest.State) Folder {
	f, _ := r.Workshop(s.Rules).(Folder)
	return f
}

// look is a quest that nobody runs, as a workshop sees it.
func (r *Runtime) look(key string, s *quest.State, say func(string)) *Quest {
	if say == nil {
		say = func(string) {}
	}
	return &Quest{Runtime: r, Key: key, State: s, Progress: say, Fail: func(error) {}}
}

// workshopService lets a service of a workshop take its place in the loop.
type workshopService struct{ Service }

func (s workshopService) start(ctx context.Context, l *live, e event.Event) error {
	work, err := s.Start(e)
	if err == nil {
		l.launch(ctx, e.Seq, l.keeping(work))
	}
	return err
}
