package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// process has an agent in a process of its own work for the client, and returns its end by
// kill -9.
func (s *scene) process(dir string) (kill func()) {
	s.t.Helper()
	cmd := exec.Command(os.Args[0], roleAgent)
	cmd.Env = append(os.Environ(), VariableGateway+"="+s.brain.URL, VariableToken+"=token-of-the-task", VariableModel+"=best", VariableDir+"="+dir)
	in, err := cmd.StdinPipe()
	must(s.t, err)
	out, err := cmd.StdoutPipe()
	must(s.t, err)
	must(s.t, cmd.Start())
	s.attach(out, in, func() { _ = in.Close() })
	conn := s.conn
	kill = func() {
		_ = cmd.Process.Kill()
		<-conn.Done()
		_ = cmd.Wait()
	}
	s.t.Cleanup(kill)
	return kill
}

// next is a client that has taken the place of one that was there before, with its files.
func (s *scene) next(answers ...answer) *scene {
	s.t.Helper()
	n := newScene(s.t, answers...)
	n.cwd, n.files = s.cwd, s.files
	return n
}

func TestASessionOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"session/load", "session/resume"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := newScene(t, use("write_file", `{"path":"a.txt","content":"x"}`),
				reply(model.StopTools, model.Part{Kind: event.PartText, Text: "Now I run it."}, called("1", "run_command", `{"command":"long"}`), called("2", "list_files", `{}`)))
			runs := make(chan struct{})
			s.run = func(ctx context.Context, _ string) (string, int) { close(runs); <-ctx.Done(); return "", 137 }
			kill := s.process(dir)
			id := s.open()
			s.mode(id, ModeAuto)
			over := make(chan error, 1)
			go func() { _, err := s.ask(id, "do it"); over <- err }()
			<-runs
			kill()
			if err := <-over; err == nil {
				t.Fatal("a prompt of a process that was killed has an answer")
			}
			n := s.next(say("I will look."))
			n.process(dir)
			must(t, n.again(method, id))
			replayed := ""
			if method == "session/load" {
				replayed = "do it"
			}
			if got := n.said("user_message_chunk"); got != replayed {
				t.Errorf("the client was told of the words %q, want %q", got, replayed)
			}
			if method == "session/load" {
				if got := n.said("agent_message_chunk"); got != "Now I run it." {
					t.Errorf("the client was told of the answer %q", got)
				}
				var calls []string
				for _, u := range n.told("tool_call") {
					calls = append(calls, fmt.Sprint(u["title"], " ", u["status"]))
				}
				if got := strings.Join(calls, ", "); got != "Write a.txt completed, long failed, List . failed" {
					t.Errorf("the client was told of the calls %q", got)
				}
			}
			n.wants(id, "go on", "end_turn")
			r := n.brain.results(t)
			if len(r) != 3 || r[0].Error || r[1].Text != unknownOutcome || r[2].Text != unknownOutcome {
				t.Errorf("the model was told %+v", r)
			}
			if n.did("session/request_permission") != 0 || n.did("terminal/create") != 0 {
				t.Error("the new process did something again")
			}
			first := n.brain.asked()[0].Messages[0].Parts[0].Text
			if first != "do it" {
				t.Errorf("the conversation begins with %q", first)
			}
		})
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	t.Run("ModesStay", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := newScene(t, say("hi"))
		s.start(Options{Dir: dir})
		id := s.open()
		s.mode(id, ModeAuto)
		must(t, s.conn.Call(t.Context(), "session/close", map[string]any{"sessionId": id}, nil))
		if _, err := s.ask(id, "x"); err == nil {
			t.Error("a session that is closed takes a prompt")
		}
		must(t, s.again("session/resume", id))
		n := s.next(use("run_command", `{"command":"x"}`), say("done"))
		must(t, s.conn.Call(t.Context(), "session/close", map[string]any{"sessionId": id}, nil))
		n.start(Options{Dir: dir})
		must(t, n.again("session/resume", id))
		n.wants(id, "go", "end_turn")
		if n.did("session/request_permission") != 0 {
			t.Error("the mode of the session was forgotten")
		}
	})
	t.Run("HalfALineIsNone", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := newScene(t, say("hi"))
		s.start(Options{Dir: dir})
		id := s.open()
		s.wants(id, "one", "end_turn")
		must(t, s.conn.Call(t.Context(), "session/close", map[string]any{"sessionId": id}, nil))
		f, err := os.OpenFile(fileOf(dir, id), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString(`{"kind":"answer","parts":[{"kind":"text","te`)
		must(t, errors.Join(err, f.Close()))
		for _, words := range []string{"two", "three"} { // what is written after it must be read, too
			must(t, s.again("session/load", id))
			s.wants(id, words, "end_turn")
			must(t, s.conn.Call(t.Context(), "session/close", map[string]any{"sessionId": id}, nil))
		}
		asked := s.brain.asked()
		data, err := json.Marshal(asked[len(asked)-1].Messages)
		must(t, err)
		for _, want := range []string{"one", "two", "three"} {
			if !strings.Contains(string(data), want) {
				t.Errorf("the model was not told %q: %s", want, data)
			}
		}
	})
	t.Run("AreOfOneProcess", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := newScene(t, say("hi"))
		s.process(dir)
		id := s.open()
		_, _, err := reopen(t.Context(), dir, id)
		if err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("a session that is open elsewhere is opened with %v", err)
		}
	})
	t.Run("ThatAreNotThereAreNotFound", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "secret.jsonl"), []byte(`{"kind":"session","cwd":"/"}`+"\n"), 0o600))
		s := newScene(t, say("hi"))
		s.start(Options{Dir: dir})
		for _, id := range []string{"AAAAAAAAAAAAAAAAAAAAAAAAAA", "../secret", "", strings.Repeat("A", 10000), "a\x00b"} {
			err := s.again("session/load", id)
			if e, ok := errors.AsType[*acp.Error](err); !ok || e.Code != acp.NotFound || len(e.Message) > 200 {
				t.Errorf("the session %.30q is opened with %v", id, err)
			}
		}
	})
	t.Run("AreAboutOneFolder", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("hi"))
		s.start(Options{})
		id := s.open()
		s.cwd = t.TempDir()
		if err := s.again("session/load", id); err == nil {
			t.Error("a session was opened for another folder")
		}
		s.cwd = "relative"
		if err := s.again("session/load", id); err == nil {
			t.Error("a session was opened for a folder that is relative")
		}
	})
	t.Run("BeginWithAGreeting", func(t *testing.T) {
		t.Parallel()
		a := New(t.Context(), Options{Dir: t.TempDir()})
		for _, method := range []string{"session/new", "session/prompt", "made/up"} {
			_, err := a.Request(method, nil)
			if e, ok := errors.AsType[*acp.Error](err); !ok || e.Code != acp.InvalidRequest {
				t.Errorf("%s before initialize gets %v", method, err)
			}
		}
		if _, err := a.Request("initialize", []byte(`{"protocolVersion":99,"info":{}}`)); err != nil {
			t.Errorf("a client of another version is answered %v", err)
		}
		_, err := a.Request("made/up", nil)
		if e, ok := errors.AsType[*acp.Error](err); !ok || e.Code != acp.NoMethod {
			t.Errorf("a method that is none gets %v", err)
		}
	})
	t.Run("AreNotEndless", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("hi"))
		s.start(Options{})
		for range maxSessions {
			s.open()
		}
		if err := s.conn.Call(t.Context(), "session/new", map[string]any{"cwd": s.cwd, "mcpServers": []any{}}, nil); err == nil {
			t.Errorf("there are more than %d sessions", maxSessions)
		}
	})
}

// What is durable when something is done tells the order: the file is looked at by the model
// and by the client, in the middle of a prompt.
func TestEverythingIsDurableBeforeItIsActedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var id string
	has := func(words ...string) {
		t.Helper()
		data, err := os.ReadFile(fileOf(dir, id))
		must(t, err)
		for _, w := range words {
			if !strings.Contains(string(data), w) {
				t.Errorf("the session does not have %s yet: %s", w, data)
			}
		}
	}
	s := newScene(t,
		func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
			has(`"text":"the prompt"`)
			return use("run_command", `{"command":"act"}`)(nil)
		},
		func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
			has(`"kind":"result"`, "it acted")
			return say("done")(nil)
		})
	s.run = func(context.Context, string) (string, int) {
		has(`"name":"run_command"`)
		return "it acted", 0
	}
	s.start(Options{Dir: dir})
	id = s.open()
	s.wants(id, "the prompt", "end_turn")
	has(`"text":"done"`)
}

func TestFromEnvironment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set   map[string]string
		wrong string
		dir   string
	}{
		"Nothing":     {map[string]string{}, VariableGateway, ""},
		"NoHome":      {map[string]string{VariableGateway: "http://x"}, "HOME", ""},
		"AHome":       {map[string]string{VariableGateway: "http://x", "HOME": "/home/agent"}, "", "/home/agent/.lyceum-executor"},
		"ADir":        {map[string]string{VariableGateway: "http://x", "HOME": "/home/agent", VariableDir: "/d"}, "", "/d"},
		"AWire":       {map[string]string{VariableGateway: "http://x", VariableDir: "/d", VariableWire: "smoke"}, VariableWire, ""},
		"NoNumber":    {map[string]string{VariableGateway: "http://x", VariableDir: "/d", VariableRequests: "many"}, VariableRequests, ""},
		"ASmallBound": {map[string]string{VariableGateway: "http://x", VariableDir: "/d", VariableContext: "0"}, VariableContext, ""},
	} {
		o, err := FromEnvironment(func(name string) string { return c.set[name] })
		switch {
		case c.wrong == "" && (err != nil || o.Dir != c.dir):
			t.Errorf("%s: got %+v and %v", name, o, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: got %v, want an error about %s", name, err, c.wrong)
		}
	}
}
