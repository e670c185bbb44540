package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/strictyaml"

	"github.com/spf13/cobra"
)

// specFlags are the parts of a spec that flags can set.
type specFlags struct {
	name, model, seed, problem string
	noThinking                 bool
	quest, agent               limitFlags

	society, profile, computer, dockerfile string
	agents, reviewers                      int64
	corpus, data, audit, waitUntil         string
	// given tells whether a flag was.
	given func(flag string) bool
}

// limitFlags are those of a quest, or of each of its agents.
type limitFlags struct {
	prefix         string
	cost, duration string
	turns, tokens  int64
}

func (f *specFlags) limits(cmd *cobra.Command) {
	f.quest, f.agent = limitFlags{prefix: "max-"}, limitFlags{prefix: "max-agent-"}
	f.quest.add(cmd, "")
	f.agent.add(cmd, ", for each agent")
}

func (l *limitFlags) add(cmd *cobra.Command, whose string) {
	cmd.Flags().StringVar(&l.cost, l.prefix+"cost", "", "stop when this many US dollars are spent, such as 2.50"+whose)
	cmd.Flags().Int64Var(&l.turns, l.prefix+"turns", 0, "stop after this many model calls"+whose)
	cmd.Flags().Int64Var(&l.tokens, l.prefix+"tokens", 0, "stop after this many tokens"+whose)
	cmd.Flags().StringVar(&l.duration, l.prefix+"duration", "", "stop after this much running time, such as 30m"+whose)
}

func (f *specFlags) spec(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.model, "model", "", "the model, instead of the one in quest.yaml")
	cmd.Flags().StringVar(&f.seed, "seed", "", "the seed, instead of the one in quest.yaml")
	cmd.Flags().BoolVar(&f.noThinking, "no-thinking", false, "models answer without thinking first")
	f.given = cmd.Flags().Changed
}

// lab adds the flags of who works on a quest, and how.
func (f *specFlags) lab(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&f.agents, "agents", 0, "make a lab of this many agents that publish papers, review each other and vote")
	cmd.Flags().Int64Var(&f.reviewers, "reviewers", 0, "how many agents of a lab review each paper (default 3, or all others if they are fewer)")
	cmd.Flags().StringVar(&f.society, "society", "", "the rules the agents work by: "+strings.Join(quest.Societies, " or "))
	cmd.Flags().StringVar(&f.profile, "profile", "", "what the agents are good at: see lyceum profile list")
	cmd.Flags().StringVar(&f.computer, "computer", "", "the sandbox of each agent: "+strings.Join(quest.Drivers, ", ")+" (default: what the profile says)")
	cmd.Flags().StringVar(&f.dockerfile, "dockerfile", "", "a Dockerfile for the agents' computers, instead of the profile's; they then run in docker")
	cmd.Flags().StringVar(&f.corpus, "corpus", "", "a folder of .md and .txt files that a contract net searches, beside the question or below it")
	cmd.Flags().StringVar(&f.data, "data", "", "a folder of data that agents work with, beside the question or below it")
	cmd.Flags().StringVar(&f.audit, "audit", "", "how strictly the answer of a contract net is audited: "+strings.Join(quest.Audits, ", "))
	cmd.Flags().StringVar(&f.waitUntil, "wait-until", "", "when the work of a contract net begins, such as 2030-01-31T12:00:00Z")
}

// bounds reads the limits that were given; one that was not stays as it is.
func (f *specFlags) bounds() (b quest.Bounds, err error) {
	if b.Share, err = f.quest.share(f); err != nil {
		return b, err
	}
	each, err := f.agent.share(f)
	if each != (quest.Share{}) {
		b.Agent = &each
	}
	return b, err
}

func (l *limitFlags) share(f *specFlags) (s quest.Share, err error) {
	s.Turns, s.Tokens = ifGiven(f, l.prefix+"turns", &l.turns), ifGiven(f, l.prefix+"tokens", &l.tokens)
	if f.given(l.prefix + "cost") {
		c, err := quest.ParseUSD(l.cost)
		if err != nil {
			return s, usagef("--%scost: %w", l.prefix, err)
		}
		s.Cost = &c
	}
	if f.given(l.prefix + "duration") {
		d, err := quest.ParseDuration(l.duration)
		if err != nil {
			return s, usagef("--%sduration: %w", l.prefix, err)
		}
		s.Duration = &d
	}
	return s, nil
}

// ifGiven is the value of a flag, nil if it was not given.
func ifGiven[T any](f *specFlags, flag string, value *T) *T {
	if !f.given(flag) {
		return nil
	}
	return value
}

// changes are what the flags say, but for limits. What they may say is the draft's to
// judge.
func (f *specFlags) changes() (c runtime.Changes, err error) {
	c = runtime.Changes{
		Name: f.name, Model: f.model, Computer: f.computer, Profile: ifGiven(f, "profile", &f.profile), Society: ifGiven(f, "society", &f.society),
		Agents: ifGiven(f, "agents", &f.agents), Reviewers: ifGiven(f, "reviewers", &f.reviewers), Corpus: ifGiven(f, "corpus", &f.corpus),
		Data: ifGiven(f, "data", &f.data), Audit: ifGiven(f, "audit", &f.audit), WaitUntil: ifGiven(f, "wait-until", &f.waitUntil),
	}
	if f.seed != "" {
		seed, err := parseSeed(f.seed)
		if err != nil {
			return c, err
		}
		c.Seed = &seed
	}
	if f.noThinking {
		c.Thinking = new(false)
	}
	if f.dockerfile != "" {
		data, err := profile.ReadDockerfile(f.dockerfile)
		if err != nil {
			return c, usagef("--dockerfile: %w", err)
		}
		c.Dockerfile = &runtime.Dockerfile{Name: filepath.Base(f.dockerfile), Data: data}
	}
	return c, nil
}

// flagOf makes the name of a flag of the key that it changes.
var flagOf = strings.NewReplacer("limits.agent.", "max-agent-", "limits.", "max-", "_", "-")

// blame says which flag an error is about, if it was given.
func (f *specFlags) blame(err error) error {
	flag := flagOf.Replace(quest.FieldOf(err))
	if _, placed := errors.AsType[*strictyaml.Error](err); placed || flag == "" || !f.given(flag) {
		return err // of the file, or of nothing that was typed
	}
	return usagef("--%s: %w", flag, err)
}

func (a *app) createCommand() *cobra.Command {
	f := &specFlags{}
	cmd := &cobra.Command{
		Use:   "create <name|quest.yaml>",
		Short: "Make a quest without running it",
		Long: `Make a quest: from a quest.yaml, or by name with the question in a file. With --agents
it is a lab: that many agents publish papers, review each other and vote.

  lyceum create examples/primes/quest.yaml --name my-primes
  lyceum create riddle --problem riddle.md --model script:plan.yaml
  lyceum create sums --problem sums/ --agents 4 --profile formal-math --model demo
  echo "What is 6 times 7?" | lyceum create riddle --problem - --model demo`,
		Args: exactArgs(1, "a name or a quest.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			bounds, err := f.bounds()
			if err != nil {
				return err
			}
			d, err := a.draft(cmd.Context(), args[0], f)
			if err != nil {
				return err
			}
			plan, err := a.plan(d, f, bounds)
			if err != nil {
				return err
			}
			if err := a.open(true); err != nil {
				return err
			}
			s, err := a.create(cmd.Context(), plan)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Created quest %s. Run it with: lyceum run %s\n", s.Name, s.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the quest, instead of the one in quest.yaml")
	cmd.Flags().StringVar(&f.problem, "problem", "", "a file with the question, a folder with problem.md (and data/), or - for standard input")
	f.spec(cmd)
	f.lab(cmd)
	f.limits(cmd)
	return cmd
}

func (a *app) create(ctx context.Context, plan runtime.Plan) (*quest.State, error) {
	plan.Say = func(line string) { fmt.Fprintln(a.err, printable(line)) }
	return a.rt.Create(ctx, plan)
}

// ownTools are the names of those that a society brings itself.
func ownTools(society string) (names []string) {
	for _, s := range societies() {
		d, ok := s.(quest.Toolbox)
		if !ok || nameOf(s.Rules()) != society {
			continue
		}
		for _, t := range d.Own() {
			names = append(names, t.Name)
		}
	}
	return names
}

// isFile tells a quest.yaml from a quest's name.
func isFile(arg string) bool {
	return strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// isThere reports whether arg is a file under any name. With --problem, arg is always a
// quest's name.
func isThere(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular()
}

// plan makes a plan of a draft and the flags. Nothing is made in the home.
func (a *app) plan(d *runtime.Draft, f *specFlags, bounds quest.Bounds) (plan runtime.Plan, err error) {
	if err := a.configure(); err != nil {
		return plan, err
	}
	if d.Changes, err = f.changes(); err != nil {
		return plan, err
	}
	d.Changes.Limits = bounds
	d.Home, d.Model = a.home, a.config.Model
	plan, err = d.Plan()
	if _, placed := errors.AsType[*strictyaml.Error](err); !placed && quest.FieldOf(err) == "name" && f.name == "" {
		err = fmt.Errorf("%w: give name in %s, or --name", err, d.File) // the folder's is none
	}
	return plan, f.blame(err)
}

// draft reads what a quest is to be made of.
func (a *app) draft(ctx context.Context, arg string, f *specFlags) (*runtime.Draft, error) {
	switch {
	case isFile(arg) && f.problem != "":
		return nil, usagef("--problem goes with a name; the question of a quest.yaml stands in it")
	case isFile(arg), f.problem == "" && isThere(arg):
		return draftOfFile(ctx, arg)
	case f.name != "":
		return nil, usagef("--name goes with a quest.yaml; here the name is %q already", arg)
	case f.problem == "":
		return nil, usagef("no question: give --problem <file|folder|->, or a quest.yaml instead of a name")
	}
	if err := checkName(arg); err != nil {
		return nil, err
	}
	d, err := a.draftOfProblem(ctx, f.problem)
	if d != nil {
		d.Name = arg
	}
	return d, err
}

// draftOfFile reads a quest.yaml. The folder gives the name that the file does not.
func draftOfFile(ctx context.Context, path string) (*runtime.Draft, error) {
	data, err := reading(ctx, func() ([]byte, error) { return readSource(path) })
	if err != nil {
		return nil, usagef("read the quest: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return &runtime.Draft{File: path, Source: data, Dir: filepath.Dir(path), Name: filepath.Base(dir)}, nil
}

// readSource reads a quest.yaml up to the first byte that is too much, whatever the path
// leads to.
func readSource(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: give the quest.yaml in it", path)
	}
	return readAll(f)
}

// readAll never returns nil for what could be read: an empty file is a source, too.
func readAll(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, runtime.MaxSource+1)) }

// draftOfProblem makes a spec of where the question is.
func (a *app) draftOfProblem(ctx context.Context, problem string) (*runtime.Draft, error) {
	if problem == "-" {
		data, err := reading(ctx, func() ([]byte, error) { return readAll(a.in) })
		if err != nil {
			return nil, fmt.Errorf("read the question: %w", err)
		}
		return draftOfText(string(data)), nil
	}
	info, err := os.Stat(problem)
	if err != nil {
		return nil, usagef("--problem: %w", err)
	}
	if !info.IsDir() {
		return &runtime.Draft{Spec: &quest.Spec{ProblemFile: filepath.Base(problem)}, Dir: filepath.Dir(problem)}, nil
	}
	spec := &quest.Spec{ProblemFile: "problem.md"}
	if d, err := os.Stat(filepath.Join(problem, "data")); err == nil && d.IsDir() {
		spec.Data = "data"
	}
	return &runtime.Draft{Spec: spec, Dir: problem}, nil
}

func draftOfText(question string) *runtime.Draft {
	return &runtime.Draft{Spec: &quest.Spec{Problem: strings.ToValidUTF8(question, "\uFFFD")}, Dir: "."}
}

func (a *app) runCommand() *cobra.Command {
	f := &specFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run <name|quest.yaml>",
		Short: "Run a quest until it has its answer",
		Long: `Run a quest: one that exists, by its name, or a quest.yaml, which makes it first.
A quest that was paused, stopped, interrupted or killed goes on where it stood.

Ctrl-C stops cleanly: what is under way comes in, and the quest is paused. A
second Ctrl-C leaves at once; nothing recorded is lost either way.

Where lyceum serve is up in the same home, the quest runs there and is followed here.`,
		Args: exactArgs(1, "a quest's name or a quest.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			bounds, err := f.bounds()
			if err == nil {
				err = f.blame(bounds.Check())
			}
			if err != nil {
				return err
			}
			name, fresh, err := a.questToRun(cmd, args[0], f, bounds)
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), name, fresh, f.noThinking, bounds.Limits(), asJSON)
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the quest, instead of the one in quest.yaml")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON, as show does, and nothing else")
	a.showing.flags(cmd)
	f.spec(cmd)
	f.limits(cmd)
	return a.questArg(cmd)
}

// questToRun returns the name of a quest that exists, making it if it must be.
func (a *app) questToRun(cmd *cobra.Command, arg string, f *specFlags, bounds quest.Bounds) (name string, fresh bool, err error) {
	if !isFile(arg) {
		if err := checkName(arg); err != nil {
			return "", false, err
		}
		for _, flag := range []string{"model", "seed", "name"} {
			if cmd.Flags().Changed(flag) {
				return "", false, usagef("--%s cannot change a quest that exists: fork it instead (lyceum fork %s --%s …)", flag, arg, flag)
			}
		}
		return arg, false, a.open(false)
	}
	d, err := draftOfFile(cmd.Context(), arg)
	if err != nil {
		return "", false, err
	}
	plan, err := a.plan(d, f, quest.Bounds{}) // the limits are this run's
	if err != nil {
		return "", false, err
	}
	if err := a.open(true); err != nil {
		return "", false, err
	}
	// A limit that this run could not keep is told before there is a quest.
	for _, g := range plan.Spec.Groups() {
		if err := a.rt.CheckCost(g.Model, bounds.Limits()); err != nil {
			return "", false, err
		}
	}
	_, err = a.create(cmd.Context(), plan)
	if !errors.Is(err, runtime.ErrExists) {
		return plan.Spec.Name, true, err
	}
	return plan.Spec.Name, false, a.sameSpec(cmd.Context(), plan, f, err)
}

// sameSpec lets a quest.yaml be run again only if the quest was made of it, and
// as the flags say.
func (a *app) sameSpec(ctx context.Context, plan runtime.Plan, f *specFlags, exists error) error {
	s, err := a.rt.Load(ctx, plan.Spec.Name)
	if err != nil {
		return err
	}
	old, err := a.rt.Blob(ctx, s.Spec)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, plan.Source) {
		return fmt.Errorf("%w, made of another quest.yaml", exists)
	}
	if f.seed != "" && s.Seed != plan.Spec.Seed {
		return fmt.Errorf("%w, made with another seed", exists)
	}
	if f.model != "" && len(s.Agents) > 0 && s.Agents[0].Model != plan.Spec.Model {
		return fmt.Errorf("%w, made with another model", exists)
	}
	return nil
}

func (a *app) run(ctx context.Context, name string, fresh, noThinking bool, limits event.Limits, asJSON bool) error {
	s, err := a.rt.Load(ctx, name)
	if err != nil {
		return err
	}
	if s.Status == quest.Finished {
		// Somebody may have said something just as it ended.
		if now, err := a.rt.Settle(ctx, name); err == nil {
			s = now
		} else if !errors.Is(err, ledger.ErrClaimed) {
			return err
		}
	}
	if !fresh && s.Status == quest.Finished && s.Spoken < s.Ended {
		// The process that finished it may have been killed before its own end.
		now, err := a.rt.TidyUp(ctx, name, func(line string) { fmt.Fprintln(a.err, line) })
		if errors.Is(err, ledger.ErrClaimed) {
			err = nil // it is at it
		}
		if now != nil {
			s = now
		}
		if !asJSON {
			fmt.Fprintf(a.err, "Quest %s is finished already. Ask more with: lyceum message %s \"…\", or start over with: lyceum run <quest.yaml> --name <other>\n", name, name)
		}
		return errors.Join(a.printQuest(ctx, name, s, asJSON), err)
	}
	if !asJSON && costs(s) && s.Limits == (event.Limits{}) && limits == (event.Limits{}) {
		fmt.Fprintln(a.err, "No limit is set: the quest runs until it has an answer. --max-cost, --max-turns or --max-duration set one.")
	}
	if done, err := a.inServer(ctx, name, s, noThinking, limits, asJSON); done {
		return err
	}
	opts := runtime.RunOptions{Limits: limits, NoThinking: noThinking, Interrupt: ctx.Done()}
	ctx, stop := a.patient(ctx)
	defer stop()
	if a.showing.wanted(a, s, asJSON) {
		s, err = a.showing.run(ctx, a, name, s, opts)
	} else {
		p := newProgress(ctx, a, name, asJSON)
		opts.OnEvent, opts.OnDelta, opts.OnProgress = p.event, p.delta, p.trouble
		s, err = a.rt.Run(ctx, name, opts)
		p.end()
	}
	if err != nil {
		if errors.Is(err, ledger.ErrClaimed) {
			return fmt.Errorf("run quest %s: %w", name, ledger.ErrClaimed)
		}
		if s != nil && s.Status == quest.Finished {
			// The answer is recorded, whatever else could not be written.
			return errors.Join(a.printOutcome(ctx, name, s, asJSON), err)
		}
		if errors.Is(err, runtime.ErrInterrupted) && asJSON && s != nil {
			// A program wants to know how it stands, whoever stopped it, and how often.
			return errors.Join(a.printQuest(context.WithoutCancel(ctx), name, s, true), err)
		}
		if errors.Is(err, runtime.ErrInterrupted) || errors.Is(err, context.Canceled) {
			fmt.Fprintf(a.err, "Quest %s is recorded up to here. Go on with: lyceum run %s\n", name, name)
		}
		return err
	}
	return a.printOutcome(ctx, name, s, asJSON)
}

func parseSeed(s string) (uint64, error) {
	var seed uint64
	if _, err := fmt.Sscanf(s, "%d", &seed); err != nil || fmt.Sprint(seed) != s {
		return 0, usagef("--seed: %q is not a number from 0 to 18446744073709551615", s)
	}
	return seed, nil
}
