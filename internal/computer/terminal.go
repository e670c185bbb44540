package computer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"lyceum/internal/computer/link"
	"lyceum/internal/plain"
)

// Join opens the computer of a place if one is up, whatever it was booted with, and
// returns ErrStopped if none is. Unlike Open it ends nothing and boots nothing: what
// others do in the computer goes on.
func Join(ctx context.Context, p Place, drivers ...Driver) (*Computer, error) {
	s, err := readSaved(p)
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrStopped
	}
	if err != nil {
		return nil, fmt.Errorf("find the computer in %s: %w", p.Dir, err)
	}
	c := &Computer{place: p, saved: s, captures: map[string]*capture{}}
	for _, d := range drivers {
		if d.Name() == s.Driver {
			c.driver = d
		}
	}
	if c.driver == nil {
		return nil, fmt.Errorf("the computer in %s is one of %s, which is not there", p.Dir, plain.Quoted(s.Driver, 20))
	}
	soon, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if c.report, err = c.tell(soon, link.Request{Op: link.OpPing}); err != nil {
		return nil, absent(ctx, err)
	}
	if c.home, err = os.OpenRoot(p.Home); err != nil {
		return nil, fmt.Errorf("open the home of a computer: %w", err)
	}
	// What the computer has under way goes on until Close, whatever ctx was for.
	c.ctx, c.stop = context.WithCancel(context.Background())
	if c.held, _, _, err = c.ask(ctx, link.Request{Op: link.OpHold}); err != nil {
		return nil, errors.Join(absent(ctx, err), c.Close())
	}
	return c, nil
}

// absent tells a computer that is not there from one that does not answer: the
// second may be somebody's.
func absent(ctx context.Context, err error) error {
	end, ends := ctx.Deadline()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ends && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)) && !now().Before(end):
		return context.DeadlineExceeded // a connection may know it before ctx does
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return ErrStopped
	}
	return fmt.Errorf("the computer is up and does not answer: %v", err) // not ErrStopped, whatever it wraps
}

// Streams are the ends of a command that somebody sits in front of.
type Streams struct {
	// In is what the command reads; nil is nothing. A read that is under way when the
	// command ends is not waited for. With a terminal, the end of In means that the
	// terminal is gone.
	In io.Reader
	// Out and Err get what the command writes, as it comes. With a terminal all of it
	// goes to Out.
	Out, Err io.Writer
	// Resize brings new sizes of the terminal. It may be nil.
	Resize <-chan Size
}

// Attach runs a command and passes on what it reads and writes, until it has ended.
// Nothing of that is kept: there is no log, the Result has no output, and the
// computer forgets the command. When ctx ends, the terminal is gone, or Out or Err
// fail, the command and all it started are killed.
func (c *Computer) Attach(ctx context.Context, cmd Command, s Streams) (*Result, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	spec := &link.Command{Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Input: s.In != nil, Timeout: cmd.Timeout.Milliseconds()}
	if cmd.Terminal != nil {
		spec.Rows, spec.Cols = int(cmd.Terminal.Rows), int(cmd.Terminal.Cols)
	}
	conn, r, a, err := c.ask(ctx, link.Request{Op: link.OpRun, ID: cmd.ID, Command: spec})
	if err != nil {
		// If it is we who did not wait, the helper sees that and kills it.
		return nil, err
	}
	defer conn.Close()
	if a.Attached {
		return nil, fmt.Errorf("the computer has a command %s already", cmd.ID)
	}
	v := &visit{c: c, cmd: cmd, streams: s, conn: conn, kill: func() { _ = c.Kill(context.WithoutCancel(ctx), cmd.ID) }}
	beside, stop := context.WithCancel(ctx)
	defer stop()
	if s.In != nil {
		go v.feed(beside)
	}
	go v.resize(beside)
	shown := make(chan error, 1)
	go func() { shown <- v.show(r) }()
	select {
	case err = <-shown:
	case <-ctx.Done():
		v.kill()
		// Whoever reads Out may be gone without a word.
		select {
		case <-shown:
		case <-time.After(farewell):
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	_, _ = c.tell(last, link.Request{Op: link.OpForget, ID: cmd.ID}) // it is dropped at the latest when the computer ends
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	x := v.exit
	return &Result{
		ID: cmd.ID, Exit: x.Code, Signal: x.Signal, End: x.End, Met: x.Met,
		Duration: time.Duration(x.Duration) * time.Microsecond, Stdout: Output{Size: x.Out}, Stderr: Output{Size: x.Err},
	}, nil
}

// farewell is how long a command that was killed may take to end.
const farewell = 5 * time.Second

// visit is one Attach. conn carries what the command writes; frames of several
// goroutines do not mix on it.
type visit struct {
	c       *Computer
	cmd     Command
	streams Streams
	conn    net.Conn
	kill    func()
	exit    *link.Exit
}

// feed passes on what is typed. It has connections of its own for that: on the one
// that acknowledges, a command that does not read would never get to write either.
func (v *visit) feed(ctx context.Context) {
	buf := make([]byte, 32<<10)
	for {
		n, err := v.streams.In.Read(buf)
		if ctx.Err() != nil {
			return
		}
		if err != nil && v.cmd.Terminal != nil {
			v.kill()
			return
		}
		q := link.Request{Op: link.OpInput, ID: v.cmd.ID, Patient: true, End: err != nil}
		// A command that reads no more may still do its work.
		if _, failed := v.c.put(ctx, q, buf[:n]); failed != nil || err != nil {
			return
		}
	}
}

func (v *visit) resize(ctx context.Context) {
	for {
		select {
		case size, ok := <-v.streams.Resize:
			if !ok || link.WriteJSON(v.conn, link.KindResize, size) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// show passes on what the command writes, until it has ended. If that cannot be
// written, the command is killed, and only its end is waited for.
func (v *visit) show(r *link.Reader) error {
	to := [2]io.Writer{v.streams.Out, v.streams.Err}
	var size [2]int64
	var broken error
	for {
		kind, b, err := r.Next()
		if err != nil {
			return errors.Join(ErrStopped, broken)
		}
		switch kind {
		case link.KindStdout, link.KindStderr:
			i := kind - 1
			at, data, err := link.Data(b)
			if err != nil || at != size[i] {
				return errors.Join(fmt.Errorf("the helper sent output at %d instead of %d", at, size[i]), err)
			}
			size[i] += int64(len(data))
			if to[i] != nil && broken == nil {
				if _, broken = to[i].Write(data); broken != nil {
					v.kill()
				}
			}
			// Whoever is gone need not be told.
			_ = link.WriteAck(v.conn, kind, size[i])
		case link.KindExit:
			v.exit, err = parseExit(b)
			if err == nil && (v.exit.Out != size[0] || v.exit.Err != size[1]) {
				err = fmt.Errorf("the helper sent %d and %d bytes of output and says it was %d and %d", size[0], size[1], v.exit.Out, v.exit.Err)
			}
			return errors.Join(broken, err)
		default:
			return fmt.Errorf("the helper sent a frame of kind %q", kind)
		}
	}
}
