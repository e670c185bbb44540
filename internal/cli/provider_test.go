package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/canary"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// wires are the providers' formats, and a model that speaks each.
var wires = map[string]struct {
	wire                 modeltest.Wire
	model, baseVar, path string
	keyVar               string
}{
	"anthropic": {&modeltest.AnthropicWire{}, "claude-sonnet-5", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY"},
	"responses": {&modeltest.ResponsesWire{}, "gpt-5", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY"},
	"chat":      {&modeltest.ChatWire{}, "mistral-large-latest", "MISTRAL_BASE_URL", "/v1", "MISTRAL_API_KEY"},
	"gemini":    {modeltest.GeminiWire{}, "gemini-2.5-pro", "GEMINI_BASE_URL", "/v1beta", "GEMINI_API_KEY"},
}

const canaryKey = "sk-canary-Zq7Xw2Vt9Lm4Rb6Kp1Ns8"

// provided is a home whose processes know a key and the address of a server.
func provided(t *testing.T, wire string, handler http.Handler) *home {
	t.Helper()
	w := wires[wire]
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	h := newHome(t, map[string]string{
		"quest.yaml":  "name: q\nproblem: What is six times seven?\nmodel: " + w.model + "\n",
		"config.yaml": "retry: 1s\n",
	})
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("retry: 1s\n"), 0o600))
	h.env = []string{w.baseVar + "=" + server.URL + w.path, w.keyVar + "=" + canaryKey}
	return h
}

// hasNoKey looks through everything that was kept and said.
func (h *home) hasNoKey(said ...lyceum) {
	h.t.Helper()
	for _, l := range said {
		if strings.Contains(l.out+l.errOut, canaryKey) {
			h.t.Errorf("the key was printed:\n%s%s", l.out, l.errOut)
		}
	}
	canary.Nowhere(h.t, h.dir, canaryKey)
}

// TestEveryProviderFromQuestionToProof runs a quest with each provider's format,
// and replays it without a request.
func TestEveryProviderFromQuestionToProof(t *testing.T) {
	t.Parallel()
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			h := provided(t, name, modeltest.Handler(w.wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
				usage := event.Usage{Input: 1000, Cached: 200, Output: 100}
				if seen.Key != canaryKey {
					return modeltest.Reply{}, modeltest.BadKey
				}
				if requests.Add(1) == 1 {
					return modeltest.Reply{Usage: usage, Stop: model.StopTools, Parts: []model.Part{
						{Kind: event.PartText, Text: "I compute. My key is " + seen.Key + "."},
						{Kind: event.PartToolCall, ID: "call_1", Name: "calculate", Args: `{"code":"print(6*7)"}`},
					}}, ""
				}
				return modeltest.Reply{Usage: usage, Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "It is 42."}}}, ""
			}))
			run := h.run("run", "quest.yaml")
			run.want(t, 0, "It is 42.", "No limit is set")
			if requests.Load() != 2 {
				t.Errorf("%d requests, want 2", requests.Load())
			}
			h.sound("q") // replay and verify
			if requests.Load() != 2 {
				t.Errorf("replay made %d requests", requests.Load()-2)
			}
			trace := h.run("trace", "q", "--jsonl")
			if !strings.Contains(trace.out, `"price":{`) || strings.Contains(trace.out, `"cost":0,`) {
				t.Errorf("the price is not in the ledger:\n%s", trace.out)
			}
			h.hasNoKey(run, trace, h.run("show", "q", "--json"))
		})
	}
}

// TestNoFailureShowsTheKey: a provider that repeats the key in what it says.
func TestNoFailureShowsTheKey(t *testing.T) {
	t.Parallel()
	for name := range wires {
		for what, handler := range map[string]http.HandlerFunc{
			"InAnError": func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, `{"error":{"message":"the key `+canaryKey+` is not good"}}`, http.StatusUnauthorized)
			},
			"InGarbage": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte("data: {" + canaryKey + "\n\n"))
			},
			"InARedirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/"+canaryKey, http.StatusTemporaryRedirect)
			},
		} {
			t.Run(name+what, func(t *testing.T) {
				t.Parallel()
				h := provided(t, name, handler)
				run := h.run("run", "quest.yaml")
				run.want(t, 1)
				h.hasNoKey(run, h.run("trace", "q", "--jsonl"), h.run("show", "q"))
			})
		}
	}
}

// TestAKeyInAnyWordStaysOut: as the name and the id of a tool call, in a policy, in
// a script, in a file of data, in a person's word.
func TestAKeyInAnyWordStaysOut(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	h := provided(t, "anthropic", modeltest.Handler(wires["anthropic"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		if requests.Add(1) == 1 {
			return modeltest.Reply{Stop: model.StopTools, Parts: []model.Part{{Kind: event.PartToolCall, ID: canaryKey, Name: canaryKey, Args: `{"a":"` + canaryKey + `"}`}}}, ""
		}
		return modeltest.Reply{Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "Done."}}}, ""
	}))
	must(t, writeFolder(h.work, map[string]string{
		"quest.yaml": "name: q\nproblem: Do not use " + canaryKey + ".\nmodel: claude-sonnet-5\npolicies: [{use: no-touch, paths: [" + canaryKey + "]}]\n",
		"data.yaml":  "name: d\nproblem: Look.\nmodel: claude-sonnet-5\ndata: data\n",
		"data/.env":  "KEY=" + canaryKey + "\n",
	}))
	run := h.run("run", "quest.yaml")
	run.want(t, 0, "Done.")
	h.run("run", "data.yaml").want(t, 2, ".env holds a key")
	h.run("message", "q", "The key is "+canaryKey+".").want(t, 0)
	h.hasNoKey(run, h.run("trace", "q", "--jsonl"))
}

// TestWhatIsWrongWithAModelIsToldFirst: before anything is recorded, and with what
// to do.
func TestWhatIsWrongWithAModelIsToldFirst(t *testing.T) {
	t.Parallel()
	none := http.NotFoundHandler()
	h := provided(t, "anthropic", none)
	ask := func(model string, args ...string) lyceum {
		return h.run(append([]string{"run", "quest.yaml", "--name", "x", "--model", model}, args...)...)
	}
	ask("claude-sonet-5").want(t, 2, "claude-sonnet-5")
	ask("gtp-5").want(t, 2, "gpt-5")
	ask("gpt-5").want(t, 2, "OPENAI_API_KEY")
	ask("claude-not-in-the-table-9", "--max-cost", "1").want(t, 2, "whose price nobody knows", "config.yaml")
	ask("demo:x").want(t, 2, "demo:7")
	if l := h.run("show", "x"); l.code == 0 {
		t.Errorf("a quest was made: %s", l.out)
	}
	h.env = []string{"ANTHROPIC_API_KEY=" + canaryKey, "ANTHROPIC_BASE_URL=http://127.0.0.1:1"}
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": "retry: 2s\npatience: 1s\n"}))
	h.run("run", "quest.yaml").want(t, 3, "connection refused", "is the server running", "paused (outage)")
	secure := httptest.NewTLSServer(none)
	t.Cleanup(secure.Close)
	h.env = []string{"ANTHROPIC_API_KEY=" + canaryKey, "ANTHROPIC_BASE_URL=" + secure.URL}
	h.run("run", "q").want(t, 1, "certificate", "check the base URL")
	// A quest that exists is not disturbed by a key that is gone.
	before := h.run("trace", "q").out
	h.env = []string{"ANTHROPIC_API_KEY="}
	h.run("run", "q").want(t, 2, "ANTHROPIC_API_KEY")
	if after := h.run("trace", "q").out; after != before {
		t.Errorf("something was recorded:\n%s", after)
	}
}

// TestTheLimitOfAnswersIsRaisedOnce: a model that is cut off is next asked with all that it
// can say, and the call says so. Replay finds the same.
func TestTheLimitOfAnswersIsRaisedOnce(t *testing.T) {
	t.Parallel()
	var limits [3]atomic.Int64
	var requests atomic.Int64
	h := provided(t, "anthropic", modeltest.Handler(wires["anthropic"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		n := requests.Add(1)
		limits[min(n, 3)-1].Store(seen.MaxTokens)
		r := modeltest.Reply{Usage: event.Usage{Input: 1000, Output: 100}, Stop: model.StopLength, Parts: []model.Part{{Kind: event.PartText, Text: "It is a long sto"}}}
		if n == 3 {
			r.Stop, r.Parts[0].Text = model.StopEnd, "It is 42."
		}
		return r, ""
	}))
	h.run("run", "quest.yaml").want(t, 0, "It is 42.")
	if got := [3]int64{limits[0].Load(), limits[1].Load(), limits[2].Load()}; got != [3]int64{16_000, 64_000, 64_000} {
		t.Errorf("the limits of the three answers: got %v, want 16000, then 64000", got)
	}
	trace := h.run("trace", "q", "--jsonl").out
	if !strings.Contains(trace, `"raised_output":64000`) || strings.Count(trace, `"max_tokens":64000`) != 2 {
		t.Errorf("what is recorded of it: got\n%s", trace)
	}
	h.sound("q")
}

// TestThinkingAndLengthAreTheQuests: what quest.yaml says of them reaches the model, and
// stands in the ledger.
func TestThinkingAndLengthAreTheQuests(t *testing.T) {
	t.Parallel()
	var body atomic.Value
	wire := modeltest.Handler(wires["responses"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		return modeltest.Reply{Usage: event.Usage{Input: 10, Output: 10}, Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "It is 42."}}}, ""
	})
	h := provided(t, "responses", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body.Store(string(data))
		r.Body = io.NopCloser(strings.NewReader(string(data)))
		wire.ServeHTTP(w, r)
	}))
	must(t, os.WriteFile(filepath.Join(h.work, "quest.yaml"), []byte("name: q\nproblem: What?\nmodel: gpt-5\nthinking: low\nmax_output: 4000\n"), 0o600))
	h.run("run", "quest.yaml").want(t, 0, "It is 42.")
	for _, want := range []string{`"effort":"low"`, `"max_output_tokens":4000`} {
		if sent, _ := body.Load().(string); !strings.Contains(sent, want) {
			t.Errorf("the request: got %s, want %s in it", sent, want)
		}
	}
	trace := h.run("trace", "q", "--jsonl").out
	for _, want := range []string{`"thinking":"low"`, `"max_output":4000`, `"effort":"low"`, `"max_tokens":4000`} {
		if !strings.Contains(trace, want) {
			t.Errorf("the ledger has no %s", want)
		}
	}
	h.sound("q")
}

// TestAnAnswerWithoutUsageDoesNotEndAQuestWithALimit: its cost is bounded, and shown so.
func TestAnAnswerWithoutUsageDoesNotEndAQuestWithALimit(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	h := provided(t, "chat", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delta := `{"content":"It is 42."},"finish_reason":"stop"`
		if requests.Add(1) == 1 {
			delta = `{"tool_calls":[{"index":0,"id":"abcdefghi","type":"function","function":{"name":"calculate","arguments":"{\"code\":\"print(6*7)\"}"}}]},"finish_reason":"tool_calls"`
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":`+delta+`}]}`+"\n\ndata: [DONE]\n\n")
	}))
	h.run("run", "quest.yaml", "--max-cost", "5").want(t, 0, "It is 42.", "at most $0.")
	h.run("show", "q", "--json").want(t, 0, `"estimated_calls": 2`)
	if trace := h.run("trace", "q", "--jsonl").out; strings.Count(trace, `"estimated":true`) != 2 || strings.Contains(trace, `"unpriced"`) {
		t.Errorf("the results: got\n%s", trace)
	}
	h.sound("q")
}
