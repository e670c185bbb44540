package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
)

// served is a lyceum serve that runs.
type served struct {
	*process
	home   *home
	url    string
	client *client.Client
	// lines are what it prints after its link.
	lines <-chan string
}

// line is the next that it prints.
func (s *served) line() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(patience):
		s.t.Fatal("it says nothing more")
		return ""
	}
}

// serve starts a server and waits for its link.
func (h *home) serve(args ...string) *served {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p := &process{t: h.t, cmd: h.command(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...), cancel: cancel}
	if h.files > 0 {
		shell := []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, h.files), "sh"}
		p.cmd.Path, p.cmd.Args = "/bin/sh", append(shell, p.cmd.Args...)
	}
	p.cmd.Stderr = &p.errOut
	out, err := p.cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, p.cmd.Start())
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	if err != nil {
		h.t.Fatalf("lyceum serve: %v: %s", err, p.errOut.String())
	}
	lines := make(chan string, 10)
	go func() {
		defer close(lines)
		for line, err := in.ReadString('\n'); err == nil; line, err = in.ReadString('\n') {
			lines <- strings.TrimSpace(line)
		}
	}()
	u, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(line, "Lyceum is at ")))
	must(h.t, err)
	token, err := api.ReadToken(h.dir)
	must(h.t, err)
	s := &served{process: p, home: h, lines: lines, client: client.New(fmt.Sprintf("%s://%s", u.Scheme, u.Host), token)}
	s.url = u.String()
	h.t.Cleanup(s.client.Close)
	return s
}

// slow makes and starts the quest that takes its time.
func (s *served) slow() { s.begin(slowPlan) }

func (s *served) begin(plan string) {
	s.t.Helper()
	_, err := s.client.Create(context.Background(), api.NewQuest{YAML: slowQuest, Start: true, Files: []api.NewFile{{Path: "plan.yaml", Text: &plan}}})
	must(s.t, err)
}

// end follows a quest to its end.
func (s *served) end(name string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for sig, err := range s.client.Follow(ctx, name, 0) {
		must(s.t, err)
		if sig.Kind == "end" {
			return
		}
	}
	s.t.Fatalf("no end of %s: %s", name, s.errOut.String())
}

func TestAServerThatEndsGoesOnWithItsQuests(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			first := h.serve()
			first.slow()
			h.await("slow", "model.call", 2)
			first.signal(sig)
			if sig == syscall.SIGHUP {
				first.signal(sig) // a terminal that ends may say so twice
			}
			if l := first.wait(); sig != syscall.SIGKILL {
				l.want(t, 0, "Quests that ran go on with the next: lyceum serve")
			}
			second := h.serve()
			second.end("slow")
			if s := h.show("slow"); s.Status != "finished" {
				t.Errorf("the quest is %+v", s)
			}
			h.sound("slow")
			second.signal(syscall.SIGTERM)
			second.wait().want(t, 0, "Going on with quest slow.")
			third := h.serve()
			third.signal(syscall.SIGINT)
			if l := third.wait(); l.code != 0 || strings.Contains(l.errOut, "Going on") {
				t.Errorf("a finished quest is gone on with: %d %s", l.code, l.errOut)
			}
		})
	}
}

func TestTheCommandLineActsOnTheServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": steps(30)})
	s := h.serve()
	h.ok("create", "quest.yaml")
	run := h.start("run", "slow")
	h.await("slow", "model.call", 1)
	h.run("run", "slow").want(t, 1, "runs already")
	h.run("pause", "slow").want(t, 0, "Told the process")
	h.await("slow", "quest.paused", 1)
	h.run("resume", "slow").want(t, 0, "Told the process")
	run.wait().want(t, 0, "It runs in lyceum serve.", "Done.")
	h.sound("slow")
	third := h.start("run", "quest.yaml", "--name", "third")
	h.await("third", "model.call", 1)
	h.run("stop", "third").want(t, 0, "Told the process that runs third to stop.")
	h.await("third", "quest.stopped", 1)
	third.wait()
	h.run("run", "quest.yaml", "--name", "another", "--max-turns", "50").want(t, 0, "It runs in lyceum serve.", "Done.")
	h.sound("another")
	s.signal(syscall.SIGTERM)
	s.wait().want(t, 0)
	if note, err := os.ReadFile(filepath.Join(h.dir, "server")); err != nil || len(note) > 0 {
		t.Errorf("where the server was is still noted: %q %v", note, err)
	}
	h.run("run", "slow").want(t, 0, "is finished already")
}

func TestServeOpensThePage(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"bin/xdg-open": "#!/bin/sh\necho \"$1\" >\"$OPENED\"\n"})
	must(t, os.Chmod(filepath.Join(h.work, "bin", "xdg-open"), 0o700))
	opened := filepath.Join(h.work, "opened")
	must(t, syscall.Mkfifo(opened, 0o600))
	h.env = []string{"OPENED=" + opened, "PATH=" + filepath.Join(h.work, "bin") + ":" + os.Getenv("PATH")}
	got := make(chan string, 1)
	go func() {
		link, err := os.ReadFile(opened)
		got <- strings.TrimSpace(string(link)) + fmt.Sprint(err)
	}()
	s := h.serve("--open")
	select {
	case link := <-got:
		// Everybody on the machine can read what a program is called with: the browser gets
		// a pass that opens once, and not the token.
		at, pass, ok := strings.Cut(link, "?token=")
		if printed, other, _ := strings.Cut(s.url, "?token="); !ok || at != printed || strings.Contains(pass, other) || strings.Contains(link+s.url, s.token()) {
			t.Fatalf("it opens %s, and prints %s", link, s.url)
		}
		c := s.calling(nil)
		first, _ := c.ask("GET", "/?token="+strings.TrimSuffix(pass, "<nil>"))
		second, _ := c.ask("GET", "/?token="+strings.TrimSuffix(pass, "<nil>"))
		if first.StatusCode != 303 || first.Header.Get("Set-Cookie") == "" || second.StatusCode != 401 {
			t.Errorf("the pass opens with %d, and again with %d", first.StatusCode, second.StatusCode)
		}
	case <-time.After(patience):
		t.Error("it opens nothing")
	}
	s.signal(syscall.SIGTERM)
	s.wait().want(t, 0)
	h.run("serve", "--help").want(t, 0, `"127.0.0.1:7420"`)
}

func TestAnInterruptedRunLeavesTheQuestToTheServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	s := h.serve()
	h.ok("create", "quest.yaml")
	run := h.start("run", "slow", "--max-turns", "100")
	h.await("slow", "model.call", 2)
	run.signal(syscall.SIGINT)
	run.wait().want(t, 130, "goes on in the server")
	s.end("slow")
	if q := h.show("slow"); q.Status != "finished" {
		t.Errorf("the quest is %+v", q)
	}
	s.signal(syscall.SIGTERM)
	s.wait().want(t, 0)
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	// The reason, and every way out of it.
	h.run("serve", "--listen", "[::]:0").want(t, 2, "is not on loopback", "could read the token", "--tls-cert and --tls-key", "--behind-proxy", "127.0.0.1")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--listen", "0.0.0.0:0"}, "is not on loopback"},
		{[]string{"--listen", "192.0.2.1:0"}, "is not on loopback"},
		{[]string{"--listen", ":0"}, "is not on loopback"},
		{[]string{"--listen", "example.org:0"}, "is not on loopback"},
		{[]string{"--listen", "nonsense"}, "want an address and a port"},
		{[]string{"--tls-cert", "x"}, "go together"},
		{[]string{"--tls-cert", "x", "--tls-key", "y"}, "--tls-cert"},
	} {
		h.run(append([]string{"serve"}, c.args...)...).want(t, 2, c.says)
	}
	s := h.serve("--listen", "127.0.0.1:0")
	u, err := url.Parse(s.url)
	must(t, err)
	newHome(t, nil).run("serve", "--listen", u.Host).want(t, 1, "is taken")
	info, err := os.Stat(filepath.Join(h.dir, "token"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the token's mode is %v", info.Mode())
	}
	s.signal(syscall.SIGTERM)
	s.wait().want(t, 0)
}
