package docker_test

// No race detector: what it tries are containers, with limits on time and memory.

import (
	"context"
	"maps"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/computer/docker"
	"lyceum/internal/need"
)

// imaged is a driver whose computers have the tests' image, where nothing is said of
// one.
type imaged struct {
	*docker.Driver
	dockerfile []byte
}

func (d imaged) Prepare(ctx context.Context, s computer.Spec, progress func(string)) (string, error) {
	if len(s.Dockerfile) == 0 {
		s.Dockerfile = d.dockerfile
	}
	return d.Driver.Prepare(ctx, s, progress)
}

func open(t *testing.T) computer.Driver {
	info := computertest.Engine(t)
	d := docker.New(docker.Options{Host: info.Host, Temp: t.TempDir()})
	t.Cleanup(func() { _ = d.Close() })
	return imaged{d, info.Dockerfile}
}

var options = computertest.Options{Tools: []string{"sh", "git", "python3"}}

func TestDocker(t *testing.T) { computertest.Exercise(t, open, options) }

func TestDockerRounds(t *testing.T) { computertest.Rounds(t, open, options, need.Times(3, 100)) }

func TestDockerInterrupts(t *testing.T) {
	computertest.Interrupts(t, open, options, need.Times(1, 67))
}

func TestDockerConversations(t *testing.T) {
	computertest.Conversations(t, open, options, need.Times(3, 100))
}

// openWays are those out of a container that are known.
var openWays = map[string]string{
	"MountTable": "the table of mounts tells where on the host the home is, and an engine has no way to hide it",
}

func TestEscape(t *testing.T) {
	computertest.Escape(t, open, computertest.EscapeOptions{Open: openWays})
}

func TestEscapeAsUser(t *testing.T) {
	computertest.Engine(t)
	if computertest.AsUser(t) {
		ways := maps.Clone(openWays)
		maps.Copy(ways, computertest.OpenToUsers)
		computertest.Escape(t, open, computertest.EscapeOptions{Open: ways})
	}
}
