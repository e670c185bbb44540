package computertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/need"
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
	return append(portAttempts(), []roughAttempt{
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
		{"MemoryInFiles", "files in memory hold more than the limit", hog(memoryLimit, []string{"memory-file", "512", "15s"}, 256), byHog},
		{"MemoryInSegments", "shared memory holds more than the limit", hog(memoryLimit, []string{"shared-memory", "512", "15s"}, 256), byHog},
		{"MemoryInInodes", "empty files hold more than the limit", hog(memoryLimit, []string{"inodes", "600000", "/tmp", "15s"}, 300000), byHog},
		{"MemoryInMappedFiles", "files in memory of which a page is mapped hold more than the limit", hog(smallMemory, []string{"mapped-memory", "800", "15s"}, 128), byHog},
		{"MemoryInSentFiles", "files in memory that were sent and not received hold more than the limit", hog(smallMemory, []string{"sent-memory", "800", "15s"}, 128), byHog},
		{"MemoryInManyFiles", "files in memory hold more than the limit", hog(smallMemory, []string{"memory-file", "800", "15s"}, 128), byHog},
		{"MemoryUnmapped", "shared memory of which the rest was unmapped holds more than the limit", hog(smallMemory, []string{"shared-anonymous", "800", "15s"}, 128), byHog},
		{"MemoryInPageTables", "the kernel's tables hold more than the limit", hog(smallMemory, []string{"page-tables", "400", "15s"}, 128), byHog},
		{"MemoryInSemaphores", "semaphores hold more than the limit", hog(smallMemory, []string{"semaphores", "400", "15s"}, 128), byHog},
		{"MemoryInMessages", "messages that nobody reads hold more than the limit", hog(smallMemory, []string{"messages", "200", "15s"}, 128), byHog},
		{"MemoryInSockets", "data that nobody reads holds more than the limit", hog(smallMemory, []string{"sockets", "400", "15s"}, 128), byHog},
		{"MemoryOfAHeadlessProcess", "a process whose first thread has ended holds more than the limit", hog(smallMemory, []string{"headless-memory", "240", "15s"}, 128), byHog},
		{"MemoryInSecret", "memory that nothing counts holds more than the limit", hog(smallMemory, []string{"secret-memory", "400", "15s"}, 128), "there is no such memory on the host either, unless its kernel was told"},
		{"Processes", "there are more processes than the limit", hog(computer.Limits{Processes: 64}, []string{"forks", "200"}, 64), byHog},
		{"Processors", "more processors are used than the limit", processors, "the program says so"},
		{"DiskInDeletedFiles", "files without a name hold more than the limit", hog(diskLimit, []string{"deleted-files", "64", "15s"}, 16), byHog},
		{"DiskInAClosedFolder", "a folder that cannot be looked into holds more than the limit", hog(diskLimit, []string{"closed-folder", "64", "15s"}, 16), byHog},
		{"DiskInDeepFolders", "a tree that is deeper than a path is long holds more than the limit", hog(diskLimit, []string{"deep-files", "64", "15s"}, 16), byHog},
		{"DiskOfAHiddenProcess", "a process that cannot be dumped holds more than the limit", hog(diskLimit, []string{"hidden-files", "64", "15s"}, 16), byHog},
		{"DiskOfAnUnreadableProgram", "a program that cannot be read holds more than the limit", unexplained(largerDisk, []string{"unreadable", "160", "15s"}, 80), byHog},
		{"DiskInAFolderOfAnother", "a home that cannot be looked through holds more than the limit", folderOfAnother, byHog},
		{"DiskOfAHeadlessProcess", "a process whose first thread has ended holds more than the limit", hog(diskLimit, []string{"headless", "64", "15s"}, 16), byHog},
		{"DiskOfAThread", "a thread with files of its own holds more than the limit", hog(diskLimit, []string{"own-files", "64", "15s"}, 16), byHog},
		{"DiskInMappedFiles", "deleted files of which a page is mapped hold more than the limit", hog(diskLimit, []string{"mapped-files", "64", "15s"}, 16), byHog},
		{"DiskInSentFiles", "deleted files that were sent and not received hold more than the limit", hog(diskLimit, []string{"sent-files", "64", "15s"}, 16), byHog},
		{"DiskInPrograms", "deleted programs that run hold more than the limit", hog(largerDisk, []string{"program-files", "160", "15s"}, 80), byHog},
		{"DiskInDeletedFolders", "deleted folders hold more than the limit", hog(computer.Limits{Disk: 17 * mib}, []string{"deleted-folders", "12", "15s"}, 4), byHog},
		{"DiskInLeftFolders", "deleted folders that processes stand in hold more than the limit", hog(computer.Limits{Disk: 17 * mib}, []string{"left-folders", "12", "15s"}, 4), byHog},
		{"DiskByHoles", "files with holes fill the host's disk when they are copied", hog(diskLimit, []string{"sparse", "64", "15s"}, 16), byHog},
		{"DiskInABurst", "a disk is full before anybody looks", burst, "the home is measured"},
		{"DiskByOutput", "what commands write fills the host's disk", diskByOutput, "the host's folder is measured"},
		{"FloodsTheProxy", "Lyceum runs out of descriptors", floods, "Lyceum's descriptors are counted"},
		{"PastTheProxy", "there is another way to the network than the proxy", pastProxy, "as in the table"},
		{"AbstractSocketsWithOpenNetwork", "a socket of the host is reached", openNetwork, "as in the table"},
		{"LocksAHostFile", "a program of the host waits for one inside", locks, inTheTest},
		{"WatchesAHostFile", "it is seen what the host runs", watches, inTheTest},
		{"UsersQuota", "what a user may have is used up for the host's programs", quota, "the host tries to use it"},
	}...)
}

var (
	memoryLimit = computer.Limits{Memory: 256 * mib}
	smallMemory = computer.Limits{Memory: 64 * mib}
	diskLimit   = computer.Limits{Disk: 16 * mib}
	// Where copies of the hostile program are a part of it.
	largerDisk = computer.Limits{Disk: 80 * mib}
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
	need.Root(t, "leave a file of root's in a home")
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
