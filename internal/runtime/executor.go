package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// An agent of a quest may be an executor: a program of somebody else's that runs in the
// agent's computer and is spoken to over the Agent Client Protocol. Of the world it reaches
// two ports of that computer: the gateway, where models are, and the tools of the agent.

// The ports of an executor's computer.
const (
	gatewayPort = "gateway"
	toolsPort   = "tools"
)

// ExecutorPrefix is what the ids of an executor's commands begin with, its own process and
// those of its terminals.
const ExecutorPrefix = executorID + "-"

const (
	executorID  = "executor"
	journalFile = "executor.journal"
)

// executors are those of one run, by agent. The map does not change while the run lasts.
type executors struct{ all map[string]*outsider }

// outsider is an executor at the desk of the agent that it is.
type outsider struct {
	l    *live
	name string // the agent's
	desk *desk  // nil until there are homes
	set  executor.Settings
	pin  string // the executor's name
	// folder of the host that has its programs, empty if none has.
	folder string
	model  string
	// gone says that it may reach nothing any more: the quest is over.
	gone atomic.Bool
	// turn is held by whoever starts it or speaks with it; session and process are the last ones
	// that the ledger knows, and guarded by it.
	turn    chan struct{}
	session string
	process string
	exec    executor.Executor

	// silence is how long it may be silent in a prompt, zero for as long as any; serves are the
	// servers of its agent's tools, an empty name for the only one.
	silence time.Duration
	serves  []string
	// endpoints are where it finds the tools of its agent, by their paths.
	endpoints map[string]*scoped.Handler

	permits permits
	waits   atomic.Int64 // requests that it has not been answered

	mu sync.Mutex
	// prompting is the prompt under way, nil for none; cancel has it end.
	prompting *prompting
	cancel    context.CancelFunc
	halted    bool           // the rules have stopped the prompt
	told      string         // the process that the ledger says was told the prompt
	ran       string         // the last command that the ledger says has begun
	unfit     error          // why the last one could not
	recorded  []string       // commands that the ledger says have begun, and that have not
	tools     []offered      // those of its agent
	asks      *quest.OwnTool // the one of them that takes questions, nil if none does
}

// of is the executor that an agent is, nil if it is none.
func (x *executors) of(agent string) *outsider {
	if x == nil {
		return nil
	}
	return x.all[agent]
}

// openExecutors finds what the quest's executors are made of, so that a folder that is not
// there is told before anything is recorded.
func (l *live) openExecutors(ctx context.Context) error {
	l.executors = &executors{all: map[string]*outsider{}}
	for _, a := range l.state.Agents {
		set, err := l.rt.settingsOf(ctx, l.state, a)
		if err != nil {
			return err
		}
		if set == nil {
			continue
		}
		o := &outsider{l: l, name: a.Name, pin: a.Executor, set: *set, model: a.Model, session: a.Session.ID, process: a.Session.Process, turn: make(chan struct{}, 1)}
		if l.state.Computer == nil {
			return BadPlan("the executor %s needs a computer to run in: say computer: auto in quest.yaml", a.Executor)
		}
		// A quest that has ended may be taken up again; if it is not, nobody needs the folder.
		if o.folder, err = l.rt.executorFolder(o.set, a.Executor); err != nil && !ended(l.state) {
			return err
		}
		if way, err := l.way(ctx, a.Model); err == nil && way.Upstream != nil && o.set.Wire != "" && !way.Upstream.Speaks(o.set.Wire) && !ended(l.state) {
			return BadPlan("the executor %s asks models in the format %s, and %s is asked in the format %s: choose a model of a provider that speaks %[2]s", a.Executor, o.set.Wire, a.Model, way.Upstream.Format())
		}
		o.silence = time.Duration(l.state.Silence()) * time.Microsecond
		o.openEndpoints()
		l.executors.all[a.Name] = o
		if err := o.shown(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settingsOf is what the quest says of the executor that an agent is: nil for one that is none,
// or that somebody else speaks with.
func (r *Runtime) settingsOf(ctx context.Context, s *quest.State, a *agent.Agent) (*executor.Settings, error) {
	i := slices.IndexFunc(s.Executors, func(p event.ExecutorPin) bool { return p.Name == a.Executor })
	if a.Session == nil || i < 0 {
		return nil, nil
	}
	set := new(executor.Settings)
	data, err := r.Blob(ctx, s.Executors[i].Settings)
	if err == nil {
		err = json.Unmarshal(data, set)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is said of the executor %s: %w", a.Executor, err)
	}
	return set, nil
}

// executorFolder finds the folder with an executor's programs.
func (r *Runtime) executorFolder(set executor.Settings, name string) (string, error) {
	if set.Folder == "" {
		return "", nil
	}
	if r.Executors == nil {
		return "", BadPlan("no executors are known here, and the quest has %s", name)
	}
	_, folder, err := r.Executors(name)
	if err == nil && folder == "" {
		err = fmt.Errorf("config.yaml does not say in which folder its programs are: add executors: {%s: {folder: /where/they/are}}", name)
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(folder); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is no folder", folder)
		}
	}
	if err != nil {
		return "", BadPlan("executor %s: %w; see what is there with: lyceum executors", name, err)
	}
	return folder, nil
}

// sit gives the machine of a desk what the executor reaches outside.
func (o *outsider) sit(d *desk) error {
	o.desk = d
	d.private = append(d.private, executor.SettingsDir) // sessions and caches, and no work of its agent
	models, err := o.l.gateway(o.name)
	if err != nil {
		return err
	}
	admit := func(who string) bool { return who == o.name && !o.gone.Load() }
	d.ports = equip(&d.spec, o.set, o.folder, map[string]computer.Port{
		gatewayPort: {Handler: o.waited(models), Admit: admit},
		toolsPort:   {Handler: o.waited(http.HandlerFunc(o.serveTools)), Admit: admit},
	})
	return nil
}

// waited counts the requests of the executor that we have not answered: while it waits for a
// model or a tool it is not silent. A stream that tells of news is no such request.
func (o *outsider) waited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			o.waits.Add(1)
			defer o.waits.Add(-1)
		}
		h.ServeHTTP(w, r)
	})
}

// equip has a computer be one that an executor can run in, with those ports.
func equip(spec *computer.Spec, set executor.Settings, folder string, ports map[string]computer.Port) map[string]computer.Port {
	spec.Ports = slices.Sorted(maps.Keys(ports))
	// Its own agent is this program, and so is the bridge to tools.
	spec.Program = slices.Contains(set.Command, "{program}") || slices.Contains(set.Command, computer.Program) || set.MCP == executor.MCPStdio
	if folder != "" {
		spec.Folders = []computer.Folder{{Name: set.Folder, Path: folder}}
	}
	return ports
}

// wordsFor are what settings are filled in with, for a computer that is up. The token is what
// an agent takes for its key there.
func wordsFor(c *computer.Computer, set executor.Settings, agent, model string) (words *strings.Replacer, token string, err error) {
	if token, err = c.Token(gatewayPort, agent); err != nil {
		return nil, "", err
	}
	folder := ""
	if set.Folder != "" {
		folder = computer.Folder{Name: set.Folder}.Inside()
	}
	return strings.NewReplacer(
		"{gateway}", "http://"+c.Address(gatewayPort), "{token}", token, "{model}", shortModel(model), "{home}", computer.HomeDir,
		"{settings}", path.Join(computer.HomeDir, executor.SettingsDir), "{folder}", folder, "{program}", computer.Program,
	), token, nil
}

// shortModel is what an executor calls its model: whatever name it asks for, it gets that one,
// and some take a name for more than a name.
func shortModel(name string) string {
	name = name[strings.LastIndexAny(name, ":/")+1:]
	name = strings.TrimSuffix(name, ".yaml") // a script's
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

// filled are settings with such words filled in.
func filled(set executor.Settings, words *strings.Replacer) executor.Settings {
	args := slices.Clone(set.Command)
	for i := range args {
		args[i] = words.Replace(args[i])
	}
	set.Command = args
	set.Variables, set.Files = replaced(set.Variables, words), replaced(set.Files, words)
	return set
}

func replaced(in map[string]string, words *strings.Replacer) map[string]string {
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[k] = words.Replace(v)
	}
	return out
}

// hold waits for the turn to speak with the executor.
func (o *outsider) hold(ctx context.Context) error {
	select {
	case o.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *outsider) release() { <-o.turn }

// start has the executor run, and its session open. Whoever calls it has the turn.
func (o *outsider) start(ctx context.Context) (info executor.Info, s executor.Session, err error) {
	if o.exec == nil {
		if err := o.place(ctx); err != nil {
			return info, s, err
		}
	}
	if info, err = o.exec.Ready(ctx); err != nil {
		return info, s, err
	}
	if s, err = o.exec.Open(ctx, o.session); err != nil {
		return info, s, err
	}
	if s.How == "" && s.Process != o.process {
		// The last owner was gone before it could record the session.
		s.How = event.SessionNew
		if o.session != "" {
			s.How = event.SessionResumed
		}
	}
	if s.How != "" {
		b := &event.SessionOpened{How: s.How, ID: AtMost(o.l.rt.Redact(s.ID), maxSession), Process: s.Process}
		if err := o.l.mail.record(o.l.work, o.desk.draft(0, b)); err != nil {
			return info, s, err
		}
	}
	o.session, o.process = s.ID, s.Process
	info, err = o.exec.Ready(ctx) // by now it has its mode
	return info, s, err
}

// maxSession is how long the name of a session may be.
const maxSession = 200

// place opens the computer, and puts into it what the executor needs to run.
func (o *outsider) place(ctx context.Context) error {
	d := o.desk
	if d == nil {
		return errors.New("its agent has no home")
	}
	c, started, err := d.computer(ctx, false)
	if err != nil {
		return err
	}
	if started != nil {
		o.l.mail.put(d.draft(0, started))
	}
	if err := d.lookFirst(ctx); err != nil {
		return err
	}
	words, token, err := wordsFor(c, o.set, o.name, o.model)
	if err != nil {
		return err
	}
	o.l.rt.headers.add(token) // it opens nothing elsewhere, and still is nobody's to read
	servers, err := o.servers(c)
	if err != nil {
		return err
	}
	o.mu.Lock()
	asks := o.asks != nil
	o.mu.Unlock()
	// When the run is over the executor is let go of, and the next one finds it.
	o.exec, err = executor.New(o.l.work, executor.Agent{
		Computer: c, ID: executorID, Settings: filled(o.set, words), Journal: filepath.Join(d.place.Dir, journalFile),
		Servers: servers, Host: host{o}, Asks: asks, Times: executor.Times{Silence: o.silence}, Version: o.l.rt.Version, Busy: func() bool { return o.waits.Load() > 0 },
	})
	return err
}

// rest has prompts under way end: the quest has come to rest.
func (x *executors) rest() {
	if x == nil {
		return
	}
	for _, o := range x.all {
		o.interrupt()
	}
}

// interrupt has the prompt under way end, if there is one.
func (o *outsider) interrupt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cancel != nil {
		o.cancel()
	}
}

// leave has executors reach nothing any more: the quest is over.
func (x *executors) leave() {
	if x == nil {
		return
	}
	for _, o := range x.all {
		o.gone.Store(true)
	}
}

// close ends what waits at their ports: the run is over.
func (x *executors) close() {
	if x == nil {
		return
	}
	for _, o := range x.all {
		for _, e := range o.endpoints {
			e.Close()
		}
	}
}

// executorService starts executors. It may be asked again: a process that runs is found.
type executorService struct{}

func (executorService) start(ctx context.Context, l *live, e event.Event) error {
	o := l.executors.of(e.Actor)
	if o == nil {
		return fmt.Errorf("quest %s has no executor for %s", l.key, e.Actor)
	}
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		if err := o.hold(ctx); err != nil {
			return nil, err
		}
		defer o.release()
		b, err := o.ready(ctx)
		if err != nil {
			return nil, fmt.Errorf("executor.call %d: %w", e.Seq, err)
		}
		b.Call = e.Seq
		return []event.Draft{o.desk.draft(e.Seq, b)}, nil
	})
	return nil
}

// ready is what the ledger hears of an executor. What goes wrong with it is the answer, unless
// it is this process that lacks something.
func (o *outsider) ready(ctx context.Context) (*event.ExecutorReady, error) {
	info, _, err := o.start(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && (Passing(err) || o.desk == nil):
		return nil, err
	}
	if _, missing := lack(err); missing {
		return nil, err
	}
	clean := func(s string) string { return AtMost(o.l.rt.Redact(s), maxSession) }
	b := &event.ExecutorReady{
		Fingerprint: o.desk.fingerprint(), Mode: clean(info.Mode), Name: clean(info.Name), Protocol: count(info.Protocol),
		Reported: info.Reported, Version: clean(info.Version),
	}
	for _, c := range info.Capabilities[:min(len(info.Capabilities), maxCapabilities)] {
		b.Capabilities = append(b.Capabilities, clean(c))
	}
	if err != nil {
		b.Error.Text = AtMost(o.l.rt.Redact(err.Error()), 2000)
	}
	return b, nil
}

// maxCapabilities is how many of them an event names.
const maxCapabilities = 64

var _ careful = promptService{}

// lostPrompt is what is known of a prompt that nobody can go on with.
func lostPrompt(seq uint64, c quest.Call, why string) event.Draft {
	return event.Draft{Parent: seq, Actor: c.Agent, Body: &event.PromptResult{Call: seq, Error: event.Text{Text: why}}}
}
