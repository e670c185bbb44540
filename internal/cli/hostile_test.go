package cli_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"lyceum/internal/plain"
)

// hostile is text that a terminal would obey: it clears the screen, sets the
// title, hides what comes, turns the line around, and forges a second one. Some of it
// cannot be seen at all.
const hostile = `\e[2Jcleared \e]0;title\a \x9b31mred \u202ereversed\u2066 \0 null \x7f \rforged \u2028line \ufeff\e[?25l \u200b a\u200d \ufe0f \U000e0041 \ue000`

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": `name: trap
problem: "` + hostile + `"
model: "script:plan\u202e.yaml"
`,
		"plan\u202e.yaml": `rules:
  - on: {last: "once more"}
    fault: invalid
  - on: {turn: 1}
    think: "` + hostile + `"
    say: "` + hostile + `"
    call:
      - {tool: calculate, args: {code: 'print("\x1b[2J\x1b]0;t\x07\u202e\x00\u009b31m\rforged")'}}
      - {tool: "calc\e[2Jul", args: {a: "` + hostile + `"}}
      - {tool: write_file, args: {path: "a\e[2J\u202e.md", content: "` + hostile + `"}}
      - {tool: calculate, args: '{"code": "\u001b[2J'}
  - on: {turn: 2}
    call: [{tool: read_file, args: {path: "a\e[2J\u202e.md"}}, {tool: read_file, args: {path: "\e[2J"}}]
  - say: "Answer: ` + hostile + `"
`,
		"fault.yaml": `"pro` + hostile + `blem": x` + "\n",
		"tool.yaml":  "name: tool\nproblem: x\nmodel: \"script:plan\\u202e.yaml\"\ntools: [\"calc\\e[2J\"]\n",
		"model.yaml": "name: model\nproblem: x\nmodel: \"" + hostile + "\"\n",
	})
	h.clean("run", "quest.yaml").want(t, 0, "Answer: �[2Jcleared", "gave: ", "forged")
	if s := h.show("trap"); !strings.Contains(s.Answer, "\x1b[2Jcleared") || !strings.Contains(s.Answer, "\u202e") {
		t.Errorf("show --json does not have the answer as it was: %q", s.Answer)
	}
	for _, args := range [][]string{
		{"show", "trap"}, {"show", "trap", "--json"}, {"list"}, {"list", "--json"}, {"trace", "trap"}, {"verify", "trap"}, {"replay", "trap", "--json"},
		{"run", "trap"}, {"fork", "trap", "--json", "--as", "fork"}, {"message", "trap", "once more \x1b[2J\u202e"},
	} {
		h.clean(args...).want(t, 0)
	}
	h.clean("run", "trap").want(t, 1, "Failed:")
	h.clean("show", "trap").want(t, 0)
	h.clean("trace", "trap").want(t, 0, "once more �[2J�")
	h.clean("create", "fault.yaml").want(t, 2, "unknown field")
	h.clean("create", "tool.yaml").want(t, 2, "there is no tool")
	h.clean("create", "model.yaml").want(t, 2, "cannot be the name of a model")
	h.clean("show", "\x1b[2J").want(t, 2, "quest name")
	h.clean("\x1b[2J").want(t, 2, "unknown command")
	h.clean("list", "--\x1b[2J").want(t, 2, "unknown flag")
	h.clean("create", "no\x1b[2J\u202e.yaml").want(t, 2, "there is no no")
	h.clean("import", "no\x1b[2J\u202e.zip").want(t, 2, "there is no no")
	h.clean("export", "trap", "trap\u202e.zip").want(t, 0)
	h.clean("import", "trap\u202e.zip").want(t, 1, "there is a quest of that name")
	h.sound("fork")

	// The ledger's own lines have it whole, in JSON's escapes.
	lines := h.ok("trace", "trap", "--jsonl")
	if strings.ContainsAny(lines, "\x1b\x00\r\a") {
		t.Error("trace --jsonl has control characters")
	}
	for _, escape := range []string{`\u001b[2J`, `\u0000`, `\r`} {
		if !strings.Contains(lines, escape) {
			t.Errorf("trace --jsonl has no %s", escape)
		}
	}
}

// clean runs lyceum and wants nothing in what it prints that a terminal obeys.
func (h *home) clean(args ...string) lyceum {
	h.t.Helper()
	l := h.run(args...)
	for _, r := range l.out + l.errOut {
		if plain.People.Has(r) {
			h.t.Errorf("lyceum %q prints %U:\n%q", args, r, l.out+l.errOut)
			break
		}
	}
	return l
}

// On a terminal the ledger's own lines hold nothing that it obeys or does not show, and mean
// the same; elsewhere they are what the hashes are of.
func TestALedgersLinesOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: trap\nproblem: \"c1 \\x9b31m \\x85 \\U000e0041 \\u202e \\u00ad end\"\nmodel: script:plan.yaml\n",
		"plan.yaml":  "rules:\n  - say: \"" + hostile + "\"\n",
	})
	h.ok("run", "quest.yaml")
	onTerminal := func(args ...string) string {
		t.Helper()
		control, terminal := openTerminal(t, 200)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := command(ctx, h.dir, h.work, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		must(t, cmd.Start())
		must(t, terminal.Close())
		output := readTerminal(t, control)
		_ = cmd.Wait()
		return strings.ReplaceAll(output, "\r\n", "\n")
	}
	exact := h.ok("trace", "trap", "--jsonl")
	shown := onTerminal("trace", "trap", "--jsonl")
	if !strings.Contains(exact, "\u009b31m") || !strings.Contains(exact, "\U000e0041") {
		t.Error("elsewhere the lines are not as they are in the ledger")
	}
	for _, r := range shown {
		if plain.People.Has(r) {
			t.Errorf("on a terminal there is %U", r)
		}
	}
	a, b := strings.Split(exact, "\n"), strings.Split(shown, "\n")
	if len(a) != len(b) {
		t.Fatalf("%d lines on a terminal, %d elsewhere", len(b), len(a))
	}
	for i := range a[:len(a)-1] {
		var x, y any
		must(t, json.Unmarshal([]byte(a[i]), &x))
		must(t, json.Unmarshal([]byte(b[i]), &y))
		if !reflect.DeepEqual(x, y) {
			t.Errorf("line %d means something else on a terminal:\n%s\n%s", i+1, a[i], b[i])
		}
	}
	if out := onTerminal("export", "trap", "-"); !strings.Contains(out, "is a terminal") || strings.Contains(out, "PK\x03") {
		t.Errorf("a zip on a terminal: %q", out)
	}
}
