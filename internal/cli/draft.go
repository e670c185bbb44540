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

	"lyceum/internal/config"
	"lyceum/internal/model/provider"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/strictyaml"
)

// plan makes a plan of a draft and the flags. Nothing is made in the home.
func (a *app) plan(ctx context.Context, d *runtime.Draft, f *specFlags, bounds quest.Bounds) (plan runtime.Plan, err error) {
	if err := a.configure(); err != nil {
		return plan, err
	}
	if d.Changes, err = f.changes(); err != nil {
		return plan, err
	}
	d.Changes.Limits, d.Changes.Limits.Strict = bounds, f.strict
	d.Home, d.Model = a.home, a.config.Model
	plan, err = d.Plan(societies())
	if err != nil && plan.Spec != nil {
		err = a.allFaults(ctx, plan, err)
	}
	if _, placed := errors.AsType[*strictyaml.Error](err); !placed && quest.FieldOf(err) == "name" && f.name == "" {
		err = fmt.Errorf("%w: give name in %s, or --name", err, d.File) // the folder's is none
	}
	return plan, f.blame(err)
}

// allFaults adds to what a plan was refused for what else is wrong with it.
func (a *app) allFaults(ctx context.Context, plan runtime.Plan, refused error) error {
	found, err := provider.New(&provider.Options{Config: a.config, File: config.File(a.home)})
	if err != nil {
		return refused
	}
	defer found.Close()
	rt := bareRuntime(a.home, a.config, found)
	all := rt.Faults(ctx, plan)
	if err := closeDrivers(rt.Computers); err != nil {
		return errors.Join(all, err)
	}
	if len(quest.FaultsOf(all)) > 1 {
		return all
	}
	return refused
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no %s; lyceum init writes a quest.yaml to begin with", path)
	}
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
