package computertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
)

// Interrupts ends a Lyceum while it boots a computer, at random moments, n times by each
// signal that ends one, and breaks off ten times as many boots of its own: nothing that was
// started may be left, and the next one boots at the same place.
func Interrupts(t *testing.T, open func(t *testing.T) computer.Driver, o Options, n int) {
	if asChild(t, open, o) {
		return
	}
	l := newLab(t, open, o)
	took := l.bootTime(t)
	t.Logf("a computer boots in %v", took)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signalWord(s), func(t *testing.T) {
			var places []computer.Place
			for range n {
				p := place(t)
				places = append(places, p)
				interrupted(t, p, s, rand.N(took+took/4))
			}
			l.nothingLeft(t, places)
		})
	}
	t.Run("Cancelled", func(t *testing.T) {
		var places []computer.Place
		for range 10 * n {
			p := place(t)
			places = append(places, p)
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(took+took/4))
			c, err := computer.Open(ctx, l.driver, p, l.opts.Spec, computer.Options{Idle: shortIdle})
			cancel()
			if err == nil {
				_ = c.Close()
			}
		}
		l.nothingLeft(t, places)
	})
}

// shortIdle is how long a computer stays up that nobody holds any more.
const shortIdle = 100 * time.Millisecond

func signalWord(s syscall.Signal) string {
	return map[syscall.Signal]string{syscall.SIGINT: "Interrupted", syscall.SIGTERM: "Terminated", syscall.SIGKILL: "Killed"}[s]
}

// bootTime is how long it takes until a computer is up.
func (l *lab) bootTime(t *testing.T) time.Duration {
	began := time.Now()
	m := l.boot(t)
	took := time.Since(began)
	if err := m.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	return took
}

// interrupted lets a Lyceum of its own boot a computer, and sends it a signal after a
// while.
func interrupted(t *testing.T, p computer.Place, s syscall.Signal, after time.Duration) {
	t.Helper()
	c := spawn(t, chore{Place: p, Idle: shortIdle, Interrupted: true})
	if !c.report.Scan() || c.report.Text() != "begins" {
		t.Fatalf("the child Lyceum says %q", c.report.Text())
	}
	time.Sleep(after) // this is the moment that is tried
	_ = c.cmd.Process.Signal(s)
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
		case <-time.After(patience):
			t.Errorf("a Lyceum that booted a computer did not end within %v of %v", patience, s)
			_ = c.cmd.Process.Kill()
		}
	}()
	_ = c.cmd.Wait()
	close(ended)
}

// beInterrupted is what the child does: it opens the computer as any Lyceum does, and ends
// when it is told to.
func beInterrupted(t *testing.T, open func(t *testing.T) computer.Driver, o Options, todo chore, say func(...any)) {
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	d := open(t)
	say("begins")
	if _, err := computer.Open(ctx, d, todo.Place, o.Spec, computer.Options{Idle: todo.Idle, Linger: todo.Linger}); err == nil {
		<-ctx.Done()
	}
	os.Exit(0)
}

// nothingLeft waits until no process of the places is there, and boots one of them again.
func (l *lab) nothingLeft(t *testing.T, places []computer.Place) {
	t.Helper()
	left := func() (out []string) {
		for i, pids := range inhabitantsOf(t, places...) {
			for _, pid := range pids {
				state, parent := stateOf(pid)
				out = append(out, fmt.Sprintf("process %d of boot %d, state %s, parent %d", pid, i, state, parent))
			}
		}
		return out
	}
	deadline := time.Now().Add(patience)
	for {
		found := left()
		if len(found) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("of %d boots that were broken off, this is left after %v: %v", len(places), patience, found)
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.at(t, places[len(places)-1], l.opts.Spec, computer.Options{}).sh("true")
}
