package computertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// EngineInfo is an engine to test with.
type EngineInfo struct {
	// Host is its address.
	Host string
	// Dockerfile builds here without a registry. The image has a shell and the usual
	// small programs, and python3 and git if the machine has them.
	Dockerfile []byte
	// Small is smaller, and has busybox only.
	Small []byte
}

// Images have names that no engine looks for in a registry.
const (
	fullImage  = "localhost/lyceum-test:full"
	smallImage = "localhost/lyceum-test:small"
)

// engine is one of the test binary's own, which has nothing to do with one that the
// machine may have.
type engine struct {
	// variable names it to processes of the same test, which may be an ordinary user's.
	variable string
	programs []string // that it needs
	start    func() (*daemon, error)

	once sync.Once
	own  *daemon
	skip string
	err  error
}

var dockerEngine = &engine{
	variable: "LYCEUM_TEST_ENGINE", programs: []string{"dockerd", "containerd", "runc", "busybox"},
	start: startDocker,
}

// Engine is a Docker engine. It is started when first asked for, and stopped by Main. A
// test that goes on as another user must have asked before it calls AsUser.
func Engine(t testing.TB) *EngineInfo { t.Helper(); return dockerEngine.of(t) }

func (e *engine) of(t testing.TB) *EngineInfo {
	t.Helper()
	info, err := e.open()
	switch {
	case e.skip != "":
		need.Missing(t, "%s", e.skip)
	case err != nil:
		t.Fatalf("start an engine for tests: %v", err)
	}
	return info
}

// StartEngine starts a Docker engine for whoever is no test. missing says what it would
// take where it cannot be.
func StartEngine() (info *EngineInfo, stop func(), missing string, err error) {
	info, err = dockerEngine.open()
	return info, stopEngines, dockerEngine.skip, err
}

func (e *engine) open() (*EngineInfo, error) {
	e.once.Do(func() {
		if os.Getenv(e.variable) != "" {
			return
		}
		if e.skip = e.missing(); e.skip != "" {
			return
		}
		if e.own, e.err = e.start(); e.err == nil {
			e.err = errors.Join(os.Setenv(e.variable, e.own.host()), e.own.furnish())
		}
	})
	if e.skip != "" || e.err != nil {
		return nil, e.err
	}
	info := &EngineInfo{
		Host: os.Getenv(e.variable), Dockerfile: []byte("FROM " + fullImage + "\n"), Small: []byte("FROM " + smallImage + "\n"),
	}
	if self, err := os.Executable(); err == nil && len(libraries([]string{self})) > 0 {
		// This test binary, which is the helper, was linked with the machine's libraries,
		// as it is with -race or cgo. Only the full image has them.
		info.Small = info.Dockerfile
	}
	return info, nil
}

// missing says what is, if something is.
func (e *engine) missing() string {
	if os.Geteuid() != 0 {
		return "an engine for tests needs root: run the tests as root, or set " + e.variable
	}
	for _, name := range e.programs {
		if _, missing := need.Find(name); missing != "" {
			return missing
		}
	}
	return ""
}

// stopEngines ends what was started.
func stopEngines() {
	if dockerEngine.own == nil {
		return
	}
	if err := dockerEngine.own.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the engine for tests: %v\n", err)
	}
}

// daemon is an engine of ours, with all that is its own below one folder.
type daemon struct {
	dir     string
	cmd     *exec.Cmd
	release chan struct{} // closed when its thread may go
	ended   chan struct{} // closed when it has
}

func (d *daemon) socket() string { return filepath.Join(d.dir, "docker.sock") }
func (d *daemon) host() string   { return "unix://" + d.socket() }

// newDaemon runs an engine in a folder of its own, until it answers. args are those of
// the engine in that folder; ready waits for its word.
func newDaemon(program string, args func(d *daemon) []string, ready func(d *daemon) error) (d *daemon, err error) {
	dir, err := os.MkdirTemp("", "lyceum-engine-")
	if err != nil {
		return nil, err
	}
	d = &daemon{dir: dir, release: make(chan struct{}), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.stop())
			d = nil
		}
	}()
	// Other users are to reach the socket.
	if err := os.Chmod(dir, 0o711); err != nil {
		return d, err
	}
	path, missing := need.Find(program)
	if missing != "" {
		return d, errors.New(missing)
	}
	said, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return d, err
	}
	defer said.Close()
	if err := os.WriteFile(filepath.Join(dir, "none.json"), []byte("{}"), 0o600); err != nil {
		return d, err
	}
	d.cmd = exec.Command(path, args(d)...)
	// An engine that finds its containerd too slow makes it write what it does to a temporary
	// file, which nobody would take away.
	d.cmd.Env = append(os.Environ(), "TMPDIR="+dir, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "NOTIFY_SOCKET="+filepath.Join(dir, "ready"))
	d.cmd.Stdout, d.cmd.Stderr = said, said
	// If this process dies, so does the daemon.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := ready(d); err != nil {
		text, _ := os.ReadFile(said.Name())
		return d, fmt.Errorf("%w:\n%s", err, text[max(0, len(text)-2000):])
	}
	return d, os.Chmod(d.socket(), 0o666)
}

func startDocker() (*daemon, error) {
	return newDaemon("dockerd", func(d *daemon) []string {
		return []string{
			"--data-root", filepath.Join(d.dir, "data"), "--exec-root", filepath.Join(d.dir, "exec"),
			"--pidfile", filepath.Join(d.dir, "pid"), "--host", d.host(), "--config-file", filepath.Join(d.dir, "none.json"),
			"--bridge", "none", "--iptables=false", "--ip6tables=false", "--log-level", "warn",
		}
	}, func(d *daemon) error {
		ready, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(d.dir, "ready")})
		if err != nil {
			return err
		}
		defer ready.Close()
		if err := d.launch(); err != nil {
			return err
		}
		return d.await(ready)
	})
}

// launch starts it from a thread that stays, for the daemon is told when that thread
// ends, not when the process does.
func (d *daemon) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := d.cmd.Start()
		started <- err
		if err == nil {
			<-d.release
		}
	}()
	if err := <-started; err != nil {
		d.cmd = nil
		return err
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.ended)
	}()
	return nil
}

// await waits for the daemon to say that it is ready.
func (d *daemon) await(ready *net.UnixConn) error {
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-done:
			return
		case <-d.ended:
		case <-time.After(time.Minute):
		}
		_ = ready.SetReadDeadline(time.Unix(1, 0))
	}()
	b := make([]byte, 4096)
	for {
		n, err := ready.Read(b)
		if err != nil {
			return fmt.Errorf("dockerd does not become ready: %w", err)
		}
		if bytes.Contains(b[:n], []byte("READY=1")) {
			return nil
		}
	}
}

// stop removes the containers, ends the daemon and whatever it started, and takes
// its folder away.
func (d *daemon) stop() error {
	defer close(d.release)
	var errs []error
	if d.cmd != nil {
		errs = append(errs, d.empty())
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.ended:
		case <-time.After(30 * time.Second):
			errs = append(errs, errors.New("dockerd did not end when asked to"))
		}
		// Its containerd is in the same group of processes, unless it has ended as well.
		_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
		<-d.ended
	}
	return errors.Join(append(errs, unmountBelow(d.dir), os.RemoveAll(d.dir))...)
}

// empty removes all containers, for the daemon would give each its time to stop.
func (d *daemon) empty() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(client.WithHost(d.host()))
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := c.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return nil // it is not up
	}
	for _, x := range list.Items {
		_, e := c.ContainerRemove(ctx, x.ID, client.ContainerRemoveOptions{Force: true})
		err = errors.Join(err, e)
	}
	return err
}

// unmountBelow takes away mounts that are left in a folder, the innermost first.
func unmountBelow(dir string) error {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	lines := strings.Split(string(b), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if f := strings.Fields(lines[i]); len(f) > 4 && strings.HasPrefix(f[4], dir+"/") {
			err = errors.Join(err, unix.Unmount(f[4], unix.MNT_DETACH))
		}
	}
	return err
}
