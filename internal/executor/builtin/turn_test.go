package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

func TestATurn(t *testing.T) {
	t.Parallel()
	t.Run("ReadsEditsRunsAndAnswers", func(t *testing.T) {
		t.Parallel()
		s := newScene(t,
			use("read_file", `{"path":"a.go"}`),
			use("edit_file", `{"path":"a.go","old":"one","new":"two"}`),
			use("run_command", `{"command":"go test"}`),
			reply(model.StopEnd, model.Part{Kind: event.PartThinking, Text: "hm", Opaque: "c2ln"}, model.Part{Kind: event.PartText, Text: "It says two now, and the test passes."}))
		s.files[s.cwd+"/a.go"] = "say one\n"
		s.run = func(context.Context, string) (string, int) { return "ok\n", 0 }
		s.start(Options{})
		id := s.open()
		s.wants(id, "make it two", "end_turn")
		if got, _ := s.file("a.go"); got != "say two\n" {
			t.Errorf("the file is %q, want the edit in it", got)
		}
		if got := s.said("agent_message_chunk"); got != "It says two now, and the test passes." {
			t.Errorf("the agent said %q", got)
		}
		if got := s.said("agent_thought_chunk"); got != "hm" {
			t.Errorf("the agent thought %q", got)
		}
		if n := s.did("session/request_permission"); n != 2 {
			t.Errorf("%d permissions were asked for, want one for the edit and one for the command", n)
		}
		var kinds []string
		for _, u := range s.told("tool_call") {
			kinds = append(kinds, fmt.Sprint(u["kind"], " ", u["title"], " ", u["toolCallId"]))
		}
		if want := []string{"read Read a.go call-1", "edit Edit a.go call-2", "execute go test call-3"}; !slices.Equal(kinds, want) {
			t.Errorf("the calls are %q, want %q", kinds, want)
		}
		data, err := json.Marshal(s.ended("call-2"))
		must(t, err)
		for _, want := range []string{`"status":"completed"`, `"oldText":"say one\n"`, `"newText":"say two\n"`, `"type":"diff"`} {
			if !strings.Contains(string(data), want) {
				t.Errorf("the end of the edit has no %s: %s", want, data)
			}
		}
		results := s.brain.results(t)
		if len(results) != 3 || results[0].Text != "say one\n" || results[2].Text != "ok\n(exit code 0)" {
			t.Errorf("the model was told %+v", results)
		}
		seen := s.brain.asked()[0]
		if seen.Key != "token-of-the-task" || seen.Model != "best" || !strings.Contains(seen.System, s.cwd) {
			t.Errorf("the model was asked with key %q, name %q, prompt %q", seen.Key, seen.Model, seen.System)
		}
		if n := s.did("terminal/release"); n != 1 {
			t.Errorf("%d terminals were released, want 1", n)
		}
	})
	t.Run("GoesOnWithoutWhatIsRejected", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("write_file", `{"path":"new.txt","content":"x"}`), say("I was not allowed to."))
		s.permit = choose(rejectOnce)
		s.start(Options{})
		s.wants(s.open(), "write", "end_turn")
		if _, ok := s.file("new.txt"); ok || s.did("fs/write_text_file") != 0 {
			t.Error("a file was written that was not allowed")
		}
		if r := s.brain.results(t); len(r) != 1 || !r[0].Error || !strings.Contains(r[0].Text, "not allowed") {
			t.Errorf("the model was told %+v", r)
		}
		if got := s.ended("call-1")["status"]; got != "failed" {
			t.Errorf("the call ended as %v, want failed", got)
		}
	})
	t.Run("TakesNoOptionThatItDidNotOffer", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("run_command", `{"command":"x"}`), say("no"))
		s.permit = choose("allow_always")
		s.start(Options{})
		s.wants(s.open(), "run", "end_turn")
		if n := s.did("terminal/create"); n != 0 {
			t.Errorf("%d commands ran though nobody allowed them", n)
		}
	})
	t.Run("AsksNobodyInAuto", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("write_file", `{"path":"sub/new.txt","content":"x"}`), say("done"))
		s.start(Options{})
		id := s.open()
		s.mode(id, ModeAuto)
		s.wants(id, "write", "end_turn")
		if got, _ := s.file("sub/new.txt"); got != "x" || s.did("session/request_permission") != 0 {
			t.Errorf("the file is %q after %d permissions, want x after none", got, s.did("session/request_permission"))
		}
	})
	t.Run("LooksIntoItsFolder", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, reply(model.StopTools,
			called("1", "list_files", `{}`), called("2", "find_files", `{"pattern":"**/*.go"}`), called("3", "search", `{"pattern":"needle","path":"sub"}`),
			called("4", "search", `{"pattern":"needle","path":"/etc"}`)), say("done"))
		must(t, os.MkdirAll(filepath.Join(s.cwd, "sub"), 0o755))
		must(t, os.WriteFile(filepath.Join(s.cwd, "sub", "b.go"), []byte("x\na needle here\n"), 0o600))
		s.start(Options{})
		s.wants(s.open(), "look", "end_turn")
		r := s.brain.results(t)
		if len(r) != 4 || !strings.Contains(r[0].Text, "sub/") || !strings.Contains(r[1].Text, "sub/b.go") || !strings.Contains(r[2].Text, "sub/b.go:2:a needle here") || !r[3].Error {
			t.Errorf("the model was told %+v", r)
		}
	})
	t.Run("ShowsItsPlan", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("plan", `{"steps":[{"content":"look","status":"in_progress"},{"content":"write","status":"pending","priority":"high"}]}`), say("done"))
		s.start(Options{})
		s.wants(s.open(), "plan", "end_turn")
		plans, err := json.Marshal(s.told("plan"))
		must(t, err)
		want := `[{"entries":[{"content":"look","priority":"medium","status":"in_progress"},{"content":"write","priority":"high","status":"pending"}],"sessionUpdate":"plan"}]`
		if string(plans) != want {
			t.Errorf("the plan is %s, want %s", plans, want)
		}
	})
	t.Run("SaysWhatItsClientLacks", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, reply(model.StopTools, called("1", "run_command", `{"command":"x"}`), called("2", "write_file", `{"path":"a","content":""}`)), say("done"))
		s.can = `{"fs":{"readTextFile":true}}`
		s.start(Options{})
		s.wants(s.open(), "go", "end_turn")
		var names []string
		for _, x := range s.brain.asked()[0].Tools {
			names = append(names, x.Name)
		}
		if want := []string{"find_files", "list_files", "plan", "read_file", "search"}; !slices.Equal(names, want) {
			t.Errorf("the model was offered %q, want %q", names, want)
		}
		if system := s.brain.asked()[0].System; !strings.Contains(system, "edit_file, run_command, write_file") {
			t.Errorf("the model was not told what is missing: %s", system)
		}
		for _, r := range s.brain.results(t) {
			if !r.Error || !strings.Contains(r.Text, "does not offer this") {
				t.Errorf("the model was told %+v", r)
			}
		}
	})
}

func TestHowAPromptEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []answer
		stop    string
	}{
		"WithARefusal":         {[]answer{reply(model.StopRefusal, model.Part{Kind: event.PartText, Text: "no"})}, "refusal"},
		"AtTheLimitOfTokens":   {[]answer{reply(model.StopLength, model.Part{Kind: event.PartText, Text: "and so"})}, "max_tokens"},
		"WithNothing":          {[]answer{reply(model.StopEnd)}, "end_turn"},
		"AfterEnoughRequests":  {[]answer{use("list_files", `{}`)}, "max_turn_requests"},
		"AfterOverload":        {[]answer{fail(modeltest.Overloaded), fail(modeltest.RateLimited), fail(modeltest.ServerError), say("here")}, "end_turn"},
		"AfterABreakInAStream": {[]answer{fail(modeltest.InStream), say("here")}, "end_turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c.answers...)
			s.start(Options{MaxRequests: 5})
			s.wants(s.open(), "go", c.stop)
			if n := len(s.brain.asked()); n > 5 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
	t.Run("CallsThatWereCutAreNotDone", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, reply(model.StopLength, called("1", "write_file", `{"path":"a","content":"half"}`)), say("done"))
		s.start(Options{})
		s.wants(s.open(), "go", "end_turn")
		if _, ok := s.file("a"); ok {
			t.Error("a file was written that a model had not finished")
		}
		if r := s.brain.results(t); len(r) != 1 || !strings.Contains(r[0].Text, "smaller pieces") {
			t.Errorf("the model was told %+v", r)
		}
	})
	t.Run("TriesAreBounded", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, fail(modeltest.Overloaded))
		var waits []time.Duration
		s.start(Options{Pause: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }})
		_, err := s.ask(s.open(), "go")
		if err == nil || !strings.Contains(err.Error(), "the model cannot be asked") {
			t.Errorf("the prompt's error is %v", err)
		}
		if n := len(s.brain.asked()); n != maxTries {
			t.Errorf("the model was asked %d times, want %d", n, maxTries)
		}
		if want := []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9}; !slices.Equal(waits, want) {
			t.Errorf("the pauses are %v, want %v", waits, want)
		}
	})
	t.Run("ASpentBudgetIsSaid", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("never"))
		n := 0
		s.brain.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.WriteHeader(http.StatusPaymentRequired)
			_, _ = w.Write([]byte(`{"type":"error","error":{"type":"billing_error","message":"the quest has spent its budget; its token is token-of-the-task"}}`))
		})
		s.start(Options{})
		_, err := s.ask(s.open(), "go")
		for where, text := range map[string]string{"the error": fmt.Sprint(err), "the text": s.said("agent_message_chunk")} {
			if !strings.Contains(text, "the quest has spent its budget") || strings.Contains(text, "token-of-the-task") {
				t.Errorf("%s is %q", where, text)
			}
		}
		if n != 1 {
			t.Errorf("the gateway was asked %d times, want once", n)
		}
	})
}

func TestOnePromptAtATime(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	hold := make(chan struct{})
	s := newScene(t, func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		close(begun)
		<-hold
		return modeltest.Reply{Stop: model.StopEnd}, ""
	})
	t.Cleanup(func() { close(hold) })
	s.start(Options{})
	id := s.open()
	ended := make(chan string, 1)
	go func() {
		stop, err := s.ask(id, "first")
		ended <- fmt.Sprint(stop, err)
	}()
	<-begun
	_, err := s.ask(id, "second")
	if e, ok := errors.AsType[*acp.Error](err); !ok || e.Code != acp.InvalidRequest {
		t.Errorf("a second prompt gets %v, want %d", err, acp.InvalidRequest)
	}
	if err := s.again("session/load", id); err == nil {
		t.Error("a session at work was loaded again")
	}
	s.cancel(id)
	if got := <-ended; got != "cancelled<nil>" {
		t.Errorf("the cancelled prompt ended with %s", got)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("KillsTheCommand", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, reply(model.StopTools, called("1", "run_command", `{"command":"sleep"}`), called("2", "write_file", `{"path":"a","content":"x"}`)), say("after"))
		runs, killed := s.endless()
		s.start(Options{})
		id := s.open()
		s.mode(id, ModeAuto)
		go func() { <-runs; s.cancel(id) }()
		s.wants(id, "go", "cancelled")
		<-killed
		if s.did("terminal/kill") != 1 || s.did("terminal/release") != 1 || s.did("fs/write_text_file") != 0 {
			t.Errorf("the client was asked for %q", s.methods)
		}
		s.wants(id, "go on", "end_turn")
		if r := s.brain.results(t); len(r) != 2 || !r[0].Error || !r[1].Error || !strings.Contains(r[1].Text, "cancelled") {
			t.Errorf("the model was told %+v", r)
		}
	})
	t.Run("KillsACommandOfWhichNobodyToldItYet", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("run_command", `{"command":"sleep"}`))
		s.answer = make(chan struct{})
		runs, killed := s.endless()
		s.start(Options{})
		id := s.open()
		s.mode(id, ModeAuto)
		go func() { <-runs; s.cancel(id); close(s.answer) }()
		s.wants(id, "go", "cancelled")
		<-killed
	})
	t.Run("EndsWithARequestForPermission", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("run_command", `{"command":"x"}`))
		s.permit = func(json.RawMessage) any { return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}} }
		s.start(Options{})
		s.wants(s.open(), "go", "cancelled")
		if len(s.brain.asked()) != 1 || s.did("terminal/create") != 0 {
			t.Error("the prompt went on after it was cancelled")
		}
	})
	t.Run("OfNothingIsNothing", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("hi"))
		s.start(Options{})
		id := s.open()
		s.cancel(id)
		s.cancel("nobody")
		s.wants(id, "go", "end_turn")
	})
}

func TestHostileModels(t *testing.T) {
	t.Parallel()
	outside := `is outside the working folder`
	for name, c := range map[string]struct{ tool, args, want string }{
		"CallToolsThatAreNot":       {"delete_all", `{}`, "delete_all"},
		"CallWithoutAName":          {"_", `{}`, "error"},
		"WriteNoJSON":               {"read_file", `{"path":`, "not valid JSON"},
		"WriteAList":                {"read_file", `[1]`, "not a JSON object"},
		"LeaveOutArguments":         {"read_file", `{}`, "path"},
		"GiveOthers":                {"read_file", `{"path":"a","sudo":true}`, "sudo"},
		"ReadAbove":                 {"read_file", `{"path":"../../etc/passwd"}`, outside},
		"ReadElsewhere":             {"read_file", `{"path":"/etc/passwd"}`, outside},
		"WriteElsewhere":            {"write_file", `{"path":"/etc/passwd","content":"x"}`, outside},
		"WriteAbove":                {"write_file", `{"path":"a/../../b","content":"x"}`, outside},
		"EditElsewhere":             {"edit_file", `{"path":"/etc/passwd","old":"a","new":"b"}`, outside},
		"ListElsewhere":             {"list_files", `{"path":"/"}`, outside},
		"GiveANUL":                  {"read_file", `{"path":"a\u0000b"}`, "NUL"},
		"GiveAnEndlessPath":         {"read_file", `{"path":"` + strings.Repeat("a/", 5000) + `"}`, "too long"},
		"GiveAnEndlessCommand":      {"run_command", `{"command":"` + strings.Repeat("a", maxCommand+1) + `"}`, "command"},
		"GiveEndlessArguments":      {"write_file", `{"path":"a","content":"` + strings.Repeat("a", maxArgs) + `"}`, "too_large"},
		"GiveALargeFile":            {"write_file", `{"path":"a","content":"` + strings.Repeat("a", maxWrite+1) + `"}`, "at most"},
		"MakeAnEndlessPlan":         {"plan", `{"steps":[` + strings.Repeat(`{"content":"a","status":"pending"},`, 50) + `{"content":"a","status":"pending"}]}`, "steps"},
		"EditWhatIsNotThere":        {"edit_file", `{"path":"there","old":"nothing","new":"b"}`, "no such piece"},
		"EditWhatIsThereTwice":      {"edit_file", `{"path":"there","old":"x","new":"b"}`, "2 times"},
		"SearchWithABrokenPattern":  {"search", `{"pattern":"("}`, "pattern"},
		"ReadALineThatIsNone":       {"read_file", `{"path":"there","line":-1}`, "line"},
		"ReadWhatTheClientRefuses":  {"read_file", `{"path":"missing"}`, "there is no"},
		"RunForEver":                {"run_command", `{"command":"x","seconds":1e9}`, "seconds"},
		"CallWithAnEmptyText":       {"read_file", ``, "path"},
		"GiveArgumentsThatAreTwice": {"read_file", `{"path":"a","path":"b"}`, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, use(c.tool, c.args), say("I see."))
			s.files[s.cwd+"/there"] = "x x"
			s.start(Options{})
			id := s.open()
			s.mode(id, ModeAuto)
			s.wants(id, "go", "end_turn")
			r := s.brain.results(t)
			if len(r) != 1 || !r[0].Error || !strings.Contains(r[0].Text, c.want) || len(r[0].Text) > 2000 {
				t.Errorf("the model was told %+v, want an error with %q", r, c.want)
			}
			for _, m := range []string{"fs/write_text_file", "terminal/create"} {
				if s.did(m) != 0 {
					t.Errorf("the client was asked for %s", m)
				}
			}
		})
	}
	t.Run("CallTooMuchAtOnce", func(t *testing.T) {
		t.Parallel()
		var calls []model.Part
		for i := range maxCalls + 3 {
			calls = append(calls, called(fmt.Sprint("c", i), "list_files", `{}`))
		}
		s := newScene(t, reply(model.StopTools, calls...), say("done"))
		s.start(Options{})
		s.wants(s.open(), "go", "end_turn")
		r := s.brain.results(t)
		if len(r) != maxCalls+3 || r[maxCalls-1].Error || !r[maxCalls].Error {
			t.Errorf("%d calls have results", len(r))
		}
	})
	t.Run("GiveAllCallsTheSameName", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, reply(model.StopTools, called("same", "list_files", `{}`), called("same2", "read_file", `{"path":"there"}`)), use("list_files", `{}`), say("done"))
		s.files[s.cwd+"/there"] = "x"
		s.start(Options{})
		s.wants(s.open(), "go", "end_turn")
		ids := map[any]bool{}
		for _, u := range s.told("tool_call") {
			ids[u["toolCallId"]] = true
		}
		if len(ids) != 3 {
			t.Errorf("three calls have the ids %v", ids)
		}
	})
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text       string
		from, most int
		want       string
	}{
		"All":           {"a\nb\n", 1, 10, "a\nb\n"},
		"Nothing":       {"", 7, 10, "(there is nothing from line 7 on)"},
		"Some":          {"a\nb\n", 3, 2, "a\nb\n\n(this ends with line 4, and there may be more: read on with line 5)"},
		"OfALazyClient": {"a\nb\nc\n", 1, 2, "a\nb\n\n(this ends with line 2, and there may be more: read on with line 3)"},
		"OfALongLine":   {strings.Repeat("a", maxRead+1), 1, 2, strings.Repeat("a", maxRead) + "\n(line 1 is longer than this, and cut)"},
	} {
		if got := excerpt(c.text, c.from, c.most); got != c.want {
			t.Errorf("%s: got %.200q, want %.200q", name, got, c.want)
		}
	}
}
