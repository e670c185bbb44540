package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// talked runs lyceum chat with a text as its standard input.
func (h *home) talked(text string, args ...string) lyceum {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, append([]string{"chat"}, args...)...)
	cmd.Env = append(cmd.Env, h.env...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, &errOut
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			h.t.Fatal(err)
		}
	}
	return lyceum{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func talkative(t *testing.T) *home {
	return newHome(t, map[string]string{
		"quest.yaml": "name: hello\nproblem: Say hello.\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    say: "Hello."
    call: [{tool: ask_person, args: {question: "Which colour?", options: ["red", "blue"]}}]
  - on: {last: "(?i)blue"}
    say: "Blue it is."
  - say: "I heard you."
`,
		"data.csv": "a,b\n1,2\n",
	})
}

// TestAChatInLines: what is said goes to the quest, what agents say is printed, and at the end of
// the input it waits until the quest rests.
func TestAChatInLines(t *testing.T) {
	t.Parallel()
	h := talkative(t)
	h.talked("", "quest.yaml").want(t, 0)
	l := h.talked("Go on, with @data.csv please.\n/status\n/stauts\n@no/such.csv\n", "hello")
	l.want(t, 0)
	for _, want := range []string{"hello is "} {
		if !strings.Contains(l.out, want) {
			t.Errorf("there is no %q in what is printed:\n%s", want, l.out)
		}
	}
	for _, want := range []string{"did you mean /status?", "no/such.csv"} {
		if !strings.Contains(l.errOut, want) {
			t.Errorf("there is no %q in what is refused:\n%s", want, l.errOut)
		}
	}
	if n := h.count("hello", "user.message"); n != 1 {
		t.Errorf("%d messages are recorded, want the one that was whole", n)
	}
	if trace := h.ok("trace", "hello", "--jsonl"); !strings.Contains(trace, `"name":"data.csv"`) || !strings.Contains(trace, "Go on, with @data.csv please.") {
		t.Errorf("the message and its file are not recorded:\n%s", trace)
	}
	h.ok("replay", "hello")
}

// TestAChatForPrograms: each line is an object, and each message is said to be delivered once.
func TestAChatForPrograms(t *testing.T) {
	t.Parallel()
	h := talkative(t)
	h.talked("", "quest.yaml").want(t, 0)
	l := h.talked(`{"text": "One\nand two.", "files": ["data.csv"]}`+"\n"+`{"text": "x", "nonsense": 1}`+"\n/summary\n", "hello", "--json")
	l.want(t, 0)
	var types []string
	var message uint64
	delivered := map[uint64]int{}
	for line := range strings.Lines(l.out) {
		var c struct {
			Type, Text string
			Seq        uint64
			Messages   []uint64
		}
		must(t, json.Unmarshal([]byte(line), &c))
		types = append(types, c.Type)
		if c.Type == "message" {
			message = c.Seq
		}
		for _, m := range c.Messages {
			delivered[m]++
		}
	}
	for _, want := range []string{"message", "delivered", "said", "reply", "error", "status"} {
		if !slices.Contains(types, want) {
			t.Errorf("no line is %s:\n%s", want, l.out)
		}
	}
	if message == 0 || delivered[message] != 1 || len(delivered) != 1 {
		t.Errorf("message %d, delivered %v: want it once:\n%s", message, delivered, l.out)
	}
}

// TestAChatInATerminal: lines, commands, history, leaving.
func TestAChatInATerminal(t *testing.T) {
	t.Parallel()
	h := talkative(t)
	p := newPane(t, h, 90, 26)
	p.keys("lyceum chat quest.yaml; echo left with $?", "Enter")
	p.shows(`hello +✓ finished`, `(?m)│ Say hello\.$`, `Hello\.`)
	p.keys("-l", `First line\`)
	p.keys("Enter")
	p.keys("-l", "second line")
	p.shows(`› First line`, `second line`)
	p.keys("Enter")
	p.shows(`(?m)│ First line$`, `(?m)│ second line$`, `you +\d\d:\d\d +✓`)
	p.keys("Up")
	p.shows(`(?m)^ › First line`)
	p.keys("C-u", "Up", "C-a", "C-k", "C-u")
	p.keys("C-c")
	p.shows(`Leave\?`)
	p.keys("n")
	p.shows(`enter send`)
	p.keys("C-c", "C-c")
	p.shows(`left with 0`, `stays as it is`)
	p.restored()
	h.ok("replay", "hello")
}
