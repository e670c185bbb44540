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
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"lyceum/internal/api"
	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/docker"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/conduct"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/identity"
	"lyceum/internal/ledger"
	"lyceum/internal/mcp/login"
	"lyceum/internal/model/provider"
	"lyceum/internal/notify"
	"lyceum/internal/plain"
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
	exitResting     = 3
	exitInterrupted = 130
)

// app is one invocation.
type app struct {
	in       io.Reader
	out, err io.Writer
	// ctx is that of the command: stores are opened in it, which may be far away.
	ctx      context.Context
	homeFlag string
	// ledgerFlag is the address of the ledger as it was typed.
	ledgerFlag string
	// weak is --weak-limits.
	weak bool

	home   string
	config *config.Config
	places places
	rt     *runtime.Runtime
	closes []func() error

	// showing and telling are how a run is shown.
	showing showing
	telling telling
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

// errResting says that a quest came to rest without an answer; why has been said.
var errResting = errors.New("came to rest without an answer")

// interrupts are what a person, or the machine, stops a command with.
var interrupts = []os.Signal{os.Interrupt, syscall.SIGTERM}

// firstInterrupts are those, and the end of the terminal, unless the command was started to
// survive that (nohup). It is no second interrupt: a terminal that ends may say so twice.
func firstInterrupts() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return interrupts
	}
	return append(interrupts[:len(interrupts):len(interrupts)], syscall.SIGHUP)
}

// Main runs the command line and returns the exit code. Every command works in ctx,
// which the first interrupt ends. The second ends the process, wherever it is, but for
// commands that are patient: they see to it themselves.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	heap.raise(firstFloor)
	a := &app{in: in, out: out, err: errOut}
	ctx, stop := signal.NotifyContext(ctx, firstInterrupts()...)
	defer stop()
	defer context.AfterFunc(ctx, func() {
		if !a.waits.Load() {
			stop() // signals are what they were
		}
	})()
	a.ctx = ctx
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := a.meant(ctx, root.ExecuteContext(ctx))
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
	case errors.Is(err, errResting):
		return exitResting
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

// nearError is about a quest that is not there, while some of a similar name are.
type nearError struct {
	error
	names []string
}

func (e *nearError) Unwrap() error { return e.error }

// meant adds to an error about a quest that is not there which one may have been meant. The
// home must still be open.
func (a *app) meant(ctx context.Context, err error) error {
	unknown, ok := errors.AsType[*ledger.NoQuestError](err)
	if !ok || a.rt == nil {
		return err
	}
	heads, failed := a.rt.Ledger.Quests(ctx)
	if failed != nil {
		return err
	}
	names := make([]string, len(heads))
	for i, h := range heads {
		names[i] = h.Quest
	}
	if near := plain.Near(unknown.Quest, names); len(near) > 0 {
		return &nearError{err, near}
	}
	return err
}

// hint says what to do next, where the error itself cannot know.
func hint(err error) string {
	if near, ok := errors.AsType[*nearError](err); ok {
		return fmt.Sprintf("Did you mean %s? See the quests there are with: lyceum list", strings.Join(near.names, " or "))
	}
	switch {
	case errors.Is(err, ledger.ErrNoQuest):
		return "See the quests there are with: lyceum list"
	case errors.Is(err, conduct.ErrNone):
		return "See the studies there are with: lyceum study list"
	case errors.Is(err, ledger.ErrNoToken):
		return "See the tokens there are with: lyceum token list"
	case errors.Is(err, ledger.ErrClaimed):
		return "Watch it with: lyceum trace <quest> --follow. Stop it with: lyceum stop <quest>"
	case errors.Is(err, runtime.ErrExists):
		return "Give another name, with --name or, for import, --as; or remove the old one with: lyceum clean <quest> --data"
	case errors.Is(err, ledger.ErrFull), errors.Is(err, syscall.ENOSPC):
		return "Make room on the disk and give the command again; a quest goes on with: lyceum run <quest>. Nothing that was recorded is lost."
	case runtime.Passing(err):
		return "This process, or the machine, has no file left to open: end what holds so many, or allow more with ulimit -n, and give the command again; a quest goes on with: lyceum run <quest>. Nothing that was recorded is lost."
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

  lyceum run examples/lab-number/quest.yaml   a lab of three, offline, in sandboxes; no key needed
  lyceum show lab-number                      the answer, and what it took
  lyceum trace lab-number                     every event
  lyceum replay lab-number                    derive the whole run again and compare
  lyceum export lab-number number.zip         take it with you
  lyceum init                                  a quest.yaml of your own, to begin with`,
		Version:       thisBuild().String(),
		SilenceErrors: true, SilenceUsage: true,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&a.homeFlag, "home", "", "where quests are kept (default $LYCEUM_HOME or ~/.lyceum)")
	root.PersistentFlags().StringVar(&a.ledgerFlag, "ledger", "", "the `ADDRESS` of a PostgreSQL ledger without its password, or home (default $LYCEUM_LEDGER, or ledger in config.yaml)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w\nSee: %s --help", flagFault(err), cmd.CommandPath())
	})
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
		}
		root.AddCommand(commands...)
	}
	group("ask", "Ask:", a.askCommand(), a.initCommand(), a.createCommand(), a.runCommand(), a.chatCommand(), a.forkCommand(), a.studyCommand())
	look := []*cobra.Command{a.listCommand(), a.showCommand(), a.watchCommand(), a.topCommand(), a.traceCommand(), a.costCommand(), a.relationsCommand(), a.diffCommand()}
	for _, name := range societies().Names() {
		look = append(look, named(name).commands(a)...)
	}
	group("look", "Look:", look...)
	group("steer", "Steer:", a.messageCommand(), a.briefCommand(), a.taskCommand(), a.answerCommand(),
		a.controlCommand("pause", "Pause a quest: what is under way comes in, nothing new begins", func() event.Body { return &event.QuestPaused{Reason: "paused by a person"} }),
		a.resumeCommand(), a.limitCommand(), a.modeCommand(),
		a.controlCommand("stop", "Stop a quest; lyceum run goes on with it", func() event.Body { return &event.QuestStopped{Reason: "stopped by a person"} }),
		a.shellCommand())
	group("prove", "Prove and keep:", a.verifyCommand(), a.replayCommand(), a.exportCommand(), a.importCommand(), a.previewCommand(), a.deliverCommand(), a.backupCommand(), a.restoreCommand(), a.takeOverCommand(), a.moveCommand(), a.redactCommand(), a.cleanCommand(), a.checkpointsCommand(), a.keyCommand(), a.witnessCommand())
	group("set", "Set up:", a.serveCommand(), a.acpCommand(), a.mcpCommand(), a.tokenCommand(), a.connectorCommand(), a.modelsCommand(), a.executorsCommand(), a.configCommand(), a.profileCommand(), a.skillsCommand(), a.toolsCommand(), a.rulesCommand(), a.memoryCommand(), a.policyCommand(), a.schemaCommand(),
		a.doctorCommand(), a.docsCommand(), a.versionCommand(), a.licensesCommand())
	root.SetHelpCommandGroupID("set")
	root.SetCompletionCommandGroupID("set")
	return root
}

// configure finds the home, which need not be there, reads its configuration, and finds out where quests are kept.
func (a *app) configure() (err error) {
	if a.home, err = config.Home(a.homeFlag); err == nil {
		a.config, err = config.Load(a.home)
	}
	if err == nil {
		a.places, err = placesOf(a.ledgerFlag, a.config)
	}
	return err
}

// open makes the runtime ready. Commands that only read do not make a home.
func (a *app) open(mayCreate bool) error {
	if err := a.configure(); err != nil {
		return err
	}
	if !mayCreate && a.places.ledger == "" && !hasDatabase(a.home) {
		return nothingYet(a.home)
	}
	rt, closeAll, err := openRuntime(a.ctx, a.home, a.weakly(a.config), a.places, mayCreate, a.saying())
	if err != nil {
		return err
	}
	a.rt = rt
	a.closes = append(a.closes, closeAll)
	return nil
}

// weakLimits adds the flag for commands that start computers in this process.
func (a *app) weakLimits(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.weak, "weak-limits", false, "start computers also where this kernel does not show all the memory that they hold, as weak_limits in config.yaml does")
	return cmd
}

// weakly is a configuration, which there need not be, as the flag has it.
func (a *app) weakly(conf *config.Config) *config.Config {
	if !a.weak {
		return conf
	}
	var c config.Config
	if conf != nil {
		c = *conf
	}
	c.WeakLimits = true
	return &c
}

// saying prints a line that is for people.
func (a *app) saying() func(line string) {
	return func(line string) { fmt.Fprintln(a.err, printable(line)) }
}

// look is open for commands that only show what is there: a mistake in config.yaml is told
// and does not stop them. Whatever writes a word of a person's must not use it: the keys
// that are taken out of it are named in that file.
func (a *app) look() error {
	err := a.read()
	mistake, isMistake := errors.AsType[*strictyaml.Error](err)
	usage, isUsage := errors.AsType[usageError](err)
	switch {
	case isMistake:
		err = mistake
	case isUsage:
		err = usage
	default:
		return err
	}
	// Where the file would say that quests are elsewhere, nobody knows.
	p, again := placesOf(a.ledgerFlag, nil)
	if again != nil || p.ledger == "" && !hasDatabase(a.home) {
		return err
	}
	a.places = p
	rt, closeAll, again := openRuntime(a.ctx, a.home, new(config.Config), p, false, a.saying())
	if unwritable(again) && p == (places{}) {
		rt, closeAll, again = openReadOnly(a.home, new(config.Config))
	}
	if again != nil {
		return err
	}
	fmt.Fprintf(a.err, "lyceum: %s\nThis command goes on without config.yaml.\n", printable(err.Error()))
	a.rt, a.closes = rt, append(a.closes, closeAll)
	return nil
}

// defaultReserve is how many bytes of the disk of a home stay free.
const defaultReserve = 1 << 30

func reserve(conf *config.Config) int64 {
	if conf == nil || conf.Reserve == nil {
		return defaultReserve
	}
	return *conf.Reserve
}

// opened is the ledger of a home as quests see it. A test has its process die there.
var opened = func(s ledger.Store) ledger.Store { return s }

// openRuntime opens the parts that quests in a home run on. say is told when a home of
// an older format is brought up to date.
func openRuntime(ctx context.Context, home string, conf *config.Config, p places, mayCreate bool, say func(line string)) (*runtime.Runtime, func() error, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the home %s: %w", home, err)
	}
	s, err := openStores(ctx, home, conf, p, mayCreate, say)
	if err != nil {
		return nil, nil, err
	}
	rt, closeAll, err := assemble(home, conf, say, opened(s.ledger), s.blobs)
	if err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	rt.Room = s.room
	if shared, ok := s.ledger.(interface{ Now() event.Time }); ok {
		rt.Clock = shared.Now // one clock for all machines that have the ledger
	}
	return rt, func() error { return errors.Join(closeAll(), s.close()) }, nil
}

// assemble makes a runtime of its stores, which stay the caller's to close, after the rest.
func assemble(home string, conf *config.Config, say func(line string), store ledger.Store, blobs blob.Store) (*runtime.Runtime, func() error, error) {
	lines, _ := store.(ledger.Lines) // only one that nodes share has them
	found, err := provider.New(&provider.Options{Config: conf, File: config.File(home), Lines: lines})
	if err != nil {
		return nil, nil, usageError{err}
	}
	rt := bareRuntime(home, conf, found)
	rt.Ledger, rt.Blobs = store, blobs
	rt.Glancers = []runtime.Glancer{glancer, api.Glancer}
	if conf != nil {
		rt.Patience = conf.Patience
	}
	if rt.Embedder, err = embedder(conf); err != nil {
		return nil, nil, usageError{err}
	}
	told := func() error { return nil }
	if conf != nil && conf.Notify != "" {
		n := &notify.Notifier{Command: conf.Notify, Environ: notify.Environ(rt.Secrets()), Trouble: say}
		rt.Notice, told = n.Event, n.Close
	}
	v := newVouching(home, conf, store, say)
	rt.Vouch = v
	return rt, func() error {
		found.Close()
		return errors.Join(v.close(), told(), closeDrivers(rt.Computers))
	}, nil
}

// bareRuntime is what quests in a home run on, without what is stored there.
func bareRuntime(home string, conf *config.Config, found *provider.Registry) *runtime.Runtime {
	hidden := secrets(home, conf, found)
	var computers config.Computer
	if conf != nil { // an exported file has none
		computers = conf.Computer
	}
	return &runtime.Runtime{
		Models: finder(found), Forward: forwarder(found), Known: known(found), Measure: measure(found), Secrets: hidden, Servers: servers(conf, hidden), AllowWrite: computers.AllowWrite, DenyRead: computers.DenyRead, Registries: registries(conf), Executors: executors(conf), Tools: tool.Builtin(),
		Societies: societies(), Workshops: service.Workshops(os.Getenv(browserVariable)), Computers: drivers(conf), Clock: runtime.SystemClock, Home: home, Version: thisBuild().recorded(),
	}
}

// secrets are the keys of providers, the embedder and connectors, the credentials of registries, what opens
// the ledger and the blobs, and what opens the server: none of them may get into a ledger, a blob, a prompt or a log.
func secrets(home string, conf *config.Config, found *provider.Registry) func() []string {
	var own api.TokenReader
	return func() []string {
		all := append(found.Secrets(), own.Read(home), os.Getenv(tokenVariable), os.Getenv(identity.SecretVariable), os.Getenv(identity.PassphraseVariable))
		if conf != nil && conf.Embeddings != nil && conf.Embeddings.KeyVariable != "" {
			all = append(all, os.Getenv(conf.Embeddings.KeyVariable))
		}
		for _, r := range registries(conf) {
			all = append(all, r.Secrets()...)
		}
		all = append(all, connectorSecrets(conf)...)
		all = append(all, storeSecrets(conf)...)
		return slices.DeleteFunc(all, func(s string) bool { return s == "" })
	}
}

// registries are those of the configuration, with what their variables hold.
func registries(conf *config.Config) (out []runtime.Registry) {
	if conf == nil {
		return nil
	}
	for _, c := range conf.Registries {
		r := runtime.Registry{Variable: c.Variable, Variables: c.Variables}
		r.Host, r.Port, r.Header, r.Value = c.Host, c.Port, c.Header, strings.TrimSpace(os.Getenv(c.Variable))
		if r.Header == "Authorization" && r.Value != "" && !strings.Contains(r.Value, " ") {
			r.Value = "Bearer " + r.Value
		}
		out = append(out, r)
	}
	return out
}

// servers is what the configuration says of MCP servers. A header is never made of a key of a
// provider or of what opens the server: whoever wrote a quest.yaml chose where it is sent.
func servers(conf *config.Config, hidden func() []string) runtime.Servers {
	s := runtime.Servers{Logins: new(login.Store), Variable: func(name string) string {
		value := os.Getenv(name)
		if slices.Contains(hidden(), strings.TrimSpace(value)) {
			return ""
		}
		return value
	}}
	if conf != nil {
		s.Known, s.Private = conf.MCP, conf.Private
	}
	return s
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
	return remote.New(config.Complete(e.URL, "/v1", "/embeddings"), e.Model, os.Getenv(e.KeyVariable), nil)
}

// drivers are the kinds of sandbox this binary knows, in the order in which auto
// tries them. There may be no configuration.
func drivers(conf *config.Config) []computer.Driver {
	weak := conf != nil && conf.WeakLimits
	return []computer.Driver{
		namespaces.New(namespaces.Options{WeakLimits: weak}), bubblewrap.New(bubblewrap.Options{WeakLimits: weak}), docker.New(docker.Options{WeakLimits: weak}),
	}
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
