package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatAServerSaysOfItsContextIsUsedAndShown by doctor, create, run and models, for servers
// of each kind that are asked in another way. Where none says it for certain a person is warned,
// and a safe size is taken.
func TestWhatAServerSaysOfItsContextIsUsedAndShown(t *testing.T) {
	t.Parallel()
	const (
		list   = `{"data":[{"id":"qwen3"}]}`
		shows  = `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
		chosen = `{"parameters":"num_ctx 8192\n","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
		loaded = `{"models":[{"name":"qwen3:latest","context_length":24576}]}`
		cuts   = "qwen3 could see 40960 tokens, but Ollama gives models its own default"
	)
	for name, c := range map[string]struct {
		ollama  bool
		answers map[string]string
		context int64  // what models and doctor show, 0 if nobody knows
		window  int64  // nine tenths of it, or of the safe size
		doubt   string // of whoever makes a quest, and of doctor
		list    string // what models says instead of a size
	}{
		"VLLM":                  {false, map[string]string{"/v1/models": `{"data":[{"id":"qwen3","max_model_len":16384}]}`}, 16384, 14745, "", ""},
		"LlamaCpp":              {false, map[string]string{"/v1/models": list, "/props": `{"default_generation_settings":{"n_ctx":12288}}`}, 12288, 11059, "", ""},
		"OllamaWithASize":       {true, map[string]string{"/v1/models": list, "/api/show": chosen}, 8192, 7372, "", ""},
		"OllamaThatRunsIt":      {true, map[string]string{"/v1/models": list, "/api/show": shows, "/api/ps": loaded}, 24576, 22118, "", ""},
		"OllamaByAnotherName":   {false, map[string]string{"/v1/models": list, "/api/show": chosen}, 8192, 7372, "", ""},
		"OllamaThatMayCut":      {true, map[string]string{"/v1/models": list, "/api/show": shows}, 0, 28800, cuts, cuts},
		"AServerThatDoesNotSay": {false, map[string]string{"/v1/models": list}, 0, 28800, "nobody knows how many tokens mine/qwen3 can see (its server does not tell); 32000 are taken: say it in config.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, ok := c.answers[r.URL.Path]
				if strings.HasSuffix(r.URL.Path, "/chat/completions") {
					text, ok = "data: {\"choices\":[{\"delta\":{\"content\":\"It is 42.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n", true
				}
				if !ok {
					http.NotFound(w, r)
					return
				}
				_, _ = io.WriteString(w, text)
			}))
			t.Cleanup(server.Close)
			model, config := "mine/qwen3", "providers: {mine: {api: openai, url: '"+server.URL+"'}}\n"
			if c.ollama {
				model, config = "ollama/qwen3", ""
			}
			h := newHome(t, map[string]string{"quest.yaml": "name: q\nproblem: What is six times seven?\nmodel: " + model + "\n"})
			must(t, writeFolder(h.dir, map[string]string{"config.yaml": "retry: 1s\nmodel: " + model + "\n" + config}))
			if c.ollama {
				h.env = []string{"OLLAMA_BASE_URL=" + server.URL}
			}

			shown := h.run("models", model)
			size := "?"
			if c.context > 0 {
				size = fmt.Sprint(c.context)
			}
			shown.want(t, 0, c.list)
			if row := rowOf(shown.out, model); !strings.Contains(row, " "+size+" ") {
				t.Errorf("models shows\n%s\nwant %s with a context of %s", shown.out, model, size)
			}
			h.run("models", model, "--json").want(t, 0, fmt.Sprintf(`"context": %d`, c.context))

			doctor := h.run("doctor")
			want := model + " can see " + size + " tokens, says its server"
			if c.doubt != "" {
				want = c.doubt
			}
			if row := rowOf(doctor.out, " model: "); !strings.Contains(row, want) || strings.Contains(row, "warning") != (c.doubt != "") {
				t.Errorf("doctor says of the model %q, want %q", row, want)
			}

			for quest, l := range map[string]lyceum{"made": h.run("create", "quest.yaml", "--name", "made"), "q": h.run("run", "quest.yaml")} {
				l.want(t, 0, c.doubt)
				if c.doubt == "" && strings.Contains(l.errOut, "tokens") {
					t.Errorf("%s: a warning of a size that is known:\n%s", quest, l.errOut)
				}
				if made := h.run("trace", quest, "--jsonl").out; !strings.Contains(made, fmt.Sprintf(`"window":%d`, c.window)) {
					t.Errorf("%s has another window than %d:\n%.2000s", quest, c.window, made)
				}
			}
			h.run("show", "q").want(t, 0, "It is 42.")
			must(t, os.Remove(filepath.Join(h.dir, "config.yaml")))
			server.Close()
			h.sound("q") // nothing depends on asking again
		})
	}
}

// rowOf is the first line that holds a text.
func rowOf(out, text string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, text) {
			return strings.TrimRight(line, "\n")
		}
	}
	return ""
}
