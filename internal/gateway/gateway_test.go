package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/model/provider"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// canary is a key that every escape would show.
const canary = "sk-canary-Zq7Xw2Vt9Lm4"

// office is a gateway with providers behind it that are all one server.
type office struct {
	*gateway.Handler
	t *testing.T
	// url is where the agent asks.
	url string

	mu      sync.Mutex
	asked   []*event.GatewayAsked
	results []*event.GatewayResult
	seen    []seen
	// gate judges, ended is told before a result is durable; nil let all pass.
	gate  func(*event.GatewayAsked) error
	ended func(*event.GatewayResult)
}

// seen is what a provider got.
type seen struct {
	path, body string
	header     http.Header
}

// priced says what models of all four formats cost.
const priced = `
providers:
  ant: {api: anthropic, url: URL, key_variable: CANARY_KEY}
  chat: {api: openai, url: URL/v1, key_variable: CANARY_KEY}
  resp: {api: responses, url: URL/v1, key_variable: CANARY_KEY}
  gem: {api: gemini, url: URL/v1beta, key_variable: CANARY_KEY}
models:
  ant/real: {context: 100000, max_output: 5000, input: "1", output: "10", cached: "0.1", cache_write: "2"}
  chat/real: {context: 100000, max_output: 5000, input: "1", output: "10"}
  resp/real: {context: 100000, max_output: 5000, input: "1", output: "10"}
  gem/real: {context: 100000, max_output: 5000, input: "1", output: "10"}
`

// newOffice opens a gateway for an agent whose own model is at a provider that answers so.
func newOffice(t *testing.T, own string, answer http.HandlerFunc) *office {
	t.Helper()
	o := &office{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		o.mu.Lock()
		o.seen = append(o.seen, seen{r.URL.RequestURI(), string(body), r.Header.Clone()})
		o.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	c, err := config.Parse("config.yaml", []byte(strings.ReplaceAll(priced, "URL", server.URL)))
	must(t, err)
	found, err := provider.New(&provider.Options{
		Config: c, Getenv: func(v string) string { return map[string]string{"CANARY_KEY": canary}[v] },
		Keyring: func(context.Context, string) (string, error) { return "", nil },
	})
	must(t, err)
	t.Cleanup(found.Close)
	way, err := found.Forward(own)
	must(t, err)
	o.Handler = &gateway.Handler{
		Quest: "q", Agent: "agent-0", Own: own, Models: map[string]gateway.Model{own: {Upstream: way}}, Any: true,
		Ask: o.ask, Clock: func() event.Time { return 1_700_000_000_000_000 }, Patience: 5 * time.Second,
	}
	o.url = o.open(o.Handler, "agent-0/task-1")
	return o
}

// open serves a handler as a port does whose token somebody has.
func (o *office) open(h http.Handler, who string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(computer.As(r.Context(), who)))
	}))
	s.Config.ErrorLog = nil
	o.t.Cleanup(s.Close)
	return s.URL
}

func (o *office) ask(_ context.Context, b *event.GatewayAsked) (gateway.Call, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, b)
	if o.gate != nil {
		if err := o.gate(b); err != nil {
			return nil, err
		}
	}
	return &call{o}, nil
}

type call struct{ o *office }

func (c *call) Model() string { return c.o.Own }

func (c *call) End(b *event.GatewayResult) error {
	if c.o.ended != nil {
		c.o.ended(b)
	}
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	c.o.results = append(c.o.results, b)
	return nil
}

// post sends a request, and returns the status and the body.
func (o *office) post(path, body string) (int, string, http.Header) {
	o.t.Helper()
	resp, err := http.Post(o.url+path, "application/json", strings.NewReader(body))
	must(o.t, err)
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body) // one that is cut tells what came
	return resp.StatusCode, string(data), resp.Header
}

// result is the only one there is.
func (o *office) result() *event.GatewayResult {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.results) != 1 {
		o.t.Fatalf("there are %d results, want 1", len(o.results))
	}
	return o.results[0]
}

// exchangeOf is a request in a format, and answers with the same usage: 100 in, of which 40
// were cached, and 7 out.
type exchangeOf struct {
	own, path, body, sent, at string
	whole                     string
	stream                    string
}

var used = event.Usage{Input: 100, Cached: 40, Output: 7}

var exchanges = map[string]exchangeOf{
	event.WireAnthropic: {
		own: "ant/real", path: "/v1/messages", at: "/v1/messages",
		body: `{ "model" : "claude-x","max_tokens":50,"stream":STREAM, "messages":[{"role":"user","content":"hi \u00e9"}]}`,
		sent: `{ "model" : "real","max_tokens":50,"stream":STREAM, "messages":[{"role":"user","content":"hi \u00e9"}]}`,
		whole: `{"id":"msg_1","type":"message","content":[{"type":"text","text":"hey \"usage\":{\"output_tokens\":999}"}],"stop_reason":"end_turn",
			"usage":{"input_tokens":60,"cache_read_input_tokens":40,"cache_creation_input_tokens":0,"output_tokens":7}}`,
		stream: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":60,\"cache_read_input_tokens\":40,\"output_tokens\":1}}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"he said \\\"usage\\\"\"}}\n\n: ping\r\n\r\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	event.WireChat: {
		own: "chat/real", path: "/v1/chat/completions", at: "/v1/chat/completions",
		body:  `{"messages":[{"role":"user","content":"hi"}],"stream":STREAM,"max_tokens":50,"model":"fake-1"}`,
		sent:  `{"messages":[{"role":"user","content":"hi"}],"stream":STREAM,"max_tokens":50,"model":"real"}`,
		whole: `{"choices":[{"message":{"content":"hey"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":40}}}`,
		stream: "data: {\"choices\":[{\"delta\":{\"content\":\"he\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":40}}}\n\ndata: [DONE]\n\n",
	},
	event.WireResponses: {
		own: "resp/real", path: "/v1/responses", at: "/v1/responses",
		body:  `{"model":"fake-1","input":"hi","stream":STREAM,"store":false,"max_output_tokens":50}`,
		sent:  `{"model":"real","input":"hi","stream":STREAM,"store":false,"max_output_tokens":50}`,
		whole: `{"status":"completed","output":[],"usage":{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":40}}}`,
		stream: "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"he\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":100,\"output_tokens\":7,\"input_tokens_details\":{\"cached_tokens\":40}}}}\n\n",
	},
	event.WireGemini: {
		own: "gem/real", path: "/v1beta/models/gemini-x:generateContent", at: "/v1beta/models/real:generateContent",
		body:  `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":50}}`,
		sent:  `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":50}}`,
		whole: `{"candidates":[{"content":{"parts":[{"text":"hey"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":7}}`,
		stream: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"he\"}]}}],\"usageMetadata\":{\"promptTokenCount\":100}}\r\n\r\n" +
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"y\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":100,\"cachedContentTokenCount\":40,\"candidatesTokenCount\":7}}\r\n\r\n",
	},
}

// streamed makes a request of an exchange one that is streamed, or not.
func (e exchangeOf) streamed(wire string, on bool) exchangeOf {
	word := fmt.Sprint(on)
	e.body, e.sent = strings.ReplaceAll(e.body, "STREAM", word), strings.ReplaceAll(e.sent, "STREAM", word)
	if wire == event.WireGemini && on {
		e.path = strings.ReplaceAll(e.path, ":generate", ":streamGenerate") + "?alt=sse&key=abc"
		e.at = strings.ReplaceAll(e.at, ":generate", ":streamGenerate") + "?alt=sse"
	}
	return e
}

// plays answers with the exchange's stream or its whole answer.
func plays(e exchangeOf, stream bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_1")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Provider-Secret", canary)
		if !stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, e.whole)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for piece := range strings.SplitAfterSeq(e.stream, "\n") {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// each runs a test for each format, streamed and not.
func each(t *testing.T, f func(t *testing.T, wire string, e exchangeOf, stream bool)) {
	for wire, e := range exchanges {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", wire, stream), func(t *testing.T) {
				t.Parallel()
				f(t, wire, e.streamed(wire, stream), stream)
			})
		}
	}
}

func TestBytesPassUnchangedButForKeyAndModel(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, wire string, e exchangeOf, stream bool) {
		o := newOffice(t, e.own, plays(e, stream))
		req, err := http.NewRequest(http.MethodPost, o.url+e.path, strings.NewReader(e.body))
		must(t, err)
		for name, value := range map[string]string{
			"Content-Type": "application/json", "X-Stainless-Os": "Linux", "Cookie": "a=b", "X-Forwarded-For": "1.2.3.4", "Anthropic-Beta": "interleaved-thinking-2025-05-14, mcp-client-2025-04-04",
			"Openai-Organization": "org", "X-Goog-User-Project": "p", "User-Agent": "agent", "Accept-Encoding": "gzip, br",
		} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		must(t, err)
		want := e.whole
		if stream {
			want = e.stream
		}
		if resp.StatusCode != http.StatusOK || string(body) != want {
			t.Fatalf("the agent got %d: %s\nwant %s", resp.StatusCode, body, want)
		}
		got := o.seen[0]
		if got.body != e.sent || got.path != e.at {
			t.Errorf("the provider got %s %s\nwant %s %s", got.path, got.body, e.at, e.sent)
		}
		var names []string
		for name, values := range got.header {
			names = append(names, name)
			if name != "X-Api-Key" && name != "Authorization" && name != "X-Goog-Api-Key" && strings.Contains(strings.Join(values, ""), canary) {
				t.Errorf("the key went out as %s", name)
			}
		}
		for _, name := range []string{"X-Stainless-Os", "Cookie", "X-Forwarded-For", "Openai-Organization", "X-Goog-User-Project"} {
			if got.header.Get(name) != "" {
				t.Errorf("the header %s of the agent went out: %v", name, names)
			}
		}
		if beta := got.header.Get("Anthropic-Beta"); wire == event.WireAnthropic && beta != "interleaved-thinking-2025-05-14" {
			t.Errorf("what was switched on is %q", beta)
		}
		if keys := got.header.Get("X-Api-Key") + got.header.Get("Authorization") + got.header.Get("X-Goog-Api-Key"); !strings.HasSuffix(keys, canary) {
			t.Errorf("the key that went out is %q", keys)
		}
		if resp.Header.Get("Set-Cookie")+resp.Header.Get("X-Provider-Secret") != "" || resp.Header.Get("Request-Id") != "req_1" {
			t.Errorf("the headers that came in are %v", resp.Header)
		}
		u := used
		price := event.Price{Input: 1e9, Output: 10e9, Cached: 1e9, CacheWrites: 1e9}
		if wire == event.WireAnthropic {
			price.Cached, price.CacheWrites = 1e8, 2e9
		}
		res := o.result()
		if diff := cmp.Diff(u, res.Usage); diff != "" || res.Estimated || res.Unpriced || res.Error != "" || res.Cost != price.Cost(u) || res.Status != 200 {
			t.Errorf("what it used is %+v (%s), want a cost of %d", res, diff, price.Cost(u))
		}
		if res.Size != int64(len(want)) || res.Hash != event.HashOf([]byte(want)) {
			t.Errorf("the answer's size and hash are %d, %s", res.Size, res.Hash)
		}
		a := o.asked[0]
		if a.Size != int64(len(e.body)) || a.Hash != event.HashOf([]byte(e.body)) || a.Wire != wire || a.Most.Output != 50 || a.Most.Input < 100 || a.Count {
			t.Errorf("what was asked is %+v", a)
		}
	})
}

// A result is durable before the agent has the end of the answer: whatever it does next,
// its next request comes after.
func TestTheEndWaitsForTheLedger(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ string, e exchangeOf, stream bool) {
		o := newOffice(t, e.own, plays(e, stream))
		o.Handler.Patience = time.Minute
		held, let := make(chan struct{}), make(chan struct{})
		o.ended = func(*event.GatewayResult) {
			time.Sleep(50 * time.Millisecond) // in which what was sent arrives
			close(held)
			<-let
		}
		var mu sync.Mutex
		var got bytes.Buffer
		done := make(chan error, 1)
		go func() {
			resp, err := http.Post(o.url+e.path, "application/json", strings.NewReader(e.body))
			if err == nil {
				defer resp.Body.Close()
				buf := make([]byte, 100)
				for err == nil {
					var n int
					n, err = resp.Body.Read(buf)
					mu.Lock()
					got.Write(buf[:n])
					mu.Unlock()
				}
			}
			done <- err
		}()
		<-held
		mu.Lock()
		early := got.String()
		mu.Unlock()
		for _, end := range []string{"stop_reason", "finish_reason\":\"stop", "[DONE]", `"type":"response.completed"`, "finishReason"} {
			if strings.Contains(early, end) {
				t.Errorf("the agent has the end before it is recorded: %s", early)
			}
		}
		close(let)
		if err := <-done; err != io.EOF {
			t.Fatal(err)
		}
		if want := map[bool]string{true: e.stream, false: e.whole}[stream]; got.String() != want {
			t.Errorf("in the end it has %q, want %q", got.String(), want)
		}
	})
}
