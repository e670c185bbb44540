package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// runner is a study whose researcher is an executor. It keeps a card, says something, starts a
// command, and rests. Its model is a script.
var runner = map[string]string{
	"quest.yaml": "name: q\nsociety: stages\nproblem: Begin.\nrunner: builtin\nmodel: script:plan.yaml\ncomputer: auto\n",
	"plan.yaml": `rules:
  - on: {tool: memory__write}
    call: [{tool: artifact__interact, args: {kind: progress, text: "A card is kept."}}]
  - on: {tool: artifact__interact}
    delay: 300ms
    call: [{tool: bash_exec__await, args: {command: "echo used >> log; sleep 0.5; echo seen"}}]
  - on: {tool: bash_exec__await}
    delay: 300ms
    say: "All done."
  - on: {last: "Begin"}
    delay: 300ms
    call: [{tool: memory__write, args: {kind: knowledge, title: "A card", text: "What is known."}}]
  - delay: 100ms
    say: "All done, again."
`,
}

// sittingEvent is what tests look at of an event of a study.
type sittingEvent struct {
	Seq  uint64
	Type string
	Tool string
	Body struct {
		Name, Runner, Outcome, Reason, Stop, With, Process string
		Number                                             int64
		Mail, Messages                                     []uint64
		Text, Output                                       struct{ Text string }
		Error                                              any
	}
}

func (h *home) study(quest string, types ...string) (out []sittingEvent) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e sittingEvent
		must(h.t, json.Unmarshal([]byte(line), &e))
		if len(types) == 0 || slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	return out
}

// of are those of a type.
func of(events []sittingEvent, kind string) (out []sittingEvent) {
	for _, e := range events {
		if e.Type == kind {
			out = append(out, e)
		}
	}
	return out
}

// TestASittingOfARunner has a sitting be one prompt of an executor: the tools of the three
// servers are those of the table, and a message begins the next sitting in the same session.
func TestASittingOfARunner(t *testing.T) {
	t.Parallel()
	h := newHome(t, runner)
	h.run("run", "quest.yaml").want(t, restCode, "All done.")
	events := h.study("q")
	var used []string
	for _, e := range of(events, "tool.proposed") {
		used = append(used, e.Body.Name)
	}
	if got := strings.Join(used, " "); got != "memory_write interact await" {
		t.Errorf("its calls are %q: want those of the table, by their own names", got)
	}
	begun, ended := of(events, "sitting.begun"), of(events, "sitting.ended")
	if len(begun) != 1 || begun[0].Body.Runner != "builtin" || len(ended) != 1 || ended[0].Body.Outcome != "rested" || len(of(events, "prompt.call")) != 1 {
		t.Errorf("the sittings %+v ended %+v, in %d prompts", begun, ended, len(of(events, "prompt.call")))
	}
	if len(of(events, "card.written")) != 1 || len(of(events, "interact.said")) != 1 {
		t.Error("its calls have not the effects that they have for a model")
	}
	h.ok("message", "q", "And now?")
	h.run("run", "q").want(t, restCode, "All done, again.")
	events = h.study("q")
	if len(of(events, "sitting.begun")) != 2 || len(of(events, "prompt.call")) != 2 {
		t.Errorf("after a message there are %d sittings and %d prompts", len(of(events, "sitting.begun")), len(of(events, "prompt.call")))
	}
	h.sound("q")
}

// restCode is the exit code of a quest that waits for people.
const restCode = 3

// TestAKilledRunner kills lyceum with kill -9 in the middle of a sitting of an executor: the next
// one finds the executor where it stands, and nothing is said or done twice.
func TestAKilledRunner(t *testing.T) {
	t.Parallel()
	h := newHome(t, runner)
	for _, moment := range []string{"sitting.begun", "prompt.begun", "card.written", "interact.said", "cli.run", "prompt.result"} {
		name := "q-" + strings.ReplaceAll(moment, ".", "-")
		h.ok("create", "quest.yaml", "--name", name)
		p := h.start("run", name)
		stop := h.killAt(p, name, moment, 0)
		killed := p.wait().code == -1
		stop()
		if !killed && moment != "prompt.result" { // the last may be over by then
			t.Fatalf("lyceum was to be killed at %s", moment)
		}
		h.run("run", name).want(t, restCode)
		seen := map[string]int{}
		for _, e := range h.study(name) {
			switch e.Type {
			case "prompt.begun":
				seen["prompt told to "+e.Body.Process]++
			case "sitting.begun", "sitting.ended", "card.written", "interact.said", "prompt.call", "session.opened":
				seen[e.Type]++
			}
		}
		once := len(seen) == 7
		for _, n := range seen {
			once = once && n == 1
		}
		if !once {
			t.Errorf("killed at %s: there is %v, want all seven once\n%s", moment, seen, h.ok("trace", name))
		}
		log, err := os.ReadFile(filepath.Join(h.dir, "quests", name, "agents", "researcher", "log"))
		// A command is recorded before it runs. If neither it nor its log was found, the runner was
		// told so.
		unknown := moment == "cli.run" && len(log) == 0 && slices.ContainsFunc(h.study(name, "tool.result"), func(e sittingEvent) bool {
			return strings.HasPrefix(e.Body.Output.Text, "Interrupted, outcome unknown")
		})
		if (err != nil || string(log) != "used\n") && !unknown {
			t.Errorf("killed at %s: its command left %q, %v, want to have run once\n%s", moment, log, err, h.ok("trace", name))
		}
		h.sound(name)
		if left := helpers(t, h.dir); len(left) > 0 {
			t.Errorf("computers that are still up: %v", left)
		}
	}
}

// TestAnAwaitedCommandIsFoundAgain: lyceum is killed while a call waits for the end of a command.
// The next one finds the command, and the call is answered with how it ended.
func TestAnAwaitedCommandIsFoundAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": runner["quest.yaml"],
		"plan.yaml": `rules:
  - on: {tool: bash_exec__await, result: "has ended: exit code 0"}
    say: "I saw its end."
  - on: {tool: bash_exec__await}
    say: "I lost it."
  - on: {last: "Begin"}
    call: [{tool: bash_exec__await, args: {command: "echo used >> log; while [ ! -e go ]; do sleep 0.05; done"}}]
  - say: "Something else."
`,
	})
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "cli.run", 0)
	if l := p.wait(); l.code != -1 {
		t.Fatalf("lyceum was to be killed and ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	stop()
	p = h.start("run", "q")
	h.await("q", "quest.resumed", 1)
	must(t, os.WriteFile(filepath.Join(h.dir, "quests", "q", "agents", "researcher", "go"), nil, 0o644))
	if l := p.wait(); l.code != restCode || !strings.Contains(l.errOut, "I saw its end.") {
		t.Fatalf("it ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	events := h.study("q")
	if n := len(of(events, "cli.run")); n != 1 || len(of(events, "cli.exit")) != 1 || len(of(events, "sitting.begun")) != 1 {
		t.Errorf("%d commands ran, %d ended, in %d sittings: want one of each", n, len(of(events, "cli.exit")), len(of(events, "sitting.begun")))
	}
	if log := h.theirs("log"); log != "used\n" {
		t.Errorf("the command left %q, want to have run once", log)
	}
	h.sound("q")
}

// TestAMessageToARunner comes while a prompt is open: with the answer of interact, and not again.
func TestAMessageToARunner(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": runner["quest.yaml"],
		"plan.yaml": `rules:
  - on: {tool: artifact__interact, result: "alpha"}
    say: "I have heard alpha."
  - on: {tool: artifact__interact}
    delay: 200ms
    call: [{tool: artifact__interact, args: {kind: progress, text: "At it, turn ${turn}."}}]
  - on: {last: "Begin"}
    call: [{tool: artifact__interact, args: {kind: progress, text: "I begin."}}]
`,
	})
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	h.await("q", "interact.said", 1)
	h.ok("message", "q", "alpha")
	if l := p.wait(); l.code != restCode || !strings.Contains(l.errOut, "I have heard alpha.") {
		t.Fatalf("it ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	events := h.study("q")
	d := of(events, "mail.delivered")
	if len(d) != 1 || d[0].Body.With != "interact" || len(d[0].Body.Messages) != 1 || len(of(events, "prompt.call")) != 1 {
		t.Errorf("delivered %+v, in %d prompts: want once, within the first", d, len(of(events, "prompt.call")))
	}
	h.sound("q")
}

// TestABackgroundCommandOfARunner outlives the sitting, Lyceum and its kill; its end begins the
// next sitting.
func TestABackgroundCommandOfARunner(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": runner["quest.yaml"],
		"plan.yaml": `rules:
  - on: {tool: bash_exec__detach}
    say: "It runs."
  - on: {tool: bash_exec__list}
    say: "It has ended."
  - on: {last: "Begin"}
    call: [{tool: bash_exec__detach, args: {command: "while [ ! -e go ]; do sleep 0.05; done; echo out", name: work}}]
  - call: [{tool: bash_exec__list, args: {}}]
`,
	})
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "sitting.ended", 0)
	if l := p.wait(); l.code != -1 {
		t.Fatalf("lyceum did not wait for the command, and ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	stop()
	p = h.start("run", "q")
	h.awaitOwner("q")
	must(t, os.WriteFile(filepath.Join(h.dir, "quests", "q", "agents", "researcher", "go"), nil, 0o644))
	if l := p.wait(); l.code != restCode || !strings.Contains(l.errOut, "It has ended.") {
		t.Fatalf("it ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	events := h.study("q")
	if n := len(of(events, "cli.run")); n != 1 || len(of(events, "cli.exit")) != 1 || len(of(events, "sitting.begun")) != 2 {
		t.Errorf("%d commands ran, %d ended, in %d sittings", n, len(of(events, "cli.exit")), len(of(events, "sitting.begun")))
	}
	h.sound("q")
}

// shellRunner are a study whose researcher is a shell script that speaks the Agent Client Protocol
// itself, as that of agentFiles does; does is what the script does with each prompt.
func shellRunner(t *testing.T, more, does string) *home {
	t.Helper()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nsociety: stages\nproblem: Begin.\nrunner: shell\nmodel: demo\ncomputer: auto\n" + more,
	})
	agent := `#!/bin/sh
n=0
ask() { n=$((n+1)); printf '{"jsonrpc":"2.0","id":"q%d",%s}\n' $n "$1"; IFS= read -r answer; }
say() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$s" "$1"; }
cd "$HOME"
while IFS= read -r line; do
  case "$line" in
  *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":"init","result":{"protocolVersion":1,"agentInfo":{"name":"shell","version":"1"},"agentCapabilities":{"mcpCapabilities":{"http":true}}}}' ;;
  *'"method":"session/new"'*) printf '%s\n' "$line" > .executor/new
    s=$(date +%s%N)
    printf '{"jsonrpc":"2.0","id":"new-1","result":{"sessionId":"%s"}}\n' "$s" ;;
  *'"method":"session/prompt"'*)
    prompt=$(printf '%s' "$line" | sed 's/.*"id":"\(p[0-9]*\)".*/\1/')
    printf '%s\n' "$line" >> .executor/prompts
` + does + `
    printf '{"jsonrpc":"2.0","id":"%s","result":{"stopReason":"end_turn"}}\n' "$prompt" ;;
  esac
done
`
	must(t, os.MkdirAll(filepath.Join(h.work, "agent"), 0o755))
	must(t, os.WriteFile(filepath.Join(h.work, "agent", "agent.sh"), []byte(agent), 0o644))
	must(t, os.MkdirAll(h.dir, 0o700))
	config := "executors:\n  shell:\n    folder: " + filepath.Join(h.work, "agent") + "\n    command: [sh, '{folder}/agent.sh']\n    wire: anthropic\n"
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(config), 0o600))
	return h
}

// theirs reads a file of the researcher's home.
func (h *home) theirs(name string) string {
	data, err := os.ReadFile(filepath.Join(h.dir, "quests", "q", "agents", "researcher", name))
	must(h.t, err)
	return string(data)
}

// TestARunnerOfAnotherKind is given three servers and the whole prompt; what it wants to do itself
// a person is asked about, since a policy says so, and a kill of lyceum in between loses nothing.
func TestARunnerOfAnotherKind(t *testing.T) {
	t.Parallel()
	h := shellRunner(t, "policies: [{name: careful, steps: [{ask: {type: permission.decided, reason: It does something itself.}}]}]\n",
		`    ask '"method":"session/request_permission","params":{"sessionId":"'$s'","toolCall":{"toolCallId":"t","kind":"edit","title":"write it"},"options":[{"optionId":"y","kind":"allow_once","name":"Yes"},{"optionId":"n","kind":"reject_once","name":"No"}]}'
    case "$answer" in *'"optionId":"y"'*) say "I was allowed." ;; *) say "I was not allowed." ;; esac`)
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "interaction.opened", 0)
	if l := p.wait(); l.code != -1 {
		t.Fatalf("lyceum was to be killed and ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	stop()
	p = h.start("run", "q")
	h.awaitOwner("q")
	h.ok("answer", "q", "yes")
	if l := p.wait(); l.code != restCode || !strings.Contains(l.errOut, "I was allowed.") {
		t.Fatalf("it ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	var opened struct {
		Params struct {
			Servers []struct{ Name, URL string } `json:"mcpServers"`
		}
	}
	must(t, json.Unmarshal([]byte(h.theirs(".executor/new")), &opened))
	var names []string
	for _, s := range opened.Params.Servers {
		names = append(names, s.Name)
		if !strings.HasSuffix(s.URL, "/mcp/"+s.Name) {
			t.Errorf("the server %s is at %s", s.Name, s.URL)
		}
	}
	if got := strings.Join(names, " "); got != "memory artifact bash_exec" {
		t.Errorf("it is given the servers %q", got)
	}
	told := h.theirs(".executor/prompts")
	if strings.Count(told, "\n") != 1 || !strings.Contains(told, "Where you are") || !strings.Contains(told, "Begin.") {
		t.Errorf("it was told, want once, with the blocks and the mail: %s", told)
	}
	if asked := of(h.study("q"), "permission.asked"); len(asked) != 1 {
		t.Errorf("it asked %d times, want once", len(asked))
	}
	h.sound("q")
}

// TestARunnerThatIsGone: lyceum is killed in a prompt and the computer with the executor in it. It
// knows no session any more, so another process is told all there is, in the same sitting.
func TestARunnerThatIsGone(t *testing.T) {
	t.Parallel()
	h := shellRunner(t, "", `    if [ -e .executor/again ]; then say "I am back."; else touch .executor/again; sleep 1000; fi`)
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "prompt.begun", 0)
	p.wait()
	stop()
	for _, pid := range awaitHelper(t, h.dir, "*", patience) {
		must(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	for deadline := time.Now().Add(patience); len(helpers(t, h.dir)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the computer survives its end")
		}
	}
	must(t, os.WriteFile(filepath.Join(h.dir, "quests", "q", "agents", "researcher", ".executor", "again"), nil, 0o644))
	if l := h.run("run", "q"); l.code != restCode || !strings.Contains(l.errOut, "I am back.") {
		t.Fatalf("it ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	events := h.study("q")
	if b, e := of(events, "sitting.begun"), of(events, "sitting.ended"); len(b) != 1 || len(e) != 1 || e[0].Body.Outcome != "rested" {
		t.Errorf("the sittings %+v ended %+v: want one, which rested", b, e)
	}
	h.sound("q")
}

// TestTheServersOfARunner: each server has its own tools at its name, for a runner that starts its
// servers as programs, too. A tool of another server is none of them, and nothing comes of it.
func TestTheServersOfARunner(t *testing.T) {
	t.Parallel()
	h := shellRunner(t, "", `    port=$(sed 's/.*"LYCEUM_PORT_TOOLS","value":"\([^"]*\)".*/\1/' .executor/new)
    token=$(sed 's/.*"LYCEUM_TOOLS_TOKEN","value":"\([^"]*\)".*/\1/' .executor/new)
    program=$(sed 's/.*"command":"\([^"]*\)".*/\1/' .executor/new)
    # use SERVER WHAT asks a server something, once it has been greeted.
    use() {
      rm -f .executor/in .executor/out; mkfifo .executor/in .executor/out
      LYCEUM_PORT_TOOLS=$port LYCEUM_TOOLS_TOKEN=$token LYCEUM_TOOLS_SERVER=$1 "$program" bridge <.executor/in >.executor/out 2>>.executor/errors &
      exec 7>.executor/in 8<.executor/out
      echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' >&7
      IFS= read -r greeting <&8
      echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&7
      printf '{"jsonrpc":"2.0","id":2,%s}\n' "$2" >&7
      while IFS= read -r answer <&8; do case "$answer" in *'"id":2'*) break ;; esac; done
      exec 7>&- 8<&-
      wait $!
      printf '%s %s\n' "$1" "$answer" >>.executor/answers
    }
    use memory '"method":"tools/list"'
    use memory '"method":"tools/call","params":{"name":"write","arguments":{"kind":"knowledge","title":"A card","text":"Known."}}'
    use memory '"method":"tools/call","params":{"name":"interact","arguments":{"kind":"progress","text":"Not here."}}'
    use artifact '"method":"tools/call","params":{"name":"write","arguments":{"kind":"knowledge","title":"Another","text":"Not here."}}'
    use artifact '"method":"tools/call","params":{"name":"memory_write","arguments":{"kind":"knowledge","title":"Another","text":"Not here."}}'
    use artifact '"method":"tools/call","params":{"name":"interact","arguments":{"kind":"progress","text":"Here."}}'
    say "Tried."`)
	config := filepath.Join(h.dir, "config.yaml")
	data, err := os.ReadFile(config)
	must(t, err)
	must(t, os.WriteFile(config, append(data, "    mcp: stdio\n"...), 0o600))
	h.run("run", "quest.yaml").want(t, restCode, "Tried.")
	answers := strings.Split(strings.TrimSpace(h.theirs(".executor/answers")), "\n")
	if len(answers) != 6 {
		t.Fatalf("%d answers came, want 6: %q\n%s", len(answers), answers, h.theirs(".executor/errors"))
	}
	if list := answers[0]; !strings.Contains(list, `"promote_to_global"`) || strings.Contains(list, `"interact"`) || strings.Contains(list, `"detach"`) {
		t.Errorf("the server memory has %s, want its own tools alone", list)
	}
	for i, refused := range []bool{1: false, 2: true, 3: true, 4: true, 5: false} {
		if got := strings.Contains(answers[i], `"isError":true`); i > 0 && got != refused {
			t.Errorf("call %d: refused %v, want %v: %s", i, got, refused, answers[i])
		}
	}
	events := h.study("q")
	if cards, said := of(events, "card.written"), of(events, "interact.said"); len(cards) != 1 || len(said) != 1 || said[0].Body.Text.Text != "Here." {
		t.Errorf("there are %d cards and %+v was said, want one of each: what is at another server is done by none", len(cards), said)
	}
	h.sound("q")
}

// TestTheKeyOfARunnersModel: a runner asks its model through the gateway. It finds the key neither
// in its computer nor in what it is told, though the provider says it, and Lyceum keeps it nowhere.
func TestTheKeyOfARunnersModel(t *testing.T) {
	t.Parallel()
	var requests, keyed atomic.Int64
	h := provided(t, "chat", modeltest.Handler(wires["chat"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		if seen.Key == canaryKey {
			keyed.Add(1)
		}
		usage := event.Usage{Input: 1000, Output: 100}
		if requests.Add(1) == 1 {
			look := `{"command":"(env; cat /proc/*/environ; find / -xdev -type f -size -200k -readable -not -path '/usr/*' -not -path '/proc/*' -exec cat {} +) 2>/dev/null >seen.txt; echo looked"}`
			return modeltest.Reply{Usage: usage, Stop: model.StopTools, Parts: []model.Part{
				{Kind: event.PartText, Text: "You sent " + seen.Key + " with it."},
				{Kind: event.PartToolCall, ID: "call_1", Name: "bash_exec__await", Args: strings.Replace(look, "looked", "looked "+seen.Key+" >told.txt", 1)},
			}}, ""
		}
		return modeltest.Reply{Usage: usage, Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "I have looked with " + seen.Key + "."}}}, ""
	}))
	must(t, os.WriteFile(filepath.Join(h.work, "quest.yaml"), []byte("name: q\nsociety: stages\nproblem: Begin.\nrunner: builtin\nmodel: "+wires["chat"].model+"\ncomputer: auto\n"), 0o644))
	run := h.run("run", "quest.yaml")
	run.want(t, restCode, "I have looked with [key].")
	if keyed.Load() != requests.Load() || requests.Load() < 2 {
		t.Errorf("%d of %d requests had the key, want all: the gateway adds it", keyed.Load(), requests.Load())
	}
	if seen := h.theirs("seen.txt"); !strings.Contains(seen, "LYCEUM_EXECUTOR_GATEWAY=") {
		t.Errorf("it looked at no environment of its own: %.300q", seen)
	}
	if told := h.theirs("told.txt"); told != "looked [key]\n" {
		t.Errorf("in its computer is %q, want what it was told without the key", told)
	}
	h.hasNoKey(run, h.run("show", "q"), h.run("trace", "q", "--jsonl"))
	h.sound("q")
}

// TestNowInterruptsARunnerThatIsFoundAgain: lyceum is killed when a message was delivered at once,
// and before the prompt was interrupted. The next one does not wait for that prompt.
func TestNowInterruptsARunnerThatIsFoundAgain(t *testing.T) {
	t.Parallel()
	h := shellRunner(t, "", `    if grep -q alpha .executor/prompts; then say "I heard alpha."; else sleep 1000; fi`)
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	h.await("q", "prompt.begun", 1)
	h.ok("message", "q", "alpha")
	h.await("q", "user.message", 1)
	stop := h.killAt(p, "q", "mail.delivered", 0)
	h.ok("message", "q", "/now")
	killed := p.wait().code == -1
	stop()
	if l := h.run("run", "q"); l.code != restCode || killed && !strings.Contains(l.errOut, "I heard alpha.") {
		t.Fatalf("killed %v, it ended with %d\n%s%s", killed, l.code, l.out, l.errOut)
	}
	d := of(h.study("q"), "mail.delivered")
	if len(d) != 1 || d[0].Body.With != "now" {
		t.Errorf("delivered %+v, want once, at once", d)
	}
	h.sound("q")
}
