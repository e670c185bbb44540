package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/crate"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/scratch"
	"lyceum/internal/trajectory"
	"lyceum/internal/view"
	"lyceum/internal/vouch"

	"github.com/spf13/cobra"
)

// verifyCommand makes verify.
func (a *app) verifyCommand() *cobra.Command {
	var asJSON, execute bool
	var opts audit.ExecuteOptions
	var known knownBefore
	cmd := &cobra.Command{
		Use: "verify <quest|file.zip>", Short: "Check a quest, and say what is known of it and what rests on whose word",
		Long: `Check the hash chain, the form of every event, that the rules derive what is derived,
every blob and workspace that was recorded, what searches found and programs printed as
far as it can be known again, and the files of the quest's folder. Calculations, and whatever
else gives the same on every machine, are run again. The homes of agents, as they stand now, are
not looked at: they are the agents' own.

"consistent" means that all of it fits together, and no more: whoever chose the inputs and
recomputed every hash gets the same word. So it also says what was derived again, what was run
again, and what rests on somebody's word, and whose; docs/proof.md tells what that is worth.
Who knows a head from before, or is given one by somebody else than the quest's owner, checks
it with --head or --since: nothing before it was changed since it was known. The checkpoints of
the quest are judged as well: who signed it, up to where, and who else saw that.

With --execute the computer calls that were recorded are then run again, each from the
workspace as it was when it began, in a fresh computer without network, and twice if it does not
come out as recorded. Each is the same, different, or not checkable, and why. An image that is
not here is built only with --build or --build-network.

Exit codes: 0 consistent, and all that was run again is the same; 1 something does not hold, or is
different, or a head or key that was asked for is not there; 2 wrong usage; 3 nothing is
different, but some of what was to be run again is not checkable.`,
		Args: exactArgs(1, "a quest's name or an exported file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if (opts.Build || opts.BuildNetwork) && !execute {
				return usagef("--build and --build-network go with --execute: nothing else needs an image")
			}
			if err := known.read(); err != nil {
				return err
			}
			rt, name, done, err := a.subject(ctx, args[0])
			if err != nil {
				return err
			}
			defer done() // also when it is interrupted
			out, err := a.verified(ctx, rt, name, &known, a.counter("verify", asJSON))
			if err != nil {
				return err
			}
			if !asJSON {
				a.printVerified(out.Report)
				a.printProven(name, out.Proof)
			}
			if execute && out.Verdict != differs {
				if out.Execution, err = a.execute(ctx, rt, name, opts, asJSON); err != nil {
					return err
				}
			}
			if out.Execution != nil && out.Execution.Different > 0 {
				out.Verdict = differs
			}
			if asJSON {
				if err := a.printJSON(out); err != nil {
					return err
				}
			}
			return out.exit()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&execute, "execute", false, "run the recorded computer calls again and compare what comes out")
	cmd.Flags().BoolVar(&opts.Build, "build", false, "with --execute: build the image of the quest's Dockerfile if it is not here, without network")
	cmd.Flags().BoolVar(&opts.BuildNetwork, "build-network", false, "the same, with network")
	cmd.Flags().StringVar(&known.head, "head", "", "a `HASH` that somebody cited: fails if no event has it, and says which one has")
	cmd.Flags().StringArrayVar(&known.since, "since", nil, "a head known before, or a file with a checkpoint: fails unless the quest goes on from there (may be repeated)")
	cmd.Flags().StringArrayVar(&known.keys, "key", nil, "a `KEY`, by its name or whole, as lyceum key export prints it: fails unless it signed the quest (may be repeated)")
	return a.weakLimits(a.questArg(cmd))
}

// verified checks a quest, and what its checkpoints say of it.
func (a *app) verified(ctx context.Context, rt *runtime.Runtime, name string, known *knownBefore, progress func(uint64)) (*checkedJSON, error) {
	rep, err := audit.VerifyWith(ctx, rt, name, audit.Options{Progress: progress, Known: known.hashes})
	if err != nil {
		return nil, err
	}
	out := &checkedJSON{Verdict: differs, Report: rep}
	if rep.Difference != nil {
		return out, nil
	}
	if out.Proof, err = a.proven(ctx, rt, name, known); err != nil {
		return nil, err
	}
	if len(out.Proof.Missing) == 0 {
		out.Verdict = audit.Consistent
	}
	return out, nil
}

// differs is the verdict on a quest of which something does not hold.
const differs = "differs"

// checkedJSON is what verify and replay print for programs.
type checkedJSON struct {
	// Verdict is consistent or identical, or differs.
	Verdict string `json:"verdict"`
	*audit.Report
	Execution *audit.Execution `json:"execution,omitempty"`
	Proof     *vouch.Proven    `json:"proof,omitempty"`
}

// exit is how a check ends the process.
func (c *checkedJSON) exit() error {
	if c.Verdict == differs {
		return errFailed
	}
	if again := c.Report.Again; again != nil && again.NotCheckable > 0 || c.Execution != nil && c.Execution.NotCheckable > 0 {
		return errResting
	}
	return nil
}

// execute runs a quest's computer calls again, and tells of each as it is done.
func (a *app) execute(ctx context.Context, rt *runtime.Runtime, name string, opts audit.ExecuteOptions, quiet bool) (*audit.Execution, error) {
	opts.Each = func(c audit.Executed, number, of int) {
		if quiet {
			return
		}
		why := ""
		if c.Exit != nil && c.Again != nil {
			why = fmt.Sprintf(" (exit code %d, then %d)", *c.Again, *c.Exit)
		}
		if c.Why != "" {
			why += ": " + oneLine(c.Why, 300)
		}
		fmt.Fprintf(a.out, "%*d/%d  %-13s  seq %d, %s of %s, %s%s\n", len(fmt.Sprint(of)), number, of, c.Status, c.Seq, c.Kind, c.Actor, oneLine(c.What, 60), why)
	}
	x, err := audit.Execute(ctx, rt, name, opts)
	if err == nil && !quiet {
		fmt.Fprintf(a.out, "%s: %s: %d the same, %d different, %d not checkable\n", name, view.Several(int64(len(x.Calls)), "computer call"), x.Same, x.Different, x.NotCheckable)
	}
	return x, err
}

func (a *app) replayCommand() *cobra.Command {
	const identical = "identical"
	var asJSON bool
	cmd := &cobra.Command{
		Use: "replay <quest|file.zip>", Short: "Derive a quest again from its inputs and compare, event for event",
		Long: "Feed the recorded inputs to the rules, without calling any model or tool, and\ncompare every event they lead to with the one recorded, byte for byte. Exits 1 at\nthe first difference and shows both sides.",
		Args: exactArgs(1, "a quest's name or an exported file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			rt, name, done, err := a.subject(ctx, args[0])
			if err != nil {
				return err
			}
			defer done()
			rep, err := audit.Replay(ctx, rt, name, a.counter("replay", asJSON))
			if err != nil {
				return err
			}
			out := checkedJSON{Verdict: identical, Report: rep}
			if rep.Difference != nil {
				out.Verdict = differs
			}
			if asJSON {
				if err := a.printJSON(out); err != nil {
					return err
				}
			} else if !a.printDifference(rep) {
				fmt.Fprintf(a.out, "%s: %s (%s: %s, %d derived; %s)\n", rep.Quest, identical, view.Several(int64(rep.Events), "event"), view.Several(int64(rep.Inputs), "input"), rep.Derived, view.Several(int64(rep.Blobs), "blob"))
			}
			return out.exit()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return a.questArg(cmd)
}

// counter shows how far a long examination has come.
func (a *app) counter(verb string, quiet bool) func(uint64) {
	if quiet {
		return nil
	}
	return func(seq uint64) {
		if seq%100_000 == 0 {
			fmt.Fprintf(a.err, "%s: %d events\n", verb, seq)
		}
	}
}

// printVerified says what verify found.
func (a *app) printVerified(r *audit.Report) {
	if a.printDifference(r) {
		return
	}
	for _, line := range audit.Lines(r) {
		fmt.Fprintln(a.out, printable(line))
	}
}

// printDifference prints the notes of a check, and what does not hold. It reports whether there is something.
func (a *app) printDifference(r *audit.Report) bool {
	for _, note := range r.Notes {
		fmt.Fprintf(a.out, "note: %s\n", printable(note))
	}
	d := r.Difference
	if d == nil {
		return false
	}
	fmt.Fprintf(a.out, "%s: differs at %s\n", r.Quest, printable(d.Error()))
	if d.Recorded != "" {
		fmt.Fprintf(a.out, "recorded: %s\n", printable(d.Recorded))
	}
	if d.Computed != "" {
		fmt.Fprintf(a.out, "computed: %s\n", printable(d.Computed))
	}
	return true
}

// subject is the quest that an argument means: one of the home, or an exported
// one, which is unpacked into a home of its own that is gone afterwards.
func (a *app) subject(ctx context.Context, arg string) (*runtime.Runtime, string, func(), error) {
	if !strings.HasSuffix(arg, ".zip") {
		if err := checkName(arg); err != nil {
			return nil, "", nil, err
		}
		if a.rt == nil { // diff asks twice
			if err := a.read(); err != nil {
				return nil, "", nil, err
			}
		}
		return a.rt, arg, func() {}, nil
	}
	temp, err := scratch.New("", "lyceum-zip-")
	if err != nil {
		return nil, "", nil, err
	}
	rt, closeAll, err := openRuntime(ctx, temp.Path, a.weakly(nil), places{}, true, nil)
	if err != nil {
		return nil, "", nil, errors.Join(err, temp.Close())
	}
	done := func() { _ = closeAll(); _ = temp.Close() }
	s, err := importFile(ctx, rt, arg, "")
	if err != nil {
		done()
		return nil, "", nil, err
	}
	return rt, s.Name, done, nil
}

func importFile(ctx context.Context, rt *runtime.Runtime, path, as string) (*quest.State, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no %s; give a file that lyceum export <quest> <file.zip> wrote", path)
	}
	if err != nil {
		return nil, usagef("read the exported quest: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s, err := crate.Import(ctx, rt, f, info.Size(), crate.ImportOptions{As: as})
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return s, nil
}

func (a *app) forkCommand() *cobra.Command {
	var o runtime.ForkOptions
	var seed string
	var asJSON bool
	times := 1
	cmd := &cobra.Command{
		Use:   "fork <quest>",
		Short: "Make a new quest that begins as another did, up to any event",
		Long: `Make a new quest whose ledger begins with another's, up to the event --at, and
whose workspaces are as they were then. Then let it go another way: with another
model, another seed, or a message.

  lyceum fork primes --at 12 --message "Check the boundary as well."

With --times there are several: siblings, which are asked the same once more. No answer that
was given before stands for one of theirs.

  lyceum fork primes --at 12 --times 8`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName(args[0]); err != nil {
				return err
			}
			if cmd.Flags().Changed("at") && o.At == 0 {
				return usagef("--at 0: the first event is 1; leave --at out to take over all of them")
			}
			if o.Name != "" {
				if err := checkName(o.Name); err != nil {
					return err
				}
			}
			if seed != "" {
				n, err := parseSeed(seed)
				if err != nil {
					return err
				}
				o.Seed = &n
			}
			o.Dir = "."
			if file, ok := strings.CutPrefix(o.Model, "script:"); ok {
				o.Dir, o.Model = filepath.Dir(file), "script:"+filepath.Base(file)
			}
			if err := a.open(false); err != nil {
				return err
			}
			if cmd.Flags().Changed("times") {
				return a.forkTimes(cmd.Context(), args[0], o, times, asJSON)
			}
			s, err := a.rt.Fork(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printQuest(cmd.Context(), s.Name, s, true)
			}
			fmt.Fprintf(a.out, "Forked %s at %d as %s. Run it with: lyceum run %s\n", args[0], s.Origin.At, s.Name, s.Name)
			return nil
		},
	}
	cmd.Flags().Uint64Var(&o.At, "at", 0, "the last event to take over (default: all)")
	cmd.Flags().StringVar(&o.Name, "name", "", "name of the new quest")
	cmd.Flags().StringVar(&o.Name, "as", "", "the same as --name")
	_ = cmd.Flags().MarkHidden("as") // it was its name before
	exclusive(cmd, "name", "as")
	cmd.Flags().StringVar(&o.Model, "model", "", "another model")
	cmd.Flags().StringVar(&seed, "seed", "", "another seed")
	cmd.Flags().StringVar(&o.Message, "message", "", "something to say to the agents first")
	cmd.Flags().IntVar(&times, "times", 1, "how many forks; with --name they are called name-1, name-2 and so on")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the new quest as JSON, with --times a list of them")
	return a.questArg(cmd)
}

func (a *app) exportCommand() *cobra.Command {
	var force, samples bool
	var o trajectory.Options
	cmd := &cobra.Command{
		Use:   "export <quest> <file.zip|->",
		Short: "Write a quest as one RO-Crate zip that can be checked anywhere, or what its models said",
		Long: `Write a quest as one RO-Crate zip that can be checked anywhere.

With --trajectories it writes what models were shown and what they said instead, as lines
of JSON that programs read which train models, of one or more quests that verify. A * in a
quest's name stands for anything. docs/trajectories.md tells more.

  lyceum export primes primes.zip
  lyceum fork primes --at 12 --times 8
  lyceum export --trajectories --format group primes 'primes-fork-*' groups.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if samples && len(args) >= 2 {
				return nil
			}
			return exactArgs(2, "a quest's name and a file")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, file := cmd.Context(), args[len(args)-1]
			if samples {
				return a.exportTrajectories(ctx, args[:len(args)-1], file, o, force)
			}
			for _, flag := range []string{"format", "split"} {
				if cmd.Flags().Changed(flag) {
					return usagef("--%s is for --trajectories", flag)
				}
			}
			if _, err := a.loadWith(ctx, args[0], a.read); err != nil {
				return err
			}
			if file == "-" && isTerminal(a.out) {
				return usagef("- is standard output, and that is a terminal, which a zip would confuse: redirect it, or give a file")
			}
			if file == "-" {
				return crate.Export(ctx, a.rt, args[0], a.out)
			}
			if err := mayWrite(file, force); err != nil {
				return err
			}
			if err := writeWhole(file, func(w io.Writer) error { return crate.Export(ctx, a.rt, args[0], w) }); err != nil {
				return fmt.Errorf("export quest %s to %s: %w", args[0], file, err)
			}
			file = printable(file)
			fmt.Fprintf(a.out, "Wrote %s. Check it anywhere with: lyceum verify %s; lyceum replay %s\n", file, file, file)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	cmd.Flags().BoolVar(&samples, "trajectories", false, "write what models were shown and said, as lines of JSON")
	cmd.Flags().StringVar(&o.Format, "format", trajectory.SFT, "of trajectories: "+strings.Join(trajectory.Formats, ", "))
	cmd.Flags().StringVar(&o.Split, "split", "", "only trajectories of quests that are for: "+trajectory.Train+", "+trajectory.HeldOut)
	return a.questArg(cmd)
}

// mayWrite is an error if a file is there that nobody said to replace.
func mayWrite(file string, force bool) error {
	if _, err := os.Lstat(file); err == nil && !force {
		return usagef("%s is there already: give another name, or --force to replace it", file)
	}
	return nil
}

// writeWhole writes a file so that it is there whole or not at all.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".lyceum-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (a *app) importCommand() *cobra.Command {
	var as string
	var asJSON bool
	f := &allowFlags{}
	cmd := &cobra.Command{
		Use:   "import <file.zip>",
		Short: "Bring an exported quest into this home, after checking all of it",
		Long: `Bring an exported quest into this home, after checking all of it, and show what it asks for.

An imported quest is a stranger's. It runs without a network, and no image is built from
its Dockerfile, until you allow it: here, or with the same flags of lyceum run. Addresses
of private networks are never the quest's to choose: name them yourself with --allow-host.
A fork of it is allowed what it is.`,
		Args: exactArgs(1, "an exported file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != "" {
				if err := checkName(as); err != nil {
					return err
				}
			}
			if err := a.open(true); err != nil {
				return err
			}
			s, err := importFile(cmd.Context(), a.rt, args[0], as)
			if err != nil {
				return err
			}
			name := as
			if name == "" {
				name = s.Name
			}
			if err := a.allow(cmd.Context(), name, f); err != nil {
				return fmt.Errorf("quest %s is imported, and allowed nothing: %w", name, err)
			}
			return a.printImported(cmd.Context(), name, s, asJSON)
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "name here, if its own is taken")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.add(cmd)
	return cmd
}

// printImported shows a quest that was brought here: what it asks for, and what nobody
// vouches for in it.
func (a *app) printImported(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	q, err := a.asks(ctx, name, s)
	if err != nil {
		return err
	}
	if societyOf(s).noted() {
		rep, err := audit.Audit(ctx, a.rt, name, nil)
		if err != nil {
			return err
		}
		q.Notes = rep.Notes
	}
	if asJSON {
		return a.printJSON(q)
	}
	fmt.Fprintf(a.out, "Imported quest %s: %s, %s. It asks for:\n", name, view.Several(int64(s.Seq), "event"), s.Status)
	a.printAsks(q)
	for _, note := range q.Notes {
		fmt.Fprintf(a.out, "note: %s\n", printable(note))
	}
	return nil
}

// collect removes the blobs that no quest refers to any more. If another
// process has the home open it is left for another time, and while a quest is
// damaged, too.
func (a *app) collect(ctx context.Context) error {
	_, bytes, err := a.rt.Collect(ctx)
	if errors.Is(err, blob.ErrBusy) {
		fmt.Fprintln(a.out, "Another process has the home open: the space of its blobs is freed when lyceum serve stops, or by the next lyceum clean.")
		return nil
	}
	if damage, ok := errors.AsType[*ledger.DamageError](err); ok {
		fmt.Fprintf(a.out, "No blobs were freed: quest %s is damaged, and nobody can tell which of them it needs.\n", damage.Quest)
		return nil
	}
	if err == nil && bytes > 0 {
		fmt.Fprintf(a.out, "Freed %d bytes of blobs.\n", bytes)
	}
	if wait := a.rt.Lingers(); err == nil && wait > 0 && a.rt.Garbage() {
		fmt.Fprintf(a.out, "Others may write to the same stores: blobs that were put in the last %v stay for now, and go with a later lyceum clean, or by a lyceum serve.\n", wait)
	}
	if err == nil {
		err = a.rt.Pack(ctx)
	}
	return err
}
