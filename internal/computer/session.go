package computer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lyceum/internal/computer/link"
	"lyceum/internal/plain"
)

// Home is the agent's home, as the host sees it.
func (c *Computer) Home() *os.Root { return c.home }

// Fingerprint is what results of this computer depend on.
func (c *Computer) Fingerprint() Fingerprint { return c.saved.Fingerprint }

// Confinement names the layers between the computer and the host.
func (c *Computer) Confinement() []string {
	out := []string{c.saved.Driver}
	if c.report.Seccomp {
		out = append(out, "seccomp")
	}
	if c.report.Landlock > 0 {
		out = append(out, fmt.Sprintf("landlock %d", min(c.report.Landlock, 1000)))
	}
	return out
}

// Quota reports whether the kernel holds the limit on the home, by a project quota, and no watchdog alone.
func (c *Computer) Quota() bool { return c.report.Quota }

// Run runs a command to its end. When ctx ends, the command and all it started are
// killed, and the error is ctx's.
func (c *Computer) Run(ctx context.Context, cmd Command) (*Result, error) {
	k, err := c.begin(ctx, cmd)
	if err == nil {
		select {
		case <-k.done:
			return k.result()
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		return nil, err
	}
	// It may run even if we did not hear so.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = c.Kill(last, cmd.ID)
	return nil, ctx.Err()
}

// Start begins a command and returns once it runs. Whoever wants its result calls
// Wait.
func (c *Computer) Start(ctx context.Context, cmd Command) error {
	_, err := c.begin(ctx, cmd)
	return err
}

// begin starts a command, or attaches to it, and captures what it writes.
func (c *Computer) begin(ctx context.Context, cmd Command) (*capture, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	c.attaching.Lock()
	defer c.attaching.Unlock()
	if k := c.ours(cmd.ID); k != nil {
		if k.attached && k.fed.Load() == nil {
			c.nourish(k, cmd)
		}
		return k, nil
	}
	if _, err := os.Lstat(c.logPath(cmd.ID)); err == nil {
		// It has run. If the helper does not know it any more, it is over.
		k, err := c.attach(ctx, cmd.ID)
		if err == nil {
			c.nourish(k, cmd)
		}
		return k, err
	}
	spec := &link.Command{
		Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Input: cmd.Input || len(cmd.Stdin) > 0,
		Timeout: cmd.Timeout.Milliseconds(), Keep: cmd.Keep,
	}
	if cmd.Terminal != nil {
		spec.Rows, spec.Cols = int(cmd.Terminal.Rows), int(cmd.Terminal.Cols)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Once it is asked for we must hear whether it runs, or nobody would end it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), launchTime)
	defer cancel()
	k, err := c.capture(ctx, link.Request{Op: link.OpRun, ID: cmd.ID, Command: spec}, cmd.Ahead)
	if err != nil {
		return nil, err
	}
	c.nourish(k, cmd)
	return k, nil
}

// nourish gives a command what it is to read first. One that was there already may
// have a part of it: whoever started it was killed. An earlier helper would give it
// that part twice, so there it stays as it is.
func (c *Computer) nourish(k *capture, cmd Command) {
	q := link.Request{Op: link.OpInput, ID: cmd.ID, End: !cmd.Input, Patient: true}
	if k.attached {
		q.Op = link.OpFeed
	}
	if len(cmd.Stdin) == 0 || k.over() || k.attached && c.report.Version < link.Version {
		return
	}
	// A command that does not read what it is given may still do its work.
	fed := make(chan struct{})
	if c.spawn(func() {
		defer close(fed)
		_, _ = c.put(c.ctx, q, cmd.Stdin)
	}) {
		k.fed.Store(&fed)
	}
}

// launchTime is how long it may take to start a command, at the worst.
const launchTime = 10 * time.Second

// maxCommand is how long a command may be with all its arguments and environment.
const maxCommand = link.MaxFrame - 4<<10

// check finds what cannot be run.
func (cmd *Command) check() error {
	switch {
	case !ValidID(cmd.ID):
		return fmt.Errorf("%q is not an id for a command", cmd.ID)
	case cmd.Ahead < 0:
		return fmt.Errorf("the output of a command cannot be %d bytes ahead", cmd.Ahead)
	case len(cmd.Args) == 0:
		return errors.New("there is nothing to run")
	}
	for _, s := range slices.Concat(cmd.Args, cmd.Env, []string{cmd.Dir}) {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return fmt.Errorf("the command holds %s, which is not text in UTF-8; put it into a file", plain.Quoted(s, 100))
		}
	}
	if b, err := json.Marshal(cmd.Args); err != nil || len(b) > maxCommand/2 {
		return errors.Join(fmt.Errorf("the command is %d bytes long, at most %d are possible; put the rest into a file", len(b), maxCommand/2), err)
	}
	if b, err := json.Marshal(cmd.Env); err != nil || len(b) > maxCommand/4 {
		return errors.Join(fmt.Errorf("the command's environment is %d bytes long, at most %d are possible; put the rest into a file", len(b), maxCommand/4), err)
	}
	dir := cmd.Dir
	if !path.IsAbs(dir) {
		dir = path.Join(HomeDir, dir)
	}
	if !strings.HasPrefix(path.Clean(dir)+"/", HomeDir+"/") || len(dir) > 4096 {
		return fmt.Errorf("the folder %s is not inside the home; name one that is, such as . for the home itself", plain.Quoted(cmd.Dir, 100))
	}
	return nil
}

// capture sends a request that makes a command ours, and begins to take what it
// writes.
func (c *Computer) capture(ctx context.Context, q link.Request, ahead int64) (*capture, error) {
	k, err := newCapture(c, q, ahead)
	if err != nil {
		return nil, err
	}
	out, errs := k.safe()
	q.Out, q.Err = out, errs
	conn, r, a, err := c.ask(ctx, q)
	if err != nil {
		k.close()
		return nil, err
	}
	k.conn, k.attached = conn, a.Attached
	k.recognize(a)
	if k.keep && k.log == nil {
		// It may outlive us, so what it was is written down now.
		if err := k.startLog(); err != nil {
			conn.Close()
			return nil, errors.Join(err, c.Kill(ctx, q.ID))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		conn.Close()
		k.close()
		return nil, ErrStopped
	}
	c.captures[q.ID] = k
	c.work.Go(func() { k.take(r) })
	return k, nil
}

// spawn does something beside, for Close to wait for. Once the computer is let go
// of, nothing new begins.
func (c *Computer) spawn(do func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.down {
		c.work.Go(do)
	}
	return !c.down
}

// Wait returns how a command ended. When ctx ends, the command goes on.
func (c *Computer) Wait(ctx context.Context, id string) (*Result, error) {
	k, err := c.known(ctx, id)
	if err != nil {
		return nil, err
	}
	select {
	case <-k.done:
		return k.result()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// known finds a command: one of ours, one that an earlier Lyceum started, or the
// log of one that is over.
func (c *Computer) known(ctx context.Context, id string) (*capture, error) {
	if !ValidID(id) {
		return nil, ErrUnknown
	}
	c.attaching.Lock()
	defer c.attaching.Unlock()
	if k := c.ours(id); k != nil {
		return k, nil
	}
	return c.attach(ctx, id)
}

// attach goes on with a command that an earlier Lyceum started, or finds how it
// ended. attaching is held.
func (c *Computer) attach(ctx context.Context, id string) (*capture, error) {
	k, err := c.capture(ctx, link.Request{Op: link.OpAttach, ID: id}, 0)
	if errors.Is(err, ErrUnknown) {
		return c.fromLog(id)
	}
	return k, err
}

// ours finds a command whose output comes to us.
func (c *Computer) ours(id string) *capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.captures[id]
}

// Processes lists the commands that the computer knows.
func (c *Computer) Processes(ctx context.Context) ([]Process, error) {
	a, err := c.tell(ctx, link.Request{Op: link.OpList})
	if err != nil {
		return nil, err
	}
	if len(a.Known) > link.MaxKnown {
		return nil, fmt.Errorf("the helper knows %d commands, which cannot be", len(a.Known))
	}
	var out []Process
	seen := map[string]bool{}
	for _, n := range a.Known {
		if !ValidID(n.ID) || seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		p := Process{ID: n.ID, Args: n.Args, Running: n.Exit == nil, Started: time.UnixMilli(n.Started)}
		if n.Exit != nil {
			p.ended(n.Exit)
		}
		if k := c.ours(n.ID); k != nil {
			p.Lines = k.lines()
		}
		out = append(out, p)
	}
	return c.logged(ctx, out, seen)
}

func (p *Process) ended(x *link.Exit) {
	p.Running, p.Exit, p.Signal, p.End = false, x.Code, plain.Quoted(x.Signal, 20), endWord(x.End)
}

// endWord lets only our own words pass.
func endWord(s string) string {
	switch s {
	case "", EndTimeout, EndMemory, EndProcesses, EndDisk, EndHidden, EndKilled, EndAbandoned, EndStopped:
		return s
	}
	return EndKilled
}

// Write gives a command more to read. end says that there will be no more.
func (c *Computer) Write(ctx context.Context, id string, data []byte, end bool) error {
	if k := c.ours(id); k != nil {
		if err := k.isFed(ctx); err != nil {
			return err
		}
	}
	_, err := c.put(ctx, link.Request{Op: link.OpInput, ID: id, End: end}, data)
	return err
}

// put sends a request that data follows, and returns the answer to it.
func (c *Computer) put(ctx context.Context, q link.Request, data []byte) (a link.Answer, err error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrStopped, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	q.Size = int64(len(data))
	err = link.WriteJSON(conn, link.KindRequest, q)
	for len(data) > 0 && err == nil {
		n := min(len(data), link.MaxData)
		err = link.WriteFrame(conn, link.KindInput, data[:n])
		data = data[n:]
	}
	// If the helper has closed on us, its answer says why.
	if readErr := (&link.Reader{R: conn}).JSON(link.KindAnswer, &a); readErr != nil {
		return a, errors.Join(ctx.Err(), ErrStopped, err, readErr)
	}
	switch {
	case a.Unknown:
		return a, ErrUnknown
	case a.Gap:
		return a, ErrGap
	case a.Error != "":
		return a, errors.New(plain.Quoted(a.Error, 500))
	}
	return a, nil
}

// Kill ends a command and all it started. One that has ended already stays as it
// is.
func (c *Computer) Kill(ctx context.Context, id string) error {
	if k := c.ours(id); k != nil {
		k.unbind()
	}
	_, err := c.tell(ctx, link.Request{Op: link.OpKill, ID: id})
	return err
}

// Forget drops what is kept of a command that has ended, its log included. Until
// then its result can be asked for, also by the next Lyceum.
func (c *Computer) Forget(ctx context.Context, id string) error {
	if !ValidID(id) {
		return ErrUnknown
	}
	if _, err := c.tell(ctx, link.Request{Op: link.OpForget, ID: id}); err != nil && !errors.Is(err, ErrUnknown) {
		return err
	}
	c.mu.Lock()
	k := c.captures[id]
	delete(c.captures, id)
	c.mu.Unlock()
	if k != nil {
		k.close()
	}
	err := os.Remove(c.logPath(id))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
}

// serveTunnels keeps one connection ready for the next program that comes to a port.
//
// Each costs descriptors; beyond maxTunnels programs wait.
func (c *Computer) serveTunnels(port string, serve func(context.Context, io.ReadWriteCloser)) {
	turns := make(chan struct{}, maxTunnels)
	for c.ctx.Err() == nil {
		turns <- struct{}{}
		conn, _, _, err := c.ask(c.ctx, link.Request{Op: link.OpTunnel, Port: port})
		if err != nil {
			return
		}
		c.spawn(func() {
			defer func() { <-turns }()
			defer conn.Close()
			defer context.AfterFunc(c.ctx, func() { conn.Close() })()
			serve(c.ctx, conn)
		})
	}
}

const maxTunnels = 128

// meters tells how often limits were met so far.
func (c *Computer) meters() Meters { return c.driver.Meters(c.saved.Handle) }

// Close lets go of the computer. Commands that are to be kept go on in it; without
// any it ends by itself soon. Stop ends it now.
func (c *Computer) Close() error {
	if c.stop != nil {
		c.stop()
	}
	if c.held != nil {
		c.held.Close()
	}
	c.mu.Lock()
	c.down = true
	all := c.captures
	c.captures = map[string]*capture{}
	c.mu.Unlock()
	for _, k := range all {
		if k.conn != nil {
			k.conn.Close()
		}
	}
	c.work.Wait()
	for _, k := range all {
		k.close()
	}
	if c.home != nil {
		return c.home.Close()
	}
	return nil
}

// Stop ends the computer and all that runs in it. The home stays, and so do the
// logs. One that is a later owner's by now it only lets go of.
func (c *Computer) Stop(ctx context.Context) error {
	unlock, err := lock(ctx, filepath.Join(c.place.Dir, "lock"))
	if err != nil {
		return errors.Join(err, c.Close())
	}
	defer unlock()
	if now, err := readSaved(c.place); err == nil && now.fenced(c.opts.Epoch) {
		return c.Close()
	}
	err = end(ctx, c.driver, c.saved.Handle, c.place.Home)
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.captures))
	c.mu.Unlock()
	for _, k := range all {
		// Those who wait are told that their commands were stopped, before we leave.
		select {
		case <-k.done:
		case <-ctx.Done():
		}
	}
	return errors.Join(err, c.Close())
}

// StopAt ends the computer of a place, if one is up, without opening it.
func StopAt(ctx context.Context, p Place, drivers ...Driver) error {
	return StopOf(ctx, 0, p, drivers...)
}

// StopOf is StopAt for whoever owned the quest under a claim of that epoch: a later owner's computer stays.
func StopOf(ctx context.Context, epoch int64, p Place, drivers ...Driver) error {
	unlock, err := lock(ctx, filepath.Join(p.Dir, "lock"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	s, err := readSaved(p)
	if err != nil {
		return nil // it never was up
	}
	if s.fenced(epoch) {
		return nil
	}
	for _, d := range drivers {
		if d.Name() == s.Driver {
			return end(ctx, d, s.Handle, p.Home)
		}
	}
	return fmt.Errorf("the computer in %s is one of %s, which is not there", p.Dir, plain.Quoted(s.Driver, 20))
}
