package setting_test

import (
	"strings"
	"testing"

	"lyceum/internal/mcp/setting"
	"lyceum/internal/strictyaml"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, text string) (setting.Servers, error) {
	t.Helper()
	n, err := strictyaml.Document("q.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var l setting.Servers
	err = strictyaml.Value(n, &l)
	return l, err
}

const whole = `
files: {run: mcp-files /home, repeatable: [read], tools: [read, write]}
web:
  url: https://mcp.example.com/mcp
  headers: {Authorization: WEB_TOKEN}
  trust: trusted
  timeout: 90s
  log: warning
  pages: 7
  retry: -1
desk:
  url: https://desk.example.com/mcp
  login: {grant: client_credentials, client: lyceum-1, secret: DESK_SECRET, issuer: https://login.example.com, audience: desk}
`

func TestServersAreReadAndWritten(t *testing.T) {
	want := setting.Servers{
		"files": {Run: "mcp-files /home", Repeatable: []string{"read"}, Tools: []string{"read", "write"}},
		"web":   {URL: "https://mcp.example.com/mcp", Headers: map[string]string{"Authorization": "WEB_TOKEN"}, Trust: "trusted", Timeout: 90, Log: "warning", Pages: 7, Retry: -1},
		"desk": {URL: "https://desk.example.com/mcp", Login: &setting.Login{
			Grant: setting.ClientCredentials, Client: "lyceum-1", Secret: "DESK_SECRET", Issuer: "https://login.example.com", Audience: "desk",
		}},
	}
	got, err := read(t, whole)
	if err != nil || !cmp.Equal(got, want) {
		t.Fatalf("the servers are not what was written (-want +got): %v\n%s", err, cmp.Diff(want, got))
	}
	out, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := read(t, string(out)); err != nil || !cmp.Equal(again, want) {
		t.Errorf("what is written is not what is read: %v\n%s", err, out)
	}
	s := got["web"]
	if f := got["files"]; s.Kind() != setting.HTTP || f.Kind() != setting.Stdio {
		t.Error("one is taken for the other")
	}
	over := setting.Servers{"web": {Run: "x"}}.Over(got)
	if over["web"].Run != "x" || over["files"].Run == "" || got["web"].Run != "" {
		t.Errorf("over others it is %+v", over)
	}
}

func TestFaultsOfServers(t *testing.T) {
	for text, want := range map[string]string{
		"[a]":                                           "mapping from names",
		"a: {}":                                         "needs run",
		"a: {run: x, url: 'https://x.example'}":         "both given",
		"A: {run: x}":                                   "no name of a server",
		"a_b: {run: x}":                                 "no name of a server",
		"abcdefghijklmnopqrstuvwxyz: {run: x}":          "no name of a server",
		"a: {run: x, color: red}":                       "unknown key",
		"a: {run: ''}":                                  "line for the shell",
		"a: {url: ftp://x.example}":                     "no address",
		"a: {url: 'https://u:p@x.example/'}":            "no password",
		"a: {url: 'https://x.example/#a'}":              "behind a #",
		"a: {run: x, headers: {A: B}}":                  "nothing secret goes into a computer",
		"a: {url: 'http://x.example', headers: {A: B}}": "say https",
		"a: {url: 'https://x.example', headers: {A: 'Bearer abc'}}":             "never the value",
		"a: {url: 'https://x.example', headers: {Host: B}}":                     "protocol's own",
		"a: {url: 'https://x.example', headers: {Mcp-Name: B}}":                 "protocol's own",
		"a: {url: 'https://x.example', headers: {'a b': B}}":                    "no name of a header",
		"a: {run: x, trust: own}":                                               "trusted",
		"a: {run: x, timeout: 1h}":                                              "no time from 1s to 10m",
		"a: {run: x, timeout: 1500ms}":                                          "whole seconds",
		"a: {run: x, tools: [b, b]}":                                            "listed twice",
		"a: {run: x, log: loud}":                                                "emergency",
		"a: {run: x, pages: 0}":                                                 "from 1 to 1000",
		"a: {run: x, pages: many}":                                              "from 1 to 1000",
		"a: {run: x, retry: 1}":                                                 "retry is for a server with url",
		"a: {url: 'https://x.example', retry: 11}":                              "from -1 to 10",
		"a: {run: x, sampling: 1}":                                              "it must be true or false",
		"a: {run: x, login: {}}":                                                "nothing secret goes into a computer",
		"a: {url: 'https://x.example', headers: {authorization: B}, login: {}}": "keep one",
		"a: {url: 'https://x.example', login: {secret: B}}":                     "say client",
		"a: {url: 'https://x.example', login: {client: c, secret: B}}":          "needs its issuer",
		"a: {url: 'https://x.example', login: {client: c, secret: 'a b', issuer: 'https://i.example'}}": "never the secret",
		"a: {url: 'https://x.example', login: {client: c, secret: B, issuer: 'http://i.example'}}":      "no issuer",
		"a: {url: 'https://x.example', login: {grant: client_credentials, client: c}}":                  "client_credentials take",
		"a: {url: 'https://x.example', login: {grant: password}}":                                       "client_credentials",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := read(t, "a: {url: 'http://127.0.0.1:80/', headers: {A: B}}"); err != nil {
		t.Errorf("over this machine's own network: %v", err)
	}
}

func TestTheSchemaTakesWhatIsRead(t *testing.T) {
	s, err := setting.Schema("servers").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		`{"web":{"url":"https://x.example","headers":{"A":"B"},"timeout":"90s"},"files":{"run":"x","tools":["a"],"trust":"stranger"}}`:     true,
		`{"a":{"url":"https://x.example","login":{"client":"c","secret":"S","issuer":"https://i.example","grant":"code","audience":"x"}}}`: true,
		`{"a":{"url":"https://x.example","login":{"password":"c"}}}`:                                                                       false,
		`{"a":{}}`: false, `{"a":{"run":"x","url":"https://x"}}`: false, `{"A":{"run":"x"}}`: false, `{"a":{"run":"x","more":1}}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != fits {
			t.Errorf("the schema says of %s: %v, want that it fits %v", text, err, fits)
		}
	}
}

func TestTokensAreNotSentInTheClear(t *testing.T) {
	for _, c := range []struct {
		server setting.Server
		want   bool
	}{
		{setting.Server{URL: "https://x.example"}, true}, {setting.Server{URL: "http://127.0.0.1:8080/mcp"}, true},
		{setting.Server{URL: "http://x.example"}, false}, {setting.Server{Run: "x"}, false},
		{setting.Server{URL: "https://x.example", Headers: map[string]string{"authorization": "A"}}, false},
	} {
		if got := c.server.LogsIn(); got != c.want {
			t.Errorf("tokens of a login are sent to %+v: got %v, want %v", c.server, got, c.want)
		}
	}
}
