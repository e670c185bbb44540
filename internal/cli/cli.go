// Package cli is the command line. It turns words into calls of the runtime and
// events into lines, and has no state of its own.
//
// Exit codes: 0 done, 1 the quest or check failed, 2 wrong usage, 130
// interrupted. An error says what happened, to what, and what to do next.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/docker"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model/provider"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
	"lyceum/internal/search/remote"
	"lyceum/internal/strictyaml"
	"lyceum/internal/tool"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// app is one invocation.
type app struct {
	in       io.Reader
	out, err io.Writer
	homeFlag string

	home   string
	config *config.Config
	rt     *runtime.Runtime
	closes []func() error

	// showing is how a run is shown.
	showing showing
	// waits says that the command is patient. It is set once, before the command works.
	waits atomic.Bool
}

// usageError is a fault in what was typed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errFailed says that a check failed or a quest did not reach its answer; what
// there is to say has been said.
var errFailed = errors.New("failed")

// interrupts are what a person, or the machine, stops a command with.
var interrupts = []os.Signal{os.Interrupt, syscall.SIGTERM}

// Main runs the command line and returns the exit code. Every command works in ctx,
// which the first interrupt ends. The second ends the process, wherever it is, but for
// commands that are patient: they see to it themselves.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{in: in, out: out, err: errOut}
	ctx, stop := signal.NotifyContext(ctx, interrupts...)
	defer stop()
	defer context.AfterFunc(ctx, func() {
		if !a.waits.Load() {
			stop() // signals are what they were
		}
	})()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	for i := len(a.closes) - 1; i >= 0; i-- {
		err = errors.Join(err, a.closes[i]())
	}
	return a.exit(err)
}

func (a *app) exit(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, runtime.ErrInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errFailed):
		return exitFailed
	}
	fmt.Fprintln(a.err, "lyceum: "+printable(err.Error()))
	if hint := hint(err); hint != "" {
		fmt.Fprintln(a.err, hint)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*strictyaml.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*runtime.PlanError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// hint says what to do next, where the error itself cannot know.
func hint(err error) string {
	switch {
	case errors.Is(err, ledger.ErrNoQuest):
		return "See the quests there are with: lyceum list"
	case errors.Is(err, ledger.ErrNoToken):
		return "See the tokens there are with: lyceum token list"
	case errors.Is(err, ledger.ErrClaimed):
		return "Watch it with: lyceum trace <quest> --follow. Stop it with: lyceum stop <quest>"
	case errors.Is(err, runtime.ErrExists):
		return "Give another name, with --name or, for fork and import, --as; or remove the old one with: lyceum clean <quest> --data"
	case errors.Is(err, ledger.ErrFull), errors.Is(err, syscall.ENOSPC):
		return "Make room on the disk and give the command again; a quest goes on with: lyceum run <quest>. Nothing that was recorded is lost."
	case errors.Is(err, ledger.ErrCorrupt):
		return "Check which quests are whole with: lyceum verify <quest>. Restore the home from a backup (docs/cli.md), or choose another home with --home."
	case errors.Is(err, ledger.ErrConflict):
		return "Another process has written to this quest. Run the command again."
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "Check who may write there, or choose another home with --home or LYCEUM_HOME."
	}
	if _, ok := errors.AsType[*ledger.DamageError](err); ok {
		return "See what is whole with: lyceum verify <quest>. Fork the good part with: lyceum fork <quest> --at <seq before it>"
	}
	return ""
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lyceum",
		Short: "A laboratory of AI agents whose every step can be audited and replayed",
		Long: `Lyceum puts a question to AI agents and records every step they take in a
tamper-evident ledger. Watch a quest, audit it, replay it event for event, fork
it at any step, take it elsewhere.

  lyceum run examples/primes/quest.yaml   ask a question (offline, no key needed)
  lyceum list                             the quests there are
  lyceum show primes                      the answer, and what it took
  lyceum trace primes                     every event
  lyceum replay primes                    derive the whole run again and compare
  lyceum export primes primes.zip         take it with you`,
		Version:       thisBuild().String(),
		SilenceErrors: true, SilenceUsage: true,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&a.homeFlag, "home", "", "where quests are kept (default $LYCEUM_HOME or ~/.lyceum)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w\nSee: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		a.askCommand(), a.createCommand(), a.runCommand(), a.watchCommand(), a.listCommand(), a.showCommand(),
		a.controlCommand("stop", "Stop a quest; lyceum run goes on with it", func() event.Body { return &event.QuestStopped{Reason: "stopped by a person"} }),
		a.controlCommand("pause", "Pause a quest: what is under way comes in, nothing new begins", func() event.Body { return &event.QuestPaused{Reason: "paused by a person"} }),
		a.resumeCommand(), a.messageCommand(), a.cleanCommand(),
		a.traceCommand(), a.verifyCommand(), a.replayCommand(), a.diffCommand(), a.forkCommand(),
		a.exportCommand(), a.importCommand(), a.backupCommand(), a.policyCommand(), a.profileCommand(), a.modelsCommand(), a.versionCommand(), a.licensesCommand(),
		a.doctorCommand(), a.shellCommand(), a.serveCommand(), a.tokenCommand(),
	)
	for _, k := range register {
		root.AddCommand(k.shown.commands(a)...)
	}
	return root
}

// configure finds the home, which need not be there, and reads its configuration.
func (a *app) configure() (err error) {
	if a.home, err = config.Home(a.homeFlag); err == nil {
		a.config, err = config.Load(a.home)
	}
	return err
}

// open makes the runtime ready. Commands that only read do not make a home.
func (a *app) open(mayCreate bool) error {
	home, err := config.Home(a.homeFlag)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(home, "lyceum.db")); errors.Is(err, fs.ErrNotExist) && !mayCreate {
		return fmt.Errorf("%w: there is nothing in %s yet", ledger.ErrNoQuest, home)
	}
	if err := a.configure(); err != nil {
		return err
	}
	rt, closeAll, err := openRuntime(home, a.config, func(line string) { fmt.Fprintln(a.err, printable(line)) })
	if err != nil {
		return err
	}
	a.rt = rt
	a.closes = append(a.closes, closeAll)
	return nil
}

// openRuntime opens the parts that quests in a home run on. say is told when a home of
// an older format is brought up to date.
func openRuntime(home string, conf *config.Config, say func(line string)) (*runtime.Runtime, func() error, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the home %s: %w", home, err)
	}
	found, err := provider.New(&provider.Options{Config: conf})
	if err != nil {
		return nil, nil, usageError{err}
	}
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), &sqlite.Options{Say: say})
	if err != nil {
		return nil, nil, errors.Join(err, blobs.Close())
	}
	rt := &runtime.Runtime{
		Ledger: store, Blobs: blob.Store(blobs), Models: finder(found), Known: known(found), Secrets: found.Secrets, Tools: tool.Builtin(),
		Societies: societies(), Workshops: service.Workshops(), Computers: drivers(), Clock: runtime.SystemClock, Home: home, Version: thisBuild().recorded(),
	}
	if conf != nil && conf.Embeddings != nil && conf.Embeddings.KeyVariable != "" {
		rt.Secrets = func() []string { return append(found.Secrets(), os.Getenv(conf.Embeddings.KeyVariable)) }
	}
	if rt.Embedder, err = embedder(conf); err != nil {
		return nil, nil, errors.Join(usageError{err}, store.Close(), blobs.Close())
	}
	return rt, func() error {
		found.Close()
		return errors.Join(closeDrivers(rt.Computers), store.Close(), blobs.Close())
	}, nil
}

// embedder is what makes vectors of texts: the binary's own, unless the configuration
// says otherwise.
func embedder(conf *config.Config) (search.Embedder, error) {
	if conf == nil || conf.Embeddings == nil {
		return glove.Embedder{}, nil
	}
	e := conf.Embeddings
	if e.None {
		return nil, nil
	}
	return remote.New(e.URL, e.Model, os.Getenv(e.KeyVariable), nil)
}

// drivers are the kinds of sandbox this binary knows, in the order in which auto
// tries them.
func drivers() []computer.Driver {
	return []computer.Driver{bubblewrap.New(bubblewrap.Options{}), docker.New(docker.Options{})}
}

// closeDrivers lets go of what drivers hold. Computers go on.
func closeDrivers(all []computer.Driver) (err error) {
	for _, d := range all {
		if c, ok := d.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// patient returns a context for work that the first interrupt, which ends ctx, does not
// break off: what is under way comes in. The second interrupt ends it at once.
func (a *app) patient(ctx context.Context) (work context.Context, stop func()) {
	a.waits.Store(true)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	again := make(chan os.Signal, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-work.Done():
			return
		}
		signal.Notify(again, interrupts...) // the first has been delivered, and is not in it
		a.showing.say(a.err, "Stopping: what is under way comes in first. Press Ctrl-C again to leave at once.")
		select {
		case <-again:
			cancel()
		case <-work.Done():
		}
	}()
	return work, func() { cancel(); <-done; signal.Stop(again) }
}

// reading reads from standard input, which no context can break off: an interrupt leaves
// the read behind.
func reading[T any](ctx context.Context, read func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	var got T
	var failed error
	go func() {
		defer close(done)
		got, failed = read()
	}()
	select {
	case <-done:
		return got, failed
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// questArg has the shell complete the first argument of a command to the name of a quest.
func (a *app) questArg(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.open(false) != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		heads, err := a.rt.Ledger.Quests(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var names []string
		for _, h := range heads {
			names = append(names, h.Quest)
		}
		return names, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// knownCommand is what the root says to a word that is none of its commands.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q; did you mean %s?\nSee: lyceum --help", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q\nSee: lyceum --help", args[0])
}

// exactArgs is cobra's check with our exit code.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s wants %s\nSee: %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

func checkName(name string) error {
	if !event.ValidName(name) {
		return usagef("quest name %q: want %s", name, event.NameRule)
	}
	return nil
}
