package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/policy"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
)

// ErrExists says that there is a quest of that name.
var ErrExists = errors.New("there is a quest of that name")

// PlanError is a fault in what a quest was to be made of: a person's to mend.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return e.Err.Error() }
func (e *PlanError) Unwrap() error { return e.Err }

// BadPlan is a PlanError in words.
func BadPlan(format string, args ...any) error { return &PlanError{fmt.Errorf(format, args...)} }

// maxProblem, maxScript and maxPolicies bound the files a spec names.
const (
	maxPolicies = 1 << 20
	maxProblem  = 1 << 20
	maxScript   = 8 << 20
)

// Create makes a quest of a plan. It exists, whole, once its first event is
// durable; before that, nothing of it does.
func (r *Runtime) Create(ctx context.Context, p Plan) (*quest.State, error) {
	name := p.Spec.Name
	release, err := r.newName(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("create quest %s: %w", name, err)
	}
	defer release()
	c := &creation{rt: r, plan: p, texts: texts{rt: r}}
	body, err := c.created(ctx)
	if err != nil {
		return nil, fmt.Errorf("create quest %s: %w", name, err)
	}
	draft := event.Draft{Time: r.Clock(), Actor: "person", Body: body, Blobs: c.texts.small}
	e, err := event.Seal(name, 1, event.Hash{}, draft)
	if err != nil {
		return nil, fmt.Errorf("create quest %s: %w", name, err)
	}
	s, err := quest.New(e, r.Societies)
	if err != nil {
		return nil, err
	}
	if err := r.Ledger.Append(ctx, ledger.Batch{Quest: name, Events: []event.Event{e}, Blobs: draft.Blobs}); err != nil {
		return nil, err
	}
	s.Apply(e)
	return s, r.prepare(ctx, name, s)
}

// newName claims a name for a quest that is about to be made.
func (r *Runtime) newName(ctx context.Context, name string) (func(), error) {
	release, err := r.Ledger.Claim(name)
	if err != nil {
		return nil, err
	}
	switch _, err := r.Ledger.Head(ctx, name); {
	case err == nil:
		release()
		return nil, ErrExists
	case !errors.Is(err, ledger.ErrNoQuest):
		release()
		return nil, err
	}
	if _, err := os.Lstat(r.QuestDir(name)); !errors.Is(err, os.ErrNotExist) {
		release()
		return nil, fmt.Errorf("the folder %s is in the way, though the ledger knows no such quest: move it away", r.QuestDir(name))
	}
	return release, nil
}

type creation struct {
	rt    *Runtime
	plan  Plan
	texts texts
	// question is the problem as agents are told it.
	question string
	// machine is the agents' computer in the end.
	machine  quest.Computer
	profiles map[string]*profile.Profile
	pinned   map[event.Ref]bool
}

func (c *creation) created(ctx context.Context) (*event.QuestCreated, error) {
	spec := c.plan.Spec
	// A ledger is for ever: a plan that was changed since its draft is refused here.
	if err := spec.Check(); err != nil {
		return nil, &PlanError{err}
	}
	soc, err := c.rt.society(spec.Society)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.plan.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b := &event.QuestCreated{
		Name: spec.Name, Rules: soc.Rules(), Seed: spec.Seed, Lab: spec.Lab(), Contract: spec.Contract(), Limits: spec.Limits.Limits(), Thinking: spec.Thinking == nil || *spec.Thinking,
	}
	for _, t := range soc.Texts() {
		if !strings.HasPrefix(t.Name, "system") {
			b.Texts = append(b.Texts, t)
		}
	}
	if b.Spec, err = c.texts.put(ctx, []byte(c.rt.Redact(string(c.plan.Source)))); err != nil {
		return nil, err
	}
	if b.Policies, err = Policies(root, spec.Policies); err != nil {
		return nil, err
	}
	for i := range b.Policies {
		b.Policies[i].Settings = c.rt.Redact(b.Policies[i].Settings)
	}
	if b.Pins, err = c.models(ctx, root, soc); err != nil {
		return nil, err
	}
	if b.Problem, err = c.problem(ctx, root); err != nil {
		return nil, err
	}
	if spec.Data != "" {
		if b.Data, err = c.data(ctx, root); err != nil {
			return nil, err
		}
	}
	if b.Computer, err = c.computer(ctx, root, soc); err != nil {
		return nil, err
	}
	if shop, ok := c.rt.Workshop(b.Rules).(Maker); ok {
		if err := shop.Make(ctx, &Creation{c, root}, b); err != nil {
			return nil, err
		}
	}
	if b.Agents, err = c.agents(ctx, soc, b.Computer != nil); err != nil {
		return nil, err
	}
	var have []string
	for _, a := range b.Agents {
		have = append(have, a.ToolNames...)
		if err := c.rt.CheckCost(a.Model, b.Limits); err != nil {
			return nil, err
		}
	}
	if err := CheckTools(b.Policies, slices.Compact(slices.Sorted(slices.Values(have)))); err != nil {
		return nil, err
	}
	return b, c.fit(ctx, b)
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

// society finds the newest rules of a name. A quest that names none has the first.
func (r *Runtime) society(name string) (quest.Society, error) {
	var best quest.Society
	for _, s := range r.Societies {
		if name == "" {
			name, _, _ = strings.Cut(s.Rules(), "/")
		}
		if n, _, _ := strings.Cut(s.Rules(), "/"); n == name {
			best = s // the last registered version is the newest
		}
	}
	if best == nil {
		return nil, BadPlan("there is no society %q here", name)
	}
	return best, nil
}

// Policies are those of a spec, with what its files say in their place, and those
// that every quest has. root is the folder that the files are in.
func Policies(root *os.Root, list policy.List) ([]event.PolicySpec, error) {
	var chosen []event.PolicySpec
	for _, item := range list {
		if item.File == "" {
			chosen = append(chosen, item.Policy)
			continue
		}
		data, err := readFile(root, item.File, maxPolicies)
		if err != nil {
			return nil, BadPlan("policies: %w", err)
		}
		more, err := policy.ParseFile(item.File, data)
		if err != nil {
			return nil, BadPlan("policies: %w", err)
		}
		chosen = append(chosen, more...)
	}
	all, err := policy.Complete(chosen)
	if err == nil {
		_, err = policy.New(all)
	}
	if err != nil {
		return nil, &PlanError{err}
	}
	return all, nil
}

// CheckTools refuses a policy about a tool that nobody has: it would guard nothing.
func CheckTools(policies []event.PolicySpec, have []string) error {
	for _, p := range policies {
		names, err := policy.Tools(p)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(have, name) {
				return BadPlan("the policy %s is about the tool %.60q, which no agent of this quest has: they have %s", p.Name, name, strings.Join(have, ", "))
			}
		}
	}
	return nil
}

// models reads the files that the agents' models refer to.
func (c *creation) models(ctx context.Context, root *os.Root, soc quest.Society) (pins []event.Pin, err error) {
	if _, ok := soc.(quest.Cast); ok && c.plan.Spec.Model == "" {
		return nil, nil // its agents work by rules alone
	}
	seen := map[string]bool{}
	for _, g := range c.plan.Spec.Groups() {
		if seen[g.Model] {
			continue
		}
		seen[g.Model] = true
		more, err := c.pins(ctx, root, g.Model)
		if err != nil {
			return nil, err
		}
		pins = append(pins, more...)
	}
	return pins, nil
}

// pins reads the files that a model's name refers to, and tries the model, so
// that a typing error shows before any work is done.
func (c *creation) pins(ctx context.Context, root *os.Root, modelName string) ([]event.Pin, error) {
	if modelName == "" {
		return nil, BadPlan(NoModel)
	}
	var pins []event.Pin
	data := map[string][]byte{}
	if file, ok := strings.CutPrefix(modelName, "script:"); ok {
		script, err := readFile(root, file, maxScript)
		if err != nil {
			return nil, BadPlan("model %s: %w", modelName, err)
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
		return nil, BadPlan("model %s: %w", modelName, err)
	}
	return pins, nil
}

func (c *creation) problem(ctx context.Context, root *os.Root) (event.Text, error) {
	text := c.plan.Spec.Question()
	if file := c.plan.Spec.ProblemFile; file != "" {
		data, err := readFile(root, file, maxProblem)
		if err != nil {
			return event.Text{}, BadPlan("problem_file: %w", err)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return event.Text{}, BadPlan("the question is empty")
	}
	c.question = Clean(c.rt.Redact(strings.TrimRight(text, "\n")))
	return c.texts.of(ctx, c.question, maxInline/2)
}

func (c *creation) data(ctx context.Context, root *os.Root) (*event.TreeRef, error) {
	name := c.plan.Spec.Data
	tree, skipped, err := c.folder(ctx, root, "data", name)
	if err == nil && len(skipped) > 0 {
		err = BadPlan("data: %s cannot be copied: %s", filepath.Join(name, skipped[0].Path), skipped[0].Reason)
	}
	return tree, err
}

// folder copies one that the spec names under a key.
func (c *creation) folder(ctx context.Context, root *os.Root, key, name string) (*event.TreeRef, []blob.Skipped, error) {
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, nil, BadPlan("%s: %w", key, inFolder(root, name, err))
	}
	defer dir.Close()
	if err := c.rt.noSecrets(dir); err != nil {
		return nil, nil, BadPlan("%s: %w", key, err)
	}
	tree, _, skipped, err := blob.Snapshot(ctx, c.rt.Blobs, dir, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", key, err)
	}
	return &tree, skipped, nil
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
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s in %s", name, root.Name())
	case strings.Contains(err.Error(), "path escapes"): // os has no error to compare with
		return fmt.Errorf("%s leads out of %s, the folder of the quest: copy it there", name, root.Name())
	case strings.Contains(err.Error(), "not a directory"):
		return fmt.Errorf("%s in %s is not a folder", name, root.Name())
	}
	return err
}

// prepare sets up the folder of a quest from its ledger. Files are written before homes:
// an existing home proves that the files are complete. A home that is missing is
// restored as it was last recorded; one that is there is left alone.
func (r *Runtime) prepare(ctx context.Context, name string, s *quest.State) error {
	var missing []*agent.Agent
	for _, a := range homed(s) {
		if _, err := os.Lstat(r.agentDir(name, a.Name)); err != nil {
			missing = append(missing, a)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := r.WriteFolder(ctx, name, s); err != nil {
		return err
	}
	return r.prepareHomes(ctx, name, missing)
}

// WriteFolder writes what people read in the folder of a quest that nobody runs: the
// files that follow from its ledger, those of its society included. A history of them is
// written by whoever runs the quest.
func (r *Runtime) WriteFolder(ctx context.Context, name string, s *quest.State) error {
	if err := r.writeFiles(ctx, name, s); err != nil {
		return err
	}
	if folder := r.folder(s); folder != nil {
		if err := folder.Write(ctx, r.look(name, s, nil)); err != nil {
			return err
		}
	}
	return nil
}

// homed are the agents that have homes: those with a model, and the first. Others have
// no use for one.
func homed(s *quest.State) (out []*agent.Agent) {
	for i, a := range s.Agents {
		if i == 0 || a.Model != "" {
			out = append(out, a)
		}
	}
	return out
}

// homesAtOnce is how many homes are made at the same time. One after another, a lab of
// hundreds would spend its beginning on waiting for one core and the disk in turn.
const homesAtOnce = 8

// prepareHomes makes homes, and stops at the first that cannot be made.
func (r *Runtime) prepareHomes(ctx context.Context, name string, agents []*agent.Agent) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan *agent.Agent)
	var making sync.WaitGroup
	for range min(homesAtOnce, len(agents)) {
		making.Go(func() {
			for a := range next {
				if ctx.Err() != nil {
					continue
				}
				if err := r.prepareHome(ctx, name, a); err != nil {
					stop(fmt.Errorf("restore the home of %s in quest %s: %w", a.Name, name, err))
				}
			}
		})
	}
	for _, a := range agents {
		next <- a
	}
	close(next)
	making.Wait()
	return context.Cause(ctx)
}

func (r *Runtime) prepareHome(ctx context.Context, name string, a *agent.Agent) error {
	home := r.agentDir(name, a.Name)
	// Made beside its place and moved there whole, so that a crash leaves no home
	// with half its files.
	fresh := filepath.Join(filepath.Dir(home), ".new-"+a.Name)
	if err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(fresh, 0o700)); err != nil {
		return err
	}
	if a.Tree != nil {
		root, err := os.OpenRoot(fresh)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := blob.Restore(ctx, r.Blobs, *a.Tree, root); err != nil {
			return err
		}
	}
	return os.Rename(fresh, home)
}
