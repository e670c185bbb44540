package docker_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/computer/docker"
	"lyceum/internal/computer/link"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

func TestMain(m *testing.M) { computertest.Main(m) }

// lab is a driver with an engine of the tests' own behind it.
type lab struct {
	*testing.T
	driver *docker.Driver
	engine *client.Client
	info   *computertest.EngineInfo
}

func newLab(t *testing.T) *lab {
	t.Helper()
	info := computertest.Engine(t)
	c, err := client.New(client.WithHost(info.Host))
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t, docker.New(docker.Options{Host: info.Host, Temp: t.TempDir()}), c, info}
	t.Cleanup(func() {
		if err := l.driver.Close(); err != nil {
			t.Error(err)
		}
		_ = c.Close()
	})
	return l
}

func (l *lab) place() computer.Place {
	l.Helper()
	dir := l.TempDir()
	p := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	if err := os.Mkdir(p.Home, 0o700); err != nil {
		l.Fatal(err)
	}
	return p
}

func (l *lab) open(p computer.Place, s computer.Spec, o computer.Options) *computer.Computer {
	l.Helper()
	if s.Dockerfile == nil {
		s.Dockerfile = l.info.Small
	}
	c, err := computer.Open(l.Context(), l.driver, p, s, o)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			l.Error(err)
		}
	})
	return c
}

func (l *lab) sh(c *computer.Computer, id, script string) string {
	l.Helper()
	r, err := c.Run(l.Context(), computer.Command{ID: id, Args: []string{"sh", "-c", script}})
	if err != nil {
		l.Fatal(err)
	}
	if r.Exit != 0 {
		l.Fatalf("%s: exit %d, %s%s", script, r.Exit, r.Stdout.Head, r.Stderr.Head)
	}
	return strings.TrimSpace(string(r.Stdout.Head))
}

// container is the one that a place's computer is in.
func (l *lab) container(p computer.Place) container.InspectResponse {
	l.Helper()
	r, err := l.engine.ContainerInspect(l.Context(), handle(l.T, p), client.ContainerInspectOptions{})
	if err != nil {
		l.Fatal(err)
	}
	return r.Container
}

func handle(t *testing.T, p computer.Place) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.Dir, "computer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var saved struct{ Handle string }
	var h struct{ ID string }
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(saved.Handle), &h); err != nil {
		t.Fatal(err)
	}
	return h.ID
}

func TestComputer(t *testing.T) {
	t.Parallel()
	t.Run("RunsPythonAndGitInTheHomeAsItsOwner", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p := l.place()
		c := l.open(p, computer.Spec{Dockerfile: l.info.Dockerfile}, computer.Options{})
		if got := l.sh(c, "who", "id -un; pwd; touch made; stat -c %U made; cat /proc/1/status | grep CapEff; ls /run/lyceum"); got != "agent\n/home/agent\nagent\nCapEff:\t0000000000000000" {
			t.Errorf("inside: %s", got)
		}
		if _, err := exec.LookPath("python3"); err == nil {
			if got := l.sh(c, "python", `python3 -c 'import ssl, json, getpass; print(6*7, getpass.getuser())'`); got != "42 agent" {
				t.Errorf("python said %s", got)
			}
		}
		if _, err := exec.LookPath("git"); err == nil {
			l.sh(c, "git", `git init -q r && cd r && git config user.email a@b && git config user.name A && echo x >f && git add f && git commit -qm m && git log --oneline | grep m`)
		}
		info, err := os.Stat(filepath.Join(p.Home, "made"))
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; os.Getuid() == 0 && owner < 1<<28 {
			t.Errorf("the file belongs to %d", owner)
		}
		if !slices.Contains(c.Confinement(), "seccomp") {
			t.Errorf("confined by %q", c.Confinement())
		}
	})
	t.Run("WritesNowhereButHomeAndTmp", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		c := l.open(l.place(), computer.Spec{}, computer.Options{})
		l.sh(c, "yes", "echo x >/tmp/x && cp /bin/busybox /tmp/true && /tmp/true && echo x >/home/agent/x")
		got := l.sh(c, "no", `for f in /x /etc/x /bin/x /run/x /run/lyceum/x /dev/x /etc/passwd /run/lyceum-program /etc/hosts /etc/resolv.conf /proc/sys/kernel/core_pattern /sys/x; do
			(echo x >>$f) 2>/dev/null && echo wrote $f; done; true`)
		if got != "" {
			t.Errorf("places outside of home and /tmp could be written to: %s", got)
		}
	})
	t.Run("TellsNothingOfTheHostsNetwork", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		c := l.open(l.place(), computer.Spec{}, computer.Options{})
		if got := l.sh(c, "net", "cut -d: -f1 -s /proc/net/dev | tr -d ' '; uname -n; grep -v '^#' /etc/resolv.conf"); got != "lo\nlyceum\nnameserver 127.0.0.1" {
			t.Errorf("inside: %s", got)
		}
	})
	t.Run("IsGoneWhenItIsStopped", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p := l.place()
		c := l.open(p, computer.Spec{}, computer.Options{})
		id := handle(t, p)
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.engine.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{}); !errdefs.IsNotFound(err) {
			t.Errorf("the container is there: %v", err)
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Errorf("to stop it again: %v", err)
		}
		left, err := filepath.Glob(filepath.Join(p.Dir, "*"))
		if err != nil || slices.ContainsFunc(left, func(f string) bool { return slices.Contains([]string{"door", "passwd", "group"}, filepath.Base(f)) }) {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	t.Run("IsFoundAgainWithItsCommands", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p, s := l.place(), computer.Spec{Dockerfile: l.info.Small}
		first, err := computer.Open(t.Context(), l.driver, p, s, computer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// The command ends when the file comes, which is after the first has let go.
		err = first.Start(t.Context(), computer.Command{ID: "long", Args: []string{"sh", "-c", "until [ -e go ]; do sleep 0.05; done; echo went"}, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		id := handle(t, p)
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		// Another process has another driver.
		other := docker.New(docker.Options{Host: l.info.Host, Temp: t.TempDir()})
		defer other.Close()
		if err := l.driver.Close(); err != nil {
			t.Fatal(err)
		}
		second, err := computer.Open(t.Context(), other, p, s, computer.Options{Found: true})
		if err != nil {
			t.Fatal(err)
		}
		defer second.Stop(context.Background())
		if now := handle(t, p); now != id {
			t.Errorf("container %s is now %s", id, now)
		}
		if err := os.WriteFile(filepath.Join(p.Home, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := second.Wait(t.Context(), "long")
		if err != nil || string(r.Stdout.Head) != "went\n" {
			t.Errorf("the command: got %+v %v, want went", r, err)
		}
	})
	t.Run("WorksForAnOrdinaryUser", func(t *testing.T) {
		l := newLab(t)
		if !computertest.AsUser(t) {
			return
		}
		p := l.place()
		c := l.open(p, computer.Spec{}, computer.Options{})
		if got := l.sh(c, "who", "id -u; touch made"); got != fmt.Sprint(os.Getuid()) {
			t.Errorf("inside it is %s, here %d", got, os.Getuid())
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.place()
	c := l.open(p, computer.Spec{Limits: computer.Limits{Memory: 64 << 20, Processes: 40, CPUs: 500, Files: 100}}, computer.Options{})
	x := l.container(p)
	h := x.HostConfig
	if h.Memory != 64<<20 || h.MemorySwap != h.Memory || *h.PidsLimit != 40 || h.NanoCPUs != 500_000_000 || h.ShmSize != 16<<20 {
		t.Errorf("limits: %+v", h.Resources)
	}
	if !h.ReadonlyRootfs || h.Privileged || h.NetworkMode != "none" || !slices.Equal(h.CapDrop, []string{"ALL"}) ||
		!slices.Equal(h.SecurityOpt, []string{"no-new-privileges"}) || h.IpcMode != "private" || h.RestartPolicy.Name != "no" {
		t.Errorf("confinement: %+v", h)
	}
	for _, m := range x.Mounts {
		if m.RW != (m.Destination == computer.HomeDir) {
			t.Errorf("%s: writable is %v", m.Destination, m.RW)
		}
	}
	for _, u := range h.Ulimits {
		if want := map[string]int64{"nofile": 100, "core": 0, "rttime": -1}; u.Hard != want[u.Name] || u.Soft != u.Hard {
			t.Errorf("limit %+v", u)
		}
	}
	if len(x.Mounts) != 5 || len(h.Ulimits) != 3 {
		t.Errorf("%d mounts, %d limits", len(x.Mounts), len(h.Ulimits))
	}
	if len(h.MaskedPaths) == 0 || len(h.ReadonlyPaths) == 0 {
		t.Error("nothing of /proc is hidden")
	}
	if x.Config.Labels["lyceum.computer"] != strings.TrimPrefix(x.Name, "/") || strings.HasPrefix(x.Config.User, "0:") || x.Config.User == "" {
		t.Errorf("the container has no label of ours, or is root's: %s: %+v", x.Name, x.Config)
	}
	if got := l.sh(c, "files", "ulimit -n; ulimit -c; df -m /tmp | tail -1 | awk '{print $2}'"); got != "100\n0\n32" {
		t.Errorf("inside: %s", got)
	}
	r, err := c.Run(t.Context(), computer.Command{ID: "hog", Args: []string{"sh", "-c", "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done"}})
	if err != nil || r.End != computer.EndMemory && r.Met != computer.EndMemory {
		t.Errorf("a memory hog ends with %+v, %v", r, err)
	}
	r, err = c.Run(t.Context(), computer.Command{ID: "forks", Args: []string{"sh", "-c", "for i in $(seq 60); do sleep 5 & done; wait"}})
	if err != nil || r.Met != computer.EndProcesses && r.End != computer.EndProcesses {
		t.Errorf("many processes end with %+v, %v", r, err)
	}
	if got := l.sh(c, "after", "echo well"); got != "well" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestBoot(t *testing.T) {
	t.Parallel()
	t.Run("ReplacesWhatWasLeftOver", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p := l.place()
		c := l.open(p, computer.Spec{}, computer.Options{})
		old := handle(t, p)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		// Without this, nobody knows of the container any more.
		if err := os.Remove(filepath.Join(p.Dir, "computer.json")); err != nil {
			t.Fatal(err)
		}
		c = l.open(p, computer.Spec{}, computer.Options{})
		if l.sh(c, "x", "echo here") != "here" || handle(t, p) == old {
			t.Error("it is the old one")
		}
		if _, err := l.engine.ContainerInspect(t.Context(), old, client.ContainerInspectOptions{}); !errdefs.IsNotFound(err) {
			t.Errorf("the old container is there: %v", err)
		}
	})
	t.Run("LeavesOthersAlone", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p := l.place()
		c := l.open(p, computer.Spec{}, computer.Options{})
		name := strings.TrimPrefix(l.container(p).Name, "/")
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		base, err := l.driver.Prepare(t.Context(), computer.Spec{Dockerfile: l.info.Small}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: name, Image: base, Config: &container.Config{Cmd: []string{"true"}}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.engine.ContainerRemove(context.Background(), r.ID, client.ContainerRemoveOptions{})
		_, err = computer.Open(t.Context(), l.driver, p, computer.Spec{Dockerfile: l.info.Small}, computer.Options{})
		if err == nil || !strings.Contains(err.Error(), "docker rm -f "+name) {
			t.Errorf("error: %v", err)
		}
		if _, err := l.engine.ContainerInspect(t.Context(), r.ID, client.ContainerInspectOptions{}); err != nil {
			t.Errorf("a stranger's container: %v", err)
		}
	})
	t.Run("LeavesNothingWhenItFails", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		b := bootFor(l, l.place())
		// The helper is up by the time that there turns out to be nothing to hand over.
		b.Listener.Close()
		if _, err := l.driver.Boot(t.Context(), b); err == nil || !strings.Contains(err.Error(), "hand the helper its socket") {
			t.Errorf("error: %v", err)
		}
		l.none(b.Name)
	})
	t.Run("LeavesNothingWhenItIsBrokenOff", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		b := bootFor(l, l.place())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		made := l.engine.Events(ctx, client.EventsListOptions{Filters: make(client.Filters).Add("container", b.Name).Add("event", "create")})
		go func() {
			select {
			case <-made.Messages:
			case <-made.Err:
			}
			cancel()
		}()
		if _, err := l.driver.Boot(ctx, b); !errors.Is(err, context.Canceled) {
			t.Errorf("error: %v", err)
		}
		l.none(b.Name)
	})
	t.Run("TellsWhatTheHelperSaid", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p := l.place()
		b := bootFor(l, p)
		b.Config.Ports = []link.Port{{Name: "gateway", Address: "not an address"}}
		h, err := l.driver.Boot(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		// It got its socket, and dies of the address.
		id := struct{ ID string }{}
		if err := json.Unmarshal([]byte(h), &id); err != nil {
			t.Fatal(err)
		}
		w := l.engine.ContainerWait(t.Context(), id.ID, client.ContainerWaitOptions{})
		select {
		case <-w.Result:
		case err := <-w.Error:
			t.Fatal(err)
		}
		if err := l.driver.Kill(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		said, err := os.ReadFile(filepath.Join(p.Dir, "boot.log"))
		if err != nil || !strings.Contains(string(said), "listen for programs that want the port gateway") {
			t.Errorf("boot.log: %s %v", said, err)
		}
		l.none(b.Name)
	})
	t.Run("RemovesComputersThatEndedByThemselves", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		p := l.place()
		c, err := computer.Open(t.Context(), l.driver, p, computer.Spec{Dockerfile: l.info.Small}, computer.Options{Idle: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		id := handle(t, p)
		w := l.engine.ContainerWait(t.Context(), id, client.ContainerWaitOptions{})
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case r := <-w.Result:
			if r.StatusCode != 0 {
				t.Errorf("it ended with %d", r.StatusCode)
			}
		case err := <-w.Error:
			if !errdefs.IsNotFound(err) { // a boot of another test was quicker
				t.Fatal(err)
			}
		}
		l.open(l.place(), computer.Spec{}, computer.Options{})
		if _, err := l.engine.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{}); !errdefs.IsNotFound(err) {
			t.Errorf("the container is there: %v", err)
		}
	})
}

// bootFor is what computer.Open would ask a driver for.
func bootFor(l *lab, p computer.Place) *computer.Boot {
	l.Helper()
	s := computer.Spec{Dockerfile: l.info.Small, Limits: computer.DefaultLimits}
	base, err := l.driver.Prepare(l.Context(), s, func(string) {})
	if err != nil {
		l.Fatal(err)
	}
	if err := os.Mkdir(p.Dir, 0o700); err != nil {
		l.Fatal(err)
	}
	listener := listen(l.T, filepath.Join(l.TempDir(), "s"))
	sum := sha256.Sum256([]byte(p.Dir))
	return &computer.Boot{Name: "lyceum-" + hex.EncodeToString(sum[:8]), Dir: p.Dir, Home: p.Home, Base: base, Spec: s, Listener: listener}
}

func (l *lab) none(name string) {
	l.Helper()
	if _, err := l.engine.ContainerInspect(l.Context(), name, client.ContainerInspectOptions{}); !errdefs.IsNotFound(err) {
		l.Errorf("there is a container: %v", err)
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	t.Run("BuildsOnce", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		text := append(slices.Clone(l.info.Small), fmt.Sprintf("ENV ONCE=%d\nRUN echo one && echo two\n", time.Now().UnixNano())...)
		sum := sha256.Sum256(text)
		digest := hex.EncodeToString(sum[:])
		var mu sync.Mutex
		var steps []string
		ids := make([]string, 3)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				var err error
				ids[i], err = l.driver.Prepare(t.Context(), computer.Spec{Dockerfile: text}, func(s string) {
					mu.Lock()
					defer mu.Unlock()
					steps = append(steps, s)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		image, err := l.engine.ImageInspect(t.Context(), "lyceum:"+digest[:16])
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if id != image.ID || !strings.HasPrefix(id, "sha256:") {
				t.Errorf("image %s, not %s", id, image.ID)
			}
		}
		if image.Config.Labels["lyceum.dockerfile"] != digest {
			t.Errorf("labels: %v", image.Config.Labels)
		}
		// The engine adds a step for the label.
		if len(steps) != 5 || !strings.HasPrefix(steps[3], "Step 3/4 : RUN echo one") {
			t.Errorf("progress: %q", steps)
		}
	})
	t.Run("TakesNoTagThatSomebodyElseMade", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		text := append(slices.Clone(l.info.Small), "ENV STOLEN=1\n"...)
		sum := sha256.Sum256(text)
		tag := "lyceum:" + hex.EncodeToString(sum[:8])
		if _, err := l.engine.ImageTag(t.Context(), client.ImageTagOptions{Source: "localhost/lyceum-test:small", Target: tag}); err != nil {
			t.Fatal(err)
		}
		id, err := l.driver.Prepare(t.Context(), computer.Spec{Dockerfile: text}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		other, err := l.engine.ImageInspect(t.Context(), "localhost/lyceum-test:small")
		if err != nil || other.ID == id {
			t.Errorf("it took %s (%v)", id, err)
		}
	})
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"NamesTheStepThatFails":        {"RUN seq 30; echo '\033[31mred'; exit 3\n", []string{"Step 2/3 : RUN seq 30", "returned a non-zero code: 3", "\n\t12\n", "\t30\n\t[31mred\n", "Correct the Dockerfile"}},
		"SaysThatThereIsNothingToCopy": {"COPY x /x\n", []string{"Step 2/3 : COPY x /x", "from the Dockerfile alone"}},
		"RefusesVolumes":               {"VOLUME /data\n", []string{"the volume /data", "take VOLUME out"}},
		"RefusesOurVariables":          {"ENV LYCEUM_CONFINED_BY_LANDLOCK=1\n", []string{"LYCEUM_CONFINED_BY_LANDLOCK", "take that ENV out"}},
		"SaysWhatIsNoDockerfile":       {"NONSENSE\n", []string{"unknown instruction: NONSENSE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			_, err := l.driver.Prepare(t.Context(), computer.Spec{Dockerfile: []byte(string(l.info.Small) + c.text)}, func(string) {})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if strings.ContainsAny(err.Error(), "\033\r") || strings.Contains(err.Error(), "\n\t10\n") {
				t.Errorf("too much of it: %q", err)
			}
		})
	}
	t.Run("AdvisesWhatToDoWithoutTheBaseImage", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		_, err := l.driver.Prepare(t.Context(), computer.Spec{Dockerfile: []byte("FROM registry.invalid/none:1\n")}, func(string) {})
		if err == nil || !strings.Contains(err.Error(), "Step 1/2 : FROM registry.invalid/none:1") || !strings.Contains(err.Error(), "docker pull") {
			t.Errorf("error: %v", err)
		}
	})
}

// TestRunCost says what a command costs, beside the same without a computer.
func TestRunCost(t *testing.T) {
	l := newLab(t)
	p := l.place()
	began := time.Now()
	c := l.open(p, computer.Spec{}, computer.Options{})
	boot := time.Since(began)
	const n = 50
	began = time.Now()
	for i := range n {
		if _, err := c.Run(t.Context(), computer.Command{ID: fmt.Sprint("c", i), Args: []string{"true"}}); err != nil {
			t.Fatal(err)
		}
	}
	inside := time.Since(began) / n
	began = time.Now()
	for range n {
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	outside := time.Since(began) / n
	began = time.Now()
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("boot %v, command %v, fork and exec %v, stop %v", boot, inside, outside, time.Since(began))
}
