package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"lyceum/internal/computer"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func (a *app) shellCommand() *cobra.Command {
	cmd := a.weakLimits(a.questArg(&cobra.Command{
		Use:   "shell <quest> <agent>",
		Short: "Open a shell in an agent's computer",
		Long: `Open a shell in the computer of an agent: the one that is up, also while lyceum run
has the quest in another process, or else a new one with the quest's settings. What
runs there is not disturbed.

  lyceum shell primes agent-0
  echo 'ls -l' | lyceum shell primes agent-0    commands from standard input, for scripts

What you do in the shell is not recorded. What it leaves changed in the agent's home is:
when the quest next runs, as a file.diff with the cause "outside".

A network that is filtered (network: allow), and the models and tools of an executor, are
there only while the quest runs, for what goes there is recorded. The exit code is 0 if the shell's was, and 1 if not.`,
		Args: exactArgs(2, "a quest's name and an agent's"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.shell(cmd.Context(), args[0], args[1]) },
	}))
	quests := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return quests(cmd, args, start)
		}
		var names []string
		if s, err := a.load(cmd.Context(), args[0]); err == nil && len(args) == 1 {
			for _, g := range s.Agents {
				names = append(names, g.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (a *app) shell(ctx context.Context, name, agent string) error {
	// A terminal that goes away may say so twice: the second must not end the process before
	// the shell is left.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	s, err := a.load(ctx, name)
	if err != nil {
		return err
	}
	c, err := a.rt.Computer(ctx, name, agent, func(line string) { fmt.Fprintln(a.err, printable(line)) })
	switch {
	case errors.Is(err, runtime.ErrNoComputer):
		return usagef("%w: a quest.yaml that says computer: auto gives them some", err)
	case errors.Is(err, runtime.ErrNoAgent):
		var names []string
		for _, g := range s.Agents {
			names = append(names, g.Name)
		}
		return usagef("%w; there is %s", err, strings.Join(names, ", "))
	case err != nil:
		return err
	}
	a.closes = append(a.closes, c.Close)
	screen := terminalOf(a.in)
	if screen == nil {
		return a.script(ctx, c)
	}
	fmt.Fprintf(a.err, "In the computer of %s (%s). Leave it with: exit\n", agent, strings.Join(c.Confinement(), ", "))
	fmt.Fprintf(a.err, "What you change in the home is recorded when %s next runs.\n", name)
	if n := c.Fingerprint().Network; n.Mode() == "allow" {
		fmt.Fprintln(a.err, "There is a network only while the quest runs: each connection is recorded.")
	}
	return a.sit(ctx, c, screen)
}

// terminalOf returns the file of a stream if it is a terminal.
func terminalOf(stream any) *os.File {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// visible is where to write what comes from a computer: to a terminal not all of it.
func visible(w io.Writer) io.Writer {
	if terminalOf(w) != nil {
		return &screenFilter{w: w}
	}
	return w
}

// script runs what standard input says.
func (a *app) script(ctx context.Context, c *computer.Computer) error {
	r, err := c.Attach(ctx, computer.Command{ID: shellID(), Args: []string{"sh"}}, computer.Streams{In: a.in, Out: visible(a.out), Err: visible(a.err)})
	return a.left(r, err)
}

// interactive is bash where there is one.
const interactive = "if command -v bash >/dev/null 2>&1; then exec bash -i; fi; exec sh -i"

// sit joins a person's terminal with one in the computer. Ours passes on every key
// meanwhile, Ctrl-C included.
func (a *app) sit(ctx context.Context, c *computer.Computer, screen *os.File) (err error) {
	sizes := make(chan computer.Size, 1)
	defer watchSize(screen, sizes)()
	before, err := term.MakeRaw(int(screen.Fd()))
	if err != nil {
		return fmt.Errorf("prepare the terminal: %w", err)
	}
	filter := &screenFilter{w: a.out}
	size := sizeOf(screen)
	r, err := c.Attach(ctx, computer.Command{
		ID: shellID(), Args: []string{"sh", "-c", interactive}, Terminal: &size, Env: []string{"TERM=" + terminalName(os.Getenv("TERM"))},
	}, computer.Streams{In: a.in, Out: filter, Resize: sizes})
	err = errors.Join(err, filter.leave())
	restored := term.Restore(int(screen.Fd()), before)
	if errors.Is(restored, unix.EIO) { // it was hung up; the shell may have seen that before the signal came
		return context.Canceled
	}
	return errors.Join(restored, a.left(r, err))
}

// left tells how a shell ended.
func (a *app) left(r *computer.Result, err error) error {
	switch {
	case errors.Is(err, computer.ErrStopped):
		return fmt.Errorf("the shell has ended with its computer: the quest is over, or somebody stopped it (%w)", err)
	case err != nil:
		return err
	case r.End != "":
		return fmt.Errorf("the shell was ended: %s", r.End)
	case r.Exit != 0:
		fmt.Fprintf(a.err, "The shell's exit code is %d.\n", r.Exit)
		return errFailed
	}
	return nil
}

// shellID is one that nobody had.
func shellID() string { return runtime.ShellPrefix + strings.ToLower(rand.Text()[:16]) }

var terminalRule = plain.Form{First: "A-Za-z0-9", Rest: "A-Za-z0-9._+-", Most: 64}

// terminalName is what programs are told of the terminal.
func terminalName(s string) string {
	if terminalRule.MatchString(s) {
		return s
	}
	return "xterm"
}

// sizeOf is a terminal's size. One that does not know its own has the usual one.
func sizeOf(screen *os.File) computer.Size {
	cols, rows, err := term.GetSize(int(screen.Fd()))
	if err != nil || cols < 1 || rows < 1 || cols > 10_000 || rows > 10_000 {
		return computer.Size{Rows: 24, Cols: 80}
	}
	return computer.Size{Rows: uint16(rows), Cols: uint16(cols)}
}

// watchSize sends the sizes that a terminal comes to have, the newest of those that
// nobody took, until it is told to stop.
func watchSize(screen *os.File, sizes chan computer.Size) (stop func()) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-changed:
			case <-done:
				return
			}
			select {
			case <-sizes:
			default:
			}
			sizes <- sizeOf(screen) // there is room: nobody else sends
		}
	}()
	return func() { signal.Stop(changed); close(done); <-gone }
}
