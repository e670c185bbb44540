package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// agentFiles are a quest whose one task is done by a shell script that speaks the Agent Client
// Protocol itself. does is what the script does with each prompt; $line is the prompt. The
// functions are: ask REQUEST, which leaves the answer in $answer; say TEXT, an update; manifest
// ITEMS, which leaves a manifest.
func agentFiles(h *home, session, limits, does string, rules string) {
	h.t.Helper()
	files := handover{session: session, items: whole}.files()
	files["plan.yaml"] = strings.Replace(files["plan.yaml"], "rules:\n", "rules:\n"+rules, 1)
	files["quest.yaml"] = strings.Replace(files["quest.yaml"], "computer: auto", "computer: "+limits+"\nexecutors: [shell]", 1)
	files["agent/agent.sh"] = `#!/bin/sh
n=0
ask() { n=$((n+1)); printf '{"jsonrpc":"2.0","id":"q%d",%s}\n' $n "$1"; IFS= read -r answer; }
say() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"; }
manifest() {
  print=$(cat .executor/print 2>/dev/null)
  mkdir -p .lyceum
  printf 'manifest_id: m\nsession_id: q\ngenerated_at: "2026-01-31T12:00:00Z"\nenvironment_fingerprint: "%s"\nitems: %s\n' "$print" "$1" > .lyceum/manifest.yaml
}
cd "$HOME"
while IFS= read -r line; do
  case "$line" in
  *'"method":"initialize"'*) printf '%s\n' "$line" > .executor/greeting
    echo '{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":1,"agentInfo":{"name":"shell","version":"1"},"agentCapabilities":{"mcpCapabilities":{"http":true}}}}' ;;
  *'"method":"session/new"'*) echo '{"jsonrpc":"2.0","id":"new-1","result":{"sessionId":"s"}}' ;;
  *'"method":"session/prompt"'*)
    prompt=$(printf '%s' "$line" | sed 's/.*"id":"\(p[0-9]*\)".*/\1/')
    print=$(printf '%s' "$line" | sed -n 's/.*environment_fingerprint: [\\"]*\([0-9a-f]\{64\}\).*/\1/p')
    [ -z "$print" ] || printf '%s' "$print" > .executor/print
` + does + `
    printf '{"jsonrpc":"2.0","id":"%s","result":{"stopReason":"end_turn"}}\n' "$prompt" ;;
  esac
done
`
	for name, text := range files {
		path := filepath.Join(h.work, name)
		must(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(h.t, os.WriteFile(path, []byte(text), 0o644))
	}
	must(h.t, os.MkdirAll(h.dir, 0o700))
	config := "executors:\n  shell:\n    folder: " + filepath.Join(h.work, "agent") + "\n    command: [sh, '{folder}/agent.sh']\n    wire: anthropic\n"
	must(h.t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(config), 0o600))
}

// TestAnExecutorAsksByAForm has an executor ask by a form of the protocol: the question is a
// task.clarify, and what the architect answers fills the form in. An answer that does not fit is
// asked for once more.
func TestAnExecutorAsksByAForm(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	agentFiles(h, "", "auto", `    ask '"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"How is x to be called?","requestedSchema":{"type":"object","required":["name"],"properties":{"name":{"type":"string","enum":["x","y"]}}}}'
    case "$answer" in
    *'"action":"accept"'*'"name":"x"'*) echo x > commands/x.sh ;;
    *) printf '%s' "$answer" > commands/refused ;;
    esac
    manifest '[{type: patch, ref: ".", generated_by: me}]'`,
		`  - on: {agent: architect, tool: dispatch, result: 'does not fit'}
    call: [{tool: clarify, args: {task: x, answer: "x"}}]
  - on: {agent: architect, tool: dispatch, result: 'How is x to be called'}
    call: [{tool: clarify, args: {task: x, answer: "As you like."}}]
`+waitOn)
	h.ok("run", "quest.yaml")
	if got := h.course("q"); got != goesWell {
		t.Errorf("the task: got %q, want %q", got, goesWell)
	}
	asked := h.told("q", "task.clarify")
	if len(asked) != 2 || !strings.Contains(asked[0].line, "How is x to be called?") || !strings.Contains(asked[0].line, "one of x, y, required") {
		t.Fatalf("the questions: got %v, want two with the form in words", asked)
	}
	if !strings.Contains(asked[1].line, "does not fit: name must be one of x, y") {
		t.Errorf("the second question does not say what was wrong: %s", asked[1].line)
	}
	if n := h.count("q", "task.clarified"); n != 2 {
		t.Errorf("the architect has answered %d times, want 2", n)
	}
	greeting, err := os.ReadFile(filepath.Join(h.dir, "quests", "q", "agents", "shell", ".executor", "greeting"))
	if err != nil || !strings.Contains(string(greeting), `"elicitation":{"form":{}}`) {
		t.Errorf("the executor was not offered to ask: %s, %v", greeting, err)
	}
	h.run("verify", "q").want(t, 0, "consistent")
	h.run("replay", "q").want(t, 0, "identical")
}

// waitOn has the architect wait for its task when it has answered.
const waitOn = `  - on: {agent: architect, tool: clarify}
    call: [{tool: dispatch, args: {task: x}}]
`

// TestNobodyAnswers ends the task of an executor whose architect has heard its question, and does
// nothing more.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	agentFiles(h, "", "auto", `    ask '"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"What?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}'`,
		`  - on: {agent: architect, tool: dispatch, result: 'What\?'}
    say: "I do not know."
`)
	h.run("run", "quest.yaml").want(t, failedCode, "nobody can answer it")
	if got, want := h.course("q"), "clarify error failed"; got != want {
		t.Errorf("the task: got %q, want %q", got, want)
	}
	h.run("replay", "q").want(t, 0, "identical")
}

// TestAFormTooMany ends the task of an executor that asks more than it may: nobody is asked, and
// the task is unresolved.
func TestAFormTooMany(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	agentFiles(h, "max_clarify_rounds_per_task: 1", "auto", `    while :; do ask '"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"What?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}'; done`,
		`  - on: {agent: architect, tool: dispatch, result: 'What\?'}
    call: [{tool: clarify, args: {task: x, answer: "That."}}]
`+waitOn)
	h.run("run", "quest.yaml").want(t, failedCode, "unresolved")
	if got, want := h.course("q"), "clarify error failed"; got != want {
		t.Errorf("the task: got %q, want %q", got, want)
	}
	if n := h.count("q", "task.clarified"); n != 1 {
		t.Errorf("the architect has answered %d times, want once", n)
	}
	h.run("verify", "q").want(t, 0, "consistent")
}
