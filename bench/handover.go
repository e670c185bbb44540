package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/workspace"
)

// handover measures what a task takes on a large repository, against what a person would do
// with the same files: copy them, and ask git what has changed.
func (b *bench) handover() error {
	files := 20_000
	if b.quick {
		files = 2_000
	}
	h := &handovers{b: b, ctx: context.Background(), source: b.fresh(), files: files}
	if err := h.make(); err != nil {
		return err
	}
	store, err := fs.Open(b.fresh(), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	h.store = store
	// Each beside its baseline, several times, for a machine is not always as fast.
	var r [6][]time.Duration
	for i := range rounds {
		for k, step := range []func(int) (time.Duration, error){h.copied, h.base, h.home, h.status, h.diff, h.patch} {
			// What a step before has only written, this one is not to flush.
			syscall.Sync()
			d, err := step(i)
			if err != nil {
				return err
			}
			r[k] = append(r[k], d)
		}
	}
	var m [6]time.Duration
	for k := range r {
		slices.Sort(r[k])
		m[k] = r[k][len(r[k])/2]
	}
	fmt.Printf("\nhandover: %d files; cp -r %v, base %v, home %v; git status %v, diff of a run %v, its patch %v (medians of %d)\n", files, m[0].Round(time.Millisecond), m[1].Round(time.Millisecond), m[2].Round(time.Millisecond), m[3].Round(time.Millisecond), m[4].Round(time.Millisecond), m[5].Round(time.Millisecond), rounds)
	b.promise("handover: base taken, times cp -r", float64(m[1])/float64(m[0]), false, 3)
	b.promise("handover: home ready, times cp -r", float64(m[2])/float64(m[0]), false, 2)
	b.promise("handover: diff of a run, times git status", float64(m[4])/float64(m[3]), false, 3)
	return nil
}

const rounds = 3

// handovers are those of one measurement.
type handovers struct {
	b      *bench
	ctx    context.Context
	source string
	files  int
	store  blob.Store
	tree   event.TreeRef
	seed   *repo.Seed
	copy   string
	dir    string
	found  *repo.Delivery
}

// make writes a repository of files as long as sources are.
func (h *handovers) make() error {
	for i := range h.files {
		name := filepath.Join(h.source, fmt.Sprintf("d%03d/e%d/f%05d.go", i/100, i/10%10, i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(fmt.Sprintf("package f%d\n%s", i, strings.Repeat(fmt.Sprintf("// line of %d\n", i*7919), 1+i%200))), 0o644)); err != nil {
			return err
		}
	}
	return errors.Join(h.git(h.source, "init", "-q"), h.git(h.source, "add", "-A"), h.git(h.source, "-c", "gc.auto=0", "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-q", "-m", "b"))
}

func (h *handovers) git(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd.Run()
}

func took(do func() error) (time.Duration, error) {
	begun := time.Now()
	err := do()
	return time.Since(begun), err
}

// copied copies the repository, and has git look at the copy once, as whoever works there
// would.
func (h *handovers) copied(int) (time.Duration, error) {
	h.copy = h.b.fresh()
	time, err := took(func() error { return exec.Command("cp", "-r", h.source, h.copy).Run() })
	if err != nil {
		return 0, err
	}
	return time, h.git(h.copy, "status", "--porcelain")
}

// base takes the commit into a store that has none of it.
func (h *handovers) base(round int) (time.Duration, error) {
	store := h.store
	if round > 0 {
		other, err := fs.Open(h.b.fresh(), nil)
		if err != nil {
			return 0, err
		}
		defer other.Close()
		store = other
	}
	return took(func() error {
		base, err := repo.Read(h.ctx, store, h.source, repo.Options{})
		if err == nil {
			h.tree = base.Tree
		}
		return err
	})
}

// home makes one. The repository in it is made once for all.
func (h *handovers) home(int) (time.Duration, error) {
	if h.seed == nil {
		seed, err := repo.NewSeed(h.ctx, h.store, h.tree, workspace.Bounds{})
		if err != nil {
			return 0, err
		}
		h.seed = seed
	}
	h.dir = h.b.fresh()
	return took(func() error {
		if err := os.Mkdir(h.dir, 0o755); err != nil {
			return err
		}
		root, err := os.OpenRoot(h.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		return errors.Join(blob.Restore(h.ctx, h.store, h.tree, root), h.seed.Write(root))
	})
}

// change writes what a run writes.
func change(dir string) error {
	for i := range 20 {
		name := filepath.Join(dir, fmt.Sprintf("d%03d/e%d/f%05d.go", i, i%10, i*100+i%10*10))
		if err := os.WriteFile(name, []byte("package changed\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (h *handovers) status(int) (time.Duration, error) {
	if err := change(h.copy); err != nil {
		return 0, err
	}
	return took(func() error { return h.git(h.copy, "status", "--porcelain") })
}

// diff looks at a home after a run, as a desk does that made it, and inspects it.
func (h *handovers) diff(int) (time.Duration, error) {
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	time.Sleep(20 * time.Millisecond) // what was written just now is not believed
	index, err := blob.Known(h.ctx, h.store, h.tree, root)
	if err != nil {
		return 0, err
	}
	if err := change(h.dir); err != nil {
		return 0, err
	}
	return took(func() error {
		home, _, _, err := runtime.SnapshotHome(h.ctx, h.store, root, index, []string{repo.Dir})
		if err != nil {
			return err
		}
		d, err := repo.Inspect(h.ctx, h.store, repo.Trees{Base: h.tree, Begun: h.tree, Home: home, Tracked: &h.tree})
		if err != nil {
			return err
		}
		if len(d.Changes) != 20 {
			return fmt.Errorf("%d files have changed, want 20", len(d.Changes))
		}
		h.found = d
		return nil
	})
}

// patch makes the patch of it, and proves it.
func (h *handovers) patch(int) (time.Duration, error) {
	return took(func() error {
		_, _, err := h.found.Proven(h.ctx)
		return err
	})
}
