package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"

	acp "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
)

// TestInitializeSaysExactlyWhatThereIs, member by member, in version 1 whatever is asked.
func TestInitializeSaysExactlyWhatThereIs(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	d := h.desk(bareDesk)
	want := map[string]any{
		"protocolVersion": 1.0,
		"agentInfo":       map[string]any{"name": "lyceum", "title": "Lyceum"},
		"authMethods":     []any{},
		"agentCapabilities": map[string]any{
			"loadSession": true,
			"auth":        map[string]any{}, // keys are the home's: nobody logs in or out here
			// Text and resource links every agent takes, and servers by stdio.
			"promptCapabilities":  map[string]any{"embeddedContext": true, "image": true},
			"mcpCapabilities":     map[string]any{"http": true},
			"sessionCapabilities": map[string]any{"close": map[string]any{}, "list": map[string]any{}, "resume": map[string]any{}},
		},
	}
	for _, version := range []any{0, 1, 2, 99, "2027-01-01"} {
		var hello map[string]any
		d.call("initialize", map[string]any{"protocolVersion": version, "clientCapabilities": map[string]any{}}, &hello)
		if info, _ := hello["agentInfo"].(map[string]any); info["version"] == "" {
			t.Error("lyceum acp does not say its version")
		} else {
			delete(info, "version")
		}
		if diff := cmp.Diff(want, hello); diff != "" {
			t.Errorf("version %v is answered with other capabilities than there are (-want +got):\n%s", version, diff)
		}
	}
}

// TestThinkingIsChosenInTheEditor: what the option says reaches the model, in the first prompt and
// from there on.
func TestThinkingIsChosenInTheEditor(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("Served=%v", served), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var thinks []bool
			h := provided(t, "anthropic", modeltest.Handler(wires["anthropic"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
				mu.Lock()
				defer mu.Unlock()
				thinks = append(thinks, seen.Thinking)
				return modeltest.Reply{Stop: model.StopEnd, Usage: event.Usage{Input: 10, Output: 10}, Parts: []model.Part{{Kind: event.PartText, Text: "Yes."}}}, ""
			}))
			if served {
				s := h.serve()
				t.Cleanup(func() { s.kill() })
			}
			e := h.edit("--model", wires["anthropic"].model)
			choose := func(id acp.SessionId, value string) {
				t.Helper()
				options, err := e.option(id, "thinking", value)
				must(t, err)
				if got := options[2].Select; got.Id != "thinking" || string(got.CurrentValue) != value {
					t.Errorf("after thinking was set to %s the option shows %+v", value, got)
				}
			}
			without := e.begin(h.work)
			choose(without, "off")
			e.says(without, "Hello?", acp.StopReasonEndTurn)
			with := e.begin(h.work)
			choose(with, "off")
			choose(with, "on")
			e.says(with, "Hello?", acp.StopReasonEndTurn)
			choose(with, "off") // and from here on
			e.says(with, "And now?", acp.StopReasonEndTurn)
			if _, err := e.option(with, "thinking", "on"); code(err) != -32602 {
				t.Errorf("thinking again after it was put off: %v, want -32602", err)
			}
			if want := []bool{false, true, false}; !slices.Equal(thinks, want) {
				t.Errorf("the model was asked to think: %v, want %v", thinks, want)
			}
		})
	}
}

// TestAClientIsToldTitleAndUsage: how a session is called when its quest is made; after each turn how
// full the window is, of which the model's count says all, and what the whole session has cost.
// Another process is told the same.
func TestAClientIsToldTitleAndUsage(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		must(t, writeFolder(h.work, map[string]string{"count.yaml": `rules:
  - on: {turn: 1}
    say: "One."
    usage: {input: 3000, output: 40}
    cost: "0.25"
  - say: "Two."
    usage: {input: 3500, output: 60}
    cost: "0.50"
`}))
		e := h.edit("--model", "script:count.yaml")
		id := e.begin(h.work)
		const title = `{"sessionUpdate":"session_info_update","title":"How many?"}`
		usage := func(used int, cost string) string {
			return fmt.Sprintf(`{"cost":{"amount":%s,"currency":"USD"},"sessionUpdate":"usage_update","size":200000,"used":%d}`, cost, used)
		}
		e.says(id, "How many?\nCount them.", acp.StopReasonEndTurn)
		if diff := cmp.Diff([]string{title, usage(3040, "0.25")}, e.figures()); diff != "" {
			t.Errorf("after the first turn the client is told otherwise (-want +got):\n%s", diff)
		}
		e.says(id, "And now?", acp.StopReasonEndTurn)
		if diff := cmp.Diff([]string{usage(3560, "0.75")}, e.figures()); diff != "" {
			t.Errorf("after the second turn the client is told otherwise (-want +got):\n%s", diff)
		}
		again := h.talk()
		_, err := again.conn.LoadSession(again.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: h.work, McpServers: []acp.McpServer{}})
		must(t, err)
		if diff := cmp.Diff([]string{title, usage(3560, "0.75")}, again.figures()); diff != "" {
			t.Errorf("loaded, the client is told otherwise (-want +got):\n%s", diff)
		}
	})
}

// TestSeveralAgentsHaveNoWindow together: of a lab a client is told what all of it used.
func TestSeveralAgentsHaveNoWindow(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: two\nsociety: lab\nagents: 2\nproblem: Why?\nmodel: script:plan.yaml\nlimits: {turns: 2}\n",
		"plan.yaml":  "rules:\n  - say: \"Hm.\"\n    usage: {input: 1000, output: 10}\n",
	})
	h.run("run", "quest.yaml")
	e := h.edit()
	_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "two", Cwd: h.work, McpServers: []acp.McpServer{}})
	must(t, err)
	got := e.figures()
	if want := `{"cost":{"amount":0,"currency":"USD"},"sessionUpdate":"usage_update","size":2020,"used":2020}`; len(got) != 2 || got[1] != want {
		t.Errorf("of a lab of two, each with a turn, the client is told %v, want %s", got, want)
	}
}

// figures are what the client was told of a session beside its words: its title, and how full it
// is. They are forgotten.
func (e *editor) figures() (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.updates {
		if n.Update.SessionInfoUpdate != nil || n.Update.UsageUpdate != nil {
			data, err := json.Marshal(n.Update)
			must(e.t, err)
			out = append(out, string(data))
		}
	}
	e.updates = nil
	return out
}
