// Package tests tries the page in a browser. It is a module of its own: what drives
// Chromium is nothing that Lyceum itself needs.
package tests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	// The program is built by a process of its own. Only what is imported here tells go
	// test that a result of an older one is worth nothing.
	_ "lyceum/internal/cli"
	"lyceum/internal/need"
	"lyceum/web/tests/browsertest"
)

// root is the folder of Lyceum's go.mod.
const root = "../.."

// What the tests of this binary share: one build of lyceum, and one Chromium, in which
// each test has tabs of its own.
var (
	shared  string // a folder that goes with the process
	program = sync.OnceValues(func() (string, error) { return browsertest.Build(root, shared) })
	browser = sync.OnceValues(func() (*browsertest.Browser, error) {
		b, err := browsertest.Start()
		if err == nil {
			closeBrowser = b.Close
		}
		return b, err
	})
	closeBrowser = func() {}
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lyceum-page-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = dir
	if err := os.Setenv(hookVariable, hookSecret); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer func() { closeBrowser() }()
	// Most of these tests wait for a page to come to rest. Those that measure are not
	// parallel, and have the machine to themselves.
	need.AtATime(4)
	return m.Run()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// chromium returns the browser, or skips the test with how to get one.
func chromium(t testing.TB) *browsertest.Browser {
	t.Helper()
	b, err := browser()
	if errors.Is(err, browsertest.ErrNoChromium) {
		need.Missing(t, "%v", err)
	}
	must(t, err)
	return b
}

// home is one for a test alone.
func home(t testing.TB) browsertest.Home {
	t.Helper()
	chromium(t) // without it there is nothing to make ready
	bin, err := program()
	must(t, err)
	return browsertest.Home{Bin: bin, Dir: t.TempDir()}
}

// lyceum runs the program, which must succeed.
func lyceum(t testing.TB, h browsertest.Home, args ...string) string {
	t.Helper()
	out, err := h.Lyceum(args...)
	must(t, err)
	return out
}

// put writes files into a folder.
func put(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// folder puts files into a folder and returns the quest.yaml among them.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, put(dir, files))
	return filepath.Join(dir, "quest.yaml")
}

// serving are the servers that are up, by the folders of their homes. A home has one server,
// which the tests that only look at the home share; the last of them stops it.
var serving = struct {
	sync.Mutex
	all map[string]*use
}{all: map[string]*use{}}

type use struct {
	server *browsertest.Server
	tests  int
}

// serve serves a home until the test ends.
func serve(t testing.TB, h browsertest.Home) *browsertest.Server {
	t.Helper()
	serving.Lock()
	defer serving.Unlock()
	u := serving.all[h.Dir]
	if u == nil {
		s, err := h.Serve("127.0.0.1:0")
		must(t, err)
		u = &use{server: s}
		serving.all[h.Dir] = u
	}
	u.tests++
	t.Cleanup(func() {
		serving.Lock()
		defer serving.Unlock()
		if u.tests--; u.tests > 0 {
			return
		}
		delete(serving.all, h.Dir)
		if err := u.server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return u.server
}

// examples is a home in which the offline examples have run, made once. Tests of it only
// look.
var examples = sync.OnceValues(func() (browsertest.Home, error) {
	bin, err := program()
	h := browsertest.Home{Bin: bin, Dir: filepath.Join(shared, "examples")}
	for _, args := range [][]string{
		{"run", root + "/examples/thermal/quest.yaml"},
		{"create", root + "/examples/thermal/quest.yaml", "--name", "thermal-strict", "--audit", "strict"},
		{"run", "thermal-strict"},
		{"run", root + "/examples/demo-number/quest.yaml"},
		{"create", root + "/examples/primes/quest.yaml", "--name", "unstarted"},
	} {
		if err == nil {
			_, err = h.Lyceum(args...)
		}
	}
	return h, err
})

// readers serves the examples to a test that only looks.
func readers(t testing.TB) *browsertest.Server {
	t.Helper()
	chromium(t)
	h, err := examples()
	must(t, err)
	return serve(t, h)
}

// sandboxed skips a test whose agents work in computers if there can be none.
func sandboxed(t testing.TB) {
	t.Helper()
	need.Program(t, "bwrap")
}
