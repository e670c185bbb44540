package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"

	acp "github.com/coder/acp-go-sdk"
)

// TestLimitsEndATurn by the protocol's words: tokens by those of tokens, all that is counted
// otherwise by those of turns. A limit that is raised lets the next prompt go on.
func TestLimitsEndATurn(t *testing.T) {
	t.Parallel()
	for limits, want := range map[string]struct {
		stop  acp.StopReason
		says  string
		raise string
	}{
		"tokens: 2500": {acp.StopReasonMaxTokens, "The limit on tokens is reached", "--max-tokens=100000"},
		"turns: 2":     {acp.StopReasonMaxTurnRequests, "The limit on turns is reached", "--max-turns=10"},
	} {
		t.Run(limits, func(t *testing.T) {
			talksOf(t, `rules:
  - on: {until_turn: 2}
    call: [{tool: calculate, args: {code: "print(1)"}}]
    usage: {input: 1200, output: 100}
  - say: "It is one."
    usage: {input: 1200, output: 100}
`, func(t *testing.T, h *home) {
				must(t, writeFolder(h.work, map[string]string{"quest.yaml": "name: small\nproblem: What is one?\nmodel: script:plan.yaml\nlimits: {" + limits + "}\n"}))
				h.ok("create", "quest.yaml")
				e := h.edit()
				_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "small", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				e.says("small", "Go.", want.stop)
				if got := e.words(); !strings.Contains(got, want.says) {
					t.Errorf("at its limit of %s it says %s, want %q", limits, got, want.says)
				}
				h.ok("limit", "small", want.raise)
				e.says("small", "Go on.", acp.StopReasonEndTurn)
				if got := e.words(); !strings.Contains(got, "It is one.") {
					t.Errorf("with a higher limit it says %s, want the answer", got)
				}
			})
		})
	}
}

// TestAnAnswerThatIsCutEndsATurnAsSuch: when the last answer reached the limit of its length, its
// end is none that the model chose. A later prompt that has a whole answer ends as usual, and an answer
// that was cut, and then brought to an end, does too.
func TestAnAnswerThatIsCutEndsATurnAsSuch(t *testing.T) {
	t.Parallel()
	talksOf(t, `rules:
  - on: {last: "whole"}
    say: "All of it."
  - on: {last: "twice"}
    say: "The first half,"
    stop: length
  - on: {seen: "twice", last: "cut off because it was too long"}
    say: "and the other."
  - say: "It goes on and"
    stop: length
`, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		e.says(id, "Say it in twice the length.", acp.StopReasonEndTurn)
		id = e.begin(h.work)
		e.says(id, "Say it without an end.", acp.StopReasonMaxTokens)
		if got := e.notices(); !strings.Contains(got, "cut off at the limit of their length") || !strings.Contains(got, "max_output") {
			t.Errorf("of an answer that is cut each time it says %q, want the reason, and what sets the limit", got)
		}
		e.says(id, "Say the whole.", acp.StopReasonEndTurn)
	})
}

// soon is how long a cancelled prompt may take on a machine that has more to do than this: promised
// are two seconds, and each test logs what it took.
const soon = 20 * time.Second

// TestACancelledPromptEndsSoon whatever its quest is in the middle of, though that would go on for
// minutes; and the quest is paused.
func TestACancelledPromptEndsSoon(t *testing.T) {
	t.Parallel()
	const policy = "policies: [{name: careful, steps: [{ask: {type: tool.call, reason: It does something.}}]}]\n"
	for name, c := range map[string]struct{ quest, rule, at string }{
		"AModel":      {"", "fault: hang", "model.call"},
		"ACommand":    {"computer: bubblewrap\n", "call: [{tool: exec, args: {command: sleep 300}}]", "tool.call"},
		"APermission": {policy, `call: [{tool: calculate, args: {code: "print(1)"}}]`, "interaction.opened"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "ACommand" {
				need.Program(t, "bwrap")
			}
			talksOf(t, "rules:\n  - on: {turn: 1}\n    "+c.rule+"\n  - say: \"Yes.\"\n", func(t *testing.T, h *home) {
				must(t, writeFolder(h.work, map[string]string{"quest.yaml": "name: slow\nproblem: Why?\nmodel: script:plan.yaml\n" + c.quest}))
				h.ok("create", "quest.yaml")
				e := h.edit()
				over := make(chan struct{})
				t.Cleanup(func() { close(over) })
				e.choose = func(acp.RequestPermissionRequest) string { <-over; return "yes" }
				_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "slow", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				stops := make(chan string, 1)
				go func() {
					stop, err := e.ask("slow", "Go.")
					stops <- fmt.Sprint(stop, " ", err)
				}()
				h.await("slow", c.at, 1)
				began := time.Now()
				must(t, e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: "slow"}))
				got := <-stops
				took := time.Since(began)
				if t.Logf("in the middle of %s a cancelled prompt took %v", c.at, took); got != "cancelled <nil>" || took > soon {
					t.Errorf("a prompt that is cancelled in the middle of %s ends with %s after %v, want cancelled at once", c.at, got, took)
				}
				h.await("slow", "quest.paused", 1)
			})
		})
	}
}
