package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	acp "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
)

// editor is a client of lyceum acp on the official SDK. Methods that it does not have are
// those that it must never be asked for: the SDK would fall over.
type editor struct {
	acp.Client
	t    *testing.T
	conn *acp.ClientSideConnection
	cmd  *exec.Cmd
	in   io.WriteCloser
	err  said

	mu      sync.Mutex
	updates []acp.SessionNotification
	// choose answers what is asked; nil cancels it.
	choose func(acp.RequestPermissionRequest) string
	asked  []acp.RequestPermissionRequest
	heard  chan struct{} // has an entry after each update
	// buffers are what stands in the editor, by path, beside what is on the disk.
	buffers map[string]string
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := n.Validate(); err != nil {
		e.t.Errorf("an update that is none: %v", err)
	}
	e.updates = append(e.updates, n)
	select {
	case e.heard <- struct{}{}:
	default:
	}
	return nil
}

func (e *editor) RequestPermission(ctx context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	choose := e.choose
	e.mu.Unlock()
	if err := p.Validate(); err != nil {
		e.t.Errorf("a question that is none: %v", err)
	}
	var out acp.RequestPermissionResponse
	if choose == nil {
		out.Outcome = acp.NewRequestPermissionOutcomeCancelled()
	} else {
		out.Outcome = acp.NewRequestPermissionOutcomeSelected(acp.PermissionOptionId(choose(p)))
	}
	return out, nil
}

func (e *editor) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if text, ok := e.buffers[p.Path]; ok {
		return acp.ReadTextFileResponse{Content: text}, nil
	}
	data, err := os.ReadFile(p.Path)
	return acp.ReadTextFileResponse{Content: string(data)}, err
}

func (e *editor) WriteTextFile(_ context.Context, p acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffers[p.Path] = p.Content
	return acp.WriteTextFileResponse{}, nil
}

// edit starts lyceum acp under an editor that keeps its files to itself.
func (h *home) edit(args ...string) *editor {
	h.t.Helper()
	return h.editAs(acp.ClientCapabilities{}, args...)
}

func (h *home) editAs(can acp.ClientCapabilities, args ...string) *editor {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	h.t.Cleanup(cancel)
	e := &editor{t: h.t, cmd: command(ctx, h.dir, h.work, append([]string{"acp"}, args...)...), heard: make(chan struct{}, 1), buffers: map[string]string{}}
	e.cmd.Env = append(e.cmd.Env, h.env...)
	e.cmd.Stderr = &e.err
	in, err := e.cmd.StdinPipe()
	must(h.t, err)
	out, err := e.cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, e.cmd.Start())
	e.in = in
	e.conn = acp.NewClientSideConnection(e, in, out)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	h.t.Cleanup(func() { in.Close(); _ = e.cmd.Wait() })
	hello, err := e.conn.Initialize(e.ctx(), acp.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: can})
	must(h.t, err)
	if hello.ProtocolVersion != 1 {
		h.t.Errorf("lyceum acp speaks version %d, want 1", hello.ProtocolVersion)
	}
	return e
}

func (e *editor) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	e.t.Cleanup(cancel)
	return ctx
}

func (e *editor) begin(folder string) acp.SessionId {
	e.t.Helper()
	s, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: folder, McpServers: []acp.McpServer{}})
	must(e.t, err)
	return s.SessionId
}

func (e *editor) ask(id acp.SessionId, text string) (acp.StopReason, error) {
	r, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
	return r.StopReason, err
}

// says prompts, and wants an end of the turn.
func (e *editor) says(id acp.SessionId, text string, want acp.StopReason) {
	e.t.Helper()
	if stop, err := e.ask(id, text); err != nil || stop != want {
		e.t.Fatalf("the prompt %q ended with %q (%v), want %s\n%s", text, stop, err, want, e.err.String())
	}
}

// end closes standard input, and returns the exit code of the process.
func (e *editor) end() int {
	e.t.Helper()
	e.in.Close()
	_ = e.cmd.Wait()
	return e.cmd.ProcessState.ExitCode()
}

// words are what was said, whose chunks are joined, with the names of calls between; they
// are forgotten. What Lyceum says itself, and no agent, is not among them.
func (e *editor) words() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	last := ""
	say := func(who, text string) {
		if who != last {
			fmt.Fprintf(&b, "\n%s: ", who)
		}
		b.WriteString(text)
		last = who
	}
	for _, n := range e.updates {
		if isNotice(n) {
			continue
		}
		switch u := n.Update; {
		case u.UserMessageChunk != nil:
			say("user", u.UserMessageChunk.Content.Text.Text)
		case u.AgentMessageChunk != nil:
			say("agent", u.AgentMessageChunk.Content.Text.Text)
		case u.AgentThoughtChunk != nil:
			say("thought", u.AgentThoughtChunk.Content.Text.Text)
		case u.ToolCall != nil:
			say("tool "+string(u.ToolCall.ToolCallId), u.ToolCall.Title)
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
			say("tool "+string(u.ToolCallUpdate.ToolCallId), " "+string(*u.ToolCallUpdate.Status))
		}
	}
	e.updates = nil
	return strings.TrimSpace(b.String())
}

func isNotice(n acp.SessionNotification) bool {
	of, _ := n.Meta["lyceum"].(map[string]any)
	return of["notice"] == true
}

// notices are what Lyceum itself has said to the editor.
func (e *editor) notices() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, n := range e.updates {
		if c := n.Update.AgentMessageChunk; c != nil && isNotice(n) {
			b.WriteString(c.Content.Text.Text)
		}
	}
	return b.String()
}

func code(err error) int {
	if e, ok := errors.AsType[*acp.RequestError](err); ok {
		return e.Code
	}
	return 0
}

const talkPlan = `rules:
  - on: {last: "six times seven"}
    think: "Let me see."
    call: [{tool: calculate, args: {code: "print(6*7)"}}]
  - on: {tool: calculate}
    say: "The answer is 42, I am sure."
  - on: {last: "why"}
    say: "Because I can count."
  - on: {last: "colour"}
    call: [{tool: ask_person, args: {question: "Which colour?", options: [red, blue]}}]
  - on: {last: "name"}
    call: [{tool: ask_person, args: {question: "What is it called?"}}]
  - on: {tool: ask_person, result: '(?s)(.*)'}
    say: "You said: $1"
  - on: {last: "wait"}
    fault: hang
  - on: {last: "linger"}
    delay: 3s
    say: "I was slow."
  - on: {last: "expensive"}
    say: "Here."
    cost: "4"
  - on: {last: "refuse"}
    say: "No."
    stop: refusal
  - on: {last: "broken"}
    fault: refused
  - say: "Yes."
`

// talks runs a test with the quests in the process itself, and in a server.
func talks(t *testing.T, f func(t *testing.T, h *home)) { t.Helper(); talksOf(t, talkPlan, f) }

// talksOf does that with a script of its own.
func talksOf(t *testing.T, plan string, f func(t *testing.T, h *home)) {
	t.Helper()
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("Served=%v", served), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"plan.yaml": plan})
			if served {
				s := h.serve()
				t.Cleanup(func() { s.kill() })
			}
			f(t, h)
		})
	}
}

func (h *home) talk() *editor { h.t.Helper(); return h.edit("--model", "script:plan.yaml") }

func TestASessionIsAQuest(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ledgers [][]string
	t.Run("", func(t *testing.T) {
		talks(t, func(t *testing.T, h *home) {
			e := h.talk()
			id := e.begin(h.work)
			e.says(id, "What is six times seven?", acp.StopReasonEndTurn)
			first := "thought: Let me see.\ntool 4-1: calculate in_progress completed\nagent: The answer is 42, I am sure."
			if diff := cmp.Diff(first, e.words()); diff != "" {
				t.Errorf("it is not what was wanted: %s", diff)
			}
			e.says(id, "And why?", acp.StopReasonEndTurn)
			second := "agent: Because I can count."
			if diff := cmp.Diff(second, e.words()); diff != "" {
				t.Errorf("it is not what was wanted: %s", diff)
			}
			if show := h.show(string(id)); show.Answer != "Because I can count." || show.Status != "finished" {
				t.Errorf("the quest is %+v", show)
			}
			if code := e.end(); code != 0 {
				t.Errorf("the end of the input: exit code %d: %s", code, e.err.String())
			}
			h.ok("verify", string(id))
			h.ok("replay", string(id))

			again := h.talk()
			_, err := again.conn.LoadSession(again.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: h.work, McpServers: []acp.McpServer{}})
			must(t, err)
			if diff := cmp.Diff("user: What is six times seven?\n"+first+"\nuser: And why?\n"+second, again.words()); diff != "" {
				t.Errorf("loaded, it says something else: %s", diff)
			}
			again.says(id, "why?", acp.StopReasonEndTurn)
			if diff := cmp.Diff(second, again.words()); diff != "" {
				t.Errorf("it is not what was wanted: %s", diff)
			}
			resumed := h.talk()
			_, err = resumed.conn.ResumeSession(resumed.ctx(), acp.ResumeSessionRequest{SessionId: id, Cwd: h.work})
			must(t, err)
			resumed.says(id, "why?", acp.StopReasonEndTurn)
			if diff := cmp.Diff(second, resumed.words()); diff != "" {
				t.Errorf("resumed, it says something else: %s", diff)
			}
			var types []string
			for _, ev := range h.events(string(id)) {
				types = append(types, ev.Type)
			}
			mu.Lock()
			ledgers = append(ledgers, types)
			mu.Unlock()
		})
	})
	if len(ledgers) != 2 {
		return // it has been said why
	}
	if diff := cmp.Diff(ledgers[0], ledgers[1]); diff != "" {
		t.Errorf("with a server the events are others: %s", diff)
	}
}

func TestQuestionsAreAskedInTheEditor(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		e.choose = func(p acp.RequestPermissionRequest) string {
			if len(p.Options) != 2 || p.Options[1].Name != "blue" {
				t.Errorf("the options are %+v", p.Options)
			}
			return "blue"
		}
		e.says(id, "Which colour is it?", acp.StopReasonEndTurn)
		if got := e.words(); !strings.Contains(got, "person answers: blue") {
			t.Errorf("after an answer it says %s", got)
		}
		// A question without answers to choose from ends the turn; the next prompt answers it.
		e.says(id, "And its name?", acp.StopReasonEndTurn)
		if got := e.words(); !strings.Contains(got, "What is it called?") {
			t.Errorf("a question of words: %s", got)
		}
		e.says(id, "Fred", acp.StopReasonEndTurn)
		if got := e.words(); !strings.Contains(got, "person answers: Fred") {
			t.Errorf("the answer of words: %s", got)
		}
		if n := len(e.asked); n != 1 {
			t.Errorf("the editor was asked %d times, want once", n)
		}
		// One that the editor leaves open is not asked again and again: it ends the turn, too.
		e.choose = nil
		e.says(id, "Which colour is it?", acp.StopReasonEndTurn)
		if n := len(e.asked); n != 2 {
			t.Errorf("the editor was asked %d times, want once more", n)
		}
		e.words()
		e.says(id, "Red", acp.StopReasonEndTurn)
		if got := e.words(); !strings.Contains(got, "person answers: red") {
			t.Errorf("an option by its word: %s", got)
		}
	})
}

const writeQuest = `name: write
problem: Write a file.
model: script:write.yaml
tools: [write_file]
policies:
  - name: careful
    steps:
      - ask: {type: tool.call, where: {tool: write_file}, reason: It writes a file.}
`

// TestAPolicyAsksForPermission in a quest that was made elsewhere: only a yes lets it happen.
func TestAPolicyAsksForPermission(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"yes": "completed", "no": "failed", "perhaps": "failed", "": "failed"} {
		t.Run("Answer="+answer, func(t *testing.T) {
			talks(t, func(t *testing.T, h *home) {
				must(t, writeFolder(h.work, map[string]string{"quest.yaml": writeQuest, "write.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: a.txt, content: hello}}]
  - say: "Done."
`}))
				h.ok("create", "quest.yaml")
				e := h.edit()
				if answer != "" {
					e.choose = func(acp.RequestPermissionRequest) string { return answer }
				}
				_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "write", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				e.says("write", "Go.", acp.StopReasonEndTurn)
				if len(e.asked) != 1 || len(e.asked[0].Options) != 2 || e.asked[0].Options[0].Kind != acp.PermissionOptionKindAllowOnce || e.asked[0].Options[1].Kind != acp.PermissionOptionKindRejectOnce {
					t.Fatalf("the editor was asked %+v", e.asked)
				}
				if got := e.words(); !strings.Contains(got, want) || !strings.Contains(got, string(e.asked[0].ToolCall.ToolCallId)) || !strings.Contains(got, "Done.") {
					t.Errorf("after %q it says %s", answer, got)
				}
			})
		})
	}
}

func TestAPromptIsCancelled(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		stops := make(chan string, 1)
		go func() {
			stop, err := e.ask(id, "wait")
			stops <- fmt.Sprint(stop, " ", err)
		}()
		h.await(string(id), "model.call", 1)
		if _, err := e.ask(id, "two at once"); code(err) != -32600 {
			t.Errorf("a second prompt at the same time: %v", err)
		}
		must(t, e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: id}))
		if got := <-stops; got != "cancelled <nil>" {
			t.Fatalf("a prompt that is cancelled ends with %s", got)
		}
		if show := h.show(string(id)); show.Status != "paused" {
			t.Errorf("the quest of a prompt that was cancelled is %s", show.Status)
		}
	})
}

// TestAPromptIsCancelledInMidStream has a model that stops speaking in the middle, and
// speaks when it is asked again.
func TestAPromptIsCancelledInMidStream(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("Served=%v", served), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			calls := 0
			h := provided(t, "chat", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				calls++
				first := calls == 1
				mu.Unlock()
				w.Header().Set("Content-Type", "text/event-stream")
				say := func(text, more string) {
					fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}%s}]}\n\n", text, more)
					_ = http.NewResponseController(w).Flush()
				}
				say("It is ", "")
				if first {
					<-r.Context().Done()
					return
				}
				say("42.", `,"finish_reason":"stop"`)
				fmt.Fprint(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":5,\"total_tokens\":10}}\n\ndata: [DONE]\n\n")
			}))
			if served {
				s := h.serve()
				t.Cleanup(func() { s.kill() })
			}
			e := h.edit("--model", "mistral-large-latest")
			id := e.begin(h.work)
			stops := make(chan string, 1)
			go func() {
				stop, err := e.ask(id, "What is it?")
				stops <- fmt.Sprint(stop, " ", err)
			}()
			for e.chunks() == "" {
				select {
				case <-e.heard:
				case got := <-stops:
					t.Fatalf("the prompt ended with %s: %s", got, e.err.String())
				}
			}
			must(t, e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: id}))
			if got := <-stops; got != "cancelled <nil>" {
				t.Fatalf("a prompt that is cancelled in mid-stream ends with %s", got)
			}
			if got := e.words(); got != "agent: It is" {
				t.Errorf("in mid-stream it says %q", got)
			}
			if show := h.show(string(id)); show.Status != "paused" {
				t.Errorf("the quest is %s", show.Status)
			}
		})
	}
}

// chunks are the agent's words so far.
func (e *editor) chunks() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := ""
	for _, n := range e.updates {
		if c := n.Update.AgentMessageChunk; c != nil && !isNotice(n) {
			text += c.Content.Text.Text
		}
	}
	return text
}

// TestAnotherPersonPauses: that ends the turn, and the next prompt goes on.
func TestAnotherPersonPauses(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		stops := make(chan string, 1)
		go func() {
			stop, err := e.ask(id, "linger")
			stops <- fmt.Sprint(stop, " ", err)
		}()
		h.await(string(id), "model.call", 1)
		h.ok("pause", string(id))
		if got := <-stops; got != "end_turn <nil>" {
			t.Fatalf("a quest that somebody pauses ends the prompt with %s", got)
		}
		e.words()
		e.says(id, "why?", acp.StopReasonEndTurn)
		if got := e.words(); !strings.HasSuffix(got, "Because I can count.") {
			t.Errorf("after a pause it says %s", got)
		}
	})
}

func TestTheNextPromptResumes(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		stops := make(chan string, 1)
		e.choose = func(acp.RequestPermissionRequest) string { <-t.Context().Done(); return "" }
		go func() {
			stop, err := e.ask(id, "Which colour is it?")
			stops <- fmt.Sprint(stop, " ", err)
		}()
		h.await(string(id), "interaction.opened", 1)
		must(t, e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: id}))
		if got := <-stops; got != "cancelled <nil>" {
			t.Fatalf("a prompt that asks ends with %s when it is cancelled", got)
		}
		h.ok("answer", string(id), "red")
		e.says(id, "Go on.", acp.StopReasonEndTurn)
		if show := h.show(string(id)); show.Status != "finished" {
			t.Errorf("the quest is %s", show.Status)
		}
	})
}

func TestAProcessIsKilledInMidPrompt(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		e.choose = func(acp.RequestPermissionRequest) string { <-t.Context().Done(); return "" }
		go func() { _, _ = e.ask(id, "Which colour is it?") }()
		h.await(string(id), "interaction.opened", 1)
		must(t, e.cmd.Process.Kill())
		_ = e.cmd.Wait()

		again := h.talk()
		_, err := again.conn.LoadSession(again.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: h.work, McpServers: []acp.McpServer{}})
		must(t, err)
		if got := again.words(); !strings.Contains(got, "user: Which colour is it?") || !strings.Contains(got, "Question") {
			t.Errorf("loaded, it says %s", got)
		}
		again.says(id, "blue", acp.StopReasonEndTurn)
		if n := h.count(string(id), "interaction.opened"); n != 1 {
			t.Errorf("it was asked %d times, want once", n)
		}
		if n := h.count(string(id), "interaction.answered"); n != 1 {
			t.Errorf("it was answered %d times, want once", n)
		}
	})
}

func TestWhenTheInputEnds(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		go func() { _, _ = e.ask(id, "wait") }()
		h.await(string(id), "model.call", 1)
		if code := e.end(); code != 0 {
			t.Errorf("exit code %d: %s", code, e.err.String())
		}
		want := "paused"
		if strings.HasSuffix(t.Name(), "true") {
			want = "running"
		}
		if show := h.show(string(id)); show.Status != want {
			t.Errorf("the quest is %s, want %s", show.Status, want)
		}
	})
}

func TestLimitsAndFailures(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		e := h.talk()
		id := e.begin(h.work)
		e.says(id, "expensive", acp.StopReasonEndTurn)
		e.says(id, "expensive", acp.StopReasonEndTurn)
		e.says(id, "expensive", acp.StopReasonMaxTokens)
		if got := e.words(); !strings.Contains(got, "The limit on cost is reached") || !strings.Contains(got, "5") {
			t.Errorf("a limit that is reached: %s", got)
		}
		out, err := e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: id, ConfigId: "cost", Value: "20.00"}})
		must(t, err)
		if len(out.ConfigOptions) != 4 || out.ConfigOptions[3].Select.CurrentValue != "20.00" {
			t.Errorf("the options are %+v", out.ConfigOptions)
		}
		e.says(id, "why?", acp.StopReasonEndTurn)

		id = e.begin(h.work)
		if _, err := e.ask(id, "broken"); code(err) != -32603 || !strings.Contains(err.Error(), "this fault was ordered") {
			t.Errorf("a quest that fails: %v", err)
		}
		id = e.begin(h.work)
		e.says(id, "refuse", acp.StopReasonRefusal)
		id = e.begin(h.work)
		_, err = e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: id, ConfigId: "model", Value: "mistral/mistral-large-latest"}})
		must(t, err)
		if _, err := e.ask(id, "Hello?"); code(err) != -32000 || !strings.Contains(err.Error(), "MISTRAL_API_KEY") {
			t.Errorf("a key that is missing: %v", err)
		}
	})
}

func TestWhatASessionRefuses(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": talkPlan})
	e := h.talk()
	for _, cwd := range []string{".", filepath.Join(h.work, "nowhere"), filepath.Join(h.work, "plan.yaml")} {
		if _, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: cwd, McpServers: []acp.McpServer{}}); code(err) != -32602 {
			t.Errorf("a session in %s: %v", cwd, err)
		}
	}
	for _, id := range []acp.SessionId{"nobody", "../../etc", ""} {
		if _, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: h.work, McpServers: []acp.McpServer{}}); code(err) != -32002 {
			t.Errorf("load %q: %v", id, err)
		}
		if _, err := e.conn.ResumeSession(e.ctx(), acp.ResumeSessionRequest{SessionId: id, Cwd: h.work}); code(err) != -32002 {
			t.Errorf("resume %q: %v", id, err)
		}
		if _, err := e.ask(id, "Hello?"); code(err) != -32002 {
			t.Errorf("prompt %q: %v", id, err)
		}
	}
	id := e.begin(h.work)
	if _, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{}}); code(err) != -32602 {
		t.Errorf("a prompt that says nothing: %v", err)
	}
	choose := func(option, value string) error {
		_, err := e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: id, ConfigId: acp.SessionConfigId(option), Value: acp.SessionConfigValueId(value)}})
		return err
	}
	for option, value := range map[string]string{"society": "nobody", "model": "", "thinking": "perhaps", "cost": "much", "colour": "red"} {
		if err := choose(option, value); code(err) != -32602 {
			t.Errorf("the option %s = %q is answered with %v, want -32602", option, value, err)
		}
	}
	must(t, choose("society", "lab"))
	must(t, choose("society", "solo"))
	e.says(id, "why?", acp.StopReasonEndTurn)
	if err := choose("society", "lab"); code(err) != -32602 {
		t.Errorf("another society after the first prompt: %v", err)
	}
	must(t, choose("society", "solo"))
	if _, err := e.conn.CloseSession(e.ctx(), acp.CloseSessionRequest{SessionId: id}); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := e.ask(id, "Hello?"); code(err) != -32002 {
		t.Errorf("a prompt to a session that was closed: %v", err)
	}
	h.ok("show", string(id)) // the quest stays
}

func TestSessionsAreListedByFolderAndPage(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": talkPlan, "quest.yaml": "name: elsewhere\nproblem: Which?\nmodel: script:plan.yaml\n", "other/plan.yaml": talkPlan})
	h.ok("create", "quest.yaml")
	e := h.talk()
	var want []string
	for range 52 {
		id := e.begin(h.work)
		e.says(id, "why?\nSay it.", acp.StopReasonEndTurn)
		want = append(want, string(id))
	}
	slices.Sort(want)
	other := e.begin(filepath.Join(h.work, "other"))
	e.says(other, "why?", acp.StopReasonEndTurn)
	list := func(e *editor, cwd *string) (out []string) {
		var cursor *string
		for pages := 0; ; pages++ {
			p, err := e.conn.ListSessions(e.ctx(), acp.ListSessionsRequest{Cwd: cwd, Cursor: cursor})
			must(t, err)
			for _, s := range p.Sessions {
				out = append(out, string(s.SessionId))
				if cwd != nil && (s.Cwd != *cwd || s.Title == nil || *s.Title != "why?") {
					t.Errorf("listed as %+v", s)
				}
			}
			if cursor = p.NextCursor; cursor == nil {
				return out
			}
			if len(p.Sessions) != 50 || pages > 3 {
				t.Fatalf("page %d has %d sessions", pages, len(p.Sessions))
			}
		}
	}
	e = h.talk() // in a new process
	if diff := cmp.Diff(want, list(e, &h.work)); diff != "" {
		t.Errorf("it is not what was wanted: %s", diff)
	}
	if got := list(e, nil); len(got) != 54 || !slices.Contains(got, "elsewhere") {
		t.Errorf("all sessions are %d: %v", len(got), got)
	}
	if _, err := e.conn.ListSessions(e.ctx(), acp.ListSessionsRequest{Cursor: new("../..")}); code(err) != -32602 {
		t.Errorf("a cursor of nobody's: %v", err)
	}
}

// TestAPromptBringsFiles: what is embedded goes along as files, in the first prompt too, and
// a text that is too long for a message is one.
func TestAPromptBringsFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": talkPlan})
	e := h.talk()
	id := e.begin(h.work)
	prompt := func(blocks ...acp.ContentBlock) {
		t.Helper()
		r, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: blocks})
		if err != nil || r.StopReason != acp.StopReasonEndTurn {
			t.Fatalf("a prompt with files ended with %q (%v), want end_turn", r.StopReason, err)
		}
	}
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	text := acp.ResourceBlock(acp.EmbeddedResourceResource{TextResourceContents: &acp.TextResourceContents{Uri: "file:///src/main.go", Text: "package main"}})
	prompt(acp.TextBlock("Look at "), acp.ResourceLinkBlock("x.go", "file:///src/x.go"), acp.TextBlock(" and "), text, acp.ImageBlock(dot, "image/png"))
	trace := h.ok("trace", string(id), "--jsonl")
	for _, want := range []string{`Look at [x.go](file:///src/x.go) and [main.go](file:///src/main.go)`, `"name":"main.go"`, `"media":"image/png"`} {
		if !strings.Contains(trace, want) {
			t.Errorf("the ledger does not have %s:\n%s", want, trace)
		}
	}
	prompt(acp.TextBlock(strings.Repeat("why? ", 4000)))
	if trace := h.ok("trace", string(id), "--jsonl"); !strings.Contains(trace, `"name":"message.md"`) {
		t.Error("a long message is no file")
	}
	if _, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.ImageBlock("no base64!", "image/png")}}); code(err) != -32602 {
		t.Errorf("a picture that is none: %v", err)
	}
	if _, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.AudioBlock(dot, "audio/wav")}}); code(err) != -32602 {
		t.Errorf("sounds, which are not advertised: %v", err)
	}
}

// TestOnlyTheProtocolIsOnStandardOutput, whatever is said to it.
func TestOnlyTheProtocolIsOnStandardOutput(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": talkPlan})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, "acp", "--model", "script:plan.yaml", "--record", "frames")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	answer := func(line string) (m struct {
		ID     any
		Result map[string]any
		Error  struct{ Code int }
	}) {
		t.Helper()
		_, err := io.WriteString(in, line+"\n")
		must(t, err)
		for lines.Scan() {
			m.Result, m.Error.Code = nil, 0
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Fatalf("standard output has %q: %v", lines.Text(), err)
			}
			if m.Result != nil || m.Error.Code != 0 {
				return m
			}
		}
		t.Fatal("it has ended")
		return m
	}
	for line, want := range map[string]int{
		"hello": -32700, "{}": -32600, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`: -32600,
	} {
		if m := answer(line); m.Error.Code != want {
			t.Errorf("%s is answered with %+v", line, m)
		}
	}
	if m := answer(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":99,"info":{}}}`); m.Result["protocolVersion"] != 1.0 {
		t.Errorf("version 99 is answered with %+v", m)
	}
	for method, want := range map[string]int{"session/fork": -32601, "terminal/create": -32601, "authenticate": -32601, "session/set_mode": -32002, "session/prompt": -32602, "session/new": -32602} {
		if m := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":{"prompt":7}}`, method)); m.Error.Code != want {
			t.Errorf("%s is answered with %+v", method, m)
		}
	}
	s := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, h.work)).Result["sessionId"]
	if m := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"why"}]}}`, s)); m.Result["stopReason"] != "end_turn" {
		t.Errorf("a prompt is answered with %+v", m)
	}
	must(t, in.Close())
	for lines.Scan() {
		t.Errorf("after the end it says %s", lines.Text())
	}
	must(t, cmd.Wait())
	frames, err := os.ReadFile(filepath.Join(h.work, "frames"))
	must(t, err)
	if !strings.Contains(string(frames), "< hello # the line is not JSON\n") || !strings.Contains(string(frames), `> {"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}`) {
		t.Errorf("the record is\n%s", frames)
	}
}

// TestRequestsInAPipe: a client that says all it wants to and closes its side gets its answers.
func TestRequestsInAPipe(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": talkPlan})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, "acp", "--model", "script:plan.yaml")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}
{"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}
`, h.work))
	out, err := cmd.Output()
	must(t, err)
	for id, want := range map[int]string{1: `"protocolVersion":1`, 2: `"sessionId"`, 3: `"sessions"`} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\{"jsonrpc":"2.0","id":%d,"result":.*%s`, id, want)).Match(out) {
			t.Errorf("request %d has no answer with %s:\n%s", id, want, out)
		}
	}
}

// TestAClientThatDoesNotRead must not keep the process when it has ended what it says.
func TestAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": "rules:\n  - say: \"" + strings.Repeat("word ", 10_000) + "\"\n"})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, "acp", "--model", "script:plan.yaml")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", h.work)
	lines := bufio.NewReader(out)
	var made struct{ Result struct{ SessionID string } }
	for made.Result.SessionID == "" { // either answer may be the first
		line, err := lines.ReadString('\n')
		must(t, err)
		must(t, json.Unmarshal([]byte(line), &made))
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"Speak."}]}}`+"\n", made.Result.SessionID)
	h.await(made.Result.SessionID, "quest.finished", 1) // who does not read holds up no quest
	must(t, in.Close())
	must(t, cmd.Wait())
}
