package gateway_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/gateway"
)

// inside are bodies with something put in: each says where.
func inside(wire, what string) string {
	return strings.Replace(map[string]string{
		event.WireAnthropic: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],HERE}`,
		event.WireChat:      `{"model":"m","messages":[{"role":"user","content":"hi"}],HERE}`,
		event.WireResponses: `{"model":"m","input":"hi",HERE}`,
		event.WireGemini:    `{"contents":[{"parts":[{"text":"hi"}]}],HERE}`,
	}[wire], "HERE", what, 1)
}

// What is known to be harmless passes; all else does not, whether anybody has heard of it or not.
func TestOnlyWhatIsKnownToBeHarmlessPasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wire string
		pass bool
		what string
	}{
		{event.WireAnthropic, true, `"tools":[{"name":"a","input_schema":{"type":"object"}},{"type":"custom","name":"b"},{"name":"bash","type":"bash_20250124"}]`},
		{event.WireAnthropic, true, `"system":[{"type":"text","text":"be","cache_control":{"type":"ephemeral"}}],"metadata":{"user_id":"u"},"thinking":{"type":"adaptive"}`},
		{event.WireAnthropic, true, `"system":null,"mcp_servers":null`},
		{event.WireAnthropic, false, `"tools":[{"type":"web_search_20250305","name":"web_search"}]`},
		{event.WireAnthropic, false, `"tools":[{"name":"a"},{"type":"web_fetch_20250910","name":"web_fetch"}]`},
		{event.WireAnthropic, false, `"tools":[{"name":"code_execution","type":"code_execution_20250825"}]`},
		{event.WireAnthropic, false, `"tools":[{"type":"computer_20250124","name":"computer"}]`},
		{event.WireAnthropic, false, `"tools":[{"type":"mcp_toolset","mcp_server_name":"x"}]`},
		{event.WireAnthropic, false, `"tools":[{"type":"tool_of_tomorrow"}]`},
		{event.WireAnthropic, false, `"mcp_servers":[{"type":"url","url":"https://evil.example"}]`},
		{event.WireAnthropic, false, `"container":"c_1"`},
		{event.WireAnthropic, false, `"field_of_tomorrow":1`},
		{event.WireChat, true, `"tools":[{"type":"function","function":{"name":"a","parameters":{}}}],"stream_options":{"include_usage":true},"store":false,"n":1`},
		{event.WireChat, false, `"tools":[{"type":"web_search"}]`},
		{event.WireChat, false, `"web_search_options":{}`},
		{event.WireChat, false, `"store":true`},
		{event.WireChat, false, `"n":100`},
		{event.WireChat, false, `"service_tier":"priority"`},
		{event.WireChat, false, `"plugins":[{"id":"web"}]`},
		{event.WireChat, false, `"models":["other/model"]`},
		{event.WireChat, false, `"audio":{"voice":"x"}`},
		{event.WireResponses, true, `"tools":[{"type":"function","name":"a"},{"type":"custom","name":"b"},{"type":"local_shell"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"c"}]}]`},
		{event.WireResponses, true, `"include":["reasoning.encrypted_content"],"previous_response_id":null,"background":false,"store":false`},
		{event.WireResponses, false, `"tools":[{"type":"web_search"}]`},
		{event.WireResponses, false, `"tools":[{"type":"file_search","vector_store_ids":["v"]}]`},
		{event.WireResponses, false, `"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]`},
		{event.WireResponses, false, `"tools":[{"type":"computer_use_preview"}]`},
		{event.WireResponses, false, `"tools":[{"type":"image_generation"}]`},
		{event.WireResponses, false, `"tools":[{"type":"mcp","server_url":"https://evil.example"}]`},
		{event.WireResponses, false, `"tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp","server_url":"https://evil.example"}]}]`},
		{event.WireResponses, false, `"previous_response_id":"resp_1"`},
		{event.WireResponses, false, `"conversation":"conv_1"`},
		{event.WireResponses, false, `"prompt":{"id":"p"}`},
		{event.WireResponses, false, `"background":true`},
		{event.WireResponses, false, `"store":true`},
		{event.WireResponses, false, `"include":["web_search_call.results"]`},
		{event.WireGemini, true, `"tools":[{"functionDeclarations":[{"name":"a"}]}],"systemInstruction":{"parts":[{"text":"x"}]},"safetySettings":[]`},
		{event.WireGemini, true, `"tools":{"function_declarations":[{"name":"a"}]},"system_instruction":{"parts":{"text":"x"}}`},
		{event.WireGemini, false, `"tools":[{"googleSearch":{}}]`},
		{event.WireGemini, false, `"tools":[{"google_search":{}}]`},
		{event.WireGemini, false, `"tools":[{"functionDeclarations":[]},{"codeExecution":{}}]`},
		{event.WireGemini, false, `"tools":[{"functionDeclarations":[],"urlContext":{}}]`},
		{event.WireGemini, false, `"tools":{"computerUse":{}}`},
		{event.WireGemini, false, `"cachedContent":"cachedContents/1"`},
		{event.WireGemini, false, `"cached_content":"cachedContents/1"`},
		{event.WireGemini, false, `"generationConfig":{"candidateCount":8}`},
		{event.WireGemini, false, `"generation_config":{"response_modalities":["AUDIO"]}`},
		{event.WireGemini, false, `"generateContentRequest":{"tools":[{"googleSearch":{}}]}`},
	} {
		check(t, c.wire, inside(c.wire, c.what), c.pass)
	}
	for wire, forms := range map[string]string{
		event.WireAnthropic: `{"model":"m","messages":[{"role":"user","content":[PART]}]}`,
		event.WireChat:      `{"model":"m","messages":[{"role":"user","content":[PART]}]}`,
		event.WireResponses: `{"model":"m","input":[{"role":"user","content":[PART]}]}`,
		event.WireGemini:    `{"contents":[{"parts":[PART]}]}`,
	} {
		for part, pass := range map[string]bool{
			`{"type":"text","text":"x"}`: wire != event.WireGemini, `{"text":"x"}`: wire == event.WireGemini,
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`:                      wire == event.WireAnthropic,
			`{"source":{"data":"AAAA","type":"url","url":"https://evil.example"},"type":"image"}`:                     false,
			`{"type":"document","source":{"type":"file","file_id":"f"}}`:                                              false,
			`{"type":"document","source":{}}`:                                                                         false,
			`{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url"}}]}}`:    false,
			`{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"x"}}]}`: false,
			`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"ok"}]}`:                        wire == event.WireAnthropic,
			`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`:                                      false,
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`:                                   wire == event.WireChat,
			`{"type":"image_url","image_url":{"url":"https://evil.example/x.png"}}`:                                   false,
			`{"type":"image_url","image_url":{"url":" https://evil.example/x.png"}}`:                                  false,
			`{"type":"file","file":{"file_data":"data:x","filename":"a"}}`:                                            wire == event.WireChat,
			`{"type":"file","file":{"file_id":"f"}}`:                                                                  false,
			`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`:                                         wire == event.WireResponses,
			`{"type":"input_image","image_url":"http://evil.example"}`:                                                false,
			`{"type":"input_image","file_id":"f"}`:                                                                    false,
			`{"type":"input_file","file_url":"http://evil.example"}`:                                                  false,
			`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`:                                                   wire == event.WireGemini,
			`{"fileData":{"fileUri":"https://evil.example"}}`:                                                         false,
			`{"file_data":{"file_uri":"https://evil.example"}}`:                                                       false,
			`{"functionResponse":{"name":"f","response":{},"parts":[{"fileData":{"fileUri":"x"}}]}}`:                  false,
			`{"executableCode":{"code":"x"}}`:                                                                         false,
		} {
			check(t, wire, strings.Replace(forms, "PART", part, 1), pass)
		}
	}
	for item, pass := range map[string]bool{
		`{"type":"function_call_output","call_id":"c","output":"x"}`: true, `{"type":"reasoning","summary":[],"encrypted_content":"x"}`: true,
		`{"type":"item_reference","id":"msg_1"}`: false, `{"type":"mcp_call"}`: false, `{"type":"web_search_call"}`: false,
		`{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"http://evil.example"}]}`: false,
		`{"type":"additional_tools","tools":[{"type":"function","name":"x"}]}`:                                              true,
		`{"type":"additional_tools","tools":[{"type":"web_search"}]}`:                                                       false,
	} {
		check(t, event.WireResponses, `{"model":"m","input":[`+item+`]}`, pass)
	}
}

// check sends a body, and looks whether it goes out. One that does not is no event either.
func check(t *testing.T, wire, body string, pass bool) {
	t.Helper()
	e := exchanges[wire]
	o := newOffice(t, e.own, plays(e, false))
	status, said, _ := o.post(e.path, body)
	switch {
	case pass && status != http.StatusOK:
		t.Errorf("%s: %s is refused: %d %s", wire, body, status, said)
	case !pass && (status != http.StatusForbidden && status != http.StatusBadRequest || len(o.seen)+len(o.asked) > 0):
		t.Errorf("%s: %s is passed on: %d, %d requests", wire, body, status, len(o.seen))
	case !pass && (!strings.Contains(said, `"error"`) || wire == event.WireAnthropic && !strings.Contains(said, `"type":"error"`) || wire == event.WireGemini && !strings.Contains(said, `"status":`)):
		t.Errorf("%s: the refusal is not in the format's words: %s", wire, said)
	}
}

// A person can list what leads out.
func TestWhatIsListedPasses(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireAnthropic]
	o := newOffice(t, e.own, plays(e, false))
	o.Allowed = []string{"web_search_20250305"}
	if status, said, _ := o.post(e.path, inside(event.WireAnthropic, `"tools":[{"type":"web_search_20250305","name":"web_search"}]`)); status != http.StatusOK {
		t.Errorf("got %d: %s", status, said)
	}
	if status, _, _ := o.post(e.path, inside(event.WireAnthropic, `"tools":[{"type":"web_search_20260101","name":"web_search"}]`)); status != http.StatusForbidden {
		t.Errorf("another version got %d", status)
	}
}

func TestBodiesThatAreReadInTwoWays(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat]
	for _, body := range []string{
		`{"model":"a","model":"b","messages":[]}`, `{"model":"a","messages":[],"tools":[],"tools":[{"type":"web_search"}]}`, "{\"model\":\"a\xff\",\"messages\":[]}",
		`{"model":"a","messages":[]}{"model":"b"}`, `{"model":"a","messages":[]} x`, `{"model":["a"],"messages":[]}`, `{"messages":[]}`, `{"model":"","messages":[]}`, `[]`, `null`, `"x"`, ``, `{`, `{"model":"a","messages":[`,
		`{"model":"a","messages":[{"role":"user","content":{"type":"text"}}]}`, `{"model":"a","messages":"x"}`, `{"model":"` + strings.Repeat("a", 300) + `","messages":[]}`,
		`{"model":"a","messages":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
	} {
		o := newOffice(t, e.own, plays(e, false))
		if status, said, _ := o.post(e.path, body); status != http.StatusBadRequest && status != http.StatusForbidden || len(o.seen) > 0 {
			t.Errorf("%.60q got %d: %.100s", body, status, said)
		}
	}
}

func TestOnlyPathsThatGenerateCountOrList(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat]
	o := newOffice(t, e.own, plays(e, false))
	body := strings.ReplaceAll(e.body, "STREAM", "false")
	for _, line := range []string{
		"POST /v1/files HTTP/1.1", "POST /v1/messages/batches HTTP/1.1", "POST /v1/embeddings HTTP/1.1", "DELETE /v1/models HTTP/1.1", "PUT /v1/chat/completions HTTP/1.1", "GET /v1/chat/completions HTTP/1.1",
		"POST /v1/chat/completions/../files HTTP/1.1", "POST /v1//chat/completions HTTP/1.1", "POST //v1/chat/completions HTTP/1.1", "POST /v1/chat%2Fcompletions HTTP/1.1", "POST /v1/chat/completions/ HTTP/1.1",
		"POST /v1/chat/./completions HTTP/1.1", "POST /V1/chat/completions HTTP/1.1", "POST /v1/chat/completions;x HTTP/1.1", "POST /v1/chat/completions%00 HTTP/1.1",
		"POST http://evil.example/v1/chat/completions HTTP/1.1", "POST https://evil.example/v1/files HTTP/1.1", "CONNECT evil.example:443 HTTP/1.1", "TRACE /v1/models HTTP/1.1",
		"POST /v1beta/models/x:generateAnswer HTTP/1.1", "POST /v1beta/models/..%2Fx:generateContent HTTP/1.1", "POST /v1beta/models/a/b:generateContent HTTP/1.1", "POST /v1beta/models/x:streamGenerateContent HTTP/1.1",
		"POST /v1beta/models/x:generateContent:countTokens HTTP/1.1", "GET /v1/responses/resp_1 HTTP/1.1", "POST /v1/responses/resp_1/cancel HTTP/1.1", "GET /v1/files/f/content HTTP/1.1",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(o.url, "http://"))
		must(t, err)
		_, err = fmt.Fprintf(c, "%s\r\nHost: api.openai.com\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", line, len(body), body)
		must(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		must(t, err)
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %d", line, resp.StatusCode)
		}
		_ = resp.Body.Close()
		_ = c.Close()
	}
	if len(o.seen)+len(o.asked) > 0 {
		t.Errorf("the provider was asked %v", o.seen)
	}
	// A Host is nobody's affair: the provider's address is Lyceum's.
	req, err := http.NewRequest(http.MethodPost, o.url+e.path, strings.NewReader(body))
	must(t, err)
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(o.seen) != 1 {
		t.Errorf("with another Host: %d", resp.StatusCode)
	}
}

func TestOnlyModelsThatTheQuestLists(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, wire string, e exchangeOf, stream bool) {
		o := newOffice(t, e.own, plays(e, stream))
		o.Any = false
		status, said, _ := o.post(e.path, e.body)
		if status != http.StatusForbidden || !strings.Contains(said, e.own) || len(o.seen) > 0 {
			t.Errorf("another model: %d %s", status, said)
		}
		mine := strings.NewReplacer("claude-x", "real", "fake-1", "real", "gemini-x", "real")
		if status, said, _ = o.post(mine.Replace(e.path), mine.Replace(e.body)); status != http.StatusOK {
			t.Errorf("its own by the provider's name: %d %s", status, said)
		}
		if got := o.asked[0].Model; got != e.own {
			t.Errorf("what is recorded is %q", got)
		}
	})
	// A model is asked in its provider's format.
	o := newOffice(t, "ant/real", plays(exchanges[event.WireAnthropic], false))
	if status, said, _ := o.post("/v1/chat/completions", `{"model":"x","messages":[]}`); status != http.StatusForbidden || !strings.Contains(said, "anthropic") {
		t.Errorf("another format: %d %s", status, said)
	}
	for path, want := range map[string]string{"/v1/models": `"id":"ant/real"`, "/v1beta/models": `"name":"models/ant/real"`} {
		resp, err := http.Get(o.url + path)
		must(t, err)
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) || len(o.asked) > 0 {
			t.Errorf("%s: got %d %s, want a list with %s", path, resp.StatusCode, body, want)
		}
	}
}

func TestATokenIsForOneAgent(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, false)
	o := newOffice(t, e.own, plays(e, false))
	for _, who := range []string{"", "agent-1", "agent-01", "agent-0x/task-1", "task/agent-0"} {
		o.url = o.open(o.Handler, who)
		if status, _, _ := o.post(e.path, e.body); status != http.StatusUnauthorized || len(o.asked) > 0 {
			t.Errorf("the token of %q: %d", who, status)
		}
	}
	o.url = o.open(o.Handler, "agent-0")
	if status, _, _ := o.post(e.path, e.body); status != http.StatusOK {
		t.Errorf("its own token: %d", status)
	}
}

func TestARefusalIsInTheFormatsWords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, wire string, e exchangeOf, stream bool) {
		o := newOffice(t, e.own, plays(e, stream))
		for _, c := range []struct {
			err    error
			status int
			words  map[string]string
		}{
			{&gateway.Refusal{Text: "The quest has used $1 of $1.", Spent: true}, map[bool]int{true: 402, false: 429}[wire == event.WireAnthropic], map[string]string{
				event.WireAnthropic: `"type":"billing_error"`, event.WireChat: `"code":"insufficient_quota"`, event.WireResponses: `"code":"insufficient_quota"`, event.WireGemini: `"status":"RESOURCE_EXHAUSTED"`,
			}},
			{&gateway.Refusal{Text: "Not now."}, 403, map[string]string{
				event.WireAnthropic: `"type":"permission_error"`, event.WireChat: `"type":"permission_denied"`, event.WireResponses: `"type":"permission_denied"`, event.WireGemini: `"status":"PERMISSION_DENIED"`,
			}},
			{errors.New("paused"), 503, map[string]string{event.WireAnthropic: `"type":"api_error"`, event.WireChat: `server_error`, event.WireResponses: `server_error`, event.WireGemini: `UNAVAILABLE`}},
		} {
			o.gate = func(*event.GatewayAsked) error { return c.err }
			status, said, _ := o.post(e.path, e.body)
			if status != c.status || !strings.Contains(said, c.words[wire]) || !strings.Contains(said, c.err.Error()) || len(o.seen) > 0 {
				t.Errorf("%v: got %d %s", c.err, status, said)
			}
		}
	})
}

// An answer without a usage is charged for all that it may have used.
func TestAnAnswerWithoutUsageIsChargedAnUpperBound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, wire string, e exchangeOf, stream bool) {
		for name, c := range map[string]struct {
			answer http.HandlerFunc
			cancel bool
			// exact says that the input is known all the same.
			exact bool
		}{
			"cut": {answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[stream])
				part := strings.SplitAfter(strings.ReplaceAll(e.stream, "\r", ""), "\n\n")[0] + "data: {"
				if !stream {
					part = e.whole[:20]
				}
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}, exact: stream && (wire == event.WireAnthropic || wire == event.WireGemini)},
			"cancelled": {answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[stream])
				_, _ = io.WriteString(w, ": hi\n\n")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}, cancel: true},
			"never answered": {answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, cancel: true},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			o := newOffice(t, e.own, func(w http.ResponseWriter, r *http.Request) {
				if c.cancel {
					cancel() // the provider has it by now
				}
				c.answer(w, r)
			})
			ended := make(chan struct{})
			o.ended = func(*event.GatewayResult) { close(ended) }
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url+e.path, strings.NewReader(e.body))
			must(t, err)
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				if _, err = io.ReadAll(resp.Body); err == nil && stream {
					t.Errorf("%s: the agent takes the answer for whole", name)
				}
				_ = resp.Body.Close()
			}
			<-ended
			cancel()
			for o.mu.Lock(); len(o.results) == 0; o.mu.Lock() {
				o.mu.Unlock()
				runtime.Gosched()
			}
			o.mu.Unlock()
			res := o.result()
			most := o.asked[0].Most
			input := most.Input
			if c.exact {
				input = used.Input
			}
			if !res.Estimated || res.Usage.Output != 50 || res.Usage.Input != input || res.Cost < int64(res.Usage.Output)*10_000 || res.Error == "" {
				t.Errorf("%s: it is charged %+v, at most %+v", name, res, most)
			}
		}
	})
}

// A chat that is streamed without its usage is whole, and charged by its length.
func TestAWholeAnswerWithoutUsage(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, true)
	e.stream = "data: {\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	e.body = strings.Replace(e.body, "50", "4000", 1)
	o := newOffice(t, e.own, plays(e, true))
	if status, said, _ := o.post(e.path, e.body); status != 200 || said != e.stream {
		t.Fatalf("got %d %q, want the stream as it is", status, said)
	}
	if res := o.result(); !res.Estimated || res.Usage.Output != int64(len(e.stream)) || res.Error != "" {
		t.Errorf("it is charged %+v", res)
	}
}

func TestWhatAProviderMayNotDo(t *testing.T) {
	t.Parallel()
	elsewhere := func(w http.ResponseWriter, r *http.Request) { t.Error("a redirect was followed") }
	other := newOffice(t, "chat/real", elsewhere)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		free   bool // it costs nothing
	}{
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.url, http.StatusTemporaryRedirect)
		}, 502, true},
		"redirects a post": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.url, http.StatusSeeOther) }, 502, true},
		"compresses": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			g := gzip.NewWriter(w)
			_, _ = g.Write(make([]byte, 100<<20))
			_ = g.Close()
		}, 503, true},
		"echoes the key in an error": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"bad: `+canary+`"}}`)
		}, 400, true},
		"does not take the key": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key `+canary+`"}}`)
		}, 502, true},
		"answers for ever": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		}, 502, false},
	} {
		e := exchanges[event.WireChat].streamed(event.WireChat, true)
		o := newOffice(t, e.own, c.answer)
		status, said, header := o.post(e.path, e.body)
		if status != c.status || strings.Contains(said, canary) || strings.Contains(fmt.Sprint(header), canary) {
			t.Errorf("a provider that %s: got %d %.200s", name, status, said)
		}
		if res := o.result(); strings.Contains(res.Error, canary) || res.Error == "" || (res.Cost == 0) != c.free {
			t.Errorf("a provider that %s: the result is %+v", name, res)
		}
	}
	if len(other.seen) > 0 {
		t.Error("a redirect was followed")
	}
}

// A line of many MiB passes, and is not kept; the usage behind it is still found.
func TestLongLinesPass(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, true)
	long := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 10<<20) + "\"}}]}\n\n"
	e.stream = long + e.stream
	o := newOffice(t, e.own, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, e.stream)
	})
	if status, said, _ := o.post(e.path, e.body); status != 200 || said != e.stream {
		t.Fatalf("got %d and %d bytes of %d", status, len(said), len(e.stream))
	}
	if res := o.result(); res.Estimated || res.Usage != used {
		t.Errorf("its usage is %+v", res)
	}
}

func TestBoundsOfRequests(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, false)
	o := newOffice(t, e.own, plays(e, false))
	o.Handler.Patience = time.Minute // so much is slow to come on a machine that has other work
	big := `{"model":"x","messages":[{"role":"user","content":"` + strings.Repeat("x", 33<<20) + `"}]}`
	for name, length := range map[string]int64{"a huge body": int64(len(big)), "a flood of chunks": -1} {
		req, err := http.NewRequest(http.MethodPost, o.url+e.path, io.MultiReader(strings.NewReader(big)))
		must(t, err)
		req.ContentLength = length
		req.Header.Set("Content-Type", "application/json")
		conn, err := net.Dial("tcp", req.URL.Host)
		must(t, err)
		go func() { _ = req.Write(conn) }() // who is refused cannot write to the end
		resp, err := http.ReadResponse(bufio.NewReader(conn), req)
		must(t, err)
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s is answered by %d, want 413", name, resp.StatusCode)
		}
		must(t, conn.Close())
	}
	for _, c := range []struct{ name, value string }{{"Content-Encoding", "gzip"}, {"Content-Type", "text/plain"}, {"Content-Type", "multipart/form-data; boundary=x"}} {
		req, err := http.NewRequest(http.MethodPost, o.url+e.path, strings.NewReader(e.body))
		must(t, err)
		req.Header.Set(c.name, c.value)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("a request with %s %s: got %d, want 400", c.name, c.value, resp.StatusCode)
		}
	}
	// A body that does not come holds nothing for ever.
	o.Handler.Patience = 100 * time.Millisecond
	conn, err := net.Dial("tcp", strings.TrimPrefix(o.url, "http://"))
	must(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", e.path)
	must(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("a body that does not come: %d", resp.StatusCode)
	}
	// Two lengths, or a length and chunks, are nobody's request.
	for _, head := range []string{"Content-Length: 5\r\nContent-Length: 9", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: xchunked", "Content-Length: 5\r\n X-Folded: y", "Bad Name: x\r\nContent-Length: 2"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(o.url, "http://"))
		must(t, err)
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n\r\n{}{}{}{}", e.path, head)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			if _ = resp.Body.Close(); resp.StatusCode < 400 {
				t.Errorf("a request with %q: got %d, want a refusal", head, resp.StatusCode)
			}
		}
		_ = c.Close()
	}
	if len(o.seen)+len(o.asked) > 0 {
		t.Errorf("%d were asked, %d went out", len(o.asked), len(o.seen))
	}
}

func TestTooManyAtOnce(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, false)
	come, let := make(chan struct{}, 10), make(chan struct{})
	o := newOffice(t, e.own, func(w http.ResponseWriter, r *http.Request) {
		come <- struct{}{}
		<-let
		plays(e, false)(w, r)
	})
	o.Handler.Most = 2
	done := make(chan int, 2)
	for range 2 {
		go func() { status, _, _ := o.post(e.path, e.body); done <- status }()
		<-come
	}
	if status, _, header := o.post(e.path, e.body); status != http.StatusTooManyRequests || header.Get("Retry-After") == "" {
		t.Errorf("a third: %d", status)
	}
	close(let)
	for range 2 {
		if status := <-done; status != http.StatusOK {
			t.Errorf("one of two: %d", status)
		}
	}
}

// An agent that does not take its answer does not hold the provider's slot.
func TestAnAgentThatDoesNotListen(t *testing.T) {
	t.Parallel()
	e := exchanges[event.WireChat].streamed(event.WireChat, true)
	gone := make(chan struct{})
	o := newOffice(t, e.own, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	o.Handler.Patience = 200 * time.Millisecond
	ended := make(chan struct{})
	o.ended = func(*event.GatewayResult) { close(ended) }
	c, err := net.Dial("tcp", strings.TrimPrefix(o.url, "http://"))
	must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", e.path, len(e.body), e.body)
	must(t, err)
	<-ended
	<-gone
}
