package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/model"
)

// conversation is what the server says of one.
type conversation struct {
	Stage      string
	Stages     []string
	Moves      []struct{ From, To, Reason, By string }
	Sitting    struct{ Number int64 }
	Utterances []struct {
		Seq                  uint64
		Kind, Label, Text    string
		Delivery, Sender, By string
		Reply                uint64
		Options, Files       []string
	}
	Total    int
	Next     *int64
	Previous *int64
}

// researched is a study by a model of fixed words: it asks, is answered by a message from
// elsewhere, goes to another stage and rests. Two more messages wait, and one is taken back.
func (s *server) researched(g *gate, name string) (last uint64) {
	s.t.Helper()
	g.says = func(r *model.Request) *model.Answer {
		switch r.Turn {
		case 1:
			return call("interact", `{"kind":"decision_request","text":"Which error?","options":["mean","root"],"files":["notes.md"]}`, r.Turn)
		case 3:
			return call("move_anchor", `{"to":"baseline","reason":"The error is chosen.","because":["1"]}`, r.Turn)
		}
		return said("Turn " + fmt.Sprint(r.Turn) + strings.Repeat(" and more", 9000*int(r.Turn%3/2)))
	}
	at := "/api/quests/" + name
	s.create(name, map[string]any{"society": "stages"})
	g.let(4)
	s.control(name, map[string]any{"action": "start"}).want(s.t, 200)
	s.waits(name)
	var c conversation
	s.do("GET", at+"/conversation", nil).want(s.t, 200).into(s.t, &c)
	s.do("POST", at+"/messages", map[string]any{"text": "The mean.", "source": "mail", "sender": "ann", "reply": c.Utterances[1].Seq}).want(s.t, 202)
	for s.waits(name); c.Stage != "baseline" || c.Sitting.Number != 2; s.waits(name) {
		s.do("GET", at+"/conversation", nil).want(s.t, 200).into(s.t, &c)
	}
	s.do("POST", at+"/messages", map[string]any{"text": "/stage scout we were hasty"}).want(s.t, 202)
	s.control(name, map[string]any{"action": "pause"}).want(s.t, 200)
	var kept, back posted
	s.do("POST", at+"/messages", map[string]any{"text": "Kept.", "attachments": []any{map[string]any{"name": "dot.png", "data": dot}}}).want(s.t, 202).into(s.t, &kept)
	s.do("POST", at+"/messages", map[string]any{"text": "Taken back."}).want(s.t, 202).into(s.t, &back)
	s.do("DELETE", fmt.Sprintf("%s/messages/%d", at, back.Message), nil).want(s.t, 202)
	g.says = nil
	return kept.Message
}

// TestAConversationByTheAPI: what was said is there in order, with how far each message came
// and how the study came to its stage.
func TestAConversationByTheAPI(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.researched(h.gate, "q")
	var c conversation
	s.do("GET", "/api/quests/q/conversation", nil).want(t, 200).into(t, &c)
	var got []string
	for _, u := range c.Utterances {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %.40s", u.Kind, u.Label, u.Delivery, u.Text)))
	}
	want := []string{"message", "said decision_request  Which error?", "said   Turn 2", "message  delivered The mean.", "news   goes from scout to baseline", "said   Turn 4", "news   goes from baseline to scout", "message  queued Kept.", "message  withdrawn Taken back."}
	if len(got) != len(want) {
		t.Fatalf("got %d utterances, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("utterance %d is %q, want %q", i, got[i], w)
		}
	}
	if asked := c.Utterances[1]; !slices.Equal(asked.Options, []string{"mean", "root"}) || !slices.Equal(asked.Files, []string{"notes.md"}) {
		t.Errorf("the question is %+v, want its options and its file", asked)
	}
	if m := c.Utterances[3]; m.Sender != "ann" || m.Reply != c.Utterances[1].Seq {
		t.Errorf("the message is %+v, want its sender and what it answers", m)
	}
	// A question that was answered is closed: a reply to it is refused, and nothing is recorded.
	before := lines(t, s.rt, "q")
	late := s.do("POST", "/api/quests/q/messages", map[string]any{"text": "The root.", "reply": c.Utterances[1].Seq}).want(t, 400)
	if !contains(late, "is closed: say it without the number") || !contains(late, `"reply"`) || !slices.Equal(lines(t, s.rt, "q"), before) {
		t.Errorf("a reply to a closed question: %s", late.body)
	}
	if c.Stage != "scout" || len(c.Stages) != 7 || len(c.Moves) != 2 || c.Moves[0].Reason != "The error is chosen." || c.Moves[1].Reason != "we were hasty" {
		t.Errorf("the study is at %s by %+v, want it back at scout, with both reasons", c.Stage, c.Moves)
	}
	s.do("GET", "/api/quests/q/conversation?before=3&limit=2", nil).want(t, 200).into(t, &c)
	if len(c.Utterances) != 2 || c.Utterances[0].Label != "decision_request" || c.Next == nil || *c.Next != 2 || c.Previous == nil || *c.Previous != 1 {
		t.Errorf("a page is %+v, want the second and the third, and where others are", c)
	}
}

// askStudy gives a study commands, and takes a message back.
func (w *world) askStudy(ask func(string, string, any, ...func(*http.Request)) answer) {
	kept := w.researched(w.gate, "talk")
	const say, back = "POST /api/quests/{quest}/messages", "DELETE /api/quests/{quest}/messages/{message}"
	const talk = "GET /api/quests/{quest}/conversation"
	ask(talk, "/api/quests/talk/conversation", nil).want(w.t, 200)
	ask(talk, "/api/quests/talk/conversation?before=5&limit=2", nil).want(w.t, 200)
	ask(say, "/api/quests/talk/messages", map[string]any{"text": "/status"}).want(w.t, 202)
	var got posted
	ask(say, "/api/quests/talk/messages", map[string]any{"text": "And then?"}).want(w.t, 202).into(w.t, &got)
	if got.Delivery != "queued" {
		w.t.Errorf("a message to a study that is paused: got %+v, want it queued", got)
	}
	ask(back, fmt.Sprintf("/api/quests/talk/messages/%d", kept), nil).want(w.t, 202)
	ask(back, "/api/quests/talk/messages/999", nil).want(w.t, 404)
	ask(back, "/api/quests/alone/messages/2", nil).want(w.t, 409)
}
