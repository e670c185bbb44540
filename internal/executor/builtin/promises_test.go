package builtin

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/executor/executortest"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// TestPromises holds Lyceum's own agent to what every executor promises: it is a process in a computer,
// reached over the Agent Client Protocol alone, and its model is at a port, which does the steps of the
// prompts.
func TestPromises(t *testing.T) {
	executortest.Promises(t, func() computer.Driver { return namespaces.New(namespaces.Options{}) }, executortest.Actor{
		Ports: func(home string) map[string]computer.Port {
			return map[string]computer.Port{"gateway": {Handler: tokened(stepper(home))}}
		},
		Settings: func(c *computer.Computer) (executor.Settings, error) {
			token, err := c.Token("gateway", "agent-0")
			words := strings.NewReplacer("{gateway}", "http://"+c.Address("gateway"), "{token}", token, "{model}", "best", "{settings}", computer.HomeDir+"/"+executor.SettingsDir)
			set := executor.Builtin()
			for name, value := range set.Variables {
				set.Variables[name] = words.Replace(value)
			}
			return set, err
		},
	})
}

// stepper is a model that does the steps of the last prompt: in each answer those up to the next that
// takes a tool.
func stepper(home string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &stepping{home: home}
		modeltest.Handler(x, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
			return x.answer(r.Context(), seen.Messages)
		}).ServeHTTP(w, r)
	})
}

// stepping answers one request.
type stepping struct {
	modeltest.AnthropicWire
	home string
	why  string // what it fails with
}

// Refuse implements modeltest.Wire: in the words of the step.
func (x *stepping) Refuse(w http.ResponseWriter, f modeltest.Failure) {
	if x.why == "" {
		x.AnthropicWire.Refuse(w, f)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, x.why)
}

func (x *stepping) answer(ctx context.Context, said []model.Message) (reply modeltest.Reply, failure modeltest.Failure) {
	steps, done := stepsOf(said)
	reply.Stop = model.StopEnd
	for line := range strings.Lines(steps) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		tool, args := "", ""
		switch word {
		case "edit":
			path, text, _ := strings.Cut(rest, " ")
			tool, args = toolWrite, fmt.Sprintf(`{"path":%q,"content":%q}`, path, text)
		case "do":
			tool, args = toolRun, fmt.Sprintf(`{"command":%q}`, rest)
		}
		if done > 0 { // what stands before the last call was done in an earlier answer
			if tool != "" {
				done--
			}
			continue
		}
		switch word {
		case "say":
			reply.Parts = append(reply.Parts, model.Part{Kind: event.PartText, Text: rest})
		case "touch":
			if err := os.WriteFile(filepath.Join(x.home, rest), nil, 0o644); err != nil {
				return reply, modeltest.BadRequest
			}
		case "wait":
			if !appears(ctx, filepath.Join(x.home, rest)) {
				return reply, modeltest.ServerError
			}
		case "fail":
			x.why = rest
			return reply, modeltest.BadRequest
		case "stop":
			reply.Stop = map[string]string{"max_tokens": model.StopLength, "refusal": model.StopRefusal}[rest]
		}
		if tool != "" {
			reply.Parts = append(reply.Parts, called(fmt.Sprintf("call-%d-%d", len(said), len(reply.Parts)), tool, args))
			reply.Stop = model.StopTools
			return reply, ""
		}
	}
	return reply, ""
}

// stepsOf is the text of the last prompt, and how many calls have a result since.
func stepsOf(said []model.Message) (steps string, done int) {
	for _, m := range said {
		if m.Role != model.User {
			continue
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case event.PartText:
				steps, done = p.Text, 0
			case model.PartToolResult:
				done++
			}
		}
	}
	return steps, done
}

// appears waits for a file, until the agent gives its request up.
func appears(ctx context.Context, path string) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
