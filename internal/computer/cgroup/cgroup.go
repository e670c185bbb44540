// Package cgroup puts the limits of a computer into the kernel's control groups,
// of either version, where this process may make some.
//
// A group is made below the one that Lyceum itself is in, or beside it where the
// kernel wants that. Whatever cannot be limited here, the caller limits in another
// way: Has tells.
package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The controllers we use.
const (
	Memory    = "memory"
	Processes = "pids"
	CPU       = "cpu"
)

var controllers = []string{Memory, Processes, CPU}

// Tree is where groups can be made.
type Tree struct {
	// Version is 1 or 2, or 0 if there is none.
	Version int
	// parents are the folders in which groups are made, by controller. With version 2
	// they are all the same.
	parents map[string]string
	// Why tells what is missing, by controller, where something is.
	Why map[string]string

	once sync.Once
}

// prefix is what the names of all computers' groups begin with.
const prefix = "lyceum-"

// sweep takes away groups whose computers have ended by themselves. The kernel keeps
// those that have processes; one that was just made may not have any yet.
func (t *Tree) sweep() {
	for _, parent := range t.parents {
		old, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
		for _, dir := range old {
			var s unix.Stat_t
			var now unix.Timespec
			if unix.Stat(dir, &s) == nil && unix.ClockGettime(unix.CLOCK_REALTIME, &now) == nil && now.Sec-s.Ctim.Sec > 60 {
				_ = unix.Rmdir(dir)
			}
		}
	}
}

// Find looks where this process can make groups. root is where the control groups
// are mounted, self the list of those this process is in.
func Find(root, self string) *Tree {
	t := &Tree{parents: map[string]string{}, Why: map[string]string{}}
	lines, err := os.ReadFile(self)
	if err != nil {
		return t.without("this system has no control groups")
	}
	paths := map[string]string{} // controller to path; the unified hierarchy is ""
	for l := range strings.Lines(string(lines)) {
		f := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, c := range strings.Split(f[1], ",") {
			paths[c] = f[2]
		}
	}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		t.findUnified(root, paths[""])
	} else {
		t.findSplit(root, paths)
	}
	return t
}

func (t *Tree) without(why string) *Tree {
	for _, c := range controllers {
		t.Why[c] = why
	}
	return t
}

// findSplit looks at each controller of version 1 by itself.
func (t *Tree) findSplit(root string, paths map[string]string) {
	for _, c := range controllers {
		p, ok := paths[c]
		if !ok {
			t.Why[c] = "the kernel has no control group controller " + c
			continue
		}
		dir := filepath.Join(root, c, p)
		if err := writable(dir); err != nil {
			t.Why[c] = fmt.Sprintf("no right to make control groups in %s", dir)
			continue
		}
		t.Version, t.parents[c] = 1, dir
	}
}

// findUnified goes up from our own group to the first that hands out the
// controllers: a group with processes in it cannot.
func (t *Tree) findUnified(root, own string) {
	for dir := filepath.Join(root, own); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		// To move a process is a matter of the group above both places.
		if writable(dir) != nil || writable(filepath.Join(dir, "cgroup.procs")) != nil {
			continue
		}
		given := words(filepath.Join(dir, "cgroup.subtree_control"))
		for _, c := range controllers {
			if slices.Contains(given, c) {
				continue
			}
			// This works in the root, and in a group that has no processes.
			if os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0) == nil {
				given = append(given, c)
			}
		}
		if !slices.Contains(given, Memory) && !slices.Contains(given, Processes) {
			continue
		}
		t.Version = 2
		for _, c := range controllers {
			if slices.Contains(given, c) {
				t.parents[c] = dir
			} else {
				t.Why[c] = fmt.Sprintf("the control group %s does not hand out %s", dir, c)
			}
		}
		return
	}
	t.without("no right to make control groups here")
}

func writable(dir string) error { return unix.Access(dir, unix.W_OK) }

func words(file string) []string {
	b, _ := os.ReadFile(file)
	return strings.Fields(string(b))
}

// Has reports whether groups limit what a controller is for.
func (t *Tree) Has(controller string) bool { return t.parents[controller] != "" }

// Limits are those of a group. Zero does not limit.
type Limits struct {
	Memory, Processes int64
	// CPUs in thousandths of a core.
	CPUs int64
}

// Group is a computer's own, as a word that another process can use too.
type Group struct {
	Version int      `json:"version"`
	Dirs    []string `json:"dirs"`
}

// Make makes the group of that name. One that an earlier process left behind is
// ended first: its counts and its limits would be in the way.
func (t *Tree) Make(name string, l Limits) (g *Group, err error) {
	t.once.Do(t.sweep)
	g = &Group{Version: t.Version}
	// A group that is half made is removed, whoever no longer waits for it.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	defer func() {
		if err != nil {
			_ = g.Remove(ctx)
			g = nil
		}
	}()
	for _, c := range controllers {
		if t.parents[c] == "" {
			continue
		}
		dir := filepath.Join(t.parents[c], name)
		if !slices.Contains(g.Dirs, dir) {
			err := os.Mkdir(dir, 0o755)
			if errors.Is(err, os.ErrExist) {
				if err = (&Group{Version: t.Version, Dirs: []string{dir}}).Remove(ctx); err == nil {
					err = os.Mkdir(dir, 0o755)
				}
			}
			if err != nil {
				return g, fmt.Errorf("make a control group: %w", err)
			}
			g.Dirs = append(g.Dirs, dir)
		}
		for _, s := range settings(t.Version, c, l) {
			err := os.WriteFile(filepath.Join(dir, s.file), []byte(s.value), 0)
			if err != nil && !(s.optional && errors.Is(err, os.ErrNotExist)) {
				return g, fmt.Errorf("limit %s: %w", c, err)
			}
		}
	}
	return g, nil
}

type setting struct {
	file, value string
	optional    bool
}

// settings are the files to write for a controller.
func settings(version int, controller string, l Limits) []setting {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	const period = 100_000
	quota := number(max(l.CPUs*period/1000, 1000))
	switch {
	case controller == Memory && l.Memory > 0 && version == 1:
		return []setting{{"memory.limit_in_bytes", number(l.Memory), false}, {"memory.memsw.limit_in_bytes", number(l.Memory), true}}
	case controller == Memory && l.Memory > 0:
		return []setting{{"memory.max", number(l.Memory), false}, {"memory.swap.max", "0", true}}
	case controller == Processes && l.Processes > 0:
		return []setting{{"pids.max", number(l.Processes), false}}
	case controller == CPU && l.CPUs > 0 && version == 1:
		return []setting{{"cpu.cfs_period_us", number(period), true}, {"cpu.cfs_quota_us", quota, true}}
	case controller == CPU && l.CPUs > 0:
		return []setting{{"cpu.max", quota + " " + number(period), false}}
	}
	return nil
}

// Add puts a process into the group. What it starts is in it too.
func (g *Group) Add(pid int) error {
	for _, d := range g.Dirs {
		if err := os.WriteFile(filepath.Join(d, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("put process %d into a control group: %w", pid, err)
		}
	}
	return nil
}

// Met counts how often processes were killed for memory, and how often one could
// not be started.
func (g *Group) Met() (memory, processes int64) {
	for _, d := range g.Dirs {
		memory = max(memory, field(filepath.Join(d, "memory.oom_control"), "oom_kill"), field(filepath.Join(d, "memory.events"), "oom_kill"))
		processes = max(processes, field(filepath.Join(d, "pids.events"), "max"))
	}
	return memory, processes
}

func field(file, name string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if w := strings.Fields(s.Text()); len(w) == 2 && w[0] == name {
			n, _ := strconv.ParseInt(w[1], 10, 64)
			return n
		}
	}
	return 0
}

// Kill ends every process of the group, and waits until they are gone.
func (g *Group) Kill(ctx context.Context) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		left := 0
		for _, d := range g.Dirs {
			for _, p := range words(filepath.Join(d, "cgroup.procs")) {
				if pid, err := strconv.Atoi(p); err == nil && pid > 1 {
					left++
					_ = unix.Kill(pid, unix.SIGKILL)
				}
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%d processes of a control group do not end: %w", left, ctx.Err())
		}
	}
}

// Remove ends what is in the group and takes it away.
func (g *Group) Remove(ctx context.Context) error {
	if err := g.Kill(ctx); err != nil {
		return err
	}
	for _, d := range g.Dirs {
		for wait := time.Millisecond; ; wait *= 2 {
			err := os.Remove(d)
			if err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			// The kernel takes a moment to see that the last process is gone.
			if wait > time.Second || !errors.Is(err, unix.EBUSY) {
				return fmt.Errorf("remove a control group: %w", err)
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return fmt.Errorf("remove a control group: %w", ctx.Err())
			}
		}
	}
	return nil
}
