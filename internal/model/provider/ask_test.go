package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// speaks is a server that answers paths with JSON, and everything else with 404. What it
// is asked by POST must hold the name of the model.
func speaks(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.URL.Path]
		body, _ := io.ReadAll(r.Body)
		if !ok || r.Method == http.MethodPost && !strings.Contains(string(body), `"qwen3"`) {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestServersAreAskedHowMuchTheirModelsSee(t *testing.T) {
	t.Parallel()
	show := `{"parameters":"temperature 0.6\nnum_ctx                        8192\n","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.block_count":36}}`
	plain := `{"parameters":"temperature 0.6","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
	for name, c := range map[string]struct {
		model   string
		answers map[string]string
		env     string
		want    int64
		doubt   string
	}{
		"VLLM":                    {"mine/qwen3", map[string]string{"/v1/models": `{"data":[{"id":"other","max_model_len":1000},{"id":"qwen3","max_model_len":16384}]}`}, "", 16384, ""},
		"OpenRoutersWord":         {"mine/qwen3", map[string]string{"/v1/models": `{"data":[{"id":"qwen3","context_length":65536}]}`}, "", 65536, ""},
		"Anthropics":              {"anth/qwen3", map[string]string{"/v1/models": `{"data":[{"id":"qwen3","type":"model"}]}`}, "", SafeContext, "its server does not tell"},
		"Geminis":                 {"gem/qwen3", map[string]string{"/v1beta/models": `{"models":[{"name":"models/qwen3","inputTokenLimit":30720}]}`}, "", 30720, ""},
		"LlamaCpp":                {"mine/qwen3", map[string]string{"/v1/models": `{"data":[{"id":"qwen3"}]}`, "/props": `{"default_generation_settings":{"n_ctx":12288}}`}, "", 12288, ""},
		"OllamaWithASize":         {"ollama/qwen3", map[string]string{"/api/show": show}, "", 8192, ""},
		"OllamaThatHasLoadedIt":   {"ollama/qwen3", map[string]string{"/api/show": plain, "/api/ps": `{"models":[{"name":"qwen3:latest","context_length":4096}]}`}, "", 4096, ""},
		"OllamaByItsVariable":     {"ollama/qwen3", map[string]string{"/api/show": plain}, "20000", 20000, ""},
		"OllamaThatDoesNotTell":   {"ollama/qwen3", map[string]string{"/api/show": plain}, "", SafeContext, "set OLLAMA_CONTEXT_LENGTH where it runs, or num_ctx"},
		"OllamaUnderAnotherName":  {"mine/qwen3", map[string]string{"/api/show": show}, "", 8192, ""},
		"NobodyTells":             {"mine/qwen3", map[string]string{"/v1/models": `{"data":[{"id":"qwen3"}]}`}, "", SafeContext, "nobody knows how many tokens mine/qwen3 can see (its server does not tell); 32000 are taken: say it in config.yaml, under models: mine/qwen3: {context: …}"},
		"NobodyIsThere":           {"mine/qwen3", nil, "", SafeContext, "404"},
		"ASizeThatNoModelHas":     {"mine/qwen3", map[string]string{"/v1/models": `{"data":[{"id":"qwen3","max_model_len":-5}]}`}, "", SafeContext, "nobody knows"},
		"SomethingThatIsNoJSON":   {"mine/qwen3", map[string]string{"/v1/models": "<html>"}, "", SafeContext, "cannot be read"},
		"TheConfigurationKnows":   {"mine/known", nil, "", 5000, ""},
		"ATableKnows":             {"claude-opus-4-5", nil, "", 200_000, ""},
		"ANewOneOfAKnownProvider": {"claude-opus-99", nil, "", 200_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := speaks(t, c.answers)
			yaml := "providers: {mine: {api: openai, url: '" + server.URL + "'}, anth: {api: anthropic, url: '" + server.URL + "/v1'}, gem: {api: gemini, url: '" + server.URL + "'}}\nmodels: {mine/known: {context: 5000}}"
			r := registry(t, yaml, map[string]string{"OLLAMA_BASE_URL": server.URL + "/v1", "OLLAMA_CONTEXT_LENGTH": c.env})
			for range 2 { // the second time it is known
				info, err := r.Measure(t.Context(), c.model)
				if err != nil || info.Context != c.want || (c.doubt == "") != (info.Doubt == "") || !strings.Contains(info.Doubt, c.doubt) {
					t.Errorf("got %d (%s), %v, want %d (%s)", info.Context, info.Doubt, err, c.want, c.doubt)
				}
				server.Close()
			}
		})
	}
}

func TestOwnServersAndOllamaListTheirModels(t *testing.T) {
	t.Parallel()
	server := speaks(t, map[string]string{"/v1/models": `{"data":[{"id":"b","max_model_len":16384},{"id":"a"},{"id":"\u001b[31mred"},{"id":"../x"}]}`})
	gone := httptest.NewServer(nil)
	gone.Close()
	r := registry(t, "providers: {mine: {api: openai, url: '"+server.URL+"'}}", map[string]string{"OLLAMA_BASE_URL": gone.URL})
	list := r.Listings(t.Context())
	if len(list) != 2 || list[0].Provider != "mine" || list[1].Provider != "ollama" {
		t.Fatalf("the servers: got %+v, want mine and ollama", list)
	}
	if m := list[0].Models; list[0].Err != nil || len(m) != 2 || m[0].Name != "mine/a" || m[0].Context != 0 || m[1].Name != "mine/b" || m[1].Context != 16384 || !m[1].HasKey {
		t.Errorf("what mine has: got %+v, %v, want a and b", m, list[0].Err)
	}
	if err := list[1].Err; err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a server that is not there: got %v", err)
	}
}

// TestAListSaysHowMuchModelsSee although the lists of llama.cpp and Ollama do not: those are
// asked in ways of their own. What Ollama could give and perhaps does not is a doubt.
func TestAListSaysHowMuchModelsSee(t *testing.T) {
	t.Parallel()
	const list = `{"data":[{"id":"qwen3"}]}`
	loaded := `{"models":[{"name":"qwen3:latest","context_length":4096}]}`
	show := `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
	for name, c := range map[string]struct {
		answers map[string]string
		ollama  bool
		want    int64
		doubt   string
	}{
		"LlamaCpp":               {map[string]string{"/v1/models": list, "/props": `{"default_generation_settings":{"n_ctx":12288}}`}, false, 12288, ""},
		"Ollama":                 {map[string]string{"/v1/models": list, "/api/show": show, "/api/ps": loaded}, true, 4096, ""},
		"OllamaUnderAnotherName": {map[string]string{"/v1/models": list, "/api/show": show, "/api/ps": loaded}, false, 4096, ""},
		"OllamaThatMayCutIt":     {map[string]string{"/v1/models": list, "/api/show": show}, true, 0, "qwen3 could see 40960 tokens, but Ollama gives"},
		"OfAnotherKind":          {map[string]string{"/v1/models": list}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := speaks(t, c.answers)
			yaml, env := "providers: {mine: {api: openai, url: '"+server.URL+"'}}", map[string]string{"OLLAMA_BASE_URL": "http://127.0.0.1:1"}
			if c.ollama {
				yaml, env = "{}", map[string]string{"OLLAMA_BASE_URL": server.URL}
			}
			m := registry(t, yaml, env).Listings(t.Context())[0].Models
			if len(m) != 1 || m[0].Context != c.want || (c.want > 0) != (m[0].Said == "its server") || (c.doubt == "") != (m[0].Doubt == "") || !strings.HasPrefix(m[0].Doubt, c.doubt) {
				t.Errorf("got %+v, want a context of %d and the doubt %q", m, c.want, c.doubt)
			}
		})
	}
}

func TestTheSilenceOfAServerCanBeSet(t *testing.T) {
	t.Parallel()
	conf, err := config.Parse("c", []byte("providers: {ollama: {silence: 45m}}"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := configured(conf.Providers)
	if err != nil || all["ollama"].silence.Minutes() != 45 || all["openai"].silence != 0 {
		t.Errorf("got %s and %s, %v, want 45 minutes and nothing", all["ollama"].silence, all["openai"].silence, err)
	}
}

// TestAServerThatFallsSilentIsAskedAgain although calls are tried for no longer than its
// silence.
func TestAServerThatFallsSilentIsAskedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Here.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	m, _, err := registry(t, "retry: 1s\nproviders: {mine: {api: openai, url: '"+server.URL+"', silence: 1s}}", nil).Open("mine/x")
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "hi"}}}}}, nil)
	if err != nil || len(a.Parts) != 1 || a.Parts[0].Text != "Here." || asked.Load() != 2 {
		t.Errorf("got %+v, %v after %d requests, want an answer to the second", a, err, asked.Load())
	}
}
