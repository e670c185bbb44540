package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's connection. One timer ends it: while a head is awaited,
// whatever arrives; later, when no byte has moved for too long.
type conn struct {
	client io.ReadWriteCloser
	r      *bufio.Reader
	ctx    context.Context
	cancel context.CancelFunc
	limits Limits

	timer   *time.Timer
	flowing atomic.Bool
	// left is how many more bytes may be read.
	left atomic.Int64
	// writing: the answer of a server and a last word of ours may come together.
	writing sync.Mutex
	closing sync.Once
}

var errTooLong = errors.New("the head of the request is too long")

func newConn(ctx context.Context, client io.ReadWriteCloser, limits Limits) *conn {
	c := &conn{client: client, limits: limits}
	c.ctx, c.cancel = context.WithCancel(ctx)
	context.AfterFunc(c.ctx, c.close)
	c.timer = time.AfterFunc(limits.Header, c.cancel)
	c.r = bufio.NewReaderSize(c, 32<<10)
	return c
}

func (c *conn) end() {
	c.flowing.Store(false)
	c.timer.Stop()
	c.cancel()
	c.close()
}

func (c *conn) close() { c.closing.Do(func() { _ = c.client.Close() }) }

// awaitHead gives the client a time and a size for what comes next.
func (c *conn) awaitHead() { c.expect(c.limits.Header, c.limits.HeaderBytes) }

func (c *conn) expect(within time.Duration, size int64) {
	c.flowing.Store(false)
	c.left.Store(size)
	c.timer.Reset(within)
}

// flow lets bytes pass for as long as they do.
func (c *conn) flow() {
	c.left.Store(math.MaxInt64)
	c.flowing.Store(true)
	c.touch()
}

func (c *conn) touch() {
	if c.flowing.Load() {
		c.timer.Reset(c.limits.Idle)
	}
}

func (c *conn) Read(b []byte) (int, error) {
	left := c.left.Load()
	if left <= 0 {
		return 0, errTooLong
	}
	n, err := c.client.Read(b[:min(int64(len(b)), left)])
	c.left.Add(-int64(n))
	c.touch()
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	n, err := c.client.Write(b)
	c.touch()
	return n, err
}

// closeWrite tells the client that nothing more comes, if there is a way to.
func (c *conn) closeWrite() bool {
	half, ok := c.client.(interface{ CloseWrite() error })
	return ok && half.CloseWrite() == nil
}

// linger waits a moment for the client to close. A connection that is closed while
// it holds something unread is reset, and the client may lose the answer by that.
func (c *conn) linger() {
	c.sayLast()
	_, _ = io.Copy(io.Discard, c.r)
}

func (c *conn) sayLast() {
	c.expect(time.Second, 256<<10)
	c.closeWrite()
}
