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

	"lyceum/internal/conduct"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
	"lyceum/internal/survey"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) studyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Put one question to several models, seeds and societies, within one budget",
		Long: `A study puts one question to several models, seeds and societies: each combination becomes
a quest, which can be opened, replayed and exported as any other. All of them share one budget,
of which each gets the same part before it is made. docs/studies.md tells more.

  lyceum study new --name bias --question "How many …?" --model demo --seed 1..3 --society solo --society lab:3 --budget 2
  lyceum study run bias                 make and run its quests; Ctrl-C pauses them, run goes on
  lyceum study show bias                answers, agreement, cost, time
  lyceum study export bias --csv bias.csv
  lyceum study export bias --crate bias.zip`,
		Args: exactArgs(0, "new, run, show, list or export"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.studyNewCommand(), a.studyRunCommand(), a.studyShowCommand(), a.studyListCommand(), a.studyExportCommand())
	return cmd
}

// studies opens the studies of the home. Without mayCreate a home that has none is conduct.ErrNone.
func (a *app) studies(mayCreate bool) (*conduct.Studies, error) {
	if err := a.open(mayCreate); err != nil {
		return nil, err
	}
	store, err := openStudies(a.home, mayCreate, a.saying())
	if err != nil {
		return nil, err
	}
	a.closes = append(a.closes, store.Close)
	return &conduct.Studies{Log: store, Runtime: a.rt, Say: a.saying()}, nil
}

// studyFlags are what a study is designed by, where there is no file or besides it.
type studyFlags struct {
	name, question, budget   string
	models, seeds, societies []string
	parallel                 int64
}

func (a *app) studyNewCommand() *cobra.Command {
	f := &studyFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new [study.yaml]",
		Short: "Design a study, of a file or of flags; nothing runs yet",
		Args:  rangeArgs(0, 1, "a study.yaml, or flags alone"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := f.draft(cmd, args)
			if err != nil {
				return err
			}
			m, err := a.studies(true)
			if err != nil {
				return err
			}
			s, err := m.Make(cmd.Context(), d)
			if errors.Is(err, conduct.ErrThere) {
				return usagef("%w", err)
			} else if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(s.View(false))
			}
			fmt.Fprintf(a.out, "Study %s: %s, each with %s. Run it with: lyceum study run %s\n", s.Name, view.Several(int64(len(s.Cells)), "quest"), view.Dollars(survey.Share(s.Design)), s.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the study (default: that of the file)")
	cmd.Flags().StringVar(&f.question, "question", "", "what all quests are asked")
	cmd.Flags().StringArrayVar(&f.models, "model", nil, "a model; give the flag once for each")
	cmd.Flags().StringArrayVar(&f.seeds, "seed", nil, "a seed, or a range such as 1..3; give the flag once for each (default 1)")
	cmd.Flags().StringArrayVar(&f.societies, "society", nil, "a society, with its number of agents if it has several, such as lab:3; give the flag once for each (default solo)")
	cmd.Flags().StringVar(&f.budget, "budget", "", "US dollars for all quests together, such as 2.50")
	cmd.Flags().Int64Var(&f.parallel, "parallel", 1, "how many quests are under way at once")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	complete(cmd, "model", modelNames)
	complete(cmd, "society", func(*cobra.Command) []string { return societies().Names() })
	return cmd
}

// draft is the design that a file and flags say. A flag takes the place of what the file says.
func (f *studyFlags) draft(cmd *cobra.Command, args []string) (d *survey.Draft, err error) {
	d = &survey.Draft{}
	d.Parallel = f.parallel
	if len(args) == 1 {
		if d, err = draftOfStudy(cmd.Context(), args[0]); err != nil {
			return nil, err
		}
	}
	given := cmd.Flags().Changed
	if given("name") {
		d.Name = f.name
	}
	if given("question") {
		d.Question = f.question
	}
	if given("model") {
		d.Models = f.models
	}
	if given("parallel") {
		d.Parallel = f.parallel
	}
	if given("budget") {
		if err := d.SetBudget(f.budget); err != nil {
			return nil, usagef("--budget: %w", err)
		}
	}
	if given("seed") {
		d.Seeds = nil
		for _, s := range f.seeds {
			if err := d.AddSeeds(s); err != nil {
				return nil, usagef("--seed: %w", err)
			}
		}
	}
	if given("society") {
		d.Arms = nil
		for _, s := range f.societies {
			if err := d.AddSociety(s); err != nil {
				return nil, usagef("--society: %w", err)
			}
		}
	}
	return d, nil
}

// draftOfStudy reads the file of a study, which gives the name that it does not say.
func draftOfStudy(ctx context.Context, path string) (*survey.Draft, error) {
	data, err := reading(ctx, func() ([]byte, error) { return readSource(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no %s; docs/studies.md shows how such a file looks", path)
	} else if err != nil {
		return nil, usagef("read the study: %w", err)
	}
	d, err := survey.Parse(path, data)
	if err != nil {
		return nil, err
	}
	if d.Name == "" {
		d.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return d, nil
}

func (a *app) studyRunCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run <study>",
		Short: "Make and run the quests of a study until all are over",
		Long: `Make and run the quests of a study, as many at once as it says, until all are over. A study
that was interrupted or killed goes on where it stood: no quest is made twice, and none gets
money twice.

Ctrl-C stops cleanly: what is under way comes in, and its quests are paused.`,
		Args: exactArgs(1, "a study's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := a.studies(false)
			if err != nil {
				return err
			}
			return a.conduct(cmd.Context(), m, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, at the end")
	return a.weakLimits(cmd)
}

// conduct runs a study, and says line by line how it goes.
func (a *app) conduct(ctx context.Context, m *conduct.Studies, name string, asJSON bool) error {
	say := func(c survey.Cell, format string, args ...any) {
		if !asJSON {
			fmt.Fprintf(a.out, "%s: %s\n", printable(fmt.Sprintf("cell %d, %s, %s, seed %s", c.Number, c.Arm.Label, c.Model, c.Seed)), printable(fmt.Sprintf(format, args...)))
		}
	}
	p := conduct.Progress{
		Began: func(c survey.Cell) { say(c, "quest %s, with %s", c.Quest, view.Dollars(c.Budget)) },
		Ended: func(c survey.Cell) {
			say(c, "%s, %s in %s: %s", c.Seen.State, view.Price(c.Seen.Cost, c.Seen.Unpriced), rounded(survey.Seconds(c.Seen.Running)), oneLine(firstOfTexts(c.Seen.Answer, c.Seen.Reason), 120))
		},
		Rests: func(c survey.Cell, why string) { say(c, "%s. Look at it with: lyceum show %s", why, c.Quest) },
	}
	interrupt := ctx.Done()
	work, stop := a.patient(ctx)
	defer stop()
	s, err := m.Conduct(work, name, interrupt, p)
	if errors.Is(err, ledger.ErrClaimed) {
		return fmt.Errorf("study %s is being run by another process; see how it stands with: lyceum study show %s", name, name)
	}
	if s == nil {
		return err
	}
	if asJSON {
		err = errors.Join(err, a.printJSON(s.View(false)))
	} else if err == nil || errors.Is(err, runtime.ErrInterrupted) {
		a.studyTable(s.View(false))
	}
	if err == nil && !s.Over {
		err = errResting
	}
	if !asJSON && !s.Over {
		fmt.Fprintf(a.err, "Study %s is recorded up to here. Go on with: lyceum study run %s\n", name, name)
	}
	return err
}

// firstOfTexts is the first that says something.
func firstOfTexts(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func (a *app) studyExportCommand() *cobra.Command {
	var asCSV, asCrate, force bool
	cmd := &cobra.Command{
		Use:   "export <study> --csv|--crate <file|->",
		Short: "Write a study's table as CSV, or all of it with its quests as one RO-Crate zip",
		Args:  exactArgs(2, "a study's name and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asCSV == asCrate {
				return usagef("say what is written: --csv for the table, --crate for the study and its quests")
			}
			name, file := args[0], args[1]
			m, err := a.studies(false)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return m.Export(cmd.Context(), name, w) }
			if asCSV {
				s, err := m.Load(cmd.Context(), name)
				if err != nil {
					return err
				}
				write = s.CSV
			}
			switch {
			case file == "-" && asCrate && isTerminal(a.out):
				return usagef("- is standard output, and that is a terminal, which a zip would confuse: redirect it, or give a file")
			case file == "-":
				return write(a.out)
			}
			if err := mayWrite(file, force); err != nil {
				return err
			}
			if err := writeWhole(file, write); err != nil {
				return fmt.Errorf("write study %s to %s: %w", name, file, err)
			}
			fmt.Fprintf(a.out, "Wrote %s.\n", printable(file))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asCSV, "csv", false, "write the table")
	cmd.Flags().BoolVar(&asCrate, "crate", false, "write the study's ledger, its table, and the crate of each quest")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

// hasStudies reports whether a home has any studies.
func hasStudies(home string) bool {
	_, err := os.Stat(studiesFile(home))
	return !errors.Is(err, fs.ErrNotExist)
}
