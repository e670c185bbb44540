package executor_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/executor/executortest"

	"github.com/google/go-cmp/cmp"
)

const said = `>10 {"jsonrpc":"2.0","id":"p5","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
`

func update(at, body string) string {
	return "<" + at + ` {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + body + "}}\n"
}

func TestDerive(t *testing.T) {
	t.Parallel()
	answer := `<90 {"jsonrpc":"2.0","id":"p5","result":{"stopReason":"end_turn"}}` + "\n"
	for _, c := range []struct {
		name, frames string
		want         []string
		turn         executor.Turn
		err          string
	}{
		{"Nothing", "", nil, executor.Turn{}, "did not answer"},
		{"WhatIsNoFrame", "hello\n", nil, executor.Turn{}, "no line of a conversation"},
		{"HalfAFrame", strings.TrimSuffix(said, "\n"), nil, executor.Turn{}, "unexpected EOF"},
		{"NoAnswer", said + update("20", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"so far"}}`), nil, executor.Turn{Text: "so far"}, "did not answer"},
		{
			"CancelledWithoutAnswer", said + `>20 {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n", nil, executor.Turn{Stop: event.StopInterrupted}, "",
		},
		{"CancelledAndAnswered", said + `>20 {"jsonrpc":"2.0","method":"session/cancel","params":{}}` + "\n" + answer, nil, executor.Turn{Stop: event.StopInterrupted}, ""},
		{"AnotherAnswer", said + strings.Replace(answer, "p5", "p4", 1), nil, executor.Turn{}, "did not answer"},
		{
			"AskedAgain", said + update("20", `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"lost"}}`) + said + answer,
			[]string{"5 thought lost"}, executor.Turn{Stop: "end_turn"}, "",
		},
		{
			"OddUpdates", said + update("11", `{"sessionUpdate":"tool_call"}`) + update("12", `{"sessionUpdate":"tool_call","toolCallId":"a","kind":"novel","status":"odd","locations":[{"path":"/etc/x"},{"path":"/home/agent/a/../b"},{"path":"c"}],"rawInput":{"x": 1}}`) +
				update("13", `{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed","rawOutput":"no"}`) + update("14", `{"sessionUpdate":"plan","entries":[{"content":"x","status":"odd"}]}`) +
				update("15", `{"sessionUpdate":"plan","entries":7}`) + update("16", `[]`) + update("17", `{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"x"}}`) + "<18 what?\n" + answer,
			[]string{"5 tool a pending other  /etc/x b c", "5 tool a failed other  /etc/x b c no", "5 plan x"}, executor.Turn{Stop: "end_turn", Text: "[image]"}, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bodies, turn, err := executor.Derive([]byte(c.frames))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got the error %v, want %q", err, c.err)
			}
			var got []string
			for _, b := range bodies {
				_, line := executortest.Line(b)
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("what was reported (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.turn, turn); diff != "" {
				t.Errorf("the turn (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzDerive: whatever an agent writes, the same frames give the same, in the order of their
// places.
func FuzzDerive(f *testing.F) {
	f.Add(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}`, `{"sessionUpdate":"tool_call","toolCallId":"a"}`)
	f.Add(`{"sessionUpdate":"tool_call","toolCallId":"a","content":[{"type":"content"},{"type":"diff","path":"/"}],"locations":[{}]}`, `{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a+b, "\n") {
			return
		}
		frames := []byte(said + update("20", a) + `<30 {"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":` + b + "}\n" + update("40", b) + "<50 " + a + "\n")
		first, turn, _ := executor.Derive(frames)
		second, again, _ := executor.Derive(frames)
		if diff := cmp.Diff(first, second); diff != "" || cmp.Diff(turn, again) != "" {
			t.Errorf("twice the same frames: %s", diff)
		}
		last := int64(0)
		for _, b := range first {
			at, _ := executortest.Line(b)
			if at < last {
				t.Errorf("what stands at %d comes after %d", at, last)
			}
			last = at
		}
	})
}
