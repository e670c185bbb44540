package service_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/stages"
)

// impatient is a study that waits half a second for its runner, and not half an hour.
type impatient struct{ stages.Society }

func (s impatient) Traits() quest.Traits {
	t := s.Society.Traits()
	t.Silence = 500_000
	return t
}

// mute is an agent that takes prompts and says nothing.
const mute = `while IFS= read -r line; do
  case "$line" in
  *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":1,"agentInfo":{"name":"mute","version":"1"},"agentCapabilities":{"mcpCapabilities":{"http":true}}}}' ;;
  *'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":"new-1","result":{"sessionId":"s1"}}' ;;
  esac
done`

// TestASilentRunnerEndsItsSitting: what a society says of silence holds for the process of its
// runner, and the sitting fails with that reason and is tried again later.
func TestASilentRunnerEndsItsSitting(t *testing.T) {
	t.Parallel()
	if got := time.Duration(stages.Society{}.Traits().Silence) * time.Microsecond; got != 30*time.Minute {
		t.Errorf("a study's runner may be silent for %v, want 30 minutes", got)
	}
	rt := openGuest(t, t.TempDir(), "http://127.0.0.1:1", nil)
	rt.Societies, rt.Workshops = []quest.Society{impatient{}}, service.Workshops("")
	rt.Executors = func(string) (executor.Settings, string, error) {
		return executor.Settings{Name: "mute", Command: []string{"sh", "-c", mute}, Wire: event.WireAnthropic, MCP: executor.MCPHTTP}, "", nil
	}
	createGuest(t, rt, "society: stages\nrunner: mute\n")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var ended *event.SittingEnded
	retried := false
	_, err := rt.Run(ctx, "q", runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		switch b := e.Body.(type) {
		case *event.SittingEnded:
			ended = b
		case *event.TimerSet:
			if retried = retried || ended != nil; retried {
				cancel()
			}
		}
	}})
	if ended == nil || !retried {
		t.Fatalf("the sitting ended %+v, and is tried again: %v; the run: %v", ended, retried, err)
	}
	if ended.Outcome != event.SittingFailed || !strings.Contains(ended.Reason, "said nothing for 500ms, and waited for nothing") {
		t.Errorf("the sitting ended %+v, want it failed, since its runner said nothing", ended)
	}
}
