package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/canary"
	"lyceum/internal/mcp/login/logintest"
)

// drawer is a secret-tool that keeps secrets in a folder.
const drawer = `#!/bin/sh
verb=$1
for account; do :; done
file=$DRAWER/$(printf %s "$account" | tr -c A-Za-z0-9 _)
case $verb in
store) cat > "$file" ;;
lookup) [ -f "$file" ] && cat "$file" ;;
clear) rm -f "$file" ;;
esac
`

// TestALoginToAServer: a person logs in to an MCP server once, and quests use it from then on.
// No token is ever in the home, or on the terminal.
func TestALoginToAServer(t *testing.T) {
	t.Parallel()
	p := logintest.New(t)
	p.Echo = true // a server that gives away what it was told
	h := newHome(t, map[string]string{
		"quest.yaml":      "name: q\nproblem: What is it?\nmodel: script:plan.yaml\n",
		"plan.yaml":       "rules:\n  - on: {turn: 1}\n    call: [{tool: behind__secret, args: {}}]\n  - on: {turn: 2}\n    say: \"Done.\"\n",
		"bin/xdg-open":    "#!/bin/sh\necho \"$1\" >\"$OPENED\"\n",
		"bin/secret-tool": drawer,
	})
	opened, kept := filepath.Join(h.work, "opened"), filepath.Join(h.work, "kept")
	must(t, os.Mkdir(kept, 0o700))
	must(t, syscall.Mkfifo(opened, 0o600))
	for _, program := range []string{"xdg-open", "secret-tool"} {
		must(t, os.Chmod(filepath.Join(h.work, "bin", program), 0o700))
	}
	h.env = []string{"OPENED=" + opened, "DRAWER=" + kept, "PATH=" + filepath.Join(h.work, "bin") + ":" + os.Getenv("PATH")}
	must(t, os.MkdirAll(h.dir, 0o700))
	config := fmt.Sprintf("private_addresses: [%q, %q]\nmcp:\n  behind: {url: %s}\n", p.Private()[0], p.Private()[1], p.URL())
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(config), 0o600))

	h.run("run", "quest.yaml", "--name", "before").want(t, 0)
	if trace := h.ok("trace", "before", "--json"); !strings.Contains(trace, "a person runs: lyceum mcp login behind") {
		t.Errorf("a quest without the login does not say what to do: %s", trace)
	}
	h.run("mcp", "list").want(t, 0, "behind", "none")
	h.run("mcp", "login").want(t, 2, "which server?")
	h.run("mcp", "login", "other").want(t, 2, "has no server", "behind")
	h.run("mcp", "login", "--url", "ftp://x").want(t, 2, "is no address")

	agreed := make(chan error, 1)
	go func() {
		page, err := os.ReadFile(opened)
		if err == nil {
			err = logintest.Agree(strings.TrimSpace(string(page)))
		}
		agreed <- err
	}()
	said := h.run("mcp", "login", "behind")
	said.want(t, 0, "Logged in to behind, by "+p.Auth.URL, "It has 1 tool.", strings.TrimPrefix(p.Auth.URL, "http://"))
	must(t, <-agreed)
	h.run("mcp", "list").want(t, 0, "behind", "logged in")
	h.run("mcp", "list", "--json").want(t, 0, `"login": "logged in"`, p.Auth.URL)
	for _, name := range []string{"after", "renewed"} {
		h.run("run", "quest.yaml", "--name", name).want(t, 0, "Done.")
		if trace := h.ok("trace", name, "--json"); !strings.Contains(trace, p.Word+" Bearer [key]") {
			t.Errorf("quest %s had nothing of the server: %s", name, trace)
		}
		h.sound(name)
		p.Void() // the next has to renew it
	}
	if asked := p.Asked(); asked[len(asked)-1].Get("grant_type") != "refresh_token" {
		t.Errorf("tokens were asked for with %v, want a refresh at last", asked)
	}
	canary.Nowhere(t, h.dir, p.Given()...)
	for _, token := range p.Given() {
		if strings.Contains(said.out+said.errOut, token) {
			t.Error("a token was printed")
		}
	}
	h.run("mcp", "logout", "behind").want(t, 0, "out of the keyring")
	h.run("mcp", "logout", "behind").want(t, 0, "There is no login to behind")
	if left, err := os.ReadDir(kept); err != nil || len(left) != 0 {
		t.Errorf("the keyring has %v, %v", left, err)
	}
	h.run("run", "quest.yaml", "--name", "afterwards").want(t, 0)
	if trace := h.ok("trace", "afterwards", "--json"); strings.Contains(trace, p.Word) {
		t.Error("a quest used a login that has ended")
	}
	h.env[1] = "DRAWER=/nowhere"
	h.run("mcp", "login", "behind").want(t, 1, "keyring")
}
