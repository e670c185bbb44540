package computertest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/fs"
	"lyceum/internal/computer"
	"lyceum/internal/need"
	"lyceum/internal/workspace"
)

// others is long: it is a list of short tests, each on its own.
func (l *lab) others(t *testing.T) {
	t.Parallel()
	t.Run("OfAWrongSpecIsRefused", func(t *testing.T) {
		t.Parallel()
		serve := func(context.Context, io.ReadWriteCloser) {}
		for what, c := range map[string]struct {
			spec computer.Spec
			opts computer.Options
			word string
		}{
			"another driver":          {computer.Spec{Driver: "abacus"}, computer.Options{}, "abacus"},
			"less than no memory":     {computer.Spec{Limits: computer.Limits{Memory: -1}}, computer.Options{}, "memory"},
			"a byte of memory":        {computer.Spec{Limits: computer.Limits{Memory: 1}}, computer.Options{}, "memory"},
			"one process":             {computer.Spec{Limits: computer.Limits{Processes: 1}}, computer.Options{}, "processes"},
			"no time":                 {computer.Spec{Limits: computer.Limits{Wall: -time.Second}}, computer.Options{}, "wall"},
			"two networks":            {computer.Spec{Network: computer.Network{Open: true, Allow: []string{"example.org"}}}, computer.Options{Serve: serve}, "network"},
			"a filter without filter": {computer.Spec{Network: computer.Network{Allow: []string{"example.org"}}}, computer.Options{}, "network"},
			"a way out to write to":   {computer.Spec{Bounds: workspace.Bounds{Write: []string{"../other"}}}, computer.Options{}, "allow_write"},
			"the host to write to":    {computer.Spec{Bounds: workspace.Bounds{Write: []string{"/etc"}}}, computer.Options{}, "allow_write"},
			"a path to hide":          {computer.Spec{Bounds: workspace.Bounds{Hide: []string{"a/.env"}}}, computer.Options{}, "deny_read"},
			"everything to hide":      {computer.Spec{Bounds: workspace.Bounds{Hide: []string{"*"}}}, computer.Options{}, "deny_read"},
			"a port of no name":       {computer.Spec{Ports: []string{""}}, computer.Options{}, "port"},
			"a port with a bad name":  {computer.Spec{Ports: []string{"Gate=Way"}}, computer.Options{}, "Gate=Way"},
			"a port named proxy":      {computer.Spec{Ports: []string{"proxy"}}, answering("proxy"), "proxy"},
			"a port twice":            {computer.Spec{Ports: []string{"mcp", "mcp"}}, answering("mcp"), "mcp"},
			"too many ports":          {computer.Spec{Ports: make([]string, 17)}, computer.Options{}, "17"},
			"a port without answer":   {computer.Spec{Ports: []string{"mcp"}}, computer.Options{}, "mcp"},
			"a port with no handler":  {computer.Spec{Ports: []string{"mcp"}}, computer.Options{Ports: map[string]computer.Port{"mcp": {}}}, "handler"},
			"an answer without port":  {computer.Spec{}, answering("mcp"), "mcp"},
		} {
			s := c.spec
			s.Dockerfile = l.opts.Spec.Dockerfile
			p := place(t)
			got, err := computer.Open(soon(t), l.driver, p, s, c.opts)
			refused(t, what, err, c.word)
			if err == nil {
				_ = got.Stop(soon(t))
			}
			if n := inhabitants(t, p); len(n) > 0 {
				t.Errorf("%s: processes %v are there", what, n)
			}
		}
	})
	t.Run("IsAnotherOneIfAnotherIsAskedFor", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		kept := shell("echo up; sleep 1000")
		kept.Keep = true
		id := m.start(kept)
		m.seen(id, "up")
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := computer.Open(ended, l.driver, m.place, l.opts.Spec, computer.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("opening it with a context that has ended: %v", err)
		}
		m = l.at(t, m.place, l.opts.Spec, computer.Options{})
		if p, err := m.Processes(soon(t)); err != nil || len(p) != 1 || !p[0].Running {
			t.Errorf("found again: %+v, %v", p, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		s := l.opts.Spec
		s.Limits.Processes = 77
		m = l.at(t, m.place, s, computer.Options{})
		if r := m.wait(id); r.End != computer.EndStopped || string(r.Stdout.Head) != "up\n" {
			t.Errorf("what was kept in the other: %s", told(r))
		}
		if n := m.Fingerprint().Limits.Processes; n != 77 {
			t.Errorf("its limit on processes is %d", n)
		}
	})
	t.Run("IsTheLastOwners", l.epochs)
	t.Run("HasAFingerprint", func(t *testing.T) {
		t.Parallel()
		print := func(change func(*computer.Spec)) computer.Fingerprint {
			s := l.opts.Spec
			change(&s)
			o := answering(s.Ports...)
			o.Serve = func(context.Context, io.ReadWriteCloser) {}
			return l.bootWith(t, s, o).Fingerprint()
		}
		first := print(func(*computer.Spec) {})
		if first.Driver != l.driver.Name() || first.Base == "" || first.Kernel == "" || first.Arch == "" || first.Limits != l.opts.Spec.Limits.OrDefault() {
			t.Errorf("it is %+v", first)
		}
		if again := print(func(s *computer.Spec) { s.Limits = computer.DefaultLimits }); again.Hash() != first.Hash() && l.opts.Spec.Limits == (computer.Limits{}) {
			t.Errorf("the same computer has another: %+v, %+v", first, again)
		}
		for what, change := range map[string]func(*computer.Spec){
			"less memory":    func(s *computer.Spec) { s.Limits.Memory = 1 << 30 },
			"less time":      func(s *computer.Spec) { s.Limits.Wall = time.Hour },
			"some network":   func(s *computer.Spec) { s.Network.Allow = []string{"example.org"} },
			"other network":  func(s *computer.Spec) { s.Network.Allow = []string{"example.com"} },
			"all of network": func(s *computer.Spec) { s.Network.Open = true },
			"a port":         func(s *computer.Spec) { s.Ports = []string{"mcp"} },
		} {
			if other := print(change); other.Hash() == first.Hash() {
				t.Errorf("%s does not change it: %+v", what, other)
			}
		}
	})
	t.Run("HasTheTools", l.tools)
	t.Run("HasFoldersToRead", l.folders)
	t.Run("KeepsFoldersOfTheHomeAsTheyAre", l.fixed)
	t.Run("HidesFilesOfTheHome", l.hides)
	t.Run("WritesWhereItMay", l.writes)
	t.Run("OfBoundsThatCannotBeHeldIsRefused", l.noBounds)
	t.Run("ShowsThisProgram", l.shows)
	t.Run("IsSnapshotAndRestored", l.snapshots)
}

func (l *lab) tools(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	for _, tool := range l.opts.Tools {
		var got, want string
		switch tool {
		case "sh":
			got, want = m.sh("echo $((6*7))"), "42\n"
		case "python3":
			r := m.run(computer.Command{Args: []string{"python3", "-c", "import json, math, ssl, sqlite3, threading, subprocess as s; print(s.run(['echo', '42'], capture_output=True).stdout.decode(), end='')"}})
			got, want = string(r.Stdout.Head), "42\n"
			if r.Exit != 0 {
				t.Errorf("a program of Python's: got %s, want exit 0", told(r))
			}
		case "git":
			got = m.sh(`git init -q repo && cd repo && git config user.name agent && git config user.email agent@example.org &&
				echo one > file && git add file && git commit -q -m first && git clone -q . ../clone && cd ../clone && git log --format=%s`)
			want = "first\n"
		default:
			t.Errorf("the suite does not know what %s is for", tool)
		}
		if got != want {
			t.Errorf("%s says %q", tool, got)
		}
	}
}

func (l *lab) snapshots(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	m.sh(`mkdir -p a/b/c empty; echo hello > a/file; printf '#!/bin/sh\n' > a/prog; chmod 755 a/prog; ln -s /etc/shadow out; ln -s a/file in
		ln -s /proc/1/root root; i=0; while [ $i -lt 200 ]; do echo $i > a/b/$i; i=$((i+1)); done; mkfifo pipe; chmod 700 a`)
	if l.opts.has("python3") {
		m.sh(`python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.bind('socket')"`)
	}
	store, err := fs.Open(filepath.Join(t.TempDir(), "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ref, index, left, err := blob.Snapshot(soon(t), store, m.Home(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range left {
		names = append(names, s.Path)
	}
	slices.Sort(names)
	want := []string{"pipe"}
	if l.opts.has("python3") {
		want = append(want, "socket")
	}
	if !slices.Equal(names, want) {
		t.Errorf("left out are %v, want %v", left, want)
	}
	m.sh("rm -rf a/b in pipe socket; echo changed > a/file; mkdir new; touch new/file; chmod 644 a/prog")
	changed, _, _, err := blob.Snapshot(soon(t), store, m.Home(), index)
	if err != nil || changed.Hash == ref.Hash {
		t.Errorf("after changes the tree is %v (%v)", changed, err)
	}
	// Into the same home, and into that of a new computer.
	fresh := l.boot(t)
	for which, at := range map[string]*machine{"the same": m, "a new": fresh} {
		if err := blob.Restore(soon(t), store, ref, at.Home()); err != nil {
			t.Fatal(err)
		}
		again, _, _, err := blob.Snapshot(soon(t), store, at.Home(), nil)
		if err != nil || again != ref {
			t.Errorf("restored to %s home the tree is %v, not %v (%v)", which, again, ref, err)
		}
		// What was restored is the agent's to use, once the computer is opened anew.
		if err := at.Stop(soon(t)); err != nil {
			t.Fatal(err)
		}
		at = l.at(t, at.place, l.opts.Spec, computer.Options{})
		if got := at.sh("cat a/file; readlink out; ls a/b | wc -l; echo mine >> a/file; a/prog && rm -rf a && ls"); got != "hello\n/etc/shadow\n201\nempty\nin\nout\nroot\n" {
			t.Errorf("restored to %s home there is %q", which, got)
		}
	}
}

func (l *lab) network(t *testing.T) {
	t.Parallel()
	t.Run("IsNone", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		if got := m.sh("tail -n +2 /proc/net/route; ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '"); strings.TrimSpace(strings.ReplaceAll(got, "lo\n", "")) != "" {
			t.Errorf("it has routes or devices: %q", got)
		}
		if r := m.run(computer.Command{Args: []string{"getent", "hosts", "example.org"}, Timeout: 10 * time.Second}); r.Exit == 0 || r.End != "" {
			t.Errorf("a name of the internet: %s", told(r))
		}
		if !l.opts.has("python3") {
			return
		}
		r := m.run(python(`
import socket
for address in [('1.1.1.1', 53), ('10.0.0.1', 80), ('169.254.169.254', 80), ('2606:4700:4700::1111', 53)]:
    s = socket.socket(socket.AF_INET6 if ':' in address[0] else socket.AF_INET)
    s.settimeout(3)
    try:
        s.connect(address)
        print('connected to', address)
    except OSError as e:
        print(e.errno)
`))
		if strings.Contains(string(r.Stdout.Head), "connected") || strings.Count(string(r.Stdout.Head), "\n") != 4 {
			t.Errorf("a computer without network: got %s, want four refusals", told(r))
		}
	})
	t.Run("OfItsOwnWorks", func(t *testing.T) {
		t.Parallel()
		if !l.opts.has("python3") {
			need.Missing(t, "the computers of this driver have no python3: name it among its tools")
		}
		m := l.boot(t)
		r := m.run(python(`
import socket, threading
for family, address in [(socket.AF_INET, '127.0.0.1'), (socket.AF_INET, 'localhost')]:
    l = socket.socket(family)
    l.bind((address, 0))
    l.listen()
    c = socket.create_connection(l.getsockname())
    s, _ = l.accept()
    s.sendall(b'hello')
    print(c.recv(5).decode())
`))
		if string(r.Stdout.Head) != "hello\nhello\n" {
			t.Errorf("a server of its own: got %s, want two answers", told(r))
		}
	})
	t.Run("IsThroughTheProxyOnly", l.proxied)
	t.Run("HasPortsWithTokens", l.ports)
	t.Run("HasPortsBesideTheProxy", l.portsBesideProxy)
	t.Run("IsOpenAndPortsNeedTokens", l.openPorts)
}

func python(script string) computer.Command {
	return computer.Command{Args: []string{"python3", "-c", script}}
}

func (l *lab) proxied(t *testing.T) {
	t.Parallel()
	if !l.opts.has("python3") {
		need.Missing(t, "the computers of this driver have no python3: name it among its tools")
	}
	s := l.opts.Spec
	s.Network.Allow = []string{"example.org"}
	// Each connection is answered line by line, until the program has no more.
	serve := func(_ context.Context, c io.ReadWriteCloser) {
		in := bufio.NewScanner(c)
		for in.Scan() {
			_, _ = io.WriteString(c, strings.ToUpper(in.Text())+"\n")
		}
		_, _ = io.WriteString(c, "end\n")
	}
	m := l.bootWith(t, s, computer.Options{Serve: serve})
	if got := m.sh("echo $http_proxy $HTTPS_PROXY"); got != "http://127.0.0.1:3128 http://127.0.0.1:3128\n" {
		t.Errorf("the proxy is %q", got)
	}
	const talk = `
import socket, threading
def talk(n):
    c = socket.create_connection(('127.0.0.1', 3128), 20)
    c.sendall(b'hello %d\n' % n)
    f = c.makefile()
    first = f.readline()
    c.shutdown(socket.SHUT_WR)
    answers[n] = first + f.read()
answers = [None] * 20
all = [threading.Thread(target=talk, args=(n,)) for n in range(20)]
for t in all: t.start()
for t in all: t.join()
assert answers == ['HELLO %d\nend\n' % n for n in range(20)], answers
try:
    socket.create_connection(('1.1.1.1', 53), 3)
    print('connected')
except OSError:
    print('ok')
`
	for range 2 {
		if r := m.run(python(talk)); string(r.Stdout.Head) != "ok\n" {
			t.Errorf("through the proxy: got %s, want ok", told(r))
		}
		// The next Lyceum serves too; what the last one had lent is of no use.
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = l.at(t, m.place, s, computer.Options{Serve: serve, Found: true})
	}
}
