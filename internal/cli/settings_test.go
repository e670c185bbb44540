package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/config"
	"lyceum/internal/need"
)

// everyKey is a config.yaml with all keys there are. TestEveryKeyHasARow fails if one is missing.
const everyKey = `computer: {allow_write: [out, /tmp], deny_read: [.env]}

model: vllm/qwen3.5
retry: 5m
patience: 1h
reserve: 2GiB
ledger: "postgres://lyceum@db.example/lyceum"
blobs: "s3://bucket/space?endpoint=https://s3.example"
outside_cost: 3
confirm_cost: 7
weak_limits: true
checkpoints: 500
witnesses: {one: {url: "https://witness.example/", public_key: witness.example+00000000+AAAA}}
timestamps: {url: "https://stamps.example/", certificates: /etc/stamps.pem}
witness: {logs: [ada+00000000+AAAA], first_use: true}
notify: "curl -H 'X: canary-notify' https://example.org"
private_addresses: [10.0.0.0/8]
repos: {parser: /srv/parser}
embeddings: {url: "https://vectors.example/v1", model: small, key_variable: VECTORS_KEY}
providers:
  vllm: {api: openai, url: "http://10.0.0.5:8000/v1", key_variable: VLLM_API_KEY, insecure: true, concurrency: 16, silence: 2m, dialect: tags}
  other: {api: openai, url: "https://other.example/v1", key_variable: OTHER_API_KEY}
models:
  vllm/qwen3.5: {context: 131072, max_output: 4096, pictures: false, dialect: native, input: 0.10, output: 0.30, cached: 0.01, cache_write: 0.02}
executors:
  mine: {folder: /opt/mine, command: ["{folder}/bin/mine", acp], variables: {MODE_KEY: canary-short}, files: {settings.json: canary-file}, wire: chat, mcp: stdio, mode: auto, authenticate: key, version: "1.2", no_read: true, reported: true}
registries:
  - {host: npm.example.com, header: X-Key, variable: NPM_TOKEN, variables: {npm_config_registry: "https://npm.example.com/"}}
mcp:
  files: {run: "files --stdio", tools: [read], repeatable: [read], trust: trusted, sampling: true, timeout: 90s}
  tracker: {url: "https://tracker.example.com/mcp/canary-path", log: error, pages: 5, retry: 3, headers: {X-Tracker: TRACKER_TOKEN}, login: {grant: client_credentials, client: lyceum, secret: TRACKER_SECRET, issuer: "https://login.example.com", audience: api}}
connectors:
  ops: {driver: webhook, url: "https://hooks.example.com/canary-hook", listen: "127.0.0.1:7421", key_variable: OPS_KEY, allow: {ada: control}}
  post: {driver: matrix, url: "https://matrix.example.org", key_variable: POST_KEY}
`

// rowsOf are the settings of a configuration by their keys.
func rowsOf(t *testing.T, text string) map[string]api.Setting {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(config.File(home), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	conf, err := config.Load(home)
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&app{config: conf, home: home}).settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]api.Setting{}
	for _, s := range got.Settings {
		if _, twice := out[s.Key]; twice {
			t.Errorf("there are two rows for %s", s.Key)
		}
		if out[s.Key] = s; s.About == "" || s.Reader == "" {
			t.Errorf("the row of %s says %q and is read by %q, want both", s.Key, s.About, s.Reader)
		}
	}
	return out
}

// TestEveryKeyHasARow walks what config.yaml can have. Whoever adds a key adds it to everyKey, and to
// what settings shows with who reads it.
func TestEveryKeyHasARow(t *testing.T) {
	rows, without := rowsOf(t, everyKey), rowsOf(t, "")
	for _, pattern := range config.Keys() {
		form := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.+`) + "$")
		found := false
		for key, row := range rows {
			found = found || form.MatchString(key) && (row.Set || row.Secret)
		}
		if _, always := without[pattern]; !found || !strings.Contains(pattern, ".") && !always {
			t.Errorf("config.yaml can have %s, and settings has no row for it", pattern)
		}
	}
	if row := rows["providers.vllm.concurrency"]; row.Value != "16" || row.Source != "file" {
		t.Errorf("the row of a key that is set: got %+v", row)
	}
	if row := without["model"]; row.Set || row.Source != "default" {
		t.Errorf("the row of a key that is not set: got %+v", row)
	}
}

// TestSecretsAreToldBySourceAlone: of each key it is told whether it stands in the environment, in the
// keyring, in the file or nowhere, and never what it is.
func TestSecretsAreToldBySourceAlone(t *testing.T) {
	bin := t.TempDir()
	ring := "#!/bin/sh\ncase \"$*\" in *\"account OTHER_API_KEY\"|*\"account POST_KEY\") echo canary-ring-12345;; *) exit 1;; esac\n"
	if err := need.Write(filepath.Join(bin, "secret-tool"), []byte(ring)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, v := range []string{"VLLM_API_KEY", "NPM_TOKEN", "TRACKER_TOKEN", "OPS_KEY"} {
		t.Setenv(v, "canary-environment-12345")
	}
	rows := rowsOf(t, everyKey)
	for key, want := range map[string]string{
		"providers.vllm.key": "environment", "providers.other.key": "keyring", "embeddings.key": "default", "notify": "file",
		"registries.0.credential": "environment", "mcp.tracker.headers.X-Tracker": "environment", "mcp.tracker.login.secret": "default",
		"connectors.ops.key": "environment", "connectors.post.key": "keyring",
	} {
		row, ok := rows[key]
		if !ok || !row.Secret || row.Source != want || row.Set != (want != "default") || row.Value != "" {
			t.Errorf("the row of %s: got %+v, want a secret from %s", key, row, want)
		}
	}
	data, err := json.Marshal(rows)
	if err != nil || strings.Contains(string(data), "canary") {
		t.Errorf("the settings tell a secret (%v): %s", err, data)
	}
}

// TestWhichTeXThereIs: the programs that computers have, and what is missing for a PDF.
func TestWhichTeXThereIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		has  map[string]string
		want string
	}{
		{map[string]string{"lualatex": "/usr/bin/lualatex"}, "ok lualatex"},
		{map[string]string{"tectonic": "/usr/bin/tectonic"}, "ok tectonic, warning latex"},
		{map[string]string{}, "warning latex"},
		{map[string]string{"pdflatex": "/usr/bin/pdflatex", "xelatex": "/usr/bin/xelatex", "tectonic": "/x"}, "ok pdflatex, ok xelatex, ok tectonic"},
	} {
		d := &doctor{section: "tex", tex: c.has}
		d.lookAtTeX(t.Context())
		var got []string
		for _, f := range d.Findings {
			if got = append(got, f.Status+" "+f.Name); f.Status != fine && !strings.Contains(f.Fix, "texlive") {
				t.Errorf("%s has the fix %q, want one that installs TeX", f.Name, f.Fix)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("computers with %v: got %v, want %s", c.has, got, c.want)
		}
	}
}
