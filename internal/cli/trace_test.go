package cli

import (
	"strings"
	"testing"

	"lyceum/internal/event"
)

func TestATraceTellsWhatElseThereIsToAnEvent(t *testing.T) {
	t.Parallel()
	h := event.HashOf(nil)
	for _, c := range []struct {
		body event.Body
		want string
	}{
		{&event.CfpIssued{}, "cfp"},
		{&event.BidSubmitted{}, "bid"},
		{&event.MessageSent{Performative: "inform\x1b"}, "inform\uFFFD"},
		{&event.MessageSent{}, ""},
		{&event.ModelResult{Duration: 1500}, ""},
		{&event.ModelResult{Duration: 1500, Error: &event.ModelError{}}, "failed, 1.5 ms"},
		{&event.ToolResult{}, ""},
		{&event.ToolResult{Error: true}, "failed"},
		{&event.ToolAnswered{Error: true}, "failed"},
		{&event.CliExit{Exit: 1}, "failed"},
		{&event.NetConnection{Duration: 2000}, "2.0 ms"},
		{&event.ReproductionResult{Output: &event.Ref{Hash: h}}, "output e3b0c44298fc"},
		{&event.SearchResult{Anchors: []event.Anchor{{Doc: "a\u202e.md", Paragraph: 3, Hash: h}}}, "a\uFFFD.md:3 e3b0c44298fc"},
		{&event.SearchResult{Error: "x", Duration: 1}, "failed, 0.0 ms"},
		{&event.ComputeResult{Printed: &event.Ref{Hash: h}}, "output e3b0c44298fc"},
	} {
		if got := strings.Join(marks(c.body), ", "); got != c.want {
			t.Errorf("%T: %q, want %q", c.body, got, c.want)
		}
	}
}
