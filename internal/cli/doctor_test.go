package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/computer/quota"
	"lyceum/internal/need"
)

// public is a folder that every user can reach, also when /tmp is covered.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "lyceum-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// examined is what doctor --json says.
type examined struct {
	Healthy  bool   `json:"healthy"`
	Home     string `json:"home"`
	Driver   string `json:"driver"`
	Findings []struct {
		Section string `json:"section"`
		Name    string `json:"name"`
		Status  string `json:"status"`
		Text    string `json:"text"`
		Fix     string `json:"fix"`
	} `json:"findings"`
	code int
}

// want looks for a finding, such as "home writable problem", that says some texts.
func (e examined) want(t *testing.T, finding string, says ...string) {
	t.Helper()
	for _, f := range e.Findings {
		if f.Section+" "+f.Name+" "+f.Status != finding {
			continue
		}
		for _, s := range says {
			if !strings.Contains(f.Text+"\n"+f.Fix, s) {
				t.Errorf("%s does not say %q: %s; %s", finding, s, f.Text, f.Fix)
			}
		}
		return
	}
	t.Errorf("it does not find %q: %+v", finding, e.Findings)
}

// examine runs doctor as a command is told to. The program is reached through an open
// file, so that it runs as every user, whatever folder it stands in.
func examine(t *testing.T, home string, prepare func(cmd *exec.Cmd)) (e examined) {
	t.Helper()
	path, err := exec.LookPath("lyceum")
	must(t, err)
	self, err := os.Open(path)
	must(t, err)
	defer self.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/fd/3", "doctor", "--json", "--home", home)
	cmd.Args[0], cmd.ExtraFiles, cmd.Dir = "lyceum", []*os.File{self}, "/"
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix:///nowhere/docker.sock")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if prepare != nil {
		prepare(cmd)
	}
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatalf("what doctor said is no JSON: %v\n%s%s", err, &out, &errOut)
	}
	e.code = cmd.ProcessState.ExitCode()
	if e.Healthy != (e.code == 0) {
		t.Errorf("healthy is %v, and the exit code %d", e.Healthy, e.code)
	}
	return e
}

// shellFirst has a shell do something before it becomes doctor.
func shellFirst(script string, wrap ...string) func(cmd *exec.Cmd) {
	return func(cmd *exec.Cmd) {
		args := append(wrap, "sh", "-c", script+"\nexec \"$@\"", "sh")
		// exec -a is not everywhere, and the name is how the test binary is told what it
		// is: so it is called by its path.
		path, err := exec.LookPath("lyceum")
		if err != nil {
			panic(err)
		}
		args = append(append(args, path), cmd.Args[1:]...)
		found, err := exec.LookPath(args[0])
		if err != nil {
			panic(err)
		}
		cmd.Path, cmd.Args = found, args
	}
}

func TestDoctorOnAWorkingMachine(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	home := filepath.Join(t.TempDir(), "home")
	e := examine(t, home, nil)
	if e.code != 0 || e.Driver != "namespaces" || e.Home != home {
		t.Errorf("doctor: got %+v, want namespaces for this home", e)
	}
	e.want(t, "home folder ok", home, "not there yet")
	e.want(t, "computers bubblewrap ok", "works: bubblewrap ")
	e.want(t, "computers docker warning", "no engine")
	e.want(t, "computers namespaces ok", "needs nothing")
	e.want(t, "computers auto ok", "takes namespaces, the first choice")
	e.want(t, "computers user namespaces ok")
	e.want(t, "computers user ok")
	e.want(t, "computers disk ok", "watchdog", quotaHere(home))
	e.want(t, "computers seccomp ok", "in force")
	e.want(t, "tools sh ok", "/sh")
	e.want(t, "time clock ok")
	if _, err := os.Stat(home); err == nil {
		t.Error("it made a home")
	}
}

// quotaHere is what doctor must say of project quotas for a home that is not there yet.
func quotaHere(home string) string {
	if why, _ := quota.Lacking(filepath.Dir(home)); why != "" {
		return why
	}
	return "by a project quota of each home"
}

func TestDoctorAsAnOrdinaryUserInAHomeThatIsNotTheirs(t *testing.T) {
	t.Parallel()
	dir := public(t)
	home := filepath.Join(dir, "home")
	must(t, os.Mkdir(home, 0o555))
	user := os.Getuid()
	ordinary := func(cmd *exec.Cmd) {
		if user == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
	}
	e := examine(t, home, ordinary)
	if e.code != 1 {
		t.Errorf("the exit code is %d", e.code)
	}
	e.want(t, "home writable problem", "no right to make files in "+home, "chown -R ", "choose another home")

	e = examine(t, filepath.Join(home, "below"), ordinary)
	e.want(t, "home folder ok", "not there yet")
	e.want(t, "home writable problem", "no right to make files in "+home)
	if _, err := exec.LookPath("bwrap"); err == nil {
		e.want(t, "computers user ok", "agents run as you (uid ")
	}
}

// mountable returns how to run a program with mounts of its own.
func mountable(t *testing.T) []string {
	t.Helper()
	wrap := []string{"unshare", "-m"}
	if os.Getuid() != 0 {
		wrap = []string{"unshare", "-Urm"}
	}
	if err := exec.Command(wrap[0], append(wrap[1:], "mount", "-t", "tmpfs", "tmpfs", t.TempDir())...).Run(); err != nil {
		need.Missing(t, "no file systems can be mounted here (%v): run the test as root, with unshare and mount", err)
	}
	return wrap
}

func TestDoctorOnAFileSystemThatIsReadOnly(t *testing.T) {
	t.Parallel()
	wrap := mountable(t)
	dir := t.TempDir()
	script := fmt.Sprintf("mount -t tmpfs tmpfs %[1]s && mkdir %[1]s/home && mount -o remount,ro %[1]s || exit 99", dir)
	e := examine(t, filepath.Join(dir, "home"), shellFirst(script, wrap...))
	e.want(t, "home writable problem", "read-only", "remount,rw")
	e = examine(t, filepath.Join(dir, "other"), shellFirst(script, wrap...))
	e.want(t, "home writable problem", "read-only")
	if e.code != 1 {
		t.Errorf("the exit code is %d", e.code)
	}
}

func TestDoctorOnADiskThatIsFull(t *testing.T) {
	t.Parallel()
	wrap := mountable(t)
	dir := t.TempDir()
	mount := fmt.Sprintf("mount -t tmpfs -o size=1m tmpfs %[1]s && mkdir %[1]s/home || exit 99\n", dir)
	fill := fmt.Sprintf("head -c 2000000 /dev/zero >%s/fill 2>/dev/null", dir)
	e := examine(t, filepath.Join(dir, "home"), shellFirst(mount+fill, wrap...))
	e.want(t, "home writable problem", "the disk is full", "make room")
	e.want(t, "home disk warning", "0 MiB free")
	if e.code != 1 {
		t.Errorf("the exit code is %d", e.code)
	}
	// One that is only small is no reason to give up, and the trial leaves nothing.
	e = examine(t, filepath.Join(dir, "home"), shellFirst(mount, wrap...))
	e.want(t, "home writable ok")
	e.want(t, "home disk warning", "1 MiB free, less than 1 GiB")
}

func TestDoctorLeavesNothingInTheHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	examine(t, home, nil).want(t, "home writable ok")
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("files that doctor left in the home: got %v %v, want none", left, err)
	}
}

// TestDoctorWhereUserNamespacesAreForbidden runs in a user namespace that has no room
// for others.
func TestDoctorWhereUserNamespacesAreForbidden(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	need.Root(t, "map the users that this needs")
	need.Program(t, "setpriv")
	dir := public(t)
	must(t, os.Chmod(dir, 0o777))
	// Below /tmp the binary may be out of reach for the user that this becomes.
	path, err := exec.LookPath("lyceum")
	must(t, err)
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, need.Write(filepath.Join(dir, "lyceum"), data))
	e := examine(t, filepath.Join(dir, "home"), func(cmd *exec.Cmd) {
		shellFirst("echo 0 >/proc/sys/user/max_user_namespaces || exit 99\nshift\nset -- setpriv --reuid 1000 --regid 1000 --clear-groups " + filepath.Join(dir, "lyceum") + ` "$@"`)(cmd)
		all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
	})
	if e.code != 1 || e.Driver != "" {
		t.Errorf("doctor where user namespaces are forbidden: got %+v, want exit 1 and no driver", e)
	}
	e.want(t, "computers namespaces problem", "make a user namespace", "sysctl user.max_user_namespaces=10000")
	e.want(t, "computers bubblewrap problem", "let programs make user namespaces")
	e.want(t, "computers user namespaces problem", "max_user_namespaces is 0", "sysctl user.max_user_namespaces=10000")
}

// TestDoctorSaysWhatBwrapSays puts a program in its place that says what bwrap does
// on a machine that forbids it to work.
func TestDoctorSaysWhatBwrapSays(t *testing.T) {
	t.Parallel()
	for said, fix := range map[string]string{
		"bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.": "kernel.unprivileged_userns_clone=1",
		"bwrap: setting up uid map: Permission denied":  "kernel.apparmor_restrict_unprivileged_userns=0",
		"bwrap: Unknown option --disable-userns":        "install bubblewrap 0.8 or newer",
		"bwrap: something that nobody has heard before": "",
	} {
		dir := public(t)
		must(t, need.Write(filepath.Join(dir, "bwrap"), []byte("#!/bin/sh\necho \""+said+"\" >&2\nexit 1\n")))
		e := examine(t, t.TempDir(), func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH")) })
		if e.code != 0 || e.Driver != "namespaces" {
			t.Errorf("doctor where bwrap says %q: got %+v, want the driver that needs no bwrap", said, e)
		}
		e.want(t, "computers bubblewrap warning", said, fix)
	}
}
