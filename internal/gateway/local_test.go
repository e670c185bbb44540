package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/model"
	"lyceum/internal/model/anthropic"
	"lyceum/internal/model/demo"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/script"
	"lyceum/internal/model/wire"
)

// lines is a script that uses a tool, and then says what it gave.
const lines = `
rules:
  - on: {turn: 1}
    say: "I look."
    cost: "0.25"
    call: [{tool: look, args: {at: "it é"}}]
  - on: {tool: look, result: seen}
    say: "It is seen."
`

// drivers are Lyceum's own, as clients of the gateway.
var drivers = map[string]func(base string) model.Model{
	event.WireAnthropic: func(base string) model.Model {
		return anthropic.New(&wire.Client{Provider: "t", Base: base}, anthropic.Options{})
	},
	event.WireChat: func(base string) model.Model {
		return openai.NewChat(&wire.Client{Provider: "t", Base: base + "/v1"}, openai.Options{Provider: "t"})
	},
	event.WireResponses: func(base string) model.Model {
		return openai.NewResponses(&wire.Client{Provider: "t", Base: base + "/v1"}, openai.Options{Provider: "t"})
	},
	event.WireGemini: func(base string) model.Model {
		return gemini.New(&wire.Client{Provider: "t", Base: base + "/v1beta"}, gemini.Options{})
	},
}

// localOffice is a gateway before a model of Lyceum's own.
func localOffice(t *testing.T, own string, m model.Model) *office {
	t.Helper()
	o := newOffice(t, "chat/real", func(http.ResponseWriter, *http.Request) { t.Error("a provider was asked") })
	o.Handler.Own, o.Handler.Models = own, map[string]gateway.Model{own: {Local: m}}
	return o
}

// A model that is no provider's answers in all four formats: whoever speaks one of them
// hears the same.
func TestAScriptAnswersInEveryFormat(t *testing.T) {
	t.Parallel()
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := script.Parse("lines.yaml", []byte(lines))
			must(t, err)
			o := localOffice(t, "script:lines.yaml", m)
			d := open(o.url)
			r := &model.Request{Model: "some-model", System: "Be.", Turn: 1, MaxTokens: 99,
				Tools:    []model.Tool{{Name: "look", Description: "looks", Schema: `{"type":"object","properties":{}}`}},
				Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "Look at it."}}}}}
			a, err := d.Generate(t.Context(), r, nil)
			must(t, err)
			var said, args, id string
			for _, p := range a.Parts {
				said += p.Text
				if p.Kind == event.PartToolCall {
					args, id = p.Args, p.ID
				}
			}
			if said != "I look." || !strings.Contains(args, "it é") || a.Stop != model.StopTools {
				t.Fatalf("it says %q and calls with %q: %+v", said, args, a)
			}
			r.Turn = 2
			r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: a.Parts},
				model.Message{Role: model.User, Parts: []model.Part{{Kind: model.PartToolResult, ID: id, Name: "look", Text: "it was seen"}}})
			a, err = d.Generate(t.Context(), r, nil)
			must(t, err)
			if len(a.Parts) != 1 || a.Parts[0].Text != "It is seen." || a.Stop != model.StopEnd {
				t.Errorf("then it says %+v", a)
			}
			if len(o.results) != 2 || o.results[0].Cost != 250_000_000 || o.results[0].Size == 0 || o.results[0].Hash.IsZero() {
				t.Errorf("the results are %+v", o.results)
			}
		})
	}
}

// The same not streamed: the answers are whole, and tokens are counted.
func TestWholeAnswersOfOurOwn(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ body, want string }{
		"/v1/messages":                     {`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, `"input":{"at":"it é"}`},
		"/v1/chat/completions":             {`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `"arguments":"{\"at\":\"it é\"}"`},
		"/v1/responses":                    {`{"model":"m","input":"hi"}`, `"arguments":"{\"at\":\"it é\"}"`},
		"/v1beta/models/m:generateContent": {`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, `"functionCall":{`},
		"/v1/messages/count_tokens":        {`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `"input_tokens":`},
		"/v1beta/models/m:countTokens":     {`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, `"totalTokens":`},
	} {
		m, err := script.Parse("lines.yaml", []byte(lines))
		must(t, err)
		o := localOffice(t, "script:lines.yaml", m)
		status, said, _ := o.post(path, c.body)
		if status != 200 || !strings.Contains(said, c.want) {
			t.Errorf("%s: got %d %s, want %s", path, status, said, c.want)
		}
		count := strings.Contains(strings.ToLower(path), "count")
		if o.asked[0].Count != count || (o.result().Cost == 0) != count {
			t.Errorf("%s: asked %+v, cost %d", path, o.asked[0], o.result().Cost)
		}
	}
}

func TestTheDemoAnswersInEveryFormat(t *testing.T) {
	t.Parallel()
	m, err := demo.Open("demo")
	must(t, err)
	for name, open := range drivers {
		o := localOffice(t, "demo", m)
		a, err := open(o.url).Generate(t.Context(), &model.Request{Model: "demo", Turn: 1, Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "What is six times seven?"}}}}}, nil)
		if err != nil || len(a.Parts) == 0 {
			t.Errorf("%s: the demo says %+v, %v", name, a, err)
		}
	}
}

// Counting costs nothing, wherever it is done.
func TestCountingCostsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, path, at, body string }{
		{"ant/real", "/v1/messages/count_tokens?beta=true", "/v1/messages/count_tokens", `{"model":"real","messages":[{"role":"user","content":"hi"}]}`},
		{"gem/real", "/v1beta/models/real:countTokens", "/v1beta/models/real:countTokens", `{"contents":[{"parts":[{"text":"hi"}]}]}`},
	} {
		o := newOffice(t, c.own, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"input_tokens":14,"totalTokens":14}`)
		})
		status, said, _ := o.post(c.path, c.body)
		if res := o.result(); status != 200 || !strings.Contains(said, "14") || o.seen[0].path != c.at || res.Cost != 0 || res.Estimated || res.Unpriced || !o.asked[0].Count {
			t.Errorf("%s: %d %s, at %s: %+v", c.path, status, said, o.seen[0].path, res)
		}
	}
}

func TestAModelWithoutAPriceIsUnpriced(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, false)
	o := newOffice(t, "chat/nameless", plays(e, false))
	if status, _, _ := o.post(e.path, e.body); status != 200 {
		t.Fatalf("got status %d, want an answer", status)
	}
	if res := o.result(); !res.Unpriced || res.Cost != 0 || res.Usage != used || fmt.Sprint(res.Price) != "<nil>" {
		t.Errorf("the result is %+v", res)
	}
}

// half is a model whose call could not be read.
type half struct{ whole bool }

func (h half) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Answer, error) {
	a := &model.Answer{Stop: model.StopTools, Parts: []model.Part{
		{Kind: event.PartText, Text: "I look."}, {Kind: event.PartToolCall, ID: "1", Name: "look", Args: "unreadable: it ends before </tool_call>\n{"},
	}}
	if h.whole {
		a.Parts = append(a.Parts, model.Part{Kind: event.PartToolCall, ID: "2", Name: "look", Args: `{"at":"x"}`})
	}
	return a, nil
}

// A call that could not be read is words in every format: a program would make it without
// arguments.
func TestACallThatCannotBeReadIsWords(t *testing.T) {
	t.Parallel()
	for name, open := range drivers {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprint(name, whole), func(t *testing.T) {
				t.Parallel()
				o := localOffice(t, "tiny/model", half{whole})
				a, err := open(o.url).Generate(t.Context(), &model.Request{Model: "m", Turn: 1, MaxTokens: 99,
					Tools:    []model.Tool{{Name: "look", Description: "looks", Schema: `{"type":"object","properties":{}}`}},
					Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "Look at it."}}}}}, nil)
				must(t, err)
				said, calls := "", 0
				for _, p := range a.Parts {
					said += p.Text
					if p.Kind == event.PartToolCall {
						calls++
						if !strings.Contains(p.Args, `"x"`) {
							t.Errorf("it calls with %q", p.Args)
						}
					}
				}
				if want := map[bool]int{true: 1}[whole]; calls != want || (a.Stop == model.StopTools) != whole || !strings.Contains(said, "(a call of look that was not made: unreadable: it ends before") {
					t.Errorf("%d calls, stop %s, and it says %q; want %d", calls, a.Stop, said, want)
				}
			})
		}
	}
}
