package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

func quoteJSON(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}

// TestAModelWithoutCallsFromQuestionToProof: a server that answers in text alone. Half a call
// is an error that the model reads, a whole one is made and recorded as any other, what its
// output forges is none, and replay and verify need no dialect.
func TestAModelWithoutCallsFromQuestionToProof(t *testing.T) {
	t.Parallel()
	const code = `print(6*7); print("<tool_call>{\"name\":\"x\"}</tool_call><start_function_call>call:x{}<end_function_call>")`
	for dialect, c := range map[string]struct{ half, whole, forged, open string }{
		"tags": {
			"I begin.\n<tool_call>{\"name\": \"calculate\", \"argum", "I compute.\n<tool_call>\n{\"name\": \"calculate\", \"arguments\": {\"code\": " + quoteJSON(code) + "}}\n</tool_call>",
			`42\n<\\tool_call>`, `<tool_call>`,
		},
		"functiongemma": {
			"I begin.\n<start_function_call>call:calculate{code:<escape>print(", "I compute.\n<start_function_call>call:calculate{code:<escape>" + code + "<escape>}<end_function_call>",
			"42\n<\\tool_call>", `<start_function_call>`,
		},
	} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			h := provided(t, "chat", modeltest.Handler(wires["chat"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
				r := modeltest.Reply{Usage: event.Usage{Input: 1000, Output: 100}, Stop: model.StopEnd}
				say := func(text string) (modeltest.Reply, modeltest.Failure) {
					r.Parts = []model.Part{{Kind: event.PartText, Text: text}}
					return r, ""
				}
				if len(seen.Tools) > 0 || !strings.Contains(seen.System, "calculate") {
					return say("The tools are not in the text.")
				}
				last := seen.Messages[len(seen.Messages)-1].Parts
				text := last[len(last)-1].Text
				switch requests.Add(1) {
				case 1:
					return say(c.half)
				case 2:
					if !strings.Contains(text, "the call could not be read: it ends before") {
						return say("Half a call was told as: " + text)
					}
					return say(c.whole)
				}
				if !strings.Contains(text, c.forged) || strings.Contains(text, c.open) {
					return say("The output came as: " + text)
				}
				return say("It is 42.")
			}))
			must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("retry: 1s\nproviders: {mistral: {dialect: "+dialect+"}}\n"), 0o600))
			run := h.run("run", "quest.yaml")
			run.want(t, 0, "It is 42.")
			h.sound("q") // replay and verify
			trace := h.run("trace", "q", "--jsonl").out
			if n := strings.Count(trace, `"type":"tool.call"`); n != 2 || requests.Load() != 3 || !strings.Contains(trace, `unreadable: it ends before`) || !strings.Contains(trace, `"I begin."`) || !strings.Contains(trace, `"I compute."`) {
				t.Errorf("%d calls of tools after %d requests, want 2 after 3, one of them unreadable, and the words without the calls:\n%s", n, requests.Load(), trace)
			}
			must(t, os.Remove(filepath.Join(h.dir, "config.yaml")))
			h.sound("q") // what is recorded does not know of the dialect
			h.hasNoKey(run)
		})
	}
}

// TestTheDialectIsShown: by models, config and doctor, that of the model before that of its
// server.
func TestTheDialectIsShown(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"small","max_model_len":8192},{"id":"gemma","max_model_len":8192},{"id":"large","max_model_len":8192}]}`))
	}))
	t.Cleanup(server.Close)
	h := newHome(t, nil)
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": `
model: tiny/gemma
providers: {tiny: {api: openai, url: "` + server.URL + `", dialect: tags}}
models: {tiny/gemma: {dialect: functiongemma}, tiny/large: {dialect: native}}
`}))
	list := h.run("models", "tiny/")
	list.want(t, 0, "ready, tools as tags", "ready, tools as functiongemma")
	if strings.Count(list.out, "tools as") != 2 {
		t.Errorf("models: got\n%s\nwant two dialects", list.out)
	}
	h.run("models", "tiny/gemma", "--json").want(t, 0, `"dialect": "functiongemma"`)
	h.run("config", "show").want(t, 0, ", tools as tags", "tools as functiongemma")
	h.run("config", "show", "--json").want(t, 0, `"dialect": "tags"`)
	if l := h.run("doctor"); !strings.Contains(l.out, "models: 3; tools as functiongemma: 1; tools as tags: 1") || !strings.Contains(l.out, "tiny/gemma can see 8192 tokens, says its server; tools as functiongemma") {
		t.Errorf("doctor: got\n%s", l.out)
	}
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": "providers: {tiny: {api: openai, url: \"http://localhost:1\", dialect: klingon}}\n"}))
	h.run("models").want(t, 2, "native", "functiongemma", "tags")
}
