package login

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"
)

// wire is what a login goes over. It notes what is said of servers on the way, which the SDK
// judges and does not pass on, and has every request for a token say whom it is for.
type wire struct {
	next   http.RoundTripper
	server string

	mu sync.Mutex
	// resource is what the server calls itself, empty if it has not said.
	resource string
	notes    []note
}

// note is what is said of a place to log in.
type note struct {
	Issuer   string `json:"issuer"`
	TokenURL string `json:"token_endpoint"`
	Revoke   string `json:"revocation_endpoint"`
}

// maxNotes is how many places are noted: the SDK asks for fewer.
const maxNotes = 16

// over returns a client that goes over a wire.
func over(c *http.Client, server, resource string) (*http.Client, *wire) {
	w := &wire{next: c.Transport, server: server, resource: resource}
	out := *c
	out.Transport = w
	return &out, w
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method == http.MethodPost && kind == "application/x-www-form-urlencoded" {
		var err error
		if r, err = w.indicate(r); err != nil {
			return nil, err
		}
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	data, err := io.ReadAll(resp.Body) // the body has its bounds
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	w.note(data)
	return resp, nil
}

// note keeps what a document says. A server may call itself by its address, or by its host;
// what else it says there the SDK refuses.
func (w *wire) note(data []byte) {
	var said struct {
		note
		Resource string `json:"resource"`
	}
	if json.Unmarshal(data, &said) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if said.Resource != "" && (said.Resource == w.server || said.Resource == root(w.server)) {
		w.resource = said.Resource
	}
	if said.TokenURL != "" && len(w.notes) < maxNotes {
		w.notes = append(w.notes, said.note)
	}
}

// root is the address of a server's host.
func root(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// place is what was said last of where tokens come from. A place that says nothing of itself
// is that of the host.
func (w *wire) place(tokenURL string) note {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.notes) - 1; i >= 0; i-- {
		if w.notes[i].TokenURL == tokenURL {
			return w.notes[i]
		}
	}
	return note{Issuer: strings.TrimSuffix(tokenURL, "/token"), TokenURL: tokenURL}
}

// named is what the server calls itself.
func (w *wire) named() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.resource == "" {
		return w.server
	}
	return w.resource
}

// indicate adds to a request for a token whom it is for (RFC 8707), where nobody has.
func (w *wire) indicate(r *http.Request) (*http.Request, error) {
	data, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(data))
	if err != nil {
		return nil, err
	}
	if form.Get("grant_type") != "" && form.Get("resource") == "" {
		form.Set("resource", w.named())
		data = []byte(form.Encode())
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return r, nil
}

// made is the login that came of an exchange.
func (w *wire) made(c *oauth2.Config, t *oauth2.Token, audience string) (*Login, error) {
	p := w.place(c.Endpoint.TokenURL)
	l := &Login{
		Server: w.server, Resource: w.named(), Issuer: p.Issuer, TokenURL: c.Endpoint.TokenURL, Revoke: p.Revoke,
		Client: c.ClientID, Secret: c.ClientSecret, Style: int(c.Endpoint.AuthStyle), Scopes: c.Scopes,
	}
	return l, l.take(t, audience)
}
