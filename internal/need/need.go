// Package need asks for what a test takes and a machine may not have: a program, root,
// a kernel that can do something.
//
// Where it is missing the test is left out, with a sentence that says how to get it.
// Where LYCEUM_ALL is set, as .ci/run sets it, everything is said to be there: what is
// missing then fails the test, so that a machine that lost bubblewrap is not green.
//
// A test that is left out adds a line to the file that LYCEUM_LEFT_OUT names, if it names
// one: go test does not say by itself which tests were.
//
// This is the only place that skips. internal/architecture has the few exceptions.
package need

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

const (
	// All names the variable that says that nothing is missing.
	All = "LYCEUM_ALL"
	// LeftOut names the variable with the file that tells which tests were left out.
	LeftOut = "LYCEUM_LEFT_OUT"
	// Faults names the variable that asks for every repetition: make faults sets it.
	Faults = "LYCEUM_FAULTS"
	// Proofs names the variable that asks for what takes minutes: make proofs sets it.
	Proofs = "LYCEUM_PROOFS"
)

// packages are those of Debian, by the program that a test asks for. scripts/setup
// installs them. A program without one is in every Debian.
var packages = map[string]string{
	"awk":                  "",
	"busybox":              "busybox-static",
	"bwrap":                "bubblewrap",
	"chromium":             "chromium",
	"containerd":           "docker.io",
	"curl":                 "curl",
	"dbus-run-session":     "dbus-daemon",
	"dockerd":              "docker.io",
	"gcc":                  "gcc",
	"git":                  "git",
	"gnome-keyring-daemon": "gnome-keyring",
	"go":                   "",
	"ip":                   "iproute2",
	"mke2fs":               "",
	"mount":                "",
	"node":                 "npm",
	"npm":                  "npm",
	"nsenter":              "",
	"pg_ctlcluster":        "postgresql",
	"pgbouncer":            "pgbouncer",
	"python3":              "python3",
	"runc":                 "docker.io",
	"script":               "",
	"secret-tool":          "libsecret-tools",
	"sed":                  "",
	"setpriv":              "",
	"sh":                   "",
	"sha256sum":            "",
	"sleep":                "",
	"sort":                 "",
	"strace":               "strace",
	"tmux":                 "tmux",
	"unshare":              "",
	"xxd":                  "xxd",
}

// Program returns where a program is. It also looks where those for root are.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, missing := Find(name)
	if missing != "" {
		Missing(t, "%s", missing)
	}
	return path
}

// Programs asks for several.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}

// Find is Program for whoever is no test: missing says how to get the program.
func Find(name string) (path, missing string) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, ""
		}
	}
	switch from, known := packages[name]; {
	case !known:
		return "", fmt.Sprintf("there is no %s, and internal/need does not know which package has it: name it there", name)
	case from == "":
		return "", fmt.Sprintf("there is no %s, which every Debian has: put it into the PATH", name)
	default:
		return "", fmt.Sprintf("there is no %s: apt-get install %s", name, from)
	}
}

// Root asks for root. why is what only root can do.
func Root(t testing.TB, why string) {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "only root can %s: run the tests as root", why)
	}
}

// Time asks for more of it than a quick run gives. Leaving that out by -short is no
// matter of what is there.
func Time(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s takes seconds: run without -short", what)
	}
}

// Times is how often a test repeats what goes wrong only by chance, such as kills at random
// moments: a few times in make test, all times in make faults. scripts/packages finds the tests
// that ask, so they call it themselves.
func Times(few, all int) int {
	if os.Getenv(Faults) != "" {
		return all
	}
	return few
}

// Proof leaves a test that takes minutes to make proofs, whatever is there; with LYCEUM_ALL or without, make test tells
// at its end that the test was left out. What of it can be known in seconds has a test that does not ask.
// scripts/packages finds the tests that ask, so they call it themselves.
func Proof(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(Proofs) == "" {
		leaveOut(t, "left to make proofs: "+what)
	}
}

// AtATime is for the TestMain of a package whose tests mostly wait, for processes and flushes: so
// many of its parallel tests run at a time, where go test would run one for each core. -parallel
// has the last word.
func AtATime(n int) {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if told {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err) // there is no such flag: it is no test
	}
}

// NoDetector leaves a test to the run without the race detector: it does one thing after the
// other, for long, and has nothing for the detector to find. scripts/packages finds the tests
// that say so, and make test runs them.
func NoDetector(t testing.TB) {
	t.Helper()
	if Detector {
		t.Skip("it is run without the race detector")
	}
}

// Missing leaves the test out for want of something that a person could install or
// allow. The message says what, and how.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if os.Getenv(All) != "" {
		t.Fatalf("%s is set, so nothing may be missing; but %s", All, why)
	}
	leaveOut(t, why)
}

// Elsewhere leaves the test out because it is about another machine than this one:
// another processor, a newer kernel. Nothing that could be installed here helps, so that
// LYCEUM_ALL says nothing about it.
func Elsewhere(t testing.TB, format string, args ...any) {
	t.Helper()
	leaveOut(t, fmt.Sprintf(format, args...))
}

func leaveOut(t testing.TB, why string) {
	t.Helper()
	if path := os.Getenv(LeftOut); path != "" {
		if err := note(path, t.Name()+": "+why+"\n"); err != nil {
			t.Fatalf("note that the test is left out: %v", err)
		}
	}
	t.Skip(why)
}

// note adds a line in one write, since many processes do.
func note(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Write writes a program that can be started at once. A child that is forked meanwhile would
// hold the file open for writing until it execs, and nobody could run it.
func Write(path string, program []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, program, 0o755)
}
