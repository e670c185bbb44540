package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/goccy/go-yaml"
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
	// given tells whether a flag was; it is nil where there are none of a lab.
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
	f.given = cmd.Flags().Changed
}

// bounds reads the limits that were given; one that was not stays as it is.
func (f *specFlags) bounds(cmd *cobra.Command) (b quest.Bounds, err error) {
	if b.Share, err = f.quest.share(cmd); err != nil {
		return b, err
	}
	each, err := f.agent.share(cmd)
	if each != (quest.Share{}) {
		b.Agent = &each
	}
	return b, err
}

func (l *limitFlags) share(cmd *cobra.Command) (s quest.Share, err error) {
	given := func(name string) bool { return cmd.Flags().Changed(l.prefix + name) }
	if given("cost") {
		c, err := quest.ParseUSD(l.cost)
		if err != nil {
			return s, usagef("--%scost: %w", l.prefix, err)
		}
		s.Cost = &c
	}
	if given("duration") {
		d, err := quest.ParseDuration(l.duration)
		if err != nil {
			return s, usagef("--%sduration: %w", l.prefix, err)
		}
		s.Duration = &d
	}
	if given("turns") {
		s.Turns = &l.turns
	}
	if given("tokens") {
		s.Tokens = &l.tokens
	}
	for _, limit := range []struct {
		flag  string
		value *int64
	}{{"duration", (*int64)(s.Duration)}, {"turns", s.Turns}, {"tokens", s.Tokens}} {
		if limit.value != nil && (*limit.value < 0 || *limit.value > maxLimit) {
			return s, usagef("--%s%s: want 0 or more, up to 2^53; leave it out for no limit", l.prefix, limit.flag)
		}
	}
	return s, nil
}

// maxLimit is the greatest number that an event can hold.
const maxLimit = 1 << 53

// apply overrides a spec by what was given as flags.
func (f *specFlags) apply(s *quest.Spec) error {
	if f.name != "" {
		s.Name = f.name
	}
	if f.model != "" {
		s.Model = f.model
		for i := range s.Agents {
			s.Agents[i].Model = ""
		}
	}
	if f.seed != "" {
		seed, err := parseSeed(f.seed)
		if err != nil {
			return err
		}
		s.Seed = seed
	}
	if f.noThinking {
		s.Thinking = new(false)
	}
	return f.applyLab(s)
}

// applyLab overrides who works on a quest, and how.
func (f *specFlags) applyLab(s *quest.Spec) error {
	if f.given == nil {
		return nil
	}
	if f.given("society") {
		s.Society = f.society
	}
	for _, o := range []struct {
		flag string
		from *string
		to   *string
	}{{"corpus", &f.corpus, &s.Corpus}, {"data", &f.data, &s.Data}, {"audit", &f.audit, &s.Audit}, {"wait-until", &f.waitUntil, &s.WaitUntil}} {
		if f.given(o.flag) {
			*o.to = *o.from
		}
	}
	if (f.given("corpus") || f.given("audit")) && s.Society == "" {
		s.Society = "contract"
	}
	if f.given("agents") {
		if f.agents < 1 || f.agents > quest.MaxAgents {
			return usagef("--agents %d: want 1 to %d", f.agents, quest.MaxAgents)
		}
		s.Agents, s.Society = quest.Agents{{Count: f.agents}}, cmp.Or(s.Society, "lab")
	}
	if f.given("reviewers") {
		s.Reviewers = &f.reviewers
	}
	if f.given("profile") {
		s.Profile = f.profile
		for i := range s.Agents {
			s.Agents[i].Profile = ""
		}
	}
	switch {
	case f.given("profile") && !event.ValidName(f.profile):
		return usagef("--profile %.80q: want %s; see: lyceum profile list", f.profile, event.NameRule)
	case s.IsLab() && len(s.Agents) == 0:
		return usagef("a lab without agents: say how many, such as --agents 4")
	case f.given("reviewers") && !s.IsLab():
		return usagef("--reviewers is for labs: give --agents as well, such as --agents 4")
	}
	return nil
}

// applyComputer overrides what the agents' computers would be otherwise, be it by the
// spec or by its profile.
func (a *app) applyComputer(f *specFlags, plan *runtime.Plan) error {
	if f.computer == "" && f.dockerfile == "" {
		return nil
	}
	driver := f.computer
	if f.dockerfile != "" {
		driver = cmp.Or(driver, "docker")
	}
	switch {
	case !slices.Contains(quest.Drivers, driver):
		return usagef("--computer %.40q: want %s", driver, strings.Join(quest.Drivers, ", "))
	case f.dockerfile != "" && (driver == "none" || driver == "bubblewrap"):
		return usagef("--dockerfile and --computer %s: an image is for docker; leave one out", driver)
	case driver == "none":
		plan.Spec.Computer = quest.Computer{Driver: driver}
		return nil
	}
	c := plan.Spec.Computer
	if name := plan.Spec.ComputerProfile(); c.IsZero() && name != "" {
		home, err := config.Home(a.homeFlag)
		if err != nil {
			return err
		}
		p, err := profile.Find(home, name)
		if err != nil {
			return usageError{err}
		}
		c = p.Computer
	}
	c.Driver = driver
	if driver == "bubblewrap" {
		c.Dockerfile = "" // it has no images
	}
	if f.dockerfile != "" {
		data, err := profile.ReadDockerfile(f.dockerfile)
		if err != nil {
			return usagef("--dockerfile: %w", err)
		}
		c.Dockerfile, plan.Dockerfile = filepath.Base(f.dockerfile), data
	}
	plan.Spec.Computer = c
	return nil
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
			bounds, err := f.bounds(cmd)
			if err != nil {
				return err
			}
			plan, err := a.plan(cmd.Context(), args[0], f, bounds)
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
	if plan.Spec.Model == "" && !plan.Spec.IsContract() { // without a model that works by rules
		plan.Spec.Model = a.config.Model
	}
	return a.rt.Create(ctx, plan)
}

// ownTools are the names of those that a society brings itself.
func ownTools(society string) (names []string) {
	for _, s := range societies() {
		d, ok := s.(quest.Toolbox)
		if name, _, _ := strings.Cut(s.Rules(), "/"); !ok || name != society {
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

// plan reads what a quest is to be made of.
func (a *app) plan(ctx context.Context, arg string, f *specFlags, bounds quest.Bounds) (runtime.Plan, error) {
	switch {
	case isFile(arg) && f.problem != "":
		return runtime.Plan{}, usagef("--problem goes with a name; the question of a quest.yaml stands in it")
	case isFile(arg), f.problem == "" && isThere(arg):
		plan, err := planFromFile(ctx, arg, f)
		if err == nil {
			plan.Spec.Limits.Override(bounds)
			err = a.applyComputer(f, &plan)
		}
		return plan, err
	case f.name != "":
		return runtime.Plan{}, usagef("--name goes with a quest.yaml; here the name is %q already", arg)
	case f.problem == "":
		return runtime.Plan{}, usagef("no question: give --problem <file|folder|->, or a quest.yaml instead of a name")
	}
	f.name = arg
	return a.planFromFlags(ctx, f, bounds)
}

func planFromFile(ctx context.Context, path string, f *specFlags) (runtime.Plan, error) {
	data, err := reading(ctx, func() ([]byte, error) { return readUpTo(path, maxSpec) })
	if err != nil {
		return runtime.Plan{}, usagef("read the quest: %w", err)
	}
	spec, err := quest.ParseSpec(path, data)
	if err != nil {
		return runtime.Plan{}, err
	}
	dir := filepath.Dir(path)
	if spec.Name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return runtime.Plan{}, err
		}
		spec.Name = filepath.Base(abs)
	}
	if err := f.apply(spec); err != nil {
		return runtime.Plan{}, err
	}
	if err := checkName(spec.Name); err != nil {
		return runtime.Plan{}, fmt.Errorf("%w: give name in %s, or --name", err, path)
	}
	// What flags have changed may no longer go together.
	if err := spec.Check(); err != nil {
		return runtime.Plan{}, usageError{err}
	}
	return runtime.Plan{Spec: spec, Source: data, Dir: dir}, nil
}

// maxSpec is what a quest.yaml or a question may have. No more is read, whatever
// the path leads to.
const maxSpec = 1 << 20

func readUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: give the quest.yaml in it", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes: put long texts into files of their own (problem_file, data)", path, most)
	}
	return data, err
}

// planFromFlags makes a spec of flags, and writes it down as a quest.yaml.
func (a *app) planFromFlags(ctx context.Context, f *specFlags, bounds quest.Bounds) (runtime.Plan, error) {
	if err := checkName(f.name); err != nil {
		return runtime.Plan{}, err
	}
	spec, dir := &quest.Spec{Limits: bounds}, "."
	if f.problem == "-" {
		data, err := reading(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.in, maxSpec+1)) })
		if err != nil {
			return runtime.Plan{}, fmt.Errorf("read the question: %w", err)
		}
		if len(data) > maxSpec {
			return runtime.Plan{}, usagef("the question has more than %d bytes: give it as a file, and shorter", maxSpec)
		}
		spec.Problem = strings.ToValidUTF8(string(data), "\uFFFD")
	} else {
		info, err := os.Stat(f.problem)
		if err != nil {
			return runtime.Plan{}, usagef("--problem: %w", err)
		}
		dir, spec.ProblemFile = filepath.Dir(f.problem), filepath.Base(f.problem)
		if info.IsDir() {
			dir, spec.ProblemFile = f.problem, "problem.md"
			if d, err := os.Stat(filepath.Join(dir, "data")); err == nil && d.IsDir() {
				spec.Data = "data"
			}
		}
	}
	if err := f.apply(spec); err != nil {
		return runtime.Plan{}, err
	}
	if err := spec.Check(); err != nil {
		return runtime.Plan{}, usageError{err}
	}
	plan := runtime.Plan{Spec: spec, Dir: dir}
	if err := a.applyComputer(f, &plan); err != nil {
		return runtime.Plan{}, err
	}
	var err error
	if plan.Source, err = yaml.Marshal(spec); err != nil {
		return runtime.Plan{}, fmt.Errorf("write the quest down: %w", err)
	}
	return plan, nil
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
			bounds, err := f.bounds(cmd)
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
	plan, err := planFromFile(cmd.Context(), arg, f)
	if err != nil {
		return "", false, err
	}
	if err := a.open(true); err != nil {
		return "", false, err
	}
	// A limit that this run could not keep is told before there is a quest.
	for _, g := range plan.Spec.Groups() {
		if err := a.rt.CheckCost(cmp.Or(g.Model, a.config.Model), bounds.Limits()); err != nil {
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
