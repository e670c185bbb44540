package docker_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/computer/docker"

	"golang.org/x/sys/unix"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("NamesTheEngine", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		if err := l.driver.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		name, err := l.driver.Engine(t.Context())
		if err != nil || !strings.HasPrefix(name, "docker ") || !strings.HasSuffix(name, " at "+l.info.Host) {
			t.Errorf("the engine's name: got %q %v", name, err)
		}
	})
	t.Run("WithoutAnEngine", func(t *testing.T) {
		t.Parallel()
		unusable(t, "unix://"+filepath.Join(t.TempDir(), "none.sock"), "there is no engine at", "DOCKER_HOST")
	})
	t.Run("WithAnEngineThatDied", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
		unusable(t, path, "nothing answers at", "systemctl start docker")
	})
	t.Run("WithoutPermission", func(t *testing.T) {
		if !computertest.AsUser(t) {
			return
		}
		path := filepath.Join(t.TempDir(), "s")
		listen(t, path)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		unusable(t, path, "no permission", "group docker")
	})
	t.Run("OverTheNetwork", func(t *testing.T) {
		t.Parallel()
		unusable(t, "tcp://127.0.0.1:1", "unix socket", "DOCKER_HOST=unix://")
	})
	t.Run("WithOneThatIsTooOld", func(t *testing.T) {
		t.Parallel()
		unusable(t, fake(t, "1.39", ""), "too old", "20.10")
	})
	t.Run("WithOneThatIsNotAnEngine", func(t *testing.T) {
		t.Parallel()
		unusable(t, fake(t, "1.41", "nonsense"), "does not answer as one", "docker info")
	})
	t.Run("WithOneInAVirtualMachine", func(t *testing.T) {
		t.Parallel()
		unusable(t, fake(t, "1.41", `{"OSType":"linux","KernelVersion":"6.6-linuxkit"}`), "virtual", "directly on this machine")
	})
	t.Run("SaysThatItIsPodman", func(t *testing.T) {
		t.Parallel()
		var u unix.Utsname
		if err := unix.Uname(&u); err != nil {
			t.Fatal(err)
		}
		d := docker.New(docker.Options{Host: fake(t, "1.41", fmt.Sprintf(`{"OSType":"linux","KernelVersion":%q}`, unix.ByteSliceToString(u.Release[:])))})
		defer d.Close()
		if name, err := d.Engine(t.Context()); err != nil || !strings.HasPrefix(name, "podman 4.9 at ") {
			t.Errorf("Podman's name: got %q %v", name, err)
		}
	})
}

func unusable(t *testing.T, host, why, fix string) {
	t.Helper()
	d := docker.New(docker.Options{Host: host})
	defer d.Close()
	err := d.Check(t.Context())
	u, ok := errors.AsType[*computer.Unusable](err)
	if !ok || u.What != "docker" || !strings.Contains(u.Why, why) || !strings.Contains(u.Fix, fix) {
		t.Errorf("error: %v", err)
	}
}

// fake is an engine that answers with an API version and what it says of itself.
func fake(t *testing.T, api, info string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", api)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/info"):
			fmt.Fprint(w, info)
		case strings.HasSuffix(r.URL.Path, "/version"):
			fmt.Fprint(w, `{"Version":"4.9","Components":[{"Name":"Podman Engine","Version":"4.9"}]}`)
		}
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "unix://" + path
}

// listen is a socket on which nobody is heard.
func listen(t *testing.T, path string) *os.File {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.SetUnlinkOnClose(false)
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
