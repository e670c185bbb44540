package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/skill"

	"github.com/go-json-experiment/json"
)

// ErrExists says that there is a quest of that name.
var ErrExists = errors.New("there is a quest of that name")

// PlanError is a fault in what a quest was to be made of: a person's to mend.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return e.Err.Error() }
func (e *PlanError) Unwrap() error { return e.Err }

// BadPlan is a PlanError in words.
func BadPlan(format string, args ...any) error { return &PlanError{fmt.Errorf(format, args...)} }

// BadKey is a PlanError about what stands under a key, which quest.FieldOf knows.
func BadKey(key, format string, args ...any) error {
	return badWord(key, "", "%s: %s", key, fmt.Sprintf(format, args...))
}

// badWord is a PlanError about one word of what stands under a key.
func badWord(key, word, format string, args ...any) error {
	return &PlanError{quest.FaultIn(key, word, format, args...)}
}

// maxProblem, maxScript and maxPolicies bound the files a spec names.
const (
	maxPolicies = 1 << 20
	maxProblem  = 1 << 20
	maxPrompt   = 64 << 10
	maxScript   = 8 << 20
)

// Create makes a quest of a plan. It exists, whole, once its first event is
// durable; before that, nothing of it does.
func (r *Runtime) Create(ctx context.Context, p Plan) (*quest.State, error) {
	if len(p.faults) > 0 {
		return nil, r.Faults(ctx, p)
	}
	name := p.Spec.Name
	release, err := r.newName(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("create quest %s: %w", name, err)
	}
	defer release()
	c := newCreation(r, p)
	body, err := c.created(ctx)
	if _, ok := errors.AsType[*PlanError](err); ok {
		return nil, err // each fault says what it is about
	}
	if err != nil {
		return nil, fmt.Errorf("create quest %s: %w", name, err)
	}
	draft := event.Draft{Time: r.Clock(), Actor: "person", Body: body, Blobs: c.texts.small}
	e, err := event.Seal(name, 1, event.Hash{}, draft)
	if err != nil {
		return nil, fmt.Errorf("create quest %s: %w", name, err)
	}
	if c.origin != nil {
		c.origin.First = e.Hash
		if err := r.keepOrigin(name, c.origin); err != nil {
			return nil, err
		}
	}
	s, err := quest.New(e, r.Societies)
	if err != nil {
		return nil, err
	}
	if err := r.Ledger.Append(ctx, ledger.Batch{Quest: name, Events: []event.Event{e}, Blobs: draft.Blobs}); err != nil {
		return nil, err
	}
	s.Apply(e)
	if p.Made != nil {
		p.Made(e)
	}
	r.glance(ctx, name, s)
	return s, r.prepare(ctx, name, s)
}

// newName claims a name for a quest that is about to be made. A quest that somebody runs is there: that it
// is claimed says nothing more.
func (r *Runtime) newName(ctx context.Context, name string) (release func(), err error) {
	claim, err := r.Ledger.Claim(ctx, name)
	if errors.Is(err, ledger.ErrClaimed) {
		if _, there := r.Ledger.Head(ctx, name); there == nil {
			return nil, ErrExists
		}
	}
	if err != nil {
		return nil, err
	}
	switch _, err := r.Ledger.Head(ctx, name); {
	case err == nil:
		claim.Release()
		return nil, ErrExists
	case !errors.Is(err, ledger.ErrNoQuest):
		claim.Release()
		return nil, err
	}
	if _, err := os.Lstat(r.QuestDir(name)); !errors.Is(err, os.ErrNotExist) {
		claim.Release()
		return nil, fmt.Errorf("the folder %s is in the way, though the ledger knows no such quest: move it away", r.QuestDir(name))
	}
	return claim.Release, nil
}

type creation struct {
	rt    *Runtime
	plan  Plan
	texts texts
	// said are the texts that agents are told, the author's own among them.
	said []event.NamedText
	// question is the problem as agents are told it.
	question string
	// machine is the agents' computer in the end.
	machine quest.Computer
	// spoken is that without what the owner's config.yaml adds; profiled is the profile that it is of,
	// if it is one's.
	spoken   quest.Computer
	profiled string
	profiles map[string]*profile.Profile
	// filled are the keys of the society that come from the profile.
	filled   map[string]string
	measured map[string]Measured
	pinned   map[event.Ref]bool
	// faults are what is wrong with the plan, lost the models that cannot be had.
	faults []error
	lost   map[string]bool
	// known is what agents that find their tools can find besides, with the text that their
	// prompts end with; cards are its skills. It is nil for nothing.
	known *event.Knowledge
	rules string
	cards []skill.Card
	// left is where what was there and is not pinned is noted, of skills and rules; it belongs to
	// known, or to the skills that a society has agents look up.
	left *[]event.LeftOut
	// origin is where the quest's repository is, nil if it has none that is on this machine.
	origin *Origin
}

func newCreation(r *Runtime, p Plan) *creation {
	return &creation{rt: r, plan: p, texts: texts{rt: r}, faults: slices.Clone(p.faults), lost: map[string]bool{}}
}

// Faults finds all that is wrong with a plan, without making anything: what its draft was
// refused for, and what it names that is not there. It is nil if nothing is.
func (r *Runtime) Faults(ctx context.Context, p Plan) error {
	_, err := r.Rehearse(ctx, p)
	return err
}

// Rehearse is what a quest would be made of, without making it; the error is that of Faults.
func (r *Runtime) Rehearse(ctx context.Context, p Plan) (*event.QuestCreated, error) {
	p.Say = nil
	c := newCreation(r, p)
	c.texts.dry = true
	return c.created(ctx)
}

// note keeps what is wrong with the plan: a person wants to know all of it at once. Any
// other error ends the making.
func (c *creation) note(err error) error {
	plan, ok := errors.AsType[*PlanError](err)
	if !ok {
		return err
	}
	c.faults = append(c.faults, quest.FaultsOf(plan.Err)...)
	return nil
}

// found is what is wrong with the plan, in the order of the file, nil if nothing is. What a
// flag or a member of a request says has no line.
func (c *creation) found() error {
	if len(c.faults) == 0 {
		return nil
	}
	changed := maps.Clone(c.plan.changed)
	if changed == nil {
		changed = map[string]bool{}
	}
	limitKeys(changed, c.plan.Run)
	out := slices.Clone(c.faults)
	for i, err := range out {
		key := quest.FieldOf(err)
		top, _, _ := strings.Cut(key, ".")
		if c.plan.file != "" && key != "" && !changed[key] && !changed[top] {
			out[i] = quest.Placed(c.plan.file, c.plan.Source, err)
		}
	}
	return &PlanError{quest.InOrder(out)}
}

// created gathers what a quest is made of.
func (c *creation) created(ctx context.Context) (*event.QuestCreated, error) {
	if err := c.note(c.takeProfile()); err != nil {
		return nil, err
	}
	spec := c.plan.Spec
	// A ledger is for ever: a plan that was changed since its draft is refused here.
	if len(c.faults) == 0 {
		c.faults = quest.FaultsOf(c.rt.Societies.Check(spec))
	}
	soc := c.rt.Societies.Named(spec.Society)
	if soc == nil {
		return nil, c.found()
	}
	root, err := os.OpenRoot(c.plan.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b := &event.QuestCreated{
		Name: spec.Name, Rules: soc.Rules(), Seed: spec.Seed, Limits: spec.Limits.Limits(), Thinking: spec.Thinking != quest.NoThinking,
	}
	if spec.Context == event.ContextCompact {
		b.Context = spec.Context
	}
	b.Cache, b.Discover = spec.Cache, spec.Discover
	for _, step := range []func(context.Context, *os.Root, quest.Society, *event.QuestCreated) error{
		c.tellTexts, c.takePolicies, c.takeModels, c.takeProblem, c.takeData, c.takeRepo, c.takeComputer, c.settle, c.takeServers, c.takeExecutors, c.takeSkills, c.takeKnowledge, c.takeShop, c.takeAgents,
	} {
		if err := c.note(step(ctx, root, soc, b)); err != nil {
			return nil, err
		}
	}
	if err := c.found(); err != nil {
		return nil, err
	}
	if err := c.record(ctx, b); err != nil {
		return nil, err
	}
	return b, c.fit(ctx, b)
}

func (c *creation) tellTexts(ctx context.Context, root *os.Root, soc quest.Society, b *event.QuestCreated) (err error) {
	c.said, err = c.prompts(root, c.textsOf(soc, b.Context))
	for _, t := range c.said {
		if !quest.IsPrompt(t.Name) {
			b.Texts = append(b.Texts, t)
		}
	}
	if err := c.note(err); err != nil {
		return err
	}
	b.Spec, err = c.texts.put(ctx, []byte(c.rt.Redact(string(c.plan.Source))))
	return err
}

func (c *creation) takePolicies(_ context.Context, root *os.Root, _ quest.Society, b *event.QuestCreated) (err error) {
	b.Policies, err = Policies(root, c.plan.Spec.Policies)
	for i := range b.Policies {
		b.Policies[i].Settings = c.rt.Redact(b.Policies[i].Settings)
	}
	return err
}

func (c *creation) takeModels(ctx context.Context, root *os.Root, _ quest.Society, b *event.QuestCreated) (err error) {
	b.Pins, err = c.models(ctx, root)
	return err
}

func (c *creation) takeProblem(ctx context.Context, root *os.Root, _ quest.Society, b *event.QuestCreated) (err error) {
	b.Problem, err = c.problem(ctx, root)
	return err
}

func (c *creation) takeData(ctx context.Context, root *os.Root, _ quest.Society, b *event.QuestCreated) (err error) {
	if c.plan.Spec.Data != "" {
		b.Data, err = c.data(ctx, root)
	}
	return err
}

func (c *creation) takeComputer(ctx context.Context, root *os.Root, soc quest.Society, b *event.QuestCreated) (err error) {
	b.Computer, err = c.computer(ctx, root, soc)
	if b.Prepare = c.rt.Redact(c.plan.Spec.Prepare); err == nil && b.Prepare != "" && b.Computer == nil {
		err = BadKey("prepare", "it runs in a computer, and the agents of this quest have none: give computer: auto, or leave prepare out")
	}
	return err
}

// settle records how the society works. It knows the computer by then: its limits may depend
// on what the society says.
func (c *creation) settle(_ context.Context, _ *os.Root, _ quest.Society, b *event.QuestCreated) error {
	err := c.rt.Societies.Settle(c.plan.Spec, b)
	b.Settings = c.rt.Redact(b.Settings)
	return err
}

// takeServers pins what is said of MCP servers: in the quest.yaml, and in config.yaml of those
// that it does not name itself.
func (c *creation) takeServers(ctx context.Context, _ *os.Root, _ quest.Society, b *event.QuestCreated) error {
	own := c.plan.Spec.MCP
	all := c.servers()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		if _, asked := own[name]; s.Kind() == setting.Stdio && b.Computer == nil {
			if asked {
				return BadKey("mcp", "the server %s runs inside the agents' computers, and there are none: say computer: auto", name)
			}
			continue // a quest without computers does without it
		}
		data, err := json.Marshal(s, json.Deterministic(true))
		if err != nil {
			return err
		}
		ref, err := c.pin(ctx, []byte(c.rt.Redact(string(data))))
		if err != nil {
			return err
		}
		b.Servers = append(b.Servers, event.ServerPin{Kind: s.Kind(), Name: name, Sampling: s.Sampling, Settings: ref})
	}
	if len(b.Servers) > setting.MaxServers {
		return BadKey("mcp", "the quest has %d servers, those of config.yaml included: want at most %d", len(b.Servers), setting.MaxServers)
	}
	return nil
}

func (c *creation) takeShop(ctx context.Context, root *os.Root, _ quest.Society, b *event.QuestCreated) error {
	shop, ok := c.rt.Workshop(b.Rules).(Maker)
	if !ok {
		return nil
	}
	return shop.Make(ctx, &Creation{c, root}, b)
}

// takeAgents says who the agents are and what they have. Whoever has a model that is not
// there, or tools that are none, is not looked at further.
func (c *creation) takeAgents(ctx context.Context, _ *os.Root, soc quest.Society, b *event.QuestCreated) (err error) {
	if b.Agents, err = c.agents(ctx, soc, b.Computer != nil); err != nil || len(b.Agents) == 0 {
		return err
	}
	var have []string
	for _, a := range b.Agents {
		have = append(have, a.ToolNames...)
		if c.lost[a.Model] {
			continue
		}
		if err := c.note(c.checkLimits(a, b.Limits)); err != nil {
			return err
		}
	}
	have = slices.Compact(slices.Sorted(slices.Values(have)))
	for _, name := range have {
		if t, ok := c.rt.Tools.Lookup(name); ok {
			b.Tools = append(b.Tools, event.ToolTraits{Name: name, Parallel: t.Parallel, Paths: t.Paths, Reads: t.Reads})
		}
	}
	return CheckTools(b.Policies, have, slices.ContainsFunc(b.Agents, func(a event.AgentSpec) bool { return a.Executor != "" }))
}

// checkLimits refuses limits that cannot be kept with an agent's model: those of the quest,
// and those that it will be run with.
func (c *creation) checkLimits(spec event.AgentSpec, own event.Limits) error {
	run := c.plan.Run
	run.Strict = own.Strict
	for _, l := range []event.Limits{own, run} {
		if err := c.rt.CheckCost(spec.Model, l); err != nil {
			return err
		}
		if err := quest.CheckReserve(agent.New(spec, false), l); err != nil {
			return &PlanError{err}
		}
	}
	return nil
}

// fit sees to it that the quest's first event holds all of it.
func (c *creation) fit(ctx context.Context, b *event.QuestCreated) error {
	if _, err := event.EncodeBody(b); err == nil || b.Problem.Ref != nil {
		return tooMuch(err)
	}
	ref, err := c.pin(ctx, []byte(b.Problem.Text))
	if err != nil {
		return err
	}
	b.Problem = event.Text{Ref: &ref}
	_, err = event.EncodeBody(b)
	return tooMuch(err)
}

func tooMuch(err error) error {
	if err == nil {
		return nil
	}
	return BadPlan("what the quest is made of does not fit its first event (%w): have fewer groups of agents, policies or allowed hosts", err)
}

// models reads the files that the agents' models refer to.
func (c *creation) models(ctx context.Context, root *os.Root) (pins []event.Pin, err error) {
	if c.rt.Societies.ByRules(c.plan.Spec) {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, g := range c.rt.Societies.Groups(c.plan.Spec) {
		if seen[g.Model] {
			continue
		}
		seen[g.Model] = true
		more, err := c.pins(ctx, root, g.Model)
		c.lost[g.Model] = err != nil
		if err := c.note(err); err != nil {
			return nil, err
		}
		pins = append(pins, more...)
	}
	return pins, nil
}

// pins reads the files that a model's name refers to, and tries the model, so
// that a typing error shows before any work is done.
func (c *creation) pins(ctx context.Context, root *os.Root, modelName string) ([]event.Pin, error) {
	if modelName == "" && len(c.plan.faults) > 0 {
		return nil, nil // its key may be among those that could not be read
	}
	if modelName == "" {
		return nil, badWord("model", "", NoModel)
	}
	key := "model"
	if s := c.plan.Spec; s != nil && s.Model != modelName { // a fork has no spec
		key = "agents" // of a group of its own
	}
	var pins []event.Pin
	data := map[string][]byte{}
	if file, ok := strings.CutPrefix(modelName, "script:"); ok {
		script, err := readFile(root, file, maxScript)
		if err != nil {
			return nil, badWord(key, modelName, "model %s: %v", modelName, err)
		}
		script = []byte(c.rt.Redact(string(script)))
		ref, err := c.texts.put(ctx, script)
		if err != nil {
			return nil, err
		}
		pins = append(pins, event.Pin{Name: modelName, Ref: ref})
		data[modelName] = script
	}
	_, err := c.rt.Models(modelName, func(name string) ([]byte, error) {
		if d, ok := data[name]; ok {
			return d, nil
		}
		return nil, fmt.Errorf("the quest has no file %q", name)
	})
	if err != nil {
		return nil, badWord(key, modelName, "model %s: %v", modelName, err)
	}
	return pins, nil
}

func (c *creation) problem(ctx context.Context, root *os.Root) (event.Text, error) {
	text, key := c.rt.Societies.Question(c.plan.Spec), "problem"
	if file := c.plan.Spec.ProblemFile; file != "" {
		data, err := readFile(root, file, maxProblem)
		if err != nil {
			return event.Text{}, BadKey("problem_file", "%v", err)
		}
		text, key = string(data), "problem_file"
	}
	if strings.TrimSpace(text) == "" && len(c.plan.faults) == 0 {
		return event.Text{}, badWord(key, "", "the question is empty")
	}
	c.question = Clean(c.rt.Redact(strings.TrimRight(text, "\n")))
	return c.texts.of(ctx, c.question, maxInline/2)
}

// prompts puts the author's own texts in the place of those that the files of the spec are
// for. The rules of a text hold for its replacement, too.
func (c *creation) prompts(root *os.Root, texts []event.NamedText) ([]event.NamedText, error) {
	var faults []error
	for i := range texts {
		t := &texts[i]
		file, ok := c.plan.Spec.Prompts[t.Name]
		if !ok {
			continue
		}
		data, err := readFile(root, file, maxPrompt)
		if err != nil {
			faults = append(faults, quest.FaultIn("prompts", file, "prompts: %s: %v", t.Name, err))
			continue
		}
		own := Clean(c.rt.Redact(strings.TrimRight(string(data), "\n")))
		if wrong := quest.CheckPrompt(*t, own); wrong != "" {
			faults = append(faults, quest.FaultIn("prompts", file, "prompts: %s: %s: %s", t.Name, file, wrong))
		}
		t.Text = own
	}
	if len(faults) > 0 {
		return texts, &PlanError{quest.InOrder(faults)}
	}
	return texts, nil
}

func (c *creation) data(ctx context.Context, root *os.Root) (*event.TreeRef, error) {
	name := c.plan.Spec.Data
	tree, skipped, err := c.folder(ctx, root, "data", name)
	if err == nil && len(skipped) > 0 {
		err = BadKey("data", "%s cannot be copied: %s", filepath.Join(name, skipped[0].Path), skipped[0].Reason)
	}
	return tree, err
}

// folder copies one that the spec names under a key.
func (c *creation) folder(ctx context.Context, root *os.Root, key, name string) (*event.TreeRef, []blob.Skipped, error) {
	dir, err := c.openFolder(root, key, name)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	if err := c.rt.noSecrets(dir); err != nil {
		return nil, nil, BadKey(key, "%v", err)
	}
	if c.texts.dry {
		return &event.TreeRef{}, nil, nil
	}
	tree, _, skipped, err := blob.Snapshot(ctx, c.rt.Blobs, dir, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", key, err)
	}
	return &tree, skipped, nil
}

// openFolder opens the folder that the spec names under a key, or the one elsewhere that the
// person who makes the quest named for it.
func (c *creation) openFolder(root *os.Root, key, name string) (*os.Root, error) {
	if elsewhere := c.plan.Folders[key]; elsewhere != "" {
		dir, err := os.OpenRoot(elsewhere)
		if err != nil {
			return nil, BadKey(key, "%v", err)
		}
		return dir, nil
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, BadKey(key, "%v", inFolder(root, name, err))
	}
	return dir, nil
}

// readFile reads a file of at most max bytes from a folder that it cannot leave.
func readFile(root *os.Root, name string, max int64) ([]byte, error) {
	// Not blocking, should it be a pipe.
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, inFolder(root, name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a file", name))
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		err = fmt.Errorf("%s is larger than %d bytes", name, max)
	}
	return data, err
}

// inFolder says in a person's words why a path of a spec cannot be opened.
func inFolder(root *os.Root, name string, err error) error {
	dir := root.Name()
	if dir == "." {
		dir = "this folder"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s in %s", name, dir)
	case strings.Contains(err.Error(), "path escapes"): // os has no error to compare with
		return fmt.Errorf("%s leads out of %s, the folder of the quest: copy it there", name, dir)
	case strings.Contains(err.Error(), "not a directory"):
		return fmt.Errorf("%s in %s is not a folder", name, dir)
	}
	return err
}
