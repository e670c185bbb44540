package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// TestADearRunIsConfirmed: what a run will cost is told by what such quests took here; above
// confirm_cost somebody has to say yes, by a key, a flag or a limit.
func TestADearRunIsConfirmed(t *testing.T) {
	t.Parallel()
	h := provided(t, "chat", modeltest.Handler(wires["chat"].wire, func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		return modeltest.Reply{Usage: event.Usage{Input: 1_000_000, Output: 100_000}, Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "It is 42."}}}, ""
	}))
	settings := func(text string) {
		must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("retry: 1s\n"+text), 0o600))
	}
	h.run("run", "quest.yaml").want(t, 0, "It is 42.", "Estimate: unknown. No quest of solo with mistral-large-latest")
	second := h.run("run", "quest.yaml", "--name", "second")
	second.want(t, 0, "It is 42.", "Estimate: about $", "1 agent with mistral-large-latest, by what 1 quest of solo took here (q)")

	settings("confirm_cost: 0.01\n")
	refused := h.run("run", "quest.yaml", "--name", "third")
	refused.want(t, 2, "That is more than $0.01 (confirm_cost in config.yaml), and nobody can be asked: give --yes, or a limit with --max-cost")
	h.run("run", "third", "--json").want(t, 2, "nobody can be asked")
	if got := h.run("show", "third", "--json"); !strings.Contains(got.out, `"turns": 0`) {
		t.Errorf("a run that nobody confirmed has asked its model:\n%s", got.out)
	}
	// Who talks with a quest is asked the same.
	h.run("chat", "third", "--plain").want(t, 2, "nobody can be asked: give --yes, or a limit with lyceum limit third --max-cost")
	h.run("run", "third", "--yes").want(t, 0, "It is 42.", "2 quests of solo took here (q, second)")
	h.run("ask", "What is six times seven?", "--model", "mistral-large-latest", "--max-cost", "100").want(t, 0, "It is 42.")

	h.run("chat", "quest.yaml", "--name", "talked", "--plain").want(t, 2, "That is more than $0.01 (confirm_cost in config.yaml)")
	h.run("chat", "talked", "--plain", "--yes").want(t, 0, "It is 42.")

	// Scripted models cost nothing, and nobody is asked.
	settings("confirm_cost: 0\n")
	if l := h.run("ask", "Two and two?", "--model", "demo"); l.code != 0 || strings.Contains(l.errOut, "Estimate") {
		t.Errorf("a run that costs nothing ends with %d and says:\n%s", l.code, l.errOut)
	}
	for typed, code := range map[string]int{"n\n": 3, "y\n": 0} {
		control, terminal := openTerminal(t, 120)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := command(ctx, h.dir, h.work, "run", "quest.yaml", "--name", "asked-"+strings.TrimSpace(typed))
		cmd.Env = append(cmd.Environ(), h.env...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		_, err := io.WriteString(control, typed)
		must(t, err)
		must(t, cmd.Start())
		must(t, terminal.Close())
		output := readTerminal(t, control)
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(output, "Run it? [y/N]") {
			t.Errorf("a run that was answered %q ends with %d, want %d:\n%s", typed, got, code, output)
		}
	}
}
