package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// A machine is a computer of a quest, up or not: an agent's, or one with another owner.
// mu guards what is below it.
type machine struct {
	l     *live
	actor string // whose it is
	owned bool   // by what is no agent
	place computer.Place
	spec  computer.Spec
	rules *proxy.Rules // of a network that is filtered
	ports map[string]computer.Port
	// registries get credentials from the proxy; nil for none.
	registries *proxy.Registries

	mu     sync.Mutex
	c      *computer.Computer
	print  event.Hash // what the ledger knows of it
	closed bool       // it is not to be opened again
}

// computer opens the computer, or finds it if it is up. If it is new to the ledger,
// started says so.
func (m *machine) computer(ctx context.Context, found bool) (c *computer.Computer, started *event.ComputerStarted, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, nil, computer.ErrStopped
	case m.c != nil:
		return m.c, nil, nil
	}
	opts := computer.Options{Progress: m.l.progress, Found: found, Ports: m.ports, Epoch: epochOf(m.l.opts.Claim)}
	if len(m.spec.Network.Allow) > 0 {
		p := &proxy.Proxy{Rules: m.rules, Log: m.connected, Registries: m.registries}
		opts.Serve = p.Serve
	}
	c, err = computer.Open(ctx, m.l.driver, m.place, m.spec, opts)
	if err != nil {
		return nil, nil, err
	}
	started, err = describe(c)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	if m.owned {
		started.Owner = m.actor
	}
	m.c = c
	if m.print == started.Fingerprint {
		return c, nil, nil
	}
	m.print = started.Fingerprint
	if !m.owned { // an agent reads it
		started.Holds = m.l.rt.holds(ctx, c, m.print)
	}
	return c, started, nil
}

func (m *machine) fingerprint() event.Hash {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.print
}

// limitsOf and recorded turn limits from what the ledger says to what computers
// take, and back.
func limitsOf(l event.ComputerLimits) computer.Limits {
	return computer.Limits{
		Memory: l.Memory, Processes: l.Processes, CPUs: l.CPUs, Files: l.Files, Disk: l.Disk, Wall: time.Duration(l.Wall) * time.Microsecond,
	}.OrDefault()
}

func recorded(l computer.Limits) event.ComputerLimits {
	return event.ComputerLimits{
		CPUs: l.CPUs, Disk: l.Disk, Files: l.Files, Memory: l.Memory, Processes: l.Processes, Wall: l.Wall.Microseconds(),
	}
}

// maxMasked is how many paths that a computer hides the ledger has.
const maxMasked = 16

// describe is what the ledger is told of a computer.
func describe(c *computer.Computer) (*event.ComputerStarted, error) {
	f := c.Fingerprint()
	b := &event.ComputerStarted{
		Arch: f.Arch, Base: f.Base, Confinement: c.Confinement(), Driver: f.Driver, Kernel: AtMost(f.Kernel, 200),
		Limits:  recorded(f.Limits),
		Network: event.ComputerNetwork{Open: f.Network.Open, Allow: f.Network.Allow}, Ports: f.Ports,
	}
	b.AllowWrite, b.DenyRead = f.Bounds.Write, f.Bounds.Hide
	for i, m := range c.Masks() {
		if i < maxMasked {
			b.Masked = append(b.Masked, AtMost(plain.Escape(m.Path), 200))
		} else {
			b.MaskedMore++
		}
	}
	for _, d := range f.Folders {
		b.Folders = append(b.Folders, event.ComputerFolder{Digest: d.Digest, Name: d.Name})
	}
	var err error
	b.Fingerprint, err = b.Sum()
	return b, err
}

// connected records a connection that a program made or tried to make.
func (m *machine) connected(c computer.Connection) {
	m.l.mail.put(m.draft(0, &event.NetConnection{
		Address: AtMost(c.Address, 100), Duration: c.Duration.Microseconds(), Host: AtMost(m.l.rt.Redact(c.Host), 300), Port: int64(c.Port),
		Received: count(c.Received), Refused: AtMost(m.l.rt.Redact(c.Refused), 500), Sent: count(c.Sent),
	}))
}

func (m *machine) draft(parent uint64, b event.Body) event.Draft {
	return event.Draft{Parent: parent, Time: m.l.rt.Clock(), Actor: m.actor, Body: b}
}

// forget lets the computer drop what it keeps of a command whose outcome is durable
// now.
func (m *machine) forget(ctx context.Context, id string) {
	m.mu.Lock()
	c := m.c
	m.mu.Unlock()
	if c != nil {
		_ = c.Forget(ctx, id) // it is dropped at the latest when the computer ends
	}
}

// endTime is how long it may take to end a computer.
const endTime = 30 * time.Second

// leave lets go of the computer, or ends it if the quest needs it no more. Whoever
// follows its commands is told.
func (m *machine) leave(end bool) error {
	m.mu.Lock()
	c := m.c
	m.c = nil
	m.mu.Unlock()
	if !end {
		if c == nil {
			return nil
		}
		return c.Close()
	}
	// Whatever broke the run off, its computer is ended.
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if c != nil {
		return c.Stop(ctx)
	}
	if m.l.driver == nil {
		return nil
	}
	// One that a killed process left up, and that nobody has used since.
	return computer.StopOf(ctx, epochOf(m.l.opts.Claim), m.place, m.l.driver)
}
