package computertest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// hog runs a program that takes more than a limit. It must not get hold of more than
// most, or be ended for it.
func hog(l computer.Limits, args []string, most int) func(*testing.T, *shootingRange) string {
	return hogOf(l, args, most, "")
}

// unexplained is hog for a program that is to be ended because nobody can say what it holds.
func unexplained(l computer.Limits, args []string, most int) func(*testing.T, *shootingRange) string {
	return hogOf(l, args, most, computer.EndHidden)
}

// folderOfAnother is a home with a folder that root left in it: no look at what the home holds
// comes to an end.
func folderOfAnother(t *testing.T, r *shootingRange) string {
	need.Root(t, "leave a folder in a home that its owner cannot open")
	s := r.station(t, computer.Spec{Limits: diskLimit}, computer.Options{})
	closed := filepath.Join(s.place.Home, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	res, out := s.run(t, s.command("another", "deleted-files", "8", "15s"))
	if err := os.Remove(closed); err != nil {
		t.Fatal(err)
	}
	if res.End != computer.EndHidden {
		return fmt.Sprintf("it ended by %q, want %q: %s", res.End, computer.EndHidden, out)
	}
	return s.works(t)
}

// hogOf is hog for a program that is to end in a way, if that is not empty.
func hogOf(l computer.Limits, args []string, most int, end string) func(*testing.T, *shootingRange) string {
	return func(t *testing.T, r *shootingRange) string {
		s := r.station(t, computer.Spec{Limits: l}, computer.Options{})
		res, out := s.run(t, s.command(args[0], args...))
		t.Logf("exit %d %s, end %q, met %q: %.500s", res.Exit, res.Signal, res.End, res.Met, out)
		if end != "" && res.End != end {
			return fmt.Sprintf("it ended by %q, want %q: %s", res.End, end, out)
		}
		got, n := r.target.told(out), holds(out, "holds")
		// Limits that are looked at now and then may be passed for a moment.
		if _, err := time.ParseDuration(args[len(args)-1]); err == nil && got == "" {
			n = 0
		}
		if n > most || got != "" && n < 0 {
			return fmt.Sprintf("it holds %d: %s", n, got)
		}
		if res.End == computer.EndStopped && res.Met == computer.EndMemory {
			// What no process owns is not freed by ending one, so the kernel may have ended
			// them all. The limit held.
			t.Log("the computer ended with it")
			return ""
		}
		// The kernel may take a moment to free what was held.
		wrong := s.works(t)
		for i := 0; i < 4 && wrong != ""; i++ {
			time.Sleep(200 * time.Millisecond)
			wrong = s.works(t)
		}
		return wrong
	}
}

func processors(t *testing.T, r *shootingRange) string {
	if runtime.NumCPU() == 1 {
		need.Elsewhere(t, "there is only one processor to use")
	}
	s := r.station(t, computer.Spec{Limits: computer.Limits{CPUs: 1000}}, computer.Options{})
	_, out := s.run(t, s.command("affinity", "affinity", "1"))
	if holds(out, "had") > 1 {
		return "" // all may be used, a part of the time: a control group holds the limit
	}
	return r.target.told(out)
}

// burst asks for room in many files at once, for which nothing need be written.
func burst(t *testing.T, r *shootingRange) string {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, mib); err != nil {
		need.Elsewhere(t, "the file system of %s cannot give room to a file ahead of time: %v", os.TempDir(), err)
	}
	s := r.station(t, computer.Spec{Limits: diskLimit}, computer.Options{})
	res, out := s.run(t, s.command("burst", "burst", "24"))
	t.Logf("end %q: %.300s", res.End, out)
	if total := size(s.place.Home, "in-burst"); total > 4*diskLimit.Disk {
		return fmt.Sprintf("with a limit of %d MiB, the home has %d MiB", diskLimit.Disk/mib, total/mib)
	}
	return ""
}

// size is how much disk a folder takes.
func size(dir, below string) (total int64) {
	_ = filepath.WalkDir(filepath.Join(dir, below), func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil {
				total += info.Sys().(*syscall.Stat_t).Blocks * 512
			}
		}
		return nil
	})
	return total
}

func diskByOutput(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{Limits: diskLimit}, computer.Options{})
	for range 4 {
		c := s.command("output", "output", "14")
		s.run(t, c)
	}
	total := size(s.place.Dir, "log")
	if total > 2*diskLimit.Disk {
		return fmt.Sprintf("with a limit of %d MiB, the logs of four commands are %d MiB", diskLimit.Disk/mib, total/mib)
	}
	return ""
}

// floods keeps the proxy busy. A stand-in for it answers nobody.
func floods(t *testing.T, r *shootingRange) string {
	serve := func(ctx context.Context, c io.ReadWriteCloser) {
		defer c.Close()
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
		_, _ = io.Copy(io.Discard, c)
	}
	s := r.station(t, computer.Spec{Network: computer.Network{Allow: []string{"example.org"}}}, computer.Options{Serve: serve})
	before := openFiles()
	c := s.command("flood", "flood-proxy", computer.ProxyAddress, "2500")
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, s, c.ID, "connections:")
	most := 0
	for until := time.Now().Add(time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		most = max(most, openFiles()-before)
	}
	if most > 600 {
		return fmt.Sprintf("Lyceum has %d more files open", most)
	}
	return s.works(t)
}

func openFiles() int {
	d, _ := os.ReadDir("/proc/self/fd")
	return len(d)
}

func pastProxy(t *testing.T, r *shootingRange) string {
	serve := func(_ context.Context, c io.ReadWriteCloser) { c.Close() }
	s := r.station(t, computer.Spec{Network: computer.Network{Allow: []string{"*.example.org"}}}, computer.Options{Serve: serve})
	_, port, _ := net.SplitHostPort(r.target.tcp)
	for _, args := range [][]string{
		{"interfaces"}, {"dial", r.target.tcp, "[::1]:" + port, "169.254.169.254:80", "1.1.1.1:443"}, {"send", "8.8.8.8:53", r.target.udp},
		{"connect", r.target.abstract}, {"socket", "2", "3", "1"},
	} {
		if _, out := s.run(t, s.command("past", args...)); r.target.told(out) != "" {
			return r.target.told(out)
		}
	}
	return r.target.reached()
}

// openNetwork is the one way in which computers share something with the host.
func openNetwork(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{Network: computer.Network{Open: true}}, computer.Options{})
	// Not the common target: to be counted is not to be held against the others.
	name := "@lyceum-open-" + random()
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, out := s.run(t, s.command("open", "connect", name))
	return r.target.told(out)
}

// hostFile is one that computers show and nobody locks.
const hostFile = "/usr/bin/env"

func locks(t *testing.T, r *shootingRange) string {
	oneAtATime(t)
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("lock", "lock", hostFile)
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, s, c.ID, "locked:")
	f, err := os.Open(hostFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return "the host cannot lock a file: " + err.Error()
	}
	return ""
}

// oneAtATime waits until no other test on this machine plays with what is the same for all of
// them, and lets go when the test and its computers have ended. Drivers are tested at the same
// time, and where one of them is known to be open, its program has the file that another
// looks at.
func oneAtATime(t *testing.T) {
	f, err := os.Open(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

func watches(t *testing.T, r *shootingRange) string {
	inotify.Lock()
	defer inotify.Unlock()
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("watch", "watch", hostFile)
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, s, c.ID, "watching:")
	if _, err := os.ReadFile(hostFile); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	res, err := s.Wait(ctx, c.ID)
	if err != nil {
		return ""
	}
	return r.target.told(said(res))
}

// inotify is held by whoever needs what quota uses up.
var inotify sync.Mutex

func quota(t *testing.T, r *shootingRange) string {
	if b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances"); err != nil || number(strings.TrimSpace(string(b))) > 4000 {
		need.Elsewhere(t, "a user may have more watches here than one program can open")
	}
	inotify.Lock()
	defer inotify.Unlock()
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("quota", "inotify")
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, s, c.ID, "exhausted:")
	defer func() { _ = s.Kill(t.Context(), c.ID); _, _ = s.Wait(t.Context(), c.ID) }()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return "the host's programs cannot watch files any more: " + err.Error()
	}
	unix.Close(fd)
	return ""
}
