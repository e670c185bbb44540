package executortest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"

	"github.com/google/go-cmp/cmp"
)

// Actor is a kind of agent that Promises holds to what all of them promise. Its prompts are steps, a
// line each, which it does by its own ways: a model's agent has a model that reads them. These are say T,
// edit P T, do C, wait FILE, touch FILE, stop REASON and fail T, as the scripted agent has them; wait and
// touch are nothing that is told.
type Actor struct {
	// Settings are how it is started in a computer.
	Settings func(c *computer.Computer) (executor.Settings, error)
	// Ports are what its computer leads to; home is where the agent's files are.
	Ports func(home string) map[string]computer.Port
}

// Scripted is the scripted agent as one of all.
func Scripted() Actor {
	return Actor{Settings: func(*computer.Computer) (executor.Settings, error) {
		return executor.Settings{Name: "scripted", Command: []string{program, AgentRole}, Mode: "asks"}, nil
	}}
}

// Promises is what every kind of agent is held to, in computers of a driver: events of the same types in
// the same order, the same files, the same ends, and that a Lyceum which comes after a crash goes on where
// the agent stands. What only a scripted agent can be had to do is in Exercise.
func Promises(t *testing.T, open func() computer.Driver, actor Actor) {
	l := &lab{driver: ready(t, open), actor: &actor}
	t.Run("SaysAndEnds", l.saysAndEnds)
	t.Run("WritesAndRuns", l.writesAndRuns)
	t.Run("IsRefused", l.isRefused)
	t.Run("StaysInItsBounds", l.staysInBounds)
	t.Run("SaysWhyItEnds", l.saysWhyItEnds)
	t.Run("HasOnePromptAtATime", l.onePrompt)
	t.Run("IsCancelled", l.isCancelled)
	t.Run("GoesOnInAnotherProcess", l.anotherProcess)
	t.Run("IsFoundAgainAfterACrash", l.foundAgain)
	t.Run("IsAnsweredOnceAfterACrash", l.answeredOnce)
	t.Run("RunsACommandOnceOverACrash", l.ranOnce)
}

// Choose decides about permissions by the kind of an option: agents give theirs the ids that they like.
func Choose(kind string) func(context.Context, *event.PermissionAsked) (string, error) {
	return func(_ context.Context, b *event.PermissionAsked) (string, error) {
		i := slices.IndexFunc(b.Options, func(o event.PermissionOption) bool { return o.Kind == kind })
		if i < 0 {
			return "", errors.New("there is no option of the kind " + kind)
		}
		return b.Options[i].ID, nil
	}
}

// acts is a seat whose agent is allowed what it asks for, with a session.
func (l *lab) acts(t *testing.T) (s *seat, session string) {
	t.Helper()
	s = l.seat(t)
	s.host.Decide = Choose(event.AllowOnce)
	return s, s.begin("").ID
}

// again is the seat after a crash, with the same session.
func (s *seat) again(session string) executor.Session {
	s.t.Helper()
	s.host.Decide = Choose(event.AllowOnce)
	return s.begin(session)
}

// kinds are what was recorded, by the first word of each line, each repetition once.
func (s *seat) kinds() (out []string) {
	s.led.mu.Lock()
	defer s.led.mu.Unlock()
	for _, line := range s.led.Told {
		words := strings.Fields(line)
		if strings.Trim(words[0], "0123456789") == "" {
			words = words[1:]
		}
		out = append(out, words[0])
	}
	return slices.Compact(out)
}

func (s *seat) wantKinds(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.kinds()); diff != "" {
		told, _ := s.led.told()
		s.t.Errorf("what is recorded (-want +got):\n%s\n%s", diff, told)
	}
}

func (s *seat) wantFile(name, want string) {
	s.t.Helper()
	if got, err := os.ReadFile(filepath.Join(s.room.Place.Home, name)); err != nil || string(got) != want {
		s.t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
	}
}

func (l *lab) saysAndEnds(t *testing.T) {
	t.Parallel()
	s, id := l.acts(t)
	info, err := s.e.Ready(soon(t))
	if err != nil || info.Protocol != 1 || info.Name == "" || info.Version == "" {
		t.Errorf("what it is: got %+v, %v, want a name, a version, and version 1 of the protocol", info, err)
	}
	if again, err := s.e.Open(soon(t), id); err != nil || again.How != "" || again.ID != id {
		t.Errorf("the session that is open: got %+v, %v", again, err)
	}
	got := s.says(7, "say Hello, world.")
	if got.Stop != event.StopEnd || got.Text != "Hello, world." {
		t.Errorf("the turn: got %q, %q, want its end, with the words", got.Stop, got.Text)
	}
	live := strings.NewReplacer("text:", "", ";", "").Replace(s.host.live.String())
	if live != got.Text {
		t.Errorf("what came live is %q, want %q", live, got.Text)
	}
	if got := s.says(8, "say And on."); got.Stop != event.StopEnd || got.Text != "And on." {
		t.Errorf("the next turn: got %q, %q, want its end, with the words", got.Stop, got.Text)
	}
	if diff := cmp.Diff([]string{"7 exec-a-1", "8 exec-a-1"}, s.led.Begun); diff != "" {
		t.Errorf("the prompts were begun (-want +got):\n%s", diff)
	}
	s.told()
	if err := s.e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if list, err := s.c.Processes(soon(t)); err != nil || slices.ContainsFunc(list, func(p computer.Process) bool { return p.Running }) {
		t.Errorf("after the end there is %v, %v", list, err)
	}
	if _, err := os.Stat(s.room.Journal); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end there is a journal: %v", err)
	}
}

func (l *lab) writesAndRuns(t *testing.T) {
	t.Parallel()
	s, _ := l.acts(t)
	got := s.says(3, "say I write.", "edit notes.txt hello", "say I run.", "do cat notes.txt > copy.txt", "say Done.")
	if got.Stop != event.StopEnd || got.Text != "Done." {
		t.Errorf("the turn: got %q, %q, want its end, with the last words", got.Stop, got.Text)
	}
	s.wantKinds("said", "tool", "asked", "write", "tool", "said", "tool", "asked", "run", "tool")
	s.wantFile("notes.txt", "hello")
	s.wantFile("copy.txt", "hello")
}

func (l *lab) isRefused(t *testing.T) {
	t.Parallel()
	s, _ := l.acts(t)
	s.host.Decide = Choose(event.RejectOnce)
	if got := s.says(3, "edit notes.txt hello", "do touch ran", "say Well."); got.Stop != event.StopEnd || got.Text != "Well." {
		t.Errorf("the turn: got %q, %q, want an end with words", got.Stop, got.Text)
	}
	s.wantKinds("tool", "asked", "tool", "asked", "tool")
	for _, name := range []string{"notes.txt", "ran"} {
		if _, err := os.Stat(filepath.Join(s.room.Place.Home, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s, which was refused: %v, want none", name, err)
		}
	}
	// What is allowed, and is refused all the same by Lyceum, is an error that the agent goes on from.
	s.host.Decide = Choose(event.AllowOnce)
	s.host.Refuse = errors.New("this file is not yours")
	if got := s.says(4, "edit notes.txt hello", "say Still well."); got.Text != "Still well." {
		t.Errorf("the turn after a refusal: got %q", got.Text)
	}
	if told, _ := s.led.told(); !strings.Contains(told, "this file is not yours") {
		t.Errorf("the agent was not told why, or did not say so:\n%s", told)
	}
	if _, err := os.Stat(filepath.Join(s.room.Place.Home, "notes.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("notes.txt, which is not the agent's: %v, want none", err)
	}
}

// staysInBounds: what a computer hides, its agent neither reads nor writes.
func (l *lab) staysInBounds(t *testing.T) {
	t.Parallel()
	s := &seat{t: t, room: newRoom(t, l.driver), led: new(Ledger)}
	s.room.actor, s.room.bounds.Hide = l.actor, []string{".env"}
	if err := os.WriteFile(filepath.Join(s.room.Place.Home, ".env"), []byte("hidden-text"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.sit()
	s.host.Decide = Choose(event.AllowOnce)
	s.begin("")
	got := s.says(1, "edit .env forged", "do cat .env > seen.txt 2>&1; true", "say Well.")
	if told, _ := s.led.told(); got.Text != "Well." || !strings.Contains(told, "deny_read") || strings.Contains(told, "hidden-text") {
		t.Errorf("the turn: got %q, want the file refused by deny_read:\n%s", got.Text, told)
	}
	s.wantFile(".env", "hidden-text")
	if b, err := os.ReadFile(filepath.Join(s.room.Place.Home, "seen.txt")); err != nil || strings.Contains(string(b), "hidden-text") {
		t.Errorf("a command of the agent read %q, %v, want nothing of what is hidden", b, err)
	}
}

func (l *lab) saysWhyItEnds(t *testing.T) {
	t.Parallel()
	s, _ := l.acts(t)
	if got := s.says(1, "say It is long", "stop max_tokens"); got.Stop != event.StopTokens || got.Text != "It is long" {
		t.Errorf("at the limit of its length: got %q, %q, want max_tokens", got.Stop, got.Text)
	}
	if got := s.says(2, "stop refusal"); got.Stop != event.StopRefusal {
		t.Errorf("a refusal: got %q", got.Stop)
	}
	if _, err := s.prompt(soon(t), 3, "fail the model is away"); err == nil || !strings.Contains(err.Error(), "the model is away") {
		t.Errorf("a failure: got %v, want the agent's reason", err)
	}
	if got := s.says(4, "say on"); got.Stop != event.StopEnd || got.Text != "on" {
		t.Errorf("the turn after: got %q, %q", got.Stop, got.Text)
	}
}

func (l *lab) onePrompt(t *testing.T) {
	t.Parallel()
	s, _ := l.acts(t)
	s.isBusy()
	if diff := cmp.Diff([]string{"1 exec-a-1"}, s.led.Begun); diff != "" {
		t.Errorf("the prompts were begun (-want +got):\n%s", diff)
	}
}

// isCancelled: whatever the agent is in the middle of; and the next prompt is answered.
func (l *lab) isCancelled(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"Thinking":   {"say so far", "edit x.txt y", "touch working", "wait never"},
		"ACommand":   {"do touch working; sleep 1000"},
		"Permission": {"do touch ran"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := l.acts(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "Permission" {
				s.host.Decide = func(ctx context.Context, _ *event.PermissionAsked) (string, error) {
					cancel()
					<-ctx.Done()
					return "", ctx.Err()
				}
			} else {
				go func() {
					s.room.sees(t, "working")
					cancel()
				}()
			}
			got, err := s.prompt(ctx, 1, steps...)
			if err != nil || got.Stop != event.StopInterrupted {
				t.Fatalf("cancelled: got %q, %v, want it interrupted", got.Stop, err)
			}
			s.derives(got)
			s.host.Decide = Choose(event.AllowOnce)
			if got := s.says(2, "say And on."); got.Stop != event.StopEnd || got.Text != "And on." {
				t.Errorf("the next turn: got %q, %q, want that it goes on", got.Stop, got.Text)
			}
			if _, err := os.Stat(filepath.Join(s.room.Place.Home, "ran")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("what was not allowed in time: %v, want that it did not run", err)
			}
			list, err := s.c.Processes(soon(t))
			for _, p := range list {
				if p.Running && p.ID != "exec-a-1" {
					t.Errorf("after the cancel %s runs still", p.ID)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func (l *lab) anotherProcess(t *testing.T) {
	t.Parallel()
	s, id := l.acts(t)
	s.says(1, "say one", "edit one.txt 1")
	s.kill("exec-a-1")
	if _, err := s.prompt(soon(t), 2, "say two"); err == nil {
		t.Error("a process that was killed answers")
	}
	got := s.begin(id)
	if got.ID != id || got.Process != "exec-a-2" || got.How != event.SessionLoaded && got.How != event.SessionResumed {
		t.Errorf("the session in a new process: got %+v, want %s loaded or resumed by exec-a-2", got, id)
	}
	if got := s.says(3, "say three"); got.Text != "three" {
		t.Errorf("the turn after: got %q", got.Text)
	}
	s.once()
}

// foundAgain: a Lyceum that comes after a crash finds the agent in the middle of its prompt, and has the
// answer to it; nothing is said twice or told twice.
func (l *lab) foundAgain(t *testing.T) {
	t.Parallel()
	s, id := l.acts(t)
	steps := []string{"say before", "edit a.txt 1", "touch working", "wait go", "edit b.txt 2", "say whole"}
	s.leaves(2, steps...)
	if diff := cmp.Diff(executor.Session{ID: id, Process: "exec-a-1"}, s.again(id)); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	s.room.touch(t, "go")
	if got := s.says(2, steps...); got.Stop != event.StopEnd || got.Text != "whole" {
		t.Errorf("the turn: got %q, %q, want its end", got.Stop, got.Text)
	}
	s.wantFile("a.txt", "1")
	s.wantFile("b.txt", "2")
	s.wantKinds("said", "tool", "asked", "write", "tool", "asked", "write", "tool")
	if diff := cmp.Diff([]string{"2 exec-a-1"}, s.led.Begun); diff != "" {
		t.Errorf("the prompt was begun (-want +got):\n%s", diff)
	}
	if got := s.says(3, "say on"); got.Text != "on" {
		t.Errorf("the turn after: got %q", got.Text)
	}
	s.once()
}

// answeredOnce: what the agent waits to be allowed is asked again after a crash, as the same question,
// and answered once.
func (l *lab) answeredOnce(t *testing.T) {
	t.Parallel()
	s, id := l.acts(t)
	first, asked := s.crashesAsking(Choose(event.AllowOnce), "edit a.txt 1", "say fine")
	s.begin(id)
	if got := s.says(1, "-"); got.Text != "fine" {
		t.Errorf("the turn: got %q", got.Text)
	}
	if again := <-asked; again != first || len(asked) > 0 {
		t.Errorf("it was asked as %s, then as %s and %d times more", first, again, len(asked))
	}
	s.wantFile("a.txt", "1")
	s.wantKinds("tool", "asked", "write", "tool")
	s.once()
}

// ranOnce: a command that is in the middle of its work when Lyceum crashes ends, and is not run again.
func (l *lab) ranOnce(t *testing.T) {
	t.Parallel()
	s, id := l.acts(t)
	s.leaves(1, "do echo begun >> ran; touch working; while ! test -e go; do sleep 0.02; done; echo over >> ran", "say fine")
	s.again(id)
	s.room.touch(t, "go")
	if got := s.says(1, "-"); got.Text != "fine" {
		t.Errorf("the turn: got %q", got.Text)
	}
	s.wantFile("ran", "begun\nover\n")
	s.once()
}
