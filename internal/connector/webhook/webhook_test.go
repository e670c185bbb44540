package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/connector"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheSignatureIsThatOfTheStandard: the vector that the libraries of Standard Webhooks are tested
// with, both ways.
func TestTheSignatureIsThatOfTheStandard(t *testing.T) {
	t.Parallel()
	const id, stamp, body, want = "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", `{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	for _, s := range []string{secret, strings.TrimPrefix(secret, "whsec_")} {
		k, err := key(s)
		must(t, err)
		if got := sign(k, id, stamp, []byte(body)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		h := http.Header{}
		h.Set(headerID, id)
		h.Set(headerTime, stamp)
		h.Set(headerSignature, "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,"+want[3:]+" "+want)
		if got, err := verify(k, h, []byte(body), time.Unix(1614265330, 0)); err != nil || got != want {
			t.Errorf("a request with the signature of the vector: got %s, %v", got, err)
		}
		h.Set(headerSignature, "v2,"+want[3:])
		if _, err := verify(k, h, []byte(body), time.Unix(1614265330, 0)); err == nil {
			t.Error("a signature of another version holds")
		}
	}
}

func TestWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "whsec_", "whsec_c2hvcnQ=", "no base64 at all, but long enough for one"} {
		if _, err := key(s); err == nil || strings.Contains(err.Error(), s) && s != "" && s != "whsec_" {
			t.Errorf("%q: got %v, want a fault that does not repeat it", s, err)
		}
	}
}

// ear is a driver that listens, and what it took.
type ear struct {
	*Driver
	addr string
	now  time.Time

	mu   sync.Mutex
	took []connector.Message
	// refused are how many were handed on as nobody's, or were here before.
	refused int
	fails   bool
}

func listen(t *testing.T) *ear {
	t.Helper()
	e := &ear{now: time.Unix(1_800_000_000, 0)}
	d, err := Open(connector.Settings{Name: "hook", Values: map[string]string{"listen": "127.0.0.1:0"}, Secrets: map[string]string{"key": secret}}, func() time.Time { return e.now })
	must(t, err)
	at := make(chan string, 1)
	d.listening = func(a net.Addr) { at <- a.String() }
	e.Driver = d
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- d.Run(ctx, func(_ context.Context, m connector.Message) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.fails {
				return errors.New("the disk is full")
			}
			if !m.Proven {
				e.refused++
				return nil
			}
			for _, before := range e.took { // as the office does, by what the box knows
				if before.Signature == m.Signature {
					e.refused++
					return connector.ErrReplayed
				}
			}
			e.took = append(e.took, m)
			return nil
		})
	}()
	e.addr = <-at
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	})
	return e
}

// post posts a body as somebody with a secret, at a time.
func (e *ear) post(t *testing.T, secret, id string, at time.Time, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	k, err := key(secret)
	must(t, err)
	r, err := http.NewRequest(http.MethodPost, "http://"+e.addr+"/", strings.NewReader(body))
	must(t, err)
	stamp := strconv.FormatInt(at.Unix(), 10)
	r.Header.Set(headerID, id)
	r.Header.Set(headerTime, stamp)
	r.Header.Set(headerSignature, "v1,bogus "+sign(k, id, stamp, []byte(body)))
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(text)
}

const hello = `{"type":"message","timestamp":"2027-01-15T08:00:00Z","data":{"conversation":"c","sender":"ada","text":"hello","files":[{"name":"a.txt","type":"text/plain","data":"aGk="}]}}`

func TestWhatIsHeard(t *testing.T) {
	t.Parallel()
	e := listen(t)
	other := "whsec_" + strings.Repeat("QUFB", 12)
	for _, c := range []struct {
		name, secret, id, body string
		at                     time.Duration
		change                 func(*http.Request)
		status                 int
		says                   string
	}{
		{name: "ForgedBySomebodyElse", secret: other, id: "m0", body: hello, status: 401, says: "no webhook-signature is one of this secret"},
		{name: "ChangedOnTheWay", id: "m0", body: hello, change: func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(hello+" ")), int64(len(hello)+1)
		}, status: 401},
		{name: "OfAnotherID", id: "m0", body: hello, change: func(r *http.Request) { r.Header.Set(headerID, "m1") }, status: 401},
		{name: "Old", id: "m0", body: hello, at: -6 * time.Minute, status: 401, says: "more than 5m0s off"},
		{name: "FromTheFuture", id: "m0", body: hello, at: 6 * time.Minute, status: 401, says: "off"},
		{name: "WithoutATime", id: "m0", body: hello, change: func(r *http.Request) { r.Header.Del(headerTime) }, status: 401},
		{name: "WithoutAnID", id: "m0", body: hello, change: func(r *http.Request) { r.Header.Del(headerID) }, status: 401},
		{name: "WithoutASignature", id: "m0", body: hello, change: func(r *http.Request) { r.Header.Del(headerSignature) }, status: 401},
		{name: "NoJSON", id: "m0", body: "hello", status: 422},
		{name: "OfNobody", id: "m0", body: `{"type":"message","timestamp":"2027-01-15T08:00:00Z","data":{"conversation":"c","text":"x"}}`, status: 422},
		{name: "ByGet", id: "m0", body: hello, change: func(r *http.Request) { r.Method = "GET" }, status: 405},
		{name: "Good", id: "m1", body: hello, status: 204},
		{name: "ReplayedAsItWas", id: "m1", body: hello, status: 409, says: "was here before"},
		{name: "TriedAgainBySomebodyWithTheSecret", id: "m1", at: time.Second, body: hello, status: 204},
	} {
		if c.secret == "" {
			c.secret = secret
		}
		if code, text := e.post(t, c.secret, c.id, e.now.Add(c.at), c.body, c.change); code != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: got %d %q, want %d %q", c.name, code, text, c.status, c.says)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.took) != 2 || e.took[0].ID != "m1" || e.took[1].ID != "m1" { // whoever takes them knows the id
		t.Fatalf("it took %+v, want m1 and m1 again", e.took)
	}
	if e.refused != 9 {
		t.Errorf("%d requests were refused, want the 8 without a signature that holds and the replayed one", e.refused)
	}
	m := e.took[0]
	if m.Sender != "ada" || m.Conversation != "c" || m.Text != "hello" || !m.Proven || len(m.Files) != 1 || string(m.Files[0].Data) != "hi" || m.Files[0].Name != "a.txt" {
		t.Errorf("got %+v", m)
	}
}

func TestWhatIsNotDurableIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	e := listen(t)
	e.fails = true
	if code, text := e.post(t, secret, "m", e.now, hello, nil); code != 503 || strings.Contains(text, "disk") {
		t.Errorf("got %d %q, want 503 without a word of what is wrong here", code, text)
	}
	e.mu.Lock()
	e.fails = false
	e.mu.Unlock()
	if code, _ := e.post(t, secret, "m", e.now, hello, nil); code != 204 {
		t.Errorf("the same request again: got %d, want 204: it was not taken before", code)
	}
}

func TestALargeBodyIsRefused(t *testing.T) {
	t.Parallel()
	e := listen(t)
	body := bytes.Repeat([]byte("x"), maxBody+1)
	code, _ := e.post(t, secret, "m", e.now, string(body), nil)
	if code != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d, want 413", code)
	}
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	k, err := key(secret)
	must(t, err)
	now := time.Unix(1_800_000_000, 0)
	status, after, followed := 200, "", false
	var fault error
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/moved" {
			followed = true
		}
		_, fault = verify(k, r.Header, body, now)
		for _, want := range []string{`"type":"quest.said"`, `"quest":"q"`, `"kind":"milestone"`, `"text":"<b>"`, `"options":["yes"]`, `"conversation":"c"`, `"reply_to":"m1"`, `"files":[{"name":"a.txt","type":"text/plain","data":"aGk="}]`} {
			if !bytes.Contains(body, []byte(want)) {
				fault = fmt.Errorf("%s is not in %s", want, body)
			}
		}
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Location", "/moved")
		w.WriteHeader(status)
	}))
	defer server.Close()
	d, err := Open(connector.Settings{Name: "hook", Values: map[string]string{"url": server.URL}, Secrets: map[string]string{"key": secret}}, func() time.Time { return now })
	must(t, err)
	o := connector.Outgoing{Conversation: "c", Key: "k1", Text: "<b>", Options: []string{"yes"}, Quest: "q", Kind: "milestone", Time: now, Reply: "m1", Files: []connector.File{{Name: "a.txt", Type: "text/plain", Data: []byte("hi")}}}
	for _, c := range []struct {
		status int
		after  string
		want   string
	}{{200, "", ""}, {204, "", ""}, {302, "", "302"}, {400, "", "400"}, {500, "", "500"}, {410, "", "gone"}, {429, "7", "again in 7s"}} {
		status, after = c.status, c.after
		err := d.Send(t.Context(), o)
		if fault != nil {
			t.Fatalf("the server was sent what it did not expect: %v", fault)
		}
		_, refused := errors.AsType[*connector.Refused](err)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || refused != (c.status == 410) {
			t.Errorf("%d: got %v, want %q", c.status, err, c.want)
		}
	}
	if followed {
		t.Error("a redirect was followed, signature and all")
	}
	if text, err := d.Check(t.Context()); err != nil || !strings.Contains(text, "nothing was posted") {
		t.Errorf("check a receiver that is there: got %q, %v", text, err)
	}
	server.Close()
	if _, err := d.Check(t.Context()); err == nil {
		t.Error("check a receiver that is away: got no error")
	}
	if err := d.Send(t.Context(), o); err == nil || errors.As(err, new(*connector.Refused)) {
		t.Errorf("a receiver that is away: got %v, want an error that another try may mend", err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for want, values := range map[string]map[string]string{
		"needs url":                 {},
		"url must be an address":    {"url": "ftp://x/"},
		"without a name":            {"url": "https://me:pw@x/"},
		"listen must be an address": {"listen": "7421"},
	} {
		if _, err := Open(connector.Settings{Values: values, Secrets: map[string]string{"key": secret}}, time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", values, err, want)
		}
	}
}
