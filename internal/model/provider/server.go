package provider

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"lyceum/internal/config"
)

// defaultConcurrency is how many calls to one provider may be under way.
const defaultConcurrency = 64

// server is where models are.
type server struct {
	name string
	// prefixes begin the names of models that need no provider before them.
	prefixes []string
	// api is one of the config's, base the address it is spoken with at.
	api, base string
	// variables may hold the key, the first that does counts. A server without any
	// wants no key.
	variables []string
	// place is the variable that overrides base.
	place string
	// insecure lets the key go over http to another machine.
	insecure    bool
	concurrency int
	// silence is how long it may say nothing; 0 means what package wire takes.
	silence time.Duration
	// context is what every model of it can see at least, 0 if nobody knows.
	context int64
	// dialect is how its models are told of tools.
	dialect string
	// own says that the user named it, so that it may be any program.
	own bool
}

// known are the servers that need no configuration.
func known() map[string]server {
	list := []server{
		{name: "anthropic", prefixes: []string{"claude-"}, api: config.APIAnthropic, base: "https://api.anthropic.com", context: 200_000},
		{name: "openai", prefixes: []string{"gpt-", "o1", "o3", "o4"}, api: config.APIResponses, base: "https://api.openai.com/v1", context: 128_000},
		{
			name: "google", prefixes: []string{"gemini-"}, api: config.APIGemini, base: "https://generativelanguage.googleapis.com/v1beta",
			variables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, place: "GEMINI_BASE_URL", context: 200_000,
		},
		{name: "mistral", prefixes: []string{"mistral-", "codestral-", "devstral-", "magistral-", "ministral-"}, base: "https://api.mistral.ai/v1"},
		{name: "moonshot", prefixes: []string{"moonshot-", "kimi-"}, base: "https://api.moonshot.ai/v1"},
		{name: "deepseek", prefixes: []string{"deepseek-"}, base: "https://api.deepseek.com/v1"},
		{name: "zai", prefixes: []string{"glm-"}, base: "https://api.z.ai/api/paas/v4"},
		{name: "stepfun", prefixes: []string{"step-"}, base: "https://api.stepfun.ai/v1"},
		{name: "openrouter", base: "https://openrouter.ai/api/v1"},
		{name: "cerebras", base: "https://api.cerebras.ai/v1"},
		{name: "ollama", base: "http://localhost:11434/v1", variables: []string{}},
	}
	out := map[string]server{}
	for _, s := range list {
		s.concurrency = defaultConcurrency
		if s.api == "" {
			s.api = config.APIOpenAI
		}
		if s.variables == nil {
			s.variables = []string{prefix(s.name) + "_API_KEY"}
		}
		if s.place == "" {
			s.place = prefix(s.name) + "_BASE_URL"
		}
		out[s.name] = s
	}
	return out
}

// prefix begins the variables of a provider.
func prefix(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// configured returns the known servers as the user changed them, and the user's
// own.
func configured(own map[string]config.Provider) (map[string]server, error) {
	all := known()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		c := own[name]
		s, ok := all[name]
		if !ok && (c.API == "" || c.URL == "") {
			return nil, fmt.Errorf("config.yaml: the provider %s is none that Lyceum knows (%s), so it needs an api and a url", name, strings.Join(slices.Sorted(maps.Keys(known())), ", "))
		}
		if !ok {
			s = server{name: name, place: prefix(name) + "_BASE_URL", concurrency: defaultConcurrency, own: true}
		}
		if c.API != "" {
			s.api = c.API
		}
		if c.URL != "" {
			// What is there may be another program than the one whose models are known.
			s.base, s.context = c.URL, 0
		}
		s.silence = c.Silence
		if c.KeyVariable != "" {
			s.variables = []string{c.KeyVariable}
		}
		if c.Concurrency > 0 {
			s.concurrency = int(c.Concurrency)
		}
		s.insecure, s.dialect = c.Insecure, c.Dialect
		all[name] = s
	}
	return all, nil
}

// address returns where the server is, once it is sure that the key is safe on the
// way there.
func (s *server) address(getenv func(string) string) (string, error) {
	base, from := s.base, "config.yaml"
	if v := getenv(s.place); v != "" {
		base, from = strings.TrimRight(v, "/"), s.place
		if fault := config.AddressFault(v); fault != "" {
			return "", fmt.Errorf("the address of %s in %s cannot be used: %s", s.name, from, fault)
		}
	}
	base = complete(s.api, base)
	clear := strings.HasPrefix(strings.ToLower(base), "http://")
	if clear && len(s.variables) > 0 && !s.insecure && !config.Loopback(base) {
		return "", fmt.Errorf("the address of %s in %s is http:// on another machine, so that everyone on the way could read the key: use https://, or set insecure: true for providers: %s in config.yaml", s.name, from, s.name)
	}
	return base, nil
}

// complete makes the base that a driver adds its paths to.
func complete(api, base string) string {
	version := "/v1"
	if api == config.APIGemini {
		version = "/v1beta"
	}
	base = config.Complete(base, version, "/chat/completions", "/responses", "/messages", "/models")
	if api == config.APIAnthropic { // its driver adds the version itself
		return strings.TrimSuffix(base, version)
	}
	return base
}

// header carries the key as the server wants it.
func header(api, key string) http.Header {
	h := http.Header{}
	if key == "" {
		return h
	}
	switch api {
	case config.APIAnthropic:
		h.Set("X-Api-Key", key)
	case config.APIGemini:
		h.Set("X-Goog-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}

func secrets(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}
