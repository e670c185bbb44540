// Package browser looks at pages that nobody has read, in a browser that runs inside a
// computer and is driven from outside it.
//
// A browser is a Chromium of the computer's image. It speaks the DevTools protocol over a pipe,
// which is the input and output of its command; nothing listens at a port. What a page is made of
// is given to it from outside, under one made-up origin. Whatever else it asks for is refused and
// recorded. Each visit has a browser context of its own, which is gone afterwards.
//
// Input comes as events of the mouse and the keyboard, at the place where an element is. What is
// seen is read from the accessibility tree and by a script in a world of its own, which no script
// of the page reaches. So a page can show what it likes, and give no verdict.
//
// The clock of a page begins at one fixed moment and moves only as far as a visit lets it; random
// numbers, viewport, locale and time zone are fixed too. The same page seen twice is the same.
//
// A page that hangs, crashes or takes too much ends its visit, and the browser with it: the next
// visit has a new one. The browser's own words are a stranger's: bounded and checked.
package browser

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// ErrUnavailable says that the computer has no browser, or none that works.
var ErrUnavailable = errors.New("there is no browser in the computer")

// Origin is where a page finds itself.
const Origin = "https://artifact.test"

// DefaultLimit is how long a visit may take that says nothing else.
const DefaultLimit = 5 * time.Second

// Options are what can be said about a browser.
type Options struct {
	// Program is where the browser is inside the computer. Without it the usual places are
	// looked at.
	Program string
	// Start is how long the browser may take until it answers, 30 seconds if zero.
	Start time.Duration
}

// Visit is one story with a page.
type Visit struct {
	// Files gives what is at a path of what was made, which has no slash in front: the content
	// and its media type. An error is a file that is not there. It is called from several
	// goroutines, though not at the same time.
	Files func(path string) ([]byte, string, error)
	// Entry is the path that is loaded.
	Entry string
	Steps []event.WorldStep
	// NoScripts has no script of the page run.
	NoScripts bool
	// Limit is how long all of it may take, DefaultLimit if zero. Time in which the machine had no
	// processor for it does not count (see share).
	Limit time.Duration
	// Picture asks for pictures.
	Picture bool
}

// How a visit ends.
const (
	// Done says that all steps were done.
	Done = "done"
	// Missing says that what a step is done to is not there, or cannot be done to it.
	Missing = "missing"
	// Timeout says that it took too long.
	Timeout = "timeout"
	// Crash says that the page or the browser has died.
	Crash = "crash"
	// Error says that the page could not be loaded, or is too large to look at.
	Error = "error"
)

// Seen is what a visit came to.
type Seen struct {
	// Before is the page when it was loaded, After when the last step was done. After a visit
	// that did not end well, they hold what could be seen.
	Before, After Sight
	// End is one of the words above. Step is the index of the step that it ended at, if it ended
	// at one, otherwise the number of steps.
	End  string
	Step int
	// Why says more where End is not Done.
	Why string
}

// Sight is what is seen of a page at one time. All of it are a stranger's words.
type Sight struct {
	// Nodes are the accessibility tree, depth first.
	Nodes []Node
	// Text is what a reader of the page reads.
	Text, Title, URL string
	// Console has a line for each message. What a script throws and nobody catches begins with
	// Uncaught.
	Console []string
	// Dialogs has a line for each. Each was dismissed.
	Dialogs []string
	// Requests are sorted: what a page asks for at the same time comes in any order.
	Requests []event.WorldRequest
	// Picture is a PNG, if there is one.
	Picture []byte
	// Cut names what was left out of all this, as it was too much.
	Cut []string
}

// Node is a node of the accessibility tree.
type Node struct {
	Depth       int
	Role, Name  string
	Value       string
	Description string
	// Checked and Pressed are true, false or mixed, empty of what cannot be. Expanded and Selected
	// are true or false.
	Checked, Pressed, Expanded, Selected string
	// Invalid is empty, or how it is invalid.
	Invalid                               string
	Disabled, Focused, Readonly, Required bool
	// Level is that of a heading.
	Level int

	id int64 // of the element, in the browser
}

// Browser is a browser that is up, or comes up again with its next visit. Its methods may be
// called at the same time; one visit goes on at a time.
type Browser struct {
	c    *computer.Computer
	o    Options
	turn chan struct{} // holds a token while nobody visits

	// What visits are given more time by; others are for tests.
	waited func() time.Duration
	most   int64

	mu      sync.Mutex
	conn    *conn // nil if the browser is not up
	version string
	closed  bool
}

// Launch starts a browser in a computer that has no network.
func Launch(ctx context.Context, c *computer.Computer, o Options) (*Browser, error) {
	if mode := c.Fingerprint().Network.Mode(); mode != "none" {
		return nil, fmt.Errorf("the network of a browser's computer is %s, want none", mode)
	}
	if o.Start <= 0 {
		o.Start = 30 * time.Second
	}
	b := &Browser{c: c, o: o, turn: make(chan struct{}, 1), waited: pressed, most: most}
	b.turn <- struct{}{}
	if _, err := b.up(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// Version names the browser that was started last, as it names itself.
func (b *Browser) Version() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// errClosed is what a visit after Close gets.
var errClosed = errors.New("the browser is closed")

// up returns the connection to the browser, which is started if it is not up. Whoever calls it
// has the turn.
func (b *Browser) up(ctx context.Context) (*conn, error) {
	b.mu.Lock()
	k, closed := b.conn, b.closed
	b.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case k != nil && k.ctx.Err() == nil:
		return k, nil
	case k != nil:
		b.down(ctx)
	}
	id := "browser-" + rand.Text()[:20]
	k, version, err := start(ctx, b.c, id, b.o)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	if b.version, closed = version, b.closed; !closed {
		b.conn = k
	}
	b.mu.Unlock()
	if closed {
		return nil, errors.Join(errClosed, k.end(ctx))
	}
	return k, nil
}

// down ends the browser that is up, if one is.
func (b *Browser) down(ctx context.Context) error {
	b.mu.Lock()
	k := b.conn
	b.conn = nil
	b.mu.Unlock()
	if k == nil {
		return nil
	}
	return k.end(ctx)
}

// Close ends the browser and all that it started. A visit under way ends with it.
func (b *Browser) Close() error {
	b.mu.Lock()
	b.closed = true
	k := b.conn
	b.mu.Unlock()
	if k == nil {
		return nil
	}
	k.stop(errClosed)
	// Who closes may have no time left, and the browser must go all the same.
	return b.down(context.WithoutCancel(k.ctx))
}

// Visit loads a page in a fresh browser context, looks at it, does the steps and looks again. The
// error is not the page's: what a page does is told by Seen.
func (b *Browser) Visit(ctx context.Context, v Visit) (*Seen, error) {
	if v.Limit <= 0 {
		v.Limit = DefaultLimit
	}
	select {
	case <-b.turn:
		defer func() { b.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	k, err := b.up(ctx)
	if err != nil {
		return nil, err
	}
	bounded, done := b.bounded(ctx, k, v.Limit)
	s := visit(bounded, k, v)
	done()
	if s.End == Done || s.End == Missing {
		return s, nil
	}
	if cause := context.Cause(k.ctx); errors.Is(cause, errClosed) || errors.Is(cause, computer.ErrStopped) {
		return nil, cause
	}
	// Whatever it was, the next visit shall not have to do with it.
	err = b.down(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s, err
}
