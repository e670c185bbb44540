package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/computer/tree"
	"lyceum/internal/event"
)

// Fresh is a computer that is made for one purpose, without network, and gone
// afterwards: at a place that nothing else uses, whatever a killed process left there.
type Fresh struct {
	Driver   computer.Driver
	Spec     computer.Spec
	Place    computer.Place
	Progress func(string)
}

// Use furnishes the home, starts the computer, and hands it over. fault says, in words
// for agents, why there is none: nobody else is disturbed by that.
func (f *Fresh) Use(ctx context.Context, fill func(home *os.Root) error, with func(c *computer.Computer, started *event.ComputerStarted) error) (fault string, err error) {
	if err := f.clear(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.clear(context.WithoutCancel(ctx))) }()
	if err := furnish(f.Place.Home, fill); err != nil {
		return "", err
	}
	spec := f.Spec
	spec.Network = computer.Network{}
	c, err := computer.Open(ctx, f.Driver, f.Place, spec, computer.Options{Progress: f.Progress})
	switch {
	case ctx.Err() != nil:
		return "", errors.Join(ctx.Err(), stopped(ctx, c))
	case err != nil:
		return "no computer could be started for it: " + err.Error(), nil
	}
	defer func() { err = errors.Join(err, stopped(ctx, c)) }()
	started, err := describe(c)
	if err != nil {
		return "", err
	}
	return "", with(c, started)
}

func stopped(ctx context.Context, c *computer.Computer) error {
	if c == nil {
		return nil
	}
	return c.Stop(context.WithoutCancel(ctx))
}

// newPrefix is what the name of a home begins with that is being made.
const newPrefix = ".new-"

// furnish makes a home: beside its place, and moved there whole, so that a crash leaves
// no home with half its files. Without fill it is empty.
func furnish(home string, fill func(*os.Root) error) error {
	fresh := filepath.Join(filepath.Dir(home), newPrefix+filepath.Base(home))
	if err := errors.Join(RemoveTree(fresh), os.MkdirAll(fresh, 0o700)); err != nil {
		return err
	}
	if fill != nil {
		root, err := os.OpenRoot(fresh)
		if err != nil {
			return err
		}
		defer root.Close()
		if err := fill(root); err != nil {
			return err
		}
	}
	return os.Rename(fresh, home)
}

func (f *Fresh) clear(ctx context.Context) error { return clearPlace(ctx, f.Place, f.Driver) }

// clearPlace ends what runs at a place, and removes all of it.
func clearPlace(ctx context.Context, p computer.Place, drivers ...computer.Driver) error {
	if err := computer.StopAt(ctx, p, drivers...); err != nil {
		return err
	}
	fresh := filepath.Join(filepath.Dir(p.Home), newPrefix+filepath.Base(p.Home))
	return errors.Join(RemoveTree(fresh), RemoveTree(p.Home), os.RemoveAll(p.Dir))
}

// Restored furnishes a home with a tree; without one it is empty.
func (r *Runtime) Restored(ctx context.Context, tree *event.TreeRef) func(*os.Root) error {
	return func(home *os.Root) error {
		if tree == nil {
			return nil
		}
		return blob.Restore(ctx, r.Blobs, *tree, home)
	}
}

// RemoveTree removes a folder, also if programs have taken rights on what is in it
// away, and however deep it is.
func RemoveTree(dir string) error { return tree.Remove(dir) }
