package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lyceumacp "lyceum/internal/acp"
	"lyceum/internal/canary"
	"lyceum/internal/need"

	acp "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
)

// desk is an editor on our own connection, with files in it: it can do whatever a test wants.
type desk struct {
	t    *testing.T
	conn *lyceumacp.Conn
	cmd  *exec.Cmd
	err  said

	mu      sync.Mutex
	updates []acp.SessionNotification
	asked   []acp.RequestPermissionRequest
	forms   []map[string]any
	// buffers are what stands in the editor, by path; wrote is what it was asked to write.
	buffers, wrote map[string]string
	// choose and fill answer questions and forms; writes is called before a file is written.
	choose func(acp.RequestPermissionRequest) string
	fill   func(map[string]any) any
	writes func(acp.WriteTextFileRequest) error
}

func (d *desk) Notify(method string, params json.RawMessage) {
	var n acp.SessionNotification
	if method != acp.ClientMethodSessionUpdate {
		return
	}
	if err := json.Unmarshal(params, &n); err != nil || n.Validate() != nil {
		d.t.Errorf("an update that is none: %s", params)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.updates = append(d.updates, n)
}

func (d *desk) Request(method string, params json.RawMessage) (func(context.Context) (any, error), error) {
	return func(context.Context) (any, error) {
		switch method {
		case acp.ClientMethodSessionRequestPermission:
			var p acp.RequestPermissionRequest
			if err := json.Unmarshal(params, &p); err != nil || p.Validate() != nil {
				d.t.Errorf("a question that is none: %s", params)
			}
			d.mu.Lock()
			d.asked = append(d.asked, p)
			choose := d.choose
			d.mu.Unlock()
			if choose == nil {
				return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil
			}
			return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": choose(p)}}, nil
		case acp.ClientMethodElicitationCreate:
			var p map[string]any
			must(d.t, json.Unmarshal(params, &p))
			d.mu.Lock()
			d.forms = append(d.forms, p)
			d.mu.Unlock()
			return d.fill(p), nil
		case acp.ClientMethodFsReadTextFile:
			var p acp.ReadTextFileRequest
			must(d.t, json.Unmarshal(params, &p))
			d.mu.Lock()
			text, ok := d.buffers[p.Path]
			d.mu.Unlock()
			if !ok {
				data, err := os.ReadFile(p.Path)
				if err != nil {
					return nil, &lyceumacp.Error{Code: lyceumacp.NotFound, Message: "no such file"}
				}
				text = string(data)
			}
			return map[string]any{"content": text}, nil
		case acp.ClientMethodFsWriteTextFile:
			var p acp.WriteTextFileRequest
			must(d.t, json.Unmarshal(params, &p))
			if d.writes != nil {
				if err := d.writes(p); err != nil {
					return nil, err
				}
			}
			d.mu.Lock()
			d.wrote[p.Path], d.buffers[p.Path] = p.Content, p.Content
			d.mu.Unlock()
			return nil, nil
		}
		d.t.Errorf("the client was asked for %s", method)
		return nil, &lyceumacp.Error{Code: lyceumacp.NoMethod, Message: "no"}
	}, nil
}

// Capabilities of a client.
const (
	bareDesk  = `{}`
	fullDesk  = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`
	formsDesk = `{"elicitation":{"form":{}}}`
)

func (h *home) desk(capabilities string, args ...string) *desk {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	h.t.Cleanup(cancel)
	d := &desk{t: h.t, cmd: command(ctx, h.dir, h.work, append([]string{"acp"}, args...)...), buffers: map[string]string{}, wrote: map[string]string{}}
	d.cmd.Env = append(d.cmd.Env, h.env...)
	d.cmd.Stderr = &d.err
	in, err := d.cmd.StdinPipe()
	must(h.t, err)
	out, err := d.cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, d.cmd.Start())
	d.conn = lyceumacp.NewConn(ctx, d, out, in, lyceumacp.Options{})
	served := make(chan struct{})
	go func() { defer close(served); _ = d.conn.Serve() }()
	h.t.Cleanup(func() { in.Close(); <-served; _, _ = io.Copy(io.Discard, out); _ = d.cmd.Wait() })
	d.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": json.RawMessage(capabilities)}, nil)
	return d
}

func (d *desk) call(method string, params, out any) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.conn.Call(ctx, method, params, out); err != nil {
		d.t.Fatalf("the request %s is refused: %v\n%s", method, err, d.err.String())
	}
}

func (d *desk) begin(folder string, servers ...any) string {
	d.t.Helper()
	var out acp.NewSessionResponse
	d.call("session/new", map[string]any{"cwd": folder, "mcpServers": append([]any{}, servers...)}, &out)
	return string(out.SessionId)
}

func (d *desk) load(id, folder string) {
	d.t.Helper()
	d.call("session/load", map[string]any{"sessionId": id, "cwd": folder, "mcpServers": []any{}}, nil)
}

func (d *desk) says(id string, blocks ...any) acp.StopReason {
	d.t.Helper()
	var list []any
	for _, b := range blocks {
		if text, ok := b.(string); ok {
			b = acp.TextBlock(text)
		}
		list = append(list, b)
	}
	var out acp.PromptResponse
	d.call("session/prompt", map[string]any{"sessionId": id, "prompt": list}, &out)
	return out.StopReason
}

// notices are what Lyceum has said itself, forgotten.
func (d *desk) notices() (text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.updates {
		if isNotice(n) {
			text += n.Update.AgentMessageChunk.Content.Text.Text
		}
	}
	d.updates = nil
	return text
}

// edits are the diffs that were shown of a delivery, by the path from a folder on: what became
// of it, the old text and the new.
func (d *desk) edits(folder string) map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]string{}
	note := func(id acp.ToolCallId, status acp.ToolCallStatus, content []acp.ToolCallContent) {
		if !strings.HasPrefix(string(id), "deliver-") {
			return
		}
		for _, c := range content {
			if c.Diff != nil {
				old := "nothing"
				if c.Diff.OldText != nil {
					old = *c.Diff.OldText
				}
				name, _ := filepath.Rel(folder, c.Diff.Path)
				out[name] = fmt.Sprintf("%s: %s -> %s", status, old, c.Diff.NewText)
			}
		}
	}
	for _, n := range d.updates {
		if c := n.Update.ToolCall; c != nil {
			note(c.ToolCallId, c.Status, c.Content)
		}
		if c := n.Update.ToolCallUpdate; c != nil && c.Status != nil {
			note(c.ToolCallId, *c.Status, c.Content)
		}
	}
	return out
}

func (d *desk) kill() {
	must(d.t, d.cmd.Process.Kill())
	_, _ = d.cmd.Process.Wait()
}

const repairPlan = `rules:
  - on: {last: "mend"}
    call:
      - {tool: write_file, args: {path: main.py, content: "print(2)\n"}}
      - {tool: write_file, args: {path: /home/agent/lib/new.py, content: "x = 1\n"}}
  - on: {last: "again"}
    call: [{tool: write_file, args: {path: main.py, content: "print(3)\n"}}]
  - on: {last: "look"}
    call: [{tool: read_file, args: {path: main.py}}]
  - on: {tool: read_file, result: '(?s)(.*)'}
    say: "It holds: $1"
  - on: {tool: write_file}
    say: "Mended."
  - say: "Yes."
`

// repository makes the work folder a git repository with a file that has a change which is not
// committed.
func (h *home) repository() {
	need.Program(h.t, "git")
	must(h.t, writeFolder(h.work, map[string]string{"plan.yaml": repairPlan, "main.py": "print(1)\n", "keep.txt": "kept\n"}))
	git(h.t, h.work, "init", "-q", "-b", "main")
	git(h.t, h.work, "add", "-A")
	git(h.t, h.work, "commit", "-q", "-m", "first")
	must(h.t, os.WriteFile(filepath.Join(h.work, "main.py"), []byte("print(1) # mine\n"), 0o600))
	must(h.t, os.Chmod(filepath.Join(h.work, "main.py"), 0o600))
}

func (h *home) read(name string) string {
	data, err := os.ReadFile(filepath.Join(h.work, name))
	if err != nil {
		return "none"
	}
	return string(data)
}

func option(id string) func(acp.RequestPermissionRequest) string {
	return func(acp.RequestPermissionRequest) string { return id }
}

// TestASessionsFolderIsTheRepo: agents begin with the work tree, and what they change is shown
// and written as the client permits.
func TestASessionsFolderIsTheRepo(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		h.repository()
		d := h.desk(bareDesk, "--model", "script:plan.yaml")
		d.choose = option("write")
		id := d.begin(h.work)
		if stop := d.says(id, "Please mend it."); stop != acp.StopReasonEndTurn {
			t.Fatalf("the prompt ended with %s", stop)
		}
		want := map[string]string{"main.py": "completed: print(1) # mine\n -> print(2)\n", "lib/new.py": "completed: nothing -> x = 1\n"}
		if diff := cmp.Diff(want, d.edits(h.work)); diff != "" {
			t.Errorf("the changes were not shown as they are (-want +got):\n%s\n%s", diff, d.notices())
		}
		if h.read("main.py") != "print(2)\n" || h.read("lib/new.py") != "x = 1\n" {
			t.Errorf("the folder has %q and %q", h.read("main.py"), h.read("lib/new.py"))
		}
		if info, err := os.Stat(filepath.Join(h.work, "main.py")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file has another mode: %v", info.Mode())
		}
		if got := d.asked[0].Options; len(got) != 4 || got[1].Kind != acp.PermissionOptionKindAllowAlways || len(d.asked[1].Options) != 2 {
			t.Errorf("the client was asked with %+v", d.asked)
		}
		d.toolCalls(h.work)
		// What was written is what the next change is of, also for a new process.
		d = h.desk(bareDesk, "--model", "script:plan.yaml")
		d.choose = option("write")
		d.load(id, h.work)
		d.toolCalls(h.work)
		d.says(id, "Once again.")
		if diff := cmp.Diff(map[string]string{"main.py": "completed: print(2)\n -> print(3)\n"}, d.edits(h.work)); diff != "" {
			t.Errorf("the next change (-want +got):\n%s\n%s", diff, d.notices())
		}
		if h.read("main.py") != "print(3)\n" {
			t.Errorf("the folder has %q", h.read("main.py"))
		}
		d.says(id, "And now?")
		if n := len(d.asked); n != 1 {
			t.Errorf("where nothing has changed the client was asked %d times, want once", n)
		}
		// A fork finds in the folder what was written of its origin.
		d.says(id, "/fork")
		d.load(id+"-fork-1", h.work)
		d.says(id+"-fork-1", "Please mend it.")
		if h.read("main.py") != "print(2)\n" {
			t.Errorf("a fork wrote %q: %s", h.read("main.py"), d.notices())
		}
		if out := git(t, h.work, "status", "--porcelain"); out != "M main.py\n?? lib/" {
			t.Errorf("git sees %q", out)
		}
		h.ok("verify", id)
		h.ok("replay", id)
		if strings.Contains(h.ok("trace", id, "--jsonl"), h.work) {
			t.Error("the ledger says where the folder is")
		}
	})
}

// TestTheSDKsClientHasDiffsAndPlans: the editor on the official SDK reads and writes its own buffers,
// is shown a diff before it permits one, and draws the stages of a study as a plan.
func TestTheSDKsClientHasDiffsAndPlans(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		h.repository()
		main := filepath.Join(h.work, "main.py")
		e := h.editAs(acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}, "--model", "script:plan.yaml")
		e.buffers[main] = "print(1) # not saved\n"
		e.choose = option("write")
		id := e.begin(h.work)
		r, err := e.conn.Prompt(e.ctx(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("Please mend it: "), acp.ResourceLinkBlock("main.py", "file://"+main)}})
		if err != nil || r.StopReason != acp.StopReasonEndTurn {
			t.Fatalf("the prompt ended with %q (%v), want end_turn", r.StopReason, err)
		}
		if e.buffers[main] != "print(2)\n" || h.read("main.py") != "print(1) # mine\n" {
			t.Errorf("the editor holds %q and the disk %q, want the change in the editor alone", e.buffers[main], h.read("main.py"))
		}
		var shown []string
		for _, p := range e.asked {
			for _, c := range p.ToolCall.Content {
				if c.Diff != nil && c.Diff.OldText != nil {
					shown = append(shown, c.Diff.Path+": "+*c.Diff.OldText+" -> "+c.Diff.NewText)
				}
			}
		}
		if !slices.Contains(shown, main+": print(1) # not saved\n -> print(2)\n") {
			t.Errorf("the editor was asked with the diffs %q, want that of main.py", shown)
		}
		e.choose = option("leave")
		e.says(id, "Once again.", acp.StopReasonEndTurn)
		if e.buffers[main] != "print(2)\n" {
			t.Errorf("after a no the editor holds %q, want what it held", e.buffers[main])
		}

		must(t, os.WriteFile(filepath.Join(h.work, "study.yaml"), []byte("rules:\n  - on: {turn: 1}\n    call: [{tool: move_anchor, args: {to: baseline, reason: Known.}}]\n  - say: Yes.\n"), 0o600))
		e = h.edit("--model", "script:study.yaml", "--society", "stages")
		e.says(e.begin(h.work), "Which forecast is best?", acp.StopReasonEndTurn)
		var plans []string
		for _, n := range e.updates {
			if n.Update.Plan != nil {
				plan := ""
				for _, x := range n.Update.Plan.Entries {
					plan += x.Content + " " + string(x.Status) + ", "
				}
				plans = append(plans, plan)
			}
		}
		if len(plans) != 1 || !strings.HasPrefix(plans[0], "scout completed, baseline in_progress, idea pending, ") || strings.Count(plans[0], ",") != 7 {
			t.Errorf("the editor was shown the plans %q, want one of seven stages at baseline", plans)
		}
	})
}

// toolCalls wants the agent's own calls to say where, and what they changed.
func (d *desk) toolCalls(folder string) {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	where, diffs, kinds := map[string]bool{}, map[string]bool{}, map[acp.ToolKind]bool{}
	for _, n := range d.updates {
		if c := n.Update.ToolCall; c != nil && !strings.HasPrefix(string(c.ToolCallId), "deliver-") {
			kinds[c.Kind] = true
			for _, l := range c.Locations {
				where[l.Path] = true
			}
		}
		c := n.Update.ToolCallUpdate
		if c == nil || strings.HasPrefix(string(c.ToolCallId), "deliver-") || c.Status == nil || *c.Status != acp.ToolCallStatusCompleted {
			continue
		}
		for _, content := range c.Content {
			if content.Diff != nil {
				diffs[content.Diff.Path+" "+content.Diff.NewText] = true
			}
		}
	}
	main, fresh := filepath.Join(folder, "main.py"), filepath.Join(folder, "lib/new.py")
	if !where[main] || !where[fresh] || !kinds[acp.ToolKindEdit] {
		d.t.Errorf("calls are at %v, of kinds %v", where, kinds)
	}
	if !diffs[main+" print(2)\n"] || !diffs[fresh+" x = 1\n"] {
		d.t.Errorf("calls with results show %v", diffs)
	}
}

// TestAnEditorsBufferCounts over the disk, and what is written goes through the editor.
func TestAnEditorsBufferCounts(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	h.repository()
	main := filepath.Join(h.work, "main.py")
	must(t, os.WriteFile(filepath.Join(h.work, "untracked.txt"), []byte("seen"), 0o600))
	d := h.desk(fullDesk, "--model", "script:plan.yaml")
	d.buffers[main] = "print(1) # not saved\n"
	d.choose = option("write-all")
	id := d.begin(h.work)
	d.says(id, "Please look at ", acp.ResourceLinkBlock("main.py", "file://"+main), " and ", acp.ResourceLinkBlock("u", "file://"+h.work+"/untracked.txt#L1"), acp.ResourceLinkBlock("far", "file:///etc/hostname"))
	trace := h.ok("trace", id, "--jsonl")
	if !strings.Contains(trace, "It holds: ") || !strings.Contains(trace, "print(1) # not saved") || strings.Contains(trace, "# mine") {
		t.Errorf("the agent did not begin with what stands in the editor:\n%s", trace)
	}
	if !strings.Contains(trace, "[main.py](main.py) and [u](untracked.txt#L1)[far](file:///etc/hostname)") {
		t.Errorf("the links of the prompt are others:\n%s", trace)
	}
	if found, _ := filepath.Glob(filepath.Join(h.dir, "quests", id, "agents", "agent-0", "untracked.txt")); len(found) != 1 {
		t.Errorf("what the prompt names is not in the home: %v", found)
	}
	d.says(id, "Now mend it.")
	if diff := cmp.Diff(map[string]string{main: "print(2)\n", filepath.Join(h.work, "lib/new.py"): "x = 1\n"}, d.wrote); diff != "" {
		t.Errorf("the editor wrote (-want +got):\n%s", diff)
	}
	if len(d.asked) != 1 {
		t.Errorf("after a yes for all the client was asked %d times", len(d.asked))
	}
	if h.read("main.py") != "print(1) # mine\n" {
		t.Errorf("the disk was written past the editor: %q", h.read("main.py"))
	}
	// A buffer that changes again is nobody's but the person's.
	d.mu.Lock()
	d.buffers[main] = "print(2) # better\n"
	d.mu.Unlock()
	d.says(id, "Once again.")
	if got := d.notices(); !strings.Contains(got, "- main.py: it has changed since") || d.buffers[main] != "print(2) # better\n" {
		t.Errorf("a buffer that has changed is %q: %s", d.buffers[main], got)
	}
	// A later prompt brings what agents do not have as it is now.
	d.says(id, "See ", acp.ResourceLinkBlock("main.py", "file://"+main), acp.ResourceLinkBlock("keep.txt", "file://"+h.work+"/keep.txt"))
	trace = h.ok("trace", id, "--jsonl")
	if !strings.Contains(trace, `"name":"main.py"`) || strings.Contains(trace, `"name":"keep.txt"`) {
		t.Errorf("files of a later prompt:\n%s", trace)
	}
	h.ok("verify", id)
}

// TestNothingIsWrittenWithoutPermission, nor asked twice; /deliver asks again.
func TestNothingIsWrittenWithoutPermission(t *testing.T) {
	t.Parallel()
	for name, choose := range map[string]func(acp.RequestPermissionRequest) string{"Left": option("leave"), "AllLeft": option("leave-all"), "Odd": option("yes"), "Lost": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			h.repository()
			d := h.desk(bareDesk, "--model", "script:plan.yaml")
			d.choose = choose
			id := d.begin(h.work)
			d.says(id, "Please mend it.")
			if h.read("main.py") != "print(1) # mine\n" || h.read("lib/new.py") != "none" {
				t.Errorf("it was written: %q, %q", h.read("main.py"), h.read("lib/new.py"))
			}
			if got := d.notices(); !strings.Contains(got, "- main.py: you did not permit it") {
				t.Errorf("it says %q", got)
			}
			n := len(d.asked)
			if n == 0 || name == "AllLeft" && n != 1 {
				t.Errorf("the client was asked %d times", n)
			}
			d = h.desk(bareDesk, "--model", "script:plan.yaml")
			d.choose = option("write")
			d.load(id, h.work)
			d.says(id, "And now?")
			if len(d.asked) != 0 {
				t.Errorf("the client was asked again for what it has refused: %+v", d.asked)
			}
			calls := h.count(id, "model.call")
			d.says(id, "/deliver")
			if h.read("main.py") != "print(2)\n" || h.read("lib/new.py") != "x = 1\n" || h.count(id, "model.call") != calls {
				t.Errorf("after /deliver it is %q: %s", h.read("main.py"), d.notices())
			}
		})
	}
}

// TestAFileThatHasChangedIsRefused by its name, also if that is while the person decides, and so
// is one behind a link.
func TestAFileThatHasChangedIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, h *home){
		"Text": func(t *testing.T, h *home) {
			must(t, os.WriteFile(filepath.Join(h.work, "main.py"), []byte("mine"), 0o600))
			must(t, os.MkdirAll(filepath.Join(h.work, "lib"), 0o700))
			must(t, os.WriteFile(filepath.Join(h.work, "lib/new.py"), []byte("mine"), 0o600))
		},
		"Links": func(t *testing.T, h *home) {
			must(t, os.WriteFile(filepath.Join(h.dir, "outside"), []byte("print(1) # mine\n"), 0o600))
			must(t, os.Remove(filepath.Join(h.work, "main.py")))
			must(t, os.Symlink(filepath.Join(h.dir, "outside"), filepath.Join(h.work, "main.py")))
			must(t, os.Mkdir(filepath.Join(h.work, "real"), 0o700))
			must(t, os.Symlink("real", filepath.Join(h.work, "lib")))
		},
	} {
		for _, late := range []bool{false, true} {
			for _, can := range []string{bareDesk, fullDesk} {
				t.Run(fmt.Sprintf("%s/Late=%v/%d", name, late, len(can)), func(t *testing.T) {
					t.Parallel()
					h := newHome(t, nil)
					h.repository()
					d := h.desk(can, "--model", "script:plan.yaml")
					id := d.begin(h.work)
					once := sync.OnceFunc(func() { change(t, h) })
					if late {
						d.choose = func(acp.RequestPermissionRequest) string { once(); return "write-all" }
						d.says(id, "Please mend it.")
					} else {
						d.says(id, "Please mend it.")
						d.choose = option("write-all")
						once()
						d.notices()
						d.says(id, "/deliver")
					}
					got := d.notices()
					for _, file := range []string{"main.py", "lib/new.py"} {
						if !strings.Contains(got, "- "+file+": ") {
							t.Errorf("%s is not refused by name: %s", file, got)
						}
					}
					if len(d.wrote) > 0 || strings.Contains(h.read("main.py"), "print(2)") || strings.Contains(h.read("lib/new.py"), "x = 1") {
						t.Errorf("it was written: %q, %q, %v", h.read("main.py"), h.read("lib/new.py"), d.wrote)
					}
				})
			}
		}
	}
}

// TestWhatIsNotWrittenIsNamed: what is no text, too long or a link.
func TestWhatIsNotWrittenIsNamed(t *testing.T) {
	need.Program(t, "bwrap")
	t.Parallel()
	h := newHome(t, nil)
	h.repository()
	must(t, writeFolder(h.work, map[string]string{
		"gone.dat":   "a\x00b",
		"quest.yaml": "name: odd\nproblem: x\nrepo: .\nbase: worktree\nmodel: script:odd.yaml\ncomputer: bubblewrap\n",
		"odd.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: "rm gone.dat; printf 'a\\0b' > bin.dat; head -c 600000 /dev/zero | tr '\\0' x > long.txt; ln -s main.py link; chmod +x main.py; echo ok > fine.txt; mkdir many; for i in $$(seq 205); do echo $$i > many/$$i; done; mkdir -p .GIT; echo x > .GIT/config"}}]
  - say: "Done."
`,
	}))
	git(t, h.work, "add", "gone.dat")
	h.ok("run", "quest.yaml")
	d := h.desk(bareDesk)
	d.choose = option("write-all")
	d.load("odd", h.work)
	d.says("odd", "/deliver")
	got := d.notices()
	for _, want := range []string{"- gone.dat: it is no text", "- bin.dat: it is no text", "- long.txt: it has more than", "- link: it is a link", "- main.py: nothing but its mode", "- many/99: more than 200 files", "- .GIT/config: it is git's own"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q: %s", want, got)
		}
	}
	if h.read("fine.txt") != "ok\n" || h.read("gone.dat") == "none" || h.read("bin.dat") != "none" || h.read(".GIT/config") != "none" || h.read("many/1") != "1\n" || h.read("many/99") != "none" {
		t.Errorf("the folder has %q, %q, %q", h.read("fine.txt"), h.read("keep.txt"), h.read("bin.dat"))
	}
}

// removals is a home with a quest whose agent has removed files of the folder.
func removals(t *testing.T) *home {
	t.Helper()
	h := newHome(t, nil)
	h.repository()
	must(t, writeFolder(h.work, map[string]string{
		"deep/er/old.py": "old\n", "deep/stays.py": "stays\n",
		"quest.yaml": "name: less\nproblem: x\nrepo: .\nbase: worktree\nmodel: script:less.yaml\ncomputer: bubblewrap\n",
		"less.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: "rm keep.txt deep/er/old.py"}}]
  - on: {last: "back"}
    call: [{tool: exec, args: {command: "echo again > keep.txt"}}]
  - say: "Done."
`,
	}))
	git(t, h.work, "add", "deep")
	h.ok("run", "quest.yaml")
	return h
}

// TestWhatAnAgentRemovedIsRemoved if the client permits it.
func TestWhatAnAgentRemovedIsRemoved(t *testing.T) {
	need.Program(t, "bwrap")
	t.Parallel()
	for _, can := range []string{bareDesk, fullDesk} {
		t.Run(fmt.Sprint(len(can)), func(t *testing.T) {
			t.Parallel()
			h := removals(t)
			d := h.desk(can)
			d.load("less", h.work)
			d.choose = option("leave")
			d.says("less", "/deliver")
			if h.read("keep.txt") != "kept\n" || h.read("deep/er/old.py") != "old\n" {
				t.Fatal("files were removed without permission")
			}
			if got := d.notices(); !strings.Contains(got, "- keep.txt: you did not permit it") {
				t.Errorf("it says %q", got)
			}
			p := d.asked[0]
			if *p.ToolCall.Title != "Remove deep/er/old.py" || *p.ToolCall.Kind != acp.ToolKindDelete || p.Options[0].Name != "Remove it" || !strings.Contains(p.Options[1].Name, "remove all 2") {
				t.Errorf("the client was asked %q with %+v", *p.ToolCall.Title, p.Options)
			}
			d.choose = option("write")
			d.says("less", "/deliver")
			want := map[string]string{"keep.txt": "completed: kept\n -> ", "deep/er/old.py": "completed: old\n -> "}
			if diff := cmp.Diff(want, d.edits(h.work)); diff != "" {
				t.Errorf("the changes were not shown as they are (-want +got):\n%s", diff)
			}
			if out := git(t, h.work, "status", "--porcelain", "keep.txt", "deep"); !strings.Contains(out, "D keep.txt") || h.read("deep/er/old.py") != "none" || h.read("deep/stays.py") != "stays\n" {
				t.Errorf("git sees %q", out)
			}
			if _, err := os.Stat(filepath.Join(h.work, "deep/er")); err == nil {
				t.Error("an empty folder is left, as git leaves none")
			}
			// What the person puts there again is theirs, until the agent has it again, too.
			must(t, os.WriteFile(filepath.Join(h.work, "deep/stays.py"), []byte("mine\n"), 0o600))
			asked := len(d.asked)
			d.says("less", "/deliver")
			if len(d.asked) != asked {
				t.Error("the client was asked again for what is removed")
			}
			d.says("less", "Put it back.")
			got := h.read("keep.txt")
			if can == fullDesk {
				got = d.wrote[filepath.Join(h.work, "keep.txt")]
			}
			if got != "again\n" {
				t.Errorf("a file that came back is %q: %s", got, d.notices())
			}
		})
	}
}

// TestWhatHasChangedIsNotRemoved, be it in the editor or on the disk, before or while the
// person decides, nor what is behind a link.
func TestWhatHasChangedIsNotRemoved(t *testing.T) {
	need.Program(t, "bwrap")
	t.Parallel()
	for name, c := range map[string]struct {
		can    string
		change func(t *testing.T, h *home, d *desk)
		left   map[string]string
	}{
		"OnTheDisk": {bareDesk, func(t *testing.T, h *home, _ *desk) {
			must(t, writeFolder(h.work, map[string]string{"keep.txt": "mine\n", "deep/er/old.py": "mine\n"}))
		}, map[string]string{"keep.txt": "mine\n", "deep/er/old.py": "mine\n"}},
		"InTheEditor": {fullDesk, func(_ *testing.T, h *home, d *desk) {
			d.mu.Lock()
			defer d.mu.Unlock()
			for _, f := range []string{"keep.txt", "deep/er/old.py"} {
				d.buffers[filepath.Join(h.work, f)] = "not saved\n"
			}
		}, map[string]string{"keep.txt": "kept\n", "deep/er/old.py": "old\n"}},
		"OnTheDiskUnderAnOldBuffer": {fullDesk, func(t *testing.T, h *home, d *desk) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.buffers[filepath.Join(h.work, "keep.txt")], d.buffers[filepath.Join(h.work, "deep/er/old.py")] = "kept\n", "old\n"
			must(t, writeFolder(h.work, map[string]string{"keep.txt": "mine\n", "deep/er/old.py": "mine\n"}))
		}, map[string]string{"keep.txt": "mine\n", "deep/er/old.py": "mine\n"}},
		"BehindLinks": {bareDesk, func(t *testing.T, h *home, _ *desk) {
			must(t, os.MkdirAll(filepath.Join(h.work, "real"), 0o700))
			must(t, os.Rename(filepath.Join(h.work, "deep/er/old.py"), filepath.Join(h.work, "real/old.py")))
			must(t, os.Remove(filepath.Join(h.work, "deep/er")))
			must(t, os.Symlink("../real", filepath.Join(h.work, "deep/er")))
			must(t, os.Rename(filepath.Join(h.work, "keep.txt"), filepath.Join(h.work, "real/keep.txt")))
			must(t, os.Symlink("real/keep.txt", filepath.Join(h.work, "keep.txt")))
		}, map[string]string{"real/old.py": "old\n", "real/keep.txt": "kept\n", "keep.txt": "kept\n", "deep/er/old.py": "old\n"}},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/Late=%v", name, late), func(t *testing.T) {
				t.Parallel()
				h := removals(t)
				d := h.desk(c.can)
				d.load("less", h.work)
				once := sync.OnceFunc(func() { c.change(t, h, d) })
				if !late {
					once()
				}
				d.choose = func(acp.RequestPermissionRequest) string { once(); return "write-all" }
				d.says("less", "/deliver")
				got := d.notices()
				for _, file := range []string{"keep.txt", "deep/er/old.py"} {
					if !strings.Contains(got, "- "+file+": ") {
						t.Errorf("%s is not refused by name: %s", file, got)
					}
				}
				for file, want := range c.left {
					if h.read(file) != want {
						t.Errorf("%s holds %q, want %q", file, h.read(file), want)
					}
				}
			})
		}
	}
}

// TestFoldersThatAreNotTaken: the quest works without them, and says so.
func TestFoldersThatAreNotTaken(t *testing.T) {
	t.Parallel()
	plain := map[string]string{"plan.yaml": repairPlan, "main.py": "print(1)\n"}
	for name, c := range map[string]struct {
		make func(h *home)
		want string
	}{
		"NoRepository": {func(h *home) { must(t, writeFolder(h.work, plain)) }, "it is no git repository"},
		"NoCommit": {func(h *home) {
			must(t, writeFolder(h.work, plain))
			git(h.t, h.work, "init", "-q")
		}, "commit"},
		"Home": {func(h *home) { h.repository(); h.env = append(h.env, "HOME="+h.work) }, "your home folder"},
		"AboveHome": {func(h *home) {
			h.repository()
			must(h.t, os.MkdirAll(filepath.Join(h.work, "people/ada"), 0o700))
			h.env = append(h.env, "HOME="+filepath.Join(h.work, "people/ada"))
		}, "your home folder"},
		"OwnHome": {func(h *home) { h.repository(); h.dir = filepath.Join(h.work, "lyceum") }, "Lyceum's own home"},
	} {
		t.Run(name, func(t *testing.T) {
			need.Program(t, "git")
			t.Parallel()
			h := newHome(t, nil)
			c.make(h)
			d := h.desk(bareDesk, "--model", "script:plan.yaml")
			d.choose = option("write")
			id := d.begin(h.work)
			d.says(id, "Please mend it.")
			if got := d.notices(); !strings.Contains(got, c.want) || !strings.Contains(got, "works without") {
				t.Errorf("it says %q, want %q", got, c.want)
			}
			if len(d.asked) > 0 || h.read("lib/new.py") != "none" {
				t.Errorf("it was asked %+v", d.asked)
			}
			if trace := h.ok("trace", id, "--jsonl"); strings.Contains(trace, `"repo":`) || h.show(id).Status != "finished" {
				t.Errorf("the quest is %+v", h.show(id))
			}
			d.says(id, "/deliver")
			if got := d.notices(); !strings.Contains(got, "none of this folder's files") {
				t.Errorf("/deliver says %q", got)
			}
		})
	}
	t.Run("Listed", func(t *testing.T) {
		t.Parallel()
		h := newHome(t, plain)
		must(t, os.MkdirAll(h.dir, 0o700))
		must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("repos:\n  mine: "+h.work+"\n"), 0o600))
		d := h.desk(bareDesk, "--model", "script:plan.yaml")
		d.choose = option("write")
		id := d.begin(h.work)
		d.says(id, "Please mend it.")
		if h.read("main.py") != "print(2)\n" {
			t.Errorf("a folder that config.yaml lists has %q: %s", h.read("main.py"), d.notices())
		}
	})
}

// TestAKillBeforeAFileIsWritten leaves it as it was, and the next process asks again.
func TestAKillBeforeAFileIsWritten(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"Permission", "Write", "WriteDone"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			h.repository()
			d := h.desk(fullDesk, "--model", "script:plan.yaml")
			killed := make(chan struct{})
			kill := sync.OnceFunc(func() { d.kill(); close(killed) })
			main := filepath.Join(h.work, "main.py")
			d.choose = func(p acp.RequestPermissionRequest) string {
				if at == "Permission" {
					kill()
				}
				return "write-all"
			}
			d.writes = func(p acp.WriteTextFileRequest) error {
				if at == "WriteDone" && p.Path == main {
					must(t, os.WriteFile(main, []byte(p.Content), 0o600))
				}
				if p.Path == main {
					kill()
				}
				return nil
			}
			id := d.begin(h.work)
			go func() {
				_ = d.conn.Call(context.Background(), "session/prompt", map[string]any{"sessionId": id, "prompt": []any{acp.TextBlock("Please mend it.")}}, nil)
			}()
			<-killed
			want := "print(1) # mine\n"
			if at == "WriteDone" {
				want = "print(2)\n"
			}
			if got := h.read("main.py"); got != want {
				t.Errorf("after the kill the file has %q", got)
			}
			again := h.desk(bareDesk, "--model", "script:plan.yaml")
			again.choose = option("write")
			again.load(id, h.work)
			again.says(id, "And now?")
			if h.read("main.py") != "print(2)\n" {
				t.Errorf("in the next process the file has %q: %s", h.read("main.py"), again.notices())
			}
			if strays, _ := filepath.Glob(filepath.Join(h.work, ".lyceum-*")); len(strays) > 0 {
				t.Errorf("there are strays: %v", strays)
			}
		})
	}
}

// TestCommands are Lyceum's own: no agent hears of them.
func TestCommands(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		h.repository()
		d := h.desk(bareDesk, "--model", "script:plan.yaml")
		id := d.begin(h.work)
		if d.says(id, "/verify"); !strings.Contains(d.notices(), "no quest yet") {
			t.Error("a command before there is a quest")
		}
		d.says(id, "/etc/passwd is what?") // no command
		calls := h.count(id, "model.call")
		if calls != 1 {
			t.Errorf("there were %d calls of a model, want one", calls)
		}
		d.notices()
		for command, want := range map[string]string{
			"/verify": "not signed: whoever has the ledger could have written all of it", "/evidence": "not a contract net", "/deliver": "Nothing is different", "/deliver nobody": "no agent",
			"/fork Try something else.": "session " + id + "-fork-1 goes on",
		} {
			if stop := d.says(id, command); stop != acp.StopReasonEndTurn {
				t.Errorf("%s ends with %s", command, stop)
			}
			if got := d.notices(); !strings.Contains(got, want) {
				t.Errorf("%s says %q, want %q", command, got, want)
			}
		}
		if n := h.count(id, "model.call"); n != calls {
			t.Errorf("commands made %d calls of a model", n-calls)
		}
		d.load(id+"-fork-1", h.work)
		d.choose = option("write")
		d.says(id+"-fork-1", "Please mend it.")
		if h.read("main.py") != "print(2)\n" {
			t.Errorf("a fork wrote %q: %s", h.read("main.py"), d.notices())
		}
		again := h.desk(bareDesk)
		again.load(id, h.work)
		again.says(id, "/verify")
		told := func() (names []string) { // beside the answer, and maybe after the next one
			again.mu.Lock()
			defer again.mu.Unlock()
			for _, n := range again.updates {
				if c := n.Update.AvailableCommandsUpdate; c != nil {
					names = nil
					for _, a := range c.AvailableCommands {
						names = append(names, a.Name)
					}
				}
			}
			return names
		}
		names := told()
		for deadline := time.Now().Add(patience); names == nil; names = told() {
			if time.Now().After(deadline) {
				t.Fatal("a session that is loaded has no commands")
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(names) < 5 || !slices.Equal(names[:4], []string{"verify", "evidence", "fork", "deliver"}) || !slices.Contains(names[4:], "status") {
			t.Errorf("the commands are %v, want those of a folder and of a conversation", names)
		}
	})
}

// TestQuestionsAreForms where the client has them.
func TestQuestionsAreForms(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"answer":"blue"}}`:  "person answers: blue",
		`{"action":"accept","content":{"answer":"green"}}`: "",
		`{"action":"accept","content":{"answer":7}}`:       "",
		`{"action":"decline"}`:                             "",
		`{"action":"cancel"}`:                              "",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"plan.yaml": talkPlan})
			d := h.desk(formsDesk, "--model", "script:plan.yaml")
			d.fill = func(map[string]any) any { return json.RawMessage(answer) }
			id := d.begin(h.work)
			if stop := d.says(id, "Which colour is it?"); stop != acp.StopReasonEndTurn {
				t.Errorf("the prompt ended with %s", stop)
			}
			if len(d.forms) != 1 || len(d.asked) != 0 {
				t.Fatalf("the client was asked %v, and %v", d.forms, d.asked)
			}
			f := d.forms[0]
			schema, _ := json.Marshal(f["requestedSchema"])
			if f["mode"] != "form" || f["sessionId"] != id || f["message"] != "Which colour?" || !strings.Contains(string(schema), `"enum":["red","blue"]`) {
				t.Errorf("the form is %v", f)
			}
			answered := h.count(id, "interaction.answered")
			if (want != "") != (answered == 1) {
				t.Errorf("the question has %d answers", answered)
			}
		})
	}
}

// TestServersOfTheClient become the quest's, unless they bring secrets.
func TestServersOfTheClient(t *testing.T) {
	t.Parallel()
	const secret = "canary-4711"
	h := newHome(t, nil)
	h.repository()
	h.env = append(h.env, "TMPDIR="+t.TempDir())
	d := h.desk(bareDesk, "--model", "script:plan.yaml")
	id := d.begin(h.work,
		map[string]any{"type": "http", "name": "My Tickets", "url": "https://mcp.example.com/mcp", "headers": []any{}},
		map[string]any{"type": "http", "name": "keyed", "url": "https://mcp.example.com/mcp", "headers": []any{map[string]any{"name": "Authorization", "value": secret}}},
		map[string]any{"type": "http", "name": "query", "url": "https://mcp.example.com/mcp?key=" + secret, "headers": []any{}},
		map[string]any{"type": "http", "name": "wrong", "url": "ftp://" + secret, "headers": []any{}},
		map[string]any{"type": "sse", "name": "old", "url": "https://mcp.example.com/sse", "headers": []any{}},
		map[string]any{"name": "env", "command": "/bin/server", "args": []any{}, "env": []any{map[string]any{"name": "TOKEN", "value": secret}}},
		map[string]any{"name": "files", "command": "/bin/mcp files", "args": []any{"it's", "-v"}, "env": []any{}},
	)
	d.says(id, "Hello?")
	got := d.notices()
	for _, name := range []string{"keyed", "query", "wrong", "old", "env"} {
		if !strings.Contains(got, "The MCP server "+name+" is left out: ") {
			t.Errorf("it does not say that %s is left out: %s", name, got)
		}
	}
	made := h.made(id)
	var names []string
	pins, _ := made["servers"].([]any)
	for _, p := range pins {
		names = append(names, p.(map[string]any)["name"].(string))
	}
	want := []string{"files", "my-tickets"}
	if strings.Contains(got, "are left out") { // there is no computer here
		want = want[1:]
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the quest has other servers (-want +got):\n%s\n%s", diff, got)
	}
	h.ok("verify", id)
	canary.Nowhere(t, h.dir, secret)
	if strings.Contains(d.err.String(), secret) {
		t.Errorf("a secret of the client was printed: %s", d.err.String())
	}
}

// TestAnotherFolder than the one that a quest works on is not written to.
func TestAnotherFolder(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	h.repository()
	d := h.desk(bareDesk, "--model", "script:plan.yaml")
	id := d.begin(h.work)
	d.says(id, "Please mend it.")
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "main.py"), []byte("print(1) # mine\n"), 0o600))
	d.choose = option("write-all")
	d.load(id, other)
	d.asked = nil
	d.notices()
	d.says(id, "/deliver")
	data, err := os.ReadFile(filepath.Join(other, "main.py"))
	if got := d.notices(); err != nil || string(data) != "print(1) # mine\n" || len(d.asked) > 0 || !strings.Contains(got, "another folder") {
		t.Errorf("the other folder has %q (%v), asked %d times: %s", data, err, len(d.asked), got)
	}
	// The files are where they were, also for a link to the folder.
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(h.work, link))
	d.load(id, link)
	d.says(id, "/deliver")
	if h.read("main.py") != "print(2)\n" {
		t.Errorf("through a link to the folder it is %q: %s", h.read("main.py"), d.notices())
	}
}

// TestACancelWhileAFileIsAskedAbout ends the turn: nothing is written, and the next turn asks again.
// So does one while the editor says nothing about what it holds.
func TestACancelWhileAFileIsAskedAbout(t *testing.T) {
	t.Parallel()
	talks(t, func(t *testing.T, h *home) {
		h.repository()
		d := h.desk(bareDesk, "--model", "script:plan.yaml")
		reached, free := make(chan struct{}), make(chan struct{})
		t.Cleanup(sync.OnceFunc(func() { close(free) }))
		d.choose = func(acp.RequestPermissionRequest) string { close(reached); <-free; return "write-all" }
		id := d.begin(h.work)
		stops := make(chan acp.StopReason, 1)
		go func() { stops <- d.says(id, "Please mend it.") }()
		<-reached
		must(t, d.conn.Notify("session/cancel", map[string]any{"sessionId": id}))
		if stop := <-stops; stop != acp.StopReasonCancelled {
			t.Errorf("a prompt that is cancelled while it asks ends with %s", stop)
		}
		if h.read("main.py") != "print(1) # mine\n" {
			t.Errorf("after a cancel the file has %q", h.read("main.py"))
		}
		d.mu.Lock()
		d.choose = option("write-all")
		d.mu.Unlock()
		d.says(id, "And now?")
		if h.read("main.py") != "print(2)\n" {
			t.Errorf("after the next prompt the file has %q: %s", h.read("main.py"), d.notices())
		}
	})
}

// TestAPolicyAsksByAForm, and only a yes is one.
func TestAPolicyAsksByAForm(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"answer":"yes"}}`:     "yes",
		`{"action":"accept","content":{"answer":"perhaps"}}`: "no",
		`{"action":"decline","content":{"answer":"yes"}}`:    "no",
		`{}`: "no",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"quest.yaml": writeQuest, "write.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: a.txt, content: hello}}]
  - say: "Done."
`})
			h.ok("create", "quest.yaml")
			d := h.desk(formsDesk)
			d.fill = func(map[string]any) any { return json.RawMessage(answer) }
			d.load("write", h.work)
			d.says("write", "Go.")
			if len(d.forms) != 1 || d.forms[0]["toolCallId"] == nil {
				t.Errorf("the client was asked %v", d.forms)
			}
			if trace := h.ok("trace", "write", "--jsonl"); !strings.Contains(trace, `"choice":"`+want+`"`) {
				t.Errorf("the answer is not %s:\n%s", want, trace)
			}
		})
	}
}
