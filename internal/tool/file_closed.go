package tool

import (
	"fmt"
	"os"

	"lyceum/internal/computer"
	"lyceum/internal/workspace"
)

// room is a workspace as a tool may see it.
type room struct {
	*os.Root
	// closed are the files and folders that policies keep the tool away from.
	closed []string
	guard  *computer.Guard
}

func (c Call) room() room { return room{c.Home, c.Closed, &computer.Guard{Bounds: c.Bounds}} }

// closes returns the closed file or folder, or the hidden name, for which a path in its one form is
// not to be looked at; empty if it is.
func (r room) closes(name string) string {
	if dir := workspace.Closed(name, r.closed); dir != "" || r.guard == nil {
		return dir
	}
	return r.guard.Bounds.Hidden(name)
}

// shut is the error of a path that is closed.
func shut(path, dir string) error {
	return fmt.Errorf("%s is closed to you by a policy (%s); leave it as it is, and work elsewhere", short(path), dir)
}

// Readable says why an open file of the workspace is not to be read, however it was reached, nil if
// it is.
func (c Call) Readable(f *os.File) error { return c.room().inside(f.Name(), f) }

// leadsTo refuses a path in its one form that is closed or hidden, or that leads through links to
// what is. What is not there yet counts as in the folder in which it would be made.
func (r room) leadsTo(name string) error {
	_, err := r.place(name)
	return err
}

// place is where a path leads that is not closed.
func (r room) place(name string) (string, error) {
	if err := r.open(name, name); err != nil || len(r.closed) == 0 && r.unbounded() {
		return name, err
	}
	there, err := computer.LeadsTo(r.Root, name)
	if err != nil {
		return "", inWords(name, err)
	}
	return there, r.open(name, there)
}

// unbounded reports whether the quest lets its agents read and write all of the workspace.
func (r room) unbounded() bool {
	return r.guard == nil || len(r.guard.Bounds.Hide) == 0 && len(r.guard.Bounds.Write) == 0
}

// open refuses what is closed or hidden at a place.
func (r room) open(name, at string) error {
	if dir := workspace.Closed(at, r.closed); dir != "" {
		return shut(name, dir)
	}
	if r.guard == nil {
		return nil
	}
	return r.guard.Bounds.MayRead(at)
}

// writes refuses a path in its one form at which nothing is to be written.
func (r room) writes(name string) error {
	there, err := r.place(name)
	if err != nil || r.unbounded() {
		return err
	}
	return r.guard.Bounds.MayWrite(there)
}

// inside refuses an open file that is in a closed folder, or hidden.
func (r room) inside(name string, f *os.File) error {
	if len(r.closed) > 0 {
		at, err := computer.PlaceOf(r.Root, f)
		if err != nil {
			return inWords(name, err)
		}
		if dir := workspace.Closed(at, r.closed); dir != "" {
			return shut(name, dir)
		}
	}
	return r.guard.MayRead(r.Root, f)
}
