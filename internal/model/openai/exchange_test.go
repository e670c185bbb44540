package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// exchange is one request and the answer to it, without a network.
type exchange struct {
	status int
	answer string
	sent   []byte
}

func (e *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	e.sent, _ = io.ReadAll(r.Body)
	_ = r.Body.Close()
	return &http.Response{StatusCode: e.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(e.answer)), Request: r}, nil
}

func (e *exchange) client() *wire.Client {
	return &wire.Client{Provider: "acme", Base: "http://acme.test/v1", HTTP: &http.Client{Transport: e}}
}

// events is a stream of data.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

func said(role model.Role, parts ...model.Part) model.Message {
	return model.Message{Role: role, Parts: parts}
}

func text(s string) model.Part { return model.Part{Kind: event.PartText, Text: s} }

func call(id, name, args string) model.Part {
	return model.Part{Kind: event.PartToolCall, ID: id, Name: name, Args: args}
}

func result(id, s string) model.Part {
	return model.Part{Kind: model.PartToolResult, ID: id, Name: "t", Text: s}
}

func thought(s, opaque string) model.Part {
	return model.Part{Kind: event.PartThinking, Text: s, Opaque: opaque}
}

func ask(messages ...model.Message) *model.Request {
	return &model.Request{Quest: "q", Agent: "a", Turn: 3, Model: "gpt-5", Messages: messages}
}

var hello = said(model.User, text("hello"))

// chat asks through Chat.
func chat(t *testing.T, opts openai.Options, r *model.Request, answer string) (*model.Answer, map[string]any, error) {
	t.Helper()
	opts.Provider = "acme"
	e := &exchange{status: 200, answer: answer}
	a, err := openai.NewChat(e.client(), opts).Generate(t.Context(), r, nil)
	return a, decoded(t, e.sent), err
}

// responses asks through Responses.
func responses(t *testing.T, opts openai.Options, r *model.Request, answer string) (*model.Answer, map[string]any, error) {
	t.Helper()
	opts.Provider = "acme"
	e := &exchange{status: 200, answer: answer}
	a, err := openai.NewResponses(e.client(), opts).Generate(t.Context(), r, nil)
	return a, decoded(t, e.sent), err
}

func decoded(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("the request is no JSON: %v\n%s", err, data)
	}
	return v
}

// wantJSON compares with JSON that is easier to read than Go.
func wantJSON(t *testing.T, want string, got any) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, got); diff != "" {
		t.Errorf("the request differs:\n%s", diff)
	}
}

const (
	fine          = "data: {\"choices\":[{\"delta\":{\"content\":\"fine\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	fineResponse  = "data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n"
	finishCalls   = `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`
	finishStop    = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	contentHello  = `{"choices":[{"delta":{"content":"hello"}}]}`
	usageOfAnswer = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2}}`
)

func TestChatReadsAnswers(t *testing.T) {
	t.Parallel()
	calls := func(parts ...model.Part) *model.Answer { return &model.Answer{Parts: parts, Stop: model.StopTools} }
	for name, c := range map[string]struct {
		events []string
		want   *model.Answer
	}{
		"WithCallsInFragments": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"y","function":{"name":"b","arguments":"{\"n\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":1,"function":{"arguments":":2}"}}]}}]}`,
			finishCalls, "[DONE]",
		}, calls(call("x", "a", "{}"), call("y", "b", `{"n":2}`))},
		"WithWholeCallsThatAreNotCounted": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"a","arguments":"{}"}},{"id":"y","function":{"name":"a","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]",
		}, calls(call("x", "a", "{}"), call("y", "a", "{}"))},
		"WithFragmentsThatAreNotCounted": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"a","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"y","function":{"name":"b","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"y","function":{"arguments":"}"}}]}}]}`,
			finishCalls, "[DONE]",
		}, calls(call("x", "a", "{}"), call("y", "b", "{}"))},
		"WithCallsThatAllClaimToBeTheFirst": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"y","function":{"name":"b","arguments":"{}"}}]}}]}`,
			finishStop, "[DONE]",
		}, calls(call("x", "a", "{}"), call("y", "b", "{}"))},
		"WithNamesAndIDsThatAreRepeated": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"}"}}]}}]}`,
			finishCalls, "[DONE]",
		}, calls(call("x", "a", "{}"))},
		"WithOneIDForTwoCalls": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}},{"index":1,"id":"x","function":{"name":"b","arguments":"{}"}}]}}]}`,
			finishCalls, "[DONE]",
		}, calls(call("x", "a", "{}"), call("xdvlfoxpk", "b", "{}"))},
		"WithCallsThatHaveNoID": {[]string{
			`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"a","arguments":{"n":1}}},{"function":{"name":"a","arguments":null}}]}}]}`,
			finishCalls, "[DONE]",
		}, calls(call("slzmwjqt8", "a", `{"n":1}`), call("xdvlfoxpk", "a", "{}"))},
		"WithThoughtsOfVLLM": {[]string{
			`{"choices":[{"delta":{"reasoning":"hm, "}}]}`, `{"choices":[{"delta":{"reasoning":"yes","content":null}}]}`, contentHello, finishStop, "[DONE]",
		}, &model.Answer{Parts: []model.Part{thought("hm, yes", ""), text("hello")}, Stop: model.StopEnd}},
		"WithThoughtsGivenTwice": {[]string{
			`{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, finishStop, "[DONE]",
		}, &model.Answer{Parts: []model.Part{thought("hm", "")}, Stop: model.StopEnd}},
		"WithThoughtsOfMistral": {[]string{
			`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`,
			`{"choices":[{"delta":{"content":[{"type":"text","text":"hel"},{"type":"text","text":"lo"}]}}]}`, finishStop, "[DONE]",
		}, &model.Answer{Parts: []model.Part{thought("hm", ""), text("hello")}, Stop: model.StopEnd}},
		"WithThoughtsOfOpenRouter": {[]string{
			`{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"signature":null}]}}]}`,
			`{"choices":[{"delta":{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]}}]}`,
			`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0},{"type":"reasoning.encrypted","data":"x","index":1}]}}]}`,
			`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"y","index":1}]}}]}`,
			finishStop, "[DONE]",
		}, &model.Answer{Parts: []model.Part{thought("ab", `acme:[{"index":0,"signature":"s","text":"ab","type":"reasoning.text"},{"data":"x","index":1,"type":"reasoning.encrypted"},{"data":"y","index":1,"type":"reasoning.encrypted"}]`)}, Stop: model.StopEnd}},
		"ThatAreCut":     {[]string{contentHello, `{"choices":[{"delta":{},"finish_reason":"length"}]}`, "[DONE]"}, &model.Answer{Parts: []model.Part{text("hello")}, Stop: model.StopLength}},
		"ThatAreRefused": {[]string{`{"choices":[{"delta":{"refusal":"no"}}]}`, finishStop, "[DONE]"}, &model.Answer{Parts: []model.Part{text("no")}, Stop: model.StopRefusal}},
		"OfTheFirstChoice": {[]string{
			contentHello, `{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"length"}]}`, finishStop, "[DONE]",
		}, &model.Answer{Parts: []model.Part{text("hello")}, Stop: model.StopEnd}},
		"WithTheCacheOfDeepSeek": {[]string{
			contentHello, finishStop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}`, "[DONE]",
		}, &model.Answer{Parts: []model.Part{text("hello")}, Stop: model.StopEnd, Usage: event.Usage{Input: 10, Cached: 8, Output: 2, Thinking: 1}}},
		"WithTheUsageOfKimi": {[]string{
			contentHello, `{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":4}}]}`, "[DONE]",
		}, &model.Answer{Parts: []model.Part{text("hello")}, Stop: model.StopEnd, Usage: event.Usage{Input: 10, Cached: 4, Output: 2}}},
		"WithoutDone": {[]string{contentHello, finishStop, usageOfAnswer}, &model.Answer{
			Parts: []model.Part{text("hello")}, Stop: model.StopEnd, Usage: event.Usage{Input: 10, Output: 2},
		}},
		"WithoutUsage": {[]string{contentHello, finishStop, "[DONE]"}, &model.Answer{Parts: []model.Part{text("hello")}, Stop: model.StopEnd}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := chat(t, openai.Options{}, ask(hello), events(c.events...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("ThatEndWithoutAnySignIfNoneWasAskedFor", func(t *testing.T) {
		t.Parallel()
		a, sent, err := chat(t, openai.Options{NoStreamOptions: true}, ask(hello), events(contentHello, finishStop))
		if err != nil || len(a.Parts) != 1 || sent["stream_options"] != nil {
			t.Errorf("got %+v, %v; sent %v", a, err, sent["stream_options"])
		}
	})
}

func TestStreamsThatFail(t *testing.T) {
	t.Parallel()
	half := `{"choices":[{"delta":{"content":"hello"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`
	spent := event.Usage{Input: 10, Output: 1}
	for name, c := range map[string]struct {
		ask    func(*testing.T, openai.Options, *model.Request, string) (*model.Answer, map[string]any, error)
		events []string
		want   model.Error
	}{
		"ChatWithoutAReasonToStop": {chat, []string{half}, model.Error{Kind: model.Unavailable, Usage: spent}},
		"ChatThatIsDoneForNothing": {chat, []string{half, "[DONE]"}, model.Error{Kind: model.Unavailable, Usage: spent}},
		"ChatWithoutUsageOrDone":   {chat, []string{contentHello, finishStop}, model.Error{Kind: model.Unavailable}},
		"ChatThatBreaks":           {chat, []string{half, `{"error":{"code":502,"message":"gone"}}`}, model.Error{Kind: model.Unavailable, Usage: spent}},
		"ChatThatBreaksInWords":    {chat, []string{`{"error":"out of memory"}`}, model.Error{Kind: model.Unavailable}},
		"ChatThatSaysError":        {chat, []string{`{"choices":[{"delta":{},"finish_reason":"error"}]}`, "[DONE]"}, model.Error{Kind: model.Unavailable}},
		"ChatThatIsTooLong":        {chat, []string{`{"error":{"code":400,"message":"This model's maximum context length is 4096 tokens."}}`}, model.Error{Kind: model.ContextTooLong}},
		"ChatThatIsInvalid":        {chat, []string{`{"error":{"code":400,"message":"bad"}}`}, model.Error{Kind: model.Invalid}},
		"ResponseWithoutAnEnd":     {responses, []string{`{"type":"response.output_text.delta","delta":"x"}`}, model.Error{Kind: model.Unavailable}},
		"ResponseThatFails": {responses, []string{
			`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"gone"},"usage":{"input_tokens":10,"output_tokens":1}}}`,
		}, model.Error{Kind: model.Unavailable, Usage: spent}},
		"ResponseThatMustWait": {responses, []string{
			`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Limit 30000. Please try again in 11.5s. Visit us."}}}`,
		}, model.Error{Kind: model.Unavailable, After: 11500 * time.Millisecond}},
		"ResponseThatIsTooLong": {responses, []string{
			`{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}`,
		}, model.Error{Kind: model.ContextTooLong}},
		"ResponseThatIsRefused": {responses, []string{
			`{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"flagged"}}}`,
		}, model.Error{Kind: model.Refused}},
		"ResponseWithANestedError": {responses, []string{
			`{"type":"error","error":{"type":"invalid_request_error","code":null,"message":"bad"}}`,
		}, model.Error{Kind: model.Invalid}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := c.ask(t, openai.Options{}, ask(hello), events(c.events...))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || a != nil {
				t.Fatalf("got %+v, %v", a, err)
			}
			if diff := cmp.Diff(&c.want, e, cmpopts.IgnoreFields(model.Error{}, "Text")); diff != "" {
				t.Errorf("the error differs (-want +got): %v\n%s", e, diff)
			}
		})
	}
}

func TestCancelledAnswersAreNone(t *testing.T) {
	t.Parallel()
	e := &exchange{status: 200, answer: events(contentHello, finishStop, usageOfAnswer)}
	ctx, cancel := context.WithCancel(t.Context())
	a, err := openai.NewChat(e.client(), openai.Options{}).Generate(ctx, ask(hello), func(model.Delta) { cancel() })
	if a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestRefusalsAreUnderstood(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]model.Kind{
		`{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`:                                            model.ContextTooLong,
		`{"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 9000","code":400}}`:                              model.ContextTooLong,
		`{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","code":"3051"}`:      model.ContextTooLong,
		`{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)","type":"invalid_request_error"}}`:              model.ContextTooLong,
		`{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","code":"context_length_exceeded"}`:        model.ContextTooLong,
		`{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`:                                                     model.ContextTooLong,
		`{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`:                  model.ContextTooLong,
		`{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 42000.","type":"tokens","code":"rate_limit_exceeded"}}`: model.ContextTooLong,
		`{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}`:                                                                               model.Refused,
		`{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`:                  model.Invalid,
		`{"error":{"message":"Rate limit reached. Please try again in 7s.","code":"rate_limit_exceeded"}}`:                                                         model.Unavailable,
		`<html>busy</html>`: model.Unavailable,
	} {
		e := &exchange{status: http.StatusTooManyRequests, answer: body}
		_, err := openai.NewChat(e.client(), openai.Options{}).Generate(t.Context(), ask(hello), nil)
		if got := model.KindOf(err); got != want {
			t.Errorf("%s is taken for %q, want %q", body, got, want)
		}
	}
}

func TestResponsesReadsAnswers(t *testing.T) {
	t.Parallel()
	const sealed = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"gAAA"}`
	for name, c := range map[string]struct {
		events []string
		want   *model.Answer
	}{
		"WhoseEndRepeatsNothing": {[]string{
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"hel"},{"type":"output_text","text":"lo"}]}}`,
			`{"type":"response.output_item.done","output_index":0,"item":` + sealed + `}`,
			`{"type":"response.completed","response":{"output":[]}}`,
		}, &model.Answer{Parts: []model.Part{thought("one\n\ntwo", "acme:"+sealed), text("hello")}, Stop: model.StopEnd}},
		"WithAPhase": {[]string{
			`{"type":"response.completed","response":{"output":[{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"hello"}]},{"type":"function_call","call_id":"x","name":"t","arguments":""}]}}`,
		}, &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: "hello", Opaque: "acme:phase=commentary"}, call("x", "t", "{}")}, Stop: model.StopTools}},
		"WithThoughtsInTheOpen": {[]string{
			`{"type":"response.completed","response":{"output":[{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"id":"rs_2","type":"reasoning","summary":[]}]}}`,
		}, &model.Answer{Parts: []model.Part{thought("hm", "")}, Stop: model.StopEnd}},
		"ThatAreFiltered": {[]string{
			`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}`,
		}, &model.Answer{Stop: model.StopRefusal}},
		"WhoseCallIsCut": {[]string{
			`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","status":"incomplete","call_id":"x","name":"t","arguments":"{\"a"}]}}`,
		}, &model.Answer{Parts: []model.Part{call("x", "t", `{"a`)}, Stop: model.StopLength}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := responses(t, openai.Options{}, ask(hello), events(c.events...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("AndShowsThemAsTheyCome", func(t *testing.T) {
		t.Parallel()
		e := &exchange{status: 200, answer: events(
			`{"type":"response.reasoning_summary_part.added","summary_index":0}`, `{"type":"response.reasoning_summary_text.delta","delta":"one"}`,
			`{"type":"response.reasoning_summary_part.added","summary_index":1}`, `{"type":"response.reasoning_summary_text.delta","delta":"two"}`,
			`{"type":"response.output_text.delta","delta":"hello"}`, `{"type":"response.completed","response":{}}`)}
		shown := map[string]string{}
		_, err := openai.NewResponses(e.client(), openai.Options{}).Generate(t.Context(), ask(hello), func(d model.Delta) { shown[d.Kind] += d.Text })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{event.PartThinking: "one\n\ntwo", event.PartText: "hello"}, shown); diff != "" {
			t.Errorf("what was shown differs (-want +got):\n%s", diff)
		}
	})
}
