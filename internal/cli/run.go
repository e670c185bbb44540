package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model/provider"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/strictyaml"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// specFlags are the parts of a spec that flags can set.
type specFlags struct {
	name, model, seed, problem string
	noThinking, strict         bool
	quest, agent               limitFlags

	society, profile, computer, dockerfile string
	agents                                 int64
	data, repo, base                       string
	allowWrite, denyRead                   []string
	// keys are those of societies.
	keys keyFlags
	// given tells whether a flag was.
	given func(flag string) bool
}

// limitFlags are those of a quest, or of each of its agents.
type limitFlags struct {
	prefix                  string
	cost, duration, storage string
	turns, tokens           int64
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
	cmd.Flags().StringVar(&l.storage, l.prefix+"storage", "", "keep at most this much of files and outputs on the disk, such as 4GiB"+whose)
}

func (f *specFlags) spec(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.model, "model", "", "the model, instead of the one in quest.yaml")
	cmd.Flags().StringVar(&f.seed, "seed", "", "the seed, instead of the one in quest.yaml")
	cmd.Flags().BoolVar(&f.noThinking, "no-thinking", false, "models answer without thinking first")
	cmd.Flags().BoolVar(&f.strict, strictFlag, false, "calls under way may not pass the limits on cost and tokens either: reserve the most that each can use")
	f.given = cmd.Flags().Changed
	complete(cmd, "model", modelNames)
}

// modelNames are models for the shell to complete: those whose keys are there first.
func modelNames(cmd *cobra.Command) []string {
	home, _ := cmd.Flags().GetString("home")
	home, err := config.Home(home)
	if err != nil {
		return nil
	}
	conf, err := config.Load(home)
	if err != nil {
		return nil
	}
	found, err := provider.New(&provider.Options{Config: conf})
	if err != nil {
		return nil
	}
	defer found.Close()
	names := []string{"demo"}
	for _, ready := range []bool{true, false} {
		for _, m := range found.Models(cmd.Context()) {
			if m.HasKey == ready {
				names = append(names, m.Provider+"/"+m.Name)
			}
		}
	}
	return names
}

// profileNames are profiles for the shell to complete.
func profileNames(cmd *cobra.Command) (names []string) {
	home, _ := cmd.Flags().GetString("home")
	home, err := config.Home(home)
	if err != nil {
		return nil
	}
	all, err := profile.List(home)
	if err != nil {
		return nil
	}
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// work adds the flags of who works on a quest, and how.
func (f *specFlags) work(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&f.agents, "agents", 0, "make a lab of this many agents that publish papers, review each other and vote")
	cmd.Flags().StringVar(&f.society, "society", "", "the rules the agents work by: "+strings.Join(societies().Names(), " or "))
	cmd.Flags().StringVar(&f.profile, "profile", "", "what the agents are good at: see lyceum profile list")
	cmd.Flags().StringVar(&f.computer, "computer", "", "the sandbox of each agent: "+strings.Join(quest.Drivers, ", ")+" (default: what the profile says)")
	cmd.Flags().StringVar(&f.dockerfile, "dockerfile", "", "a Dockerfile for the agents' computers, instead of the profile's; they then run in docker")
	cmd.Flags().StringVar(&f.data, "data", "", "a folder of data that agents work with, beside the question or below it")
	complete(cmd, "society", func(*cobra.Command) []string { return societies().Names() })
	complete(cmd, "computer", func(*cobra.Command) []string { return quest.Drivers })
	complete(cmd, "profile", profileNames)
	f.keys = keyFlags{cmd: cmd, values: map[string]func() any{}}
	for _, name := range societies().Names() {
		named(name).flags(&f.keys)
	}
}

// sources adds the flags of what agents work on, and what they may do with it.
func (f *specFlags) sources(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.repo, "repo", "", "a git repository or folder, anywhere, that agents work on")
	cmd.Flags().StringSliceVar(&f.allowWrite, "allow-write", nil, "the folders that agents can write to, by paths from their home on, or /tmp; instead of the list in quest.yaml")
	cmd.Flags().StringSliceVar(&f.denyRead, "deny-read", nil, "names of files and folders that agents cannot read; instead of the list in quest.yaml")
	cmd.Flags().StringVar(&f.base, "base", "", "the commit of the repository that agents begin with; worktree takes changes that are not committed")
}

// folder makes the repository that a flag names known by its name alone: where it is on this
// machine, the quest does not keep.
func (f *specFlags) folder(c *runtime.Changes) error {
	c.Base = ifGiven(f, "base", &f.base)
	if !f.given("repo") {
		return nil
	}
	dir, err := filepath.Abs(f.repo)
	if err != nil {
		return usagef("--repo: %w", err)
	}
	c.Repo = new(filepath.Base(dir))
	c.Folders["repo"] = dir
	return nil
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
	if f.given(l.prefix + "storage") {
		n, err := strictyaml.ParseSize(l.storage)
		if err != nil {
			return s, usagef("--%sstorage: %w", l.prefix, err)
		}
		s.Storage = new(quest.Size(n))
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
		Agents: ifGiven(f, "agents", &f.agents), Data: ifGiven(f, "data", &f.data), Keys: f.keys.given(),
		AllowWrite: ifGiven(f, "allow-write", &f.allowWrite), DenyRead: ifGiven(f, "deny-read", &f.denyRead),
	}
	c.Folders = f.keys.elsewhere(c.Keys)
	if err := f.folder(&c); err != nil {
		return c, err
	}
	if f.seed != "" {
		seed, err := parseSeed(f.seed)
		if err != nil {
			return c, err
		}
		c.Seed = &seed
	}
	if f.noThinking {
		c.Thinking = quest.NoThinking
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

// strictFlag makes the limits of a quest strict.
const strictFlag = "strict-limits"

// flagOf makes the name of a flag of the key that it changes.
var flagOf = strings.NewReplacer("limits.strict", strictFlag, "limits.agent.", "max-agent-", "limits.", "max-", "_", "-")

// blame says which flag an error is about, if it was given; of several faults, each.
func (f *specFlags) blame(err error) error {
	if faults := quest.FaultsOf(err); len(faults) > 1 {
		blamed := make([]error, len(faults))
		for i, fault := range faults {
			blamed[i] = f.blame(fault)
		}
		return usageError{strictyaml.Join(blamed)}
	}
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
			plan, err := a.plan(cmd.Context(), d, f, bounds)
			if err != nil {
				return err
			}
			if err := a.open(true); err != nil {
				return err
			}
			s, err := a.create(cmd.Context(), plan)
			if err != nil {
				return f.blame(err)
			}
			fmt.Fprintf(a.out, "Created quest %s. Run it with: lyceum run %s\n", s.Name, s.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the quest, instead of the one in quest.yaml")
	cmd.Flags().StringVar(&f.problem, "problem", "", "a file with the question, a folder with problem.md (and data/), or - for standard input")
	f.spec(cmd)
	f.work(cmd)
	f.sources(cmd)
	f.limits(cmd)
	return cmd
}

func (a *app) create(ctx context.Context, plan runtime.Plan) (*quest.State, error) {
	plan.Say = func(line string) { fmt.Fprintln(a.err, printable(line)) }
	return a.rt.Create(ctx, plan)
}

// ownTools are the names of those that a society brings itself.
func ownTools(society string) (names []string) {
	if d, ok := societies().Named(society).(quest.Toolbox); ok {
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

func (a *app) runCommand() *cobra.Command {
	f, allowed := &specFlags{}, &allowFlags{}
	cmd := &cobra.Command{
		Use:   "run <name|quest.yaml>",
		Short: "Run a quest until it has its answer",
		Long: `Run a quest: one that exists, by its name, or a quest.yaml, which makes it first.
A quest that was paused, stopped, interrupted or killed goes on where it stood.

Ctrl-C stops cleanly: what is under way comes in, and the quest is paused. A
second Ctrl-C leaves at once; nothing recorded is lost either way.

Where lyceum serve is up in the same home, the quest runs there and is followed here.

With --json=stream a program reads lines of JSON: {"event": …}, a line of the ledger, for
each event that is recorded from now on, and at the end {"outcome": …}, what --json prints.

A quest that was imported runs without a network, and no image is built from its
Dockerfile, until you allow it with the flags below. The word is kept.`,
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
			if err := a.allow(cmd.Context(), name, allowed); err != nil {
				return err
			}
			tend(0)
			return a.run(cmd.Context(), name, fresh, f.noThinking, bounds.Limits(), a.telling.json())
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the quest, instead of the one in quest.yaml")
	a.telling.flags(cmd)
	a.telling.yesFlag(cmd)
	a.showing.flags(cmd)
	f.spec(cmd)
	f.sources(cmd)
	f.limits(cmd)
	allowed.add(cmd)
	return a.weakLimits(a.questArg(cmd))
}

// questToRun returns the name of a quest that exists, making it if it must be.
func (a *app) questToRun(cmd *cobra.Command, arg string, f *specFlags, bounds quest.Bounds) (name string, fresh bool, err error) {
	if !isFile(arg) {
		if err := checkName(arg); err != nil && isThere(filepath.Join(arg, specName)) {
			return "", false, usagef("%s is a folder, and no quest's name; to run what is in it: lyceum run ./%s", arg, filepath.Join(arg, specName))
		} else if err != nil {
			return "", false, err
		}
		if f.strict {
			return "", false, usagef("--%s cannot change a quest that exists: its limits are strict from the beginning, or never", strictFlag)
		}
		for _, flag := range []string{"repo", "base", "allow-write", "deny-read"} {
			if cmd.Flags().Changed(flag) {
				return "", false, usagef("--%s cannot change a quest that exists: its agents have begun with what they have; make another with --name", flag)
			}
		}
		for _, flag := range []string{"model", "seed", "name"} {
			if cmd.Flags().Changed(flag) {
				return "", false, usagef("--%s cannot change a quest that exists: fork it instead (lyceum fork %s --%s …)", flag, arg, flag)
			}
		}
		if err := a.open(false); err != nil {
			return "", false, err
		}
		if _, err := a.rt.Ledger.Head(cmd.Context(), arg); errors.Is(err, ledger.ErrNoQuest) && isThere(filepath.Join(arg, specName)) {
			return "", false, usagef("there is no quest %s; to make one of what is in the folder: lyceum run %s", arg, filepath.Join(arg, specName))
		}
		return arg, false, nil
	}
	d, err := draftOfFile(cmd.Context(), arg)
	if err != nil {
		return "", false, err
	}
	plan, err := a.plan(cmd.Context(), d, f, quest.Bounds{}) // the limits are this run's
	if err != nil {
		return "", false, err
	}
	if err := a.open(true); err != nil {
		return "", false, err
	}
	plan.Run = bounds.Limits()
	_, err = a.create(cmd.Context(), plan)
	if !errors.Is(err, runtime.ErrExists) {
		return plan.Spec.Name, true, f.blame(err)
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
	if f.strict && !s.Limits.Strict {
		return fmt.Errorf("%w, whose limits are not strict", exists)
	}
	if is := plan.Spec.Computer; s.Computer != nil && (f.given("allow-write") && !slices.Equal(s.Computer.AllowWrite, is.AllowWrite) || f.given("deny-read") && !slices.Equal(s.Computer.DenyRead, is.DenyRead)) {
		return fmt.Errorf("%w, made with other bounds", exists)
	}
	if f.seed != "" && s.Seed != plan.Spec.Seed {
		return fmt.Errorf("%w, made with another seed", exists)
	}
	if f.model != "" && len(s.Agents) > 0 && s.Agents[0].Model != plan.Spec.Model {
		return fmt.Errorf("%w, made with another model", exists)
	}
	return nil
}

// alreadyFinished shows a quest that is to be run and has its answer.
func (a *app) alreadyFinished(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	// The process that finished it may have been killed before its own end.
	now, err := a.rt.TidyUp(ctx, name, func(line string) { fmt.Fprintln(a.err, line) })
	if errors.Is(err, ledger.ErrClaimed) {
		err = nil // it is at it
	}
	if now != nil {
		s = now
	}
	if !asJSON {
		more := fmt.Sprintf("Ask more with: lyceum message %s \"…\", then lyceum run %s. ", name, name)
		if !slices.ContainsFunc(s.Agents, func(ag *agent.Agent) bool { return ag.Model != "" }) {
			more = "" // nobody would understand it
		}
		fmt.Fprintf(a.err, "Quest %s is finished already. %sGo another way from an earlier event: lyceum fork %s --at <seq>. Start over: lyceum run <quest.yaml> --name <other>\n", name, more, name)
	}
	return errors.Join(a.printQuest(ctx, name, s, asJSON), err)
}

func (a *app) run(ctx context.Context, name string, fresh, noThinking bool, limits event.Limits, asJSON bool) error {
	opened, err := a.rt.Open(ctx, name)
	if err != nil {
		return err
	}
	s := opened.State
	if s.Status == quest.Finished {
		// Somebody may have said something just as it ended.
		if now, err := a.rt.Settle(ctx, name); err == nil {
			s = now
		} else if !errors.Is(err, ledger.ErrClaimed) {
			return err
		}
	}
	if !fresh && s.Status == quest.Finished && s.Spoken < s.Ended {
		return a.alreadyFinished(ctx, name, s, asJSON)
	}
	if err := a.before(ctx, name, s, limits, asJSON); err != nil {
		return err
	}
	if o := s.OverWith(limits); o != nil && s.Status == quest.Exceeded {
		fmt.Fprintf(a.err, "Quest %s has reached its limit on %s (%s). Go on with a higher one: lyceum run %s --max-%s …\n", name, o.Limit, view.Reached(o), name, o.Limit)
		if asJSON {
			return errors.Join(a.printQuest(ctx, name, s, true), errResting)
		}
		return errResting
	}
	if fresh {
		if err := a.streamTo(ctx, name, s.Seq); err != nil {
			return err
		}
	}
	if done, err := a.inServer(ctx, name, s, noThinking, limits, asJSON); done {
		return err
	}
	defer a.sending(ctx, nil)()
	opts := runtime.RunOptions{Limits: limits, NoThinking: noThinking, Interrupt: ctx.Done()}
	ctx, stop := a.patient(ctx)
	defer stop()
	if a.showing.wanted(a, s, asJSON) {
		s, err = a.showing.run(ctx, a, name, s, opts)
	} else {
		p := newProgress(ctx, a, name, asJSON)
		opts.OnEvent, opts.OnDelta, opts.OnProgress = p.event, p.delta, p.trouble
		if opts.Leave = asJSON || !a.prompts(); !opts.Leave {
			p.asks(s)
			go p.converse(ctx)
		}
		opts.Opened = opened
		s, err = a.rt.Run(ctx, name, opts)
		err = errors.Join(err, p.wrong)
		p.end()
	}
	if err != nil {
		if errors.Is(err, ledger.ErrClaimed) {
			if limits != (event.Limits{}) {
				return fmt.Errorf("run quest %s: %w: give it other limits while it runs with: lyceum limit %s --max-…", name, ledger.ErrClaimed, name)
			}
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
