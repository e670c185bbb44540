package cli_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/canary"
)

// impostor listens where a server was, agrees with everything, and keeps what it was told.
type impostor struct {
	mu    sync.Mutex
	calls int
	heard bytes.Buffer
}

// at has the impostor listen on an address, by TLS if a configuration is given.
func (i *impostor) at(t *testing.T, address string, secure *tls.Config) string {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	must(t, err)
	if secure != nil {
		ln = tls.NewListener(ln, secure)
	}
	var talks sync.WaitGroup
	talks.Go(func() {
		for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
			talks.Go(func() { i.listen(conn) })
		}
	})
	t.Cleanup(func() { ln.Close(); talks.Wait() })
	return ln.Addr().String()
}

func (i *impostor) listen(conn net.Conn) {
	defer conn.Close()
	i.mu.Lock()
	i.calls++
	i.mu.Unlock()
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	said, _ := io.ReadAll(conn)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.heard.Write(said)
}

func (i *impostor) told() (calls int, heard string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls, i.heard.String()
}

// TestAnImpostor: nobody who listens where a server was, or is said to be, is told anything.
func TestAnImpostor(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.yaml": fmt.Sprintf(answered, "a"), "b.yaml": fmt.Sprintf(answered, "b")}
	t.Run("OnThePortsOfAServerThatWasKilled", func(t *testing.T) {
		t.Parallel()
		h := newHome(t, files)
		s := h.serve()
		note, err := client.Look(h.dir)
		must(t, err)
		s.signal(syscall.SIGKILL)
		s.wait()
		if left, err := os.ReadFile(filepath.Join(h.dir, "server")); err != nil || len(left) == 0 {
			t.Fatalf("no note is left behind (%q, %v): there is nothing to be misled by", left, err)
		}
		var i impostor
		page, err := url.Parse(note.Pages[0])
		must(t, err)
		i.at(t, page.Host, nil)
		i.at(t, note.Local, nil)
		l := h.run("run", "a.yaml")
		if l.want(t, 0); strings.Contains(l.errOut, "lyceum serve") {
			t.Errorf("the quest is said to run in a server: %s", l.errOut)
		}
		h.with("LYCEUM_TOKEN=lyceum_CANARY").run("run", "b.yaml").want(t, 0)
		h.run("serve", "--link").want(t, 1, "no lyceum server is up")
		if calls, heard := i.told(); calls > 0 || heard != "" {
			t.Errorf("the impostor was called %d times and told %q, want nothing", calls, heard)
		}
	})
	// Between the look at the note and the first word a server can die: the note is held, and
	// somebody else is there.
	for what, secure := range map[string]bool{"BehindANoteThatIsHeld": false, "WithACertificateBehindANoteThatIsHeld": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, files)
			must(t, os.MkdirAll(h.dir, 0o700))
			token, err := api.Token(h.dir)
			must(t, err)
			var conf *tls.Config
			if secure {
				cert, key, _ := certificate(t, "lab.example")
				pair, err := tls.LoadX509KeyPair(cert, key)
				must(t, err)
				conf = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
			}
			var i impostor
			place, err := client.Take(h.dir)
			must(t, err)
			defer place.Leave()
			must(t, place.Announce(client.Note{Local: i.at(t, "127.0.0.1:0", conf), Pages: []string{"http://127.0.0.1:1/"}}))
			h.run("run", "a.yaml").want(t, 0)
			h.with("LYCEUM_TOKEN=lyceum_CANARY").run("run", "b.yaml").want(t, 0)
			calls, heard := i.told()
			if calls == 0 {
				t.Error("nobody called the impostor: the test looks at nothing")
			}
			if strings.Contains(heard, token) || strings.Contains(heard, "CANARY") || secure && heard != "" || strings.Contains(heard, "HTTP") {
				t.Errorf("the impostor was told %q", heard)
			}
		})
	}
	t.Run("OfTheCommandLine", func(t *testing.T) {
		t.Parallel()
		h := newHome(t, nil)
		s := h.serve()
		defer s.stop()
		note, err := client.Look(h.dir)
		must(t, err)
		other, err := api.Mutual(strings.Repeat("0", 64))
		must(t, err)
		for what, conf := range map[string]*tls.Config{"no key": {InsecureSkipVerify: true}, "the key of another home": {InsecureSkipVerify: true, Certificates: other.Certificates}} {
			conn, err := tls.Dial("tcp", note.Local, conf)
			if err == nil {
				_, _ = fmt.Fprintf(conn, "GET /api/quests HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n", s.token())
				if said, _ := io.ReadAll(conn); len(said) > 0 {
					t.Errorf("one with %s is answered %q", what, said)
				}
				conn.Close()
			}
		}
	})
}

func TestAHomeHasOneServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"a.yaml": fmt.Sprintf(answered, "a")})
	s := h.serve()
	defer s.stop()
	at, _, _ := strings.Cut(s.url, "?")
	h.run("serve", "--listen", "127.0.0.1:0").want(t, 1, "a server of the home", at, "lyceum serve --link")
	// The first one's note is still there.
	h.run("run", "a.yaml").want(t, 0, "It runs in lyceum serve.")
	link := strings.TrimSpace(strings.TrimPrefix(h.ok("serve", "--link"), "Lyceum is at "))
	page, pass, _ := strings.Cut(link, "?token=")
	if page != at || strings.Contains(link, s.token()) {
		t.Errorf("the link is %s, want one to %s without the token", link, at)
	}
	c := s.calling(nil)
	first, _ := c.ask("GET", "/?token="+pass)
	second, _ := c.ask("GET", "/?token="+pass)
	if first.StatusCode != 303 || second.StatusCode != 401 {
		t.Errorf("the link opens with %d, and again with %d; want 303 and 401", first.StatusCode, second.StatusCode)
	}
}

// Whoever starts a server to outlive the terminal has it outlive the terminal.
func TestAServerUnderNohup(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"bin/nohup.sh": "trap '' HUP\nexec lyceum serve --listen 127.0.0.1:0\n"})
	cmd := exec.Command("sh", filepath.Join(h.work, "bin", "nohup.sh"))
	cmd.Env = append(os.Environ(), "LYCEUM_HOME="+h.dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	h.run("serve", "--link").want(t, 0, strings.Split(line, "?")[0])
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("a server under nohup ends with %v, want it to stop cleanly at SIGTERM alone", err)
	}
}

// A server reads config.yaml once. Whoever changes it meanwhile is told, by the server and by
// the command line that has it run a quest.
func TestAServerWhoseConfigurationHasChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"a.yaml": fmt.Sprintf(answered, "a"), "b.yaml": fmt.Sprintf(answered, "b")})
	s := h.serve()
	const says = "config.yaml has changed since the server was started"
	if l := h.run("run", "a.yaml"); strings.Contains(l.errOut, says) {
		t.Errorf("a configuration that has not changed is said to have: %s", l.errOut)
	}
	order := api.NewQuest{YAML: "name: c\nproblem: x\nmodel: mine/such\n"}
	if _, err := s.client.Create(t.Context(), order); err == nil || strings.Contains(err.Error(), says) {
		t.Errorf("a model that no configuration has: got %v, want an error that says nothing of a change", err)
	}
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("model: demo\nproviders:\n  mine: {api: openai, url: \"http://127.0.0.1:1/v1\"}\n"), 0o600))
	if _, err := s.client.Create(t.Context(), order); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("a model that the configuration has now: got %v, want that the server has not read it", err)
	}
	h.run("run", "b.yaml").want(t, 0, says, "start it again: lyceum serve")
	s.says(says)
	s.signal(syscall.SIGTERM)
	l := s.wait()
	if l.want(t, 0); strings.Count(l.errOut, says) != 1 {
		t.Errorf("the server says %q, want it to tell once", l.errOut)
	}
}

// TestTheTokenIsKeptLikeAKey: what an agent or a person says it is, no ledger has it.
func TestTheTokenIsKeptLikeAKey(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	must(t, os.MkdirAll(h.dir, 0o700))
	token, err := api.Token(h.dir)
	must(t, err)
	const scoped = "lyceum_CANARYCANARYCANARY"
	must(t, writeFolder(h.work, map[string]string{
		"quest.yaml": "name: q\nproblem: What is it?\nmodel: script:plan.yaml\ntools: [write_file]\n",
		"plan.yaml":  fmt.Sprintf("rules:\n  - on: {turn: 1}\n    say: \"I found %[1]s.\"\n    call: [{tool: write_file, args: {path: a.txt, content: \"%[1]s and %[2]s\"}}]\n  - say: \"It is %[1]s.\"\n", token, scoped),
	}))
	out := h.with("LYCEUM_TOKEN="+scoped).ok("run", "quest.yaml")
	if !strings.Contains(out, "[key]") {
		t.Errorf("the answer is %q, want one from which the token was taken", out)
	}
	found, err := canary.In(t.Context(), h.dir, token, scoped)
	must(t, err)
	if !slices.Equal(found, []string{"token"}) {
		t.Errorf("tokens are in %q, want the server's in its own file, and nothing else", found)
	}
}
