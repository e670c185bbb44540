package quest_test

import (
	"fmt"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// picture is the n-th of many.
func picture(n int) event.Attachment {
	return event.Attachment{Media: "image/png", Name: "shot.png", Ref: event.RefOf([]byte{byte(n)})}
}

// TestOtherPicturesAreOtherResults: an agent that looks again and sees something else does
// not repeat itself, and one that sees the same does.
func TestOtherPicturesAreOtherResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		same bool
		want int // messages of the policy
	}{{false, 0}, {true, 1}} {
		s := tell(t, "[]", event.Limits{}, nil)
		s.start()
		warned := 0
		for turn := range 4 {
			shot := picture(turn)
			if c.same {
				shot = picture(0)
			}
			s.calls(`look{"n":1}`)
			got := s.take("agent-0", &event.ToolResult{Attachments: []event.Attachment{shot}, Call: s.open("tool.call")[0], Output: event.Text{Text: "seen"}})
			warned += len(got) - 1
		}
		if warned != c.want {
			t.Errorf("with the same picture each time %v, the agent was warned %d times, want %d", c.same, warned, c.want)
		}
	}
}

// TestFilesStandInTranscripts: those of a message that waits too, also in a saved state,
// which story checks after each event.
func TestFilesStandInTranscripts(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	s.start()
	s.take("person", &event.UserMessage{Attachments: []event.Attachment{picture(1)}, Text: event.Text{Text: "Look."}})
	s.calls(`look{"n":1}`)
	s.take("agent-0", &event.ToolResult{Attachments: []event.Attachment{picture(2)}, Call: s.open("tool.call")[0], Output: event.Text{Text: "seen"}})
	var got []string
	a := s.state.Agent("agent-0")
	for _, m := range a.Transcript.Messages {
		for _, p := range m.Parts {
			got = append(got, fmt.Sprintf("%s %d", p.Kind, len(p.Attached)))
		}
	}
	if want := "[text 0 tool_call 0 tool_result 1 text 1]"; fmt.Sprint(got) != want {
		t.Errorf("the transcript has the parts and files %v, want %s", got, want)
	}
	// What the rules answer can have some as well.
	s.calls("nonsense{}")
	e, err := event.Seal("q", s.state.Seq+1, s.state.Hash, event.Draft{
		Time: s.state.Time, Actor: "agent-0", Body: &event.ToolAnswered{Attachments: []event.Attachment{picture(3)}, Call: 1, Output: event.Text{Text: "here"}},
	})
	must(t, err)
	open := s.state.Agent("agent-0")
	open.Open = []agent.Use{{ID: "x", Call: 1}}
	s.state.Apply(e)
	last := open.Transcript.Messages[len(open.Transcript.Messages)-1].Parts[0]
	if last.Kind != model.PartToolResult || len(last.Attached) != 1 || last.Attached[0] != picture(3) {
		t.Errorf("an answer of the rules with a picture stands as %+v", last)
	}
}
