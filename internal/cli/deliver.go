package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// deliverFlags are those of deliver.
type deliverFlags struct {
	agent, branch, repo string
	apply, asJSON       bool
}

// usualBranch stands for the name of the quest's own branch.
const usualBranch = "lyceum/<quest>"

// deliveryJSON is what deliver prints with --json.
type deliveryJSON struct {
	Quest string `json:"quest"`
	Agent string `json:"agent"`
	// Base is the commit that the agent began with, empty for a folder without a repository.
	Base    string        `json:"base"`
	Files   []changedJSON `json:"files"`
	LeftOut []leftJSON    `json:"left_out"`
	// Patch is there unless a branch was made or files were written; as base64 where it is
	// not UTF-8.
	Patch       string `json:"patch,omitempty"`
	PatchBase64 string `json:"patch_base64,omitempty"`
	Branch      string `json:"branch,omitempty"`
	Commit      string `json:"commit,omitempty"`
	Moved       string `json:"moved,omitempty"`
	Already     bool   `json:"already,omitempty"`
	Applied     bool   `json:"applied,omitempty"`
}

type changedJSON struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

type leftJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (a *app) deliverCommand() *cobra.Command {
	f := &deliverFlags{}
	cmd := &cobra.Command{
		Use:   "deliver <quest>",
		Short: "Print what an agent changed in a repository as a patch, or bring it there",
		Long: `Print what an agent changed in the repository that its quest works on (repo in quest.yaml),
as a patch that git apply takes. What the base's .gitignore names, and paths that could do harm,
are left out and listed.

With --branch the changes become a commit on a new branch lyceum/<quest>, made of the commit
that the quest began with; your work tree, index and hooks are not touched. With --apply they
are written into your work tree, if all of them fit.

  lyceum deliver fix-the-parser | less
  lyceum deliver fix-the-parser --branch
  lyceum deliver fix-the-parser --agent agent-2 --apply --repo ../parser`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.apply && f.branch != "" {
				return usagef("--branch and --apply: choose one")
			}
			return a.deliver(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.agent, "agent", "", "whose changes (default: those of the one agent that has some, or of several the one that answered)")
	cmd.Flags().StringVar(&f.branch, "branch", "", "make a commit on a new branch, of this name or lyceum/<quest>")
	cmd.Flags().Lookup("branch").NoOptDefVal = usualBranch
	cmd.Flags().BoolVar(&f.apply, "apply", false, "write the changes into the work tree")
	cmd.Flags().StringVar(&f.repo, "repo", "", "the repository (default: the one that the quest was made with)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return a.questArg(cmd)
}

func (a *app) deliver(ctx context.Context, arg string, f *deliverFlags) error {
	rt, name, done, err := a.subject(ctx, arg)
	if err != nil {
		return err
	}
	defer done()
	s, err := rt.Load(ctx, name)
	if err != nil {
		return err
	}
	dir := ""
	if f.repo != "" {
		if dir, err = filepath.Abs(f.repo); err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return usagef("--repo: %w", err)
		}
	}
	out := &deliveryJSON{Quest: s.Name}
	switch {
	case f.branch != "":
		err = a.deliverBranch(ctx, rt, name, s, f, dir, out)
	case f.apply:
		err = a.deliverFiles(ctx, rt, name, s, f, dir, out)
	default:
		err = a.deliverPatch(ctx, rt, s, f, out)
	}
	if _, ok := errors.AsType[*runtime.PlanError](err); ok {
		return usageError{err}
	}
	switch changed := runtime.Changed(s); {
	case err != nil:
		return err
	case f.asJSON:
		return a.printJSON(out)
	case f.agent == "" && len(changed) > 1:
		others := slices.DeleteFunc(changed, func(name string) bool { return name == out.Agent })
		whose := "of " + printable(out.Agent) + ", whose answer the quest has"
		if len(others) == len(changed) {
			whose = "that were accepted, put together" // who answers has none of its own
		}
		fmt.Fprintf(a.err, "These are the changes %s. There are others, for --agent: %s\n", whose, printable(event.Shorten(strings.Join(others, ", "), 500)))
	}
	return nil
}

// itemize fills in what is delivered, and tells a person what is not.
func (a *app) itemize(out *deliveryJSON, s *quest.State, d *repo.Delivery, who string, asJSON bool) {
	out.Agent, out.Base, out.Files, out.LeftOut = who, s.Repo.Commit, []changedJSON{}, []leftJSON{}
	for _, c := range d.Changes {
		kind := event.Changed
		if c.Old == nil {
			kind = event.Added
		} else if c.New == nil {
			kind = event.Removed
		}
		out.Files = append(out.Files, changedJSON{c.Path, kind})
	}
	for _, l := range d.LeftOut {
		out.LeftOut = append(out.LeftOut, leftJSON(l))
	}
	if asJSON {
		return
	}
	const most = 20
	for i, l := range d.LeftOut {
		if i == most {
			fmt.Fprintf(a.err, "%s left out: --json lists them.\n", view.Several(int64(len(d.LeftOut)-most), "other is", "others are"))
			break
		}
		fmt.Fprintf(a.err, "Left out: %s (%s)\n", printable(l.Path), printable(l.Reason))
	}
	if len(d.Changes) == 0 {
		fmt.Fprintf(a.err, "Nothing is different from the base.\n")
	}
}

func (a *app) deliverPatch(ctx context.Context, rt *runtime.Runtime, s *quest.State, f *deliverFlags, out *deliveryJSON) error {
	d, who, err := rt.Delivery(ctx, s, f.agent)
	if err != nil {
		return err
	}
	patch, err := d.Patch(ctx)
	if err != nil {
		return err
	}
	a.itemize(out, s, d, who, f.asJSON)
	switch {
	case f.asJSON && utf8.Valid(patch):
		out.Patch = string(patch)
	case f.asJSON:
		out.PatchBase64 = base64.StdEncoding.EncodeToString(patch)
	case isTerminal(a.out):
		fmt.Fprint(a.out, plain.Text(string(patch))) // the terminal obeys nothing that an agent wrote
	default:
		_, err = a.out.Write(patch)
	}
	return err
}

func (a *app) deliverBranch(ctx context.Context, rt *runtime.Runtime, name string, s *quest.State, f *deliverFlags, dir string, out *deliveryJSON) error {
	o := runtime.BranchOptions{Agent: f.agent, Dir: dir}
	if f.branch != usualBranch {
		o.Branch = f.branch
	}
	made, d, who, err := rt.Branch(ctx, name, s, o)
	if err != nil {
		return err
	}
	a.itemize(out, s, d, who, f.asJSON)
	out.Branch, out.Commit, out.Moved, out.Already = made.Branch, made.Commit, made.Moved, made.Already
	if !f.asJSON {
		fmt.Fprintln(a.out, runtime.Tell(made, who, len(d.Changes)))
	}
	return nil
}

func (a *app) deliverFiles(ctx context.Context, rt *runtime.Runtime, name string, s *quest.State, f *deliverFlags, dir string, out *deliveryJSON) error {
	d, who, err := rt.Delivery(ctx, s, f.agent)
	if err != nil {
		return err
	}
	if dir == "" {
		origin, err := rt.Origin(ctx, name)
		if err != nil {
			return err
		}
		if origin == nil {
			return usageError{runtime.ErrNoOrigin}
		}
		dir = origin.Path
	}
	patch, err := d.Patch(ctx)
	if err != nil {
		return err
	}
	if len(patch) > 0 {
		if err := repo.Apply(ctx, dir, patch); err != nil {
			return err
		}
	}
	a.itemize(out, s, d, who, f.asJSON)
	if out.Applied = len(patch) > 0; !f.asJSON && out.Applied {
		fmt.Fprintf(a.out, "Wrote the changes of %s into %s: %s.\n", who, printable(dir), view.Several(int64(len(d.Changes)), "file"))
	}
	return nil
}
