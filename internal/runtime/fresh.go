package runtime

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
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
func (f *Fresh) Use(ctx context.Context, furnish func(home *os.Root) error, with func(c *computer.Computer, started *event.ComputerStarted) error) (fault string, err error) {
	if err := f.clear(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.clear(context.WithoutCancel(ctx))) }()
	if err := f.furnish(furnish); err != nil {
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

func (f *Fresh) furnish(furnish func(*os.Root) error) error {
	if err := os.MkdirAll(f.Place.Home, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.Place.Home)
	if err != nil {
		return err
	}
	defer root.Close()
	return furnish(root)
}

// clear ends what runs at the place, and removes all of it.
func (f *Fresh) clear(ctx context.Context) error {
	if err := computer.StopAt(ctx, f.Place, f.Driver); err != nil {
		return err
	}
	return errors.Join(RemoveTree(f.Place.Home), os.RemoveAll(f.Place.Dir))
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
// away.
func RemoveTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) // if this does not help, the removal tells
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(dir))
}
