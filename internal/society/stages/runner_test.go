package stages_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
)

// run is a study whose researcher is an executor.
type run struct{ talk }

func runs(t *testing.T) run {
	t.Helper()
	b := questtest.Created(stages.Society{}, 0, "interact", "memory_write", "await")
	b.Agents[0].Name, b.Problem.Text = stages.Researcher, "How fast is it?"
	b.Settings = `{"anchor":"scout","mode":"copilot","runner":"guest"}`
	b.Executors = []event.ExecutorPin{{Name: "guest", Settings: event.RefOf([]byte("settings"))}}
	b.Agents[0].Executor, b.Agents[0].Gateway = "guest", &event.GatewaySpec{Any: true}
	for _, text := range quest.ExecutorTexts() {
		if !quest.IsPrompt(text.Name) {
			b.Texts = append(b.Texts, text)
		}
	}
	r := run{talk{questtest.Begin(t, stages.Society{}, b)}}
	r.Reply = noCards
	return r
}

func (r run) open() uint64 {
	r.T.Helper()
	open := r.Open("prompt.call", stages.Researcher)
	if len(open) != 1 {
		r.T.Fatalf("%d prompts are open, want one", len(open))
	}
	return open[0]
}

// ready makes the executor ready, in a session of that name, and has it told.
func (r run) ready(session, process string) {
	r.T.Helper()
	r.Take(stages.Researcher, &event.SessionOpened{How: event.SessionNew, ID: session, Process: process})
	r.Take(stages.Researcher, &event.ExecutorReady{Call: r.Open("executor.call", "")[0], Name: "guest", Version: "1", Protocol: 1})
	r.told()
}

func (r run) told() {
	r.T.Helper()
	x := r.State.Agent(stages.Researcher).Session
	r.Take(stages.Researcher, &event.PromptBegun{Call: r.open(), Process: x.Process, Session: x.ID})
}

func (r run) ends(stop, text string) []event.Event {
	r.T.Helper()
	return r.Take(stages.Researcher, &event.PromptResult{Call: r.open(), Stop: stop, Text: event.Text{Text: text}, Duration: 5})
}

func (r run) fails(why string) []event.Event {
	r.T.Helper()
	return r.Take(stages.Researcher, &event.PromptResult{Call: r.open(), Error: event.Text{Text: why}, Duration: 5})
}

// prompt is what the open one tells the executor.
func (r run) prompt() string {
	r.T.Helper()
	call := r.Events[r.open()-1].Body.(*event.PromptCall)
	text, _, err := r.State.Agent(stages.Researcher).Prompt(call, 0, func(event.Ref) ([]byte, error) { return []byte("SYSTEM"), nil })
	if err != nil {
		r.T.Fatalf("the open prompt cannot be rendered: %v", err)
	}
	return text
}

// interacts has the executor say something, and returns what it is answered.
func (r run) interacts(id string) string {
	r.T.Helper()
	out := r.Take(stages.Researcher, &event.ToolProposed{ID: id, Name: "interact", Args: event.Text{Text: `{"kind":"progress","text":"I work, ` + id + `."}`}})
	said := all[*event.ToolAnswered](out)
	if len(said) != 1 || said[0].Error {
		r.T.Fatalf("interact leads to %s", kinds(out))
	}
	return said[0].Output.Text
}

func TestASittingOfARunnerIsOnePrompt(t *testing.T) {
	r := runs(t)
	if got := kinds(r.Start()); got != "sitting.begun executor.call" {
		t.Fatalf("a start leads to %q", got)
	}
	if b := all[*event.SittingBegun](r.Events)[0]; b.Runner != "guest" || !slices.Equal(b.Mail, []uint64{1}) {
		t.Errorf("the sitting is %+v", b)
	}
	r.ready("s1", "p1")
	if got := r.prompt(); !strings.HasPrefix(got, "SYSTEM\n\n") || !strings.Contains(got, "How fast is it?") || !strings.Contains(got, `bash_exec: "start is detach`) {
		t.Errorf("the prompt is %q", got)
	}
	if got := kinds(r.ends(event.StopEnd, "Fast.")); got != "sitting.ended" || !r.State.Waiting() {
		t.Errorf("the end of the prompt leads to %q, waiting %v", got, r.State.Waiting())
	}
	if got := kinds(r.message("And how slow?")); !strings.HasPrefix(got, "sitting.begun") || !strings.HasSuffix(got, "prompt.call") {
		t.Errorf("a message leads to %q", got)
	}
	if got := r.prompt(); strings.Contains(got, "How fast") || strings.Contains(got, "SYSTEM") || !strings.Contains(got, "And how slow?") {
		t.Errorf("the next prompt in the session is %q, want what is new", got)
	}
	r.Sound()
}

// What people say during a prompt waits for interact, whose answer has it, or for the next
// sitting.
func TestMailOfARunner(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	t.Run("ComesWithInteract", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		if got := r.message("alpha"); len(got) != 0 {
			t.Errorf("a message in a prompt leads to %q", kinds(got))
		}
		r.message("omega")
		got := r.interacts("a")
		if a, o := strings.Index(got, "alpha"), strings.Index(got, "omega"); a < 0 || o < a {
			t.Errorf("interact answers %q, want both messages in their order", got)
		}
		if d := all[*event.MailDelivered](r.Events); len(d) != 1 || d[0].With != event.WithInteract || len(d[0].Messages) != 2 {
			t.Errorf("delivered: %+v", d)
		}
		if got := r.interacts("b"); strings.Contains(got, "[Message") {
			t.Errorf("the next interact says it again: %q", got)
		}
		r.Sound()
		if got := kinds(r.ends(event.StopEnd, "So.")); got != "sitting.ended" || !r.State.Waiting() {
			t.Errorf("the end leads to %q: it has heard all", got)
		}
		if !strings.Contains(r.window(), "alpha") {
			t.Error("what it has heard is not in the transcript, for a session that takes the place of this one")
		}
		r.message("last")
		if got := r.prompt(); strings.Contains(got, "]\nalpha") || !strings.Contains(got, "]\nlast") {
			t.Errorf("the next prompt is %q, want the last message alone", got)
		}
		r.Sound()
	})
	t.Run("ThatIsTooLongWaits", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		r.message("short")
		r.message(long)
		r.message("after")
		if got := r.interacts("a"); !strings.Contains(got, "]\nshort") || strings.Contains(got, "]\nafter") || strings.Contains(got, "]\nlong long") {
			t.Errorf("interact answers %.300q, want the first message alone", got)
		}
		if got := r.interacts("b"); !strings.Contains(got, "too long for here") {
			t.Errorf("the next interact answers %.300q", got)
		}
		if got := kinds(r.ends(event.StopEnd, "So.")); !strings.HasPrefix(got, "sitting.ended sitting.begun") {
			t.Errorf("the end leads to %q", got)
		}
		if got := r.prompt(); !strings.Contains(got, "]\nlong") || strings.Index(got, "]\nafter") < strings.Index(got, "]\nlong") || strings.Contains(got, "]\nshort") {
			t.Errorf("the next prompt is %.300q", got)
		}
		r.Sound()
	})
	t.Run("IsToldToASessionThatTakesTheOthersPlace", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		r.message("alpha")
		r.interacts("a")
		// The process is gone, and with it the session: another one hears all there is.
		r.Take(stages.Researcher, &event.SessionOpened{How: event.SessionNew, ID: "s2", Process: "p2"})
		r.told()
		if got := kinds(r.ends(event.StopEnd, "So.")); got != "prompt.call" {
			t.Fatalf("the end leads to %q: the session has not heard alpha", got)
		}
		if got := r.prompt(); !strings.Contains(got, "alpha") {
			t.Errorf("the next prompt is %q", got)
		}
		r.Sound()
	})
	t.Run("ComesNow", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		r.message("alpha")
		if got := kinds(r.Take("person", &event.StudyOrder{Action: event.SteerNow})); got != "mail.delivered" {
			t.Fatalf("now leads to %q", got)
		}
		if got := kinds(r.ends(event.StopInterrupted, "")); got != "prompt.call" || !strings.Contains(r.prompt(), "alpha") {
			t.Errorf("a prompt that was cut leads to %q", got)
		}
		r.Sound()
	})
}

// A prompt that fails ends its sitting; only where no way leads to the executor it is interrupted.
func TestARunnerThatFails(t *testing.T) {
	t.Run("EndsTheSitting", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		if got := kinds(r.fails("the agent said nothing for 30m0s, and waited for nothing")); got != "sitting.ended timer.set" {
			t.Fatalf("a failed prompt leads to %q", got)
		}
		if b := all[*event.SittingEnded](r.Events)[0]; b.Outcome != event.SittingFailed || !strings.Contains(b.Reason, "said nothing for 30m") {
			t.Errorf("the sitting ended %+v", b)
		}
		if len(r.State.Mail) != 1 {
			t.Errorf("%d messages wait, want the problem, of which nothing came", len(r.State.Mail))
		}
		r.Sound()
		if got := kinds(r.message("Go on.")); !strings.HasPrefix(got, "sitting.begun") || !strings.HasSuffix(got, "prompt.call") {
			t.Errorf("a message leads to %q", got)
		}
	})
	t.Run("ThatCannotBeUsedIsTriedAgain", func(t *testing.T) {
		r := runs(t)
		r.Start()
		out := r.Take(stages.Researcher, &event.ExecutorReady{Call: r.Open("executor.call", "")[0], Error: event.Text{Text: "it is not there"}})
		if got := kinds(out); got != "sitting.ended timer.set" {
			t.Fatalf("one that cannot be used leads to %q", got)
		}
		timer := r.Open("timer.set", "")[0]
		if got := kinds(r.Take("core", &event.TimerFired{Call: timer})); got != "sitting.begun executor.call" {
			t.Fatalf("after the wait comes %q", got)
		}
		r.ready("s1", "p1")
		if got := r.prompt(); strings.Count(got, "How fast is it?") != 1 {
			t.Errorf("the prompt has the problem %d times, want once: %q", strings.Count(got, "How fast is it?"), got)
		}
		r.Sound()
	})
	t.Run("IsInterruptedWhenAllWaysFail", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		for n := 0; ; n++ {
			got := kinds(r.ends(event.StopInterrupted, ""))
			if got == "prompt.call" && n < 10 {
				r.told()
				continue
			}
			if got != "sitting.ended timer.set" {
				t.Fatalf("after %d interruptions comes %q", n+1, got)
			}
			break
		}
		if b := all[*event.SittingEnded](r.Events)[0]; b.Outcome != event.SittingInterrupted {
			t.Errorf("the sitting ended %+v", b)
		}
		r.Sound()
	})
	t.Run("ThatOnlyActsRests", func(t *testing.T) {
		r := runs(t)
		r.Start()
		r.ready("s1", "p1")
		r.interacts("a")
		if got := kinds(r.ends(event.StopEnd, "")); got != "sitting.ended" || !r.State.Waiting() {
			t.Errorf("a prompt without words leads to %q", got)
		}
		r.Sound()
	})
}

// The end of a command that an executor ran itself begins nothing; that of one in the background
// does.
func TestCommandsOfARunner(t *testing.T) {
	r := runs(t)
	r.Start()
	r.ready("s1", "p1")
	r.ends(event.StopEnd, "So.")
	if m := stages.Of(r.State); m.Exited {
		t.Fatal("a command has ended already")
	}
	m := stages.Of(r.State)
	m.Apply(event.Event{Type: "cli.exit", Body: &event.CliExit{Command: "executor-1-t1"}})
	if m.Exited {
		t.Error("the end of a command that the executor ran itself counts")
	}
	m.Apply(event.Event{Type: "cli.exit", Body: &event.CliExit{Command: "c5", Call: 5}})
	if !m.Exited {
		t.Error("the end of a command in the background counts not")
	}
}

// TestServers: each tool is at one server under one name; what a card's or a command's is follows
// from the table.
func TestServers(t *testing.T) {
	soc := stages.Society{}
	at := map[string]string{}
	roles := soc.Roles(nil, true, true)
	names := slices.Concat(roles[0].Own, roles[0].Uses)
	for _, tool := range names {
		server, name := soc.Server(tool)
		if !slices.Contains(soc.Servers(), server) {
			t.Errorf("%s is at %q, which is no server", tool, server)
		}
		if other := at[server+"/"+name]; other != "" {
			t.Errorf("%s and %s are both %s of %s", tool, other, name, server)
		}
		at[server+"/"+name] = tool
	}
	for _, want := range []string{
		"memory/write memory_write", "memory/read memory_read", "memory/search memory_search", "memory/list_recent memory_list_recent", "memory/promote_to_global memory_promote",
		"artifact/interact interact", "artifact/move_anchor move_anchor", "artifact/state state", "artifact/complete complete", "artifact/arxiv arxiv",
		"bash_exec/detach start", "bash_exec/await await", "bash_exec/create open_shell", "bash_exec/read read_output", "bash_exec/kill kill", "bash_exec/list processes",
	} {
		place, tool, _ := strings.Cut(want, " ")
		if at[place] != tool {
			t.Errorf("%s is %q, want %s", place, at[place], tool)
		}
	}
}
