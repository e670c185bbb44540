package executortest

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/executor"

	"github.com/google/go-cmp/cmp"
)

func (l *lab) turns(t *testing.T) {
	t.Parallel()
	t.Run("IsSaidAndAnswered", l.simple)
	t.Run("ReportsInOrder", l.reports)
	t.Run("AsksToBeAllowed", l.permissions)
	t.Run("AsksByForms", l.questions)
	t.Run("HasFiles", l.files)
	t.Run("KeepsToTheBoundsOfItsComputer", l.bounds)
	t.Run("HasTerminals", l.terminals)
	t.Run("IsCancelled", l.cancels)
	t.Run("IsRefusedWhileAnotherIsOpen", l.twoAtOnce)
	t.Run("GoesOnInTheSameSession", l.sessions)
	t.Run("TakesWhatAgentsReallyDo", l.oddities)
	t.Run("IsInAMode", l.modes)
	t.Run("IsShownPictures", l.pictures)
}

func (l *lab) simple(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.set = func(a *executor.Agent) {
		a.Settings.Authenticate = "scripted-key"
		a.Settings.Files = map[string]string{"deep/config": "hello"}
		a.Settings.Variables = map[string]string{"SCRIPTED": "yes"}
		a.Servers = []executor.Server{{Name: "tools", URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"Authorization": "Bearer t"}}, {Name: "bridge", Command: []string{"lyceum", "bridge"}}}
	}
	s.leave()
	s.open()
	info, err := s.e.Ready(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	want := executor.Info{Name: "scripted", Version: "1.2.3", Protocol: 1, Capabilities: []string{"load", "mcp.http"}}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("what it is (-want +got):\n%s", diff)
	}
	opened, err := s.e.Open(soon(t), "")
	if err != nil || opened.How != event.SessionNew || opened.Process != "exec-a-1" || opened.ID == "" {
		t.Fatalf("a session: got %+v, %v, want a new one of exec-a-1", opened, err)
	}
	if again, err := s.e.Open(soon(t), opened.ID); err != nil || again.How != "" || again.ID != opened.ID {
		t.Errorf("the session that is open: got %+v, %v", again, err)
	}
	if info, err := s.e.Ready(soon(t)); err != nil || info.Mode != "asks" {
		t.Errorf("its mode: got %q, %v, want asks", info.Mode, err)
	}
	got := s.says(7, "think hm ", "think so", "say Hello, ", "say world")
	if got.Stop != "end_turn" || got.Text != "Hello,world" || got.Thought != "hmso" {
		t.Errorf("the turn: got %+v", got)
	}
	s.told()
	if want := "thought:hm;thought:so;text:Hello,;text:world;"; s.host.live.String() != want {
		t.Errorf("live came %q, want %q", s.host.live.String(), want)
	}
	if diff := cmp.Diff([]string{"7 exec-a-1"}, s.led.Begun); diff != "" {
		t.Errorf("the prompt was begun (-want +got):\n%s", diff)
	}
	if got := s.says(8, "say again"); got.Text != "again" {
		t.Errorf("the second turn: got %+v", got)
	}
	if b, err := os.ReadFile(filepath.Join(s.room.Place.Home, executor.SettingsDir, "deep/config")); err != nil || string(b) != "hello" {
		t.Errorf("its settings: got %q, %v", b, err)
	}
	heard := strings.Join(s.room.heard(t)[0], "\n")
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"clientCapabilities":{"elicitation":{"form":{}},"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"lyceum","version":"test"},"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":"auth","method":"authenticate","params":{"methodId":"scripted-key"}}`,
		`"mcpServers":[{"headers":[{"name":"Authorization","value":"Bearer t"}],"name":"tools","type":"http","url":"http://127.0.0.1:1/mcp"},{"args":["bridge"],"command":"lyceum","env":[],"name":"bridge"}]`,
		`"method":"session/set_mode","params":{"modeId":"asks",`,
		`"id":"p7","method":"session/prompt"`,
	} {
		if !strings.Contains(heard, want) {
			t.Errorf("it was not told %s, but:\n%s", want, heard)
		}
	}
	s.once()
	if err := s.e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if list, err := s.c.Processes(soon(t)); err != nil || len(list) > 0 {
		t.Errorf("after the end there is %v, %v", list, err)
	}
	if _, err := os.Stat(s.room.Journal); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end there is a journal: %v", err)
	}
}

func (l *lab) reports(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	got := s.says(3, "think first", "say I look.", "call c1 ls", "done c1 two files", "say Then ", "say this.", "plan one,two", "begun c2 odd", "done c2 fine", "done c2 again", "done c3 at once", "say The end.")
	if got.Text != "The end." || got.Thought != "" {
		t.Errorf("the turn: got %+v", got)
	}
	s.told("3 thought first", "3 said I look.", "3 tool c1 in_progress execute ls", "3 tool c1 completed execute ls  two files", "3 plan one, two", "3 said Thenthis.",
		"3 tool c2 pending  odd", "3 tool c2 completed  odd  fine", "3 tool c3 completed    at once")
}

func (l *lab) permissions(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	got := s.says(1, "permit c1 edit it")
	if want := `{"outcome":{"optionId":"yes","outcome":"selected"}}`; got.Text != want {
		t.Errorf("allowed: got %s, want %s", got.Text, want)
	}
	s.told("1 tool c1 pending edit edit it notes.txt", "1 asked c1 edit it notes.txt: always yes no")
	cancelled := `{"outcome":{"outcome":"cancelled"}}`
	for i, c := range []struct{ option, want string }{
		{"no", `{"outcome":{"optionId":"no","outcome":"selected"}}`}, {"always", cancelled}, {"other", cancelled}, {"", cancelled},
	} {
		s.host.Decide = func(context.Context, *event.PermissionAsked) (string, error) { return c.option, nil }
		if got := s.says(uint64(i+2), "permit c1 edit it"); got.Text != c.want {
			t.Errorf("decided %q: got %s, want %s", c.option, got.Text, c.want)
		}
	}
	s.host.Decide = func(context.Context, *event.PermissionAsked) (string, error) { return "yes", errors.New("broken") }
	if got := s.says(9, "permit c1 edit it"); got.Text != cancelled {
		t.Errorf("nobody decided: got %s, want it cancelled", got.Text)
	}
}

func (l *lab) questions(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	if got := s.says(1, "form What name?"); got.Text != `{"action":"decline"}` {
		t.Errorf("nobody answers: got %s", got.Text)
	}
	ids := map[string]bool{}
	s.host.Answer = func(_ context.Context, q executor.Question) ([]byte, error) {
		ids[q.ID] = true
		if len(q.Fields) != 2 || !slices.Equal(q.Fields[1].Options, []string{"one", "two"}) || !q.Fields[1].Required {
			t.Errorf("the form: got %+v", q.Fields)
		}
		return []byte(`{"name":"two"}`), nil
	}
	if got := s.says(2, "form What name?", "form Which?"); got.Text != `{"action":"accept","content":{"name":"two"}}{"action":"accept","content":{"name":"two"}}` {
		t.Errorf("answered: got %s", got.Text)
	}
	if len(ids) != 2 {
		t.Errorf("two questions have the ids %v", ids)
	}
	s.host.Answer = func(context.Context, executor.Question) ([]byte, error) {
		t.Error("a page to visit was asked for")
		return nil, nil
	}
	if got := s.says(3, "visit A page"); got.Text != `{"action":"decline"}` {
		t.Errorf("a page to visit: got %s", got.Text)
	}
	s.told("asked What name?: count integer, name string", "asked Which?: count integer, name string")
}

func (l *lab) files(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	home := s.room.Place.Home
	outside := filepath.Join(filepath.Dir(home), "secret")
	if err := errors.Join(
		os.WriteFile(outside, []byte("secret"), 0o644), os.WriteFile(filepath.Join(home, "odd"), []byte("\xff\xfe"), 0o644),
		os.Symlink("/etc", filepath.Join(home, "etc")), os.Symlink("../secret", filepath.Join(home, "way-out")), os.Symlink("notes.txt", filepath.Join(home, "inside")),
	); err != nil {
		t.Fatal(err)
	}
	s.begin("")
	for i, c := range []struct{ step, want string }{
		{"write /home/agent/deep/er/notes.txt some text", "{}"},
		{"read /home/agent/deep/er/notes.txt", `{"content":"some text"}`},
		{"write notes.txt relative", "{}"},
		{"read notes.txt", `{"content":"relative"}`},
		{"read /home/agent/missing", "-32002"},
		{"read /etc/passwd", "-32602"},
		{"read /home/agent/../../etc/passwd", "-32602"},
		{"write /home/agent/../x y", "-32602"},
		{"read etc/passwd", "only folders are gone through"},
		{"read way-out", "links are not followed"},
		{"read inside", "links are not followed"},
		{"write inside x", "links are not followed"},
		{"write etc/x y", "only folders are gone through"},
		{"write deep x", "this is no file"},
		{"read deep", "this is no file"},
		{"read odd", "no text in UTF-8"},
	} {
		if got := s.says(uint64(i+1), c.step); !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: got %s, want %s", c.step, got.Text, c.want)
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "secret" {
		t.Errorf("what is outside: got %q, %v", b, err)
	}
	s.host.Refuse = errors.New("this file is not yours")
	if got := s.says(100, "write a.txt b"); !strings.Contains(got.Text, "this file is not yours") {
		t.Errorf("refused: got %s", got.Text)
	}
	if _, err := os.Stat(filepath.Join(home, "a.txt")); err == nil {
		t.Error("what was refused was written")
	}
	r, err := s.c.Run(soon(t), shell("echo more >> deep/er/notes.txt && cat deep/er/notes.txt"))
	if err != nil || string(r.Stdout.Head) != "some textmore\n" {
		t.Errorf("the agent's own file: got %v, %v", r, err)
	}
}

// bounds: what a computer hides, its agent reads neither through the client nor by its own programs.
func (l *lab) bounds(t *testing.T) {
	t.Parallel()
	s := &seat{t: t, room: newRoom(t, l.driver), led: new(Ledger)}
	s.room.bounds.Hide = []string{".env"}
	home := s.room.Place.Home
	if err := errors.Join(
		os.WriteFile(filepath.Join(home, ".env"), []byte("hidden-text"), 0o644), os.Mkdir(filepath.Join(home, "sub"), 0o755),
		os.Link(filepath.Join(home, ".env"), filepath.Join(home, "sub", "twin")),
	); err != nil {
		t.Fatal(err)
	}
	s.sit()
	s.begin("")
	for i, step := range []string{"read .env", "read /home/agent/.env", "read sub/../.env", "read sub/twin", "write .env forged", "write sub/.env forged"} {
		if got := s.says(uint64(i+1), step); !strings.Contains(got.Text, "deny_read") || strings.Contains(got.Text, "hidden-text") {
			t.Errorf("%s: got %s, want it refused by deny_read", step, got.Text)
		}
	}
	if got := s.says(100, "run cat .env sub/twin; echo end"); strings.Contains(got.Text, "hidden-text") || !strings.Contains(got.Text, "end") {
		t.Errorf("a command of the agent: got %s, want nothing of what is hidden", got.Text)
	}
	if b, err := os.ReadFile(filepath.Join(home, ".env")); err != nil || string(b) != "hidden-text" {
		t.Errorf("what is hidden is now %q (%v)", b, err)
	}
}

func (l *lab) terminals(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	got := s.says(1, "run echo out; echo err >&2; exit 3")
	if !strings.Contains(got.Text, `{"exitCode":3,"signal":null}`) || !strings.Contains(got.Text, `"truncated":false`) || !strings.Contains(got.Text, "-32002 there is no terminal") {
		t.Errorf("a command: got %s", got.Text)
	}
	s.told("run sh -c echo out; echo err >&2; exit 3 in ")
	got = s.says(2, "run seq 1 100000")
	if !strings.Contains(got.Text, `"truncated":true`) || !strings.Contains(got.Text, `99999\n100000\n`) || len(got.Text) > 500 {
		t.Errorf("the end of a long output: got %s", got.Text)
	}
	s.host.Refuse = errors.New("too many commands")
	if got := s.says(3, "run true"); !strings.Contains(got.Text, "too many commands") {
		t.Errorf("refused: got %s", got.Text)
	}
	s.host.Refuse = nil
	s.says(4, "hold sleep 1000")
	if err := s.e.Close(); err != nil {
		t.Error(err)
	}
	list, err := s.c.Processes(soon(t))
	for _, p := range list {
		if p.Running {
			t.Errorf("after the end %s runs", p.ID)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func (l *lab) cancels(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		s.room.sees(t, "working")
		cancel()
	}()
	got, err := s.prompt(ctx, 1, "say so far", "touch working", "wait never")
	if err != nil || got.Stop != event.StopInterrupted || got.Text != "so far" {
		t.Errorf("cancelled: got %+v, %v", got, err)
	}
	s.derives(got)
	// A permission is taken back, and one that is asked for afterwards is not asked for.
	ctx, cancel = context.WithCancel(t.Context())
	s.host.Decide = func(ctx context.Context, _ *event.PermissionAsked) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}
	got, err = s.prompt(ctx, 2, "permit c1 edit", "say on")
	if err != nil || got.Stop != event.StopInterrupted || got.Text != `{"outcome":{"outcome":"cancelled"}}` {
		t.Errorf("cancelled while it asks: got %+v, %v", got, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	s.host.Decide = func(context.Context, *event.PermissionAsked) (string, error) {
		t.Error("somebody was asked after the cancel")
		return "yes", nil
	}
	go func() {
		s.room.sees(t, "late")
		cancel()
	}()
	got, err = s.prompt(ctx, 3, "touch late", "permit-late c2 edit")
	if err != nil || got.Stop != event.StopInterrupted || got.Text != `{"outcome":{"outcome":"cancelled"}}` {
		t.Errorf("it asks after the cancel: got %+v, %v", got, err)
	}
	if got := s.says(4, "say fine"); got.Text != "fine" {
		t.Errorf("afterwards: got %+v", got)
	}
	if n := len(s.room.heard(t)); n != 1 {
		t.Errorf("it took %d processes", n)
	}
}

func (l *lab) twoAtOnce(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	s.isBusy()
	if heard := strings.Join(s.room.heard(t)[0], "\n"); strings.Contains(heard, `"p2"`) {
		t.Error("the agent was told of the second")
	}
}

func (l *lab) sessions(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"loads", "resumes", "forgets"} {
		s := l.seat(t, how)
		first := s.begin("")
		s.says(1, "say one")
		s.kill("exec-a-1")
		if _, err := s.prompt(soon(t), 2, "say two"); err == nil {
			t.Error("a process that was killed answers")
		}
		second := s.begin(first.ID)
		want := executor.Session{ID: first.ID, Process: "exec-a-2", How: map[string]string{"loads": event.SessionLoaded, "resumes": event.SessionResumed, "forgets": event.SessionNew}[how]}
		if how == "forgets" {
			want.ID = second.ID
		}
		if diff := cmp.Diff(want, second); diff != "" {
			t.Errorf("%s: the session in a new process (-want +got):\n%s", how, diff)
		}
		if got := s.says(3, "say three", "call c x"); got.Text != "" {
			t.Errorf("%s: the turn after: got %+v", how, got)
		}
		s.told("3 said three", "3 tool c in_progress execute x")
		if _, at := s.led.told(); at < executor.ProcessSpan {
			t.Errorf("the places of the second process begin at %d", at)
		}
		s.once()
	}
}

// kill ends a command, and waits until it has.
func (s *seat) kill(id string) {
	s.t.Helper()
	if err := s.c.Kill(soon(s.t), id); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.c.Wait(soon(s.t), id); err != nil {
		s.t.Fatal(err)
	}
}

func (l *lab) oddities(t *testing.T) {
	t.Parallel()
	s := l.seat(t, "early", "chatty", "twice", "late")
	s.begin("")
	got := s.says(1, "ask craft/drainMidTurnQueue", `raw {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"another's"}}}}`,
		`raw {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"usage_update"}}}`, `raw {"jsonrpc":"2.0","id":"x","result":{}}`, "raw what?",
		`raw {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`, `raw {"jsonrpc":"2.0","method":"_new/thing"}`, "stop max_tokens")
	if got.Text != "-32601 there is no method craft/drainMidTurnQueue" || got.Stop != "max_tokens" {
		t.Errorf("the turn: got %+v", got)
	}
	if got := s.says(2, "say on"); got.Text != "on" {
		t.Errorf("the next turn has what came too late: %+v", got)
	}
	if _, err := s.prompt(soon(t), 3, "fail the model is away"); err == nil || !strings.Contains(err.Error(), "the model is away") {
		t.Errorf("an error for an answer: got %v", err)
	}
	if _, err := s.prompt(soon(t), 4, "stop lunch"); err == nil || !strings.Contains(err.Error(), `"lunch" is no reason`) {
		t.Errorf("a reason that there is not: got %v", err)
	}
	if got := s.says(5, "say on"); got.Text != "on" {
		t.Errorf("the turn after: %+v", got)
	}
	s.told()
	s.once()
}

func (l *lab) modes(t *testing.T) {
	t.Parallel()
	s := l.seat(t, "modeless")
	s.begin("")
	if info, err := s.e.Ready(soon(t)); err != nil || info.Mode != "" {
		t.Errorf("an agent without modes: got %+v, %v", info, err)
	}
	s = l.seat(t)
	s.set = func(a *executor.Agent) { a.Settings.Mode = "careful" }
	s.leave()
	s.open()
	if _, err := s.e.Ready(soon(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.e.Open(soon(t), ""); err == nil || !strings.Contains(err.Error(), "no mode careful, it has free, asks") {
		t.Errorf("a mode that it does not have: got %v", err)
	}
	s = l.seat(t, "closed")
	if _, err := s.e.Ready(soon(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.e.Open(soon(t), ""); err == nil || !strings.Contains(err.Error(), "scripted-key") {
		t.Errorf("an agent that wants to be signed in: got %v", err)
	}
}

const short = 300 * time.Millisecond

// pictures: an agent that can see is shown them; what is recorded of them is their hash, also after
// a crash. The bytes go to the agent once.
func (l *lab) pictures(t *testing.T) {
	t.Parallel()
	s := l.seat(t, "sees")
	id := s.begin("").ID
	if info, err := s.e.Ready(soon(t)); err != nil || !slices.Contains(info.Capabilities, executor.CanSee) {
		t.Fatalf("what it can: got %v, %v, want that it sees", info.Capabilities, err)
	}
	one, two := bytes.Repeat([]byte("one picture "), 1000), []byte("another")
	ctx := soon(t)
	prompt := executor.Prompt{Seq: 3, Text: "touch begun\nwait go\nsee", Pictures: []executor.Picture{{Media: "image/png", Data: one}, {Media: "image/gif", Data: two}}, Begin: s.led.begin(3)}
	over, e := make(chan error), s.e
	go func() {
		_, err := e.Prompt(ctx, prompt)
		over <- err
	}()
	s.room.sees(t, "begun")
	s.crash()
	if err := <-over; err == nil {
		t.Error("a prompt that was left has an answer")
	}
	s.begin(id)
	s.room.touch(t, "go")
	got, err := s.e.Prompt(soon(t), prompt)
	if err != nil || got.Text != "image/png of 12000 bytes;image/gif of 7 bytes;" {
		t.Fatalf("the turn: got %q, %v, want what it saw", got.Text, err)
	}
	s.derives(got)
	if bytes.Contains(got.Frames, []byte(base64.StdEncoding.EncodeToString(two))) || len(got.Frames) > 4000 {
		t.Errorf("the frames have %d bytes, and pictures among them:\n%.2000s", len(got.Frames), got.Frames)
	}
	for _, want := range []string{`"uri":"sha256:` + event.HashOf(one).String() + `"`, `"uri":"sha256:` + event.HashOf(two).String() + `"`, `"text":"touch begun\nwait go\nsee"`} {
		if !bytes.Contains(got.Frames, []byte(want)) {
			t.Errorf("the frames lack %s:\n%.2000s", want, got.Frames)
		}
	}
	s.once()
}

// isBusy gives an agent a second prompt while it works on its first: it is refused, and the first has its answer.
func (s *seat) isBusy() {
	s.t.Helper()
	done := make(chan executor.Turn)
	go func() { done <- s.says(1, "touch working", "wait go", "say one") }()
	s.room.sees(s.t, "working")
	if _, err := s.prompt(soon(s.t), 2, "say two"); !errors.Is(err, executor.ErrBusy) {
		s.t.Errorf("a second prompt: got %v, want ErrBusy", err)
	}
	s.room.touch(s.t, "go")
	if got := <-done; got.Text != "one" {
		s.t.Errorf("the first: got %+v", got)
	}
}
