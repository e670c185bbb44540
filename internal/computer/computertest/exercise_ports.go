package computertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/need"
)

// answering are options with a handler for each of some ports: it says who asks what
// where, and what was said to it.
func answering(names ...string) computer.Options {
	o := computer.Options{Ports: map[string]computer.Port{}}
	for _, name := range names {
		o.Ports[name] = computer.Port{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said, _ := io.ReadAll(r.Body)
			keys := len(r.Header.Values("Authorization")) + len(r.Header.Values("X-Api-Key")) + len(r.Header.Values("X-Goog-Api-Key"))
			fmt.Fprintf(w, "%s: %s asks %s with %d bytes and %d keys", name, computer.Caller(r.Context()), r.URL, len(said), keys)
		})}
	}
	return o
}

// ask is a program that sends one request to a port: with a header, and as many bytes.
const ask = `
import os, sys, urllib.request, urllib.error
port, header, value, size = sys.argv[1:5]
request = urllib.request.Request('http://' + os.environ['LYCEUM_PORT_' + port] + '/v1', data=b'x' * int(size))
if header: request.add_header(header, value)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    print(opener.open(request, timeout=20).read().decode())
except urllib.error.HTTPError as e:
    print(e.code)
`

// ask asks at a port from inside.
func (m *machine) ask(port, header, value string, size int) string {
	m.t.Helper()
	r := m.run(computer.Command{Args: []string{"python3", "-c", ask, port, header, value, fmt.Sprint(size)}})
	if r.Exit != 0 {
		m.t.Fatalf("a request to the port %s: %s", port, told(r))
	}
	return strings.TrimSpace(string(r.Stdout.Head))
}

func (m *machine) token(port, who string) string {
	m.t.Helper()
	token, err := m.Token(port, who)
	if err != nil {
		m.t.Fatalf("a token for %s at %s: %v", who, port, err)
	}
	return token
}

func (l *lab) ports(t *testing.T) {
	t.Parallel()
	if !l.opts.has("python3") {
		need.Missing(t, "the computers of this driver have no python3: name it among its tools")
	}
	s := l.opts.Spec
	s.Ports = []string{"mcp-tools", "gateway"}
	o := answering(s.Ports...)
	mcp := o.Ports["mcp-tools"]
	mcp.Admit = func(who string) bool { return who != "task/2" }
	o.Ports["mcp-tools"] = mcp
	m, other := l.bootWith(t, s, o), l.bootWith(t, s, o)
	if got := m.sh("echo $LYCEUM_PORT_GATEWAY $LYCEUM_PORT_MCP_TOOLS $LYCEUM_PORT_PROXY$http_proxy"); got != "127.0.0.1:3129 127.0.0.1:3130\n" {
		t.Errorf("the ports are %q", got)
	}
	if got := m.Address("gateway") + m.Address("nonsense"); got != "127.0.0.1:3129" {
		t.Errorf("the address of a port is %q", got)
	}
	gateway, tools := m.token("gateway", "task/1"), m.token("mcp-tools", "task/1")
	for what, c := range map[string]struct{ port, header, value, want string }{
		"a bearer":                       {"GATEWAY", "Authorization", "Bearer " + gateway, "gateway: task/1 asks /v1 with 70000 bytes and 0 keys"},
		"a key":                          {"GATEWAY", "x-api-key", gateway, "gateway: task/1 asks /v1 with 70000 bytes and 0 keys"},
		"another key":                    {"MCP_TOOLS", "X-Goog-Api-Key", tools, "mcp-tools: task/1 asks /v1 with 70000 bytes and 0 keys"},
		"nothing":                        {"GATEWAY", "", "", "401"},
		"an empty one":                   {"GATEWAY", "Authorization", "Bearer ", "401"},
		"a token of another port":        {"GATEWAY", "Authorization", "Bearer " + tools, "401"},
		"a token of another computer":    {"GATEWAY", "Authorization", "Bearer " + other.token("gateway", "task/1"), "401"},
		"one's token in another's name":  {"GATEWAY", "Authorization", "Bearer task/9" + strings.TrimPrefix(gateway, "task/1"), "401"},
		"the token of a task that ended": {"MCP_TOOLS", "Authorization", "Bearer " + m.token("mcp-tools", "task/2"), "401"},
	} {
		if got := m.ask(c.port, c.header, c.value, 70_000); got != c.want {
			t.Errorf("a request with %s: got %q, want %q", what, got, c.want)
		}
	}
	for _, c := range [][2]string{{"nonsense", "task/1"}, {"gateway", ""}, {"gateway", "a b"}, {"proxy", "task/1"}} {
		if token, err := m.Token(c[0], c[1]); err == nil {
			t.Errorf("%q has the token %q at %q, want none", c[1], token, c[0])
		}
	}
	// The next Lyceum knows the tokens that the last one gave.
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	o.Found = true
	m = l.at(t, m.place, s, o)
	if got := m.ask("GATEWAY", "Authorization", "Bearer "+gateway, 1); got != "gateway: task/1 asks /v1 with 1 bytes and 0 keys" {
		t.Errorf("a token of the last Lyceum: got %q", got)
	}
	l.portsStream(t, s)
}

// portsStream has a handler that answers piece by piece, until it is no longer heard.
func (l *lab) portsStream(t *testing.T, s computer.Spec) {
	t.Helper()
	ended := make(chan struct{})
	o := answering(s.Ports...)
	o.Ports["gateway"] = computer.Port{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for i := 0; r.Context().Err() == nil; i++ {
			fmt.Fprintf(w, "piece %d\n", i)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(time.Millisecond):
			case <-r.Context().Done():
			}
		}
	})}
	m := l.bootWith(t, s, o)
	id := m.start(python(`
import os, urllib.request
r = urllib.request.Request('http://' + os.environ['LYCEUM_PORT_GATEWAY'], headers={'Authorization': 'Bearer ` + m.token("gateway", "a") + `'})
for line in urllib.request.urlopen(r, timeout=20): print(line.decode().strip(), flush=True)
`))
	m.seen(id, "piece 5")
	// Whoever lets go of the computer waits for its handlers.
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	default:
		t.Error("a handler goes on after the computer was let go of")
	}
}

func (l *lab) portsBesideProxy(t *testing.T) {
	t.Parallel()
	if !l.opts.has("python3") {
		need.Missing(t, "the computers of this driver have no python3: name it among its tools")
	}
	s := l.opts.Spec
	s.Ports, s.Network.Allow = []string{"gateway"}, []string{"example.org"}
	o := answering(s.Ports...)
	o.Serve = func(_ context.Context, c io.ReadWriteCloser) {
		_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nthe proxy")
		_ = c.Close()
	}
	m := l.bootWith(t, s, o)
	if got := m.ask("GATEWAY", "Authorization", "Bearer "+m.token("gateway", "a"), 3); got != "gateway: a asks /v1 with 3 bytes and 0 keys" {
		t.Errorf("a port beside the proxy: got %q", got)
	}
	r := m.run(python("import urllib.request; print(urllib.request.urlopen('http://example.org/', timeout=20).read().decode())"))
	if string(r.Stdout.Head) != "the proxy\n" {
		t.Errorf("the proxy beside a port: got %s, want its answer", told(r))
	}
}

// openPorts looks at a computer whose loopback may be the host's.
func (l *lab) openPorts(t *testing.T) {
	t.Parallel()
	if !l.opts.has("python3") {
		need.Missing(t, "the computers of this driver have no python3: name it among its tools")
	}
	s := l.opts.Spec
	s.Ports, s.Network.Open = []string{"gateway"}, true
	// Two at once cannot have the same number.
	for _, m := range []*machine{l.bootWith(t, s, answering(s.Ports...)), l.bootWith(t, s, answering(s.Ports...))} {
		token := m.token("gateway", "a")
		if got := m.ask("GATEWAY", "X-Api-Key", token, 3); got != "gateway: a asks /v1 with 3 bytes and 0 keys" {
			t.Errorf("a port of a computer with an open network: got %q", got)
		}
		if got := m.ask("GATEWAY", "X-Api-Key", "guess", 3); got != "401" {
			t.Errorf("a port of a computer with an open network, without a token: got %q, want 401", got)
		}
		// Where the host can reach it too, it is not let in either.
		request, err := http.NewRequestWithContext(soon(t), http.MethodPost, "http://"+m.Address("gateway")+"/v1", bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Do(request)
		if err != nil {
			continue // the loopback is the computer's own
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("a program of the host at a computer's port: got %s, want 401", answer.Status)
		}
	}
}
