package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
)

// output is a terminal that remembers.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func newOutput() *output { return &output{more: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// await waits until a text has been written.
func (o *output) await(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(o.String(), want) {
		select {
		case <-o.more:
		case <-deadline:
			t.Fatalf("%q was never written:\n%q", want, o.String())
		}
	}
}

// silent is a quest in which nothing happens until its follower is told to end.
func silent(end error) (Source, chan struct{}) {
	stop := make(chan struct{})
	return Source{
		Follow: func(ctx context.Context, _ uint64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				select {
				case <-ctx.Done():
					yield(event.Event{}, ctx.Err())
				case <-stop:
					yield(event.Event{}, end)
				}
			}
		},
		Say:     func(event.Event, *quest.State) string { return "" },
		Act:     func(event.Body) (string, error) { return "", nil },
		Claimed: func() (bool, error) { return true, nil },
	}, stop
}

// TestAViewOfARunThatHasEndedStays until nobody presses a key any more; an interrupt leaves it.
func TestAViewOfARunThatHasEndedStays(t *testing.T) {
	t.Parallel()
	src, _ := silent(nil)
	src.Interrupt = func() { t.Error("the run was interrupted, though it has ended") }
	m := NewModel(&src, newState(1, 0), Mono)
	src.ctx = t.Context()
	_, first := m.Update(over(time.Millisecond))
	m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	_, second := m.Update(first())
	if second == nil {
		t.Fatal("the view leaves although a key was pressed meanwhile, want it to stay")
	}
	if _, quit := m.Update(second()); quit == nil || quit() != (tea.QuitMsg{}) {
		t.Error("the view stays although no key was pressed, want it to leave")
	}
	if cmd := m.key("q"); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("q does not leave a view whose run has ended")
	}
}

func TestAViewEnds(t *testing.T) {
	t.Parallel()
	t.Run("WhenItIsClosed", func(t *testing.T) {
		t.Parallel()
		src, _ := silent(nil)
		v := Start(t.Context(), src, newState(3, 3), nil, newOutput())
		v.Note("something")
		v.Close()
		if v.Err() != nil {
			t.Error(v.Err())
		}
	})
	t.Run("WhenItsContextDoes", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		src, _ := silent(nil)
		v := Start(ctx, src, newState(3, 3), nil, newOutput())
		cancel()
		<-v.Done()
		if v.Err() != nil {
			t.Error(v.Err())
		}
	})
	t.Run("WhenTheQuestIsGoneAndSaysWhy", func(t *testing.T) {
		t.Parallel()
		gone := errors.New("no such quest")
		src, stop := silent(gone)
		v := Start(t.Context(), src, newState(3, 3), nil, newOutput())
		close(stop)
		<-v.Done()
		if !errors.Is(v.Err(), gone) {
			t.Errorf("it says %v", v.Err())
		}
	})
	t.Run("WhenAPersonLeaves", func(t *testing.T) {
		t.Parallel()
		src, _ := silent(nil)
		in, keys := io.Pipe()
		t.Cleanup(func() { _ = keys.Close() })
		out := newOutput()
		v := Start(t.Context(), src, newState(3, 3), in, out)
		out.await(t, "\x1b[?1049h")
		v.program.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
		out.await(t, "agent-2")
		if _, err := fmt.Fprint(keys, "q"); err != nil {
			t.Fatal(err)
		}
		<-v.Done()
		if v.Err() != nil {
			t.Error(v.Err())
		}
		// What it has switched on it has switched off.
		screen := out.String()
		for _, mode := range regexp.MustCompile(`\x1b\[\?(\d+)h`).FindAllStringSubmatch(screen, -1) {
			on, off := strings.LastIndex(screen, "\x1b[?"+mode[1]+"h"), strings.LastIndex(screen, "\x1b[?"+mode[1]+"l")
			if mode[1] == "25" {
				on, off = off, on // the cursor is what is there before and after
			}
			if off < on {
				t.Errorf("mode %s is left on:\n%q", mode[1], screen)
			}
		}
		if !strings.Contains(screen, "\x1b[?1049l") {
			t.Errorf("the other screen is not left:\n%q", screen)
		}
	})
}
