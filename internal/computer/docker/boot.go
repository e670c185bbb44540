package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/plain"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// bootTime is how long a container may take to come up on a busy machine.
const bootTime = time.Minute

// Boot implements computer.Driver.
func (d *Driver) Boot(ctx context.Context, b *computer.Boot) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	e, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	program, err := d.program.Path()
	if err != nil {
		return "", err
	}
	image, err := e.ImageInspect(ctx, b.Base)
	if err != nil {
		return "", fmt.Errorf("look at the image %s: %w; if it was removed, start again to build it", b.Base, inWords(err))
	}
	if err := fit(image); err != nil {
		return "", err
	}
	b.Config.Weak = d.opts.WeakLimits
	w := &launch{engine: e, boot: b, program: program, env: image.Config.Env}
	if w.home, err = filepath.Abs(b.Home); err != nil {
		return "", err
	}
	if w.user, w.group, err = e.user(b.Home); err != nil {
		return "", err
	}
	if w.door, err = openDoor(b.Dir, w.user, w.group); err != nil {
		return "", fmt.Errorf("make the socket for a container: %w", err)
	}
	defer w.door.close()
	s, err := w.start(ctx)
	if err != nil {
		return "", err
	}
	handle, err := json.Marshal(s)
	return string(handle), err
}

// user is whom the container runs as, by the numbers that hold inside it.
func (e *engine) user(home string) (user, group int, err error) {
	user, err = computer.HomeUser(home)
	switch {
	case err != nil || user != 0:
		return user, user, err
	case e.rootless && !e.podman:
		// Rootless docker maps its own user, which is us, to nobody but root. It is a
		// root without capabilities, and outside still only us.
		return 0, 0, nil
	}
	return os.Getuid(), os.Getgid(), nil
}

// launch is one start of a container.
type launch struct {
	engine      *engine
	boot        *computer.Boot
	program     string
	home        string
	env         []string // the image's
	user, group int
	door        *door
}

func (w *launch) start(ctx context.Context) (*sandbox, error) {
	e := w.engine
	s := &sandbox{Log: filepath.Join(w.boot.Dir, "boot.log")}
	if abs, err := filepath.Abs(s.Log); err == nil {
		s.Log = abs
	}
	_ = os.Remove(s.Log)
	e.sweep(ctx)
	var err error
	if s.ID, err = w.create(ctx); err != nil {
		return nil, explain(err)
	}
	pid, err := w.run(ctx, s.ID)
	if err != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), bootTime)
		defer cancel()
		if said := e.said(after, s.ID); said != "" {
			_ = os.WriteFile(s.Log, []byte(said), 0o600)
			err = fmt.Errorf("%w; it said: %s", err, plain.Bare(said, 1000))
		}
		return nil, explain(errors.Join(err, e.remove(after, s.ID)))
	}
	s.Group = groupOf("/proc", "/sys/fs/cgroup", pid, s.ID)
	return s, nil
}

// create makes the container. One of that name is what an earlier boot of the same
// computer left, and goes.
func (w *launch) create(ctx context.Context) (string, error) {
	config, host, err := w.describe()
	if err != nil {
		return "", err
	}
	return w.claim(ctx, client.ContainerCreateOptions{Name: w.boot.Name, Config: config, HostConfig: host})
}

// claimAgain is how long to wait before a name is asked for again.
const claimAgain = 20 * time.Millisecond

// claim makes the container once its name is free. For a moment nobody can be found
// who has it: an engine that makes or removes a container, as for one of us that was
// killed in the middle of it, keeps the name from before to after.
func (w *launch) claim(ctx context.Context, options client.ContainerCreateOptions) (string, error) {
	// Were it broken off, there might be a container that nobody knows of.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), bootTime)
	defer cancel()
	again := time.NewTicker(claimAgain)
	defer again.Stop()
	for {
		r, err := w.engine.ContainerCreate(whole, options)
		if err == nil {
			return r.ID, nil
		}
		if !errdefs.IsConflict(err) || ctx.Err() != nil {
			return "", fmt.Errorf("make a container: %w", inWords(err))
		}
		if err := w.replace(ctx); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// replace removes the container that has our name.
func (w *launch) replace(ctx context.Context) error {
	name := w.boot.Name
	r, err := w.engine.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the container %s: %w", name, inWords(err))
	}
	if r.Container.Config == nil || r.Container.Config.Labels[labelComputer] != name {
		return fmt.Errorf("there is a container %s that is not Lyceum's: rename or remove it (docker rm -f %s)", name, name)
	}
	return w.engine.remove(ctx, r.Container.ID)
}

// sweep removes containers of computers that ended by themselves. Those that failed
// stay for whoever booted them to read why.
func (e *engine) sweep(ctx context.Context) {
	ended := make(client.Filters).Add("label", labelComputer).Add("status", "exited").Add("exited", "0")
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ended})
	if err != nil {
		return
	}
	for _, c := range list.Items {
		_ = e.remove(ctx, c.ID)
	}
}

// run starts the container and hands the helper its listener. It returns the number
// of the helper's process.
func (w *launch) run(ctx context.Context, id string) (int, error) {
	e := w.engine
	if _, err := e.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return 0, fmt.Errorf("start a container: %w", errors.Join(inWords(err), ctx.Err()))
	}
	r, err := e.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil || r.Container.State == nil {
		return 0, fmt.Errorf("look at a container: %w", errors.Join(inWords(err), ctx.Err()))
	}
	pid := r.Container.State.Pid
	ctx, fail := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if e.wait(ctx, id, container.WaitConditionNotRunning) == nil {
			fail(errors.New("the helper ended"))
		}
	}()
	err = w.door.hand(ctx, w.boot.Listener, pid)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	fail(nil)
	<-watched
	if err != nil {
		return 0, fmt.Errorf("hand the helper its socket: %w", err)
	}
	return pid, nil
}

// said is what the helper wrote, such as its last words.
func (e *engine) said(ctx context.Context, id string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := e.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "50"})
	if err != nil {
		return ""
	}
	defer r.Close()
	var b bytes.Buffer
	_, _ = stdcopy.StdCopy(&b, &b, io.LimitReader(r, 64<<10))
	return strings.TrimSpace(strings.ToValidUTF8(b.String(), "?"))
}

// explain adds what to do about what engines say.
func explain(err error) error {
	text := err.Error()
	advice := ""
	switch {
	case strings.Contains(text, "bind source path does not exist") || strings.Contains(text, "statfs"):
		advice = "the engine does not see this machine's folders, as one from a snap or in a virtual machine: use one that does, or move the laboratory below your home and set TMPDIR there"
	case strings.Contains(text, computer.Program+": no such file"):
		advice = "this Lyceum is not statically linked, so it needs libraries that the image lacks: build it with CGO_ENABLED=0"
	case strings.Contains(text, computer.Program) && strings.Contains(text, "permission denied"):
		advice = "the folder for temporary files may not hold programs: set TMPDIR to one that may"
	case strings.Contains(text, "eccomp") && strings.Contains(text, "not"):
		advice = "the engine's seccomp profile refuses what the helper needs: update the engine, or give dockerd its standard profile"
	case strings.Contains(text, "cgroup") || strings.Contains(text, "controller"):
		advice = "the engine may not set limits here: with podman, let systemd delegate them (systemctl edit user@.service, Delegate=cpu memory pids)"
	case strings.Contains(text, "No such image"):
		advice = "the image was removed: start again to build it"
	case errors.Is(err, context.DeadlineExceeded):
		advice = "the engine may be overloaded: look at journalctl -u docker, and try again"
	default:
		return err
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// groupOf finds the control groups of a container, from where meters can be read.
// There are none if we see them from another place than the kernel names them for.
func groupOf(proc, root string, pid int, id string) *cgroup.Group {
	lines, err := os.ReadFile(filepath.Join(proc, fmt.Sprint(pid), "cgroup"))
	if err != nil || pid <= 0 {
		return nil
	}
	g := &cgroup.Group{Version: 1}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		g.Version = 2
	}
	for l := range strings.Lines(string(lines)) {
		f := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(f) != 3 || !strings.Contains(f[2], id) {
			continue // the number may be another process's by now
		}
		controllers := strings.Split(f[1], ",")
		dir := ""
		switch {
		case g.Version == 2 && f[1] == "":
			dir = filepath.Join(root, f[2])
		case g.Version == 1 && (slices.Contains(controllers, cgroup.Memory) || slices.Contains(controllers, cgroup.Processes)):
			dir = filepath.Join(root, f[1], f[2])
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			g.Dirs = append(g.Dirs, dir)
		}
	}
	if len(g.Dirs) == 0 {
		return nil
	}
	return g
}
