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

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// EngineInfo is a Docker engine to test with.
type EngineInfo struct {
	// Host is its address.
	Host string
	// Dockerfile builds here without a registry. The image has a shell and the usual
	// small programs, and python3 and git if the machine has them.
	Dockerfile []byte
	// Small is smaller, and has busybox only.
	Small []byte
}

// engineVariable names the engine to processes of the same test, which may be an
// ordinary user's.
const engineVariable = "LYCEUM_TEST_ENGINE"

const (
	fullImage  = "lyceum-test:full"
	smallImage = "lyceum-test:small"
)

// theEngine is the one of this test binary.
var theEngine struct {
	once sync.Once
	own  *daemon
	skip string
	err  error
}

// Engine is a Docker engine of the test binary's own, which has nothing to do with
// one that the machine may have. It is started when first asked for, and stopped by
// Main. A test that goes on as another user must have asked before it calls AsUser.
func Engine(t testing.TB) *EngineInfo {
	t.Helper()
	e := &theEngine
	e.once.Do(func() {
		if os.Getenv(engineVariable) != "" {
			return
		}
		if e.skip = noEngine(); e.skip != "" {
			return
		}
		if e.own, e.err = startDaemon(); e.err == nil {
			e.err = errors.Join(os.Setenv(engineVariable, e.own.host()), e.own.furnish())
		}
	})
	switch {
	case e.skip != "":
		t.Skip(e.skip)
	case e.err != nil:
		t.Fatalf("start a Docker engine for tests: %v", e.err)
	}
	info := &EngineInfo{
		Host: os.Getenv(engineVariable), Dockerfile: []byte("FROM " + fullImage + "\n"), Small: []byte("FROM " + smallImage + "\n"),
	}
	if self, err := os.Executable(); err == nil && len(libraries([]string{self})) > 0 {
		// This test binary, which is the helper, was linked with the machine's libraries,
		// as it is with -race or cgo. Only the full image has them.
		info.Small = info.Dockerfile
	}
	return info
}

// noEngine says what is missing, if something is.
func noEngine() string {
	if os.Geteuid() != 0 {
		return "a Docker engine for tests needs root: run the tests as root, or set " + engineVariable
	}
	for _, name := range []string{"dockerd", "containerd", "runc", "busybox"} {
		if _, err := lookPath(name); err != nil {
			return "there is no " + name + ": apt-get install docker.io busybox-static"
		}
	}
	return ""
}

// lookPath also looks where programs for root are.
func lookPath(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + name)
}

// stopEngine ends what Engine started, if it did.
func stopEngine() {
	if d := theEngine.own; d != nil {
		if err := d.stop(); err != nil {
			fmt.Fprintf(os.Stderr, "stop the Docker engine for tests: %v\n", err)
		}
	}
}

// daemon is a dockerd of ours, with all that is its own below one folder.
type daemon struct {
	dir     string
	cmd     *exec.Cmd
	release chan struct{} // closed when its thread may go
	ended   chan struct{} // closed when it has
}

func (d *daemon) socket() string { return filepath.Join(d.dir, "docker.sock") }
func (d *daemon) host() string   { return "unix://" + d.socket() }

// startDaemon returns when the engine answers.
func startDaemon() (d *daemon, err error) {
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
	ready, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "ready")})
	if err != nil {
		return d, err
	}
	defer ready.Close()
	program, err := lookPath("dockerd")
	if err != nil {
		return d, err
	}
	said, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return d, err
	}
	defer said.Close()
	d.cmd = exec.Command(program, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--host", d.host(), "--config-file", filepath.Join(dir, "none.json"),
		"--bridge", "none", "--iptables=false", "--ip6tables=false", "--log-level", "warn")
	d.cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "NOTIFY_SOCKET="+filepath.Join(dir, "ready"))
	d.cmd.Stdout, d.cmd.Stderr = said, said
	// If this process dies, so does the daemon.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := os.WriteFile(filepath.Join(dir, "none.json"), []byte("{}"), 0o600); err != nil {
		return d, err
	}
	if err := d.launch(); err != nil {
		return d, err
	}
	if err := d.await(ready); err != nil {
		text, _ := os.ReadFile(said.Name())
		return d, fmt.Errorf("%w:\n%s", err, text[max(0, len(text)-2000):])
	}
	return d, os.Chmod(d.socket(), 0o666)
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
