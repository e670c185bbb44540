package computertest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"
)

// Prove runs the programs of Escape where nothing holds them, and fails where one
// does not succeed or is not noticed: an attempt that cannot succeed proves nothing by
// failing. It writes a table of how each is known to work.
func Prove(t *testing.T) {
	var lines []string
	note := func(name, how string) { lines = append(lines, fmt.Sprintf("%-32s %s", name, how)) }
	for _, a := range table() {
		switch {
		case a.proof.where == nowhere:
			note(a.name, "NO PROOF: "+a.proof.why)
			continue
		case a.proof.where == asRoot && os.Geteuid() != 0:
			note(a.name, "no proof here: only root can do it on the host")
			continue
		}
		how := map[stage]string{bare: "succeeds on the host", asRoot: "succeeds on the host, as root", weak: "succeeds in namespaces without walls"}
		note(a.name, how[a.proof.where])
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			if got := unheld(t, a); got == "" {
				t.Errorf("it did not succeed where nothing prevents it, so it proves nothing: %s", a.want)
			} else {
				t.Log(got)
			}
		})
	}
	for _, a := range rough() {
		note(a.name, a.proof)
	}
	for name, args := range map[string][]string{
		"memory-file": {"8", "1ms"}, "shared-memory": {"16", "1ms"}, "deleted-files": {"8", "1ms"}, "closed-folder": {"8", "1ms"},
		"deep-files": {"8", "1ms"}, "hidden-files": {"8", "1ms"}, "unreadable": {"8", "1ms"}, "mapped-files": {"8", "1ms"},
		"sent-files": {"8", "1ms"}, "headless": {"8", "1ms"}, "own-files": {"8", "1ms"}, "program-files": {"8", "1ms"},
		"mapped-memory": {"8", "1ms"}, "sent-memory": {"8", "1ms"}, "shared-anonymous": {"8", "1ms"}, "page-tables": {"8", "1ms"},
		"semaphores": {"8", "1ms"}, "messages": {"8", "1ms"}, "sockets": {"8", "1ms"}, "headless-memory": {"8", "1ms"},
		"inodes": {"8", ".", "1ms"}, "sparse": {"8", "1ms"}, "forks": {"8"}, "fill": {"8", "."},
	} {
		t.Run("hog/"+name, func(t *testing.T) {
			t.Parallel()
			out := outside(t, bare, newTarget(t), append([]string{name}, args...)...)
			if name != "sparse" && holds(out, "holds") < 8 || !strings.Contains(out, tried) {
				t.Errorf("it holds nothing: %s", out)
			}
		})
	}
	t.Run("setuid", func(t *testing.T) {
		t.Parallel()
		proveSetuid(t)
	})
	t.Logf("%d attempts:\n%s", len(lines), strings.Join(lines, "\n"))
}

// unheld makes an attempt where nothing prevents it, and returns what was noticed.
func unheld(t *testing.T, a attempt) string {
	g := newTarget(t)
	// On the host, there are places of computers too, with nothing in them.
	for _, p := range []*string{&g.own.Dir, &g.own.Home} {
		*p = t.TempDir()
		if err := os.WriteFile(filepath.Join(*p, "computer.json"), []byte(g.secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := outside(t, a.proof.where, g, a.args(g)...)
	if got := g.told(out); got != "" {
		return got
	}
	// What reached a listener may be counted a moment later.
	for range 100 {
		if got := g.reached(); got != "" {
			return got
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Log(out)
	return ""
}

// outside runs the hostile program outside of any computer, in a folder of its own.
func outside(t *testing.T, where stage, g *target, args ...string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{AttemptRole}, args...)...)
	cmd.Env = append(os.Environ(), folder+"="+t.TempDir(), canary+"="+g.secret)
	leak, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	cmd.ExtraFiles = []*os.File{leak}
	if where == weak {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWPID,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Logf("%v: %v", args, err)
	}
	return out.String()
}

// proveSetuid shows that a program with root's rights gives them to a user.
func proveSetuid(t *testing.T) {
	need.Root(t, "make such a program")
	dir, err := os.MkdirTemp("", "lyceum-setuid-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "setuid")
	if err := copyFile("/proc/self/exe", path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, AttemptRole, "whoami")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "euid 0 ") {
		t.Errorf("it gives no rights: %v %s", err, out)
	}
}
