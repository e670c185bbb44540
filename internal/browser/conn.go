package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what goes over the pipe.
const (
	// maxMessage is how long one message of the browser may be.
	maxMessage = 48 << 20
	// maxAhead is how far the browser may be ahead of us.
	maxAhead = 8 << 20
	// maxQueue is how many bytes may wait for the browser to read them.
	maxQueue = 64 << 20
	// maxFaults is how many messages of the browser may be none.
	maxFaults = 10
)

// A message ends with a byte 0. Strings of pages need not be UTF-8.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// message is what the browser says: an answer, or something that happened.
type message struct {
	ID      int64          `json:"id"`
	Session string         `json:"sessionId"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   *fault         `json:"error"`
}

// fault is a command that the browser refuses.
type fault struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

func (f *fault) Error() string { return plain.Brief(plain.Line(f.Message), 300) }

// request is what the browser is told.
type request struct {
	ID      int64  `json:"id"`
	Session string `json:"sessionId,omitzero"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitzero"`
}

// far is the browser at the other end.
type far interface {
	tell(ctx context.Context, data []byte) error
	end(ctx context.Context) error
	why(ctx context.Context, err error) error
}

// conn is the connection to a browser.
//
// One goroutine reads, and is the only one that calls hear, which must not wait for the browser.
// Another writes what is in the queue, so whoever says something never waits for the browser to
// read it: it might be waiting for us to do so. mu guards what is below it.
type conn struct {
	far   far
	ctx   context.Context // ends, with a cause, when the browser is lost
	stop  context.CancelCauseFunc
	works sync.WaitGroup

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan message
	hear    func(message)
	queue   [][]byte
	queued  int
	wake    chan struct{}
	faults  int
}

// newConn begins to speak with a browser of a computer. It outlives ctx.
func newConn(ctx context.Context, r *remote) *conn {
	k := makeConn(ctx, r)
	k.begin(r.listen(k.ctx))
	return k
}

func makeConn(ctx context.Context, f far) *conn {
	k := &conn{far: f, waiting: map[int64]chan message{}, wake: make(chan struct{}, 1)}
	k.ctx, k.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	return k
}

func (k *conn) begin(in io.Reader) {
	k.works.Go(func() {
		err := frames(in, maxMessage, k.take)
		if errors.Is(err, io.EOF) {
			err = errors.New("the browser has ended")
		}
		k.stop(err)
	})
	k.works.Go(func() { k.stop(k.write()) })
}

// frames gives each message that is read to take, without the byte behind it, until there is an
// error. What is given is valid until take returns.
func frames(in io.Reader, most int, take func([]byte) error) error {
	var held []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		rest := buf[:n]
		for {
			line, more, whole := bytes.Cut(rest, []byte{0})
			if len(held)+len(line) > most {
				return fmt.Errorf("the browser wrote a message of more than %d MiB", most>>20)
			}
			if !whole {
				held = append(held, line...)
				break
			}
			if len(held) > 0 {
				line = append(held, line...)
			}
			if err := take(line); err != nil {
				return err
			}
			if held, rest = held[:0], more; cap(held) > 1<<20 {
				held = nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// take takes a message. The error ends the connection.
func (k *conn) take(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m, lenient); err != nil || m.ID == 0 && m.Method == "" {
		if k.faults++; k.faults > maxFaults {
			return fmt.Errorf("the browser does not speak its protocol: %s", plain.Quoted(string(line[:min(len(line), 200)]), 100))
		}
		return nil
	}
	k.mu.Lock()
	if m.ID != 0 {
		to := k.waiting[m.ID]
		delete(k.waiting, m.ID)
		k.mu.Unlock()
		if to != nil {
			to <- m // has room for it
		}
		return nil
	}
	hear := k.hear
	k.mu.Unlock()
	if hear != nil {
		hear(m)
	}
	return nil
}

// heard has f called with all that happens from now on.
func (k *conn) heard(f func(message)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hear = f
}

// say queues a command. Its answer goes to a channel, or nowhere.
func (k *conn) say(session, method string, params any, answer chan message) (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last++
	line, err := json.Marshal(request{ID: k.last, Session: session, Method: method, Params: params}, lenient)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", method, err)
	}
	if k.queued+len(line) > maxQueue {
		err := fmt.Errorf("the browser does not read what it is told: %d bytes wait", k.queued)
		k.stop(err)
		return 0, err
	}
	if answer != nil {
		k.waiting[k.last] = answer
	}
	k.queue = append(k.queue, append(line, 0))
	k.queued += len(line)
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return k.last, nil
}

// write gives the browser what is queued.
func (k *conn) write() error {
	for {
		select {
		case <-k.wake:
		case <-k.ctx.Done():
			return k.ctx.Err()
		}
		k.mu.Lock()
		all := bytes.Join(k.queue, nil)
		k.queue = nil
		k.mu.Unlock()
		for part := range chunks(all) {
			if err := k.far.tell(k.ctx, part); err != nil {
				return fmt.Errorf("tell the browser something: %w", err)
			}
		}
		k.mu.Lock()
		k.queued = 0
		for _, line := range k.queue {
			k.queued += len(line)
		}
		k.mu.Unlock()
	}
}

// maxWrite is how much is written at once.
const maxWrite = 256 << 10

func chunks(b []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(len(b), maxWrite)
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// call tells the browser something and waits for its answer.
func (k *conn) call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan message, 1)
	id, err := k.say(session, method, params, answer)
	if err != nil {
		return err
	}
	select {
	case m := <-answer:
		return read(method, m, result)
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-k.ctx.Done():
		err = context.Cause(k.ctx)
	}
	k.mu.Lock()
	delete(k.waiting, id)
	k.mu.Unlock()
	return err
}

// read reads an answer.
func read(method string, m message, result any) error {
	if m.Error != nil {
		return fmt.Errorf("%s: %w", method, m.Error)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result, lenient); err != nil {
		return fmt.Errorf("read the browser's answer to %s: %s", method, plain.Brief(plain.Line(err.Error()), 200))
	}
	return nil
}

// explain says why a browser does not answer.
func (k *conn) explain(ctx context.Context, err error) error { return k.far.why(ctx, err) }

// end ends the browser and waits until nothing of it goes on.
func (k *conn) end(ctx context.Context) error {
	err := k.far.end(ctx)
	k.stop(errors.New("the browser was ended"))
	k.works.Wait()
	return err
}
