package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/plain"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"
	"golang.org/x/sys/unix"
)

// oldest is the API of Docker 20.10 and podman 4.
const oldest = "1.41"

// engine is one that answered.
type engine struct {
	*client.Client
	host, version    string
	podman, rootless bool
	info             system.Info

	// disk tells how much of a folder's disk is free, and is asked so often while an image
	// is built.
	disk func(dir string) (int64, bool)
	look time.Duration
}

// String names it for people.
func (e *engine) String() string {
	kind := "docker"
	if e.podman {
		kind = "podman"
	}
	if e.rootless {
		kind = "rootless " + kind
	}
	return kind + " " + plain.Bare(e.version, 40) + " at " + e.host
}

// has reports whether a security option of that name is in force.
func (e *engine) has(option string) bool {
	return slices.ContainsFunc(e.info.SecurityOptions, func(s string) bool {
		return s == "name="+option || strings.HasPrefix(s, "name="+option+",")
	})
}

// limits reports whether the engine can limit anything.
func (e *engine) limits() bool {
	return e.info.CgroupDriver != "none" && !(e.rootless && e.info.CgroupVersion == "1")
}

// Check implements computer.Driver: it asks the engine anew.
func (d *Driver) Check(ctx context.Context) error {
	_, err := d.Engine(ctx)
	return err
}

// Engine says which engine answers, its version and where, such as "podman 5.4 at
// unix:///run/podman/podman.sock". If none does, the error is an
// *computer.Unusable.
func (d *Driver) Engine(ctx context.Context) (string, error) {
	d.mu.Lock()
	if d.engine != nil {
		_ = d.engine.Close() // whoever uses it can go on
		d.engine = nil
	}
	d.mu.Unlock()
	e, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// connect finds the engine, once.
func (d *Driver) connect(ctx context.Context) (*engine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.engine != nil {
		return d.engine, nil
	}
	hosts := hosts(d.opts.Host)
	var found error
	for _, h := range hosts {
		e, err := dial(ctx, h)
		if err == nil {
			d.engine = e
			return e, nil
		}
		// An engine that is there and does not work says more than one that is not.
		if found == nil && !errors.Is(err, os.ErrNotExist) {
			found = err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if found != nil {
		return nil, found
	}
	u := &computer.Unusable{What: "docker", Why: "there is no engine at " + strings.Join(hosts, ", ")}
	if _, err := exec.LookPath("dockerd"); err == nil {
		u.Fix = "start it (systemctl start docker), or set DOCKER_HOST to where it listens"
	} else if _, err := exec.LookPath("podman"); err == nil {
		u.Fix = "let podman listen (systemctl --user enable --now podman.socket), or set DOCKER_HOST to where it does"
	} else {
		u.Fix = "install one (apt-get install docker.io, or podman), or set DOCKER_HOST to where it listens"
	}
	return nil, u
}

// hosts are the addresses to try.
func hosts(given string) []string {
	if given == "" {
		given = os.Getenv("DOCKER_HOST")
	}
	if given != "" {
		if filepath.IsAbs(given) {
			given = "unix://" + given
		}
		return []string{given}
	}
	list := []string{"unix:///var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		list = append(list, "unix://"+dir+"/podman/podman.sock", "unix://"+dir+"/docker.sock")
	}
	return append(list, "unix:///run/podman/podman.sock")
}

// dial asks the engine at an address what it is.
func dial(ctx context.Context, host string) (*engine, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	path, local := strings.CutPrefix(host, "unix://")
	if !local {
		return nil, &computer.Unusable{
			What: "docker", Why: "the engine at " + host + " is not reached by a unix socket, and computers need one on this machine",
			Fix: "set DOCKER_HOST=unix:///var/run/docker.sock, or leave it empty",
		}
	}
	if err := reach(ctx, path); err != nil {
		return nil, err
	}
	c, err := client.New(client.WithHost(host))
	if err != nil {
		return nil, &computer.Unusable{What: "docker", Why: err.Error(), Fix: "set DOCKER_HOST to where an engine listens"}
	}
	e := &engine{Client: c, host: host, disk: room, look: buildLook}
	if err := e.introduce(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return e, nil
}

// reach connects once, to tell what is in the way if something is.
func reach(ctx context.Context, path string) error {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return c.Close()
	case errors.Is(err, os.ErrNotExist):
		return err
	case errors.Is(err, os.ErrPermission):
		return &computer.Unusable{
			What: "docker", Why: "no permission on the engine's socket " + path,
			Fix: "add your user to the group docker (usermod -aG docker $USER) and log in again, or use rootless podman (systemctl --user enable --now podman.socket)",
		}
	}
	return &computer.Unusable{
		What: "docker", Why: fmt.Sprintf("nothing answers at the engine's socket %s (%v)", path, err),
		Fix: "start the engine: systemctl start docker",
	}
}

// introduce learns what the engine is and can do.
func (e *engine) introduce(ctx context.Context) error {
	broken := func(err error) error {
		return &computer.Unusable{
			What: "docker", Why: fmt.Sprintf("the engine at %s does not answer as one: %v", e.host, inWords(err)),
			Fix: "look what is wrong with it: docker info, journalctl -u docker",
		}
	}
	ping, err := e.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if ping.APIVersion != "" && versions.LessThan(ping.APIVersion, oldest) {
		return &computer.Unusable{
			What: "docker", Why: fmt.Sprintf("the engine at %s is too old: it speaks version %s of the API", e.host, plain.Bare(ping.APIVersion, 20)),
			Fix: "install Docker 20.10 or newer, or podman 4 or newer",
		}
	}
	if err != nil {
		return broken(err)
	}
	version, err := e.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return broken(err)
	}
	e.version = version.Version
	for _, c := range version.Components {
		e.podman = e.podman || strings.HasPrefix(c.Name, "Podman")
	}
	r, err := e.Info(ctx, client.InfoOptions{})
	if err != nil {
		return broken(err)
	}
	e.info = r.Info
	e.rootless = e.has("rootless")
	return e.suits()
}

// suits says what makes an engine useless to us.
func (e *engine) suits() error {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return err
	}
	ours := unix.ByteSliceToString(u.Release[:])
	switch {
	case e.info.OSType != "linux" || e.info.KernelVersion != ours:
		return &computer.Unusable{
			What: "docker", Why: fmt.Sprintf("%s runs its containers on another machine or in a virtual one (kernel %s, here it is %s)", e, plain.Bare(e.info.KernelVersion, 80), ours),
			Fix: "use an engine that runs directly on this machine, such as the package docker.io or podman",
		}
	case e.rootless && os.Geteuid() == 0:
		return &computer.Unusable{
			What: "docker", Why: fmt.Sprintf("%s belongs to an ordinary user, and Lyceum runs as root", e),
			Fix: "run Lyceum as that user, or set DOCKER_HOST to an engine that runs as root",
		}
	}
	return nil
}

// inWords takes what only programs want out of an engine's message.
func inWords(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New(plain.Bare(strings.TrimPrefix(err.Error(), "Error response from daemon: "), 1000))
}
