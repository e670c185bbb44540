package computertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// roughAttempt is one that has a computer to itself, or needs more than a program.
type roughAttempt struct {
	name string
	want string
	// try returns what was reached.
	try func(t *testing.T, r *shootingRange) string
	// proof says how it is known that success would be noticed.
	proof string
}

// Words for how.
const (
	inTheTest = "the attempt itself does the same without the wall, and must succeed"
	byHog     = "the program, run on the host, says that it holds what it should not"
)

func rough() []roughAttempt {
	return []roughAttempt{
		{"LinksOutOfTheHome", "Lyceum follows a link out of a home", linksOut, inTheTest},
		{"LinksSwappedWhileRead", "Lyceum is made to by a race", swapped, inTheTest},
		{"SetuidFileInTheHome", "a file that root left in the home gives its rights", setuidFile, "run on the host by an ordinary user it gives them"},
		{"SetuidFileForTheHost", "a program in the home makes whoever of the host runs it the home's owner", setuidForHost, "the rights of the file are looked at outside"},
		{"PoisonedHome", "Lyceum runs a program of the home for one of the system's", poisoned, "run by its path, the program leaves its mark"},
		{"EverySignal", "a signal ends the first process", signals("queue-signals"), "before the helper let go of faults, this ended it"},
		{"EverySignalFromTheKernel", "a signal ends the first process", signals("io-signals"), "before the helper let go of faults, this ended it"},
		{"StopsEverything", "a process that is stopped holds the computer up for ever", stops, "without the helper's patience, this hung it"},
		{"LimitsOfTheFirstProcess", "the helper is kept from its work", limitsOfOthers, "the program says so"},
		{"SlowsTheFirstProcess", "the helper, which watches the limits, runs last", alone("slow-others"), "the program says so"},
		{"LowersItsMark", "a command outlives its time", lowersMark, "before nobody's processes were ended too, this one stayed"},
		{"LowersItsMarkAndIsKilled", "a command cannot be killed", lowersMarkKilled, "before nobody's processes were ended too, this one stayed"},
		{"OutlivesItsCommand", "a process outlives its command", outlives, inTheTest},
		{"OutlivesTheComputer", "a process outlives its computer", outlivesStop, inTheTest},
		{"MeetsAnotherComputer", "two computers meet, and could pass each other files", meets, inTheTest},
		{"MemoryInFolders", "folders in memory hold more than the limit", hog(memoryLimit, []string{"fill", "512", "/dev/shm", "/tmp", "/dev", "/run", "/", "/var", "/etc"}, 256), byHog},
		{"MemoryInFiles", "files in memory hold more than the limit", hog(memoryLimit, []string{"memory-file", "512", "2s"}, 256), byHog},
		{"MemoryInSegments", "shared memory holds more than the limit", hog(memoryLimit, []string{"shared-memory", "512", "2s"}, 256), byHog},
		{"MemoryInInodes", "empty files hold more than the limit", hog(memoryLimit, []string{"inodes", "600000", "/tmp", "2s"}, 300000), byHog},
		{"Processes", "there are more processes than the limit", hog(computer.Limits{Processes: 64}, []string{"forks", "200"}, 64), byHog},
		{"Processors", "more processors are used than the limit", processors, "the program says so"},
		{"DiskInDeletedFiles", "files without a name hold more than the limit", hog(diskLimit, []string{"deleted-files", "64", "2s"}, 16), byHog},
		{"DiskInAClosedFolder", "a folder that cannot be looked into holds more than the limit", hog(diskLimit, []string{"closed-folder", "64", "2s"}, 16), byHog},
		{"DiskByHoles", "files with holes fill the host's disk when they are copied", hog(diskLimit, []string{"sparse", "64", "2s"}, 16), byHog},
		{"DiskInABurst", "a disk is full before anybody looks", burst, "the home is measured"},
		{"DiskByOutput", "what commands write fills the host's disk", diskByOutput, "the host's folder is measured"},
		{"FloodsTheProxy", "Lyceum runs out of descriptors", floods, "Lyceum's descriptors are counted"},
		{"PastTheProxy", "there is another way to the network than the proxy", pastProxy, "as in the table"},
		{"AbstractSocketsWithOpenNetwork", "a socket of the host is reached", openNetwork, "as in the table"},
		{"LocksAHostFile", "a program of the host waits for one inside", locks, inTheTest},
		{"WatchesAHostFile", "it is seen what the host runs", watches, inTheTest},
		{"UsersQuota", "what a user may have is used up for the host's programs", quota, "the host tries to use it"},
	}
}

var (
	memoryLimit = computer.Limits{Memory: 256 * mib}
	diskLimit   = computer.Limits{Disk: 16 * mib}
)

// sums keeps what is stored in it, to be searched.
type sums struct {
	blob.Store
	mu   sync.Mutex
	text bytes.Buffer
	size int64
}

func (s *sums) Put(_ context.Context, b []byte) (event.Ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	s.size += int64(len(b))
	return event.Ref{Hash: sha256.Sum256(b), Size: int64(len(b))}, nil
}

func (s *sums) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	b, err := io.ReadAll(io.LimitReader(r, 64*mib))
	if err != nil {
		return event.Ref{}, err
	}
	return s.Put(ctx, b)
}

func (s *sums) Has(context.Context, event.Hash) (bool, error) { return false, nil }

// snapshot stores a home and reports whether the secret is in it.
func (r *shootingRange) snapshot(t *testing.T, root *os.Root) string {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s := &sums{}
	if _, _, _, err := blob.Snapshot(ctx, s, root, nil); ctx.Err() != nil {
		return "the snapshot does not end: " + err.Error()
	}
	if strings.Contains(s.text.String(), r.target.secret) {
		return "the secret is in the snapshot"
	}
	return ""
}

func linksOut(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	s.run(t, s.command("links", append([]string{"links"}, r.target.files()...)...))
	const in = "in-links/"
	if b, err := os.ReadFile(filepath.Join(s.place.Home, in+"link-0")); err != nil || string(b) != r.target.secret {
		t.Fatalf("the link does not lead to the secret: %q %v", b, err)
	}
	up := strings.Repeat("up/", 12)
	for _, name := range []string{in + "link-0", in + "link-4", in + "folder/out/id_ed25519", in + "top" + r.target.files()[0], in + up + r.target.files()[0]} {
		if b, err := s.Home().ReadFile(name); err == nil {
			return fmt.Sprintf("%s reads %q", name, b)
		}
		if f, err := s.Home().OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
			f.Close()
			return "written through " + name
		}
	}
	// The walk of a tool that lists files.
	var out string
	_ = fs.WalkDir(s.Home().FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, r.target.name) {
			out = "the walk came to " + path
		}
		return nil
	})
	if out != "" {
		return out
	}
	if got := r.snapshot(t, s.Home()); got != "" {
		return got
	}
	return r.target.reached()
}

func swapped(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	key := r.target.files()[0]
	if err := s.Start(t.Context(), s.command("swap", "swap", key)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the swapping", func() bool {
		b, err := s.Home().ReadFile("in-swap/file")
		return err == nil && len(b) > 0
	})
	inDir := "in-swap/dir/" + filepath.Base(key)
	naive := 0
	// As long as it takes for the race to be lost by one who does not look out.
	for began := time.Now(); time.Since(began) < 10*time.Second && (naive < 20 || time.Since(began) < 500*time.Millisecond); {
		for _, name := range []string{"in-swap/file", inDir} {
			if b, err := os.ReadFile(filepath.Join(s.place.Home, name)); err == nil && string(b) == r.target.secret {
				naive++
			}
			if b, err := s.Home().ReadFile(name); err == nil && string(b) == r.target.secret {
				return "the secret was read from " + name
			}
		}
		dir, err := s.Home().OpenRoot("in-swap")
		if err != nil {
			continue
		}
		got := r.snapshot(t, dir)
		dir.Close()
		if got != "" {
			return got
		}
	}
	if naive == 0 {
		t.Error("nobody would have lost this race")
	}
	return r.target.reached()
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !so(); {
		if time.Now().After(until) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func setuidFile(t *testing.T, r *shootingRange) string {
	if os.Geteuid() != 0 {
		t.Skip("only root can leave a file of root's in a home")
	}
	s := r.station(t, computer.Spec{}, computer.Options{})
	path := filepath.Join(s.place.Home, "setuid")
	if err := copyFile("/proc/self/exe", path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755|os.ModeSetuid|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	_, out := s.run(t, s.command("setuid", "setuid", computer.HomeDir+"/setuid"))
	if !strings.Contains(out, "euid") {
		t.Errorf("the program did not run: %s", out)
	}
	return r.target.told(out)
}

func setuidForHost(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	_, out := s.run(t, s.command("bit", "setuid-bit"))
	t.Log(out)
	var got string
	_ = filepath.WalkDir(s.place.Home, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 && info.Mode().IsRegular() {
				got = fmt.Sprintf("%s has the rights %v, of user %d", d.Name(), info.Mode(), info.Sys().(*syscall.Stat_t).Uid)
			}
		}
		return nil
	})
	return got
}

// poisoned puts programs and libraries into the home under the names of others.
func poisoned(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("poison", "whoami")
	c.Env = append(c.Env, "LD_PRELOAD="+computer.HomeDir+"/evil.so", "PATH=.:"+computer.HomeDir+":"+os.Getenv("PATH"))
	s.run(t, c)
	evil := []byte("#!/bin/sh\necho " + escaped + " poisoned\n")
	for _, name := range []string{"true", "sh", "env", "ld.so.preload", ".profile", ".bashrc", "lyceum", "lyceum-helper"} {
		if err := s.Home().WriteFile(name, evil, 0o755); err != nil {
			t.Fatal(err)
		}
		// When Lyceum is root, what it writes is root's. These are the agent's.
		if info, err := os.Stat(s.place.Home); err == nil && os.Geteuid() == 0 {
			_ = s.Home().Chown(name, int(info.Sys().(*syscall.Stat_t).Uid), -1)
		}
	}
	_, direct := s.run(t, computer.Command{ID: "direct", Args: []string{"./true"}})
	if !strings.Contains(direct, escaped) {
		t.Errorf("the poison does not work: %s", direct)
	}
	for i, args := range [][]string{{"true"}, {"sh", "-c", "true"}, {"env", "true"}} {
		res, out := s.run(t, computer.Command{ID: "p" + strconv.Itoa(i), Args: args})
		if strings.Contains(out, escaped) {
			return fmt.Sprintf("%v ran a program of the home", args)
		}
		if res.Exit != 0 {
			t.Errorf("%v: exit %d: %s", args, res.Exit, out)
		}
	}
	return ""
}

// alone runs a program in a computer of its own and believes what it says.
func alone(args ...string) func(*testing.T, *shootingRange) string {
	return func(t *testing.T, r *shootingRange) string {
		s := r.station(t, computer.Spec{}, computer.Options{})
		_, out := s.run(t, s.command(args[0], args...))
		t.Log(out)
		if !strings.Contains(out, tried) {
			t.Error("the attempt was not made")
		}
		if got := r.target.told(out); got != "" {
			return got
		}
		return s.works(t)
	}
}

func signals(role string) func(*testing.T, *shootingRange) string {
	return func(t *testing.T, r *shootingRange) string {
		s := r.station(t, computer.Spec{}, computer.Options{})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			res, err := s.Run(ctx, s.command(role, role))
			if err != nil {
				return fmt.Sprintf("the computer is gone: %v", err)
			}
			if res.End == computer.EndStopped {
				said, _ := os.ReadFile(filepath.Join(s.place.Dir, "boot.log"))
				return fmt.Sprintf("the computer is gone: %+v %.300s", res.End, said)
			}
			if n := holds(said(res), "sent"); n < 64 {
				t.Errorf("only %d signals could be sent: %s", n, said(res))
			}
			if got := s.works(t); got != "" {
				return got
			}
		}
		return ""
	}
}

// stops tries to catch commands as they start.
func stops(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	storm := s.command("storm", "stop-storm", "1500ms")
	if err := s.Start(t.Context(), storm); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 4 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				_, _ = s.Run(ctx, computer.Command{ID: "s" + random(), Args: []string{computer.HomeDir + "/attempt", AttemptRole, "whoami"}, Timeout: time.Second})
				cancel()
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := s.Wait(ctx, storm.ID)
	wait.Wait()
	if err != nil {
		return fmt.Sprintf("the storm does not end: %v", err)
	}
	return s.works(t)
}

func limitsOfOthers(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := s.Run(ctx, s.command("limits", "limit-others"))
	if err != nil {
		return err.Error()
	}
	if got := r.target.told(said(res)); got != "" {
		return got
	}
	return s.works(t)
}

func lowersMark(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	for _, n := range []string{"1", "1000"} {
		c := s.command("mark", "lower-mark", n)
		c.Timeout = 400 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		res, err := s.Run(ctx, c)
		if err != nil {
			return fmt.Sprintf("with a mark that is %s lower it goes on: %v", n, err)
		}
		if res.End != computer.EndTimeout {
			t.Errorf("it ended by %q: %s", res.End, said(res))
		}
	}
	return ""
}

func lowersMarkKilled(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("mark", "lower-mark", "1000")
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the lower mark", func() bool { _, err := s.Home().Stat("in-mark/alive"); return err == nil })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := s.Kill(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(ctx, c.ID); err != nil {
		return fmt.Sprintf("it was killed and goes on: %v", err)
	}
	return ""
}

// living are the processes of the host whose command line holds a word.
func living(word string) (out []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil && bytes.Contains(b, []byte(word)) {
			out = append(out, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return out
}

// remains is what is left of processes with a word after a moment.
func remains(word string) string {
	var left []string
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if left = living(word); len(left) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("still there: %.200q", left)
}

func outlives(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	for _, lower := range []string{"0", "1", "2", "1000"} {
		word := "left-" + random()
		c := s.command("daemon", "daemon", lower, computer.HomeDir+"/"+word)
		s.run(t, c)
		if _, err := s.Home().Stat(word); err != nil {
			t.Errorf("nothing was left behind that could be found: %v", err)
		}
		if got := remains(word); got != "" {
			return "with a mark lower by " + lower + ": " + got
		}
	}
	return ""
}

func outlivesStop(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	// It is in the shadow of one that runs.
	word := "left-" + random()
	if err := s.Start(t.Context(), s.command("daemon", "sleep", "1m", word)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the program", func() bool { return len(living(word)) > 0 })
	c := s.command("daemon", "swap", r.target.files()[0], word)
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	owner := -1
	if info, err := os.Stat(s.place.Home); err == nil && os.Geteuid() == 0 {
		owner = int(info.Sys().(*syscall.Stat_t).Uid)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.driver.Kill(ctx, handleOf(t, s.place)); err != nil {
		t.Fatal(err)
	}
	if got := living(word); len(got) > 0 {
		return fmt.Sprintf("right after the end: %.200q", got)
	}
	if owner > 0 {
		for until := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			left := ownedBy(owner)
			if len(left) == 0 {
				break
			}
			if time.Now().After(until) {
				return fmt.Sprintf("processes of the agent's user: %q", left)
			}
		}
	}
	return ""
}

var handleRule = regexp.MustCompile(`"handle":"((?:[^"\\]|\\.)*)"`)

// handleOf is the word by which the driver knows the computer of a place.
func handleOf(t *testing.T, p computer.Place) string {
	b, err := os.ReadFile(filepath.Join(p.Dir, "computer.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := handleRule.FindSubmatch(b)
	if m == nil {
		t.Fatalf("no handle in %s", b)
	}
	s, err := strconv.Unquote(`"` + string(m[1]) + `"`)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ownedBy(user int) (out []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if info, err := os.Stat(d); err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == user {
			b, _ := os.ReadFile(d + "/cmdline")
			out = append(out, string(b))
		}
	}
	return out
}

func meets(t *testing.T, r *shootingRange) string {
	a, b := r.station(t, computer.Spec{}, computer.Options{}), r.station(t, computer.Spec{}, computer.Options{})
	word := random()
	c := a.command("meet", "meet", "wait", word)
	if err := a.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, a, c.ID, "waiting")
	_, out := b.run(t, b.command("meet", "meet", "come", word))
	if got := r.target.told(out); got != "" {
		return got
	}
	// In the same computer they do meet.
	if _, out := a.run(t, a.command("meet", "meet", "come", word)); r.target.told(out) == "" {
		t.Errorf("they would not meet anywhere: %s", out)
	}
	return ""
}

// await waits until a command has written a line that begins so.
func await(t *testing.T, s *station, id, begins string) {
	t.Helper()
	waitFor(t, begins, func() bool {
		lines, err := s.Read(t.Context(), id, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines.Lines {
			if strings.HasPrefix(string(l.Text), begins) {
				return true
			}
		}
		if !lines.Process.Running {
			t.Fatalf("it ended before it said %q: %+v", begins, lines)
		}
		return false
	})
}

// holds is the number that a program says after a word.
func holds(out, word string) int {
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(line, word+": "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(v))
			return n
		}
	}
	return -1
}

// hog runs a program that takes more than a limit. It must not get hold of more than
// most, or be ended for it.
func hog(l computer.Limits, args []string, most int) func(*testing.T, *shootingRange) string {
	return func(t *testing.T, r *shootingRange) string {
		s := r.station(t, computer.Spec{Limits: l}, computer.Options{})
		res, out := s.run(t, s.command(args[0], args...))
		t.Logf("exit %d %s, end %q, met %q: %.500s", res.Exit, res.Signal, res.End, res.Met, out)
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
		return s.works(t)
	}
}

func processors(t *testing.T, r *shootingRange) string {
	if runtime.NumCPU() == 1 {
		t.Skip("there is only one processor to use")
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
		t.Skipf("the host's file system cannot do it: %v", err)
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
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("lock", "lock", hostFile)
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, s, c.ID, "locked:")
	f, err := os.Open(hostFile)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return "the host cannot lock a file: " + err.Error()
	}
	return ""
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
		t.Skip(err)
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
		t.Skip("a user may have more watches here than one program can open")
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
