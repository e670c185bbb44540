package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/need"
)

// pane is a terminal that tmux keeps, with a shell in it.
type pane struct {
	t      *testing.T
	socket string
}

// newPane starts tmux with a shell in which lyceum finds its home.
func newPane(t *testing.T, h *home, width, height int, env ...string) *pane {
	t.Helper()
	program := need.Program(t, "tmux")
	p := &pane{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	cmd := exec.Command(program, "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", h.work, "sh")
	cmd.Env = append(append(os.Environ(), "LYCEUM_HOME="+h.dir, "PS1=$ ", "LC_ALL=C.UTF-8", "TERM=xterm-256color"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("start tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(program, "-S", p.socket, "kill-server").Run() })
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pane) keys(keys ...string) { p.tmux(append([]string{"send-keys"}, keys...)...) }

// shows waits until the screen has all of these, and returns it.
func (p *pane) shows(want ...string) string {
	p.t.Helper()
	deadline := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		screen, there := p.tmux("capture-pane", "-p"), true
		for _, w := range want {
			there = there && regexp.MustCompile(w).MatchString(screen)
		}
		if there {
			return screen
		}
		select {
		case <-deadline:
			p.t.Fatalf("the screen does not show %q:\n%s", want, screen)
		case <-look.C:
		}
	}
}

// restored wants the terminal to be as it was: no other screen, a cursor, an echo.
func (p *pane) restored() {
	p.t.Helper()
	if state := p.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"); strings.TrimSpace(state) != "0 1 0" {
		p.t.Errorf("alternate screen, cursor, mouse: %s", state)
	}
	p.keys("stty -a | tr ' ' '\\n' | grep -cx -e echo -e icanon -e isig | sed 's/^/modes: /'", "Enter")
	p.shows(`modes: 3`)
}

// TestWatchInATerminal watches a quest that another process runs.
func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": steps(500)})
	p := newPane(t, h, 80, 24)
	runner := h.start("run", "quest.yaml")
	must(t, awaitEvent(h.dir, "slow", "model.result", 2))
	p.keys("lyceum watch slow; echo left with $?", "Enter")
	p.shows(`slow +● running`, `agent-0 +(thinking|calculate|ready)`, `turns +\d+`, `q quit`, `agent-0 says: Step\.`)
	p.keys("?")
	p.shows(`pause the quest, or let it go on`)
	p.keys("q")
	p.shows(`● running`)
	p.tmux("resize-window", "-x", "130", "-y", "40")
	p.shows(`(?m)^╰─+╯╰─+╯$`, `● running`)
	p.keys("p")
	p.shows(`‖ paused`, `p resume`)
	must(t, awaitEvent(h.dir, "slow", "quest.paused", 1))
	p.keys("p")
	p.shows(`● running`)
	p.keys("s")
	p.shows(`Stop the quest\?`)
	p.keys("n")
	p.shows(`Not stopped`)
	p.keys("s", "y")
	p.shows(`○ stopped`)
	if l := runner.wait(); l.code != 1 {
		t.Errorf("the run that was stopped ends with %d:\n%s", l.code, l.errOut)
	}
	p.keys("q")
	p.shows(`left with 0`)
	p.restored()
}

// TestRunInAView: the first Ctrl-C pauses and tells, and the view ends with the run.
func TestRunInAView(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": strings.Replace(steps(500), "300ms", "1500ms", 1)})
	p := newPane(t, h, 100, 30, "NO_COLOR=1")
	p.keys("lyceum run quest.yaml --watch; echo left with $?", "Enter")
	screen := p.shows(`slow +● running`, `agent-0 +thinking`)
	if colours := regexp.MustCompile(`\x1b\[[0-9;]*3[0-7]m`).FindString(p.tmux("capture-pane", "-p", "-e")); colours != "" {
		t.Errorf("there is colour (%q) in spite of NO_COLOR:\n%s", colours, screen)
	}
	p.keys("C-c")
	p.shows(`Stopping: what is under way comes in first`)
	p.shows(`Quest slow is recorded up to here`, `left with 130`)
	p.restored()
	p.keys("clear", "Enter")
	p.keys("lyceum run slow --watch; echo left again with $?", "Enter")
	p.shows(`slow +● running`, `agent-0 +thinking`)
	p.keys("C-c", "C-c")
	p.shows(`left again with 130`)
	p.restored()
	h.ok("replay", "slow")
	p.keys("clear", "Enter")
	p.keys("lyceum run slow --plain --max-turns 1; echo left at last with $?", "Enter")
	p.shows(`the limit on turns is reached`, `left at last with 3`)
}

// TestALabIsShownInAView without being asked to, and its papers can be read there.
func TestALabIsShownInAView(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: trap\nsociety: lab\nproblem: Six times seven?\nagents: 1\nmodel: script:plan.yaml\ncomputer: none\nlimits: {turns: 900}\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: submit_publication, args: {title: "On six times seven", content: "# It is 42\n\n&#27;[2J\e[2J [bank](https://evil.example/x)"}}]
  - delay: 300ms
    call: [{tool: calculate, args: {code: "print(6*7) # ${turn}"}}]
`,
	})
	p := newPane(t, h, 100, 30)
	p.keys("lyceum run quest.yaml; echo left with $?", "Enter")
	p.shows(`trap +● running`, `1 published, 0 submitted, 0 rejected`, `● On six times seven`, `agent-0 hands in [0-9a-f]{8}`)
	p.keys("Tab", "Enter")
	p.shows(`Paper [0-9a-f]{8}`, `PUBLISHED · [0-9a-f]{32}`, `It is 42`, `bank \(https://evil\.example/x\)`, string(event.Published))
	p.keys("Escape")
	p.shows(`● running`)
	p.keys("q")
	p.shows(`left with 130`)
	p.restored()
}
