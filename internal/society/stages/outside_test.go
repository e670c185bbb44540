package stages_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

func (k talk) bind(conversation string, primary bool) []event.Event {
	return k.Take("person", &event.ConversationBound{Connector: "chat", Conversation: conversation, Primary: primary})
}

// sentTo is where what was said has gone, with the event that said it.
func sentTo(events []event.Event) string {
	var out []string
	for _, b := range all[*event.DeliveryCall](events) {
		out = append(out, fmt.Sprintf("%s/%s", b.Connector, b.Conversation))
	}
	return strings.Join(out, " ")
}

const routed = `{"anchor":"scout","mode":"copilot","runner":"native","routing":%q}`

func TestWhoHearsElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		routing, bound, to, told string
	}{
		{"primary_plus_local", "", "", "Said to: local. "},
		{"primary_only", "", "", "Said to: local. "},
		{"primary_plus_local", "a b", "chat/a", "Said to: local, chat. "},
		{"primary_plus_local", "a B", "chat/B", "Said to: local, chat. "},
		{"primary_plus_local", "A B", "chat/B", "Said to: local, chat. "},
		{"primary_only", "a B", "chat/B", "Said to: chat. "},
		{"fanout_all", "a B", "chat/a chat/B", "Said to: local, chat, chat. "},
	} {
		k := begin(t, fmt.Sprintf(routed, c.routing), own()...)
		k.Start()
		for w := range strings.FieldsSeq(c.bound) {
			k.bind(w, w < "a")
		}
		got := k.does("interact", `{"kind":"progress","text":"Half of it is done."}`)
		if to := sentTo(got); to != c.to {
			t.Errorf("%s with %q: it goes to %q, want %q", c.routing, c.bound, to, c.to)
		}
		said := all[*event.DeliveryCall](got)
		for _, b := range said {
			if e := k.Events[b.Said-1]; e.Type != "interact.said" || len(b.Key) != 32 {
				t.Errorf("delivered is a %s, by the key %q", e.Type, b.Key)
			}
		}
		if len(said) == 2 && said[0].Key == said[1].Key {
			t.Error("two deliveries have one key")
		}
		text, _ := told(t, got)
		if !strings.HasPrefix(text, c.told) {
			t.Errorf("%s with %q: the researcher is told %q, want %q", c.routing, c.bound, text, c.told)
		}
		// Nothing waits for the outbox: the turn goes on without its result.
		if calls := k.Open("delivery.call", ""); len(calls) != len(said) || !strings.HasSuffix(kinds(got), "model.call") {
			t.Errorf("%d deliveries are open, and what follows is %q", len(calls), kinds(got))
		}
		for _, call := range k.Open("delivery.call", "") {
			if after := kinds(k.Take("core", &event.DeliveryResult{Call: call, Error: "the disk is full"})); after != "" {
				t.Errorf("a delivery that failed leads to %q", after)
			}
		}
		k.Sound()
	}
}

func TestAQuestionIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	k.bind("a", false)
	got := k.does("interact", `{"kind":"decision_request","text":"Which?","options":["this","that"]}`)
	if n := len(all[*event.DeliveryCall](got)); n != 1 || len(all[*event.InteractionOpened](got)) != 1 {
		t.Errorf("a question is delivered %d times: %s", n, kinds(got))
	}
	// The views know the question by its place right behind the words.
	if !strings.Contains(kinds(got), "interact.said interaction.opened delivery.call") {
		t.Errorf("the order is %q", kinds(got))
	}
}

func TestAQuestionOfTheRulesIsDelivered(t *testing.T) {
	t.Parallel()
	k := begin(t, `{"anchor":"scout","ask":["idea"],"mode":"copilot","runner":"native"}`, own()...)
	k.Start()
	k.bind("a", false)
	k.baseline(t)
	got := k.does("submit_idea", `{"title":"i","text":"x"}`)
	opened, calls := all[*event.InteractionOpened](got), all[*event.DeliveryCall](got)
	if len(opened) != 1 || len(calls) != 1 || k.Events[calls[0].Said-1].Type != "interaction.opened" {
		t.Errorf("what the rules ask is not delivered: %s", kinds(got))
	}
}

func TestBindings(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	if _, err := k.Try("person", &event.ConversationBound{Connector: "chat", Conversation: "a", Gone: true}); err == nil {
		t.Error("a conversation that is not bound was let go")
	}
	for i := range 32 {
		k.bind(fmt.Sprint(i), false)
	}
	if _, err := k.Try("person", &event.ConversationBound{Connector: "chat", Conversation: "one more"}); err == nil {
		t.Error("33 conversations were bound")
	}
	k.bind("3", true)
	k.Take("person", &event.ConversationBound{Connector: "chat", Conversation: "3", Gone: true})
	if got := sentTo(k.does("interact", `{"kind":"progress","text":"x"}`)); got != "chat/0" {
		t.Errorf("when the primary one is let go it goes to %q, want the first", got)
	}
	if !k.State.Bound(&event.ConversationBound{Connector: "chat", Conversation: "0"}) || k.State.Bound(&event.ConversationBound{Connector: "chat", Conversation: "3"}) {
		t.Error("the quest does not know who is bound to it")
	}
	// A fork is another quest, and nobody asked to hear it.
	stages.Of(k.State).Abandon()
	if n := len(stages.Of(k.State).Study.Bound); n != 0 {
		t.Errorf("a fork is bound to %d conversations", n)
	}
}

// TestWhatWasNotSentYet: whoever is let go does not hear it, a fork has none of it, and a study that
// has something to send does not wait.
func TestWhatWasNotSentYet(t *testing.T) {
	t.Parallel()
	k := begin(t, fmt.Sprintf(routed, "fanout_all"), own()...)
	k.Start()
	k.bind("a", false)
	k.bind("b", false)
	k.says("So.")
	s := k.study()
	if !k.State.Waiting() {
		t.Fatal("the study has said its last word, and does not wait")
	}
	s.Unsent = []study.Unsent{{Said: 1, Connector: "chat", Conversation: "a"}, {Said: 1, Connector: "chat", Conversation: "b"}}
	if k.State.Waiting() {
		t.Error("the study waits, and has something to send")
	}
	k.Take("person", &event.QuestPaused{})
	k.Take("person", &event.ConversationBound{Connector: "chat", Conversation: "a", Gone: true})
	if len(s.Unsent) != 1 || s.Unsent[0].Conversation != "b" {
		t.Errorf("left to be sent is %+v, want what b is to hear", s.Unsent)
	}
	stages.Of(k.State).Abandon()
	if len(s.Unsent) != 0 {
		t.Errorf("a fork has %+v to send", s.Unsent)
	}
}
