package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/strictyaml"

	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if c, err := Load(home); err != nil || !cmp.Equal(c, new(Config)) {
		t.Errorf("a home without: %+v, %v", c, err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("model: gpt-5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(home); err != nil || c.Model != "gpt-5" {
		t.Errorf("the config of the home: got %+v, %v, want model gpt-5", c, err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	c, err := Parse("config.yaml", []byte(`
# Everything there is.
model: claude-opus-5
retry: 5m
weak_limits: true
providers:
  vllm:
    api: openai
    url: http://10.0.0.5:8000/v1/
    key_variable: VLLM_API_KEY
    insecure: true
    concurrency: 16
  anthropic: {url: "https://proxy.example"}
models:
  vllm/qwen3: {context: 131072, input: 0.10, output: "0.30", cached: 0, cache_write: 0.000000001}
  gpt-5: {input: 1, output: 2.5}
  gpt-5-mini: {context: 1000}
embeddings: {url: "https://vectors.example/v1", model: small, key_variable: VECTORS_KEY}
`))
	want := &Config{
		Model: "claude-opus-5", Retry: 5 * time.Minute, WeakLimits: true,
		Embeddings: &Embeddings{URL: "https://vectors.example/v1", Model: "small", KeyVariable: "VECTORS_KEY"},
		Providers: map[string]Provider{
			"vllm":      {API: "openai", URL: "http://10.0.0.5:8000/v1", KeyVariable: "VLLM_API_KEY", Insecure: true, Concurrency: 16},
			"anthropic": {URL: "https://proxy.example"},
		},
		Models: map[string]Model{
			"vllm/qwen3": {Context: 131072, Price: &Price{Input: 100_000_000, Output: 300_000_000, CacheWrite: 1}},
			"gpt-5":      {Price: &Price{Input: 1e9, Output: 25e8, Cached: 1e9, CacheWrite: 1e9}},
			"gpt-5-mini": {Context: 1000},
		},
	}
	if diff := cmp.Diff(want, c); err != nil || diff != "" {
		t.Errorf("the config differs (-want +got): %v\n%s", err, diff)
	}
}

func TestParseNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# only words\n", "---\n", "---\n# words\n", "{}", "null", "~"} {
		if c, err := Parse("config.yaml", []byte(text)); err != nil || !cmp.Equal(c, new(Config)) {
			t.Errorf("an empty config: got %q: %+v, %v", text, c, err)
		}
	}
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"model: a\nmodle: b":                      `c.yaml:2:1: unknown key "modle"; a config.yaml has blobs, checkpoints, computer, confirm_cost, connectors, embeddings, executors, ledger, mcp, model, models, notify, outside_cost, patience, private_addresses, providers, registries, repos, reserve, retry, timestamps, weak_limits, witness, witnesses`,
		"model: [a, b]":                           "c.yaml:1:8: model: it must be a text",
		"model: ''":                               "model: it is empty",
		"- a":                                     "a config.yaml must be a mapping",
		"model: a\nmodel: b":                      "c.yaml:2:1: ",
		"embeddings: some":                        "embeddings must be none",
		"embeddings: {model: a}":                  "embeddings need url",
		"embeddings: {url: u, key: k}":            "keys are not kept",
		"retry: soon":                             "retry: \"soon\" is no time",
		"retry: -1m":                              "is no time",
		"retry: 5":                                "is no time",
		"patience: 800h":                          "is no time from 1s to 720h",
		"providers: [a]":                          "providers must be a mapping",
		"providers: {Mine: {api: openai}}":        "cannot name a provider",
		"providers: {a/b: {api: openai}}":         "cannot name a provider",
		"providers: {mine: {api: soap}}":          "none of openai, responses, anthropic, gemini",
		"providers: {mine: {url: 'example.org'}}": "a base URL is like",
		"providers: {mine: {url: 'ftp://example.org'}}":           "a base URL is like",
		"providers: {mine: {url: 'https://'}}":                    "a base URL is like",
		"providers: {mine: {url: 'https://u:p@h/v1'}}":            "no user or password",
		"providers: {mine: {url: 'https://h/v1?key=1'}}":          "no ? or #",
		"providers: {mine: {concurrency: 0}}":                     "whole number from 1",
		"providers: {mine: {concurrency: 1000000}}":               "at most 10000",
		"providers: {mine: {insecure: maybe}}":                    "true or false",
		"providers: {mine: {uri: x}}":                             `unknown key "uri"`,
		"models: {a: {input: 1}}":                                 "both input and output",
		"models: {a: {cached: 1}}":                                "both input and output",
		"models: {a: {input: -1, output: 1}}":                     "no amount",
		"models: {a: {input: 1e3, output: 1}}":                    "no amount",
		"models: {a: {input: .5, output: 1}}":                     "no amount",
		"models: {a: {input: 5., output: 1}}":                     "no amount",
		"models: {a: {input: 0.0000000001, output: 1}}":           "no amount",
		"models: {a: {input: 99999999999999999999, output: 1}}":   "no amount",
		"models: {a: {input: 1000001, output: 1}}":                "no amount",
		"models: {a: {input: $1, output: 1}}":                     "no amount",
		"models: {a: {context: 0}}":                               "whole number from 1",
		"models: {a: {context: 10.5}}":                            "whole number",
		"models: {a: {tokens: 10}}":                               `unknown key "tokens"`,
		"model: &x a":                                             "anchors",
		"providers: {mine: {key_variable: [VLLM_API_KEY]}}":       "it must be a text",
		"providers: {mine: {key_variable: vllm_key}}":             "the name of an environment variable",
		"providers: {mine: {key_variable: 'VLLM KEY'}}":           "the name of an environment variable",
		"providers: {mine: {key_variable: AKIAIOSFODNN7EXAMPLE}}": "the name of an environment variable",
	} {
		_, err := Parse("c.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if e, ok := errors.AsType[*strictyaml.Error](err); !ok || e.Line == 0 || e.File != "c.yaml" {
			t.Errorf("%s: the error has no place: %v", text, err)
		}
	}
}

func TestKeysAreNotKeptInTheFile(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-hunter2-0123456789"
	for _, text := range []string{
		"api_key: " + key, "providers: {openai: {api_key: " + key + "}}", "providers: {openai: {key: " + key + "}}", "providers: {openai: {token: " + key + "}}",
		"providers: {openai: {key_variable: " + key + "}}", "providers: {openai: {Authorization: Bearer " + key + "}}", "ANTHROPIC_API_KEY: " + key,
		"providers: {openai: {url: 'https://" + key + "@host/v1'}}", "providers: {openai: {url: 'https://host/v1?key=" + key + "'}}", "models: {gpt-5: {secret: " + key + "}}",
	} {
		_, err := Parse("c.yaml", []byte(text))
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "keyring") {
			t.Errorf("a key in the config: got %s: %v, want advice without the key", text, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"http://localhost:1/v1": true, "http://LOCALHOST": true, "http://127.0.0.1": true, "http://127.9.9.9": true, "http://[::1]:80": true, "http://LOCALHOST:1": true,
		"http://localhost.example.org": false, "http://127.0.0.1.example.org": false, "http://10.0.0.1": false, "http://0.0.0.0": false, "http://[::]": false,
		"http://localhost@evil.example": false, "http://evil.example/localhost": false, "http://[fe80::1]": false, "": false, "http://%zz": false,
	} {
		if Loopback(base) != want {
			t.Errorf("Loopback(%s) is not %t", base, want)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://h": "http://h/v1", "http://h/": "http://h/v1", "http://h/v1/": "http://h/v1", "http://h/v1/embeddings": "http://h/v1",
		"http://h/embeddings": "http://h/v1", "http://h/api/v4": "http://h/api/v4", "http://[::1]:9": "http://[::1]:9/v1",
	} {
		if got := Complete(base, "/v1", "/embeddings"); got != want {
			t.Errorf("Complete(%s): got %s, want %s", base, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("model: a\nproviders: {v: {api: openai, url: 'http://x', key_variable: A_B}}\nmodels: {a: {input: 1, output: 2}}")
	f.Add("model: [")
	f.Add("? a\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("c.yaml", []byte(text))
		if (c == nil) == (err == nil) {
			t.Errorf("either a config or an error: got %v, %v", c, err)
		}
	})
}

func TestServersOfTools(t *testing.T) {
	c, err := Parse("c.yaml", []byte("mcp:\n  web: {url: \"https://x.example/mcp\"}\nprivate_addresses: [127.0.0.1, \"127.0.0.1:80\", 10.0.0.0/8, \"10.0.0.0/8:81\", \"[::1]:82\"]\n"))
	if err != nil || c.MCP["web"].URL != "https://x.example/mcp" || len(c.Private) != 5 {
		t.Fatalf("got %+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"mcp: {web: {}}":                   "needs run",
		"private_addresses: [localhost]":   "no address like",
		"private_addresses: [a.example:1]": "no address like",
		"private_addresses: 7":             "private_addresses",
	} {
		if _, err := Parse("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
