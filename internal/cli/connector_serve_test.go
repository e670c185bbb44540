package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// hookSecret is what both ends of a webhook know.
const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// hookSign signs a request as Standard Webhooks has it.
func hookSign(secret, id, stamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "%s.%s.%s", id, stamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// posted is a delivery that a receiver of webhooks has got.
type posted struct {
	id   string
	Type string
	Data struct {
		Quest, Conversation, Kind, Text string
		ReplyTo                         string `json:"reply_to"`
		Files                           []struct {
			Name string
			Data []byte
		}
	}
}

// receiver is where a study's words are posted to. It wants each to be signed.
type receiver struct {
	url string

	mu  sync.Mutex
	got []posted
	bad []string
	// held is closed for a delivery that comes and is not answered; nil answers all.
	held chan posted
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		p := posted{id: req.Header.Get("webhook-id")}
		if err == nil {
			err = json.Unmarshal(body, &p)
		}
		r.mu.Lock()
		if want := hookSign(hookSecret, p.id, req.Header.Get("webhook-timestamp"), body); err != nil || req.Header.Get("webhook-signature") != want {
			r.bad = append(r.bad, fmt.Sprintf("%s %v: %s", p.id, err, body))
		}
		held := r.held
		if held == nil {
			r.got = append(r.got, p)
		}
		r.held = nil
		r.mu.Unlock()
		if held != nil {
			held <- p
			<-req.Context().Done() // until whoever sent it is gone
		}
	}))
	r.url = s.URL
	t.Cleanup(s.Close)
	return r
}

// hold has the next delivery come and stay without an answer.
func (r *receiver) hold() <-chan posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = make(chan posted, 1)
	return r.held
}

// with waits for the deliveries that have a text in them.
func (r *receiver) with(t *testing.T, text string, n int) (out []posted) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(20 * time.Millisecond) {
		r.mu.Lock()
		out = nil
		for _, p := range r.got {
			if strings.Contains(p.Data.Text, text) {
				out = append(out, p)
			}
		}
		r.mu.Unlock()
		if len(out) >= n {
			return out
		}
	}
	t.Fatalf("%d deliveries say %q, want %d: %+v", len(out), text, n, r.got)
	return nil
}

// hook posts to the address that a webhook listens on.
type hook struct {
	t  *testing.T
	at string
}

// request is a message of ada's, signed now.
func (k hook) request(secret, id, text string) (*http.Request, []byte) {
	body, err := json.Marshal(map[string]any{"type": "message", "timestamp": time.Now().UTC(), "data": map[string]any{"conversation": "room", "sender": "ada", "text": text}})
	must(k.t, err)
	r, err := http.NewRequest(http.MethodPost, "http://"+k.at+"/", bytes.NewReader(body))
	must(k.t, err)
	stamp := fmt.Sprint(time.Now().Unix())
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", stamp)
	r.Header.Set("webhook-signature", hookSign(secret, id, stamp, body))
	return r, body
}

// post sends a request until somebody listens, and wants a status.
func (k hook) post(r *http.Request, body []byte, want int) {
	k.t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer, err := http.DefaultClient.Do(r)
		if err != nil && time.Since(began) < patience {
			continue // the server is on its way
		}
		must(k.t, err)
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want {
			k.t.Errorf("a message is answered with %d %s, want %d", answer.StatusCode, text, want)
		}
		return
	}
}

func (k hook) say(id, text string) {
	k.t.Helper()
	r, body := k.request(hookSecret, id, text)
	k.post(r, body, http.StatusNoContent)
}

// TestAStudyTalksByWebhooksThroughAServer: a signed message begins a sitting, and what the study says
// to it comes to the receiver, signed, with its file. Forged and replayed messages are refused and
// counted. The server is killed once after it took a message and once before its answer was taken:
// inside nothing is lost and nothing is there twice.
func TestAStudyTalksByWebhooksThroughAServer(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	listen := free.Addr().String()
	must(t, free.Close())
	in := receive(t)
	h := newHome(t, map[string]string{
		"quest.yaml": "name: series\nsociety: stages\nproblem: Which forecast is best?\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    say: "I look at it."
  - on: {tool: interact, result: "Said to"}
    say: "I have said it."
  - on: {last: "(?s).*What is (\\w+)"}
    delay: 300ms
    call: [{tool: write_file, args: {path: "$1.csv", content: "of $1\n"}}]
  - on: {tool: write_file, result: "(\\w+).csv"}
    delay: 300ms
    call: [{tool: interact, args: {kind: answer, text: "It is told of $1.", files: ["$1.csv", "nowhere.csv"]}}]
  - say: "I have said it."
`,
	})
	h.env = []string{"OPS_HOOK_KEY=" + hookSecret}
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), fmt.Appendf(nil, `connectors:
  ops: {driver: webhook, url: %q, listen: %q, key_variable: OPS_HOOK_KEY, allow: {ada: talk}}
`, in.url, listen), 0o600))
	h.run("run", "quest.yaml").want(t, 3)
	h.ok("connector", "bind", "ops", "room", "series")
	k := hook{t, listen}

	s := h.serve()
	k.say("m-1", "What is alpha?")
	one := in.with(t, "It is told of alpha.", 1)
	if p := one[0]; p.Type != "quest.said" || p.Data.Conversation != "room" || p.Data.Quest != "series" || p.Data.Kind != "answer" || p.Data.ReplyTo != "m-1" {
		t.Errorf("the answer came as %+v, want one of series in the room, to m-1", p)
	}
	if f := one[0].Data.Files; len(f) != 1 || f[0].Name != "alpha.csv" || string(f[0].Data) != "of alpha\n" || !strings.Contains(one[0].Data.Text, "Not sent along: nowhere.csv") {
		t.Errorf("the files came as %+v with %q, want alpha.csv alone, and a word about the other", f, one[0].Data.Text)
	}
	replayed, taken := k.request(hookSecret, "m-2", "/status")
	k.post(replayed, taken, http.StatusNoContent)
	k.post(replayed, taken, http.StatusConflict)
	forged, body := k.request("whsec_"+strings.Repeat("QUFB", 12), "m-3", "What is forged?")
	k.post(forged, body, http.StatusUnauthorized)
	in.with(t, "Stage: scout.", 1)

	// Killed when the message is durable, and the study has not answered.
	k.say("m-4", "What is beta?")
	s.kill()
	held := in.hold()
	s = h.serve()
	k.say("m-4", "What is beta?") // whoever has had no answer says it again
	// Killed when the answer is under way, and nobody knows whether it was taken.
	var first posted
	select {
	case first = <-held:
	case <-time.After(patience):
		t.Fatalf("nothing is delivered after a kill: %s", s.errOut.String())
	}
	s.kill()
	s = h.serve()
	if second := in.with(t, "It is told of beta.", 1); second[0].id != first.id || len(second) != 1 {
		t.Errorf("the answer came as %s and then as %+v, want the same id", first.id, second)
	}
	k.say("m-5", "What is gamma?")
	in.with(t, "It is told of gamma.", 1)
	refused, body := k.request("whsec_"+strings.Repeat("QUFB", 12), "m-6", "What is forged?")
	k.post(refused, body, http.StatusUnauthorized)
	k.post(refused, body, http.StatusUnauthorized)
	k.post(replayed, taken, http.StatusConflict) // by a server that has not seen it before
	s.signal(syscall.SIGTERM)
	s.wait().want(t, 0)

	for text, want := range map[string]int{"alpha": 1, "beta": 1, "gamma": 1, "forged": 0} {
		said, told := 0, 0
		for _, e := range h.events("series") {
			switch {
			case e.Type == "user.message" && strings.Contains(e.Body.Text.Text, text):
				said++
			case e.Type == "interact.said" && strings.Contains(e.Body.Text.Text, text):
				told++
			}
		}
		if said != want || told != want {
			t.Errorf("of %s the ledger has %d messages and %d answers, want %d of each", text, said, told, want)
		}
	}
	if a, b := h.count("series", "delivery.call"), h.count("series", "delivery.result"); a != b || a < 3 {
		t.Errorf("%d deliveries were called for and %d answered, want all of at least 3", a, b)
	}
	var list []struct {
		Ready         bool
		Waiting, Dead int
		Refused       int
	}
	must(t, json.Unmarshal([]byte(h.ok("connector", "list", "--json")), &list))
	// What was refused by a server that is killed soon after may not be counted; what the last one refused is.
	if len(list) != 1 || !list[0].Ready || list[0].Waiting != 0 || list[0].Dead != 0 || list[0].Refused < 3 {
		t.Errorf("the connector has %+v, want it ready, nothing left, and 3 refusals or more", list)
	}
	if len(in.bad) > 0 {
		t.Errorf("deliveries without a signature that holds: %v", in.bad)
	}
	if all := h.ok("trace", "series", "--jsonl"); strings.Contains(all, "MfKQ9r8G") {
		t.Error("the ledger has the secret")
	}
	h.sound("series")
}

// TestWhoRunsAStudyWithoutAServerSends: lyceum chat and lyceum acp send what a study says while it
// runs there, and end with nothing left to send.
func TestWhoRunsAStudyWithoutAServerSends(t *testing.T) {
	t.Parallel()
	for name, talk := range map[string]func(h *home){
		"Chat": func(h *home) { h.talked("What is alpha?\n", "series").want(h.t, 0, "I have said it.") },
		"ACP": func(h *home) {
			e := h.edit()
			_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "series", Cwd: h.work, McpServers: []acp.McpServer{}})
			must(h.t, err)
			e.says("series", "What is alpha?", acp.StopReasonEndTurn)
			e.end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := receive(t)
			h := newHome(t, map[string]string{
				"quest.yaml": "name: series\nsociety: stages\nproblem: Which forecast is best?\nmodel: script:plan.yaml\n",
				"plan.yaml": `rules:
  - on: {turn: 1}
    say: "I look at it."
  - on: {turn: 2}
    call: [{tool: interact, args: {kind: answer, text: "It is told."}}]
  - say: "I have said it."
`,
			})
			h.env = []string{"OPS_HOOK_KEY=" + hookSecret}
			must(t, os.MkdirAll(h.dir, 0o700))
			must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), fmt.Appendf(nil, "connectors:\n  ops: {driver: webhook, url: %q, key_variable: OPS_HOOK_KEY}\n", in.url), 0o600))
			h.run("run", "quest.yaml").want(t, 3)
			h.ok("connector", "bind", "ops", "room", "series")
			talk(h)
			// Who talked has ended: what was to be sent was sent.
			if n := len(in.with(t, "It is told.", 1)); n != 1 {
				t.Errorf("the receiver has it %d times, want once", n)
			}
			if out := h.ok("connector", "list", "--json"); !strings.Contains(out, `"waiting": 0`) {
				t.Errorf("deliveries are left: %s", out)
			}
		})
	}
}
