package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// wants is an executor that wants to do something itself.
func wants(s *questtest.Story, id string, at int64) *event.PermissionAsked {
	return &event.PermissionAsked{
		At: at, ID: id, Kind: "edit", Tool: "t" + id, Title: event.Text{Text: "Write notes"}, Input: event.Text{Text: `{"file_path":"/h/notes.md"}`},
		Paths: []string{"notes.md"}, Prompt: prompt(s), Options: []event.PermissionOption{
			{ID: "ever", Kind: "allow_always", Name: "Always"}, {ID: "once", Kind: event.AllowOnce, Name: "Yes"}, {ID: "no", Kind: event.RejectOnce, Name: "No"}},
	}
}

// decision is the last one.
func decision(s *questtest.Story) *event.PermissionDecided {
	s.T.Helper()
	for i := len(s.Events) - 1; i >= 0; i-- {
		if b, ok := s.Events[i].Body.(*event.PermissionDecided); ok {
			return b
		}
	}
	s.T.Fatalf("nothing is decided")
	return nil
}

func TestPoliciesDecideAboutPermissions(t *testing.T) {
	for name, c := range map[string]struct {
		policies, want, reason string
		change                 func(*event.PermissionAsked)
	}{
		"nobody is against it": {"", "once", "", nil},
		"its kind":             {"- name: p\n  steps:\n    - block: {type: permission.decided, where: {tool: edit}, reason: No edits.}\n", "no", "Refused by the policy p: No edits.", nil},
		"another kind":         {"- name: p\n  steps:\n    - block: {type: permission.decided, where: {tool: execute}, reason: No.}\n", "once", "", nil},
		"no kind":              {"- name: p\n  steps:\n    - block: {type: permission.decided, where: {tool: other}, reason: Say what.}\n", "no", "Say what.", func(b *event.PermissionAsked) { b.Kind = "" }},
		"its input":            {"- name: p\n  steps:\n    - block: {type: permission.decided, where: {args.file_path: /h/notes.md}, reason: No.}\n", "no", "No.", nil},
		"its paths":            {"- {use: no-touch, paths: [notes.md]}\n", "no", "must not be touched", func(b *event.PermissionAsked) { b.Input.Text = "{}" }},
		"other paths":          {"- {use: no-touch, paths: [secret]}\n", "once", "", nil},
		"later is not now":     {"- name: p\n  steps:\n    - block: {type: permission.decided, later: true, reason: Not now.}\n", "no", "Not now.", nil},
		"only for ever": {"", "no", "once", func(b *event.PermissionAsked) {
			b.Options = b.Options[:1:1]
			b.Options = append(b.Options, event.PermissionOption{ID: "no", Kind: event.RejectOnce})
		}},
		"no options":                {"", "", "once", func(b *event.PermissionAsked) { b.Options = nil }},
		"no option to refuse it by": {"- name: p\n  steps:\n    - block: {type: permission.decided, reason: No.}\n", "", "No.", func(b *event.PermissionAsked) { b.Options = b.Options[1:2] }},
		"a second way to allow it once": {"", "once", "", func(b *event.PermissionAsked) {
			b.Options = append(b.Options, event.PermissionOption{ID: "other", Kind: event.AllowOnce})
		}},
	} {
		s := host(t, c.policies, event.Limits{})
		begin(s, "p1")
		b := wants(s, "1", 10)
		if c.change != nil {
			c.change(b)
		}
		if got := kinds(s.Take("agent-0", b)); got != "permission.decided" {
			t.Errorf("%s: it leads to %s", name, got)
			continue
		}
		d := decision(s)
		if d.Option != c.want || d.Given != (c.want == "once") || !strings.Contains(d.Reason, c.reason) || d.Given && d.Reason != "" {
			t.Errorf("%s: decided %+v", name, d)
		}
		if x := s.State.Agent("agent-0").Session; len(x.Permissions) != 0 || len(x.Decided) != 1 {
			t.Errorf("%s: %d wait, %d are decided", name, len(x.Permissions), len(x.Decided))
		}
		s.Sound()
	}
}

const askFirst = "- name: ask\n  steps:\n    - ask: {type: permission.decided, reason: Shall it?}\n"

func TestAPersonDecidesAboutAPermission(t *testing.T) {
	s := host(t, askFirst, event.Limits{})
	begin(s, "p1")
	for i, choice := range []string{"yes", "no", ""} {
		if got := kinds(s.Take("agent-0", wants(s, fmt.Sprint(i), int64(10+i)))); got != "interaction.opened timer.set" {
			t.Fatalf("a permission leads to %s", got)
		}
		q := one(t, s)
		if !strings.Contains(q.Body.Question.Text, "agent-0 wants to do by itself: edit Write notes") || q.Body.Expires != q.Time+quest.PermissionTime || q.Body.Default != "no" {
			t.Errorf("a person reads %q, until %d, and then %q", q.Body.Question.Text, q.Body.Expires-q.Time, q.Body.Default)
		}
		if s.State.Waiting() {
			t.Error("a quest with an open prompt is unloaded")
		}
		s.Sound()
		var out []event.Event
		want := "permission.decided"
		if choice != "" {
			out = s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: choice})
		} else {
			s.Now = q.Body.Expires
			out = s.Take("core", &event.TimerFired{Call: s.Open("timer.set", "")[len(s.Open("timer.set", ""))-1]})
			want = "interaction.expired permission.decided"
		}
		if got := kinds(out); got != want {
			t.Fatalf("%q leads to %s, want %s", choice, got, want)
		}
		if d := decision(s); d.Given != (choice == "yes") || d.Given == (d.Option == "no") {
			t.Errorf("%q: decided %+v", choice, d)
		}
	}
	s.Sound()
	if len(s.State.Questions) != 0 {
		t.Errorf("%d questions are left", len(s.State.Questions))
	}
}

// A policy that would wait longer than an executor does not, whether the quest says how long
// that is or not.
func TestAPermissionIsNotWaitedForLongerThanItsTime(t *testing.T) {
	const second = 1_000_000
	for _, c := range []struct {
		within        string
		timeout, want event.Time
		word          string
	}{
		{"default: \"yes\", within: 2h", 0, quest.PermissionTime, "no"},
		{"default: \"yes\", within: 30s", 0, 30 * second, "yes"},
		{"default: \"yes\", within: 30s", 20 * second, 20 * second, "no"},
		{"default: \"yes\", within: 2h", 3 * 3600 * second, 2 * 3600 * second, "yes"},
		{"", 20 * second, 20 * second, "no"},
		{"", 3600 * second, 3600 * second, "no"},
	} {
		s := hostFor(t, "- name: ask\n  steps:\n    - ask: {type: permission.decided, reason: Hm., "+c.within+"}\n", c.timeout)
		begin(s, "p1")
		s.Take("agent-0", wants(s, "1", 10))
		q := one(t, s)
		if got := q.Body.Expires - q.Time; got != c.want || q.Body.Default != c.word {
			t.Errorf("%q with a timeout of %d: it waits %d, and then %q; want %d and %q", c.within, c.timeout, got, q.Body.Default, c.want, c.word)
		}
		s.Sound()
	}
}

// hostFor is a quest whose executor waits that long for a person.
func hostFor(t *testing.T, policies string, timeout event.Time) *questtest.Story {
	t.Helper()
	b := hosting(t, solo.Society{}, 1, policies, event.Limits{})
	b.PermissionTimeout = int64(timeout)
	s := questtest.Begin(t, solo.Society{}, b)
	s.Start()
	s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"})
	ready(s)
	return s
}

// Whoever takes a quest over whose owner was killed keeps the time that a person has: it is
// neither longer nor over before.
func TestTheTimeForAPermissionGoesOnWithoutAnOwner(t *testing.T) {
	const timeout = 20_000_000
	for late, want := range map[bool]string{false: "", true: "interaction.expired permission.decided"} {
		s := hostFor(t, askFirst, timeout)
		begin(s, "p1")
		s.Take("agent-0", wants(s, "1", 10))
		q := one(t, s)
		s.Sound()
		s.Now = q.Body.Expires - 2000
		if late {
			s.Now = q.Body.Expires
		}
		if got := kinds(s.Take("person", &event.QuestResumed{})); got != want {
			t.Fatalf("late %v: the next owner finds %q, want %q", late, got, want)
		}
		if late {
			if d := decision(s); d.Given || !strings.Contains(d.Reason, "Nobody answered in time") {
				t.Errorf("decided %+v", d)
			}
			continue
		}
		if again := one(t, s); again.Body.Expires != q.Time+timeout {
			t.Errorf("the question expires %d after it was asked, want %d", again.Body.Expires-q.Time, timeout)
		}
		s.Sound()
	}
}

// Whatever ends a prompt, or stops a quest, ends the waiting for permissions.
func TestNobodyWaitsForAPermissionThatCannotCome(t *testing.T) {
	for name, c := range map[string]struct {
		then func(s *questtest.Story) []event.Event
		want string
	}{
		"paused":      {func(s *questtest.Story) []event.Event { return s.Take("person", &event.QuestPaused{}) }, "The quest is paused."},
		"stopped":     {func(s *questtest.Story) []event.Event { return s.Take("person", &event.QuestStopped{}) }, "The quest is stopped."},
		"ended":       {func(s *questtest.Story) []event.Event { return ends(s, event.StopEnd, "Done.") }, "The prompt is over."},
		"interrupted": {func(s *questtest.Story) []event.Event { return ends(s, event.StopInterrupted, "") }, "The prompt is over."},
		"exceeded": {func(s *questtest.Story) []event.Event {
			s.Take("agent-0", request("a", "any"))
			s.Take("agent-0", &event.GatewayResult{Call: s.Open("gateway.call", "")[0]})
			return s.Take("agent-0", request("b", "any"))
		}, "The quest is exceeded."},
		"another process": {func(s *questtest.Story) []event.Event {
			return s.Take("agent-0", &event.SessionOpened{How: event.SessionLoaded, ID: "s1", Process: "p2"})
		}, "The process that asked is gone."},
	} {
		s := host(t, askFirst, event.Limits{Turns: new(int64(2))})
		begin(s, "p1")
		s.Take("agent-0", wants(s, "1", 10))
		s.Take("agent-0", wants(s, "2", 20))
		if len(s.State.Questions) != 2 {
			t.Fatalf("%s: %d questions are open", name, len(s.State.Questions))
		}
		out := kinds(c.then(s))
		if n := strings.Count(out, "permission.decided"); n != 2 || strings.Count(out, "interaction.withdrawn") != 2 {
			t.Errorf("%s: it leads to %s", name, out)
		}
		if d := decision(s); d.Given || d.Option != "" || d.Reason != c.want {
			t.Errorf("%s: decided %+v", name, d)
		}
		if len(s.State.Questions)+len(s.State.Agent("agent-0").Session.Permissions) != 0 {
			t.Errorf("%s: something is left", name)
		}
		s.Sound()
	}
}

// A permission that is asked for after the quest was paused is refused, though its prompt is
// still open; after the prompt nobody takes it.
func TestAPermissionAfterTheCancel(t *testing.T) {
	s := host(t, "", event.Limits{})
	begin(s, "p1")
	s.Take("person", &event.QuestPaused{})
	late := wants(s, "1", 10)
	if got := kinds(s.Take("agent-0", late)); got != "permission.decided" || decision(s).Given || decision(s).Option != "" {
		t.Errorf("while the prompt is cancelled it leads to %s, %+v", got, decision(s))
	}
	ends(s, event.StopInterrupted, "")
	later := *late
	later.ID, later.At = "2", 20
	if _, err := s.Try("agent-0", &later); err == nil {
		t.Error("a permission is taken after the prompt")
	}
	s.Sound()
}

// Words of an executor that do not fit what is known are refused, each for its own reason.
func TestForgedWordsOfAnExecutor(t *testing.T) {
	s := host(t, "", event.Limits{})
	p := prompt(s)
	report := func(at int64) *event.ToolReported {
		return &event.ToolReported{At: at, ID: "t", Status: "pending", Prompt: p}
	}
	refused := func(what, actor string, b event.Body) {
		t.Helper()
		if _, err := s.Try(actor, b); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	refused("a report before the prompt has begun", "agent-0", report(1))
	refused("a permission before the prompt has begun", "agent-0", wants(s, "1", 1))
	for what, b := range map[string]*event.PromptBegun{
		"a prompt in another session": {Call: p, Process: "p1", Session: "s9"}, "a prompt in another process": {Call: p, Process: "p9", Session: "s1"},
		"another prompt": {Call: p + 1, Process: "p1", Session: "s1"}, "no prompt": {Process: "p1", Session: "s1"},
	} {
		refused(what, "agent-0", b)
	}
	begin(s, "p1")
	refused("a prompt that is told twice to a process", "agent-0", &event.PromptBegun{Call: p, Process: "p1", Session: "s1"})
	s.Take("agent-0", report(100))
	for what, b := range map[string]event.Body{
		"the same report again":       report(100),
		"a report from before":        report(50),
		"a report of no place":        report(-1),
		"a report of another prompt":  &event.ToolReported{At: 200, ID: "t", Status: "pending", Prompt: p + 1},
		"a report without an id":      &event.ToolReported{At: 200, Status: "pending", Prompt: p},
		"a report of an odd status":   &event.ToolReported{At: 200, ID: "t", Status: "well", Prompt: p},
		"a report of many paths":      &event.ToolReported{At: 200, ID: "t", Status: "pending", Prompt: p, Paths: make([]string, 65)},
		"a plan without an end":       &event.PlanReported{At: 200, Prompt: p, Entries: make([]event.PlanEntry, 65)},
		"words of another prompt":     &event.SaidReported{At: 200, Prompt: p + 1},
		"a result of no call":         &event.PromptResult{Call: p + 1, Stop: event.StopEnd},
		"a result without an end":     &event.PromptResult{Call: p},
		"a result with two ends":      &event.PromptResult{Call: p, Stop: event.StopEnd, Error: event.Text{Text: "x"}},
		"a result by an odd reason":   &event.PromptResult{Call: p, Stop: "tired"},
		"a result before it began":    &event.PromptResult{Call: p, Stop: event.StopEnd, Duration: -1},
		"an executor ready unasked":   &event.ExecutorReady{Call: p},
		"a session without an id":     &event.SessionOpened{How: event.SessionNew, Process: "p2"},
		"a session of no process":     &event.SessionOpened{How: event.SessionLoaded, ID: "s1"},
		"a session that came somehow": &event.SessionOpened{How: "found", ID: "s1", Process: "p2"},
		"another session loaded":      &event.SessionOpened{How: event.SessionLoaded, ID: "s2", Process: "p2"},
		"the same session anew":       &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"},
	} {
		refused(what, "agent-0", b)
	}
	for what, change := range map[string]func(*event.PermissionAsked){
		"a permission without an id":      func(b *event.PermissionAsked) { b.ID = "" },
		"a permission of another prompt":  func(b *event.PermissionAsked) { b.Prompt++ },
		"a permission from before":        func(b *event.PermissionAsked) { b.At = 10 },
		"options without ids":             func(b *event.PermissionAsked) { b.Options[0].ID = "" },
		"options with the same id":        func(b *event.PermissionAsked) { b.Options[0].ID = "once" },
		"more options than can be":        func(b *event.PermissionAsked) { b.Options = make([]event.PermissionOption, 17) },
		"an id that is too long":          func(b *event.PermissionAsked) { b.ID = strings.Repeat("x", 257) },
		"a path that is too long":         func(b *event.PermissionAsked) { b.Paths = []string{strings.Repeat("x", 1025)} },
		"a kind that is no word any more": func(b *event.PermissionAsked) { b.Kind = strings.Repeat("x", 201) },
	} {
		b := wants(s, "1", 300)
		change(b)
		refused(what, "agent-0", b)
	}
	for _, b := range []event.Body{report(200), wants(s, "1", 200), &event.SaidReported{At: 200, Prompt: p}} {
		refused(fmt.Sprintf("%T of nobody", b), "agent-7", b)
		refused(fmt.Sprintf("%T of a person", b), "person", b)
	}
	// Several things may stand in one line; the same thing does not twice.
	s.Take("agent-0", &event.SaidReported{At: 400, Prompt: p, Text: event.Text{Text: "So."}})
	s.Take("agent-0", &event.SaidReported{At: 400, Prompt: p, Text: event.Text{Text: "Hm."}, Thought: true})
	s.Take("agent-0", report(400))
	s.Take("agent-0", wants(s, "1", 400))
	refused("the same permission again", "agent-0", wants(s, "1", 500))
	refused("the same words again", "agent-0", &event.SaidReported{At: 400, Prompt: p})
	// Words are told when something else follows them, which need not be the next thing.
	s.Take("agent-0", &event.PlanReported{At: 450, Prompt: p, Entries: []event.PlanEntry{}})
	s.Take("agent-0", &event.SaidReported{At: 420, Prompt: p, Text: event.Text{Text: "Before the plan."}})
	if x := s.State.Agent("agent-0").Session; x.At != 450 || x.Said != 420 || x.Thought != 400 {
		t.Errorf("it is known up to %d, its words up to %d and %d", x.At, x.Said, x.Thought)
	}
	refused("words from before", "agent-0", &event.SaidReported{At: 410, Prompt: p})
	s.Sound()
	ends(s, event.StopEnd, "Done.")
	refused("a second end of a prompt", "agent-0", &event.PromptResult{Call: p, Stop: event.StopEnd})
	refused("a report after the end", "agent-0", report(600))
	refused("a session after the end", "agent-0", &event.SessionOpened{How: event.SessionLoaded, ID: "s1", Process: "p2"})
	s.Sound()
}

// A process that takes another's place begins its output anew, and its requests count anew.
func TestAnotherProcessBeginsAnew(t *testing.T) {
	s := host(t, "", event.Limits{})
	begin(s, "p1")
	s.Take("agent-0", wants(s, "1", 1000))
	s.Take("agent-0", &event.SessionOpened{How: event.SessionLoaded, ID: "s1", Process: "p2"})
	if _, err := s.Try("agent-0", wants(s, "1", 10)); err == nil {
		t.Error("a process speaks that was told nothing")
	}
	begin(s, "p2")
	if got := kinds(s.Take("agent-0", wants(s, "1", 10))); got != "permission.decided" {
		t.Errorf("its permission leads to %s", got)
	}
	if x := s.State.Agent("agent-0").Session; x.At != 10 || len(x.Decided) != 1 {
		t.Errorf("it is known up to %d, with %d decisions", x.At, len(x.Decided))
	}
	s.Sound()
}

func TestThereIsABoundToWhatAnExecutorWaitsFor(t *testing.T) {
	s := host(t, askFirst, event.Limits{})
	begin(s, "p1")
	for i := range agent.MaxPermissions {
		s.Take("agent-0", wants(s, fmt.Sprint(i), int64(i+1)))
	}
	if _, err := s.Try("agent-0", wants(s, "more", 100)); err == nil {
		t.Error("there is no bound to permissions")
	}
	s.Sound()
}

// A ledger in which a permission was given that could not be does not fold.
func TestAForgedDecisionDoesNotFold(t *testing.T) {
	for name, b := range map[string]event.PermissionDecided{
		"for ever":               {Given: true, Option: "ever"},
		"by no option":           {Given: true},
		"by one not offered":     {Given: true, Option: "x"},
		"against a policy":       {Given: true, Option: "once"},
		"refused for ever":       {Option: "ever"},
		"for nothing asked":      {Asked: 1, Given: true, Option: "once"},
		"given by the way of no": {Given: true, Option: "no"},
	} {
		s := host(t, askFirst, event.Limits{})
		begin(s, "p1")
		s.Take("agent-0", wants(s, "1", 10))
		if b.Asked == 0 {
			b.Asked = s.State.Agent("agent-0").Session.Permissions[0].Asked
		}
		state := s.Fold(len(s.Events))
		e, err := event.Seal("q", state.Seq+1, state.Hash, event.Draft{Actor: "agent-0", Body: &b, Time: s.Now})
		must(t, err)
		if err := state.Fold(e); err == nil {
			t.Errorf("%s: it folds", name)
		}
	}
}

// A ledger in which a permission was given after the quest had come to rest does not fold, though
// nobody is against it.
func TestAPermissionThatComesTooLateDoesNotFold(t *testing.T) {
	s := host(t, "", event.Limits{})
	begin(s, "p1")
	s.Take("agent-0", wants(s, "1", 10)) // and the decision
	given := decision(s)
	if !given.Given {
		t.Fatalf("nobody is against it, and it is decided %+v", given)
	}
	for name, before := range map[string]event.Body{"in time": nil, "after a pause": &event.QuestPaused{}} {
		state := s.Fold(len(s.Events) - 1)
		fold := func(actor string, b event.Body) error {
			e, err := event.Seal("q", state.Seq+1, state.Hash, event.Draft{Actor: actor, Body: b, Time: s.Now})
			must(t, err)
			return state.Fold(e)
		}
		if before != nil {
			must(t, fold("person", before))
		}
		if err := fold("agent-0", given); (err == nil) != (before == nil) {
			t.Errorf("%s: it folds with %v", name, err)
		}
	}
}
