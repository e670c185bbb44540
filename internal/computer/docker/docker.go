// Package docker makes computers with a Docker engine, or with podman, which speaks
// the same language. Programs inside are those of an image that is built from the
// quest's Dockerfile.
//
// The engine is asked for a container and for little else: the helper is its first
// process and runs the commands, for the engine's own way to do so costs tens of
// milliseconds each. The engine must be on this machine, under the same kernel: the
// home is mounted from here, and the helper gets its socket handed over.
//
// A container may use nothing that an engine gives by default: no capabilities, no
// network, no writable image, no volumes, no health checks. Its user is the owner of
// the home (see computer.HomeUser). Where SELinux separates containers it is turned
// off for ours, since it would forbid the helper to speak with Lyceum at all.
//
// The container does not die with Lyceum, since commands may be kept in it; it ends
// when its helper does, which does so by itself when nobody comes back. What is left
// of such a container is removed when the next one is made.
package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/self"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// The labels by which we know what is ours.
const (
	labelComputer   = "lyceum.computer"
	labelDockerfile = "lyceum.dockerfile"
)

// Options may be left empty.
type Options struct {
	// Host is the address of the engine, such as unix:///var/run/docker.sock. If
	// empty, it is DOCKER_HOST, or else the first that answers of the places where
	// docker and podman listen.
	Host string
	// Temp is the folder for the helper's program, which the engine must see: that of
	// the system if empty.
	Temp string
	// WeakLimits is as in link.Config.
	WeakLimits bool
}

// Driver makes computers. Its helper is a copy of this program: it must be one that
// runs helper.Main when its first argument is helper.Role, and statically linked,
// for an image may have no libraries.
type Driver struct {
	opts Options
	// building is held by who builds, so that nobody builds the same image beside it.
	building chan struct{}

	program self.Copy

	mu     sync.Mutex // guards engine, which is made when it is first needed
	engine *engine
}

// New returns a driver. Whether it works, Check tells.
func New(o Options) *Driver {
	return &Driver{opts: o, building: make(chan struct{}, 1), program: self.Copy{Temp: o.Temp}}
}

// Name implements computer.Driver.
func (d *Driver) Name() string { return "docker" }

// Close lets go of the engine and of what the driver made for itself. Computers go
// on.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.engine != nil {
		err = d.engine.Close()
		d.engine = nil
	}
	return errors.Join(err, d.program.Close())
}

// sandbox is what the handle says.
type sandbox struct {
	ID string `json:"id"`
	// Log is the file for what the helper said.
	Log   string        `json:"log"`
	Group *cgroup.Group `json:"group,omitempty"`
}

func parse(handle string) (s sandbox, err error) {
	if err := json.Unmarshal([]byte(handle), &s); err != nil || s.ID == "" {
		return s, fmt.Errorf("%q is not a sandbox of docker", handle)
	}
	return s, nil
}

// Kill implements computer.Driver.
func (d *Driver) Kill(ctx context.Context, handle string) error {
	s, err := parse(handle)
	if err != nil {
		return err
	}
	e, err := d.connect(ctx)
	if err != nil {
		return err
	}
	// If it died by itself, this is the last chance to learn why.
	if said := e.said(ctx, s.ID); said != "" {
		_ = os.WriteFile(s.Log, []byte(said), 0o600)
	}
	return e.remove(ctx, s.ID)
}

// How long an engine that fails to remove a container is asked again, and how often.
const (
	removeFor   = 45 * time.Second
	removeAgain = 50 * time.Millisecond
)

// remove ends a container and waits until it is gone.
func (e *engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	patient, over := context.WithTimeout(ctx, removeFor)
	defer over()
	again := time.NewTicker(removeAgain)
	defer again.Stop()
	for {
		_, err := e.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil || errdefs.IsNotFound(err):
			return nil
		case errdefs.IsConflict(err):
			// Somebody is removing it already.
			if err := e.wait(ctx, id, container.WaitConditionRemoved); err != nil && !errdefs.IsNotFound(err) {
				return fmt.Errorf("wait until the container %.12s is gone: %w", id, inWords(err))
			}
		case errdefs.IsInternal(err) && patient.Err() == nil:
			// An engine may write a last file into the folder of a container that ends, just
			// when it removes that folder, or hear of the end too late. The container is
			// marked dead then, and can be removed.
			select {
			case <-patient.Done():
			case <-again.C:
			}
		default:
			return fmt.Errorf("remove the container %.12s: %w", id, inWords(err))
		}
	}
}

// wait returns when a container has come to a condition.
func (e *engine) wait(ctx context.Context, id string, c container.WaitCondition) error {
	w := e.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: c})
	// One of them comes, also when ctx ends. To leave before would leak a goroutine.
	select {
	case <-w.Result:
		return nil
	case err := <-w.Error:
		return errors.Join(err, ctx.Err())
	}
}

// Meters implements computer.Driver.
func (d *Driver) Meters(handle string) (m computer.Meters) {
	if s, err := parse(handle); err == nil && s.Group != nil {
		m.Memory, m.Processes = s.Group.Met()
	}
	return m
}
