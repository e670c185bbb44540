package tui

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
)

// Source is where a view gets a quest from, and how it acts on it.
type Source struct {
	// Folder is the quest's on disk.
	Folder string
	// Follow yields the events from seq on, and then those that come.
	Follow func(ctx context.Context, seq uint64) iter.Seq2[event.Event, error]
	// Read reads a blob.
	Read func(event.Ref) ([]byte, error)
	// Say puts an event into words, or says nothing.
	Say func(event.Event, *quest.State) string
	// Act puts a command into the quest's inbox and says what becomes of it.
	Act func(event.Body) (string, error)
	// Claimed reports whether a process runs the quest.
	Claimed func() (bool, error)
	// Fork makes a quest that goes another way after an event, under a name or one that is made
	// up, and Browse opens the quest on the page. Both say what became of it, and may be nil.
	Fork   func(name string, at uint64) (string, error)
	Browse func() (string, error)
	// Interrupt pauses a quest that runs in this process, and leaves it at once when
	// it is called again. It is nil for one that does not.
	Interrupt func()

	ctx    context.Context
	events chan event.Event
	failed error // read after events is closed
}

// lookBack is how many events from before a view was opened it looks at, to say what
// happened last.
const lookBack = 400

// View is a view that runs.
type View struct {
	program *tea.Program
	model   *Model
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// Start shows a quest, from the given state on, until Close is called or a person
// leaves. The terminal is restored before Done.
func Start(ctx context.Context, src Source, s *quest.State, in io.Reader, out io.Writer) *View {
	ctx, cancel := context.WithCancel(ctx)
	look := Colour
	if os.Getenv("NO_COLOR") != "" {
		look = Mono
	}
	src.ctx, src.events = ctx, make(chan event.Event, 1024)
	m := NewModel(&src, s, look)
	v := &View{model: m, cancel: cancel, done: make(chan struct{})}
	// Signals are the caller's: it knows what they mean for the quest.
	v.program = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	from := max(s.Seq, lookBack) - lookBack + 1
	if _, ok := m.panel.(reader); ok {
		from = 1
	}
	go src.follow(from)
	go func() {
		defer close(v.done)
		_, err := v.program.Run()
		cancel()
		for range src.events { //nolint:revive // until the follower has ended
		}
		if err == nil {
			err = m.err
		}
		if !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, context.Canceled) {
			v.err = err
		}
	}()
	return v
}

// Note shows a line that is no event.
func (v *View) Note(text string) { v.program.Send(note(text)) }

// Speaks shows what the model of an agent is saying in answer to a call, an event of the ledger. again
// says that it begins anew.
func (v *View) Speaks(agent string, call uint64, text string, again bool) {
	v.program.Send(spoken{agent, text, again, call})
}

// Notice shows a line at the bottom until the next key.
func (v *View) Notice(text string) { v.program.Send(said{text: text}) }

// Linger says that the run has ended, and leaves the view to be looked at: until a person
// leaves, or no key was pressed for so long.
func (v *View) Linger(wait time.Duration) { v.program.Send(over(wait)) }

// Done is closed when the view has ended.
func (v *View) Done() <-chan struct{} { return v.done }

// Err is why the view ended, if it was not wanted. It is for after Done.
func (v *View) Err() error { return v.err }

// Close ends the view and waits for the terminal to be restored.
func (v *View) Close() {
	v.program.Quit()
	<-v.done
}

// follow puts events where the view takes them. A view that is slow slows it.
func (s *Source) follow(seq uint64) {
	defer close(s.events)
	for e, err := range s.Follow(s.ctx, seq) {
		if err != nil {
			s.failed = err
			return
		}
		select {
		case s.events <- e:
		case <-s.ctx.Done():
			return
		}
	}
}

// maxBatch is how many events are taken in before the screen is drawn again.
const maxBatch = 512

// next waits for an event, and takes with it all that wait behind it.
func (s *Source) next() tea.Msg {
	e, ok := <-s.events
	if !ok {
		return ended{s.failed}
	}
	batch := happened{e}
	for len(batch) < maxBatch {
		select {
		case e, ok := <-s.events:
			if !ok {
				return batch
			}
			batch = append(batch, e)
		default:
			return batch
		}
	}
	return batch
}

// after waits. Unlike tea.Tick it does not outlive the view.
func (s *Source) after(d time.Duration, then func(time.Time) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case t := <-timer.C:
			return then(t)
		case <-s.ctx.Done():
			return nil
		}
	}
}

// claimEvery is how often it is looked whether the quest's process still lives.
const claimEvery = 2 * time.Second

func (s *Source) watchClaim() tea.Msg {
	claimed, err := s.Claimed()
	if err != nil {
		return note("whether somebody runs the quest cannot be told: " + err.Error())
	}
	return claim(claimed)
}
