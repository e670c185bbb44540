package openai_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/openai"
)

// mended is a conversation that a server would refuse as it is.
func mended() *model.Request {
	return ask(
		said(model.User, result("lost", "42"), text("hello")),
		said(model.Assistant, call("x", "t", ""), call("x", "no such tool!", "{"), call(strings.Repeat("long", 30), "t", "{}")),
		said(model.User, text("first"), result(strings.Repeat("long", 30), "three"), result("x", "one")),
		said(model.Assistant, call("y", "t", "{}")),
	)
}

func TestChatMendsConversations(t *testing.T) {
	t.Parallel()
	_, sent, err := chat(t, openai.Options{}, mended(), fine)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, `[
		{"role":"user","content":[{"type":"text","text":"Result of t: 42"},{"type":"text","text":"hello"}]},
		{"role":"assistant","content":null,"tool_calls":[
			{"id":"x","type":"function","function":{"name":"t","arguments":"{}"}},
			{"id":"y372t3i3x","type":"function","function":{"name":"no_such_tool_","arguments":"{"}},
			{"id":"7jt7b62ow","type":"function","function":{"name":"t","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"x","content":"one"},
		{"role":"tool","tool_call_id":"y372t3i3x","content":"Error: there is no result"},
		{"role":"tool","tool_call_id":"7jt7b62ow","content":"three"},
		{"role":"user","content":"first"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"y","type":"function","function":{"name":"t","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"y","content":"Error: there is no result"}
	]`, sent["messages"])
}

func TestResponsesMendsConversations(t *testing.T) {
	t.Parallel()
	r := mended()
	r.Messages[1].Parts = append(r.Messages[1].Parts, thought("left alone", `acme:{"type":"reasoning","id":"rs_9","encrypted_content":"g"}`))
	_, sent, err := responses(t, openai.Options{}, r, fineResponse)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, `[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Result of t: 42"},{"type":"input_text","text":"hello"}]},
		{"type":"function_call","call_id":"x","name":"t","arguments":"{}"},
		{"type":"function_call","call_id":"y372t3i3x","name":"no_such_tool_","arguments":"{"},
		{"type":"function_call","call_id":"7jt7b62ow","name":"t","arguments":"{}"},
		{"type":"function_call_output","call_id":"x","output":"one"},
		{"type":"function_call_output","call_id":"y372t3i3x","output":"Error: there is no result"},
		{"type":"function_call_output","call_id":"7jt7b62ow","output":"three"},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},
		{"type":"function_call","call_id":"y","name":"t","arguments":"{}"},
		{"type":"function_call_output","call_id":"y","output":"Error: there is no result"}
	]`, sent["input"])
}

// pictured is a conversation in which results have pictures, one of them stray.
func pictured() *model.Request {
	with := func(p model.Part, data string) model.Part {
		p.Pictures = []model.Part{{Kind: model.PartImage, Media: "image/png", Data: []byte(data)}}
		return p
	}
	failed := with(result("y", "error: no"), "2") // told once that it is an error
	failed.Error = true
	return ask(
		said(model.User, with(result("lost", "42"), "0")),
		said(model.Assistant, call("x", "t", "{}"), call("y", "t", "{}")),
		said(model.User, with(result("x", "one"), "1"), failed, text("and?")),
	)
}

func TestChatShowsPicturesOfResultsInTheNextMessage(t *testing.T) {
	t.Parallel()
	_, sent, err := chat(t, openai.Options{AfterTools: "OK."}, pictured(), fine)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, `[
		{"role":"user","content":[{"type":"text","text":"Result of t: 42"},{"type":"image_url","image_url":{"url":"data:image/png;base64,MA=="}}]},
		{"role":"assistant","content":null,"tool_calls":[
			{"id":"x","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"t","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"x","content":"one"},
		{"role":"tool","tool_call_id":"y","content":"Error: no"},
		{"role":"assistant","content":"OK."},
		{"role":"user","content":[
			{"type":"text","text":"Pictures that came with the result of t:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,MQ=="}},
			{"type":"text","text":"Pictures that came with the result of t:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,Mg=="}},
			{"type":"text","text":"and?"}]}
	]`, sent["messages"])
}

func TestResponsesShowsPicturesInResults(t *testing.T) {
	t.Parallel()
	_, sent, err := responses(t, openai.Options{}, pictured(), fineResponse)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, `[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"Result of t: 42"},{"type":"input_image","image_url":"data:image/png;base64,MA=="}]},
		{"type":"function_call","call_id":"x","name":"t","arguments":"{}"},
		{"type":"function_call","call_id":"y","name":"t","arguments":"{}"},
		{"type":"function_call_output","call_id":"x","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,MQ=="}]},
		{"type":"function_call_output","call_id":"y","output":[{"type":"input_text","text":"Error: no"},{"type":"input_image","image_url":"data:image/png;base64,Mg=="}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"and?"}]}
	]`, sent["input"])
}

func TestResponsesSendsBackWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	_, sent, err := responses(t, openai.Options{}, ask(hello, said(model.Assistant,
		thought("mine", `acme:{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"}`),
		thought("cut", `acme:{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":null}`),
		thought("another's", `other:{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"g"}`),
		model.Part{Kind: event.PartText, Text: "I look.", Opaque: "acme:phase=commentary"},
		model.Part{Kind: event.PartText, Text: "Here.", Opaque: "other:phase=final_answer"},
	), said(model.User, text("go on"))), fineResponse)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, `[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"},
		{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look."}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Here."}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}
	]`, sent["input"])
}

func TestResponsesAsksForReasoningWhereThereIsSome(t *testing.T) {
	t.Parallel()
	for name, reasons := range map[string]bool{
		"gpt-5": true, "gpt-5.4-codex": true, "gpt-10-mini": true, "o1": true, "o3-pro": true, "o4-mini": true, "codex-mini-latest": true,
		"gpt-4.1": false, "gpt-4o": false, "gpt-5-chat-latest": false, "omni": false, "chatgpt-4o-latest": false,
	} {
		r := ask(hello)
		r.Model, r.Thinking = name, true
		_, sent, err := responses(t, openai.Options{Effort: "low"}, r, fineResponse)
		if err != nil {
			t.Fatal(err)
		}
		if got := sent["reasoning"] != nil && sent["include"] != nil; got != reasons || (sent["reasoning"] == nil) != (sent["include"] == nil) {
			t.Errorf("%s: reasoning is %v, include is %v", name, sent["reasoning"], sent["include"])
		}
	}
}

func TestOptionsShapeTheRequest(t *testing.T) {
	t.Parallel()
	tools := said(model.Assistant, thought("hm", ""), call("call_of_fifteen", "t", "{}"))
	results := said(model.User, result("call_of_fifteen", "one"), text("a"), text("b"))
	for name, c := range map[string]struct {
		opts  openai.Options
		field string
		want  string
	}{
		"MaxTokens":      {openai.Options{MaxTokens: 5}, "max_tokens", `5`},
		"MaxTokensField": {openai.Options{MaxTokens: 5, MaxTokensField: "max_completion_tokens"}, "max_completion_tokens", `5`},
		"Effort":         {openai.Options{Effort: "low"}, "reasoning_effort", `"low"`},
		"Extra":          {openai.Options{Extra: map[string]any{"seed": 1}}, "seed", `1`},
		"ExtraIsStronger": {openai.Options{
			Effort: "low", Extra: map[string]any{"reasoning_effort": "high"}, Plain: map[string]any{"reasoning_effort": "none"},
		}, "reasoning_effort", `"high"`},
		"ThinkingIsStrongest": {openai.Options{
			Extra: map[string]any{"x": 1}, Thinking: map[string]any{"x": 2},
		}, "x", `2`},
		"CacheKey": {openai.Options{CacheKey: true}, "prompt_cache_key", `"0d317b0da1b1c6fe76b1ad7971201924"`},
		"ReasoningField": {openai.Options{ReasoningField: "reasoning"}, "messages", `[
			{"role":"user","content":"hello"},
			{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"call_of_fifteen","type":"function","function":{"name":"t","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"call_of_fifteen","content":"one"},
			{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`},
		"MistralsOwn": {openai.Options{ShortIDs: true, AfterTools: "Thanks.", PlainText: true}, "messages", `[
			{"role":"user","content":"hello"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"epeh8rf7o","type":"function","function":{"name":"t","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"epeh8rf7o","content":"one"},
			{"role":"assistant","content":"Thanks."},
			{"role":"user","content":"a\n\nb"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ask(hello, tools, results)
			r.Thinking = true
			_, sent, err := chat(t, c.opts, r, fine)
			if err != nil {
				t.Fatal(err)
			}
			wantJSON(t, c.want, sent[c.field])
		})
	}
	for name, c := range map[string]struct {
		opts               openai.Options
		effort             model.Effort
		effortIs, reasonIs string
	}{
		"AWord":             {openai.Options{}, "low", `"low"`, ""},
		"ANumber":           {openai.Options{Effort: "low"}, "10000", `"medium"`, ""},
		"AWordInAnObject":   {openai.Options{EffortIn: openai.EffortReasoning, Thinking: map[string]any{"reasoning": map[string]any{"enabled": true}}}, "high", "", `{"effort":"high"}`},
		"ANumberInAnObject": {openai.Options{EffortIn: openai.EffortReasoning}, "5000", "", `{"max_tokens":5000}`},
		"NowhereToSayIt":    {openai.Options{EffortIn: openai.EffortNowhere, Thinking: map[string]any{"reasoning": true}}, "high", "", "true"},
	} {
		t.Run("Effort/"+name, func(t *testing.T) {
			t.Parallel()
			r := ask(hello)
			r.Thinking, r.Effort = true, c.effort
			_, sent, err := chat(t, c.opts, r, fine)
			if err != nil {
				t.Fatal(err)
			}
			for field, want := range map[string]string{"reasoning_effort": c.effortIs, "reasoning": c.reasonIs} {
				if want == "" && sent[field] != nil {
					t.Errorf("%s: got %v, want none", field, sent[field])
				}
				if want != "" {
					wantJSON(t, want, sent[field])
				}
			}
		})
	}
	t.Run("NothingTakesAFieldOut", func(t *testing.T) {
		t.Parallel()
		_, sent, err := chat(t, openai.Options{Extra: map[string]any{"stream_options": nil}}, ask(hello), fine)
		if _, ok := sent["stream_options"]; ok || err != nil {
			t.Errorf("stream_options is %v, error %v", sent["stream_options"], err)
		}
	})
	t.Run("ForResponsesToo", func(t *testing.T) {
		t.Parallel()
		r := ask(hello)
		r.Thinking, r.MaxTokens = true, 3
		_, sent, err := responses(t, openai.Options{NoSummary: true, Effort: "high", Extra: map[string]any{"service_tier": "flex"}}, r, fineResponse)
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, `{"effort":"high"}`, sent["reasoning"])
		wantJSON(t, `["flex", 16, false, "0d317b0da1b1c6fe76b1ad7971201924"]`, []any{sent["service_tier"], sent["max_output_tokens"], sent["store"], sent["prompt_cache_key"]})
	})
}

func TestChatSendsNoItemsOfResponses(t *testing.T) {
	t.Parallel()
	_, sent, err := chat(t, openai.Options{}, ask(hello, said(model.Assistant, thought("", `acme:{"type":"reasoning"}`), text("hi")), hello), fine)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, `{"role":"assistant","content":"hi"}`, sent["messages"].([]any)[1])
}

func TestThoughtsOfKimiAreNeverMissing(t *testing.T) {
	t.Parallel()
	r := ask(hello, said(model.Assistant, thought("theirs", "other:x"), call("x", "t", "{}")), said(model.User, result("x", "one")))
	_, sent, err := chat(t, openai.Options{ReasoningField: "reasoning_content"}, r, fine)
	if err != nil {
		t.Fatal(err)
	}
	message, _ := sent["messages"].([]any)[1].(map[string]any)
	if got := message["reasoning_content"]; got != " " {
		t.Errorf("got %q", got)
	}
}

func TestSchemasHaveProperties(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		"":                                  `{"type":"object","properties":{}}`,
		`{}`:                                `{"type":"object","properties":{}}`,
		`{"type":"object"}`:                 `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{}}`: `{"type":"object","properties":{}}`,
	} {
		r := ask(hello)
		r.Tools = []model.Tool{{Name: "t", Description: "d", Schema: schema}}
		_, sent, err := chat(t, openai.Options{}, r, fine)
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, `[{"type":"function","function":{"name":"t","description":"d","parameters":`+want+`}}]`, sent["tools"])
	}
}

func TestCacheKeysAreOfOneAgent(t *testing.T) {
	t.Parallel()
	keys := map[any]bool{}
	for _, who := range [][2]string{{"q", "a"}, {"q", "b"}, {"p", "a"}, {"qa", ""}} {
		r := ask(hello)
		r.Quest, r.Agent = who[0], who[1]
		for turn := range int64(2) {
			r.Turn = turn
			_, sent, _ := responses(t, openai.Options{}, r, fineResponse)
			keys[sent["prompt_cache_key"]] = true
		}
	}
	if len(keys) != 4 {
		t.Errorf("four agents have the keys %v", keys)
	}
}

func FuzzStreams(f *testing.F) {
	f.Add(fine)
	f.Add(fineResponse)
	f.Add(events(`{"choices":[{"delta":{"tool_calls":[{"index":null,"function":{"arguments":{}}}],"reasoning_details":[{"type":{},"index":[]},{"type":{},"index":[]}]}}]}`, finishCalls, "[DONE]"))
	f.Add(events(`{"type":"response.output_item.done","output_index":-1,"item":null}`, `{"type":"response.completed","response":null}`))
	f.Fuzz(func(t *testing.T, stream string) {
		for _, m := range []model.Model{
			openai.NewChat((&exchange{status: 200, answer: stream}).client(), openai.Options{}),
			openai.NewResponses((&exchange{status: 200, answer: stream}).client(), openai.Options{}),
		} {
			a, err := m.Generate(t.Context(), ask(hello), nil)
			if (a == nil) == (err == nil) {
				t.Errorf("got %v and %v", a, err)
			}
		}
	})
}
