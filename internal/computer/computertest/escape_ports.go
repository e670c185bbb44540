package computertest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/model"
)

// Attempts through the ports of a computer: its gateway to models and the tools of its agent,
// with the handlers that really are there, and the tunnel that leads to them. Whatever those
// answer holds the secret. So an answer is a way out, unless the program had the right to it.

// portAttempts are those attempts.
func portAttempts() []roughAttempt {
	return []roughAttempt{
		{"PortsWithoutAToken", "a port answers a program that has no token", withoutToken, inTheTest},
		{"PortsByAnotherComputer", "a port takes the token of another computer", byAnother, inTheTest},
		{"PortsByAnotherPort", "a port takes the token of another port", byAnotherPort, inTheTest},
		{"PortsByAnotherAgent", "a port takes the token of another agent of the computer", byAnotherAgent, inTheTest},
		{"PortsAfterTheTask", "a port answers when the task is over, on a connection that was there before too", afterTask, inTheTest},
		{"PortsAsAProxy", "a port leads to other hosts, to the server's own API or to another protocol", asProxy, "at a port whose handler passes requests on, the same requests reach the host"},
		{"PortsSmuggled", "a request rides on another's token", smuggled, inTheTest},
		{"PortsOfOthers", "what another agent was told is told again", ofOthers, inTheTest},
		{"FloodsThePorts", "Lyceum runs out of descriptors, or another port does not answer", floodsPorts, "Lyceum's descriptors are counted, and the other port is asked"},
		{"PortsHugeHead", "Lyceum takes a head of 10 MiB in", hugeHead, inTheTest},
		{"PortsHalfRequests", "requests that have no end keep others from being answered", halfRequests, inTheTest},
		{"PortsUnreadAnswers", "answers that nobody reads keep others from being answered", unread, inTheTest},
	}
}

// host is a computer with both ports.
type host struct {
	*station
	// over says that the task is.
	over atomic.Bool
	// calls are the names of the tools that were called.
	mu    sync.Mutex
	calls []string
	// answer is what tools and models say, unless they are asked for much.
	answer string
}

// much is more than any buffer on the way takes.
var much = strings.Repeat("and more ", 700<<10)

// Tools implements scoped.Toolbox.
func (h *host) Tools(context.Context) ([]model.Tool, error) {
	return []model.Tool{{Name: "tell", Description: h.answer, Schema: `{"type":"object"}`}}, nil
}

// Use implements scoped.Toolbox.
func (h *host) Use(_ context.Context, c scoped.Call) (scoped.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, c.Tool)
	if c.Tool == "much" {
		return scoped.Result{Text: much}, nil
	}
	return scoped.Result{Text: h.answer}, nil
}

// Generate implements model.Model.
func (h *host) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	text := h.answer
	if len(r.Messages) == 1 && len(r.Messages[0].Parts) == 1 && r.Messages[0].Parts[0].Text == "much" {
		text = much
	}
	return &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: text}}, Stop: model.StopEnd}, nil
}

// passed is a request that the gate let pass.
type passed struct{}

func (passed) Model() string                  { return "m" }
func (passed) End(*event.GatewayResult) error { return nil }

// portPatience is how long the handlers wait here.
const portPatience = 300 * time.Millisecond

// hosted boots a computer with both ports, and with others.
func (r *shootingRange) hosted(t *testing.T, answer string, more map[string]http.Handler, patience time.Duration) *host {
	t.Helper()
	h := &host{answer: answer}
	tools := scoped.New("agent-1", h, scoped.Options{Most: 16, Patience: patience})
	t.Cleanup(tools.Close)
	models := &gateway.Handler{
		Quest: "q", Agent: "agent-1", Own: "m", Any: true, Models: map[string]gateway.Model{"m": {Local: h}}, Most: 16, Patience: patience,
		Ask:   func(context.Context, *event.GatewayAsked) (gateway.Call, error) { return passed{}, nil },
		Clock: func() event.Time { return 0 },
	}
	admit := func(string) bool { return !h.over.Load() }
	ports := map[string]computer.Port{"tools": {Handler: tools, Admit: admit}, "gateway": {Handler: models, Admit: admit}}
	names := []string{"tools", "gateway"}
	for name, handler := range more {
		ports[name], names = computer.Port{Handler: handler}, append(names, name)
	}
	h.station = r.station(t, computer.Spec{Ports: names}, computer.Options{Ports: ports})
	return h
}

func (h *host) token(t *testing.T, port, who string) string {
	t.Helper()
	token, err := h.Token(port, who)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// bodies are what is asked of each port.
var bodies = map[string]struct{ path, body string }{
	"tools":   {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tell","arguments":{}}}`},
	"gateway": {"/v1/messages", `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"tell"}]}`},
}

// written is a request to a port as it is written, with further lines of its head.
func written(port string, head ...string) string { return writtenTo(bodies[port].path, port, head...) }

func writtenTo(target, port string, head ...string) string {
	lines := append([]string{"POST " + target + " HTTP/1.1"}, head...)
	has := func(name string) bool {
		return slices.ContainsFunc(head, func(l string) bool { return strings.HasPrefix(l, name) })
	}
	if !has("Host:") {
		lines = append(lines, "Host: 127.0.0.1")
	}
	body := bodies[port].body
	lines = append(lines, "Content-Type: application/json", "Accept: application/json, text/event-stream", "Content-Length: "+strconv.Itoa(len(body)))
	if !has("Connection:") {
		lines = append(lines, "Connection: close")
	}
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

func bearer(token string) string { return "Authorization: Bearer " + token }

// say has the hostile program send requests to a port, each on a connection of its own, and
// returns what it was told.
func (h *host) say(t *testing.T, port string, requests ...string) string {
	t.Helper()
	args := []string{"raw", h.Address(port)}
	for _, q := range requests {
		args = append(args, strconv.QuoteToASCII(q))
	}
	res, out := h.run(t, h.command("raw", args...))
	if !strings.Contains(out, tried) {
		t.Errorf("the attempt was not made: exit %d %s, %s: %s", res.Exit, res.Signal, res.End, out)
	}
	return out
}

// until says something until what is to come of it has come. On a busy machine an answer may
// come too late for whoever asked.
func (h *host) until(t *testing.T, port string, so func(out string) bool, requests ...string) (out string, came bool) {
	t.Helper()
	for range 15 {
		if out = h.say(t, port, requests...); so(out) {
			return out, true
		}
	}
	return out, false
}

// answers reports whether a text is in what is said.
func answers(text string) func(string) bool {
	return func(out string) bool { return strings.Contains(out, text) }
}

// entitled checks that whoever has the right is answered: the same without the wall.
func (h *host) entitled(t *testing.T) {
	t.Helper()
	for port := range bodies {
		if out, came := h.until(t, port, answers(h.answer), written(port, bearer(h.token(t, port, "agent-1/task-1")))); !came {
			t.Errorf("the port %s does not answer whoever has the right, so that it refuses others proves nothing: %s", port, out)
		}
	}
}

// at tries requests at both ports.
func (h *host) at(t *testing.T, requests func(port string) []string) string {
	t.Helper()
	h.entitled(t)
	for port := range bodies {
		if out := h.say(t, port, requests(port)...); strings.Contains(out, h.answer) {
			return fmt.Sprintf("the port %s answered: %s", port, out)
		}
	}
	return ""
}

func withoutToken(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, r.target.secret, nil, portPatience)
	return h.at(t, func(port string) []string {
		token := h.token(t, port, "agent-1")
		_, proof, _ := strings.Cut(token, ".")
		changed := token[:len(token)-1] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", token[len(token)-1])+1)%16])
		return []string{
			written(port), written(port, "Authorization: Bearer"), written(port, bearer("")), written(port, bearer("agent-1")), written(port, bearer("agent-1.")),
			written(port, bearer(changed)), written(port, bearer("agent-2."+proof)), written(port, bearer("."+proof)), written(port, bearer(proof)),
			written(port, bearer("agent-1/../agent-1."+proof)), written(port, "Cookie: token="+token), written(port, "Proxy-Authorization: Bearer "+token),
			writtenTo(bodies[port].path+"?token="+token+"&key="+token, port), written(port, "X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1"),
		}
	})
}

func byAnother(t *testing.T, r *shootingRange) string {
	h, other := r.hosted(t, r.target.secret, nil, portPatience), r.hosted(t, "nothing of interest", nil, portPatience)
	other.entitled(t)
	return h.at(t, func(port string) []string {
		var out []string
		for p := range bodies {
			out = append(out, written(port, bearer(other.token(t, p, "agent-1"))), written(port, "X-Api-Key: "+other.token(t, p, "agent-1/task-1")))
		}
		return out
	})
}

func byAnotherPort(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, r.target.secret, nil, portPatience)
	return h.at(t, func(port string) []string {
		other := "gateway"
		if port == other {
			other = "tools"
		}
		return []string{written(port, bearer(h.token(t, other, "agent-1"))), written(port, "X-Goog-Api-Key: "+h.token(t, other, "agent-1"))}
	})
}

func byAnotherAgent(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, r.target.secret, nil, portPatience)
	return h.at(t, func(port string) (out []string) {
		for _, who := range []string{"agent-2", "agent-2/agent-1", "agent-11", "agent-1.x", "Agent-1"} {
			out = append(out, written(port, bearer(h.token(t, port, who))))
		}
		return out
	})
}

func afterTask(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, r.target.secret, nil, portPatience)
	h.entitled(t)
	// A connection that was let in before, for each port.
	var open []string
	for port := range bodies {
		q := written(port, bearer(h.token(t, port, "agent-1")), "Connection: keep-alive")
		c := h.command("keep", "twice", h.Address(port), strconv.QuoteToASCII(q))
		c.Input = true
		if err := h.Start(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		await(t, h.station, c.ID, "first:")
		open = append(open, c.ID)
	}
	h.over.Store(true)
	for _, id := range open {
		if err := h.Write(t.Context(), id, []byte("now\n"), false); err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		before, after, found := strings.Cut(said(res), "second:")
		if !found || !strings.Contains(before, h.answer) {
			t.Errorf("before the end of the task, the program was not answered: %s", said(res))
		}
		if strings.Contains(after, h.answer) {
			return "a connection that was there before is answered: " + after
		}
	}
	for port := range bodies {
		if out := h.say(t, port, written(port, bearer(h.token(t, port, "agent-1")))); strings.Contains(out, h.answer) {
			return "after the task: " + out
		}
	}
	return ""
}

// elsewhere are requests that want to be led to another address.
func elsewhere(port, token, address string) (out []string) {
	auth, name := bearer(token), strings.Replace(address, "127.0.0.1", "localhost", 1)
	for _, at := range []string{address, name} {
		for _, path := range []string{bodies[port].path, "/api/v1/quests", "/"} {
			out = append(out,
				writtenTo("http://"+at+path, port, auth), writtenTo("http://"+at+path, port, auth, "Host: "+at), writtenTo(path, port, auth, "Host: "+at),
				writtenTo("//"+at+path, port, auth), writtenTo(bodies[port].path+"/../../"+at+path, port, auth), writtenTo(bodies[port].path+"/%2e%2e"+path, port, auth),
				writtenTo("/http://"+at+path, port, auth), writtenTo(path, port, auth, "X-Forwarded-Host: "+at, "X-Original-Url: http://"+at+path, "Forwarded: host="+at))
		}
		out = append(out,
			"CONNECT "+at+" HTTP/1.1\r\nHost: "+at+"\r\n"+auth+"\r\n\r\nGET / HTTP/1.1\r\nHost: "+at+"\r\nConnection: close\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: "+at+"\r\n"+auth+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
			"GET http://"+at+"/ HTTP/1.1\r\nHost: "+at+"\r\n"+auth+"\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n",
			"OPTIONS * HTTP/1.1\r\nHost: "+at+"\r\n"+auth+"\r\nConnection: close\r\n\r\n",
			"TRACE http://"+at+"/ HTTP/1.1\r\nHost: "+at+"\r\n"+auth+"\r\nConnection: close\r\n\r\n")
	}
	return append(out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
}

// naive is a handler that passes requests on, wherever they want to go.
func naive(w http.ResponseWriter, r *http.Request) {
	address := r.URL.Host
	if address == "" {
		address = r.Host
	}
	out, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer out.Close()
	fmt.Fprintf(out, "%s / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", "GET", address)
	_, _ = io.Copy(w, out)
}

func asProxy(t *testing.T, r *shootingRange) string {
	// The server's own API, as it were, and any other host.
	var came atomic.Int64
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		_, _ = io.WriteString(w, r.target.secret)
	})}
	go func() { _ = api.Serve(l) }()
	t.Cleanup(func() { _ = api.Close() })
	address := l.Addr().String()
	h := r.hosted(t, "what may be heard", map[string]http.Handler{"naive": http.HandlerFunc(naive)}, portPatience)
	h.entitled(t)
	for port := range bodies {
		token := h.token(t, port, "agent-1")
		out := h.say(t, port, elsewhere(port, token, address)...)
		switch {
		case strings.Contains(out, r.target.secret) || came.Load() > 0:
			return fmt.Sprintf("the port %s led to %s: %s", port, address, out)
		case strings.Contains(out, "HTTP/1.1 101") || strings.Contains(out, token):
			return fmt.Sprintf("the port %s speaks something else, or tells what it was sent: %s", port, out)
		}
	}
	seen := func(out string) bool { return came.Load() > 0 && strings.Contains(out, r.target.secret) }
	if out, so := h.until(t, "naive", seen, elsewhere("tools", h.token(t, "naive", "agent-1"), address)...); !so {
		t.Errorf("where a handler passes requests on, they reach nobody, so that they do not here proves nothing: %s", out)
	}
	return ""
}

func smuggled(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, "what may be heard", nil, portPatience)
	h.entitled(t)
	auth := bearer(h.token(t, "tools", "agent-1"))
	hidden := func(head ...string) string {
		return strings.Replace(written("tools", head...), `"name":"tell"`, `"name":"send"`, 1) // of the same length
	}
	first := func(head string, body string) string {
		return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + auth + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" + head + "\r\n\r\n" + body
	}
	inner, body := hidden(), bodies["tools"].body
	n := len(body)
	tail := "0\r\n\r\n" + inner
	var tries []string
	for head, text := range map[string]string{
		fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d", n, n+len(inner)):            body + inner,
		fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d", n+len(inner), n):            body + inner,
		fmt.Sprintf("Content-Length: %d, %d", n, n+len(inner)):                              body + inner,
		fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked", len(tail)):          tail,
		fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d", 5):                  tail,
		fmt.Sprintf("Transfer-Encoding : chunked\r\nContent-Length: %d", len(tail)):         tail,
		fmt.Sprintf("Transfer-Encoding: xchunked\r\nContent-Length: %d", len(tail)):         tail,
		fmt.Sprintf("Transfer-Encoding: identity, chunked\r\nContent-Length: %d", n):        body + inner,
		fmt.Sprintf("Transfer-Encoding:\tchunked\r\nContent-Length: %d", len(tail)):         tail,
		fmt.Sprintf("X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: %d", n):         body + inner,
		fmt.Sprintf("X: y\nAuthorization: z\r\nContent-Length: %d", n):                      body + inner,
		fmt.Sprintf("Content-Length: +%d", n):                                               body + inner,
		fmt.Sprintf("Content-Length: %d", n):                                                body + inner,
		"Content-Length: 0":                                                                 inner,
		"Transfer-Encoding: chunked":                                                        fmt.Sprintf("%x;x=\r\n%s\r\n0\r\n\r\n%s", n, body, inner),
		"Transfer-Encoding: chunked\r\nTrailer: Authorization":                              fmt.Sprintf("%x\r\n%s\r\n0\r\n%s\r\n\r\n%s", n, body, auth, inner),
		"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\nConnection: Authorization": fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n%s", n, body, inner),
	} {
		tries = append(tries, first(head, text))
	}
	h.say(t, "tools", tries...)
	rode := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return strings.Contains(strings.Join(h.calls, " "), "send")
	}
	if rode() {
		return "a call without a token was made behind one with"
	}
	// With a token of its own the second request is taken.
	taken := func(string) bool { return rode() }
	if _, so := h.until(t, "tools", taken, first(fmt.Sprintf("Content-Length: %d", n), body+hidden(auth))); !so {
		t.Error("a second request on a connection is not seen even with a token, so that it is not without proves nothing")
	}
	return ""
}

func ofOthers(t *testing.T, r *shootingRange) string {
	h, other := r.hosted(t, r.target.secret, nil, portPatience), r.hosted(t, "nothing of interest", nil, portPatience)
	session := "Mcp-Session-Id: ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	// The other agent knows the session and the number of a call.
	if out, came := h.until(t, "tools", answers(r.target.secret), written("tools", bearer(h.token(t, "tools", "agent-1")), session)); !came {
		t.Errorf("the agent itself is not told: %s", out)
	}
	theirs := bearer(other.token(t, "tools", "agent-1"))
	list := strings.Replace(written("tools", theirs, session), "tools/call", "tools/list", 1)
	listen := "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + theirs + "\r\n" + session + "\r\nAccept: text/event-stream\r\nLast-Event-Id: 0\r\n\r\n"
	if out := other.say(t, "tools", written("tools", theirs, session), list, listen); strings.Contains(out, r.target.secret) {
		return "another computer's agent was told: " + out
	}
	second := bearer(h.token(t, "tools", "agent-2"))
	if out := h.say(t, "tools", written("tools", second, session), strings.Replace(listen, theirs, second, 1)); strings.Contains(out, r.target.secret) {
		return "another agent of the computer was told: " + out
	}
	return ""
}

func floodsPorts(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, r.target.secret, nil, portPatience)
	h.entitled(t)
	before := openFiles()
	c := h.command("flood", "flood-proxy", h.Address("tools"), "2500")
	if err := h.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, h.station, c.ID, "connections:")
	most := 0
	for until := time.Now().Add(time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		most = max(most, openFiles()-before)
	}
	if most > 600 {
		return fmt.Sprintf("Lyceum has %d more files open", most)
	}
	if out, came := h.until(t, "gateway", answers(h.answer), written("gateway", bearer(h.token(t, "gateway", "agent-1")))); !came {
		return "the other port does not answer: " + out
	}
	return h.works(t)
}

func hugeHead(t *testing.T, r *shootingRange) string {
	h := r.hosted(t, r.target.secret, nil, portPatience)
	h.entitled(t)
	for port := range bodies {
		token := h.token(t, port, "agent-1")
		_, out := h.run(t, h.command("head", "huge-head", h.Address(port), token, strconv.Itoa(10<<20), strconv.QuoteToASCII(written(port, bearer(token)))))
		if !strings.Contains(out, tried) {
			t.Errorf("the attempt was not made: %s", out)
		}
		if strings.Contains(out, h.answer) {
			return fmt.Sprintf("the port %s took it: %s", port, out)
		}
	}
	return ""
}

// crowded has a program be at each port with requests that it does not go on with, and looks
// whether others are answered all the same. Where the handlers have all the patience in the
// world, they are not.
func crowded(t *testing.T, r *shootingRange, request func(whole string) string) string {
	t.Helper()
	hold := func(h *host, port string) (whole string) {
		whole = written(port, bearer(h.token(t, port, "agent-1")))
		c := h.command("hold", "hold-requests", h.Address(port), "20", strconv.QuoteToASCII(request(whole)))
		c.Timeout = time.Minute
		if err := h.Start(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		await(t, h.station, c.ID, "holds:")
		return whole
	}
	h, patient := r.hosted(t, r.target.secret, nil, portPatience), r.hosted(t, r.target.secret, nil, time.Hour)
	for port := range bodies {
		// Its requests arrive some time; from then on nobody else is answered.
		whole, refused := hold(patient, port), 0
		for range 30 {
			if refused++; strings.Contains(patient.say(t, port, whole), r.target.secret) {
				refused = 0
			}
			if refused == 3 {
				break
			}
			time.Sleep(portPatience)
		}
		if refused < 3 {
			t.Errorf("at the port %s others are answered though nothing is done about it, so that they are proves nothing", port)
		}
		whole = hold(h, port)
		time.Sleep(3 * portPatience)
		last, answered := "", false
		for range 20 {
			if last = h.say(t, port, whole); strings.Contains(last, r.target.secret) {
				answered = true
				break
			}
			time.Sleep(portPatience)
		}
		if !answered {
			return fmt.Sprintf("at the port %s nobody else is answered: %.1000s", port, last)
		}
	}
	return ""
}

func halfRequests(t *testing.T, r *shootingRange) string {
	return crowded(t, r, func(whole string) string { return whole[:len(whole)-5] })
}

func unread(t *testing.T, r *shootingRange) string {
	return crowded(t, r, func(whole string) string { return strings.Replace(whole, `"tell"`, `"much"`, 1) })
}
