package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/computer/docker"
	"lyceum/internal/computer/namespaces"
)

// computers measures what a sandbox costs: a command in one that is up against plain
// fork and exec, a new one, a snapshot, a flood of output, and many at once.
func (b *bench) computers() error {
	fmt.Println("\ncomputers")
	ctx := context.Background()
	if err := b.docker(ctx); err != nil {
		return err
	}
	if err := b.snapshots(ctx); err != nil {
		return err
	}
	if err := b.packing(ctx); err != nil {
		return err
	}
	var local []computer.Driver
	for _, d := range []computer.Driver{namespaces.New(namespaces.Options{}), bubblewrap.New(bubblewrap.Options{})} {
		if err := d.Check(ctx); err != nil {
			fmt.Printf("  LEFT OUT %s: %v\n", d.Name(), err)
			continue
		}
		if err := b.commands(ctx, d, nil); err != nil {
			return fmt.Errorf("%s: %w", d.Name(), err)
		}
		local = append(local, d)
	}
	if err := b.cold(ctx, local); err != nil || len(local) == 0 {
		return err
	}
	if err := b.flood(ctx, local[0]); err != nil {
		return err
	}
	return b.many(ctx, local[0])
}

// docker measures with an engine of its own, whatever the machine has besides.
func (b *bench) docker(ctx context.Context) error {
	engine, stop, missing, err := computertest.StartEngine()
	defer stop()
	if err != nil || missing != "" {
		fmt.Printf("  LEFT OUT docker: %s%v\n", missing, err)
		return err
	}
	d := docker.New(docker.Options{Host: engine.Host})
	defer d.Close()
	return b.commands(ctx, d, engine.Dockerfile)
}

func (b *bench) openComputer(ctx context.Context, d computer.Driver, dockerfile []byte) (*computer.Computer, error) {
	dir := b.fresh()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	return computer.Open(ctx, d, computer.Place{Home: home, Dir: filepath.Join(dir, "computer")}, computer.Spec{Dockerfile: dockerfile}, computer.Options{})
}

// commands compares the same program, run plainly and in a computer, in turns.
func (b *bench) commands(ctx context.Context, d computer.Driver, dockerfile []byte) error {
	c, err := b.openComputer(ctx, d, dockerfile)
	if err != nil {
		return err
	}
	defer c.Stop(ctx)
	n := 500
	if b.quick {
		n = 100
	}
	var plain, inside []float64
	for i := range n {
		began := time.Now()
		if err := exec.Command("true").Run(); err != nil {
			return err
		}
		plain = append(plain, time.Since(began).Seconds())
		id := fmt.Sprint("c", i)
		began = time.Now()
		if _, err := c.Run(ctx, computer.Command{ID: id, Args: []string{"true"}}); err != nil {
			return err
		}
		inside = append(inside, time.Since(began).Seconds())
		if err := c.Forget(ctx, id); err != nil {
			return err
		}
	}
	fmt.Printf("  %s: `true` takes %.2f ms, by fork and exec %.2f ms (medians of %d)\n", d.Name(), 1000*median(inside), 1000*median(plain), n)
	b.promise("a command in a computer of "+d.Name()+" against fork and exec", median(inside)/median(plain), false, 3)
	return nil
}

// cold starts a new computer by each driver in turns, so that what else the machine does
// slows all of them down.
func (b *bench) cold(ctx context.Context, drivers []computer.Driver) error {
	took := make([][]float64, len(drivers))
	for range 40 {
		for i, d := range drivers {
			began := time.Now()
			c, err := b.openComputer(ctx, d, nil)
			if err != nil {
				return err
			}
			took[i] = append(took[i], 1000*time.Since(began).Seconds())
			if err := c.Stop(ctx); err != nil {
				return err
			}
		}
	}
	for i, d := range drivers {
		b.promise("a new computer of "+d.Name()+" is ready after ms", median(took[i]), false, 50)
	}
	if len(drivers) == 2 {
		b.promise("a new computer of "+drivers[0].Name()+" against one of "+drivers[1].Name(), median(took[0])/median(took[1]), false, 1.2)
	}
	return nil
}

func (b *bench) snapshots(ctx context.Context) error {
	dir := b.fresh()
	home := filepath.Join(dir, "home")
	for i := range 100 {
		folder := filepath.Join(home, fmt.Sprint(i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(j)), fmt.Appendf(nil, "%d %d\n", i, j), 0o644); err != nil {
				return err
			}
		}
	}
	store, err := blobfs.Open(filepath.Join(dir, "blobs"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	// Files that were just written are read once more, for a clock's tick may hide a
	// change.
	time.Sleep(20 * time.Millisecond)
	_, index, _, err := blob.Snapshot(ctx, store, root, nil)
	if err != nil {
		return err
	}
	var took []float64
	for round := range 5 {
		for i := range 10 {
			if err := os.WriteFile(filepath.Join(home, fmt.Sprint(i*7), "5"), fmt.Appendf(nil, "changed %d\n", round), 0o644); err != nil {
				return err
			}
		}
		began := time.Now()
		if _, index, _, err = blob.Snapshot(ctx, store, root, index); err != nil {
			return err
		}
		took = append(took, 1000*time.Since(began).Seconds())
	}
	b.promise("a snapshot of 10,000 files with ten changed, in ms", median(took), false, 300)
	return nil
}

// packing stores large logs in a store that packs them later and in one that never packs, in
// turns: whoever takes a snapshot is not to wait for packing.
func (b *bench) packing(ctx context.Context) error {
	home := filepath.Join(b.fresh(), "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	var plain int64
	for i := range 10 {
		var log []byte
		for n := 0; len(log) < 4<<20; n++ {
			log = fmt.Appendf(log, "2026-11-16 10:%02d:%02d worker-%d step %d loss=0.%06d in %d ms\n", n/60%60, n%60, i, n, n*7919%1_000_003, n*31%2000)
		}
		plain += int64(len(log))
		if err := os.WriteFile(filepath.Join(home, fmt.Sprint(i)), log, 0o644); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	took := map[blobfs.When][]float64{}
	var room int64
	rounds := 15
	if b.quick {
		rounds = 5
	}
	for range rounds {
		for _, when := range []blobfs.When{blobfs.Later, blobfs.Never} {
			store, err := blobfs.Open(b.fresh(), &blobfs.Options{Pack: when})
			if err != nil {
				return err
			}
			began := time.Now()
			if _, _, _, err := blob.Snapshot(ctx, store, root, nil); err != nil {
				return errors.Join(err, store.Close())
			}
			took[when] = append(took[when], 1000*time.Since(began).Seconds())
			if err := store.Pack(ctx); err != nil {
				return errors.Join(err, store.Close())
			}
			if when == blobfs.Later {
				room = 0
				for held, err := range store.List(ctx) {
					if err != nil {
						return errors.Join(err, store.Close())
					}
					room += held.Bytes
				}
			}
			if err := store.Close(); err != nil {
				return err
			}
		}
	}
	fmt.Printf("  a snapshot of %d MB of new logs: %.0f ms, without packing %.0f ms (medians of %d); packed they take %d MB\n", plain>>20, median(took[blobfs.Later]), median(took[blobfs.Never]), rounds, room>>20)
	b.promise("a snapshot of new logs against one without packing", median(took[blobfs.Later])/median(took[blobfs.Never]), false, 1.1)
	b.promise("room that packed logs take against plain ones", float64(room)/float64(plain), false, 0.5)
	return nil
}

// flood has a command print a gigabyte, and looks at what that takes of this
// process's memory.
func (b *bench) flood(ctx context.Context, d computer.Driver) error {
	c, err := b.openComputer(ctx, d, nil)
	if err != nil {
		return err
	}
	defer c.Stop(ctx)
	size := int64(1 << 30)
	if b.quick {
		size = 64 << 20
	}
	debug.FreeOSMemory()
	before, most := resident(), int64(0)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			most = max(most, resident()-before)
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	began := time.Now()
	r, err := c.Run(ctx, computer.Command{ID: "flood", Args: []string{"sh", "-c", fmt.Sprintf("yes 'one line of what a program has to say' | head -c %d", size)}})
	close(done)
	watch.Wait()
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	whole, err := r.Stdout.Open()
	if err != nil {
		return err
	}
	defer whole.Close()
	if n, err := io.Copy(io.Discard, whole); err != nil || n != size {
		return fmt.Errorf("%d of %d bytes of the output are there: %w", n, size, err)
	}
	fmt.Printf("  a command that prints %d MB: %.0f MB/s\n", size>>20, float64(size)/1e6/took)
	b.promise("memory for a command that prints a lot, in MB", float64(most)/1e6, false, 50)
	return nil
}

// resident is how much memory this process holds.
func resident() (n int64) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// many opens computers until there are a lot of them, and runs a command in each.
func (b *bench) many(ctx context.Context, d computer.Driver) error {
	n := 200
	if b.quick {
		n = 20
	}
	all := make([]*computer.Computer, n)
	failed := make([]error, n)
	began := time.Now()
	var work sync.WaitGroup
	lanes := make(chan struct{}, 8)
	for i := range n {
		dir := b.fresh()
		work.Go(func() {
			lanes <- struct{}{}
			defer func() { <-lanes }()
			home := filepath.Join(dir, "home")
			if failed[i] = os.MkdirAll(home, 0o700); failed[i] != nil {
				return
			}
			all[i], failed[i] = computer.Open(ctx, d, computer.Place{Home: home, Dir: filepath.Join(dir, "computer")}, computer.Spec{}, computer.Options{})
		})
	}
	work.Wait()
	up := time.Since(began)
	for i, c := range all {
		if c == nil {
			continue
		}
		work.Go(func() {
			r, err := c.Run(ctx, computer.Command{ID: "one", Args: []string{"sh", "-c", "echo hello; sleep 1; echo world"}})
			if err == nil && string(r.Stdout.Head) != "hello\nworld\n" {
				err = fmt.Errorf("it said %q", r.Stdout.Head)
			}
			failed[i] = err
		})
	}
	work.Wait()
	bad := 0
	for i, c := range all {
		if failed[i] != nil {
			bad++
			fmt.Printf("  computer %d: %v\n", i, failed[i])
		}
		if c != nil {
			work.Go(func() { _ = c.Stop(ctx) })
		}
	}
	work.Wait()
	fmt.Printf("  %d computers at once: up after %.1f s\n", n, up.Seconds())
	b.promise(fmt.Sprintf("computers of %d at once that failed", n), float64(bad), false, 0)
	return nil
}
