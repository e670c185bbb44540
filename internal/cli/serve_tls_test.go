package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/api"
)

// certificate makes one for names, signed by itself, and returns its files and who
// trusts it.
func certificate(t *testing.T, names ...string) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	trust = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	trust.AddCert(parsed)
	return cert, key, trust
}

// caller asks a server that runs, as a browser or a proxy would.
type caller struct {
	t    *testing.T
	http *http.Client
	base string
}

// calling returns one that trusts a certificate and never follows a redirect.
func (s *served) calling(trust *x509.CertPool) *caller {
	s.t.Helper()
	u, err := url.Parse(s.url)
	must(s.t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &caller{s.t, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: patience}, u.Scheme + "://" + u.Host}
}

// ask sends a request with headers, given as pairs; Host is one of them.
func (c *caller) ask(method, path string, headers ...string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.base+path, nil)
	must(c.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := c.http.Do(r)
	must(c.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(c.t, err)
	return resp, string(data)
}

// session is what the answer to a link that was opened has: a cookie for the browser, and a key
// for the page.
func session(h http.Header) (cookie, key string) {
	cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
	_, key, _ = strings.Cut(h.Get("Location"), "#key=")
	return cookie, key
}

// token is the home's.
func (s *served) token() string {
	s.t.Helper()
	token, err := api.ReadToken(s.home.dir)
	must(s.t, err)
	return token
}

func (s *served) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	s.wait().want(s.t, 0)
}

func TestServeWithACertificate(t *testing.T) {
	t.Parallel()
	cert, key, trust := certificate(t, "lab.example")
	h := newHome(t, map[string]string{"quest.yaml": "name: alone\nproblem: How many primes are below 100?\nmodel: demo\n"})
	// With a certificate it may listen on all addresses.
	s := h.serve("--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--host", "lab.example")
	defer s.stop()
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Errorf("the link is %s", s.url)
	}
	c, bearer := s.calling(trust), "Bearer "+s.token()
	t.Run("SendsACookieThatStaysInside", func(t *testing.T) {
		resp, _ := c.ask("GET", "/?token="+s.token())
		given := resp.Header.Get("Set-Cookie")
		for _, part := range []string{"Secure", "HttpOnly", "SameSite=Strict"} {
			if !strings.Contains(given, part) {
				t.Errorf("the cookie %q has no %s", given, part)
			}
		}
		cookie, key := session(resp.Header)
		if resp, body := c.ask("GET", "/api/quests", "Cookie", cookie, "Lyceum-Key", key); resp.StatusCode != 200 {
			t.Errorf("the cookie gets %d %s", resp.StatusCode, body)
		}
		if resp.StatusCode != 303 || !strings.HasPrefix(resp.Header.Get("Location"), "/#key=") {
			t.Errorf("the link gives %d to %q", resp.StatusCode, resp.Header.Get("Location"))
		}
	})
	t.Run("TellsOneWhoComesWithoutTLS", func(t *testing.T) {
		plain := &caller{t, c.http, strings.Replace(c.base, "https:", "http:", 1)}
		if resp, body := plain.ask("GET", "/?token="+s.token()); resp.StatusCode != 400 || !strings.Contains(body, "HTTPS") || resp.Header.Get("Set-Cookie") != "" {
			t.Errorf("it says %d %q", resp.StatusCode, body)
		}
	})
	t.Run("SpeaksNoOldTLS", func(t *testing.T) {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(c.base, "https://"), &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
		if err == nil {
			conn.Close()
			t.Error("it speaks TLS 1.1")
		}
	})
	t.Run("LooksAtHostAndOrigin", func(t *testing.T) {
		own := strings.TrimPrefix(c.base, "https://")
		for _, w := range []struct {
			host, origin string
			want         int
		}{
			{own, "", 200}, {"lab.example", "", 200}, {"lab.example:7420", "https://lab.example:7420", 200}, {own, c.base, 200},
			{"evil.example", "", 403}, {"0.0.0.0", "", 403}, {"192.0.2.7:7420", "", 403},
			{own, "http://" + own, 403}, {"lab.example", "http://lab.example", 403}, {"lab.example", "https://evil.example", 403}, {"lab.example", "https://lab.example:1", 403},
		} {
			headers := []string{"Authorization", bearer, "Host", w.host}
			if w.origin != "" {
				headers = append(headers, "Origin", w.origin)
			}
			if resp, body := c.ask("GET", "/api/quests", headers...); resp.StatusCode != w.want {
				t.Errorf("Host %q, Origin %q: %d %s", w.host, w.origin, resp.StatusCode, body)
			}
		}
	})
	t.Run("IsForTheCommandLineToo", func(t *testing.T) {
		h.in(t).run("run", "quest.yaml").want(t, 0, "It runs in lyceum serve.")
		if resp, body := c.ask("GET", "/api/quests/alone", "Authorization", bearer); resp.StatusCode != 200 || !strings.Contains(body, `"status":"finished"`) {
			t.Errorf("the server shows %d %.300s", resp.StatusCode, body)
		}
	})
}

func TestServeBehindAProxy(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	s := h.serve("--listen", "0.0.0.0:0", "--behind-proxy", "--host", "lab.example")
	defer s.stop()
	if line := s.line(); !strings.HasPrefix(line, "Through the proxy it is at https://lab.example/?token=") || strings.Contains(line, s.token()) {
		t.Errorf("it says %q, want a link that is not the token", line)
	}
	c, bearer := s.calling(nil), "Bearer "+s.token()
	t.Run("SendsACookieForTLSAlone", func(t *testing.T) {
		resp, _ := c.ask("GET", "/?token="+s.token(), "Host", "lab.example", "X-Forwarded-Proto", "http")
		if given := resp.Header.Get("Set-Cookie"); !strings.Contains(given, "Secure") {
			t.Errorf("the cookie is %q", given)
		}
		// Where to go on does not depend on what anybody says in front.
		resp, _ = c.ask("GET", "/?token="+s.token(), "Host", "lab.example", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example")
		if to := resp.Header.Get("Location"); !strings.HasPrefix(to, "/#key=") {
			t.Errorf("the link leads to %q", to)
		}
	})
	t.Run("BelievesTheHostAndNothingThatWasForwarded", func(t *testing.T) {
		for _, w := range []struct {
			headers []string
			want    int
			says    string
		}{
			{[]string{"Host", "lab.example"}, 200, ""},
			{[]string{"Host", "LAB.example:443"}, 200, ""},
			{[]string{"Host", "lab.example", "Origin", "https://lab.example"}, 200, ""},
			{[]string{"Host", "lab.example", "X-Forwarded-Host", "evil.example"}, 200, ""},
			{[]string{"Host", "evil.example"}, 403, "--host"},
			{[]string{"Host", "evil.example", "X-Forwarded-Host", "lab.example", "Forwarded", "host=lab.example"}, 403, "--host"},
			{[]string{"Host", "lab.example", "Origin", "http://lab.example"}, 403, "Origin"},
			{[]string{"Host", "lab.example", "Origin", "https://evil.example", "X-Forwarded-Host", "evil.example"}, 403, "Origin"},
			// A proxy that puts its own Host is told what to do.
			{[]string{"Host", "127.0.0.1:7420", "Origin", "https://lab.example"}, 403, "must pass the Host on"},
		} {
			resp, body := c.ask("GET", "/api/quests", append(w.headers, "Authorization", bearer)...)
			if resp.StatusCode != w.want || !strings.Contains(body, w.says) {
				t.Errorf("a request through a proxy, %v: %d %s", w.headers, resp.StatusCode, body)
			}
		}
	})
	t.Run("CountsWrongTokensByTheAddressThatIsReallyThere", func(t *testing.T) {
		limited := false
		for i := range 60 {
			resp, _ := c.ask("GET", "/api/quests", "Host", "lab.example", "Authorization", "Bearer x", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i), "X-Real-Ip", fmt.Sprintf("198.51.100.%d", i))
			limited = limited || resp.StatusCode == 429
		}
		if resp, _ := c.ask("GET", "/api/quests", "Host", "lab.example", "Authorization", bearer); !limited || resp.StatusCode != 200 {
			t.Errorf("limited: %v; with the token %d", limited, resp.StatusCode)
		}
	})
}

func TestServeOnLoopbackSendsItsCookieWithoutTLS(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	s := h.serve()
	defer s.stop()
	resp, _ := s.calling(nil).ask("GET", "/?token="+s.token())
	if given := resp.Header.Get("Set-Cookie"); given == "" || strings.Contains(given, "Secure") {
		t.Errorf("the cookie is %q", given)
	}
}

func TestServeRefusesACertificateThatIsNone(t *testing.T) {
	t.Parallel()
	cert, key, _ := certificate(t)
	_, other, _ := certificate(t)
	h := newHome(t, map[string]string{"text.pem": "not a certificate\n"})
	for name, args := range map[string][]string{
		"--tls-cert and --tls-key go together": {"--tls-key", key},
		"no such file":                         {"--tls-cert", "gone.pem", "--tls-key", key},
		"PEM":                                  {"--tls-cert", "text.pem", "--tls-key", key},
		"private key does not match":           {"--tls-cert", cert, "--tls-key", other},
	} {
		h.run(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...).want(t, 2, name)
	}
	// What is refused has made nothing: no token lies about.
	if _, err := os.Stat(filepath.Join(h.dir, "token")); err == nil {
		t.Error("there is a token")
	}
}
