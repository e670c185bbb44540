package runtime

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// ErrNoComputer says that the agents of a quest have no computers.
var ErrNoComputer = errors.New("the agents of this quest have no computers")

// ErrNoAgent says that a quest has no agent of that name.
var ErrNoAgent = errors.New("no such agent")

// ShellPrefix is what the ids of a person's commands begin with. Agents do not see
// them.
const ShellPrefix = "shell-"

// Computer opens the computer of an agent for a person to look around in: the one
// that is up, also while another process runs the quest, or else a new one. It
// records nothing. A network that is filtered is not served: connections are the
// business of whoever can record them, so there are some only while the quest runs.
func (r *Runtime) Computer(ctx context.Context, name, who string, progress func(string)) (*computer.Computer, error) {
	s, err := r.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	if s.Computer == nil {
		return nil, fmt.Errorf("quest %s: %w", name, ErrNoComputer)
	}
	if s.Agent(who) == nil {
		return nil, fmt.Errorf("quest %s: %w: %q", name, ErrNoAgent, who)
	}
	c, err := computer.Join(ctx, r.Place(name, who), r.Computers...)
	if !errors.Is(err, computer.ErrStopped) {
		return c, err
	}
	if err := r.homes(ctx, name, s); err != nil {
		return nil, err
	}
	d, spec, err := r.Machine(ctx, s.Computer)
	if err != nil {
		return nil, err
	}
	return computer.Open(ctx, d, r.Place(name, who), spec, computer.Options{Progress: progress})
}

// homes restores the homes of a quest that was cleaned. Whoever owns the quest has
// done so, and must not be disturbed.
func (r *Runtime) homes(ctx context.Context, name string, s *quest.State) error {
	release, err := r.Ledger.Claim(name)
	if errors.Is(err, ledger.ErrClaimed) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	return r.prepare(ctx, name, s)
}

// Machine is what the computers of a quest are made with.
func (r *Runtime) Machine(ctx context.Context, c *event.ComputerSpec) (d computer.Driver, s computer.Spec, err error) {
	s = computer.Spec{
		Driver: c.Driver, Network: computer.Network{Open: c.Network.Open, Allow: c.Network.Allow}, Limits: limitsOf(c.Limits),
	}
	if c.Dockerfile != nil {
		if s.Dockerfile, err = r.Blob(ctx, *c.Dockerfile); err != nil {
			return nil, s, err
		}
	}
	d, err = r.driver(ctx, c.Driver)
	return d, s, err
}
