package docker

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

func TestDoor(t *testing.T) {
	t.Parallel()
	visit := func(d *door) (n int, err error) {
		c, err := net.Dial("unix", filepath.Join(d.dir, socketName))
		if err != nil {
			return 0, err
		}
		defer c.Close()
		oob := make([]byte, 64)
		_, n, _, _, err = c.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), oob)
		return n, err
	}
	for name, c := range map[string]struct {
		pid  int
		gets bool
	}{
		"HandsTheListenerToTheHelper":      {os.Getpid(), true},
		"HandsItToNobodyElse":              {os.Getpid() + 1, false},
		"HandsItOutWhereNumbersMeanLittle": {0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := openDoor(t.TempDir(), 5, 5)
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			ctx, cancel := context.WithCancel(t.Context())
			handed := make(chan error, 1)
			go func() { handed <- d.hand(ctx, f, c.pid) }()
			n, _ := visit(d)
			if (n > 0) != c.gets {
				t.Errorf("%d bytes of rights came", n)
			}
			if !c.gets {
				cancel()
			}
			if err := <-handed; (err == nil) != c.gets {
				t.Errorf("error: %v", err)
			}
			cancel()
			d.close()
			if left, _ := os.ReadDir(filepath.Dir(d.dir)); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestNarrator(t *testing.T) {
	t.Parallel()
	var told []string
	n := narrator{progress: func(s string) { told = append(told, s) }}
	err := n.follow(strings.NewReader(`{"status":"Pulling from x","id":"1"}{"status":"Downloading","id":"2","progressDetail":{"current":1}}
		{"stream":"Step 1/2 : FR"}{"stream":"OM x\n ---\u003e abc\n"}{"stream":"Step 2/2 : RUN \u001b]0;evil\u0007 y\n"}
		{"stream":"10%\r50%\r100%\r\nun"}{"stream":"finished ` + strings.Repeat("x", 5000) + `"}{"errorDetail":{"message":"bro\u001b[1mken"},"error":"x"}`))
	if err == nil || err.Error() != "bro[1mken" {
		t.Fatalf("error: %v", err)
	}
	if want := []string{"Pulling from x 1", "Step 1/2 : FROM x", "Step 2/2 : RUN ]0;evil y"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	text := n.explain(err).Error()
	if !strings.Contains(text, "Step 2/2") || !strings.Contains(text, "\n\t100%\n\tunfinished xxx") || len(text) > 1000 || strings.Contains(text, "50%") {
		t.Errorf("error: %s", text)
	}
	n = narrator{progress: n.progress}
	if err := n.follow(strings.NewReader(`{"stream":"Step`)); err == nil {
		t.Error("a stream that breaks off is no success")
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := environment([]string{"PATH=/opt/bin", "HOME=/root", "GOPATH=/go", "GOPATH=/again", "nonsense"}, computer.Network{})
	if !slices.Contains(got, "PATH=/opt/bin") || !slices.Contains(got, "HOME="+computer.HomeDir) || !slices.Contains(got, "GOPATH=/go") {
		t.Errorf("environment: %q", got)
	}
	seen := map[string]bool{}
	for _, v := range got {
		name, _, ok := strings.Cut(v, "=")
		if !ok || seen[name] {
			t.Errorf("%q is wrong or twice", v)
		}
		seen[name] = true
	}
	if got := environment(nil, computer.Network{}); !slices.Contains(got, "PATH="+standardPath) {
		t.Errorf("without a PATH: %q", got)
	}
}

func TestGroupOf(t *testing.T) {
	t.Parallel()
	tree := func(t *testing.T, cgroup string, dirs ...string) (proc, root string) {
		dir := t.TempDir()
		for _, d := range append(dirs, "proc/7") {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "proc/7/cgroup"), []byte(cgroup), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "proc"), filepath.Join(dir, "sys")
	}
	t.Run("OfTheFirstVersion", func(t *testing.T) {
		t.Parallel()
		proc, root := tree(t, "3:pids:/docker/abc\n2:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n", "sys/pids/docker/abc", "sys/memory/docker/abc", "sys/cpu,cpuacct/docker/abc")
		g := groupOf(proc, root, 7, "abc")
		if g == nil || g.Version != 1 || !slices.Equal(g.Dirs, []string{root + "/pids/docker/abc", root + "/memory/docker/abc"}) {
			t.Errorf("groups of version 1: got %+v", g)
		}
		if g := groupOf(proc, root, 7, "another"); g != nil {
			t.Errorf("of another container: %+v", g)
		}
	})
	t.Run("OfTheSecondVersion", func(t *testing.T) {
		t.Parallel()
		proc, root := tree(t, "0::/system.slice/docker-abc.scope\n", "sys/system.slice/docker-abc.scope", "sys/cgroup.controllers")
		g := groupOf(proc, root, 7, "abc")
		if g == nil || g.Version != 2 || !slices.Equal(g.Dirs, []string{root + "/system.slice/docker-abc.scope"}) {
			t.Errorf("a group of version 2: got %+v", g)
		}
	})
	t.Run("ThatWeDoNotSee", func(t *testing.T) {
		t.Parallel()
		proc, root := tree(t, "0::/../abc\n", "sys/cgroup.controllers")
		if g := groupOf(proc, root, 7, "abc"); g != nil {
			t.Errorf("the group of another container: got %+v, want none", g)
		}
	})
}

func TestLimitsThatTheEngineLacksAreTheHelpers(t *testing.T) {
	t.Parallel()
	b := &computer.Boot{Spec: computer.Spec{Limits: computer.Limits{CPUs: 1500}.OrDefault()}}
	w := &launch{engine: &engine{}, boot: b, door: &door{}}
	if h := w.host(); h.Memory != 0 || h.PidsLimit != nil || h.NanoCPUs != 0 {
		t.Errorf("limits that the helper holds: got %+v of the engine, want none", h.Resources)
	}
	if c := b.Config; c.Memory != 2<<30 || c.Processes != 512 || c.CPUs != 2 {
		t.Errorf("limits that the engine does not hold: got %+v for the helper", c)
	}
	b.Config.Memory = 0
	e := w.engine
	e.info.MemoryLimit, e.info.CPUCfsQuota, e.info.NCPU = true, true, 1
	if h := w.host(); h.Memory != 2<<30 || h.NanoCPUs != 1e9 || b.Config.Memory != 0 {
		t.Errorf("limits that the engine holds: got %+v %+v", h.Resources, b.Config)
	}
	e.rootless, e.podman, e.info.CgroupVersion = true, true, "1"
	e.info.SecurityOptions = []string{"name=selinux"}
	if h := w.host(); h.Memory != 0 || h.UsernsMode != "keep-id" || len(h.DNS) != 0 || !slices.Contains(h.SecurityOpt, "label=disable") {
		t.Errorf("a container of Podman's: got %+v", h)
	}
}

func TestHosts(t *testing.T) {
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	want := []string{"unix:///var/run/docker.sock", "unix:///run/user/7/podman/podman.sock", "unix:///run/user/7/docker.sock", "unix:///run/podman/podman.sock"}
	if got := hosts(""); !slices.Equal(got, want) {
		t.Errorf("where engines are looked for: got %q", got)
	}
	t.Setenv("DOCKER_HOST", "/a.sock")
	if got := hosts(""); !slices.Equal(got, []string{"unix:///a.sock"}) {
		t.Errorf("where DOCKER_HOST says: got %q", got)
	}
	if got := hosts("unix:///b.sock"); !slices.Equal(got, []string{"unix:///b.sock"}) {
		t.Errorf("the host that was named: got %q", got)
	}
}

// TestClaim is for an engine that holds a name of which nobody knows a container, as
// while it makes one for somebody who was killed.
func TestClaim(t *testing.T) {
	t.Parallel()
	d, b := engineOf(t)
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &launch{engine: e, boot: &computer.Boot{Name: "lyceum-1"}}
	options := client.ContainerCreateOptions{Name: "lyceum-1", Config: &container.Config{Image: "base"}}
	b.hold(3)
	if id, err := w.claim(t.Context(), options); err != nil || id != "made" {
		t.Errorf("a name that is free after a while: got %q, %v, want the container", id, err)
	}
	b.hold(1 << 30)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if id, err := w.claim(ctx, options); err == nil {
		t.Errorf("a name that is never free: got %q, %v, want an error when the time is over", id, err)
	}
}

// TestRemove is for an engine that removes a container's folder while it writes into it.
func TestRemove(t *testing.T) {
	t.Parallel()
	d, b := engineOf(t)
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.stick(3)
	if err := e.remove(t.Context(), "made"); err != nil {
		t.Errorf("a container that can be removed after a while: got %v, want that it is", err)
	}
	b.stick(1 << 30)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := e.remove(ctx, "made"); err == nil {
		t.Error("a container that can never be removed: got no error, want one when the time is over")
	}
}
