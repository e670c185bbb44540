package cli_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/society"
)

// riddle is a question of which no text of ours has a word by chance.
const riddle = "How many zebras of the Serengeti have thirty-seven stripes on the left?"

// posed are quests of each society with a model that answers.
var posed = map[string]map[string]string{
	"solo":      {"quest.yaml": "problem: " + riddle + "\n"},
	"lab":       {"quest.yaml": "society: lab\nagents: 2\ncomputer: none\ncontext: compact\nproblem: " + riddle + "\n"},
	"contract":  {"quest.yaml": "society: contract\ncorpus: corpus\ntask: " + riddle + "\n", "corpus/a.md": "# Zebras\n\nEach zebra has stripes of its own.\n"},
	"architect": {"quest.yaml": "society: architect\nexecutors: [builtin]\nscope: [a.txt]\nacceptance: [\"true\"]\ncomputer: auto\nproblem: " + riddle + "\n"},
	"stages":    {"quest.yaml": "society: stages\nmode: autonomous\nproblem: " + riddle + "\n"},
	"world":     {"quest.yaml": "society: world\nworld: program\ncomputer: auto\nproblem: " + riddle + "\n"},
}

// TestNoRequestHasTheProblemTwice goes by what a provider is sent: whatever an agent was told before
// and is told again (its prompt, the first message, the block on where it stands, a summary, what
// goes on after a cut), the problem stands in it once.
func TestNoRequestHasTheProblemTwice(t *testing.T) {
	t.Parallel()
	for _, s := range society.All() {
		if name, _, _ := strings.Cut(s.Rules(), "/"); posed[name] == nil {
			t.Errorf("the society %s has no quest here: give it one", name)
		}
	}
	for name, files := range posed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var requests, asked, cuts, turn int
			long := map[string]int{}
			h := provided(t, "chat", modeltest.Handler(wires["chat"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
				text := seen.System
				for _, m := range seen.Messages {
					for _, p := range m.Parts {
						text += "\n" + p.Text
					}
				}
				mu.Lock()
				defer mu.Unlock()
				requests++
				has := strings.Count(text, "zebras of the Serengeti")
				if has > 0 {
					asked++
				}
				if has > 1 {
					t.Errorf("request %d, of %d messages, has the problem %d times:\n%s", requests, len(seen.Messages), has, text)
				}
				if len(seen.Messages) < long[seen.System] {
					cuts++
				}
				long[seen.System] = len(seen.Messages)
				turn++
				// It talks at length, so that its window fills, and asks for something that does no harm.
				reply := modeltest.Reply{Usage: event.Usage{Input: int64(len(text) / 3), Output: 2000}, Stop: model.StopTools, Parts: []model.Part{
					{Kind: event.PartText, Text: fmt.Sprintf("Thought %d: ", turn) + strings.Repeat("this leads nowhere. ", 300)},
				}}
				if len(seen.Tools) > 0 {
					reply.Parts = append(reply.Parts, model.Part{Kind: event.PartToolCall, ID: fmt.Sprintf("call_%d", turn), Name: "calculate", Args: fmt.Sprintf(`{"code":"print(%d)"}`, turn)})
				} else {
					reply.Stop = model.StopEnd
				}
				return reply, ""
			}))
			files := maps.Clone(files)
			files["quest.yaml"] = "name: q\nmodel: " + wires["chat"].model + "\nwindow: 12000\nlimits: {turns: 40}\n" + files["quest.yaml"]
			for path, text := range files {
				path = filepath.Join(h.work, path)
				must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must(t, os.WriteFile(path, []byte(text), 0o600))
			}
			run := h.run("run", "quest.yaml", "--yes")
			if !slices.Contains([]int{0, 1, 3}, run.code) {
				t.Fatalf("the quest does not run: %d\n%s%s", run.code, run.out, run.errOut)
			}
			if asked != requests {
				t.Errorf("of %d requests %d have the problem, want it in each of them\n%s%s", requests, asked, run.out, run.errOut)
			}
			if cuts == 0 {
				t.Errorf("no window was cut in %d requests: this shows too little\n%s%s", requests, run.out, run.errOut)
			}
			t.Logf("%d requests, %d with the problem, %d cuts; exit code %d", requests, asked, cuts, run.code)
		})
	}
}
