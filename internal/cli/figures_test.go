package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// TestACostThatNobodyKnowsIsUnknown wherever it is shown, and never nothing.
func TestACostThatNobodyKnowsIsUnknown(t *testing.T) {
	t.Parallel()
	h := provided(t, "chat", modeltest.Handler(wires["chat"].wire, func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		return modeltest.Reply{Usage: event.Usage{Input: 12000, Output: 345}, Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "It is 42."}}}, ""
	}))
	must(t, os.WriteFile(filepath.Join(h.work, "quest.yaml"), []byte("name: q\nproblem: What is six times seven?\nmodel: mistral/nobody-knows-its-price\n"), 0o600))
	h.run("run", "quest.yaml").want(t, 0, "It is 42.", "1 turn, 0 tool calls, 12,345 tokens, cost unknown.")
	h.run("show", "q").want(t, 0, "1 turn, 0 tool calls, 12,345 tokens, cost unknown,")
	if l := h.run("list"); strings.Contains(l.out, "$") || !strings.Contains(l.out, "unknown") || !strings.Contains(l.out, "12,345") {
		t.Errorf("the list has a cost that nobody knows:\n%s", l.out)
	}
	s := h.serve()
	defer s.stop()
	_, body := s.calling(nil).ask("GET", "/api/quests/q", "Authorization", "Bearer "+s.token())
	for what, text := range map[string]string{"show --json": h.ok("show", "q", "--json"), "list --json": strings.Trim(strings.TrimSpace(h.ok("list", "--json")), "[]"), "the API": body} {
		var got map[string]any
		must(t, json.Unmarshal([]byte(text), &got))
		if cost, there := got["cost_usd"]; !there || cost != nil || got["unpriced_calls"] != 1.0 || got["cost_at_least_usd"] != "0.00" {
			t.Errorf("%s: cost_usd is %v (%v), unpriced_calls %v, cost_at_least_usd %v; want null, 1 and 0.00", what, cost, there, got["unpriced_calls"], got["cost_at_least_usd"])
		}
		if team, ok := got["team"].([]any); ok && team[0].(map[string]any)["cost_usd"] != nil {
			t.Errorf("%s: the agent has cost %v, want null", what, team[0])
		}
	}
}

// TestAQuestThatRestsInAProcess: that it is paused is one thing, that a process has it another.
func TestAQuestThatRestsInAProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	s := h.serve()
	s.begin(steps(500))
	h.await("slow", "model.call", 1)
	if q := h.show("slow"); !q.Running || !q.Held {
		t.Errorf("a quest that runs: running %v, held %v; want both", q.Running, q.Held)
	}
	h.ok("pause", "slow")
	h.await("slow", "quest.paused", 1)
	if q := h.show("slow"); q.Running || !q.Held {
		t.Errorf("a quest that is paused in a server: running %v, held %v; want held alone", q.Running, q.Held)
	}
	h.run("show", "slow").want(t, 0, "slow: paused (paused by a person), held by a process\n")
	h.run("list").want(t, 0, "by a process")
	s.stop()
	if l := h.run("list"); strings.Contains(l.out, "by a process") {
		t.Errorf("a quest of nobody is held:\n%s", l.out)
	}
}
