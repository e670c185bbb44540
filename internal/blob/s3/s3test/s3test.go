// Package s3test lends real S3 servers to tests: one that keeps conditions and checksums, and one
// that ignores both. They are programs of a module of its own, so that Lyceum needs nothing of
// what they are made of; go builds them once and keeps them in its cache.
package s3test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/need"
)

// Kind is a sort of server.
type Kind string

const (
	// Strict refuses what a condition or a checksum speaks against.
	Strict Kind = "strict"
	// Lax ignores both.
	Lax Kind = "lax"
)

const (
	// Key and Secret are the credentials of every server.
	Key, Secret = "test", "test-secret"
	// Bucket is there from the beginning.
	Bucket = "blobs"
)

// Server is one that runs until its test ends.
type Server struct {
	// Endpoint is its address.
	Endpoint string
	// Dir has a folder for each bucket, with a file for each object.
	Dir string
}

// Start starts a server on loopback, with an empty bucket. With certificate and key, which are
// files, it speaks TLS; only the strict one can.
func Start(t testing.TB, kind Kind, certificate ...string) *Server {
	t.Helper()
	return StartAt(t, "127.0.0.1", kind, certificate...)
}

// StartAt is Start at another address of this machine.
func StartAt(t testing.TB, host string, kind Kind, certificate ...string) *Server {
	t.Helper()
	need.Program(t, "go")
	program, err := programs[kind]()
	if err != nil {
		need.Missing(t, "the %s S3 server cannot be built (%v): run go mod download in internal/blob/s3/s3test/servers with a network", kind, err)
	}
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.MkdirAll(filepath.Join(dir, Bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		// Somebody else may take the port before the server does.
		address := port(t, host)
		if try(t, program, append([]string{address, dir}, certificate...)) {
			scheme := "http"
			if len(certificate) > 0 {
				scheme = "https"
			}
			return &Server{Endpoint: scheme + "://" + address, Dir: dir}
		}
	}
	t.Fatalf("the %s S3 server did not listen on any of five ports", kind)
	return nil
}

// programs are those that were built, each once however many tests ask.
var programs = map[Kind]func() (string, error){
	Strict: sync.OnceValues(func() (string, error) { return build(Strict) }),
	Lax:    sync.OnceValues(func() (string, error) { return build(Lax) }),
}

// build returns where a program is, in the cache of go.
func build(kind Kind) (string, error) {
	dir, err := servers()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "tool", "-n", string(kind))
	cmd.Dir = dir
	// No race detector: it is only spoken to.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, lastLines(wrong.String(), 1))
	}
	return strings.TrimSpace(string(out)), nil
}

// servers is the folder of the programs. Tests begin in the folder of their package, somewhere below the module's;
// a build without paths does not know where its sources were.
func servers() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		found := filepath.Join(dir, "internal", "blob", "s3", "s3test", "servers")
		if _, missing := os.Stat(found); missing == nil {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("the test does not stand in a folder of the module")
		}
	}
	return "", err
}

func port(t testing.TB, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// try starts a server and waits until it answers, or has ended.
func try(t testing.TB, program string, args []string) bool {
	t.Helper()
	cmd := exec.Command(program, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it ends as it is told to, or what it said is shown
		close(gone)
	}()
	for late := time.After(time.Minute); ; {
		if c, err := net.DialTimeout("tcp", args[0], time.Second); err == nil {
			_ = c.Close()
			t.Cleanup(func() {
				_ = in.Close() // its end
				<-gone
				if t.Failed() {
					t.Logf("the server said:\n%s", lastLines(said.String(), 40))
				}
			})
			return true
		}
		select {
		case <-gone:
			t.Logf("%s ended: %s", filepath.Base(program), lastLines(said.String(), 10))
			return false
		case <-late:
			_ = in.Close() // its end
			t.Fatalf("the server does not answer after a minute")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
