// Package webhook is the connector that speaks with programs, by Standard Webhooks both ways: what
// a quest says is posted to a URL, and what is posted to an address of ours is said to a quest.
//
// A request carries an id, a time and a signature. One that is forged or old is refused; one that
// comes again, as the same bytes, is refused as well, also by the next process; a sender that tries again, since it has had no answer, signs
// anew, and is told that all is well without anything being done twice.
package webhook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/connector"

	"github.com/go-json-experiment/json"
)

// Kind is how such a connector is made.
func Kind() connector.Kind {
	return connector.Kind{
		Settings: map[string]bool{"url": false, "listen": false},
		Secrets:  map[string]bool{"key": true},
		Most:     connector.Control,
		Open:     func(s connector.Settings) (connector.Driver, error) { return Open(s, now) },
	}
}

// Driver posts to a URL and listens on an address; it may have either.
type Driver struct {
	url, listen string
	key         []byte
	clock       func() time.Time
	client      *http.Client
	// listening is told the address that Run listens on, for tests.
	listening func(net.Addr)
}

// Open makes a driver.
func Open(s connector.Settings, clock func() time.Time) (*Driver, error) {
	k, err := key(s.Secrets["key"])
	if err != nil {
		return nil, err
	}
	d := &Driver{url: s.Values["url"], listen: s.Values["listen"], key: k, clock: clock}
	if d.url == "" && d.listen == "" {
		return nil, errors.New("a webhook needs url, to post to, or listen, such as 127.0.0.1:7421, or both")
	}
	if u, err := url.Parse(d.url); d.url != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil) {
		return nil, errors.New("url must be an address such as https://example.org/hooks, without a name and a password in it")
	}
	if _, _, err := net.SplitHostPort(d.listen); d.listen != "" && err != nil {
		return nil, errors.New("listen must be an address and a port, such as 127.0.0.1:7421")
	}
	d.client = &http.Client{
		Timeout:   patience,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: patience, MaxResponseHeaderBytes: 64 << 10},
		// Standard Webhooks: who has moved says so to people, and a signature is not carried on.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return d, nil
}

// patience is how long a receiver may take, and a sender.
const patience = 20 * time.Second

// envelope is the body of a request, either way.
type envelope[T any] struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      T         `json:"data"`
}

// said is what a quest says.
type said struct {
	Quest        string   `json:"quest"`
	Conversation string   `json:"conversation"`
	Kind         string   `json:"kind"`
	Text         string   `json:"text"`
	Options      []string `json:"options,omitempty"`
	// Files have at most 10 MiB together. ReplyTo is the webhook-id of what it answers.
	Files   []file `json:"files,omitempty"`
	ReplyTo string `json:"reply_to,omitzero"`
}

// file is one that goes along, or comes.
type file struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// Send implements connector.Driver.
func (d *Driver) Send(ctx context.Context, o connector.Outgoing) error {
	if d.url == "" {
		return &connector.Refused{Reason: "this webhook has no url in config.yaml: it only listens"}
	}
	words := said{Quest: o.Quest, Conversation: o.Conversation, Kind: o.Kind, Text: o.Text, Options: o.Options, ReplyTo: o.Reply}
	for _, f := range o.Files {
		words.Files = append(words.Files, file(f))
	}
	body, err := json.Marshal(envelope[said]{"quest.said", o.Time.UTC(), words})
	if err != nil {
		return &connector.Refused{Reason: err.Error()}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(body))
	if err != nil {
		return &connector.Refused{Reason: err.Error()}
	}
	stamp := strconv.FormatInt(d.clock().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "lyceum")
	r.Header[headerID], r.Header[headerTime] = []string{o.Key}, []string{stamp}
	r.Header[headerSignature] = []string{sign(d.key, o.Key, stamp, body)}
	answer, err := d.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return verdict(answer)
}

// Check implements connector.Checker. It knocks at the receiver's door, and posts nothing.
func (d *Driver) Check(ctx context.Context) (string, error) {
	if d.url == "" {
		return "it only listens, at " + d.listen, nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, nil)
	if err != nil {
		return "", err
	}
	if by, err := http.ProxyFromEnvironment(r); err != nil || by != nil {
		return "its receiver is behind a proxy, and was not tried", err
	}
	secure := r.URL.Scheme == "https"
	port := r.URL.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[secure]
	}
	var conn net.Conn
	address := net.JoinHostPort(r.URL.Hostname(), port)
	if secure {
		conn, err = (&tls.Dialer{}).DialContext(ctx, "tcp", address)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return "", fmt.Errorf("reach the receiver: %w", err)
	}
	_ = conn.Close()
	return "its receiver is there; nothing was posted to it", nil
}

// verdict is what an answer means: only 2xx is yes, and only 410 is never.
func verdict(answer *http.Response) error {
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusGone:
		return &connector.Refused{Reason: "the receiver says that it is gone (410)"}
	}
	err := fmt.Errorf("the receiver answers %d", answer.StatusCode)
	if s, bad := strconv.Atoi(answer.Header.Get("Retry-After")); bad == nil && s > 0 {
		return &connector.Later{After: time.Duration(min(s, 24*3600)) * time.Second, Err: err}
	}
	return err
}

// Run implements connector.Driver. One that only posts waits.
func (d *Driver) Run(ctx context.Context, take func(context.Context, connector.Message) error) error {
	if d.listen == "" {
		<-ctx.Done()
		return ctx.Err()
	}
	ln, err := net.Listen("tcp", d.listen)
	if err != nil {
		return err
	}
	if d.listening != nil {
		d.listening(ln.Addr())
	}
	room := make(chan struct{}, maxAtOnce)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case room <- struct{}{}:
				defer func() { <-room }()
				d.receive(w, r, take)
			default:
				w.Header().Set("Retry-After", "5")
				http.Error(w, "too many at once: come again", http.StatusServiceUnavailable)
			}
		}),
		ReadTimeout: patience, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 2 * patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err = server.Serve(ln)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

const (
	maxAtOnce = 16
	// maxBody is room for 25 MiB of files in base64, and for words.
	maxBody = 36 << 20
)

// heard is what a program says.
type heard struct {
	Conversation string `json:"conversation"`
	Sender       string `json:"sender"`
	Text         string `json:"text"`
	Files        []file `json:"files"`
}

// receive answers a request: 204 once what it says is durable.
func (d *Driver) receive(w http.ResponseWriter, r *http.Request, take func(context.Context, connector.Message) error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "want POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "files have at most 25 MiB together", http.StatusRequestEntityTooLarge)
		return
	} else if err != nil {
		http.Error(w, "the request broke off", http.StatusBadRequest)
		return
	}
	// What is refused is handed on as nobody's: so it is counted, and nothing else.
	nobody := func() { _ = take(r.Context(), connector.Message{}) }
	signature, err := verify(d.key, r.Header, body, d.clock())
	if err != nil {
		nobody()
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	m, err := read(r.Header.Get(headerID), body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	sum := sha256.Sum256([]byte(signature)) // what is kept of it is nothing to sign by
	m.Signature = hex.EncodeToString(sum[:])
	switch err := take(r.Context(), m); {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, connector.ErrReplayed):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		http.Error(w, "not taken: come again", http.StatusServiceUnavailable)
	}
}

// read reads the body of a request that is signed.
func read(id string, body []byte) (m connector.Message, err error) {
	var e envelope[heard]
	if err := json.Unmarshal(body, &e); err != nil {
		return m, errors.New("the body is no JSON object with type, timestamp and data")
	}
	if e.Type != "message" || strings.TrimSpace(e.Data.Sender) == "" || strings.TrimSpace(e.Data.Conversation) == "" {
		return m, errors.New(`the type must be "message", and data must have sender, conversation and text`)
	}
	m = connector.Message{ID: id, Mark: id, Conversation: e.Data.Conversation, Sender: e.Data.Sender, Text: e.Data.Text, Proven: true, Time: e.Timestamp}
	for _, f := range e.Data.Files {
		m.Files = append(m.Files, connector.File(f))
	}
	return m, nil
}
