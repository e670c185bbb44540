package gateway

import (
	"net/http"
	"sync"
	"time"
)

// pace is how often an agent is given what has come, at most. An answer whose words come
// one by one passes word by word; one that comes faster than anybody reads passes in larger
// pieces, which costs half.
const pace = 5 * time.Millisecond

// paced writes an answer to an agent. What comes after a pause is sent at once.
type paced struct {
	w       http.ResponseWriter
	control *http.ResponseController
	// watch ends the exchange if the agent does not take a piece in time.
	watch    *time.Timer
	patience time.Duration

	mu sync.Mutex
	// timer runs while running is set; waits says that something was written since the last
	// flush. err is of a flush that nobody waited for.
	timer         *time.Timer
	running, over bool
	waits         bool
	// head says that all that waits is the head of the answer: the first piece takes it along at once.
	head bool
	err  error
}

// begin gives the agent the head of the answer, with the first piece or soon.
func (p *paced) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	p.waits, p.head = true, true
}

// write gives the agent a piece, at once or soon.
func (p *paced) write(b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	p.watch.Reset(p.patience)
	defer p.watch.Stop()
	if _, p.err = p.w.Write(b); p.err != nil {
		return p.err
	}
	if p.running && !p.head {
		p.waits = true
		return nil
	}
	if p.err = p.control.Flush(); p.err == nil {
		p.rest()
	}
	return p.err
}

// rest has the next pieces wait for a moment. The lock is held.
func (p *paced) rest() {
	p.running, p.waits, p.head = true, false, false
	if p.timer == nil {
		p.timer = time.AfterFunc(pace, p.tick)
		return
	}
	p.timer.Reset(pace)
}

// tick sends what waits.
func (p *paced) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
	if !p.waits || p.err != nil || p.over {
		return
	}
	p.watch.Reset(p.patience)
	defer p.watch.Stop()
	if p.err = p.control.Flush(); p.err == nil {
		p.rest()
	}
}

// end has nobody write any more but the handler itself, once more if there is something.
func (p *paced) end(rest []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.err == nil && (p.waits || len(rest) > 0) {
		p.watch.Reset(p.patience)
		defer p.watch.Stop()
		if _, p.err = p.w.Write(rest); p.err == nil {
			p.err = p.control.Flush()
		}
	}
	return p.err
}
