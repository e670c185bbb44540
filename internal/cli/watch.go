package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tui"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) watchCommand() *cobra.Command {
	return a.questArg(&cobra.Command{
		Use:   "watch [quest]",
		Short: "Watch a quest in the terminal, whichever process runs it",
		Long: `Watch a quest, or, without a name, the one that runs; if several do, they are listed (lyceum top shows
them live). It shows its agents, its papers, the answer so far and who agrees, its budget and how fast that is
used. Enter opens a paper, or an agent with all it heard and says and the command that it runs; p pauses the quest or
lets it go on, s stops it, a answers what it asks, m says something, n goes to the last event of interest, q leaves;
? shows all keys. Words come as models say them where the quest runs in lyceum serve, and turn by turn elsewhere.
The quest does not notice that it is watched. Where there is no terminal: lyceum trace <quest> --follow.`,
		Args: rangeArgs(0, 1, "a quest's name, or none"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 0 {
				running, err := a.running(ctx)
				if err != nil || len(running) != 1 {
					return errors.Join(err, a.printRunning(running))
				}
				args = []string{running[0].Quest}
			}
			if !isTerminal(a.in) || !isTerminal(a.out) {
				return usagef("watch needs a terminal; for lines: lyceum trace %s --follow", printable(args[0]))
			}
			s, err := a.load(ctx, args[0])
			if err != nil {
				return err
			}
			return a.watch(ctx, args[0], s)
		},
	})
}

// running are the quests that some process runs.
func (a *app) running(ctx context.Context) ([]*questJSON, error) {
	if err := a.look(); err != nil {
		if isNoHome(err) {
			return nil, nil
		}
		return nil, err
	}
	all, err := a.list(ctx)
	return slices.DeleteFunc(all, func(q *questJSON) bool { return !q.Running }), err
}

// printRunning says which quests run, for whoever may want to watch one.
func (a *app) printRunning(running []*questJSON) error {
	if len(running) == 0 {
		fmt.Fprintln(a.out, "No quest is running. lyceum list shows all of them; lyceum watch <quest> shows one that rests.")
		return nil
	}
	if err := a.printList(running); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "Watch one with: lyceum watch <quest>")
	return nil
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// source lets a view follow a quest and act on it.
func (a *app) source(ctx context.Context, name string, interrupt func()) tui.Source {
	words := newProgress(ctx, a, name, true)
	words.width = 200 // the view cuts for itself
	return tui.Source{
		Folder: a.rt.QuestDir(name),
		Follow: func(ctx context.Context, seq uint64) iter.Seq2[event.Event, error] {
			return a.rt.Ledger.Follow(ctx, name, seq)
		},
		Read:      words.read,
		Say:       words.headline,
		Act:       func(b event.Body) (string, error) { return a.act(ctx, name, b) },
		Claimed:   func() (bool, error) { return a.rt.Ledger.Claimed(name) },
		Fork:      func(as string, at uint64) (string, error) { return a.forkHere(ctx, name, as, at) },
		Browse:    func() (string, error) { return a.browse(name) },
		Interrupt: interrupt,
	}
}

// act puts what a person wants into the inbox of a quest, and says what becomes of
// it.
func (a *app) act(ctx context.Context, name string, b event.Body) (string, error) {
	s, err := a.rt.Load(ctx, name)
	if err != nil {
		return "", err
	}
	if _, says := b.(*event.UserMessage); s.Status == quest.Finished && !says {
		return "The quest is finished.", nil
	}
	running, err := a.rt.Ledger.Claimed(name)
	if err != nil {
		return "", err
	}
	_, resume := b.(*event.QuestResumed)
	if resume && !running {
		return "No process holds the quest. Go on with: lyceum run " + name, nil
	}
	if err := s.Accepts("person", b); err != nil {
		return "", err
	}
	answer, answers := b.(*event.InteractionAnswered)
	if answers {
		answered, err := a.rt.Answered(ctx, name, s)
		if err != nil || answered[answer.Interaction] {
			return fmt.Sprintf("Question %d has an answer already.", answer.Interaction), err
		}
	}
	if _, err := a.rt.Post(ctx, name, ledger.Command{Key: rand.Text(), Body: b}); err != nil {
		return "", err
	}
	if running {
		return "", nil // the view will see it happen
	}
	s, err = a.rt.Settle(ctx, name)
	if errors.Is(err, ledger.ErrClaimed) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if answers {
		return a.thanks(ctx, name, false), nil
	}
	return fmt.Sprintf("The quest is %s. Go on with: lyceum run %s", s.Status, name), nil
}

// showing is how a run is shown: in a view, for labs and where it is wanted, or in
// lines.
type showing struct {
	watch, plain bool
	// view is the one that is open, for whoever has something to say.
	view atomic.Pointer[tui.View]
}

func (sh *showing) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&sh.watch, "watch", false, "show the view that lyceum watch has (labs do, on a terminal)")
	cmd.Flags().BoolVar(&sh.plain, "plain", false, "print lines, also on a terminal")
	exclusive(cmd, "watch", "plain")
}

// wanted reports whether a run is to be shown in a view.
func (sh *showing) wanted(a *app, s *quest.State, quiet bool) bool {
	if quiet || sh.plain || !societyOf(s).crowded() && !sh.watch {
		return false
	}
	f, ok := a.out.(*os.File)
	if !ok || !isTerminal(a.in) || !isTerminal(a.out) {
		return false
	}
	w, h, err := term.GetSize(int(f.Fd()))
	return err == nil && w >= tui.MinWidth && h >= tui.MinHeight
}

// say tells a person something, wherever that person looks.
func (sh *showing) say(w io.Writer, text string) {
	if v := sh.view.Load(); v != nil {
		v.Notice(text)
		return
	}
	fmt.Fprintln(w, "\n"+text)
}

// lookAround is how long a view stays when its quest is finished and no key is pressed: short
// quests would be gone before they were seen, and whoever runs one for hours need not be there.
const lookAround = time.Minute

// run runs a quest in a view. The view folds the ledger for itself, from s on, as it
// would for a quest of another process.
func (sh *showing) run(ctx context.Context, a *app, name string, s *quest.State, opts runtime.RunOptions) (*quest.State, error) {
	// Keys do not make signals while the view has the terminal. That an interrupt is
	// one all the same leaves one place to know what it means.
	interrupt := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }
	// The view outlives ctx, which the second interrupt ends: it is closed below, when
	// the run has left.
	seen := context.WithoutCancel(ctx)
	v := tui.Start(seen, a.source(seen, name, interrupt), s, a.in, a.out)
	sh.view.Store(v)
	opts.OnProgress, opts.OnDelta = v.Note, func(d runtime.Delta) { speaks(v, d) }
	ran := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-v.Done():
			// Nobody sees the quest any more: the terminal is gone, or the view broke.
			if v.Err() != nil {
				interrupt()
			}
		case <-ran:
		}
	}()
	end, err := a.rt.Run(ctx, name, opts)
	close(ran)
	<-gone
	if err == nil && end.Status == quest.Finished {
		v.Notice(fmt.Sprintf("The quest is finished. esc looks around; q leaves, and so do %v without a key.", lookAround))
		v.Linger(lookAround)
		select {
		case <-v.Done():
		case <-opts.Interrupt:
		}
	}
	v.Close()
	sh.view.Store(nil)
	return end, errors.Join(err, v.Err())
}
