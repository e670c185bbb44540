package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

const credential = "Bearer npm_canary-0123456789"

// shop is a registry with packages for those who have the credential, and a world in which
// programs reach it as npm.test, with its authority trusted.
type shop struct {
	*world
	port   int
	client *http.Client
	mu     sync.Mutex
	seen   []*http.Request
}

// openShop serves a registry. Requests get the credential at npm.test; other.test is the same
// server under another name.
func openShop(t *testing.T, value string, handle http.HandlerFunc) *shop {
	t.Helper()
	s := &shop{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Clone(context.Background()))
		s.mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body) // who closes before is not always heard
		handle(w, r)
	}))
	real, err := NewRegistries([]Registry{{Host: "npm.test", Header: "X", Value: "not a secret"}, {Host: "other.test", Header: "X", Value: "not a secret"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return real.shown[place(h.ServerName, 443)], nil
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	s.port, _ = strconv.Atoi(port)
	s.world = serve(t, Limits{}, "npm.test:"+port, "other.test:"+port, "127.0.0.1:"+port)
	s.names.known["npm.test."], s.names.known["other.test."] = []string{"127.0.0.1"}, []string{"127.0.0.1"}
	roots := x509.NewCertPool()
	roots.AddCert(real.signer)
	s.Registries, err = NewRegistries([]Registry{{Host: "npm.test", Port: s.port, Header: "Authorization", Value: value}}, roots)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(real.signer)
	if !trusted.AppendCertsFromPEM(s.Registries.Certificate()) {
		t.Fatal("the authority's certificate is no certificate")
	}
	way := &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: s.addr}), TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(way.CloseIdleConnections)
	s.client = &http.Client{Transport: way}
	return s
}

func (s *shop) url(host, path string) string {
	return fmt.Sprintf("https://%s:%d%s", host, s.port, path)
}

// requests are those that the registry got.
func (s *shop) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *shop) get(t *testing.T, method, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	packages := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, "https://other.test:"+strings.Split(r.Host, ":")[1]+"/there", http.StatusFound)
		case r.Header.Get("Authorization") != credential:
			http.Error(w, "who are you", http.StatusUnauthorized)
		default:
			fmt.Fprint(w, "package")
		}
	}

	t.Run("GetsTheCredentialThatNoProgramHas", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		for _, own := range []http.Header{nil, {"Authorization": {"Bearer ${NPM_TOKEN}"}}} {
			if resp, body := s.get(t, "GET", s.url("npm.test", "/left-pad"), own); resp.StatusCode != 200 || body != "package" {
				t.Fatalf("status %d, %q; want the package", resp.StatusCode, body)
			}
			if e := s.entry(t); e.Host != "npm.test" || e.Refused != "" || e.Sent == 0 || e.Received == 0 {
				t.Errorf("the log has %+v", e)
			}
		}
		for _, r := range s.requests() {
			if len(r.Header["Authorization"]) != 1 || r.Host != fmt.Sprintf("npm.test:%d", s.port) {
				t.Errorf("the registry was asked as %s with %q", r.Host, r.Header["Authorization"])
			}
		}
	})

	t.Run("IsTheOnlyHostThatGetsIt", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		if resp, _ := s.get(t, "GET", s.url("npm.test", "/away"), nil); resp.StatusCode != 401 || resp.Request.URL.Host != fmt.Sprintf("other.test:%d", s.port) {
			t.Errorf("status %d at %s; want 401 at the host that the registry sent the program to", resp.StatusCode, resp.Request.URL)
		}
		if resp, _ := s.get(t, "GET", s.url("other.test", "/left-pad"), nil); resp.StatusCode != 401 {
			t.Errorf("another host got it: status %d", resp.StatusCode)
		}
		for _, r := range s.requests() {
			if got := r.Header.Get("Authorization"); got != "" && !strings.HasPrefix(r.Host, "npm.test:") {
				t.Errorf("%s got %q", r.Host, got)
			}
		}
	})

	t.Run("GetsItForReadingOnly", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		for method, path := range map[string]string{"PUT": "/left-pad", "POST": "/-/v1/login", "DELETE": "/left-pad"} {
			if resp, _ := s.get(t, method, s.url("npm.test", path), nil); resp.StatusCode != 401 {
				t.Errorf("%s went out with the credential: status %d", method, resp.StatusCode)
			}
		}
		for method, path := range map[string]string{"HEAD": "/left-pad", "POST": "/some/repo.git/git-upload-pack"} {
			if resp, _ := s.get(t, method, s.url("npm.test", path), nil); resp.StatusCode != 200 {
				t.Errorf("%s %s went out without it: status %d", method, path, resp.StatusCode)
			}
		}
		// What has a body goes through, and its connection with it.
		req, _ := http.NewRequestWithContext(t.Context(), "PUT", s.url("npm.test", "/x"), strings.NewReader(strings.Repeat("x", 1<<20)))
		resp, err := s.client.Do(req)
		if err != nil || resp.StatusCode != 401 {
			t.Fatalf("a long body: %v, %v", resp, err)
		}
		resp.Body.Close()
	})

	t.Run("IsAskedInItsOwnName", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		trusted := s.client.Transport.(*http.Transport).TLSClientConfig
		say := func(text string) string {
			c := s.dial(t)
			fmt.Fprintf(c, "CONNECT npm.test:%d HTTP/1.1\r\nHost: x\r\n\r\n", s.port)
			want := "HTTP/1.1 200 Connection established\r\n\r\n"
			if _, err := io.ReadFull(c, make([]byte, len(want))); err != nil {
				t.Fatal(err)
			}
			inside := tls.Client(c, &tls.Config{RootCAs: trusted.RootCAs, ServerName: "npm.test"})
			if _, err := io.WriteString(inside, text); err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(inside)
			return string(got)
		}
		for text, want := range map[string]string{
			"GET /x HTTP/1.1\r\nHost: other.test\r\n\r\n":                                         "421",
			fmt.Sprintf("GET https://other.test:%d/x HTTP/1.1\r\nHost: npm.test\r\n\r\n", s.port): "400",
			"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\n":                         "400",
			"no HTTP at all\r\n\r\n": "400",
			fmt.Sprintf("GET /x HTTP/1.1\r\nHost: npm.test:%d\r\nA: \r\n b\r\nX Y: z\r\n\r\n", s.port):            "400",
			fmt.Sprintf("GET /x HTTP/1.1\r\nHost: NPM.test:%d\r\nConnection: close\r\n\r\n", s.port):              "200",
			"GET /x HTTP/1.1\r\nHost: npm.test:" + strconv.Itoa(s.port) + "\r\nA: " + strings.Repeat("a", 70<<10): "431",
		} {
			if got := say(text); !strings.HasPrefix(got, "HTTP/1.1 "+want) {
				t.Errorf("%.60q got %.60q, want %s", text, got, want)
			}
		}
	})

	t.Run("IsWhatItsCertificateSays", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		s.Registries.roots = x509.NewCertPool()
		if resp, body := s.get(t, "GET", s.url("npm.test", "/x"), nil); resp.StatusCode != 502 || !strings.Contains(body, "certificate") || len(s.requests()) != 0 {
			t.Errorf("status %d, %q, and %d requests at a registry that nobody vouches for", resp.StatusCode, body, len(s.requests()))
		}
		// A request with a body ends all the same.
		req, _ := http.NewRequestWithContext(t.Context(), "PUT", s.url("npm.test", "/x"), strings.NewReader("body"))
		if resp, err := s.client.Do(req); err != nil || resp.StatusCode != 502 {
			t.Errorf("a body for a registry that nobody vouches for: %v, %v", resp, err)
		} else {
			resp.Body.Close()
		}
	})

	t.Run("MustBeListedByTheQuest", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		s.Rules = parse(t, "other.test:"+strconv.Itoa(s.port))
		if _, err := s.client.Get(s.url("npm.test", "/x")); err == nil || !strings.Contains(err.Error(), "Refused") || len(s.requests()) != 0 {
			t.Errorf("a registry that the quest does not list: %v, %d requests", err, len(s.requests()))
		}
	})

	t.Run("IsShownToThoseWhoTrustTheAuthority", func(t *testing.T) {
		t.Parallel()
		s := openShop(t, credential, packages)
		s.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		if _, err := s.client.Get(s.url("npm.test", "/x")); err == nil || len(s.requests()) != 0 {
			t.Errorf("%v, %d requests by a program that trusts nobody", err, len(s.requests()))
		}
		if e := s.entry(t); !strings.Contains(e.Refused, "SSL_CERT_FILE") {
			t.Errorf("the log has %+v", e)
		}
	})
}

// TestRegistryThatRepeatsTheCredential has a registry say what it was told, in many ways.
func TestRegistryThatRepeatsTheCredential(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:correct horse"))
	for name, c := range map[string]struct {
		value string
		say   http.HandlerFunc
	}{
		"InAHeader": {credential, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-You", r.Header.Get("Authorization")) }},
		"InItsBody": {credential, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("a", 40000), r.Header.Get("Authorization"))
		}},
		"InPieces": {credential, func(w http.ResponseWriter, r *http.Request) {
			for _, b := range []byte("you are npm_canary-0123456789, I think") {
				fmt.Fprintf(w, "%c", b)
				w.(http.Flusher).Flush()
			}
		}},
		"Decoded": {basic, func(w http.ResponseWriter, r *http.Request) { _, p, _ := r.BasicAuth(); fmt.Fprint(w, "password "+p) }},
		"WithinALong": {credential, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("b", 1<<20), "npm_canary-0123456789")
		}},
		"PackedIfAsked": {credential, func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				fmt.Fprint(w, r.Header.Get("Authorization"))
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, r.Header.Get("Authorization"))
			z.Close()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, c.value, c.say)
			got := ""
			if resp, err := s.client.Get(s.url("npm.test", "/whoami")); err == nil {
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode == 200 && err == nil {
					t.Errorf("it was passed on: %.100q", body)
				}
				got = fmt.Sprint(resp.Header) + string(body)
			}
			for _, leak := range []string{"npm_c", "0123456789", "correct", base64.StdEncoding.EncodeToString([]byte("ada:"))[:4]} {
				if strings.Contains(got, leak) {
					t.Errorf("the program learns %q", leak)
				}
			}
			if e := s.entry(t); e.Refused != errEchoed.Error() {
				t.Errorf("the log has %+v", e)
			}
		})
	}
}

// TestKeeper gives bodies through unchanged that hold no secret, however they are read.
func TestKeeper(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("npm_canary-012345678 ", 5000))
	for name, in := range map[string]io.Reader{
		"whole": bytes.NewReader(text), "bytewise": iotest.OneByteReader(bytes.NewReader(text)), "with its end": iotest.DataErrReader(bytes.NewReader(text)),
	} {
		k := &keeper{ReadCloser: io.NopCloser(in), secrets: []string{"npm_canary-0123456789"}, longest: 21}
		if err := iotest.TestReader(k, text); err != nil {
			t.Errorf("a body read %s is not what was sent: %v", name, err)
		}
	}
	broken := errors.New("broken")
	k := &keeper{ReadCloser: io.NopCloser(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken))), secrets: []string{"npm_canary-0123456789"}, longest: 21}
	if got, err := io.ReadAll(k); string(got) != "abc" || !errors.Is(err, broken) {
		t.Errorf("a body that breaks: %q, %v", got, err)
	}
}

func TestRegistriesRefuse(t *testing.T) {
	t.Parallel()
	good := Registry{Host: "npm.test", Header: "Authorization", Value: credential}
	for want, change := range map[string]func(*Registry){
		"neither a DNS name": func(r *Registry) { r.Host = "npm test" },
		"shorter than":       func(r *Registry) { r.Value = "tiny" },
		"header can hold":    func(r *Registry) { r.Value = "long enough\r\nX: y" },
		"names no header":    func(r *Registry) { r.Header = "" },
	} {
		r := good
		change(&r)
		if _, err := NewRegistries([]Registry{r}, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), r.Value) {
			t.Errorf("%+v: %v, want %q and not the credential", r, err, want)
		}
	}
	if _, err := NewRegistries([]Registry{good, good}, nil); err == nil {
		t.Error("one registry twice is taken")
	}
	// An authority vouches for its registries, and for nobody else.
	all, err := NewRegistries([]Registry{good, {Host: "10.0.0.5", Port: 4873, Header: "X-Key", Value: "0123456789"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(all.signer)
	for at, name := range map[string]string{place("npm.test", 443): "npm.test", place("10.0.0.5", 4873): "10.0.0.5"} {
		if _, err := all.shown[at].Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("the authority does not vouch for %s: %v", name, err)
		}
	}
	forged := certificate(9, "pypi.org")
	forged.DNSNames = []string{"pypi.org"}
	leaf, _, err := sign(forged, all.signer, all.key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "pypi.org"}); err == nil {
		t.Error("the authority can vouch for any host")
	}
}
