package executortest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/acp/wire"
	"lyceum/internal/computer"
)

// AgentRole is the first argument with which a test binary is the scripted agent.
const AgentRole = "lyceum-scripted-agent"

// Heard is the file in the home in which the scripted agent keeps every line that it was told,
// after a line "began" for each of its processes.
const Heard = "heard"

// Agent is the scripted agent. What it does when it is started its arguments say, what it does in
// a prompt the text of it: a step a line, a word and what it is about.
//
//	say T, think T      what it says, and what to itself
//	call ID TITLE       a call begins; begun ID TITLE says so without a status
//	done ID OUTPUT      a call is over
//	permit ID TITLE     asks, with a call that may not have begun, and says what was answered
//	form T              asks T by a form of three fields, and says what was answered
//	plan A,B            a plan of these steps
//	see                 says what pictures came with the prompt
//	read P, write P T   files through the client, and says what came
//	run COMMAND         a terminal, to its end; hold COMMAND: one that it does not wait for
//	edit P T, do C      a file written, a command run, as agents do it: a call that is asked for, and
//	                    done if that is allowed
//	wait FILE           until there is that file in the home
//	touch FILE          makes it
//	flood N             N updates; long N: a line of N bytes; endless: updates for ever
//	raw LINE            a line as it is; complain T: on the standard error
//	ask METHOD          a request that the client may not know, and says what came
//	die CODE, hang      what it says; deaf: it hears no cancel
//	stop REASON         the turn ends, otherwise with end_turn; fail T: with an error
func Agent(args []string) int {
	if os.Getenv("HOME") == "" || os.Chdir(computer.HomeDir) != nil {
		return 2
	}
	log, err := os.OpenFile(Heard, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 2
	}
	a := &scripted{log: log, waiting: map[string]chan wire.Message{}, cancelled: make(chan struct{}), how: map[string]bool{}}
	for _, word := range args {
		a.how[word] = true
	}
	a.write([]byte("began\n"), log)
	if a.how["complain"] {
		fmt.Fprintln(os.Stderr, "there is no model to be found")
	}
	if a.how["dies"] {
		return 7
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		a.write(line, log)
		a.hear(wire.Parse(bytes.TrimSpace(line)))
	}
	if a.how["deaf"] {
		select {} // it does not care that nobody speaks with it
	}
	return 0
}

type scripted struct {
	log *os.File
	how map[string]bool

	mu        sync.Mutex
	next      int
	waiting   map[string]chan wire.Message
	cancelled chan struct{}
	prompting bool
	seen      string // what pictures came with the prompt
	calls     int    // how often it has acted
	deaf      bool
	holds     bool   // what is written is kept
	held      []byte // that
}

func (a *scripted) write(b []byte, to io.Writer) { _, _ = to.Write(b) }

func (a *scripted) send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	a.line(b)
}

func (a *scripted) line(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holds {
		a.held = append(append(a.held, b...), '\n')
		return
	}
	a.write(append(b, '\n'), os.Stdout)
}

// hold keeps what is written until it is let go, at once: whoever reads it has all of it before
// anything can be said to a part.
func (a *scripted) hold(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holds = on; !on {
		a.write(a.held, os.Stdout)
		a.held = nil
	}
}

func (a *scripted) answer(id json.RawMessage, result any) {
	a.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (a *scripted) refuse(id json.RawMessage, code int, text string) {
	a.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": wire.Error{Code: code, Message: text}})
}

// session is the one that every process knows, from a file.
const session = "session-file"

func (a *scripted) update(u map[string]any) {
	a.send(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": a.session(), "update": u}})
}

func (a *scripted) session() string {
	b, _ := os.ReadFile(session)
	return string(b)
}

func (a *scripted) hear(m wire.Message) {
	switch m.Method {
	case "":
		a.mu.Lock()
		w := a.waiting[string(m.ID)]
		a.mu.Unlock()
		if w != nil {
			w <- m
		}
	case "initialize":
		a.greeted(m)
	case "authenticate":
		if !strings.Contains(string(m.Params), "scripted-key") {
			a.refuse(m.ID, wire.InvalidParams, "no such method")
			return
		}
		a.answer(m.ID, map[string]any{})
	case "session/new":
		if a.how["early"] {
			a.update(map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": []string{}})
			a.update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": "too early"}})
		}
		if a.how["closed"] {
			a.refuse(m.ID, wire.AuthRequired, "sign in")
			return
		}
		_ = os.WriteFile(session, []byte("s-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(time.Now().UnixNano(), 36)), 0o600)
		a.answer(m.ID, map[string]any{"sessionId": a.session(), "modes": a.modes(), "configOptions": []any{map[string]any{"id": "x", "type": "novel"}}})
	case "session/load", "session/resume":
		if !strings.Contains(string(m.Params), strconv.Quote(a.session())) || a.how["forgets"] {
			a.refuse(m.ID, wire.NotFound, "no such session")
			return
		}
		a.update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": "said long ago"}})
		a.answer(m.ID, nil)
	case "session/set_mode":
		a.answer(m.ID, map[string]any{})
	case "session/cancel":
		a.mu.Lock()
		if !a.deaf {
			select {
			case <-a.cancelled:
			default:
				close(a.cancelled)
			}
		}
		a.mu.Unlock()
	case "session/prompt":
		a.mu.Lock()
		twice := a.prompting
		a.prompting = true
		if !twice {
			a.cancelled = make(chan struct{})
		}
		a.mu.Unlock()
		if twice {
			a.refuse(m.ID, wire.InvalidRequest, "one prompt at a time")
			return
		}
		go a.prompt(m)
	default:
		if m.ID != nil {
			a.refuse(m.ID, wire.NoMethod, "no such method")
		}
	}
}

func (a *scripted) modes() any {
	if a.how["modeless"] {
		return nil
	}
	return map[string]any{"currentModeId": "free", "availableModes": []any{map[string]string{"id": "free", "name": "Free"}, map[string]string{"id": "asks", "name": "Asks"}}}
}

func (a *scripted) greeted(m wire.Message) {
	version := 1
	switch {
	case a.how["silent"]:
		return
	case a.how["nojson"]:
		for range 200 {
			a.line([]byte("Welcome! This is no JSON."))
		}
		return
	case a.how["long"]:
		a.long(11 << 20)
		return
	case a.how["endless-line"]:
		for {
			a.write(bytes.Repeat([]byte{'x'}, 1<<16), os.Stdout)
		}
	case a.how["dies-asked"]:
		os.Exit(8)
	case a.how["later"]:
		version = 2
	case a.how["chatty"]:
		a.line([]byte("Welcome! This is no JSON."))
		a.send(map[string]any{"jsonrpc": "2.0", "method": "_auth/status_update", "params": map[string]any{}})
		a.answer(json.RawMessage(`"nobody"`), map[string]any{})
	}
	load := !a.how["resumes"]
	sessions := map[string]any{}
	if a.how["resumes"] {
		sessions["resume"] = map[string]any{}
	}
	a.answer(m.ID, map[string]any{
		"protocolVersion": version, "agentInfo": map[string]string{"name": "scripted", "version": "1.2.3"}, "authMethods": []any{map[string]string{"id": "scripted-key"}},
		"agentCapabilities": map[string]any{"loadSession": load, "sessionCapabilities": sessions, "mcpCapabilities": map[string]bool{"http": true}, "promptCapabilities": map[string]bool{"image": a.how["sees"]}},
	})
	if a.how["dies-ready"] {
		os.Exit(9)
	}
}

func (a *scripted) long(n int) {
	a.line([]byte(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("x", n) + `"}`))
}

// call asks the client, and waits for its answer or the end of the prompt.
func (a *scripted) call(method string, params map[string]any) wire.Message {
	a.mu.Lock()
	a.next++
	id := strconv.Itoa(a.next)
	w := make(chan wire.Message, 1)
	a.waiting[id] = w
	a.mu.Unlock()
	params["sessionId"] = a.session()
	a.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	return <-w
}

func (a *scripted) say(text string) {
	a.update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": text}})
}

// came says what a request came to.
func (a *scripted) came(m wire.Message) string {
	if m.Err != nil {
		return fmt.Sprintf("%d %s", m.Err.Code, m.Err.Message)
	}
	return string(m.Result)
}

var errStopped = errors.New("stopped")

// act is a whole call, from its beginning to its end.
func (a *scripted) act(word, rest string) error {
	a.mu.Lock()
	a.calls++
	call := fmt.Sprintf("c%d-%d", os.Getpid(), a.calls)
	a.mu.Unlock()
	a.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": call, "title": rest})
	got := a.call("session/request_permission", map[string]any{
		"toolCall": map[string]any{"toolCallId": call, "title": rest, "kind": map[string]string{"edit": "edit", "do": "execute"}[word]},
		"options":  []any{map[string]string{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, map[string]string{"optionId": "no", "name": "No", "kind": "reject_once"}},
	})
	status, came := "failed", "it was not allowed"
	if strings.Contains(string(got.Result), `"yes"`) {
		path, text, _ := strings.Cut(rest, " ")
		switch word {
		case "edit":
			got = a.call("fs/write_text_file", map[string]any{"path": path, "content": text})
		case "do":
			if got = a.call("terminal/create", map[string]any{"command": rest}); got.Err == nil {
				got = a.await(got.Result)
			}
		}
		if came = a.came(got); got.Err == nil {
			status = "completed"
		}
	}
	if a.isCancelled() {
		return errStopped
	}
	a.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": []any{map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": came}}}})
	return nil
}

// prompt does what a prompt says.
func (a *scripted) prompt(m wire.Message) {
	var p struct {
		Prompt []struct {
			Text, MimeType string
			Data           []byte
		}
	}
	_ = json.Unmarshal(m.Params, &p)
	a.seen = ""
	for _, block := range p.Prompt {
		if block.MimeType != "" {
			a.seen += fmt.Sprintf("%s of %d bytes;", block.MimeType, len(block.Data))
		}
	}
	stop, fail := "end_turn", ""
	for _, block := range p.Prompt {
		for line := range strings.Lines(block.Text) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "stop":
				stop = rest
			case "fail":
				fail = rest
			default:
				if err := a.step(word, rest); err != nil {
					stop = "cancelled"
				}
			}
			if a.isCancelled() {
				stop = "cancelled"
				break
			}
		}
	}
	a.mu.Lock()
	a.prompting = false
	a.mu.Unlock()
	if a.how["late"] {
		a.hold(true)
	}
	if fail != "" && stop != "cancelled" {
		a.refuse(m.ID, wire.Internal, fail)
	} else {
		a.answer(m.ID, map[string]string{"stopReason": stop})
	}
	if a.how["twice"] {
		a.answer(m.ID, map[string]string{"stopReason": "refusal"})
	}
	if a.how["late"] {
		a.say("too late")
		a.hold(false)
	}
	if a.how["dies-after"] {
		os.Exit(10)
	}
}

// await waits for a command's end, which a cancel brings about.
func (a *scripted) await(created []byte) wire.Message {
	var t struct{ TerminalID string }
	_ = json.Unmarshal(created, &t)
	of := func(what string) wire.Message {
		return a.call("terminal/"+what, map[string]any{"terminalId": t.TerminalID})
	}
	ended := make(chan wire.Message, 1)
	go func() { ended <- of("wait_for_exit") }()
	var end wire.Message
	select {
	case end = <-ended:
	case <-a.cancels():
		of("kill")
		end = <-ended
	}
	of("release")
	return end
}

// cancels is closed when the prompt of now is cancelled.
func (a *scripted) cancels() chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cancelled
}

func (a *scripted) isCancelled() bool {
	select {
	case <-a.cancels():
		return true
	default:
		return false
	}
}

// step does one. It is long because it is a table.
func (a *scripted) step(word, rest string) error {
	id, title, _ := strings.Cut(rest, " ")
	inside := func(name string) string { return filepath.Join(computer.HomeDir, name) }
	switch word {
	case "say":
		a.say(rest)
	case "think":
		a.update(map[string]any{"sessionUpdate": "agent_thought_chunk", "content": map[string]string{"type": "text", "text": rest}})
	case "call":
		a.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute", "status": "in_progress", "rawInput": map[string]string{"command": title}})
	case "begun":
		a.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": title})
	case "done":
		a.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": []any{map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": title}}}})
	case "permit", "permit-late":
		if word == "permit-late" {
			<-a.cancelled
		}
		got := a.call("session/request_permission", map[string]any{
			"toolCall": map[string]any{"toolCallId": id, "title": title, "kind": "edit", "locations": []any{map[string]string{"path": inside("notes.txt")}}},
			"options": []any{map[string]string{"optionId": "always", "name": "Always", "kind": "allow_always"}, map[string]string{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
				map[string]string{"optionId": "no", "name": "No", "kind": "reject_once"}},
		})
		a.say(a.came(got))
	case "form", "visit":
		got := a.call("elicitation/create", map[string]any{"mode": map[string]string{"form": "form", "visit": "url"}[word], "message": rest, "requestedSchema": map[string]any{
			"type": "object", "required": []string{"name"}, "properties": map[string]any{
				"name": map[string]any{"type": "string", "enum": []string{"one", "two"}}, "count": map[string]any{"type": "integer"}, "tags": map[string]any{"type": "array"},
			},
		}})
		a.say(a.came(got))
	case "see":
		a.say(a.seen)
	case "plan":
		var entries []any
		for s := range strings.SplitSeq(rest, ",") {
			entries = append(entries, map[string]string{"content": s, "priority": "high", "status": "pending"})
		}
		a.update(map[string]any{"sessionUpdate": "plan", "entries": entries})
	case "read":
		a.say(a.came(a.call("fs/read_text_file", map[string]any{"path": rest})))
	case "write":
		a.say(a.came(a.call("fs/write_text_file", map[string]any{"path": id, "content": title})))
	case "run", "hold":
		got := a.call("terminal/create", map[string]any{"command": rest, "outputByteLimit": 100})
		var t struct{ TerminalID string }
		if json.Unmarshal(got.Result, &t) != nil || t.TerminalID == "" {
			a.say(a.came(got))
			return nil
		}
		if word == "hold" {
			return nil
		}
		exit := a.call("terminal/wait_for_exit", map[string]any{"terminalId": t.TerminalID})
		out := a.call("terminal/output", map[string]any{"terminalId": t.TerminalID})
		a.call("terminal/release", map[string]any{"terminalId": t.TerminalID})
		if strings.HasSuffix(rest, "# pause") {
			_ = a.step("touch", "working")
			_ = a.step("wait", "go")
		}
		gone := a.call("terminal/output", map[string]any{"terminalId": t.TerminalID})
		last, _, _ := strings.Cut(a.came(gone), " exec-") // its name is another each time
		a.say(a.came(exit) + a.came(out) + last)
	case "edit", "do":
		return a.act(word, rest)
	case "wait":
		for !a.isCancelled() {
			if _, err := os.Stat(rest); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
		return errStopped
	case "touch":
		return os.WriteFile(rest, nil, 0o600)
	case "flood":
		n, _ := strconv.Atoi(rest)
		for i := range n {
			a.say(strconv.Itoa(i) + " ")
		}
	case "endless":
		for {
			a.say(strings.Repeat("again ", 20_000))
		}
	case "calls":
		for i := 0; ; i++ {
			a.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": strconv.Itoa(i)})
		}
	case "long":
		n, _ := strconv.Atoi(rest)
		a.long(n)
	case "raw":
		a.line([]byte(rest))
	case "complain":
		fmt.Fprintln(os.Stderr, rest)
	case "ask":
		a.say(a.came(a.call(rest, map[string]any{})))
	case "die":
		n, _ := strconv.Atoi(rest)
		os.Exit(n)
	case "deaf":
		a.mu.Lock()
		a.deaf = true
		a.mu.Unlock()
	case "hang":
		select {}
	}
	return nil
}
