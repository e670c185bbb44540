package helper

import (
	"errors"
	"fmt"
	"os"
	"time"

	"lyceum/internal/computer/link"
)

// patience is how long a command may take to read what is written to it.
const patience = 5 * time.Second

var (
	errEnded   = errors.New("the command's input has ended")
	errNoInput = errors.New("the command was started without input")
	errGap     = errors.New("what comes before has not been written")
	errDeaf    = errors.New("the command does not read its input")
)

// input writes to a command what the connection brings, behind all it was given.
func (h *helper) input(q *link.Request, r *link.Reader) error {
	c, err := h.find(q.ID)
	if err != nil {
		return err
	}
	if c.input == nil {
		return errNoInput
	}
	for left := q.Size; left > 0; {
		_, b, err := r.Next()
		if err != nil {
			return err
		}
		n, err := c.put(b, -1, q.Patient)
		left -= int64(n)
		switch {
		case errors.Is(err, errDeaf):
			return fmt.Errorf("%w: %d of %d bytes were written", err, q.Size-left, q.Size)
		case err != nil:
			return err
		}
	}
	if q.End {
		return c.endInput(-1)
	}
	return nil
}

// feed writes to a command what the connection brings, at an offset of its input. Of
// what the command was given before, nothing is written again: whoever does not know
// how far they came says it once more.
func (h *helper) feed(q *link.Request, r *link.Reader) (link.Answer, error) {
	c, err := h.find(q.ID)
	if err != nil {
		return link.Answer{}, err
	}
	err = errNoInput
	if c.input != nil {
		err = c.feed(q, r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return link.Answer{Taken: c.taken, Gap: errors.Is(err, errGap)}, err
}

func (c *command) feed(q *link.Request, r *link.Reader) error {
	at := q.At
	if at < 0 || q.Size < 0 {
		return errors.New("there is nothing before the beginning of an input")
	}
	// First of all, so that whoever is too far on hears it before they have sent it.
	if _, err := c.put(nil, at, true); err != nil {
		return err
	}
	for end := q.At + q.Size; at < end; {
		_, b, err := r.Next()
		if err != nil {
			return err
		}
		if int64(len(b)) > end-at {
			return errors.New("more came than was said")
		}
		if _, err := c.put(b, at, q.Patient); err != nil {
			return err
		}
		at += int64(len(b))
	}
	if q.End {
		return c.endInput(at)
	}
	return nil
}

// put writes a piece of input, and returns how much of it that was. at is where the
// piece stands, -1 for behind all there is; what the command has of it is left out.
func (c *command) put(b []byte, at int64, patient bool) (n int, err error) {
	c.mu.Lock()
	taken := c.taken
	c.mu.Unlock()
	if at > taken && len(b) == 0 {
		return 0, errGap
	}
	if len(b) == 0 || at >= 0 && at+int64(len(b)) <= taken {
		return 0, nil // nobody need be waited for
	}
	deadline := time.Time{}
	if !patient {
		deadline = now().Add(patience)
	}
	if err := c.takeFeeding(patient); err != nil {
		return 0, err
	}
	defer func() { <-c.feeding }()
	c.mu.Lock()
	taken, fed := c.taken, c.fed
	c.mu.Unlock()
	if at > taken {
		return 0, errGap
	}
	if at >= 0 {
		b = b[min(taken-at, int64(len(b))):]
	}
	if len(b) == 0 {
		return 0, nil
	}
	if fed {
		return 0, errEnded
	}
	_ = c.input.SetWriteDeadline(deadline)
	n, err = c.input.Write(b)
	c.mu.Lock()
	c.taken += int64(n)
	c.mu.Unlock()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errDeaf
	case err != nil:
		err = errEnded
	}
	return n, err
}

// takeFeeding waits until nobody else writes to the input. Whoever waits for a command
// that never reads is let go when the command ends.
func (c *command) takeFeeding(patient bool) error {
	var late <-chan time.Time
	if !patient {
		late = time.After(patience)
	}
	select {
	case c.feeding <- struct{}{}:
		return nil
	case <-late:
		return errDeaf
	}
}

// endInput says that nothing more comes, behind at bytes; -1 is wherever it is. It can
// be said again.
func (c *command) endInput(at int64) error {
	if err := c.takeFeeding(true); err != nil {
		return err
	}
	defer func() { <-c.feeding }()
	c.mu.Lock()
	taken, fed := c.taken, c.fed
	c.mu.Unlock()
	switch {
	case at >= 0 && taken > at:
		return fmt.Errorf("the command was given %d bytes, and its input is to end after %d", taken, at)
	case c.tty != nil:
		// A terminal has no end, but a key for it.
		if at < 0 || !fed {
			_, _ = c.input.Write([]byte{4})
		}
	default:
		// If the command has ended by now, so has its input.
		_ = c.input.Close()
	}
	c.mu.Lock()
	c.fed = c.fed || c.tty == nil || at >= 0
	c.mu.Unlock()
	return nil
}
