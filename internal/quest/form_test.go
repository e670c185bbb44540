package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

var person = []event.FormField{
	{Name: "age", Kind: "integer", Required: true},
	{Name: "colour", Kind: "string", Options: []string{"red", "blue"}, Title: "Colour"},
	{Name: "member", Kind: "boolean"},
	{Name: "size", Kind: "number"},
}

// formed begins a quest whose agent calls a tool of a server that wants to know something.
func formed(t *testing.T, b *event.McpAsked) (s *questtest.Story, question uint64) {
	t.Helper()
	c := questtest.Created(solo.Society{}, 1, "one__a")
	c.Servers = []event.ServerPin{{Kind: "http", Name: "one", Settings: event.RefOf([]byte("one"))}}
	s = questtest.Begin(t, solo.Society{}, c)
	s.Start()
	s.Take("agent-0", listed(s.Open("mcp.call", "")[0], "one", pin("one__a", "")))
	s.Answer("agent-0", questtest.Calls(questtest.Call{Tool: "one__a", Args: `{}`}))
	b.Call, b.Server, b.ID = s.Open("tool.call", "")[0], "one", "1"
	got := s.Take("agent-0", b)
	if kinds(got) != "interaction.opened timer.set" {
		t.Fatalf("a server that asks leads to %s", kinds(got))
	}
	return s, got[0].Seq
}

func filled(s *questtest.Story, q uint64, choice, text string) []event.Event {
	return s.Take("person", &event.InteractionAnswered{Interaction: q, Choice: choice, Text: text})
}

// replied is what the server is told.
func replied(all []event.Event) *event.McpReplied {
	for _, e := range all {
		if b, ok := e.Body.(*event.McpReplied); ok {
			return b
		}
	}
	return nil
}

func TestAFormIsCheckedAndAskedOnceMore(t *testing.T) {
	for text, want := range map[string]string{
		"age: 7":                                   `{"age":7}`,
		"age: 7\n\ncolour: blue\nmember: yes\n":    `{"age":7,"colour":"blue","member":true}`,
		`{"age": 7, "size": 1.5, "member": false}`: `{"age":7,"member":false,"size":1.5}`,
		"size:\nage: -3":                           `{"age":-3}`,
	} {
		s, q := formed(t, &event.McpAsked{Fields: person, Message: "Who are you?"})
		if b := replied(filled(s, q, "", text)); b == nil || !b.Accepted || b.Values != want {
			t.Errorf("%q: the server is told %+v, want %s", text, b, want)
		}
		s.Sound()
	}
	for text, wrong := range map[string]string{
		"colour: blue":                  "age is missing",
		"age: seven":                    "age must be integer, required",
		"age: 7\ncolour: green":         "colour must be one of red, blue",
		"age: 7\nmember: perhaps":       "member must be boolean",
		"age: 7\nsize: NaN":             "size must be number",
		"age: 7\nage: 8":                "age stands there twice",
		"seven years":                   "does not begin with the name of a field",
		`{"age": 7`:                     "begins as JSON and is none",
		`{"age": 7, "pin": 1}`:          "there is no field \"pin\"",
		`{"age": 7, "colour": {"a":1}}`: "colour must be one of",
		`{"age": 7.5}`:                  "age must be integer",
	} {
		s, q := formed(t, &event.McpAsked{Fields: person})
		got := filled(s, q, "", text)
		if !strings.HasPrefix(kinds(got), "interaction.opened") || !strings.Contains(got[0].Body.(*event.InteractionOpened).Question.Text, wrong) {
			t.Errorf("%q leads to %s, want another question that says %q", text, kinds(got), wrong)
			continue
		}
		b := replied(filled(s, got[0].Seq, "", text))
		if b == nil || b.Accepted || b.Values != "" || !strings.Contains(b.Why, wrong) {
			t.Errorf("%q again: the server is told %+v, want nothing, for %q", text, b, wrong)
		}
		s.Sound()
	}
	s, q := formed(t, &event.McpAsked{Fields: person[:1]})
	if b := replied(filled(s, q, "", "7")); b == nil || b.Values != `{"age":7}` {
		t.Errorf("where there is one thing to say, its name may be left out: the server is told %+v", b)
	}
}

func TestAFormThatNobodyFillsIsDeclined(t *testing.T) {
	s, q := formed(t, &event.McpAsked{Fields: person, Message: "Who\nare you?"})
	opened := s.State.Open()[0].Body
	if opened.Expires == 0 || !strings.Contains(opened.Question.Text, `"Who\nare you?"`) || !strings.Contains(opened.Question.Text, "- colour (one of red, blue): Colour") {
		t.Errorf("the question is %+v", opened)
	}
	if b := replied(filled(s, q, "", " Decline ")); b == nil || b.Accepted || b.Why != "a person declined" {
		t.Errorf("the server is told %+v", b)
	}
	s.Sound()

	s, _ = formed(t, &event.McpAsked{Fields: person})
	var timer uint64
	for _, seq := range s.Open("timer.set", "") {
		if strings.HasPrefix(s.State.Calls[seq].Timer, "interaction/") {
			timer = seq
		}
	}
	s.Now = s.State.Due()
	if b := replied(s.Take("core", &event.TimerFired{Call: timer})); b == nil || b.Accepted || b.Why != "nobody answered in time" {
		t.Errorf("when nobody answers the server is told %+v", b)
	}
	s.Sound()

	// A call that is over wants no answer.
	s, q = formed(t, &event.McpAsked{Fields: person})
	got := kinds(s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Error: true, Output: event.Text{Text: "lost"}}))
	if !strings.HasPrefix(got, "interaction.withdrawn mcp.replied") || len(s.State.Forms) != 0 {
		t.Errorf("a result while a person is asked leads to %s", got)
	}
	if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q, Text: "age: 7"}); err == nil {
		t.Error("an answer that nobody wants is taken")
	}
	s.Sound()

	// A server that asks something else for the same call does not want the first any more.
	s, _ = formed(t, &event.McpAsked{Fields: person})
	got = kinds(s.Take("agent-0", &event.McpAsked{Call: s.Open("tool.call", "")[0], Server: "one", ID: "2", Fields: person[:1]}))
	if !strings.HasPrefix(got, "interaction.withdrawn mcp.replied interaction.opened") {
		t.Errorf("a second form leads to %s", got)
	}
	s.Sound()
}

func TestAnAddressIsShownAndWantsYesOrNo(t *testing.T) {
	for choice, accepted := range map[string]bool{"yes": true, "no": false} {
		s, q := formed(t, &event.McpAsked{Address: "https://pay.example/x"})
		if text := s.State.Open()[0].Body.Question.Text; !strings.Contains(text, "a page of pay.example,") || !strings.Contains(text, "https://pay.example/x") {
			t.Errorf("the question is %s", text)
		}
		if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q, Text: "well"}); err == nil {
			t.Error("neither yes nor no is taken")
		}
		if b := replied(filled(s, q, choice, "")); b == nil || b.Accepted != accepted || b.Values != "" {
			t.Errorf("%s: the server is told %+v", choice, b)
		}
		s.Sound()
	}
}

func TestWhatAServerMayAsk(t *testing.T) {
	s, _ := formed(t, &event.McpAsked{Fields: person})
	call := s.Open("tool.call", "")[0]
	for why, b := range map[string]*event.McpAsked{
		"another's call": {Call: call, Server: "two", Fields: person},
		"no call":        {Call: call + 1000, Server: "one", Fields: person},
		"nothing":        {Call: call, Server: "one"},
		"too much":       {Call: call, Server: "one", Fields: person, Message: strings.Repeat("x", 9<<10)},
	} {
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("%s: it was asked", why)
		}
	}
}
