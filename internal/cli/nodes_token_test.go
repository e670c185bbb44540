package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// bare is another home on the same ledger and blobs, without a token.
func (h *home) bare() *home {
	h.t.Helper()
	n := h.node()
	must(h.t, os.Remove(filepath.Join(n.dir, api.TokenFile)))
	return n
}

// TestServersThatShareALedgerHaveOneToken: the first says which, by a variable or a file; one that comes with another is
// told what to do, and makes none.
func TestServersThatShareALedgerHaveOneToken(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("1a", 32), strings.Repeat("2b", 32)
	h, server := elsewhere(t, map[string]string{"quest.yaml": "name: secret\nproblem: Is " + one + " a prime?\nmodel: demo\ncomputer: none\n", "token": two + "\n"})
	first := h.with("LYCEUM_TOKEN=" + one)
	s := first.serve()
	if got, err := api.ReadToken(h.dir); err != nil || got != one {
		t.Fatalf("the home's token is %q (%v), want the one of LYCEUM_TOKEN", got, err)
	}
	must(t, s.client.Say(t.Context(), first.created("quest.yaml", "secret"), "Is it "+one+"?", ""))
	name, err := server.Named(t.Name())
	must(t, err)
	must(t, server.Exec(t.Context(), name, "DO $$ BEGIN ASSERT (SELECT count(*) FROM lyceum.events WHERE position('"+one+"'::bytea IN line) > 0) = 0, 'an event has the token'; "+
		"ASSERT (SELECT count(*) FROM lyceum.notes WHERE position('"+one+"'::bytea IN body) > 0) = 0, 'a note has the token'; END $$"))

	other := h.bare()
	other.run("serve", "--listen", "127.0.0.1:0").want(t, 1, "have another token than this one", "LYCEUM_TOKEN", "copy the file token", "--replace-token")
	other.nothingOf(api.TokenFile)
	other.with("LYCEUM_TOKEN="+two).run("serve", "--listen", "127.0.0.1:0").want(t, 1, "have another token than this one")
	other.with("LYCEUM_TOKEN=short").run("serve", "--listen", "127.0.0.1:0").want(t, 2, "LYCEUM_TOKEN: a server's token has 64 hex digits", "openssl rand -hex 32")
	other.with("LYCEUM_TOKEN_FILE=" + filepath.Join(h.dir, api.TokenFile)).serve().stop()
	other.serve().stop() // by what is in its home now
	s.stop()

	h.with("LYCEUM_TOKEN=lyceum_OFTHECOMMANDLINE").serve().stop()
	h.with("LYCEUM_TOKEN_FILE=" + filepath.Join(h.work, "token")).serve("--replace-token").stop()
	other.run("serve", "--listen", "127.0.0.1:0").want(t, 1, "have another token than this one")
	other.with("LYCEUM_TOKEN=" + two).serve().stop()
}

// created makes a quest, and returns its name.
func (h *home) created(file, name string) string {
	h.t.Helper()
	h.ok("create", file)
	return name
}
