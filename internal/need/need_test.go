package need

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// outcome is a test that only keeps what it came to.
type outcome struct {
	testing.TB
	failed, skipped string
}

func (o *outcome) Helper()      {}
func (o *outcome) Name() string { return "TestOfAnother" }
func (o *outcome) Skip(args ...any) {
	o.skipped = fmt.Sprint(args...)
	panic(o)
}
func (o *outcome) Fatalf(format string, args ...any) {
	o.failed = fmt.Sprintf(format, args...)
	panic(o)
}

// of says what a test came to that asks for something.
func of(ask func(testing.TB)) (o *outcome) {
	o = &outcome{}
	defer func() {
		if v := recover(); v != nil && v != any(o) {
			panic(v)
		}
	}()
	ask(o)
	return o
}

// Not parallel: the environment is the process's.
func TestWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(All, "")
	list := filepath.Join(t.TempDir(), "left-out")
	t.Setenv(LeftOut, list)
	if err := os.WriteFile(list, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	program := func(t testing.TB) { Program(t, "tmux") }
	other := func(t testing.TB) { Elsewhere(t, "there is one processor") }

	o := of(program)
	if o.failed != "" || o.skipped != "there is no tmux: apt-get install tmux" {
		t.Errorf("on a laptop without tmux: got failure %q, skip %q, want it left out with how to get it", o.failed, o.skipped)
	}
	t.Setenv(All, "1")
	o = of(program)
	if o.skipped != "" || !strings.Contains(o.failed, "apt-get install tmux") {
		t.Errorf("where everything is said to be there, without tmux: got failure %q, skip %q, want a failure with how to get it", o.failed, o.skipped)
	}
	if o = of(other); o.failed != "" || o.skipped == "" {
		t.Errorf("a test of another machine where everything is said to be there: got failure %q, skip %q, want it left out", o.failed, o.skipped)
	}
	got, err := os.ReadFile(list)
	if want := "TestOfAnother: there is no tmux: apt-get install tmux\nTestOfAnother: there is one processor\n"; err != nil || string(got) != want {
		t.Errorf("the list of what was left out: got %q and %v, want %q", got, err, want)
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	if o = of(other); o.failed == "" {
		t.Error("a list that cannot be written to: the test is left out, want a failure")
	}
}

func TestAProgramThatIsHereIsFound(t *testing.T) {
	t.Parallel()
	if o := of(func(t testing.TB) { Programs(t, "sh", "sed") }); o.failed != "" || o.skipped != "" {
		t.Errorf("sh and sed: got failure %q, skip %q, want both found", o.failed, o.skipped)
	}
}

// TestPackagesAreThoseOfTheSetup: what a test says it needs is what scripts/setup installs.
func TestPackagesAreThoseOfTheSetup(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../scripts/setup")
	if err != nil {
		t.Fatal(err)
	}
	installed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^need (\S+) (\S+) `).FindAllStringSubmatch(string(data), -1) {
		program, from := m[1], m[2]
		installed[from] = true
		if known, ok := packages[program]; ok && known != from {
			t.Errorf("scripts/setup gets %s from %s, the tests from %s", program, from, known)
		}
	}
	for program, from := range packages {
		if from != "" && !installed[from] {
			t.Errorf("scripts/setup does not install %s, in which %s is", from, program)
		}
	}
}

// Not parallel: the environment is the process's.
func TestTimes(t *testing.T) {
	t.Setenv(Faults, "")
	if n := Times(3, 100); n != 3 {
		t.Errorf("how often in make test: got %d, want the few times, 3", n)
	}
	t.Setenv(Faults, "1")
	if n := Times(3, 100); n != 100 {
		t.Errorf("how often in make faults: got %d, want all times, 100", n)
	}
}

// TestTimesAreAskedForByTests: make faults finds tests by their own call. One that asks
// through another function would never be repeated in full.
func TestTimesAreAskedForByTests(t *testing.T) {
	t.Parallel()
	function := regexp.MustCompile(`(?m)^func (\([^)]*\) )?(\w+)`)
	const call = "need" + ".Times(" // in two, or scripts/packages would take this for one
	found := 0
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || filepath.Dir(path) == filepath.Join("..", "need") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(data)
		for at, next := 0, 0; ; at += next + 1 {
			if next = strings.Index(text[at:], call); next < 0 {
				return nil
			}
			found++
			all := function.FindAllStringSubmatch(text[:at+next], -1)
			if len(all) == 0 || !strings.HasSuffix(path, "_test.go") || !strings.HasPrefix(all[len(all)-1][2], "Test") {
				t.Errorf("%s asks need.Times outside of a test: make faults would not find it; ask in the test itself", path)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("nobody asks need.Times: this test looks in the wrong place")
	}
}

// Not parallel: flags and arguments are the process's.
func TestAtATime(t *testing.T) {
	flags, args := flag.CommandLine, os.Args
	defer func() { flag.CommandLine, os.Args = flags, args }()
	cores := runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		told []string
		n    int
		want int
	}{{nil, cores + 3, cores + 3}, {nil, cores - 1, cores}, {[]string{"-test.parallel=1"}, cores + 3, 1}} {
		flag.CommandLine = flag.NewFlagSet("a.test", flag.ContinueOnError)
		got := flag.Int("test.parallel", cores, "")
		os.Args = append([]string{"a.test"}, c.told...)
		AtATime(c.n)
		if *got != c.want {
			t.Errorf("%d at a time, on %d cores, told %v: %d run at a time, want %d", c.n, cores, c.told, *got, c.want)
		}
	}
}

// Not parallel: the environment is the process's.
func TestAProofIsLeftOutAndTold(t *testing.T) {
	list := filepath.Join(t.TempDir(), "left-out")
	if err := os.WriteFile(list, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(LeftOut, list)
	t.Setenv(All, "1")
	t.Setenv(Proofs, "")
	proof := func(t testing.TB) { Proof(t, "it builds the program anew") }
	if o := of(proof); o.failed != "" || o.skipped != "left to make proofs: it builds the program anew" {
		t.Errorf("in make test: got failure %q, skip %q, want it left to make proofs", o.failed, o.skipped)
	}
	if told, err := os.ReadFile(list); err != nil || string(told) != "TestOfAnother: left to make proofs: it builds the program anew\n" {
		t.Errorf("what was left out says %q, %v; want the proof", told, err)
	}
	t.Setenv(Proofs, "1")
	if o := of(proof); o.failed != "" || o.skipped != "" {
		t.Errorf("in make proofs: got failure %q, skip %q, want it run", o.failed, o.skipped)
	}
}
