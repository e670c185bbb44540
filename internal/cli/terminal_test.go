package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// TestTheLastLineOnATerminal runs a quest on a pseudo-terminal: while it runs
// there is a line that tells what is going on; in the end it is gone, and the
// answer stands there whole.
func TestTheLastLineOnATerminal(t *testing.T) {
	t.Parallel()
	const width = 60
	h := newHome(t, map[string]string{
		"quest.yaml": slowQuest,
		"plan.yaml": `rules:
  - on: {until_turn: 2}
    delay: 50ms
    say: "A step of some length, so that it would not fit into one line of a narrow terminal at all."
    call: [{tool: calculate, args: {code: "print(6*7)"}}]
  - say: |
      The answer is 42.

      It has a second paragraph, in which **this** is _strong_ and which is longer than the terminal.

      | a | b |
      |---|---|
      | 1 | 2 |
`,
	})
	control, terminal := openTerminal(t, width)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, "run", "quest.yaml")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	must(t, cmd.Start())
	must(t, terminal.Close())
	output := readTerminal(t, control)
	must(t, cmd.Wait())

	s := &screen{}
	s.write(output)
	statuses, named := 0, 0
	for _, line := range s.erased {
		if strings.HasPrefix(line, "agent-0: A step of some") || strings.HasPrefix(line, "agent-0: …") {
			named++
		}
		if strings.HasPrefix(line, "running · turn ") {
			statuses++
		}
		if n := utf8.RuneCountInString(line); n >= width {
			t.Errorf("a line that was to be erased has %d characters on a terminal of %d: %q", n, width, line)
		}
	}
	if statuses < 5 {
		t.Errorf("the status was drawn %d times:\n%q", statuses, output)
	}
	if named == 0 {
		t.Errorf("no line of live words names its agent:\n%q", s.erased)
	}
	if !strings.Contains(output, "agent-0 thinks") {
		t.Errorf("it is not told that agent-0 thinks:\n%q", output)
	}
	left := strings.Join(s.lines, "\n")
	if strings.Contains(left, "running ·") || strings.Contains(left, "finished ·") {
		t.Errorf("the status is still there:\n%s", left)
	}
	left = regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(left, "")
	for _, want := range []string{"\nThe answer is 42.\n\nIt has a second paragraph, in which this is strong and which\nis longer than the terminal.\n", "│", "    2  started\n", "finished: The answer is 42. ", "3 turns, 2 tool calls"} {
		if !strings.Contains(left, want) {
			t.Errorf("there is no %q on the screen:\n%s", want, left)
		}
	}
	if rest := regexp.MustCompile(`\x1b\[(K|[0-9;]*m)`).ReplaceAllString(output, ""); strings.Contains(rest, "\x1b") {
		t.Errorf("there are other control sequences:\n%q", rest)
	}
}

// TestANetsAnswerIsSetForATerminal, as that of an agent alone is: its lists are no Markdown there.
func TestANetsAnswerIsSetForATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml":  "name: net\nsociety: contract\ntask: When does the lease of the warehouse end?\ncorpus: corpus\naudit: lite\n",
		"corpus/a.md": "# The warehouse\n\nThe lease of the warehouse ends on 31 March 2027.\n",
	})
	s, output := h.onATerminal(t, patience, "run", "quest.yaml")()
	left := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(strings.Join(s.lines, "\n"), "")
	if !strings.Contains(left, "\n• “The lease of the warehouse ends on 31 March 2027.” [1]\n") || strings.Contains(left, "\n- ") {
		t.Errorf("the answer of a net is not set for the terminal:\n%s\n%d bytes came", left, len(output))
	}
	h.run("show", "net").want(t, 0, "- “The lease of the warehouse") // into a pipe as it is written
}

// A screen is what a terminal shows, as far as lyceum uses one.
type screen struct {
	lines  []string
	line   []rune
	column int
	erased []string
}

func (s *screen) write(text string) {
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "\x1b[K"):
			if s.column < len(s.line) {
				s.erased = append(s.erased, string(s.line[s.column:]))
				s.line = s.line[:s.column]
			}
			text = text[3:]
			continue
		case strings.HasPrefix(text, "\x1b[2m"), strings.HasPrefix(text, "\x1b[0m"):
			text = text[4:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch r {
		case '\r':
			s.column = 0
		case '\n':
			s.lines = append(s.lines, string(s.line))
			s.line, s.column = nil, 0
		default:
			s.line = append(s.line[:s.column], append([]rune{r}, s.line[min(s.column+1, len(s.line)):]...)...)
			s.column++
		}
	}
}

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T, width uint16) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		need.Missing(t, "there are no pseudo-terminals here (%v): mount devpts on /dev/pts", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	fd := int(control.Fd())
	must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	return control, terminal
}

// readTerminal reads until the other end is closed, which shows as EIO.
func readTerminal(t *testing.T, control *os.File) string {
	t.Helper()
	var out strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := control.Read(buf)
		out.Write(buf[:n])
		if errors.Is(err, unix.EIO) {
			return out.String()
		}
		must(t, err)
	}
}
