package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/respond"
	"lyceum/internal/model/script"
)

// telling is an answer that holds the key wherever an answer has words.
var telling = &respond.Answer{ID: "1", Model: "real", Stop: model.StopTools, Usage: event.Usage{Input: 100, Output: 7}, Parts: []model.Part{
	{Kind: event.PartThinking, Text: "They sent " + canary + " and " + other + "."},
	{Kind: event.PartText, Text: "With " + canary + canary + ", " + canary[:9] + ", and " + other + "; so."},
	{Kind: event.PartToolCall, ID: "c_1", Name: "look", Args: `{"at":"` + canary + `"}`},
}}

// other is a secret that is no key of a model.
const other = "xoxb-token-of-a-connector"

// TestAProviderThatTellsTheKey: what a provider says of the key, a client does not hear; the
// rest of the answer it does, and so it does if the key comes letter by letter.
func TestAProviderThatTellsTheKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, wire string, e exchangeOf, stream bool) {
		format := respond.Of(wire)
		o := newOffice(t, e.own, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Request-Id", "req_"+canary)
			if !stream {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(format.Whole(telling))
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			format.Stream(func(name, data string) bool {
				_, _ = io.WriteString(w, "event: "+name+"\ndata: "+data+"\n\n")
				return http.NewResponseController(w).Flush() == nil
			}, telling)
		})
		o.Handler.Secrets = func() []string { return []string{other} }
		var got *model.Answer
		if stream {
			var err error
			got, err = drivers[wire](o.url).Generate(t.Context(), &model.Request{Model: "fake-1", Turn: 1, MaxTokens: 50, Thinking: wire != event.WireGemini,
				Tools:    []model.Tool{{Name: "look", Schema: `{"type":"object","properties":{}}`}},
				Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "hi"}}}}}, nil)
			must(t, err)
			var said, called string
			for _, p := range got.Parts {
				switch p.Kind {
				case event.PartText:
					said += p.Text
				case event.PartToolCall:
					called += p.Args
				}
			}
			if want := "With [key], " + canary[:9] + ", and [key]; so."; said != want || called != `{"at":"[key]"}` {
				t.Errorf("the client heard %q and %q, want %q", said, called, want)
			}
		}
		status, said, header := o.post(e.path, e.body)
		if status != http.StatusOK || strings.Contains(said, canary) || strings.Contains(said, other) || strings.Count(said, "[key]") < 3 {
			t.Errorf("the client got %d %s", status, said)
		}
		if id := header.Get("Request-Id"); id != "" {
			t.Errorf("the id of the request is %q, want none", id)
		}
		if res := o.results[len(o.results)-1]; res.Error != "" || res.Usage.Output != 7 || strings.Contains(res.Error, canary) {
			t.Errorf("the result is %+v, want no error", res)
		}
	})
}

// TestTheKeyLetterByLetter: no piece of the key passes before it is known to be none.
func TestTheKeyLetterByLetter(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, true)
	o := newOffice(t, e.own, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range len(canary) {
			_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"`+canary[i:i+1]+`"}}]}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, e.stream)
	})
	empty := `data: {"choices":[{"delta":{"content":""}}]}` + "\n\n"
	if status, said, _ := o.post(e.path, e.body); status != http.StatusOK || said != strings.Replace(empty, `""`, `"[key]"`, 1)+strings.Repeat(empty, len(canary)-1)+e.stream {
		t.Errorf("got %d %s", status, said)
	}
}

// TestErrorsWithoutSecrets: what goes wrong is told without any of them.
func TestErrorsWithoutSecrets(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, true)
	o := newOffice(t, e.own, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"bad: `+canary+`, \u0078oxb-token-of-a-connector, `+other+`"}}`)
	})
	o.Handler.Secrets = func() []string { return []string{other} }
	if status, said, _ := o.post(e.path, e.body); status != http.StatusBadRequest || said != `{"error":{"message":"bad: [key], [key], [key]"}}` {
		t.Errorf("got %d %s", status, said)
	}
	m, err := script.Parse("lines.yaml", []byte("rules: [{on: {turn: 1}, say: \"It is "+other+".\"}]"))
	must(t, err)
	o = localOffice(t, "script:lines.yaml", m)
	o.Handler.Secrets = func() []string { return []string{other} }
	if status, said, _ := o.post(e.path, e.body); status != http.StatusOK || strings.Contains(said, other) || strings.Count(said, "[key]") != 1 {
		t.Errorf("a model of our own: got %d %s", status, said)
	}
}
