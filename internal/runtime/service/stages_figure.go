package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/stages/bundle"
)

// maxFigureWhy is how many bytes the reason has why there is no figure.
const maxFigureWhy = 240

// figureEnv is the environment of a program that makes a figure: one style, and nothing that
// differs from day to day.
var figureEnv = []string{
	bundle.EnvStyle + "=" + computer.HomeDir + "/" + bundle.FolderStyle,
	"MATPLOTLIBRC=" + computer.HomeDir + "/" + bundle.FolderStyle + "/matplotlibrc",
	"MPLBACKEND=Agg", "SOURCE_DATE_EPOCH=0", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "TZ=UTC", "LC_ALL=C.UTF-8",
}

// figure has a figure made twice, each time in a fresh computer. Those that agree to the byte are
// the same; of those that do not, the first is shown.
func (x *bundling) figure(ctx context.Context, number int, tree event.TreeRef, f event.BundleFigure) (bundle.Figure, error) {
	out := bundle.Figure{BundleFigure: f, Verdict: bundle.Same}
	not := func(verdict, why string) (bundle.Figure, error) {
		out.Verdict, out.Why = verdict, runtime.AtMost(x.q.Redact(why), maxFigureWhy)
		return out, nil
	}
	why, err := x.misses(ctx, tree, f)
	switch {
	case err != nil:
		return out, err
	case why != "":
		return not(bundle.Failed, why)
	case x.q.Driver == nil:
		return not(bundle.Unchecked, "this quest has no computers to make it in")
	}
	for run := range 2 {
		d := &drawing{q: x.q, seq: x.seq, number: number, run: run, tree: tree, figure: f}
		data, err := d.draw(ctx)
		x.fingerprint = d.fingerprint
		switch {
		case err != nil:
			return out, err
		case d.fault != "" && run == 1:
			return not(bundle.Differs, "the second time: "+d.fault)
		case d.fault != "":
			return not(d.verdict, d.fault)
		case run == 0:
			out.Data = data
		case !bytes.Equal(out.Data, data):
			return not(bundle.Differs, fmt.Sprintf("two runs made different files, of %d and of %d bytes", len(out.Data), len(data)))
		}
	}
	return out, nil
}

// misses says which file of a figure the branch does not have.
func (x *bundling) misses(ctx context.Context, tree event.TreeRef, f event.BundleFigure) (string, error) {
	for _, name := range append([]string{f.Program}, f.Data...) {
		clean := path.Clean(name)
		if !filepath.IsLocal(clean) || strings.Contains(name, "\x00") {
			return fmt.Sprintf("%.100q is no file of the branch", name), nil
		}
		e, err := repo.At(ctx, x.q.Blobs, tree, clean)
		if err != nil {
			return "", err
		}
		if e == nil {
			return fmt.Sprintf("there is no file %.100q in the last checkpoint", name), nil
		}
	}
	if !filepath.IsLocal(f.Output) || path.Clean(f.Output) != f.Output || f.Output == path.Clean(f.Program) || slices.Contains(f.Data, f.Output) {
		return fmt.Sprintf("%.100q cannot be what it writes", f.Output), nil
	}
	return "", nil
}

// drawing is one run of a figure's program.
type drawing struct {
	q           *runtime.Quest
	seq         uint64
	number, run int
	tree        event.TreeRef
	figure      event.BundleFigure
	// fingerprint is that of the computer; verdict and fault say why there is no figure.
	fingerprint    event.Hash
	verdict, fault string
}

// draw runs the program, and takes what it wrote.
func (d *drawing) draw(ctx context.Context) (data []byte, err error) {
	f := d.q.Fresh(fmt.Sprintf("figure-%d-%d-%d", d.seq, d.number, d.run))
	fault, err := f.Use(ctx, d.furnish(ctx), func(c *computer.Computer, started *event.ComputerStarted) error {
		d.fingerprint = started.Fingerprint
		res, err := c.Run(ctx, computer.Command{ID: "figure", Args: runner(d.figure.Program), Env: figureEnv, Timeout: maxTrial})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			d.verdict, d.fault = bundle.Unchecked, "it could not be run: "+err.Error()
			return nil
		}
		if d.verdict, d.fault = bundle.Failed, trialFault(res); d.fault != "" {
			return nil
		}
		data, d.fault, err = drawn(f.Place.Home, d.figure.Output)
		return err
	})
	if fault != "" {
		d.verdict, d.fault = bundle.Unchecked, fault
	}
	return data, err
}

// furnish is the branch with the style of figures, and without what the program is to write.
func (d *drawing) furnish(ctx context.Context) func(*os.Root) error {
	return func(home *os.Root) error {
		if err := d.q.Restored(ctx, &d.tree)(home); err != nil {
			return err
		}
		if err := errors.Join(home.RemoveAll(d.figure.Output), home.RemoveAll(bundle.FolderStyle), home.Mkdir(bundle.FolderStyle, 0o700)); err != nil {
			return err
		}
		for _, f := range bundle.Style() {
			if err := home.WriteFile(f.Path, f.Data, 0o600); err != nil {
				return err
			}
		}
		return nil
	}
}

// drawn reads a picture that a program was to write into a home.
func drawn(home, name string) (data []byte, fault string, err error) {
	data, fault, err = written(home, name, bundle.MaxFigure)
	if err != nil || fault != "" {
		return nil, fault, err
	}
	if _, err := bundle.Kind(name, data); err != nil {
		return nil, fmt.Sprintf("%s: %v", name, err), nil
	}
	return data, "", nil
}

// written reads a file that a program was to write into a home. The program may have put anything
// there: it is read only if it is a file, and not too long.
func written(home, name string, most int64) (data []byte, fault string, err error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Sprintf("it wrote no file %.100q", name), nil
	}
	if data, err = readPlain(root, filepath.FromSlash(name), most); err != nil {
		return nil, err.Error(), nil
	}
	return data, "", nil
}

// figuresAgain makes the figures of a paper once more, and compares.
func figuresAgain(ctx context.Context, q *audit.Place, seq uint64, b *event.BundleCall, then *event.BundleResult, out audit.Executed) (audit.Executed, error) {
	if why := q.NoComputer(); why != "" {
		return out.Not(why), nil
	}
	x := &bundling{q: q.Quest, seq: seq}
	var differs, unclear []string
	looked := 0
	for i, f := range b.Figures {
		at := slices.IndexFunc(then.Figures, func(m event.FigureMade) bool { return m.ID == f.ID })
		if at < 0 || then.Figures[at].Verdict != bundle.Same || then.Figures[at].File == nil {
			unclear = append(unclear, fmt.Sprintf("the figure %s was not made twice the same then, too", f.ID))
			continue
		}
		now, err := x.figure(ctx, i, b.Tree, f)
		if err != nil {
			return out, err
		}
		switch looked++; {
		case now.Verdict == bundle.Unchecked:
			return out.Not(now.Why), nil
		case now.Verdict != bundle.Same:
			differs = append(differs, fmt.Sprintf("the figure %s is %s now: %s", f.ID, now.Verdict, now.Why))
		case event.RefOf(now.Data) != *then.Figures[at].File:
			differs = append(differs, fmt.Sprintf("the figure %s differs", f.ID))
		}
	}
	if looked == 0 {
		return out.Not(strings.Join(append(unclear, "there is no figure to compare"), "; ")), nil
	}
	return out.Judged(differs, audit.OtherComputer(then.Fingerprint, x.fingerprint)), nil
}
