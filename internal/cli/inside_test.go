package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"
)

// TestInsideAComputer has an agent try what it can do with the program that it is shown.
func TestInsideAComputer(t *testing.T) {
	t.Parallel()
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	t.Cleanup(func() { _ = d.Close() })
	dir := t.TempDir()
	place := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	if err := os.Mkdir(place.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := computer.Open(t.Context(), d, place, computer.Spec{Program: true}, computer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.WithoutCancel(t.Context())) })
	for what, test := range map[string]struct {
		args string
		want string
	}{
		"ACommand":    {"list", "has no commands here"},
		"AHome":       {"--home /home/agent/x serve", "has no commands here"},
		"Nothing":     {"", "has no commands here"},
		"TheHelper":   {"lyceum-helper {}", "must be its first process"},
		"AnotherCell": {"lyceum-helper cell / {}", "made by Lyceum, not by hand"},
		"TheBridge":   {"bridge", "LYCEUM_TOOLS_TOKEN"},
		"AVersion":    {"version", "has no commands here"},
	} {
		t.Run(what, func(t *testing.T) {
			r, err := c.Run(t.Context(), computer.Command{ID: what, Args: append([]string{computer.Program}, strings.Fields(test.args)...), Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if said := string(r.Stderr.Head); r.Exit == 0 || !strings.Contains(said, test.want) {
				t.Errorf("%s inside a computer: exit %d, %q, want a refusal: %s", test.args, r.Exit, said, test.want)
			}
		})
	}
}
