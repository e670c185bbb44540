package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/canary"
	"lyceum/internal/need"
)

// registryCanary is a credential: wherever it turns up, it got out.
const registryCanary = "npm_canaryZq7Xw2Vt9Lm4"

// registry is a server of packages with a name. It gives packages to those who have the
// credential.
type registry struct {
	*httptest.Server
	name        string
	certificate []byte // in PEM
	away        string // where /moved leads

	mu   sync.Mutex
	seen []string // what was asked, and as whom
}

func newRegistry(t *testing.T, name string) *registry {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	must(t, err)
	r := &registry{name: name, certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // programs that do not trust it say so themselves
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *registry) host() string {
	return fmt.Sprintf("%s:%d", r.name, r.Listener.Addr().(*net.TCPAddr).Port)
}

// nameServer answers that every name is this machine, and says where it is asked.
func nameServer(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { c.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12 // of the question: a name, its type and class
			for end < n && buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			if end += 5; end > n {
				continue
			}
			q := buf[12:end]
			answer := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q...)
			if q[len(q)-3] == 1 { // type A
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
			}
			_, _ = c.WriteTo(answer, from)
		}
	}()
	return c.LocalAddr().String()
}

func (r *registry) serve(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.seen = append(r.seen, fmt.Sprintf("%s %s %q", q.Method, q.URL.Path, q.Header.Get("Authorization")))
	r.mu.Unlock()
	packed := leftPad()
	switch {
	case q.URL.Path == "/moved":
		http.Redirect(w, q, r.away+"/stolen", http.StatusFound)
	case q.Header.Get("Authorization") != "Bearer "+registryCanary:
		http.Error(w, "who are you", http.StatusUnauthorized)
	case q.URL.Path == "/whoami":
		fmt.Fprint(w, q.Header.Get("Authorization"))
	case q.URL.Path == "/left-pad":
		sum := sha1.Sum(packed)
		fmt.Fprintf(w, `{"name":"left-pad","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"left-pad","version":"1.0.0","dist":{"shasum":%q,"tarball":%q}}}}`,
			hex.EncodeToString(sum[:]), "https://"+r.host()+"/left-pad/-/left-pad-1.0.0.tgz")
	case q.URL.Path == "/left-pad/-/left-pad-1.0.0.tgz":
		_, _ = w.Write(packed)
	default:
		http.NotFound(w, q)
	}
}

// asked is what the registry was asked.
func (r *registry) asked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.seen, "\n")
}

// leftPad is a package, of the same bytes each time.
func leftPad() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, f := range [][2]string{{"package/package.json", `{"name":"left-pad","version":"1.0.0"}`}, {"package/index.js", "module.exports = 1\n"}} {
		_ = t.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1]))})
		_, _ = t.Write([]byte(f[1]))
	}
	_ = t.Close()
	_ = z.Close()
	return b.Bytes()
}

// TestPrepareWithAPrivateRegistry installs a package that only a credential opens. No program
// of a computer has the credential, then or later, and nothing that is kept does.
func TestPrepareWithAPrivateRegistry(t *testing.T) {
	need.Programs(t, "git", "npm", "curl")
	t.Parallel()
	shop, other := newRegistry(t, "packages.test"), newRegistry(t, "other.test")
	shop.away = "https://" + other.host()
	at := "https://" + shop.host()
	prepare := strings.Join([]string{
		"set -e",
		"npm install --no-audit --no-fund --loglevel=error left-pad >&2",
		"cat $SSL_CERT_FILE other.pem >/tmp/both",
		"curl -sS -L -o moved -w 'moved:%{http_code} ' --cacert /tmp/both " + at + "/moved",
		"curl -sS -o written -X PUT -d x -w 'put:%{http_code} ' " + at + "/left-pad",
		"curl -sS -o repeated " + at + "/whoami && echo whoami passed || echo whoami cut",
		"env >env.txt; cat /proc/*/environ /proc/*/cmdline >processes.txt 2>/dev/null || true",
		"cp /tmp/*.pem .",
	}, "\n")
	quest := func(name, prepare, network string) string {
		return fmt.Sprintf("name: %s\nproblem: x\nrepo: .\nmodel: script:plan.yaml\ntools: [exec]\ncomputer: {driver: namespaces, network: %s}\nprepare: %q\n", name, network, prepare)
	}
	allow := fmt.Sprintf(`{allow: ["%s", "%s", %q, %q]}`, shop.host(), other.host(), shop.Listener.Addr(), other.Listener.Addr())
	h := newHome(t, map[string]string{
		"other.pem": string(other.certificate) + string(shop.certificate),
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: "cat node_modules/left-pad/index.js; env >agent.txt; curl -sk -o /dev/null -w 'status:%{http_code}' ` + at + `/left-pad"}}]
  - on: {tool: exec, result: '(?s)(module.exports = 1).*(status:\d+)'}
    say: "$1 and $2."
`,
		"shop.yaml":     quest("shop", prepare, allow),
		"empty.yaml":    quest("empty", "curl -sSf "+at+"/left-pad", allow),
		"open.yaml":     quest("open", "exit 4", "open"),
		"unlisted.yaml": quest("unlisted", "test -z \"$SSL_CERT_FILE$npm_config_registry\" && exit 5", fmt.Sprintf("{allow: [%q]}", other.host())),
	})
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": fmt.Sprintf("registries:\n- {host: %q, variable: SHOP_TOKEN, variables: {npm_config_registry: %q}}\n", shop.host(), at+"/")}))
	trusted := filepath.Join(h.work, "other.pem")
	without := []string{"SSL_CERT_FILE=" + trusted, "LYCEUM_TEST_NAMES=" + nameServer(t)}
	h.env = append(without, "SHOP_TOKEN="+registryCanary)
	if l := h.run("doctor"); !strings.Contains(l.out, "namespaces") {
		need.Missing(t, "a sandbox by namespaces")
	}

	l := h.startFor(5*time.Minute, "run", "shop.yaml", "--plain").wait()
	l.want(t, 0, "module.exports = 1 and status:401.")
	said := h.ok("trace", "shop", "--jsonl")
	for _, want := range []string{"moved:401", "put:401", "whoami cut", "the registry's answer has the credential in it"} {
		if !strings.Contains(said, want) {
			t.Errorf("the ledger does not say %q", want)
		}
	}
	if got := shop.asked(); !strings.Contains(got, "GET /left-pad/-/left-pad-1.0.0.tgz \"Bearer "+registryCanary) || !strings.Contains(got, `PUT /left-pad ""`) {
		t.Errorf("the registry was asked\n%s", got)
	}
	if got := other.asked(); !strings.Contains(got, `GET /stolen ""`) {
		t.Errorf("the other host was asked\n%s\nwant one request without the credential", got)
	}
	h.ok("verify", "shop")
	h.ok("replay", "shop")

	// The credential is nowhere: what was said, the home with its ledger, blobs and agents.
	agent := filepath.Join(h.dir, "quests/shop/agents/agent-0")
	for _, seen := range []string{"env.txt", "processes.txt", "agent.txt"} {
		if data, err := os.ReadFile(filepath.Join(agent, seen)); err != nil || len(data) == 0 {
			t.Errorf("the computer was not looked at: %v", err)
		}
	}
	if strings.Contains(l.out+l.errOut+said, registryCanary) {
		t.Error("the credential is in what was printed")
	}
	canary.Nowhere(t, h.dir, registryCanary, "PRIVATE KEY")
	if lock, err := os.ReadFile(filepath.Join(agent, "package-lock.json")); err != nil || !strings.Contains(string(lock), at+"/left-pad") {
		t.Errorf("the lock file names another place than the registry: %v\n%s", err, lock)
	}

	t.Run("SaysWhatMayBeMissing", func(t *testing.T) {
		h := h.in(t)
		h.env = without
		h.run("run", "empty.yaml").want(t, 1, "hold no credential", "SHOP_TOKEN")
		h.run("config", "show").want(t, 0, "set SHOP_TOKEN", shop.host())
		h.env = append(without, "SHOP_TOKEN="+registryCanary)
		h.run("run", "open.yaml").want(t, 1, "an open network has none", "exit code 4")
		h.run("config", "show").want(t, 0, "SHOP_TOKEN is there")
	})
	t.Run("LeavesQuestsAloneThatDoNotReachIt", func(t *testing.T) {
		h := h.in(t)
		l := h.run("run", "unlisted.yaml")
		l.want(t, 1, "exit code 5")
		if strings.Contains(l.out+l.errOut, "credential") {
			t.Errorf("it speaks of credentials: %s%s", l.out, l.errOut)
		}
	})
	t.Run("GivesAStrangersQuestNothing", func(t *testing.T) {
		h := h.in(t)
		crate := filepath.Join(t.TempDir(), "shop.zip")
		h.ok("export", "empty", crate)
		h.ok("import", crate, "--as", "stranger")
		before := shop.asked()
		h.run("run", "stranger", "--allow-host", shop.host()+","+shop.Listener.Addr().String()).want(t, 1, "came from elsewhere, and gets no credentials")
		if got := strings.TrimPrefix(shop.asked(), before); strings.Contains(got, registryCanary) {
			t.Errorf("a stranger's command had the credential used: %s", got)
		}
	})
}
