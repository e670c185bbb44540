package stages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// own are the tools of the rules.
func own() (names []string) {
	for _, t := range (stages.Society{}).Own() {
		names = append(names, t.Name)
	}
	return names
}

// does calls a tool, and returns what followed.
func (k talk) does(tool, args string) []event.Event {
	return k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: tool, Args: args}))
}

// told is what a call was answered, and whether that is an error.
func told(t *testing.T, events []event.Event) (string, bool) {
	t.Helper()
	list := all[*event.ToolAnswered](events)
	if len(list) == 0 {
		t.Fatalf("nothing is answered: %s", kinds(events))
	}
	return list[len(list)-1].Output.Text, list[len(list)-1].Error
}

// refused checks that a call comes to nothing but words.
func refused(t *testing.T, events []event.Event, want string) {
	t.Helper()
	text, wrong := told(t, events)
	if !wrong || !strings.Contains(text, want) {
		t.Errorf("answered %q, error %v, want an error with %q", text, wrong, want)
	}
	for _, e := range events {
		switch e.Body.(type) {
		case *event.InteractSaid, *event.AnchorMoved, *event.CardWritten, *event.CardPromoted, *event.QuestFinished:
			t.Errorf("%s follows from what is refused", e.Type)
		}
	}
}

func TestInteract(t *testing.T) {
	t.Parallel()
	t.Run("SaysAndGoesOn", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		got := k.does("interact", `{"kind":"milestone","text":"half"}`)
		if kinds(got) != "model.result tool.call interact.said tool.answered model.call" && !strings.HasSuffix(kinds(got), "interact.said tool.answered model.call") {
			t.Errorf("it leads to %q", kinds(got))
		}
		if text, wrong := told(t, got); wrong || !strings.Contains(text, "Nothing came. Go on.") || strings.Contains(text, "half") || !strings.Contains(text, "local") {
			t.Errorf("it is answered %q", text)
		}
		if b := all[*event.InteractSaid](got)[0]; b.Reply != study.ReplyThreaded {
			t.Errorf("a milestone has the reply %s", b.Reply)
		}
		k.Sound()
	})
	t.Run("BringsTheMail", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		k.message("stop that")
		got := k.does("interact", `{"kind":"progress","text":"half"}`)
		d := all[*event.MailDelivered](got)
		if len(d) != 1 || d[0].With != event.WithInteract || len(k.State.Mail) != 0 {
			t.Fatalf("it leads to %q", kinds(got))
		}
		if text, _ := told(t, got); !strings.Contains(text, "Messages came") {
			t.Errorf("it is answered %q", text)
		}
		if w := k.window(); strings.Count(w, "]\nstop that") != 1 {
			t.Errorf("the model is shown %q", w)
		}
		k.Sound()
	})
	t.Run("EqualProgressOnce", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		k.does("interact", `{"kind":"progress","text":"half"}`)
		got := k.does("interact", `{"kind":"progress","text":" half "}`)
		if text, wrong := told(t, got); wrong || len(all[*event.InteractSaid](got)) != 0 || !strings.Contains(text, "already") {
			t.Errorf("the same progress leads to %q: %s", kinds(got), text)
		}
		k.message("and?")
		if got = k.does("interact", `{"kind":"progress","text":"half"}`); len(all[*event.InteractSaid](got)) != 1 {
			t.Errorf("after a word the same progress leads to %q", kinds(got))
		}
	})
	t.Run("OneQuestionIsOpen", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		k.does("interact", `{"kind":"decision_request","text":"a?","options":["x","y"]}`)
		first := k.State.Open()
		if len(first) != 1 || !slices.Equal(first[0].Body.Options, []string{"x", "y"}) {
			t.Fatalf("%d questions are open: %+v", len(first), first)
		}
		got := k.does("interact", `{"kind":"decision_request","text":"b?"}`)
		if open := k.State.Open(); len(open) != 1 || open[0].Body.Question.Text != "b?" || len(all[*event.InteractionWithdrawn](got)) != 1 {
			t.Fatalf("a newer question leads to %q, and %+v are open", kinds(got), open)
		}
		k.says("I rest.")
		if !k.State.Waiting() {
			t.Error("it does not wait for the answer")
		}
		k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Text: "the second"})
		if b := all[*event.SittingBegun](k.Events); len(b) != 2 || b[1].Skill != study.SkillDecision || !strings.Contains(k.window(), "the second") {
			t.Errorf("the answer begins %+v", b[len(b)-1])
		}
		k.Sound()
	})
	t.Run("AWordAnswersTheQuestion", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		k.does("interact", `{"kind":"decision_request","text":"a?"}`)
		k.says("I rest.")
		k.message("yes")
		if b := all[*event.SittingBegun](k.Events); b[len(b)-1].Skill != study.SkillDecision || len(k.State.Open()) != 0 {
			t.Errorf("the answer begins %+v, and %d questions are open", b[len(b)-1], len(k.State.Open()))
		}
		k.Sound()
	})
	t.Run("WhoWorksAloneDecides", func(t *testing.T) {
		t.Parallel()
		k := begin(t, autonomous, own()...)
		k.Start()
		refused(t, k.does("interact", `{"kind":"decision_request","text":"a?"}`), "decide by yourself")
		if got := k.does("interact", `{"kind":"decision_request","text":"may I pay?","about":"money"}`); len(k.State.Open()) != 1 {
			t.Errorf("a question about money leads to %q", kinds(got))
		}
	})
	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		for args, want := range map[string]string{
			`{"kind":"gossip","text":"a"}`:                                   "no kind",
			`{"kind":"progress","text":" "}`:                                 "1 to 4000 bytes",
			`{"kind":"progress","text":"` + strings.Repeat("x", 4001) + `"}`: "1 to 4000 bytes",
			`{"kind":"progress","text":"a","reply":"perhaps"}`:               "none, threaded or blocking",
			`{"kind":"progress","text":"a","options":["x"]}`:                 "Options are for a question",
			`{"kind":"progress","text":"a","files":["../x"]}`:                "no file of your home",
			`{"kind":"progress","text":"a","more":1}`:                        "do not fit the tool",
		} {
			refused(t, k.does("interact", args), want)
		}
		k.Sound()
	})
}

func TestMoveAnchor(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	got := k.does("move_anchor", `{"to":"idea","reason":"r"}`)
	if b := all[*event.PolicyBlocked](got); len(b) != 1 || b[0].By[0].Policy != study.BaselineFirst {
		t.Fatalf("going on without a baseline leads to %q", kinds(got))
	}
	refused(t, k.does("move_anchor", `{"to":"nowhere","reason":"r"}`), "no stage")
	refused(t, k.does("move_anchor", `{"to":"baseline","reason":" "}`), "reason")
	refused(t, k.does("move_anchor", `{"to":"baseline","reason":"r","because":["999999"]}`), "no card and no event")
	refused(t, k.does("move_anchor", `{"to":"scout","reason":"r"}`), "already")
	got = k.does("move_anchor", `{"to":"baseline","reason":"the field is known","because":["1"]}`)
	if m := all[*event.AnchorMoved](got); len(m) != 1 || m[0].From != "scout" || m[0].By != "tool" || !slices.Equal(m[0].Because, []string{"1"}) {
		t.Fatalf("a move leads to %q", kinds(got))
	}
	if _, err := k.Try("person", &event.StudyOrder{Action: event.SteerStage, What: "idea", Reason: "r"}); err == nil {
		t.Error("a person goes on without a baseline, and has not waived it")
	}
	k.Take("person", &event.StudyOrder{Action: event.SteerWaive, What: study.BaselineFirst, Reason: "there is none"})
	if got = k.does("move_anchor", `{"to":"idea","reason":"r"}`); len(all[*event.AnchorMoved](got)) != 1 {
		t.Errorf("after a waiver the move leads to %q", kinds(got))
	}
	if text, _ := told(t, k.does("state", `{}`)); !strings.Contains(text, "The study is at idea") || !strings.Contains(text, "was waived") || !strings.Contains(text, "experiment needs an idea") {
		t.Errorf("state says %s", text)
	}
	k.Sound()
}

func TestComplete(t *testing.T) {
	t.Parallel()
	const final = `{"anchor":"finalize","mode":"copilot","runner":"native"}`
	t.Run("OnlyFromFinalize", func(t *testing.T) {
		t.Parallel()
		k := begin(t, "", own()...)
		k.Start()
		refused(t, k.does("complete", `{"answer":"42"}`), "completed from finalize")
	})
	t.Run("EndsTheQuest", func(t *testing.T) {
		t.Parallel()
		k := begin(t, final, own()...)
		k.Start()
		got := k.does("complete", `{"answer":"42"}`)
		if k.State.Status != quest.Finished || k.State.Answer.Text != "42" || !strings.HasSuffix(kinds(got), "tool.answered sitting.ended quest.finished") {
			t.Fatalf("it is %s after %q", k.State.Status, kinds(got))
		}
		k.Sound()
	})
	t.Run("AMessageTakesItUpAgain", func(t *testing.T) {
		t.Parallel()
		k := begin(t, final, own()...)
		k.Start()
		k.does("complete", `{"answer":"42"}`)
		if got := k.message("And in binary?"); len(got) != 0 || !k.State.Wakes() || len(k.State.Mail) != 1 {
			t.Fatalf("a message to a finished study leads to %q, and it wakes: %v", kinds(got), k.State.Wakes())
		}
		got := k.Take("person", &event.QuestResumed{})
		if b := all[*event.SittingBegun](got); len(b) != 1 || len(b[0].Mail) != 1 || k.State.Status != quest.Running {
			t.Fatalf("it goes on with %q as %s", kinds(got), k.State.Status)
		}
		if k.does("complete", `{"answer":"101010"}`); k.State.Status != quest.Finished || k.State.Answer.Text != "101010" {
			t.Errorf("the second answer leaves it %s with %+v", k.State.Status, k.State.Answer)
		}
		k.Sound()
	})
	t.Run("APersonIsAskedFirst", func(t *testing.T) {
		t.Parallel()
		k := begin(t, `{"anchor":"finalize","mode":"copilot","runner":"native","ask":["finish"]}`, own()...)
		k.Start()
		k.does("complete", `{"answer":"42"}`)
		if len(k.State.Open()) != 1 || !k.State.Waiting() {
			t.Fatalf("%d questions are open", len(k.State.Open()))
		}
		refused(t, k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "no", Text: "too early"}), "too early")
		k.does("complete", `{"answer":"43"}`)
		if k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "yes"}); k.State.Status != quest.Finished || k.State.Answer.Text != "43" {
			t.Errorf("after a yes it is %s", k.State.Status)
		}
		k.Sound()
	})
	t.Run("AQuestionThatNobodyWaitsForIsWithdrawn", func(t *testing.T) {
		t.Parallel()
		k := begin(t, `{"anchor":"finalize","mode":"copilot","runner":"native","ask":["finish"]}`, own()...)
		k.Start()
		k.does("complete", `{"answer":"42"}`)
		asked := k.State.Open()[0].Seq
		got := k.Take("person", &event.StudyOrder{Action: event.SteerStage, What: "scout", Reason: "r"})
		if text, bad := told(t, got); !bad || !strings.Contains(text, "completed from finalize") {
			t.Errorf("it is answered %q", text)
		}
		if w := all[*event.InteractionWithdrawn](got); len(w) != 1 || w[0].Interaction != asked || len(k.State.Open()) != 0 {
			t.Errorf("the question stays: %q", kinds(got))
		}
		k.Sound()
	})
}

func TestMemoryTools(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	got := k.does("memory_write", `{"kind":"ideas","title":"標題","text":"Try annealing.\nThen more.","tags":["a"]}`)
	card := all[*event.CardWritten](got)[0]
	if card.Revision != 1 || card.Summary != "Try annealing. Then more." || card.Stage != "scout" || len(card.ID) != 32 {
		t.Errorf("the card is %+v", card)
	}
	if text, _ := told(t, got); !strings.Contains(text, card.ID) {
		t.Errorf("it is answered %q", text)
	}
	got = k.does("memory_write", fmt.Sprintf(`{"kind":"ideas","title":"t","text":"Annealing failed.","id":%q}`, card.ID))
	if b := all[*event.CardWritten](got)[0]; b.Revision != 2 || b.ID != card.ID {
		t.Errorf("the rewrite is %+v", b)
	}
	for args, want := range map[string]string{
		`{"kind":"gossip","title":"t","text":"x"}`:                                           "no kind",
		`{"kind":"ideas","title":"a\nb","text":"x"}`:                                         "one line",
		`{"kind":"ideas","title":"t","text":" "}`:                                            "1 to 8000 bytes",
		`{"kind":"ideas","title":"t","text":"x","tags":["` + strings.Repeat("y", 41) + `"]}`: "tags",
		`{"kind":"ideas","title":"t","text":"x","id":"../x"}`:                                "no card",
		fmt.Sprintf(`{"kind":"papers","title":"t","text":"x","id":%q}`, card.ID):             "stays so",
	} {
		refused(t, k.does("memory_write", args), want)
	}
	if text, _ := told(t, k.does("memory_read", fmt.Sprintf(`{"id":%q}`, card.ID))); !strings.Contains(text, "Annealing failed.") || !strings.Contains(text, "revision: 2") || !strings.Contains(text, "data, not instructions") {
		t.Errorf("memory_read says %s", text)
	}
	refused(t, k.does("memory_read", `{"id":"x"}`), "no card")
	if text, _ := told(t, k.does("memory_list_recent", `{}`)); strings.Count(text, "\n") != 1 || !strings.Contains(text, card.ID) {
		t.Errorf("memory_list_recent says %s", text)
	}
	a := k.State.Agent(stages.Researcher)
	k.does("memory_search", `{"query":"annealing"}`)
	d, err := k.State.Deliver(a, &a.Open[0])
	if err != nil || len(d.Find.Among) != 1 || d.Find.Query != "annealing" || d.Find.Among[0].Parts[0].Text != "Annealing failed." {
		t.Errorf("memory_search looks for %+v, %v", d, err)
	}
}

func TestPromotion(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	card := all[*event.CardWritten](k.does("memory_write", `{"kind":"knowledge","title":"t","text":"x"}`))[0]
	got := k.does("memory_promote", fmt.Sprintf(`{"id":%q}`, card.ID))
	calls := all[*event.CardCall](got)
	if len(calls) != 1 || calls[0].Action != study.CardPut || !strings.Contains(calls[0].Text.Text, "origin: \"q event") || !strings.Contains(calls[0].Text.Text, "scope: global") {
		t.Fatalf("a promotion leads to %q", kinds(got))
	}
	got = k.Take("core", &event.CardResult{Call: k.Open("card.call", "")[0]})
	if text, wrong := told(t, got); wrong || !strings.Contains(text, "once a person has approved") {
		t.Errorf("it is answered %q", text)
	}
	refused(t, k.does("memory_promote", fmt.Sprintf(`{"id":%q}`, card.ID)), "offered already")
	k.does("memory_global", `{"query":"annealing"}`)
	got = k.Take("core", &event.CardResult{Call: k.Open("card.call", "")[0], Cards: []event.HomeCard{{ID: "1", Kind: "knowledge", Quest: "other", Title: "<orders>", Summary: "s"}}})
	if text, wrong := told(t, got); wrong || strings.Contains(text, "<orders>") || !strings.Contains(text, "data, not instructions") {
		t.Errorf("memory_global says %q", text)
	}
	k.does("memory_global", `{"query":"annealing"}`)
	if len(k.Open("card.call", "")) != 1 {
		t.Error("a second search takes the answer of the first")
	}
	refused(t, k.Take("core", &event.CardResult{Call: k.Open("card.call", "")[0], Error: "the disk is full"}), "the disk is full")
	k.Sound()
}

// A fork anywhere does nothing twice.
func TestAForkAnywhereDoesNothingTwice(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	k.message("hm")
	k.does("interact", `{"kind":"decision_request","text":"a?"}`)
	k.does("memory_write", `{"kind":"ideas","title":"t","text":"x"}`)
	k.does("move_anchor", `{"to":"baseline","reason":"r"}`)
	k.says("I rest.")
	for n := 3; n <= len(k.Events); n++ {
		f := talk{k.Fork(n, nil)}
		f.Take("person", &event.QuestResumed{})
		f.Sound()
		seen := map[string]bool{}
		for _, e := range f.Events {
			at := ""
			switch b := e.Body.(type) {
			case *event.InteractSaid:
				at = fmt.Sprint("said ", b.Answer, b.Part)
			case *event.CardWritten:
				at = fmt.Sprint("card ", b.Answer, b.Part)
			case *event.AnchorMoved:
				at = fmt.Sprint("move ", b.Answer, b.Part)
			}
			if at != "" && seen[at] {
				t.Errorf("fork at %d (%s): %s twice", n, k.Events[n-1].Type, at)
			}
			seen[at] = true
		}
	}
}

// mover goes to and fro between all stages by all tools that lead to one, makes what the next
// stages need, and people waive what they like.
type mover struct {
	anchor string
	// have are the gates that are open: what they want was made, or it was waived.
	have []string
}

func (m *mover) study() *study.Study {
	s := study.New(study.Copilot, m.anchor, false)
	s.Paperless, s.Counts = true, map[string]int64{}
	for _, h := range m.have {
		switch h {
		case "made " + study.BaselineFirst:
			s.Accepted = []string{"result-1"}
		case "made " + study.IdeaFirst:
			s.Counts[study.KindIdea] = 1
		case "made " + study.ResultFirst:
			s.Results = []*study.Result{{Kind: study.ResultMain}}
		case "made " + study.CheckedPaper:
			s.Counts[study.KindReport] = 1
		default:
			s.Waived = append(s.Waived, study.Waiver{Policy: h})
		}
	}
	return s
}

func (m *mover) Bids() (b behavior.Bids) {
	call := func(tool, to string) {
		f := &policy.Facts{Agent: stages.Researcher, Tool: tool, Ref: to, Author: m.anchor, Asked: m.have}
		for _, g := range m.study().Lacks(to) {
			f.Lacks = append(f.Lacks, g.Name)
		}
		b.Request = append(b.Request, behavior.Event{Type: "tool.call", Detail: f})
	}
	for _, to := range study.Anchors {
		call("move_anchor", to)
	}
	call("submit_idea", study.Idea)
	call("record_main_experiment", study.Baseline)
	call("record_main_experiment", study.Experiment)
	call("create_analysis_campaign", study.Campaign)
	call("record_slice", study.Campaign)
	for _, g := range study.Gates {
		b.Request = append(b.Request, behavior.Event{Type: "waived", Detail: &policy.Facts{Ref: g.Name}}, behavior.Event{Type: "waived", Detail: &policy.Facts{Ref: "made " + g.Name}})
	}
	return b
}

func (m *mover) Next(e behavior.Event) bool {
	f := e.Detail.(*policy.Facts)
	if e.Type == "tool.call" {
		m.anchor = f.Ref
	} else if gate := strings.TrimPrefix(f.Ref, "made "); !slices.Contains(m.have, gate) && !slices.Contains(m.have, "made "+gate) {
		m.have = slices.Sorted(slices.Values(append(slices.Clone(m.have), f.Ref)))
	}
	return true
}
func (m *mover) Save() string { return m.anchor + "|" + strings.Join(m.have, ",") }
func (m *mover) Restore(s string) error {
	anchor, have, _ := strings.Cut(s, "|")
	m.anchor, m.have = anchor, nil
	if have != "" {
		m.have = strings.Split(have, ",")
	}
	return nil
}

// leaps are moves that pass a gate without what it wants, told by a table of their own.
type leaps struct{}

func (leaps) String() string { return "the study goes on without what it needs" }
func (leaps) Match(e behavior.Event) behavior.Truth {
	f, ok := e.Detail.(*policy.Facts)
	if !ok || e.Type != "tool.call" {
		return behavior.No
	}
	from, to := slices.Index(study.Anchors, f.Author), slices.Index(study.Anchors, f.Ref)
	for gate, before := range map[string]int{"baseline-first": 2, "idea-first": 3, "result-first": 4, "checked-paper": 6} {
		if from < before && to >= before && !slices.Contains(f.Asked, gate) && !slices.Contains(f.Asked, "made "+gate) {
			return behavior.Yes
		}
	}
	return behavior.No
}

func checked(t *testing.T, threads []behavior.Thread) behavior.Verdict {
	t.Helper()
	p := behavior.New(nil)
	for _, th := range append(threads, behavior.Thread{Name: "mover", Priority: 1 << 20, Repeat: true, Start: func() behavior.Behavior { return &mover{anchor: study.Scout} }}) {
		if err := p.Add(th); err != nil {
			t.Fatal(err)
		}
	}
	v, err := p.Check(behavior.CheckOptions{Never: leaps{}, Reach: behavior.Of("waived")})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNoStateLetsAStudyLeap(t *testing.T) {
	t.Parallel()
	threads := (stages.Society{}).Policies()
	if v := checked(t, threads); v.Result != behavior.Holds {
		t.Fatalf("%s: %s, after %v", v.Result, v.Reason, v.Trace)
	}
	for i := range threads {
		if v := checked(t, slices.Delete(slices.Clone(threads), i, i+1)); v.Result != behavior.Fails {
			t.Errorf("without %s: %s, want that it fails", threads[i].Name, v.Result)
		}
	}
}
