package service_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/solo"

	"github.com/google/go-cmp/cmp"
)

// outsideAgent is an agent of somebody else's: what it does in a prompt its first argument says. It
// keeps in its home what it was told.
const outsideAgent = `
import json, os, sys, urllib.error, urllib.request
what, next_id = sys.argv[1], 0
def send(**m): print(json.dumps(dict(jsonrpc='2.0', **m)), flush=True)
def heard(word):
    with open('heard', 'a') as f: f.write(word + '\n')
def hear():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def ask(method, **params):
    global next_id
    next_id += 1
    send(id=next_id, method=method, params=dict(sessionId='s1', **params))
    while True:
        m = hear()
        if m.get('id') == next_id and 'method' not in m: return m
def say(text):
    send(method='session/update', params={'sessionId': 's1', 'update': {'sessionUpdate': 'agent_message_chunk', 'content': {'type': 'text', 'text': text}}})
def model():
    r = urllib.request.Request(os.environ['GATEWAY'] + '/v1/messages', data=b'{"model":"x","max_tokens":20,"messages":[{"role":"user","content":"hi"}]}')
    r.add_header('x-api-key', os.environ['TOKEN'])
    r.add_header('content-type', 'application/json')
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(r, timeout=60).read()
def works():
    ask('fs/write_text_file', path='/home/agent/made.txt', content='by the agent')
    t = ask('terminal/create', command='sh', args=['-c', 'echo out-1; echo err-1 >&2; echo more > by-command.txt; sleep 0.3; echo out-2; echo err-2 >&2; exit 3'])['result']['terminalId']
    ask('terminal/wait_for_exit', terminalId=t)
    ask('terminal/release', terminalId=t)
    say('reading gives %d' % ask('fs/read_text_file', path='/home/agent/made.txt')['error']['code'])
    return 'end_turn'
def spends():
    first = open('heard').read().count('prompt') == 1
    model()
    if first:
        try: model()
        except urllib.error.HTTPError as e: heard('%d' % e.code)
        while hear().get('method') != 'session/cancel': pass
        heard('cancel')
        return 'cancelled'
    say('went on')
    return 'end_turn'
while True:
    m = hear()
    method, params = m.get('method'), m.get('params', {})
    if method == 'initialize':
        heard('offered to read: %s' % params['clientCapabilities']['fs']['readTextFile'])
        send(id=m['id'], result={'protocolVersion': 1, 'agentInfo': {'name': 'other', 'version': '2.6.0'}, 'agentCapabilities': {'loadSession': True, 'mcpCapabilities': {'http': what != 'limited'}}})
    elif method == 'session/new':
        send(id=m['id'], result={'sessionId': 's1', 'modes': {'currentModeId': 'ask', 'availableModes': [{'id': 'ask', 'name': 'Ask'}, {'id': 'agent-full-access', 'name': 'Full'}]}})
    elif method == 'session/prompt':
        heard('prompt ' + params['sessionId'])
        send(id=m['id'], result={'stopReason': {'works': works, 'spends': spends}[what]()})
    elif 'id' in m and method:
        send(id=m['id'], result={})
`

// openOutside is a Lyceum whose executor is such an agent, and a quest of it.
func openOutside(t *testing.T, url, what, more string) *runtime.Runtime {
	t.Helper()
	need.Program(t, "python3") // which the computer has, too
	rt := openGuest(t, t.TempDir(), url, nil)
	rt.Societies, rt.Workshops = []quest.Society{solo.Society{}}, service.Workshops("")
	rt.Executors = func(string) (executor.Settings, string, error) {
		return executor.Settings{
			Name: "other", Command: []string{"python3", "-c", outsideAgent, what}, Wire: event.WireAnthropic, MCP: executor.MCPHTTP, Version: "2.6.0",
			Variables: map[string]string{"GATEWAY": "{gateway}", "TOKEN": "{token}"}, Mode: "agent-full-access", Reported: true, NoRead: true,
		}, "", nil
	}
	createGuest(t, rt, "executor: other\n"+more)
	return rt
}

// plays runs the quest to its rest.
func plays(t *testing.T, rt *runtime.Runtime, o runtime.RunOptions) *quest.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := rt.Run(ctx, "q", o)
	if err != nil {
		t.Fatalf("run the quest: %v\n%s", err, lines(recorded(t, rt)))
	}
	return s
}

func answerOf(s *quest.State) string {
	if s.Answer == nil {
		return ""
	}
	return s.Answer.Text
}

func recorded(t *testing.T, rt *runtime.Runtime) (out []event.Event) {
	t.Helper()
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		out = append(out, e)
	}
	return out
}

func lines(all []event.Event) string {
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "%.1000s\n", e.Line())
	}
	return b.String()
}

// TestWhatAnExecutorDoesIsRecordedAsItCame: what it is, its files as the work of its prompt, and what
// its commands wrote, each byte once and in order between their begin and their end. It is not offered
// to read files where its settings say so, and reading is refused.
func TestWhatAnExecutorDoesIsRecordedAsItCame(t *testing.T) {
	t.Parallel()
	rt := openOutside(t, "http://127.0.0.1:1", "works", "")
	s := plays(t, rt, runtime.RunOptions{})
	all := recorded(t, rt)
	var prompt uint64
	var order []string
	var stdout, stderr string
	var fingerprint event.Hash
	changed := map[string]string{}
	for _, e := range all {
		switch b := e.Body.(type) {
		case *event.ComputerStarted:
			fingerprint = b.Fingerprint
		case *event.ExecutorReady:
			want := &event.ExecutorReady{
				Call: b.Call, Capabilities: []string{"load", "mcp.http"}, Fingerprint: fingerprint, Mode: "agent-full-access", Name: "other", Protocol: 1, Reported: true, Version: "2.6.0",
			}
			if d := cmp.Diff(want, b); d != "" || fingerprint == (event.Hash{}) {
				t.Errorf("executor.ready (-want +got):\n%s", d)
			}
		case *event.PromptCall:
			prompt = e.Seq
		case *event.FileDiff:
			if b.Cause != event.CausePrompt || b.Call != prompt || prompt == 0 {
				t.Errorf("the files changed by %s %d, want by the prompt %d", b.Cause, b.Call, prompt)
			}
			for _, c := range b.Changes {
				changed[c.Path] = c.Kind
			}
		case *event.CliRun:
			order = append(order, "run")
		case *event.CliStdout:
			if b.From != int64(len(stdout)) {
				t.Errorf("a piece of stdout begins at %d, want %d", b.From, len(stdout))
			}
			stdout += b.Text.Text
			order = append(order, "out")
		case *event.CliStderr:
			if b.From != int64(len(stderr)) {
				t.Errorf("a piece of stderr begins at %d, want %d", b.From, len(stderr))
			}
			stderr += b.Text.Text
			order = append(order, "err")
		case *event.CliExit:
			order = append(order, "exit")
			if b.Exit != 3 {
				t.Errorf("the command ended with %d, want 3", b.Exit)
			}
		}
	}
	if stdout != "out-1\nout-2\n" || stderr != "err-1\nerr-2\n" {
		t.Errorf("the command wrote %q and %q, want what it wrote", stdout, stderr)
	}
	if n := len(order); n < 4 || order[0] != "run" || order[n-1] != "exit" || slices.Contains(order[1:n-1], "run") || slices.Contains(order[1:n-1], "exit") {
		t.Errorf("its events came as %v, want what it wrote between run and exit", order)
	}
	if changed["made.txt"] != "added" || changed["by-command.txt"] != "added" {
		t.Errorf("the files that changed are %v, want made.txt and by-command.txt added", changed)
	}
	if s.Status != quest.Finished || !strings.Contains(answerOf(s), "reading gives -32601") {
		t.Errorf("it is %s with %q, want that reading gives -32601", s.Status, answerOf(s))
	}
	if got := heardOutside(t, rt); got[0] != "offered to read: False" {
		t.Errorf("the agent heard %q, want that it is not offered to read files", got)
	}
}

// heardOutside is what the agent was told, a word a line.
func heardOutside(t *testing.T, rt *runtime.Runtime) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(rt.Place("q", "agent-0").Home, "heard"))
	must(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestAnExecutorThatLacksACapabilityIsNotReady: the event says what it lacks and what to do, and it is
// told nothing.
func TestAnExecutorThatLacksACapabilityIsNotReady(t *testing.T) {
	t.Parallel()
	rt := openOutside(t, "http://127.0.0.1:1", "limited", "")
	s := plays(t, rt, runtime.RunOptions{})
	said := ""
	for _, e := range recorded(t, rt) {
		switch b := e.Body.(type) {
		case *event.ExecutorReady:
			said = b.Error.Text
		case *event.PromptCall:
			t.Error("it was given a prompt")
		}
	}
	if !strings.Contains(said, "over HTTP: give it stdio as its mcp") || s.Status == quest.Finished {
		t.Errorf("executor.ready says %q and the quest is %s, want what it lacks, and no success", said, s.Status)
	}
}

// TestASpentBudgetEndsThePromptAndMoreGoesOnInItsSession: the request that comes after
// the last that was paid for is refused in the provider's words, the agent hears session/cancel in
// mid-prompt, and with a higher limit the next prompt in the same session.
func TestASpentBudgetEndsThePromptAndMoreGoesOnInItsSession(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":10,"output_tokens":5}}`)
	}))
	defer server.Close()
	rt := openOutside(t, server.URL, "spends", "limits: {cost: 0.00005}\n")
	s := plays(t, rt, runtime.RunOptions{})
	if s.Status != quest.Exceeded || asked.Load() != 1 {
		t.Fatalf("after the first request it is %s, and %d were asked: want the budget exceeded by one\n%s", s.Status, asked.Load(), lines(recorded(t, rt)))
	}
	more := int64(1_000_000_000)
	s = plays(t, rt, runtime.RunOptions{Limits: event.Limits{Cost: &more}})
	var stops, sessions []string
	for _, e := range recorded(t, rt) {
		switch b := e.Body.(type) {
		case *event.PromptResult:
			stops = append(stops, b.Stop)
		case *event.SessionOpened:
			sessions = append(sessions, b.ID)
		}
	}
	if want := []string{event.StopInterrupted, "end_turn"}; !slices.Equal(stops, want) {
		t.Errorf("the prompts ended %q, want %q", stops, want)
	}
	if len(slices.Compact(sessions)) != 1 {
		t.Errorf("the sessions are %q, want one", sessions)
	}
	got := slices.DeleteFunc(heardOutside(t, rt), func(w string) bool { return strings.HasPrefix(w, "offered") })
	if want := []string{"prompt s1", "402", "cancel", "prompt s1"}; !slices.Equal(got, want) {
		t.Errorf("the agent heard %q, want %q", got, want)
	}
	if s.Status != quest.Finished || answerOf(s) != "went on" || asked.Load() != 2 {
		t.Errorf("it is %s with %q after %d requests, want that it went on", s.Status, answerOf(s), asked.Load())
	}
}
