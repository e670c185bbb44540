package cli

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"lyceum/internal/runtime"
	"lyceum/internal/trajectory"
	"lyceum/internal/view"
)

// maxTimes is how many forks are made at once.
const maxTimes = 100

// forkTimes makes sibling forks. Those that were made before one fails stay, and are named.
func (a *app) forkTimes(ctx context.Context, from string, o runtime.ForkOptions, times int, asJSON bool) error {
	if times < 1 || times > maxTimes {
		return usagef("--times %d: want 1 to %d", times, maxTimes)
	}
	name := o.Name
	if name != "" {
		if err := checkName(fmt.Sprint(name, "-", times)); err != nil {
			return err
		}
	}
	if o.At == 0 { // a quest that runs must not move on between them
		head, err := a.rt.Ledger.Head(ctx, from)
		if err != nil {
			return err
		}
		o.At = head.Seq
	}
	var made []string
	var shown []*questJSON
	for i := range times {
		if name != "" {
			o.Name = fmt.Sprint(name, "-", i+1)
		}
		s, err := a.rt.Fork(ctx, from, o)
		if err != nil && len(made) > 0 {
			return fmt.Errorf("after %s: %w", strings.Join(made, ", "), err)
		}
		if err != nil {
			return err
		}
		made = append(made, s.Name)
		if asJSON {
			q, err := a.describe(ctx, s.Name, s, true)
			if err != nil {
				return err
			}
			shown = append(shown, q)
		}
	}
	if asJSON {
		return a.printJSON(shown)
	}
	fmt.Fprintf(a.out, "Forked %s at %d as %s. Run each with: lyceum run <quest>\n", from, o.At, strings.Join(made, ", "))
	return nil
}

// exportTrajectories writes what models were shown and said in some quests.
func (a *app) exportTrajectories(ctx context.Context, quests []string, file string, o trajectory.Options, force bool) error {
	if !slices.Contains(trajectory.Formats, o.Format) {
		return usagef("--format %s: want %s", printable(o.Format), strings.Join(trajectory.Formats, ", "))
	}
	if o.Split != "" && o.Split != trajectory.Train && o.Split != trajectory.HeldOut {
		return usagef("--split %s: want %s or %s", printable(o.Split), trajectory.Train, trajectory.HeldOut)
	}
	if err := a.read(); err != nil {
		return err
	}
	names, err := a.named(ctx, quests)
	if err != nil {
		return err
	}
	var rep *trajectory.Report
	export := func(w io.Writer) (err error) {
		rep, err = trajectory.Export(ctx, a.rt, names, o, w)
		return err
	}
	told := a.out
	if file == "-" {
		told, err = a.err, export(a.out)
	} else if err = mayWrite(file, force); err == nil {
		err = writeWhole(file, export)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(told, "Wrote %s of %s.", view.Several(int64(rep.Lines), "line"), view.Several(int64(len(names)), "quest"))
	for _, left := range []struct {
		n   int
		why string
	}{{rep.Recalled, "with answers that were given before"}, {rep.Secret, "with secrets"}, {rep.Broken, "without a whole answer"}} {
		if left.n > 0 {
			fmt.Fprintf(told, " Left out %d %s.", left.n, left.why)
		}
	}
	fmt.Fprintln(told)
	return nil
}

// named is the quests that some names mean, each once. A * in one stands for anything.
func (a *app) named(ctx context.Context, names []string) (out []string, err error) {
	heads, err := a.rt.Ledger.Quests(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		found := len(out)
		if !strings.Contains(name, "*") {
			if err := checkName(name); err != nil {
				return nil, err
			}
			out = append(out, name)
			continue
		}
		for _, h := range heads {
			if ok, err := path.Match(name, h.Quest); err != nil {
				return nil, usagef("quest name %q: %w", name, err)
			} else if ok {
				out = append(out, h.Quest)
			}
		}
		if len(out) == found {
			return nil, usagef("no quest is called %s", printable(name))
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	}), nil
}
