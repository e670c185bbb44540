package demo_test

// No race detector: its labs run programs in sandboxes.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/cli"
	"lyceum/internal/need"

	"github.com/go-json-experiment/json"
)

// asLyceum makes the test binary lyceum. Inside a computer it is what
// lyceum itself is there.
const asLyceum = "DEMO_TEST_AS_LYCEUM"

func TestMain(m *testing.M) {
	if code, played := cli.Inside(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); played {
		os.Exit(code)
	}
	if os.Getenv(asLyceum) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// lyceum runs the program with a home of its own.
func lyceum(t *testing.T, home string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asLyceum+"=1", "LYCEUM_HOME="+home, "GORACE=atexit_sleep_ms=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("lyceum %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// The examples under the real rules, in real computers.
func TestTheExamplesOfLabs(t *testing.T) {
	t.Parallel()
	need.Programs(t, "awk", "sort")
	for name, c := range map[string]struct {
		answer        string
		wrong, agents int
	}{
		"lab-number": {"121581", 1, 3},
		"lab-data":   {"north: 134.589; ridge: 89.126; river: 163.079", 2, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			lyceum(t, home, "run", filepath.Join("../../../examples", name, "quest.yaml"))
			var show struct {
				Status string `json:"status"`
				Answer string `json:"answer"`
				Votes  int    `json:"votes"`
				Papers struct {
					Published, Rejected, Submitted int
				} `json:"papers"`
				Best struct {
					Status       string `json:"status"`
					Votes        int    `json:"votes"`
					Reproduction struct {
						Status string `json:"status"`
					} `json:"reproduction"`
				} `json:"best"`
			}
			if err := json.Unmarshal([]byte(lyceum(t, home, "show", name, "--json")), &show, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatal(err)
			}
			if show.Status != "finished" || !strings.Contains(show.Answer, "**Answer: "+c.answer+"**") || !strings.Contains(show.Answer, "NOT a language model") {
				t.Errorf("%s with the answer\n%s", show.Status, show.Answer)
			}
			if b := show.Best; show.Votes != c.agents || b.Votes != c.agents || b.Status != "PUBLISHED" || b.Reproduction.Status != "same output twice" {
				t.Errorf("%d votes, the best paper is %+v", show.Votes, b)
			}
			if p := show.Papers; p.Rejected < 1 || p.Rejected > c.wrong || p.Published < 1 || p.Submitted != 0 {
				t.Errorf("papers of the lab: got %+v", p)
			}
			trace := lyceum(t, home, "trace", name)
			for _, want := range []string{`review\.submitted .* rejects .*: It does not hold`, `review\.submitted .* accepts .*: It holds`, `reproduction\.result .*same output twice`} {
				if !regexp.MustCompile(want).MatchString(trace) {
					t.Errorf("nothing like %s in\n%s", want, trace)
				}
			}
			if got := lyceum(t, home, "replay", name); !strings.Contains(got, "identical") {
				t.Errorf("the replay: got %s, want it identical", got)
			}
		})
	}
	t.Run("lab-real", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		lyceum(t, home, "create", "../../../examples/lab-real/quest.yaml", "--model", "demo") // without a key its own is refused
	})
}
