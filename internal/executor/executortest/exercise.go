// Package executortest holds executors to what they promise, with a scripted agent in a real
// computer: what it is to do the prompts say. Its hostile ways are those that agents are known
// to have, and worse.
package executortest

import (
	"context"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/executor"

	"github.com/google/go-cmp/cmp"
)

// Exercise is the suite, in computers of a driver. kills is how often a Lyceum is killed at any
// moment.
func Exercise(t *testing.T, open func() computer.Driver, kills int) {
	if asChild(t, open) {
		return
	}
	l := &lab{driver: ready(t, open), kills: kills}
	t.Run("Flood", l.floods) // first, and alone: it measures
	t.Run("Turn", l.turns)
	t.Run("Fault", l.faults)
	t.Run("Crash", l.crashes)
}

// lab is where executors are tried.
type lab struct {
	driver computer.Driver
	kills  int
	actor  *Actor // nil is the scripted agent, in whatever way a test needs it
}

// seat is a Lyceum that has an agent.
type seat struct {
	t    *testing.T
	room *Room
	c    *computer.Computer
	e    executor.Executor
	host *Keeper
	led  *Ledger
	// leave lets go of the agent, as a crash does.
	leave context.CancelFunc
	how   []string
	set   func(*executor.Agent)
}

func (l *lab) seat(t *testing.T, how ...string) *seat {
	t.Helper()
	s := &seat{t: t, room: newRoom(t, l.driver), led: new(Ledger), how: how}
	s.room.actor = l.actor
	s.sit()
	return s
}

// sit opens the computer and finds the agent there, or starts it when it is asked to be ready.
func (s *seat) sit() {
	s.t.Helper()
	s.host = NewKeeper(s.led)
	s.open()
}

func (s *seat) open() {
	s.t.Helper()
	c, err := s.room.enter(soon(s.t))
	if err != nil {
		s.t.Fatalf("open a computer: %v", err)
	}
	s.c = c
	s.host.Start = c.Start
	ctx, leave := context.WithCancel(s.t.Context())
	a, err := s.room.agent(c, s.host, s.how...)
	if err != nil {
		s.t.Fatalf("prepare the agent: %v", err)
	}
	if s.set != nil {
		s.set(&a)
	}
	if s.e, err = executor.New(ctx, a); err != nil {
		s.t.Fatal(err)
	}
	s.leave = leave
	s.t.Cleanup(func() {
		leave()
		_ = c.Close()
	})
}

// crash forgets all but what outlives a Lyceum, and sits down again.
func (s *seat) crash() {
	s.t.Helper()
	s.host.mu.Lock()
	s.host.Lost = true
	s.host.mu.Unlock()
	s.leave()
	if err := s.c.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.sit()
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// begin makes the agent ready and opens a session.
func (s *seat) begin(id string) executor.Session {
	s.t.Helper()
	if _, err := s.e.Ready(soon(s.t)); err != nil {
		s.t.Fatalf("ready: %v", err)
	}
	got, err := s.e.Open(soon(s.t), id)
	if err != nil {
		s.t.Fatalf("open: %v", err)
	}
	return got
}

// prompt says something, with what the ledger knows.
func (s *seat) prompt(ctx context.Context, seq uint64, steps ...string) (executor.Turn, error) {
	_, at := s.led.told()
	return s.e.Prompt(ctx, executor.Prompt{Seq: seq, Text: strings.Join(steps, "\n"), Begin: s.led.begin(seq), After: at})
}

// says is a prompt that must end well; the frames must tell the same.
func (s *seat) says(seq uint64, steps ...string) executor.Turn {
	s.t.Helper()
	got, err := s.prompt(soon(s.t), seq, steps...)
	if err != nil {
		s.t.Fatalf("prompt %d: %v", seq, err)
	}
	s.derives(got)
	return got
}

// derives checks that the frames of a turn give the turn and what was told in it.
func (s *seat) derives(got executor.Turn) {
	s.t.Helper()
	bodies, again, err := executor.Derive(got.Frames)
	if err != nil {
		s.t.Fatalf("derive a turn: %v", err)
	}
	again.Frames = got.Frames
	if diff := cmp.Diff(got, again); diff != "" {
		s.t.Errorf("the turn and what its frames tell (-live +derived):\n%s", diff)
	}
	var lines []string
	for _, b := range bodies {
		_, line := Line(b)
		lines = append(lines, line)
	}
	told, _ := s.led.told()
	var kept []string
	for line := range strings.SplitSeq(told, "\n") {
		if !strings.HasPrefix(line, "run ") && !strings.HasPrefix(line, "write ") && line != "" {
			kept = append(kept, line)
		}
	}
	if len(lines) > 0 && !strings.HasSuffix(strings.Join(kept, "\n"), strings.Join(lines, "\n")) {
		s.t.Errorf("what was told does not end with what the frames tell:\n%s", cmp.Diff(kept, lines))
	}
}

// told compares what the ledger knows.
func (s *seat) told(want ...string) {
	s.t.Helper()
	got, _ := s.led.told()
	if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
		s.t.Errorf("what was told (-want +got):\n%s", diff)
	}
}

// once checks that each process had each line once, and of requests by name one.
func (s *seat) once() {
	s.t.Helper()
	for n, lines := range s.room.heard(s.t) {
		seen := map[string]bool{}
		for _, line := range lines {
			if !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) || !strings.HasSuffix(line, "}") {
				s.t.Errorf("process %d was told what is no whole message: %.200s", n+1, line)
			}
			if seen[line] {
				s.t.Errorf("process %d was told twice: %.200s", n+1, line)
			}
			seen[line] = true
		}
	}
}
