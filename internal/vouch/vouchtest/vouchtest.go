// Package vouchtest has what tests of vouching need from outside: an authority for time stamps that
// somebody else's program is.
package vouchtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Authority runs openssl ts behind a handler and returns where it is. The certificate that its stamps
// lead to is ca.pem in dir. The caller asks need.Program for openssl.
func Authority(t testing.TB, dir string) string {
	t.Helper()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("openssl", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("openssl %v: %v\n%s", args, err, out)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "tsa.cnf"), []byte(`[tsa]
default_tsa = own
[own]
serial = serial
crypto_device = builtin
signer_cert = tsa.pem
certs = ca.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
[ext]
extendedKeyUsage = critical,timeStamping
basicConstraints = CA:false
`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "serial"), []byte("01\n"), 0o600))
	run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Test Root", "-days", "30", "-keyout", "ca.key", "-out", "ca.pem")
	run("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Test Authority", "-keyout", "tsa.key", "-out", "tsa.csr")
	run("x509", "-req", "-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-extfile", "tsa.cnf", "-extensions", "ext", "-out", "tsa.pem")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Type") != "application/timestamp-query" || os.WriteFile(filepath.Join(dir, "query"), body, 0o600) != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		cmd := exec.Command("openssl", "ts", "-reply", "-config", "tsa.cnf", "-section", "own", "-queryfile", "query", "-out", "reply")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("openssl ts -reply: %v\n%s", err, out)
		}
		http.ServeFile(w, r, filepath.Join(dir, "reply"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
