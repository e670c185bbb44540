package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"lyceum/internal/computer"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/workspace"
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
// records nothing. A new one is as a run of the quest would make it, so that the next run
// finds it and works in it. A network that is filtered is not served, nor are the ports of an
// executor: what goes there is the business of whoever can record it, and waits for a run.
func (r *Runtime) Computer(ctx context.Context, name, who string, progress func(string)) (*computer.Computer, error) {
	s, err := r.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	if s.Computer == nil {
		return nil, fmt.Errorf("quest %s: %w", name, ErrNoComputer)
	}
	a := s.Agent(who)
	if a == nil {
		return nil, fmt.Errorf("quest %s: %w: %q", name, ErrNoAgent, who)
	}
	c, err := computer.Join(ctx, r.Place(name, who), r.Computers...)
	if !errors.Is(err, computer.ErrStopped) {
		return c, err
	}
	if err := r.homes(ctx, name, s); err != nil {
		return nil, err
	}
	d, spec, err := r.machine(ctx, name, s)
	if err != nil {
		return nil, err
	}
	set, err := r.settingsOf(ctx, s, a)
	if err != nil {
		return nil, err
	}
	if set != nil {
		folder, err := r.executorFolder(*set, a.Executor)
		if err != nil {
			return nil, err
		}
		equip(&spec, *set, folder, map[string]computer.Port{gatewayPort: {}, toolsPort: {}})
	}
	return computer.Open(ctx, d, r.Place(name, who), spec, computer.Options{Progress: progress, Unattended: true})
}

// homes restores the homes of a quest that was cleaned. Whoever owns the quest has
// done so, and must not be disturbed.
func (r *Runtime) homes(ctx context.Context, name string, s *quest.State) error {
	claim, err := r.Ledger.Claim(ctx, name)
	if errors.Is(err, ledger.ErrClaimed) {
		return nil
	}
	if err != nil {
		return err
	}
	defer claim.Release()
	return r.prepare(ctx, name, s)
}

// machine is what the computers of a quest are made with here: of one that was imported,
// no more than the owner of this home has allowed.
func (r *Runtime) machine(ctx context.Context, name string, of *quest.State) (computer.Driver, computer.Spec, error) {
	d, s, err := r.Machine(ctx, of)
	if err != nil {
		return nil, s, err
	}
	im, err := r.Imported(ctx, name)
	if im != nil {
		im.Allowed.restrict(&s, name, of.Computer.Dockerfile != nil, r.Owners())
	}
	return d, s, err
}

// BoundsOf is what a quest lets its agents read and write: without computers it says nothing of that.
func BoundsOf(s *quest.State) workspace.Bounds {
	if s.Computer == nil {
		return workspace.Bounds{}
	}
	return workspace.Bounds{Write: s.Computer.AllowWrite, Hide: s.Computer.DenyRead}
}

// digests is where digests of folders are kept that computers have.
func (r *Runtime) digests() string { return filepath.Join(r.Home, "cache", "folders") }

// Machine is what the computers of a quest are made with, as it was made to be. One that
// leaves the driver to Lyceum keeps what its first computer was made with, whatever works
// here besides by now: its agents would else find themselves elsewhere.
func (r *Runtime) Machine(ctx context.Context, of *quest.State) (d computer.Driver, s computer.Spec, err error) {
	c := of.Computer
	s = computer.Spec{
		Driver: c.Driver, Network: computer.Network{Open: c.Network.Open, Allow: c.Network.Allow}, Limits: limitsOf(c.Limits),
		Digests: r.digests(), Fixed: fixed(of), Bounds: BoundsOf(of),
	}
	if c.Dockerfile != nil {
		if s.Dockerfile, err = r.Blob(ctx, *c.Dockerfile); err != nil {
			return nil, s, err
		}
	}
	driver := c.Driver
	if driver == "auto" && of.Driver != "" {
		driver = of.Driver
	}
	d, err = r.driver(ctx, driver)
	return d, s, err
}
