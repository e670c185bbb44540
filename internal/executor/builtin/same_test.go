package builtin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/executor/executortest"
	"lyceum/internal/model"
	"lyceum/internal/need"

	"github.com/google/go-cmp/cmp"
)

// kind is an agent that has some task: by the answers of its model, or by the steps of its prompt.
type kind struct {
	set     executor.Settings
	answers []answer
	prompt  string
}

// sat is a Lyceum with an agent in a computer, and what is recorded of it.
type sat struct {
	executor.Executor
	home string
	host *executortest.Keeper
	led  *executortest.Ledger
}

// sit has an agent of a kind ready in a new computer, with a session.
func sit(t *testing.T, k kind) *sat {
	t.Helper()
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	dir := t.TempDir()
	place := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	must(t, os.Mkdir(place.Home, 0o700))
	b := newBrain(t, append(k.answers, say("And on."))...)
	c, err := computer.Open(t.Context(), d, place, computer.Spec{Ports: []string{"gateway"}, Program: true}, computer.Options{Ports: map[string]computer.Port{"gateway": {Handler: tokened(b.Config.Handler)}}})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(computer.StopAt(ctx, place, d), c.Close()); err != nil {
			t.Errorf("stop the computer: %v", err)
		}
	})
	token, err := c.Token("gateway", "agent-0")
	must(t, err)
	words := strings.NewReplacer("{gateway}", "http://"+c.Address("gateway"), "{token}", token, "{model}", "best", "{settings}", computer.HomeDir+"/"+executor.SettingsDir)
	for name, value := range k.set.Variables {
		k.set.Variables[name] = words.Replace(value)
	}
	s := &sat{home: place.Home, led: new(executortest.Ledger)}
	s.host = executortest.NewKeeper(s.led)
	s.host.Start = c.Start
	s.host.Decide = option(event.AllowOnce)
	s.Executor, err = executor.New(t.Context(), executor.Agent{Computer: c, ID: "exec-a", Settings: k.set, Journal: filepath.Join(dir, "journal"), Host: s.host, Version: "1"})
	must(t, err)
	_, err = s.Ready(t.Context())
	must(t, err)
	_, err = s.Open(t.Context(), "")
	must(t, err)
	return s
}

// option decides by the kind of an option: agents give theirs the ids that they like.
func option(kind string) func(context.Context, *event.PermissionAsked) (string, error) {
	return func(_ context.Context, b *event.PermissionAsked) (string, error) {
		i := slices.IndexFunc(b.Options, func(o event.PermissionOption) bool { return o.Kind == kind })
		return b.Options[i].ID, nil
	}
}

func (s *sat) say(t *testing.T, ctx context.Context, seq uint64, text string) executor.Turn {
	t.Helper()
	turn, err := s.Prompt(ctx, executor.Prompt{Seq: seq, Text: text, Begin: func(context.Context, string) error { return nil }})
	must(t, err)
	return turn
}

// kinds are what was recorded, by the first word of each line, each repetition once.
func (s *sat) kinds() (out []string) {
	for _, line := range s.led.Told {
		words := strings.Fields(line)
		if strings.Trim(words[0], "0123456789") == "" {
			words = words[1:]
		}
		out = append(out, words[0])
	}
	return slices.Compact(out)
}

// TestEveryAgentKeepsTheSamePromises: the same task, given to Lyceum's own agent and to the scripted one,
// gives events of the same types in the same order, and the same files.
func TestEveryAgentKeepsTheSamePromises(t *testing.T) {
	scripted := executor.Settings{Name: "scripted", Command: []string{computer.Program, executortest.AgentRole}, Mode: "asks"}
	both := func(prompt string, answers ...answer) map[string]kind {
		return map[string]kind{"scripted": {set: scripted, prompt: prompt}, executor.BuiltinName: {set: executor.Builtin(), prompt: "Do it.", answers: answers}}
	}
	text := func(s string) model.Part { return model.Part{Kind: event.PartText, Text: s} }
	t.Run("WritesAndRuns", func(t *testing.T) {
		for name, k := range both(strings.Join([]string{
			"say I write.", "begun c1 Write", "permit c1 Write", "write notes.txt hello", "done c1 written",
			"begun c2 Run", "permit c2 Run", "run cat notes.txt > copy.txt", "done c2 ran",
		}, "\n"),
			reply(model.StopTools, text("I write."), called("1", "write_file", `{"path":"notes.txt","content":"hello"}`)),
			reply(model.StopTools, text("I run."), called("2", "run_command", `{"command":"cat notes.txt > copy.txt"}`)), say("Done."),
		) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := sit(t, k)
				if got := s.say(t, t.Context(), 3, k.prompt); got.Stop != "end_turn" || got.Text == "" {
					t.Errorf("the turn is %+v, want an end with words", got)
				}
				if d := cmp.Diff([]string{"said", "tool", "asked", "write", "tool", "said", "tool", "asked", "run", "tool"}, s.kinds()); d != "" {
					t.Errorf("what is recorded (-want +got):\n%s\n%s", d, strings.Join(s.led.Told, "\n"))
				}
				for _, file := range []string{"notes.txt", "copy.txt"} {
					if got, err := os.ReadFile(filepath.Join(s.home, file)); err != nil || string(got) != "hello" {
						t.Errorf("%s holds %q, %v, want hello", file, got, err)
					}
				}
				must(t, s.Close())
			})
		}
	})
	t.Run("IsRefused", func(t *testing.T) {
		for name, k := range both("begun c1 Write\npermit c1 Write\ndone c1 refused",
			use("write_file", `{"path":"notes.txt","content":"hello"}`), say("Well."),
		) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := sit(t, k)
				s.host.Decide = option(event.RejectOnce)
				if got := s.say(t, t.Context(), 3, k.prompt); got.Stop != "end_turn" || got.Text == "" {
					t.Errorf("the turn is %+v, want an end with words", got)
				}
				if d := cmp.Diff([]string{"tool", "asked", "tool"}, s.kinds()); d != "" {
					t.Errorf("what is recorded (-want +got):\n%s", d)
				}
				if _, err := os.Stat(filepath.Join(s.home, "notes.txt")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the file that was refused: %v, want none", err)
				}
				must(t, s.Close())
			})
		}
	})
	t.Run("IsCancelledInACommandAndGoesOn", func(t *testing.T) {
		for name, k := range both("begun c1 Run\npermit c1 Run\nhold sleep 1000\nwait never", use("run_command", `{"command":"sleep 1000"}`)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := sit(t, k)
				ctx, cancel := context.WithCancel(t.Context())
				start := s.host.Start
				s.host.Start = func(ctx context.Context, cmd computer.Command) error {
					defer cancel()
					return start(ctx, cmd)
				}
				if got := s.say(t, ctx, 3, k.prompt); got.Stop != event.StopInterrupted {
					t.Errorf("the turn is %+v, want it interrupted", got)
				}
				if got := s.kinds(); len(got) < 3 || !slices.Equal(got[:3], []string{"tool", "asked", "run"}) {
					t.Errorf("what is recorded is %v, want that it asked and ran", got)
				}
				if got := s.say(t, t.Context(), 4, "say And on."); got.Stop != "end_turn" || got.Text != "And on." {
					t.Errorf("the next turn is %+v, want that it goes on", got)
				}
				must(t, s.Close())
			})
		}
	})
}
