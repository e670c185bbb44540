package cli_test

import (
	"bufio"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// TestTheAdapterOfTheDocuments runs the program that docs/api.md shows, with a token for one quest:
// it sees the quest from its first event to its last, answers what is asked, and gets nowhere else.
func TestTheAdapterOfTheDocuments(t *testing.T) {
	t.Parallel()
	need.Program(t, "python3")
	text, err := os.ReadFile("../../docs/api.md")
	must(t, err)
	_, section, _ := strings.Cut(string(text), "## A program of your own\n")
	_, section, _ = strings.Cut(section, "```python\n")
	program, _, ok := strings.Cut(section, "```\n")
	if !ok {
		t.Fatal("docs/api.md does not show the program")
	}
	if n := strings.Count(program, "\n"); n > 70 {
		t.Errorf("it has %d lines: an adapter is to be small", n)
	}
	h := newHome(t, doorFiles)
	s := h.serve()
	if l := h.run("run", "quest.yaml"); l.code != 3 {
		t.Fatalf("a run that waits ends with %d, want 3:\n%s", l.code, l.errOut)
	}
	secret := strings.TrimSpace(h.ok("token", "create", "--scope", "quest:door"))
	adapter := filepath.Join(t.TempDir(), "adapter.py")
	must(t, os.WriteFile(adapter, []byte(program), 0o600))
	link, err := url.Parse(s.url)
	must(t, err)
	at := link.Scheme + "://" + link.Host
	start := func(quest string) (*exec.Cmd, io.WriteCloser, *bufio.Reader, *strings.Builder) {
		c := exec.CommandContext(t.Context(), "python3", adapter, at, quest)
		c.Env = append(os.Environ(), "LYCEUM_TOKEN="+secret)
		said := &strings.Builder{}
		c.Stderr = said
		in, err := c.StdinPipe()
		must(t, err)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		return c, in, bufio.NewReader(out), said
	}
	c, in, out, said := start("door")
	shows := func(want string) {
		t.Helper()
		for {
			line, err := out.ReadString('\n')
			if strings.Contains(line, want) {
				return
			}
			if err != nil {
				t.Fatalf("it does not say %q: %v: %s", want, err, said)
			}
		}
	}
	for _, step := range [][2]string{{"Which colour?", "/choose green\n/choose blue\n"}, {"Why that one?", "/answer It lasts.\n"}, {"write_file", "/choose yes\n"}} {
		shows(step[0])
		_, err := io.WriteString(in, step[1])
		must(t, err)
	}
	shows("It is painted.")
	if err := c.Wait(); err != nil || !strings.Contains(said.String(), "! ") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("it ended with %v and says %q, want one refusal, that of the colour there is not", err, said)
	}
	h.run("show", "door").want(t, 0, "It is painted.")
	c, _, _, said = start("other")
	if err := c.Wait(); err == nil || !strings.Contains(said.String(), "token") {
		t.Errorf("looking at another quest it ends with %v and says %q, want a refusal of its token", err, said)
	}
	s.stop()
}
