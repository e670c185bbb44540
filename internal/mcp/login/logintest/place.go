// Package logintest is a place to log in and an MCP server behind it, for tests: real ones,
// on this machine, which can be told to lie.
package logintest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Place is where people log in, and the server that wants it. The fields are set before it is
// used, or with Set.
type Place struct {
	// Auth is the place, MCP the server; its one tool is called secret, and says Word.
	Auth, MCP *httptest.Server
	Word      string

	mu sync.Mutex
	Lies
	tokens  map[string]bool
	refresh map[string]bool
	codes   map[string]string // by code, the challenge
	asked   []url.Values
	given   []string
	refused int
}

// Lies are what the place does otherwise than it should.
type Lies struct {
	// Issuer, Iss and Audience are what it says in its metadata, to the browser and in tokens.
	Issuer, Iss, Audience string
	// State is what the browser brings back instead of what it was given.
	State string
	// Expires is how long tokens hold, in seconds; 0 is an hour. No refresh tokens are given if
	// NoRefresh is set, and none taken if Ended is.
	Expires          int
	NoRefresh, Ended bool
	// Elsewhere is where requests for tokens are redirected to.
	Elsewhere string
	// Meta answers in place of the metadata.
	Meta http.HandlerFunc
	// Resource is where the server says that it is described.
	Resource string
	// TokenURL is where the metadata says that tokens are had.
	TokenURL string
	// Opaque tokens say nothing of themselves.
	Opaque bool
	// Refuse refuses the person.
	Refuse bool
	// Echo has the server's tool say the token that it was called with.
	Echo bool
}

// New starts a place and its server. They end with the test.
func New(t testing.TB) *Place {
	t.Helper()
	p := &Place{Word: "open sesame", tokens: map[string]bool{}, refresh: map[string]bool{}, codes: map[string]string{}}
	s := mcp.NewServer(&mcp.Implementation{Name: "behind", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "secret", Description: "says it", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text := p.Word
			if p.lies().Echo {
				text += " " + r.Extra.Header.Get("Authorization")
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	behind := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	p.MCP = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.server(w, r, behind) }))
	p.Auth = httptest.NewServer(http.HandlerFunc(p.auth))
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
		for _, srv := range []*httptest.Server{p.MCP, p.Auth} {
			srv.CloseClientConnections()
			srv.Close()
		}
	})
	return p
}

// URL is the address of the server.
func (p *Place) URL() string { return p.MCP.URL + "/mcp" }

// Private are the addresses of both, as private_addresses lists them.
func (p *Place) Private() []string {
	return []string{strings.TrimPrefix(p.MCP.URL, "http://"), strings.TrimPrefix(p.Auth.URL, "http://")}
}

// Set changes what the place does.
func (p *Place) Set(change func(*Lies)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.Lies)
}

// Void has the server take none of the tokens that were given so far.
func (p *Place) Void() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = map[string]bool{}
}

// Asked are the requests for tokens, in order.
func (p *Place) Asked() []url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]url.Values(nil), p.asked...)
}

// Refused is how many requests the server has not taken.
func (p *Place) Refused() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// Given are all tokens that were given, and may be found nowhere.
func (p *Place) Given() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.given...)
}

func (p *Place) lies() Lies {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Lies
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (p *Place) server(w http.ResponseWriter, r *http.Request, behind http.Handler) {
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		reply(w, 200, map[string]any{"resource": p.URL(), "authorization_servers": []string{p.Auth.URL}, "scopes_supported": []string{"read"}})
		return
	}
	p.mu.Lock()
	known := p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !known {
		p.refused++
	}
	p.mu.Unlock()
	if !known {
		where := or(p.lies().Resource, p.MCP.URL+"/.well-known/oauth-protected-resource/mcp")
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", where))
		http.Error(w, "log in", http.StatusUnauthorized)
		return
	}
	behind.ServeHTTP(w, r)
}

func (p *Place) auth(w http.ResponseWriter, r *http.Request) {
	lies := p.lies()
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		if lies.Meta != nil {
			lies.Meta(w, r)
			return
		}
		reply(w, 200, map[string]any{
			"issuer": or(lies.Issuer, p.Auth.URL), "authorization_endpoint": p.Auth.URL + "/authorize", "token_endpoint": or(lies.TokenURL, p.Auth.URL+"/token"),
			"registration_endpoint": p.Auth.URL + "/register", "revocation_endpoint": p.Auth.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		})
	case "/register":
		reply(w, 201, map[string]any{"client_id": "registered", "token_endpoint_auth_method": "none"})
	case "/authorize":
		p.authorize(w, r, lies)
	case "/token":
		p.token(w, r, lies)
	case "/revoke":
		_ = r.ParseForm()
		p.mu.Lock()
		delete(p.refresh, r.Form.Get("token"))
		p.mu.Unlock()
	default:
		http.NotFound(w, r)
	}
}

// authorize is the page at which a person agrees at once.
func (p *Place) authorize(w http.ResponseWriter, r *http.Request, lies Lies) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != p.URL() {
		http.Error(w, "no PKCE, or for another", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {or(lies.State, q.Get("state"))}, "iss": {or(lies.Iss, p.Auth.URL)}}
	if lies.Refuse {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		p.mu.Lock()
		p.codes[code] = q.Get("code_challenge")
		p.mu.Unlock()
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *Place) token(w http.ResponseWriter, r *http.Request, lies Lies) {
	if lies.Elsewhere != "" {
		http.Redirect(w, r, lies.Elsewhere, http.StatusTemporaryRedirect)
		return
	}
	_ = r.ParseForm()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Form)
	refuse := func() {
		reply(w, 400, map[string]any{"error": "invalid_grant", "error_description": "leaked " + r.Form.Encode()})
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		code := r.Form.Get("code")
		if p.codes[code] == "" || p.codes[code] != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse()
			return
		}
		delete(p.codes, code)
	case "refresh_token":
		if !p.refresh[r.Form.Get("refresh_token")] || lies.Ended {
			refuse()
			return
		}
		delete(p.refresh, r.Form.Get("refresh_token")) // each is good for once
	case "client_credentials":
		if r.Form.Get("client_secret") != Secret {
			refuse()
			return
		}
	}
	access, refresh := rand.Text(), "refresh-"+rand.Text()
	if !lies.Opaque {
		body, _ := json.Marshal(map[string]any{"iss": p.Auth.URL, "aud": or(lies.Audience, p.URL()), "jti": access})
		access = "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString(body) + "." + access
	}
	p.tokens[access] = true
	p.given = append(p.given, access, refresh)
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600}
	if lies.Expires != 0 {
		answer["expires_in"] = lies.Expires
	}
	if !lies.NoRefresh && r.Form.Get("grant_type") != "client_credentials" {
		p.refresh[refresh] = true
		answer["refresh_token"] = refresh
	}
	reply(w, 200, answer)
}

// Secret is that of any client which has one.
const Secret = "s3cret-of-the-client"

// Agree visits a page as a person would who agrees to everything.
func Agree(page string) error {
	resp, err := http.Get(page)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	return nil
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v)
}
