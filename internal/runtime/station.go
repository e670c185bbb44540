package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
)

// StationOptions are what can be said about a station. The zero value works.
type StationOptions struct {
	// Limits are those of the quest's computers where they are zero.
	Limits computer.Limits
	// Network is nowhere, unless it says more. Connections to a list of hosts are
	// recorded.
	Network computer.Network
	// Ports are whom programs reach outside, by name.
	Ports map[string]computer.Port
	// Folders of the host are there to be read.
	Folders []computer.Folder
	// Furnish puts into a home what it is to begin with. It is asked once for each home
	// that is made.
	Furnish func(home *os.Root) error
	// KeepHome keeps the home when the station is closed, for the next one of its owner.
	// Without it a station has none but for as long as it is open.
	KeepHome bool
	// registries get credentials from the proxy of a network that is a list.
	registries *proxy.Registries
	// whole lets programs write to all of the home, whatever agents may: what is run is the owner's.
	whole bool
}

// A Station is a computer of a quest that belongs to no agent: its owner is a name, such
// as server/github, browser or check/7. It outlives this process: whoever opens the
// station of that owner again, after a crash too, has the same computer with what was
// kept in it, as long as they ask for the same. When the quest is over, nothing is left
// of it.
//
// What happens in it is in the ledger, with the owner for the actor: that it started,
// commands by Start and Run, connections. Whatever else is done with Computer is not.
type Station struct {
	machine
	all *stations
	// following are those who wait for the ends of commands.
	following sync.WaitGroup
	starting  sync.Mutex // held while a command is begun, so that it is told once
	keepHome  bool
	finished  sync.Once
	err       error // of the end
}

// Station opens the computer of an owner, or finds it if it is up. An owner has one at a
// time. It may be called from the work of a service, and while a workshop is opened.
func (q *Quest) Station(ctx context.Context, owner string, o StationOptions) (*Station, error) {
	if q.stations == nil {
		return nil, fmt.Errorf("open the computer of %s: nobody runs the quest", owner)
	}
	s, err := q.stations.openFor(ctx, owner, o)
	if err != nil {
		return nil, fmt.Errorf("open the computer of %s: %w", owner, err)
	}
	return s, nil
}

// stations are those of one run. mu guards what is below it.
type stations struct {
	l      *live
	agents map[string]bool // names that no owner can have

	mu sync.Mutex
	// known is what the ledger says of owners who have not come in this run.
	known map[string]owned
	open  map[string]*Station // nil for one that is being opened
	over  bool                // there are to be none any more
}

// owned is a computer that the ledger knows, and the commands that have not ended in it.
type owned struct {
	print    event.Hash
	commands []string
}

// newStations takes from the state what it says of them.
func (l *live) newStations() *stations {
	s := &stations{l: l, agents: map[string]bool{}, known: map[string]owned{}, open: map[string]*Station{}}
	for _, a := range l.state.Agents {
		s.agents[a.Name] = true
	}
	for owner, m := range l.state.Machines {
		s.known[owner] = owned{m.Fingerprint, slices.Sorted(maps.Keys(m.Commands))}
	}
	return s
}

// stationPrefix is what the folders of stations begin with; no agent's does.
const stationPrefix = "@"

// stationName names the folders of an owner's computer.
func stationName(owner string) string {
	return stationPrefix + strings.ReplaceAll(owner, "/", stationPrefix)
}

func (all *stations) openFor(ctx context.Context, owner string, o StationOptions) (*Station, error) {
	l := all.l
	switch {
	case l.driver == nil:
		return nil, ErrNoComputer
	case !event.ValidOwner(owner) || all.agents[owner]:
		return nil, errors.New("no computer can belong to this name: take words like server/github, and no agent's")
	}
	s := &Station{all: all, keepHome: o.KeepHome, machine: machine{
		l: l, actor: owner, owned: true, place: l.rt.Place(l.key, stationName(owner)), spec: l.spec, ports: o.Ports, registries: o.registries,
	}}
	s.spec.Network, s.spec.Ports = o.Network, slices.Sorted(maps.Keys(o.Ports))
	s.spec.Folders = o.Folders
	if o.whole {
		s.spec.Bounds.Write = nil
	}
	s.spec.Limits = orLimits(o.Limits, l.spec.Limits)
	if l.imported != nil {
		l.imported.Allowed.restrict(&s.spec, l.key, len(s.spec.Dockerfile) > 0, l.rt.Owners())
	}
	var err error
	if s.rules, err = proxy.Parse(s.spec.Network.Allow); err != nil {
		return nil, err
	}
	before, err := all.reserve(owner)
	if err != nil {
		return nil, err
	}
	s.print = before.print
	if err := s.begin(ctx, o, before.commands); err != nil {
		all.put(owner, nil, before)
		return nil, err
	}
	if !all.put(owner, s, owned{}) {
		return nil, errors.Join(computer.ErrStopped, s.finish(true))
	}
	return s, nil
}

// begin makes the home and opens the computer. Commands that the ledger knows are
// followed again; of those that the computer does not know nobody can tell the end.
func (s *Station) begin(ctx context.Context, o StationOptions, commands []string) error {
	if _, err := os.Lstat(s.place.Home); err != nil {
		if err := furnish(s.place.Home, o.Furnish); err != nil {
			return fmt.Errorf("make its home: %w", err)
		}
	}
	c, started, err := s.computer(ctx, false)
	if err != nil {
		return err
	}
	list, err := c.Processes(ctx)
	if err != nil {
		return errors.Join(err, s.leave(false))
	}
	if started != nil {
		s.l.mail.put(s.draft(0, started))
	}
	for _, id := range commands {
		if knows(list, id) {
			s.follow(c, id)
		} else {
			s.l.mail.put(s.draft(0, lostCommand(0, id)))
		}
	}
	return nil
}

func knows(list []computer.Process, id string) bool {
	return slices.ContainsFunc(list, func(p computer.Process) bool { return p.ID == id })
}

// reserve keeps others from opening an owner's station, and hands over what the ledger
// says of it.
func (all *stations) reserve(owner string) (owned, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.over {
		return owned{}, computer.ErrStopped
	}
	if _, ok := all.open[owner]; ok {
		return owned{}, errors.New("it is open already")
	}
	before := all.known[owner]
	all.open[owner] = nil
	delete(all.known, owner)
	return before, nil
}

// put has a station that was reserved be open, unless all are over. Without one, what
// was known of it is again.
func (all *stations) put(owner string, s *Station, before owned) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if s == nil || all.over {
		delete(all.open, owner)
		all.known[owner] = before
		return false
	}
	all.open[owner] = s
	return true
}

// Computer is the computer, to speak with what runs in it. What is begun with it is in
// no ledger.
func (s *Station) Computer() (*computer.Computer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil {
		return nil, computer.ErrStopped
	}
	return s.c, nil
}

// Start begins a command, or goes on with the one that has its id. That it begins is
// durable before it does. What it reads and writes is for whoever speaks with it to
// record; the ledger hears how it ended, how much it wrote, and its complaints.
//
// It waits for the loop of the quest, so it is for the work of a service, and not for
// when a workshop is opened.
func (s *Station) Start(ctx context.Context, cmd computer.Command) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	c, err := s.Computer()
	if err != nil {
		return err
	}
	list, err := c.Processes(ctx)
	if err != nil {
		return err
	}
	if knows(list, cmd.ID) {
		return c.Start(ctx, cmd) // it is followed since the station was opened, or is over
	}
	run, err := (&recorder{machine: &s.machine}).begun(ctx, cmd)
	if err != nil {
		return err
	}
	// Not for as long as the caller waits: once it is put it will be durable.
	if err := s.l.mail.record(s.l.work, run); err != nil {
		return err
	}
	if err := c.Start(ctx, cmd); err != nil {
		s.l.mail.put(s.draft(0, &event.CliExit{Command: cmd.ID, Exit: 127, Fingerprint: s.fingerprint()}))
		return err
	}
	s.follow(c, cmd.ID)
	return nil
}

// Run runs a command to its end. What it did is recorded like an agent's.
func (s *Station) Run(ctx context.Context, cmd computer.Command) (*computer.Result, error) {
	s.starting.Lock()
	_, err := s.Computer()
	if err == nil {
		s.following.Add(1)
		defer s.following.Done()
	}
	s.starting.Unlock()
	if err != nil {
		return nil, err
	}
	r := &recorder{machine: &s.machine}
	res, err := r.Run(ctx, cmd)
	s.l.mail.put(r.take()...)
	return res, err
}

// follow waits for the end of a command, and tells it.
func (s *Station) follow(c *computer.Computer, id string) {
	s.following.Add(1)
	f := &follower{machine: &s.machine, c: c, id: id, quiet: true, tell: s.l.mail.put}
	if !s.l.mail.start(func() { defer s.following.Done(); s.l.followToEnd(f) }) {
		s.following.Done()
	}
}

// Close ends the computer and all that runs in it, and removes its home unless that is
// to be kept. It may be called again.
func (s *Station) Close() error {
	err := s.finish(!s.keepHome)
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.all.open[s.actor] == s {
		delete(s.all.open, s.actor)
		s.all.known[s.actor] = owned{print: s.fingerprint()}
	}
	return err
}

// finish ends the computer, once. Its logs are there until all is told.
func (s *Station) finish(remove bool) error {
	s.finished.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.err = s.leave(true)
		// Whoever was about to begin a command finds that it is over.
		s.starting.Lock()
		defer s.starting.Unlock()
		s.following.Wait()
		s.err = errors.Join(s.err, os.RemoveAll(s.place.Dir))
		if remove {
			s.err = errors.Join(s.err, RemoveTree(s.place.Home))
		}
	})
	return s.err
}

// lost are the ends of commands whose owners have not come, as far as nobody can tell
// them any more. Those that still run are left for their owners.
func (all *stations) lost(ctx context.Context) (out []event.Draft) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, owner := range slices.Sorted(maps.Keys(all.known)) {
		k := all.known[owner]
		if len(k.commands) == 0 {
			continue
		}
		list, known := all.look(ctx, owner)
		if !known {
			continue
		}
		m := &machine{l: all.l, actor: owner}
		k.commands = slices.DeleteFunc(k.commands, func(id string) bool {
			gone := !knows(list, id)
			if gone {
				out = append(out, m.draft(0, lostCommand(0, id)))
			}
			return gone
		})
		all.known[owner] = k
	}
	return out
}

// look lists the commands of an owner's computer, none if it is not up. known is false
// if that cannot be told.
func (all *stations) look(ctx context.Context, owner string) (list []computer.Process, known bool) {
	c, err := computer.Join(ctx, all.l.rt.Place(all.l.key, stationName(owner)), all.l.rt.Computers...)
	if err != nil {
		return nil, errors.Is(err, computer.ErrStopped)
	}
	defer c.Close()
	list, err = c.Processes(ctx)
	return list, err == nil
}

// end ends all stations, those included that nobody has opened in this run, and removes
// what they have on disk. Should the quest go on after all, they can be opened anew.
func (all *stations) end(tell func(...event.Draft)) (err error) {
	all.mu.Lock()
	open, known := all.open, all.known
	all.open, all.known = map[string]*Station{}, map[string]owned{}
	for owner, s := range open {
		switch s {
		case nil:
			all.open[owner] = nil // whoever is about to open it
		default:
			all.known[owner] = owned{print: s.fingerprint()}
		}
	}
	for owner, k := range known {
		all.known[owner] = owned{print: k.print}
	}
	all.mu.Unlock()
	for _, s := range open {
		if s != nil {
			err = errors.Join(err, s.finish(true))
		}
	}
	// Whatever broke the run off, its computers are ended.
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	err = errors.Join(err, all.l.rt.clearStations(ctx, all.l.key))
	for owner, k := range known {
		for _, id := range k.commands {
			tell((&machine{l: all.l, actor: owner}).draft(0, lostCommand(0, id)))
		}
	}
	return err
}

// close lets go of all stations, as the run is over: their computers stay up for whoever
// comes next, unless the quest has ended.
func (all *stations) close(ended bool) {
	all.mu.Lock()
	all.over = true
	open := slices.Collect(maps.Values(all.open))
	all.mu.Unlock()
	if ended {
		_ = all.end(func(...event.Draft) {})
		return
	}
	for _, s := range open {
		if s != nil {
			_ = s.leave(false)
		}
	}
}

// clearStations ends the computers of a quest that belong to no agent, and removes them
// from the disk.
func (r *Runtime) clearStations(ctx context.Context, name string) error {
	found := map[string]bool{}
	for _, dir := range []string{"computers", "agents"} {
		list, err := os.ReadDir(filepath.Join(r.QuestDir(name), dir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range list {
			if base := strings.TrimPrefix(e.Name(), newPrefix); strings.HasPrefix(base, stationPrefix) {
				found[e.Name()] = true
			}
		}
	}
	var err error
	for _, base := range slices.Sorted(maps.Keys(found)) {
		err = errors.Join(err, clearPlace(ctx, r.Place(name, base), r.Computers...))
	}
	return err
}

// orLimits are limits, and others where they are zero.
func orLimits(l, other computer.Limits) computer.Limits {
	pick := func(to *int64, from int64) {
		if *to == 0 {
			*to = from
		}
	}
	pick(&l.Memory, other.Memory)
	pick(&l.Processes, other.Processes)
	pick(&l.CPUs, other.CPUs)
	pick(&l.Files, other.Files)
	pick(&l.Disk, other.Disk)
	if l.Wall == 0 {
		l.Wall = other.Wall
	}
	return l
}
