package runtime_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/model"
	"lyceum/internal/tool"
)

// numbered is an output of about n bytes, in numbered lines.
func numbered(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "this is line %d of a log\n", i)
	}
	return b.String()
}

// TestAnAgentReadsOnInALongResult: of 31,000 bytes it sees all, of 33,000 the beginning and
// the end, and with what the note says it reads the rest; another agent does not.
func TestAnAgentReadsOnInALongResult(t *testing.T) {
	t.Parallel()
	note := regexp.MustCompile(`read_result\(call: (\d+), from: (\d+)\)`)
	var call, from string
	told := make(chan struct{})
	l := research(t, t.TempDir(), func(ctx context.Context, r *model.Request) []act {
		if r.Agent == "agent-1" {
			select {
			case <-told:
			case <-ctx.Done():
			}
		}
		switch {
		case r.Turn > 3:
			return nil
		case r.Agent == "agent-1":
			return []act{{"read_result", `{"call":` + call + `}`}}
		case r.Turn == 1:
			return []act{{"print", args{"bytes": 31_000}}}
		case r.Turn == 2:
			return []act{{"print", args{"bytes": 33_000}}}
		}
		m := note.FindStringSubmatch(heard(r))
		if m == nil {
			t.Errorf("the agent is told %.200q, want how to read on", heard(r))
			m = []string{"", "1", "1"}
		}
		call, from = m[1], m[2]
		close(told)
		return []act{{"read_result", fmt.Sprintf(`{"call":%s,"from":%s,"lines":1000}`, call, from)}, {"read_result", fmt.Sprintf(`{"call":%s,"from":-3}`, call)}, {"read_result", `{"call":1}`}}
	})
	l.withTools(tool.Tool{
		Tool:  model.Tool{Name: "print", Description: "Prints.", Schema: `{"type":"object","properties":{"bytes":{"type":"integer"}}}`},
		Reads: true,
		Run: func(_ context.Context, c tool.Call) (string, error) {
			if strings.Contains(string(c.Args), "31000") {
				return numbered(31_000), nil
			}
			return numbered(33_000), nil
		},
	})
	name := l.found(2, "")
	l.run(name)
	got := l.answers(name, "agent-0")
	if got[0].text != numbered(31_000) {
		t.Errorf("of 31,000 bytes the agent sees %d, want all", len(got[0].text))
	}
	whole := numbered(33_000)
	last := whole[strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n")+1:]
	if text := got[1].text; !strings.HasPrefix(text, "this is line 1 of") || !strings.HasSuffix(text, last) || len(text) < 7000 || len(text) > 12_000 {
		t.Errorf("of 33,000 bytes the agent sees %d: %.60q … %q, want a beginning and an end", len(text), text, text[max(0, len(text)-60):])
	}
	t.Logf("of 31,000 bytes %d are shown, of 33,000 %d", len(got[0].text), len(got[1].text))
	if text := got[2].text; got[2].failed || !strings.Contains(text, "this is line "+from+" of a log") || !strings.Contains(text, "this is line 700 of a log") {
		t.Errorf("read_result from line %s: got %.200q, want what was left out", from, text)
	}
	if text := got[3].text; got[3].failed || !strings.HasSuffix(text, last) || strings.Count(text, "this is") != 3 {
		t.Errorf("the last three lines: got %q", text)
	}
	if !got[4].failed || !strings.Contains(got[4].text, "no long result of a call 1 of yours") {
		t.Errorf("a call that has no long result: got %q, want a refusal", got[4].text)
	}
	for _, a := range l.answers(name, "agent-1") {
		if !a.failed || strings.Contains(a.text, "this is line") {
			t.Errorf("another agent's result: got %.100q, want a refusal", a.text)
		}
	}
	l.sound(name)
}
