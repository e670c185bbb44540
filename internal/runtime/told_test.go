package runtime_test

import (
	"context"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
)

// What an agent of a contract net writes for others has nothing in it that they would read and a
// person who watches would not see, as letters or as escapes. What has nothing hidden stays as
// it was written.
func TestWhatRulesAnswerHasNothingHidden(t *testing.T) {
	t.Parallel()
	const untouched = `{ "to": "auditor",  "performative":"inform","text":"Plain \u00fcber.\nTwo lines."}`
	l := newNet(t)
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) {
		return actor(func(_ context.Context, r *model.Request) []act {
			if r.Agent != "planner" || r.Turn > 1 {
				return nil
			}
			return []act{
				{"send_message", "{\"to\":\"auditor\",\"performative\":\"inform\",\"text\":\"As letters\u3164\U000E0041.\"}"},
				{"send_message", `{"to":"auditor","performative":"inform","text":"As escapes\u200b\ud834\udd73."}`},
				{"send_message", "{\"to\":\"auditor\",\"performative\":\"inform\",\"text\":\"With a broken byte\xff and\u3164more.\"}"},
				{"send_message", untouched},
			}
		}), nil
	}
	f := files{"quest.yaml": "name: net\nsociety: contract\ntask: Say something.\nmodel: demo\ndata: data\nlimits: {turns: 3}\n", "data/a.csv": "x,y\n1,2\n"}
	name := l.create(f.plan(t))
	_, err := l.Run(t.Context(), name, runtime.RunOptions{})
	must(t, err)
	var sent, called []string
	for _, e := range l.events(name) {
		switch b := e.Body.(type) {
		case *event.MessageSent:
			if _, text, ok := strings.Cut(b.Text.Text, "of the lab): "); ok {
				sent = append(sent, text)
			}
		case *event.ModelResult:
			for _, p := range b.Parts {
				if p.Kind == event.PartToolCall {
					called = append(called, p.Args.Text)
				}
			}
		}
	}
	want := []string{"As letters\ufffd\ufffd.", "As escapes\ufffd\ufffd.", "With a broken byte\ufffd and\ufffdmore.", "Plain über.\nTwo lines."}
	if strings.Join(sent, "|") != strings.Join(want, "|") {
		t.Errorf("messages to others: got %q, want %q", sent, want)
	}
	if len(called) != 4 || called[3] != untouched {
		t.Errorf("arguments without anything hidden: got %q, want %s as it was written", called, untouched)
	}
	l.sound(name)
}
