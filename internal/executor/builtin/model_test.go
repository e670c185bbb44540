package builtin

import (
	"net/http"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// upstream is a model that is asked in a format of its own.
type upstream struct {
	gateway.Upstream
	format string
}

func (u upstream) Name() string              { return "theirs" }
func (u upstream) Format() string            { return u.format }
func (u upstream) Speaks(format string) bool { return format == u.format }

// TestTheFormatOfTheModel asks through a real gateway: what it says of a format that its model
// is not asked in must be what the agent knows.
func TestTheFormatOfTheModel(t *testing.T) {
	t.Parallel()
	for format, wire := range map[string]modeltest.Wire{
		event.WireChat: &modeltest.ChatWire{}, event.WireResponses: &modeltest.ResponsesWire{}, event.WireGemini: &modeltest.GeminiWire{},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, say("unused"))
			gate := &gateway.Handler{Quest: "q", Agent: "agent-0", Own: "gpt-5", Models: map[string]gateway.Model{"gpt-5": {Upstream: upstream{format: format}}}}
			n := 0
			answers := modeltest.Handler(wire, func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
				if n++; n == 1 {
					return modeltest.Reply{Parts: []model.Part{called("1", "list_files", `{}`)}, Stop: model.StopTools}, ""
				}
				return modeltest.Reply{Parts: []model.Part{{Kind: event.PartText, Text: "spoken"}}, Stop: model.StopEnd}, ""
			})
			wrong := 0
			s.brain.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/messages") {
					wrong++
					gate.ServeHTTP(w, r.WithContext(computer.As(r.Context(), "agent-0")))
					return
				}
				answers.ServeHTTP(w, r)
			})
			s.start(Options{Model: "gpt-5"}) // OpenAI's own say by their name that they think
			s.wants(s.open(), "speak", "end_turn")
			if got := s.said("agent_message_chunk"); got != "spoken" || wrong != 1 {
				t.Errorf("the agent said %q after %d requests in the wrong format, want one", got, wrong)
			}
		})
	}
	t.Run("IsNotFollowedWhereItIsSet", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("unused"))
		s.brain.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "the model m is asked in the format chat, and this is anthropic", http.StatusForbidden)
		})
		s.start(Options{Wire: event.WireAnthropic})
		if _, err := s.ask(s.open(), "speak"); err == nil {
			t.Error("the prompt has an end, want an error")
		}
	})
}

func TestABrokenAnswerBeginsAnew(t *testing.T) {
	t.Parallel()
	s := newScene(t, say("unused"))
	n := 0
	good := modeltest.Handler(&modeltest.AnthropicWire{}, say("All of it."))
	s.brain.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n > 1 {
			good.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Half of\"}}\n\n"))
	})
	s.start(Options{})
	s.wants(s.open(), "speak", "end_turn")
	if got := s.said("agent_message_chunk"); got != "Half of\n\n(The answer broke off here, and begins anew.)\n\nAll of it." {
		t.Errorf("the client heard %q", got)
	}
}
