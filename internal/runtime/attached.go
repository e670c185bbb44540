package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

// What agents attach to their work is put into folders that people and other agents go
// into: a few plain files by their names, and nothing else. A tree could be more (folders, links, a
// git repository whose settings run commands when a person asks for its status), so a tree
// from a ledger is looked at before it is believed, for a ledger may be a stranger's.

// Attachments reads what was attached: exactly the named files, each plain, with names that
// attachable takes.
func Attachments(ctx context.Context, store blob.Store, a quest.Attached) (blob.Tree, error) {
	tree, err := blob.ReadTree(ctx, store, a.Tree)
	if err != nil {
		return nil, err
	}
	for _, e := range tree {
		if e.Kind != blob.File {
			return nil, fmt.Errorf("the attachment %.200q is a %s: only plain files are attached", e.Name, e.Kind)
		}
		if err := attachable(e.Name); err != nil {
			return nil, err
		}
		if !slices.Contains(a.Files, e.Name) {
			return nil, fmt.Errorf("the attachment %.200q is not among those that are named", e.Name)
		}
	}
	if len(tree) != len(a.Files) {
		return nil, fmt.Errorf("%d attachments are named, and there are %d", len(a.Files), len(tree))
	}
	return tree, nil
}

// PutAttached makes a folder hold what was attached, and nothing else.
func (r *Runtime) PutAttached(ctx context.Context, a quest.Attached, folder *os.Root) error {
	if _, err := Attachments(ctx, r.Blobs, a); err != nil {
		return err
	}
	return blob.Restore(ctx, r.Blobs, a.Tree, folder)
}

// AttachedBy returns what an event says was attached, nil if it says nothing of it.
func AttachedBy(e event.Event) *quest.Attached {
	b, ok := e.Body.(event.Attacher)
	if !ok {
		return nil
	}
	path, tree, files := b.Attached()
	if tree == nil {
		return nil
	}
	return &quest.Attached{Path: path, Tree: *tree, Files: files}
}

// attachable says why a file of that name cannot stand in a paper's folder: git must be
// able to keep it and must not take it for its own, and people read it on a terminal. Which
// names are taken by files of its own, the society knows. Ledgers hold names that it took:
// it may not come to refuse more.
func attachable(base string) error {
	lower := strings.ToLower(base)
	switch {
	case base == "." || base == "/" || base == "..":
		return errors.New("an attachment is empty, or only a folder: give the path of a file in your home")
	case strings.HasPrefix(lower, ".git"), strings.HasPrefix(lower, "git~"):
		return fmt.Errorf("a file called %q cannot be attached; rename it", base)
	case len(base) > 100:
		return fmt.Errorf("the name of %q is longer than 100 bytes; rename it", AtMost(base, 200))
	case plain.Papers.In(base):
		return fmt.Errorf("the name of %q has characters that cannot be seen; rename it", base)
	}
	return nil
}

// devices are names that some systems take for something else than a file.
var devices = []string{
	"con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// Portable says why a file of that name cannot be unpacked everywhere, under that name and
// no other. Attachments that are not stand in a crate as blobs alone.
func Portable(name string) error {
	if err := attachable(name); err != nil {
		return err
	}
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case name == "" || strings.ContainsAny(name, `/\:*?"<>|`):
		return fmt.Errorf("the name of %q has a character that not every system takes; rename it", name)
	case plain.People.In(name) || !plain.Printable(name):
		return fmt.Errorf("the name of %q has characters that cannot be seen; rename it", name)
	case strings.HasPrefix(name, "-"), strings.HasPrefix(name, " "), strings.HasSuffix(name, " "), strings.HasSuffix(name, "."), slices.Contains(devices, strings.TrimSpace(stem)):
		return fmt.Errorf("a file called %q cannot be attached: not every system takes the name; rename it", name)
	}
	return nil
}
