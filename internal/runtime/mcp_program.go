package runtime

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"lyceum/internal/computer"
)

// ServerPrefix is what the ids of servers' programs begin with. Agents do not see them.
const ServerPrefix = "server-"

// program is a server that runs inside an agent's computer: what it reads and writes. It gets
// nothing of the host's environment, and ends with the connection, or with Lyceum.
type program struct {
	c      *computer.Computer
	id     string
	out    *computer.Following
	cancel context.CancelFunc
	ctx    context.Context

	writing sync.Mutex
	offset  int64
	closing sync.Once
	deaf    context.CancelFunc // ends the listening for complaints

	complaints *computer.Complaints
}

// aheadOf is how many bytes a program may write before somebody reads them.
const aheadOf = 1 << 20

func (s *served) start(ctx context.Context) (*program, error) {
	d := s.l.desks[s.agent]
	if d == nil || s.l.state.Computer == nil {
		return nil, ErrNoComputer
	}
	c, started, err := d.computer(ctx, false)
	if err != nil {
		return nil, err
	}
	if started != nil {
		s.l.mail.put(d.draft(0, started))
	}
	all := s.l.servers
	all.mu.Lock()
	all.next++
	id := fmt.Sprintf("%s%s-%d-%d", ServerPrefix, s.server, s.l.began, all.next)
	all.mu.Unlock()
	cmd := computer.Command{ID: id, Args: []string{"sh", "-c", s.set.Run}, Input: true, Ahead: aheadOf}
	if err := c.Start(ctx, cmd); err != nil {
		return nil, err
	}
	p := &program{c: c, id: id}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.out = c.Follow(p.ctx, id, computer.Stdout, 0)
	// What it complains about just before it ends is heard after the connection is over.
	listening, deaf := context.WithCancel(context.WithoutCancel(ctx))
	p.deaf = deaf
	p.complaints = c.Complaints(listening, id)
	return p, nil
}

// Read implements io.Reader. A program that has ended has said all.
func (p *program) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if p.ctx.Err() != nil {
		err = io.EOF
	}
	return n, err
}

// writeTime is how long a program may leave its input unread.
const writeTime = 30 * time.Second

// Write implements io.Writer.
func (p *program) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	ctx, cancel := context.WithTimeout(p.ctx, writeTime)
	defer cancel()
	at, err := p.c.WriteAt(ctx, p.id, p.offset, b, false)
	n := int(max(0, min(at-p.offset, int64(len(b)))))
	p.offset += int64(n)
	return n, err
}

// Close ends the program.
func (p *program) Close() error {
	p.closing.Do(func() {
		p.cancel()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), writeTime)
		defer cancel()
		_ = p.c.Kill(ctx, p.id)
		select {
		case <-p.complaints.Over(): // as it has ended
		case <-ctx.Done():
		}
		p.deaf()
		_ = p.c.Forget(ctx, p.id)
	})
	return nil
}
