package executortest

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/need"
)

func shell(script string) computer.Command {
	return computer.Command{ID: "sh", Args: []string{"sh", "-c", script}}
}

// faults: whatever an agent does, there is an end with an error that says what it did. It is
// long, as the list of faults is.
func (l *lab) faults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		how  []string
		want string
		// short is for those that say nothing.
		short bool
	}{
		{"DiesAtStart", []string{"dies", "complain"}, "the exit code 7; it complained: there is no model to be found", false},
		{"DiesWhenGreeted", []string{"dies-asked"}, "the exit code 8", false},
		{"SaysNothing", []string{"silent"}, "not ready within", true},
		{"SpeaksAnotherVersion", []string{"later"}, "speaks version 2 of the protocol", false},
		{"SpeaksNoJSON", []string{"nojson"}, "does not speak the protocol", false},
		{"WritesALongLine", []string{"long"}, "a line of more than 10 MiB", false},
		{"WritesALineWithoutEnd", []string{"endless-line"}, "more than 64 MiB", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := l.seat(t, c.how...)
			if c.short {
				s.set = func(a *executor.Agent) { a.Times.Ready = short }
				s.leave()
				s.open()
			}
			_, err := s.e.Ready(soon(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("ready: got %v, want %q", err, c.want)
			}
			s.gone()
		})
	}
	t.Run("IsAnotherVersion", func(t *testing.T) {
		t.Parallel()
		s := l.seat(t)
		for version, want := range map[string]string{"1.2.3": "", "1.2.4": "says that it is version 1.2.3, and config.yaml wants 1.2.4"} {
			s.set = func(a *executor.Agent) { a.Settings.Version, a.Settings.Exact = version, true }
			s.leave()
			s.open()
			if _, err := s.e.Ready(soon(t)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("version %s is wanted: got %v, want %q", version, err, want)
			}
		}
	})
	t.Run("DiesAfterItsAnswer", func(t *testing.T) {
		t.Parallel()
		s := l.seat(t, "dies-after")
		s.begin("")
		if got := s.says(1, "say last words"); got.Text != "last words" {
			t.Errorf("the turn: got %+v", got)
		}
		eventually(t, "the end of the process", func() bool { return len(s.running()) == 0 })
		_, err := s.prompt(soon(t), 2, "say more")
		if err == nil {
			t.Error("it answered")
		}
	})
	t.Run("IsNotInstalled", func(t *testing.T) {
		t.Parallel()
		s := l.seat(t)
		s.set = func(a *executor.Agent) { a.Settings.Command = []string{"/opt/agent/nothing"} }
		s.leave()
		s.open()
		if _, err := s.e.Ready(soon(t)); err == nil || !strings.Contains(err.Error(), "/opt/agent/nothing") {
			t.Errorf("ready: got %v, want that it says what is missing", err)
		}
	})
	for _, c := range []struct {
		name, want string
		set        func(*executor.Agent)
		steps      []string
	}{
		{"DiesInAPrompt", "the exit code 4; it complained: out of luck", nil, []string{"say so far", "complain out of luck", "die 4"}},
		{"UpdatesWithoutEnd", "more than 64 MiB", nil, []string{"endless"}},
		{"CallsWithoutEnd", "more than 10000 things", nil, []string{"calls"}},
		{"WritesALongLineInAPrompt", "a line of more than 10 MiB", nil, []string{"long 10485761"}},
		{"IsSilentInAPrompt", "said nothing for", func(a *executor.Agent) { a.Times.Silence = short }, []string{"hang"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := l.seat(t)
			s.set = c.set
			s.leave()
			s.open()
			s.begin("")
			got, err := s.prompt(soon(t), 1, c.steps...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the prompt: got %v, want %q", err, c.want)
			}
			if _, _, again := executor.Derive(got.Frames); again == nil || len(got.Frames) == 0 || len(got.Frames) > 80<<20 {
				t.Errorf("its %d frames say %v, want an error", len(got.Frames), again)
			}
			s.gone()
			// And the next process is as good as the first was.
			s.begin("")
			if got := s.says(2, "say on"); got.Text != "on" {
				t.Errorf("the next process: got %+v", got)
			}
		})
	}
	t.Run("HearsNoCancel", func(t *testing.T) {
		t.Parallel()
		s := l.seat(t)
		s.set = func(a *executor.Agent) { a.Times.Grace = short }
		s.leave()
		s.open()
		s.begin("")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			s.room.sees(t, "working")
			cancel()
		}()
		got, err := s.prompt(ctx, 1, "deaf", "hold sleep 1000", "touch working", "hang")
		if err != nil || got.Stop != event.StopInterrupted {
			t.Errorf("it hears no cancel: got %+v, %v", got, err)
		}
		s.derives(got)
		s.gone()
	})
	t.Run("IsSilentForAReason", func(t *testing.T) {
		t.Parallel()
		s := l.seat(t)
		var asked atomic.Int64
		s.set = func(a *executor.Agent) {
			a.Times.Silence = short
			a.Busy = func() bool {
				if asked.Add(1) == 3 {
					s.room.touch(t, "go")
				}
				return true
			}
		}
		s.leave()
		s.open()
		s.begin("")
		if got := s.says(1, "wait go", "say on"); got.Text != "on" {
			t.Errorf("an agent that waited for a model: got %+v", got)
		}
	})
	t.Run("OutlivesItsInput", func(t *testing.T) {
		t.Parallel()
		s := l.seat(t, "deaf")
		s.begin("")
		if err := s.e.Close(); err != nil {
			t.Error(err)
		}
		s.gone()
	})
	t.Run("IsSlowedDown", l.slowed)
}

// floods: whatever an agent pours out in a prompt, the heap of this process has its bound. What it said
// is kept to its 64 MiB, as words and as frames, and packed: that is much, and has an end.
func (l *lab) floods(t *testing.T) {
	const most = 640 << 20
	for name, step := range map[string]string{"Updates": "endless", "Calls": "calls", "ALongLine": "long 500000000"} {
		t.Run(name, func(t *testing.T) {
			s := l.seat(t)
			s.begin("")
			var err error
			peak := need.Heap(t, func() { _, err = s.prompt(soon(t), 1, step) })
			if err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("the prompt: got %v, want that it was too much", err)
			}
			if peak > most {
				t.Errorf("it took %d MiB of the heap, want at most %d", peak>>20, most>>20)
			}
			t.Logf("%d MiB at most: %v", peak>>20, err)
			s.gone()
		})
	}
}

// running are the agent's commands that run.
func (s *seat) running() (out []string) {
	s.t.Helper()
	list, err := s.c.Processes(soon(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range list {
		if p.Running && strings.HasPrefix(p.ID, "exec-a-") {
			out = append(out, p.ID)
		}
	}
	return out
}

// gone checks that nothing of the agent runs.
func (s *seat) gone() {
	s.t.Helper()
	eventually(s.t, "the end of all that ran for the agent", func() bool { return len(s.running()) == 0 })
}

// slowed: while nobody takes what an agent reports, it has to wait.
func (l *lab) slowed(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	hold := make(chan struct{})
	s.set = func(a *executor.Agent) { a.Host = &slow{s.host, hold} }
	s.leave()
	s.open()
	s.begin("")
	done := make(chan error)
	go func() {
		_, err := s.prompt(soon(t), 1, "call c1 x", "flood 50000", "touch over")
		done <- err
	}()
	<-hold // it waits in its first report
	for range 20 {
		if _, err := os.Stat(s.room.Place.Home + "/over"); err == nil {
			t.Fatal("the agent came to its end while nobody read")
		}
		r, err := s.c.Run(soon(t), computer.Command{ID: "pause", Args: []string{"sleep", "0.05"}})
		if err != nil || r.Exit != 0 {
			t.Fatal(err)
		}
		if err := s.c.Forget(soon(t), "pause"); err != nil {
			t.Fatal(err)
		}
	}
	hold <- struct{}{}
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.room.sees(t, "over")
}

// slow is a host that is held up by its first report.
type slow struct {
	*Keeper
	hold chan struct{}
}

func (s *slow) Report(ctx context.Context, b event.Body) error {
	select {
	case s.hold <- struct{}{}:
		<-s.hold
	case <-ctx.Done():
		return errors.New("nobody came")
	}
	return s.Keeper.Report(ctx, b)
}
