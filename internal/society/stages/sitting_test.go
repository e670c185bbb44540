package stages_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// talk is a study under way.
type talk struct{ *questtest.Story }

// begin begins a study. settings is JSON, empty for none.
func begin(t *testing.T, settings string, tools ...string) talk {
	t.Helper()
	b := questtest.Created(stages.Society{}, 0, tools...)
	b.Agents[0].Name, b.Settings, b.Problem.Text = stages.Researcher, settings, "How fast is it?"
	k := talk{questtest.Begin(t, stages.Society{}, b)}
	k.Reply = noCards
	return k
}

// noCards answers what the rules ask for a prompt: the home has no cards.
func noCards(e event.Event) event.Body {
	if b, ok := e.Body.(*event.CardCall); ok && b.Action == study.CardSearch && b.Answer == 0 {
		return &event.CardResult{Call: e.Seq}
	}
	return nil
}

const autonomous = `{"anchor":"scout","mode":"autonomous","runner":"native"}`

func (k talk) says(text string) []event.Event {
	return k.Answer(stages.Researcher, questtest.Says(text))
}

func (k talk) message(text string) []event.Event {
	return k.Take("person", &event.UserMessage{Text: event.Text{Text: text}})
}

// window is what the model is shown, as one text.
func (k talk) window() string {
	var words []string
	for _, m := range k.State.Agent(stages.Researcher).Transcript.Messages {
		for _, p := range m.Parts {
			words = append(words, p.Text.Text)
		}
	}
	return strings.Join(words, "\n")
}

// all are the bodies of a type, in order.
func all[B event.Body](events []event.Event) (out []B) {
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// kinds are the types of events, but for what is asked for prompts.
func kinds(events []event.Event) string {
	var out []string
	asked := map[uint64]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case *event.CardCall:
			if noCards(e) != nil {
				asked[e.Seq] = true
				continue
			}
		case *event.CardResult:
			if asked[b.Call] {
				continue
			}
		}
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestASittingBeginsWithTheProblemAndRests(t *testing.T) {
	k := begin(t, "", "interact")
	if got := kinds(k.Start()); got != "sitting.begun model.call" {
		t.Fatalf("a start leads to %q", got)
	}
	first := all[*event.SittingBegun](k.Events)[0]
	if first.Number != 1 || !first.Fresh || first.Anchor != "scout" || first.Skill != "scout" || !slices.Equal(first.Mail, []uint64{1}) {
		t.Errorf("the first sitting is %+v", first)
	}
	if k.State.Waiting() || !strings.Contains(k.window(), "How fast is it?") || !strings.Contains(k.window(), "Sitting 1") {
		t.Errorf("waiting %v, and the model is shown %q", k.State.Waiting(), k.window())
	}
	if got := kinds(k.says("Fast.")); got != "sitting.ended" {
		t.Errorf("an answer leads to %q", got)
	}
	if !k.State.Waiting() || k.State.Rest() != "waiting" || k.State.Status != quest.Running {
		t.Errorf("after a sitting it is %s, waiting %v", k.State.Status, k.State.Waiting())
	}
	k.Sound()
	if got := kinds(k.message("And how slow?")); got != "sitting.begun model.call" {
		t.Errorf("a message to a waiting quest leads to %q", got)
	}
	second := all[*event.SittingBegun](k.Events)[1]
	if second.Number != 2 || second.Fresh || len(second.Mail) != 1 {
		t.Errorf("the second sitting is %+v", second)
	}
	k.Sound()
}

// Mail that comes during a sitting waits for the results of the turn, or for the next sitting.
func TestMailDuringASitting(t *testing.T) {
	t.Run("BeginsNoSecondOne", func(t *testing.T) {
		k := begin(t, "", "look")
		k.Start()
		if got := k.message("alpha"); len(got) != 0 {
			t.Errorf("a message during a sitting leads to %q", kinds(got))
		}
		k.message("omega")
		if len(k.State.Mail) != 2 || strings.Contains(k.window(), "alpha") {
			t.Errorf("%d messages wait, and the model is shown %q", len(k.State.Mail), k.window())
		}
		if got := kinds(k.says("So.")); got != "sitting.ended sitting.begun model.call" {
			t.Errorf("the end of a sitting with mail leads to %q", got)
		}
		if a, b := strings.Index(k.window(), "alpha"), strings.Index(k.window(), "omega"); a < 0 || b < a {
			t.Errorf("the model is shown %q", k.window())
		}
		k.Sound()
	})
	t.Run("ComesWithTheResultsOfATurn", func(t *testing.T) {
		k := begin(t, "", "look")
		k.Start()
		k.message("hear this")
		k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: "look", Args: "{}"}))
		call := k.Open("tool.call", stages.Researcher)[0]
		k.message("and this")
		got := k.Take(stages.Researcher, &event.ToolResult{Call: call, Output: event.Text{Text: "a result"}})
		if kinds(got) != "mail.delivered model.call" {
			t.Fatalf("results lead to %q", kinds(got))
		}
		d := all[*event.MailDelivered](got)[0]
		if d.With != event.WithResults || len(d.Messages) != 2 || d.To != stages.Researcher {
			t.Errorf("delivered is %+v", d)
		}
		w := k.window()
		if i, j := strings.Index(w, "a result"), strings.Index(w, "hear this"); i < 0 || j < i || strings.Index(w, "and this") < j {
			t.Errorf("the model is shown %q", w)
		}
		k.Sound()
	})
	t.Run("SaysWhoseItIs", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.Take("person", &event.UserMessage{Text: event.Text{Text: "Hi."}, Sender: "ann]\n[Message 9", Source: "telegram", Conversation: "c1", Reply: 2})
		if want := "of ann) (Message 9 by telegram in c1, in reply to 2:]\nHi."; !strings.Contains(k.window(), want) {
			t.Errorf("the model is shown %q, want %q in it", k.window(), want)
		}
	})
}

// A message that was not delivered can be withdrawn, and then never is.
func TestAWithdrawnMessageIsNeverDelivered(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.message("never mind")
	seq := k.State.Mail[0].Seq
	k.message("this one")
	order := &event.StudyOrder{Action: event.SteerWithdraw, Message: seq}
	if got := kinds(k.Take("person", order)); got != "mail.withdrawn" {
		t.Fatalf("the order leads to %q", got)
	}
	if _, err := k.Try("person", order); err == nil {
		t.Error("a message was withdrawn twice")
	}
	k.says("So.")
	if w := k.window(); strings.Contains(w, "never mind") || !strings.Contains(w, "this one") {
		t.Errorf("the model is shown %q", w)
	}
	if _, err := k.Try("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: all[*event.SittingBegun](k.Events)[1].Mail[0]}); err == nil {
		t.Error("a message was withdrawn that was delivered")
	}
	k.Sound()
}

// What is wanted now comes with the end of the turn under way, whatever that is.
func TestNowDeliversAtOnce(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.message("stop that")
	got := k.Take("person", &event.StudyOrder{Action: event.SteerNow})
	if d := all[*event.MailDelivered](got); len(d) != 1 || d[0].With != event.WithNow {
		t.Fatalf("now leads to %q", kinds(got))
	}
	if got := kinds(k.says("What I had in mind.")); got != "model.call" {
		t.Errorf("after the turn comes %q: the sitting goes on with what was said", got)
	}
	if !strings.Contains(k.window(), "stop that") {
		t.Errorf("the model is shown %q", k.window())
	}
	k.Sound()
	t.Run("IsRefusedWhereNothingWaits", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		if _, err := k.Try("person", &event.StudyOrder{Action: event.SteerNow}); err == nil {
			t.Error("nothing was said, and it is wanted now")
		}
	})
	t.Run("TakesNothingBeforeItsTime", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.message("soon")
		k.Take("person", &event.QuestPaused{})
		k.Take("person", &event.StudyOrder{Action: event.SteerNow})
		k.Take("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: k.State.Mail[0].Seq})
		k.Take("person", &event.QuestResumed{})
		k.says("So.")
		if len(all[*event.MailDelivered](k.Events)) != 0 || len(all[*event.MailWithdrawn](k.Events)) != 1 || !k.State.Waiting() {
			t.Errorf("a message that was wanted now and withdrawn: %q", kinds(k.Events))
		}
	})
}

// Orders that were given while the quest rested are carried out once, and none breaks it.
func TestOrdersWaitForTheQuestToRun(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.message("alpha")
	k.Take("person", &event.QuestPaused{})
	for _, to := range []string{"baseline", "baseline"} {
		k.Take("person", &event.StudyOrder{Action: event.SteerStage, What: to, Reason: "because"})
		k.Take("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: k.State.Mail[0].Seq})
	}
	k.Take("person", &event.QuestResumed{})
	if n, w := len(all[*event.AnchorMoved](k.Events)), len(all[*event.MailWithdrawn](k.Events)); n != 1 || w != 1 {
		t.Errorf("%d moves and %d withdrawals", n, w)
	}
	if _, err := k.Try("person", &event.StudyOrder{Action: event.SteerStage, What: "write"}); err == nil {
		t.Error("a person's move passes no gates")
	}
	k.says("So.")
	if k.message("Go on."); !all[*event.SittingBegun](k.Events)[1].Fresh {
		t.Error("another anchor has the same window")
	}
	k.Sound()
}

// fires lets the timer of a purpose fire at its time.
func (k talk) fires(purpose string) []event.Event {
	k.T.Helper()
	for seq, c := range k.State.Calls {
		if c.Timer == purpose {
			k.Now = c.At
			return k.Take("core", &event.TimerFired{Call: seq})
		}
	}
	k.T.Fatalf("there is no timer %s", purpose)
	return nil
}

func (k talk) fails() []event.Event {
	k.T.Helper()
	return k.Answer(stages.Researcher, questtest.Fails(model.Unavailable))
}

// A failed model is tried after 10 s, 1, 6 and 30 min, and then the quest rests.
func TestAFailedModelIsTriedAgain(t *testing.T) {
	k := begin(t, "")
	k.Start()
	for i, seconds := range []event.Time{10, 60, 360, 1800} {
		got := k.fails()
		if kinds(got) != "sitting.ended timer.set" {
			t.Fatalf("failure %d leads to %q", i+1, kinds(got))
		}
		if b := all[*event.SittingEnded](got)[0]; b.Outcome != event.SittingFailed || b.Reason == "" || b.Durable {
			t.Errorf("the sitting ended as %+v", b)
		}
		if b := all[*event.TimerSet](got)[0]; b.At-k.Now != seconds*1_000_000 {
			t.Errorf("failure %d is tried again after %d s, want %d", i+1, (b.At-k.Now)/1_000_000, seconds)
		}
		if k.State.Waiting() || len(k.State.Mail) != 1 {
			t.Errorf("waiting %v for people, with %d letters", k.State.Waiting(), len(k.State.Mail))
		}
		k.Sound()
		if got := kinds(k.fires("sitting/retry")); got != "sitting.begun model.call" {
			t.Fatalf("the time is up: %q", got)
		}
		again := all[*event.SittingBegun](k.Events)[i+1]
		if !again.Recovers || again.Skill != "decision" || !slices.Equal(again.Mail, []uint64{1}) {
			t.Errorf("it is tried again as %+v", again)
		}
		if n := strings.Count(k.window(), "How fast is it?"); n != 1 {
			t.Errorf("the model is shown the problem %d times: %q", n, k.window())
		}
	}
	if got := kinds(k.fails()); got != "sitting.ended quest.rested" {
		t.Errorf("the last failure leads to %q", got)
	}
	if k.State.Status != quest.Paused || k.State.Rested != event.RestModel || !strings.Contains(k.State.Reason, "trouble") {
		t.Errorf("it is %s, %s: %s", k.State.Status, k.State.Rested, k.State.Reason)
	}
	if got := k.message("Are you there?"); len(got) != 0 || len(k.State.Mail) != 2 {
		t.Errorf("a message to a paused quest leads to %q, and %d letters wait", kinds(got), len(k.State.Mail))
	}
	if got := kinds(k.Take("person", &event.QuestResumed{})); got != "sitting.begun model.call" {
		t.Errorf("resumed, it goes on with %q", got)
	}
	if got := kinds(k.fails()); got != "sitting.ended timer.set" {
		t.Errorf("after a person resumed it, a failure leads to %q", got)
	}
	k.Sound()
}

// A provider that says when it can be asked again is asked then, and within a day whatever it says; the next failure
// without a word waits as long as any.
func TestAFailedModelIsTriedAgainWhenItsProviderSays(t *testing.T) {
	k := begin(t, "")
	k.Start()
	for i, c := range []struct{ says, want int64 }{{2, 2}, {600, 600}, {366 * 24 * 3600, 24 * 3600}, {0, 1800}} {
		r := questtest.Fails(model.Unavailable)
		r.Error.After = c.says * 1_000_000
		got := k.Answer(stages.Researcher, r)
		if b := all[*event.TimerSet](got); len(b) != 1 || int64(b[0].At-k.Now) != c.want*1_000_000 {
			t.Fatalf("failure %d, of a provider that says %d s, leads to %q, %+v; want a timer of %d s", i+1, c.says, kinds(got), b, c.want)
		}
		k.Sound()
		k.fires("sitting/retry")
	}
	if got := kinds(k.fails()); got != "sitting.ended quest.rested" {
		t.Errorf("the fifth failure leads to %q: a provider's word is no reason to try for ever", got)
	}
}

// A message ends the wait for a model, and mail of a sitting that came to nothing leads the next.
func TestAMessageEndsTheWaitForAModel(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.says("So.")
	k.message("alpha")
	k.fails()
	if got := kinds(k.message("omega")); got != "sitting.begun model.call" {
		t.Fatalf("a message leads to %q", got)
	}
	mail := all[*event.SittingBegun](k.Events)[2].Mail
	if len(mail) != 2 || mail[0] > mail[1] {
		t.Errorf("it begins with %v", mail)
	}
	if w := k.window(); strings.Count(w, "alpha") != 1 || strings.Index(w, "omega") < strings.Index(w, "alpha") {
		t.Errorf("the model is shown %q", w)
	}
	k.says("Both.")
	if !k.State.Waiting() {
		t.Error("the timer of a wait that is over keeps the quest from waiting for people")
	}
	if len(k.State.Calls) != 0 {
		t.Errorf("while it waits for people, %v is open", k.State.Calls)
	}
	k.Sound()
}

// Mail that something has come of is not delivered again.
func TestMailOfASittingThatFailedLater(t *testing.T) {
	k := begin(t, "", "look")
	k.Start()
	k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: "look", Args: "{}"}))
	k.Take(stages.Researcher, &event.ToolResult{Call: k.Open("tool.call", "")[0], Output: event.Text{Text: "a result"}})
	k.fails()
	if len(k.State.Mail) != 0 {
		t.Errorf("%d letters wait, of a sitting in which a tool was called", len(k.State.Mail))
	}
	k.fires("sitting/retry")
	if again := all[*event.SittingBegun](k.Events)[1]; len(again.Mail) != 0 || !again.Recovers || !strings.Contains(k.window(), "a result") {
		t.Errorf("it goes on with %+v, and sees %q", again, k.window())
	}
	k.Sound()
}

// Who works on their own goes on without a word, until nothing comes of it any more.
func TestAnAutonomousStudyGoesOnAndParks(t *testing.T) {
	k := begin(t, autonomous)
	k.Start()
	for i := range 2 {
		if got := kinds(k.says("Hm.")); got != "sitting.ended sitting.begun model.call" {
			t.Fatalf("sitting %d leads to %q", i+1, got)
		}
	}
	if b := all[*event.SittingBegun](k.Events)[2]; len(b.Mail) != 0 || b.Fresh || !strings.Contains(k.window(), "Sitting 3") {
		t.Errorf("the third sitting is %+v: %q", b, k.window())
	}
	if got := kinds(k.says("Hm.")); got != "sitting.ended agent.parked" {
		t.Fatalf("the third that leaves nothing leads to %q", got)
	}
	if !k.State.Waiting() || k.State.Status != quest.Running {
		t.Errorf("parked it is %s, waiting %v", k.State.Status, k.State.Waiting())
	}
	k.Sound()
	if got := kinds(k.message("Try the other way.")); got != "sitting.begun model.call" {
		t.Errorf("a message to a parked study leads to %q", got)
	}
	if got := kinds(k.says("Hm.")); got != "sitting.ended sitting.begun model.call" {
		t.Errorf("and then it goes on with %q", got)
	}
	k.Sound()
}

// Something that lasts begins the count of empty sittings anew.
func TestFilesCountAsSomethingThatLasts(t *testing.T) {
	k := begin(t, autonomous, "write")
	k.Start()
	k.says("Hm.")
	k.says("Hm.")
	k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: "write", Args: "{}"}))
	call := k.Open("tool.call", "")[0]
	k.Take(stages.Researcher, &event.FileDiff{Call: call, Cause: "tool", Changes: []event.Change{{Path: "a", Kind: event.Added, Size: 1}}})
	k.Take(stages.Researcher, &event.ToolResult{Call: call, Output: event.Text{Text: "done"}})
	if got := k.says("Wrote it."); kinds(got) != "sitting.ended sitting.begun model.call" || !all[*event.SittingEnded](got)[0].Durable {
		t.Errorf("a sitting that wrote a file leads to %q", kinds(got))
	}
	k.Sound()
}

// A command in the background is waited for: its end begins the next sitting.
func TestTheEndOfACommandBeginsASitting(t *testing.T) {
	k := begin(t, "", "run")
	k.Start()
	k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: "run", Args: "{}"}))
	call := k.Open("tool.call", "")[0]
	up := &event.ComputerStarted{Arch: "amd64", Driver: "bubblewrap"}
	var err error
	if up.Fingerprint, err = up.Sum(); err != nil {
		t.Fatal(err)
	}
	k.Take(stages.Researcher, up)
	for _, id := range []string{"c1", "c2"} {
		k.Take(stages.Researcher, &event.CliRun{Call: call, Command: id, Keep: id == "c1"})
	}
	k.Take(stages.Researcher, &event.CliExit{Call: call, Command: "c2"})
	k.Take(stages.Researcher, &event.ToolResult{Call: call, Output: event.Text{Text: "begun"}})
	if got := kinds(k.says("It runs.")); got != "sitting.ended" || k.State.Waiting() {
		t.Errorf("with a command in the background the sitting leads to %q, waiting for people: %v", got, k.State.Waiting())
	}
	k.Sound()
	if got := kinds(k.Take(stages.Researcher, &event.CliExit{Call: call, Command: "c1"})); got != "sitting.begun model.call" {
		t.Errorf("its end leads to %q", got)
	}
	if k.says("Seen."); !k.State.Waiting() {
		t.Error("when it has ended, the quest waits for people")
	}
	k.Sound()
}

// Waiting is no running time, and makes no events.
func TestWaitingIsNoRunningTime(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.says("So.")
	before := k.State.Elapsed(k.Now)
	k.Now += 3_600_000_000
	if got := k.State.Elapsed(k.Now); got != before {
		t.Errorf("an hour of waiting made %d µs of %d", got, before)
	}
	k.message("Still there?")
	if got := k.State.Elapsed(k.Now); got-before > 10_000 {
		t.Errorf("after the wait it has run for %d µs, before for %d", got, before)
	}
}

// A paused or stopped quest keeps what was said, and so does one that has its answer.
func TestAQuestAtRestKeepsMail(t *testing.T) {
	for _, rest := range []event.Body{&event.QuestPaused{}, &event.QuestStopped{}} {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.Take("person", rest)
		if got := k.message("Hello?"); len(got) != 0 || len(k.State.Mail) != 1 {
			t.Errorf("after %s a message leads to %q, and %d wait", rest.Type(), kinds(got), len(k.State.Mail))
		}
		if got := kinds(k.Take("person", &event.QuestResumed{})); got != "sitting.begun model.call" {
			t.Errorf("resumed after %s it goes on with %q", rest.Type(), got)
		}
		k.Sound()
	}
}

// A window goes on while the anchor stays and it is not half full; only what changed is said.
func TestASittingGoesOnInItsWindow(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.says("So.")
	k.message("More.")
	said := map[string]bool{}
	for _, b := range all[*event.SittingBegun](k.Events)[1].Blocks {
		said[b.Name] = b.Said
	}
	if said["system"] || !said["sitting"] || !said["mail"] || !strings.Contains(k.window(), "Sitting 1") {
		t.Errorf("a second sitting says %v", said)
	}
	r := questtest.Says(strings.Repeat("long ", 100))
	r.Usage = event.Usage{Input: 100_001, Output: 100}
	k.Answer(stages.Researcher, r)
	k.message("And now?")
	if b := all[*event.SittingBegun](k.Events)[2]; !b.Fresh || strings.Contains(k.window(), "Sitting 1") || !strings.Contains(k.window(), "And now?") {
		t.Errorf("over half of the window was taken, and the next sitting is %+v: %q", b, k.window())
	}
	k.Sound()
}

// A ledger that was forged does not fold.
func TestForgedSittingsDoNotFold(t *testing.T) {
	made := func() (talk, *event.SittingBegun) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.message("one")
		at := slices.IndexFunc(k.Events, func(e event.Event) bool { b, ok := e.Body.(*event.SittingBegun); return ok && b.Number == 2 })
		b := *k.Events[at].Body.(*event.SittingBegun)
		f := talk{&questtest.Story{T: k.T, Society: k.Society, State: k.Fold(at), Events: k.Events[:at], Now: k.Now}}
		return f, &b
	}
	forge := func(k talk, actor string, b event.Body) error {
		e, err := event.Seal(k.State.Name, k.State.Seq+1, k.State.Hash, event.Draft{Time: k.Now, Actor: actor, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		return k.State.Fold(e)
	}
	k, b := made()
	if err := forge(k, stages.Researcher, b); err != nil {
		t.Fatalf("the event itself does not fold: %v", err)
	}
	for name, change := range map[string]func(*event.SittingBegun){
		"AnotherBlock":     func(b *event.SittingBegun) { b.Blocks = slices.Clone(b.Blocks); b.Blocks[1].Hash[0] ^= 1 },
		"ABlockUnsaid":     func(b *event.SittingBegun) { b.Blocks = slices.Clone(b.Blocks); b.Blocks[len(b.Blocks)-2].Said = false },
		"MailOutOfOrder":   func(b *event.SittingBegun) { b.Mail = []uint64{2} },
		"MailThatIsGone":   func(b *event.SittingBegun) { b.Mail = append([]uint64{1}, b.Mail...) },
		"AnotherNumber":    func(b *event.SittingBegun) { b.Number = 7 },
		"ASkillOfItsOwn":   func(b *event.SittingBegun) { b.Skill = "write" },
		"SomethingWasCut":  func(b *event.SittingBegun) { b.Cut = []string{"memory"} },
		"ARecoveryOfNoone": func(b *event.SittingBegun) { b.Recovers = true },
	} {
		k, b := made()
		change(b)
		if err := forge(k, stages.Researcher, b); err == nil {
			t.Errorf("%s: a forged sitting folds", name)
		}
	}
	k, _ = made()
	for _, b := range []event.Body{&event.MailDelivered{Messages: k.State.Waits(), To: stages.Researcher, With: "results"}, &event.SittingEnded{Number: 1, Outcome: "rested"}, &event.MailWithdrawn{Message: 1}} {
		k, _ = made()
		if err := forge(k, stages.Researcher, b); err == nil {
			t.Errorf("a forged %s folds", b.Type())
		}
	}
}

// What is taken back is not delivered, though it was wanted now.
func TestWhatIsTakenBackComesFirst(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.message("alpha")
	k.message("omega")
	k.Take("person", &event.QuestPaused{})
	k.Take("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: k.State.Mail[0].Seq})
	k.Take("person", &event.StudyOrder{Action: event.SteerNow})
	if got := kinds(k.Take("person", &event.QuestResumed{})); got != "mail.withdrawn mail.delivered" {
		t.Errorf("a message that is taken back, and then the mail now, lead to %q", got)
	}
	k.Sound()
}

// A study whose problem was taken back before it began waits for words.
func TestAProblemThatIsTakenBack(t *testing.T) {
	k := begin(t, "")
	k.Take("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: 1})
	if got := kinds(k.Start()); got != "mail.withdrawn" || !k.State.Waiting() {
		t.Errorf("the start leads to %q, waiting %v", got, k.State.Waiting())
	}
	if got := kinds(k.message("Rather this.")); got != "sitting.begun model.call" {
		t.Errorf("a message leads to %q", got)
	}
	k.Sound()
}
