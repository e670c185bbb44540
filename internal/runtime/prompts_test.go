package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

func TestAnAuthorsPromptsAreToldInThePlaceOfOurs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := plan(t, "own", "prompts: {system: mine.md, continue: texts/more.md}\n", quiet)
	must(t, os.Mkdir(filepath.Join(p.Dir, "texts"), 0o700))
	must(t, os.WriteFile(filepath.Join(p.Dir, "mine.md"), []byte("Be bold.\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(p.Dir, "texts", "more.md"), []byte("Go on.\n"), 0o600))
	b, _ := l.made(p)
	if got := l.blob(b.Agents[0].System); got != "Be bold." {
		t.Errorf("the agent's prompt is %q: want the author's", got)
	}
	for _, x := range b.Texts {
		if x.Name == "continue" && x.Text != "Go on." {
			t.Errorf("the text is %q: want the author's", x.Text)
		}
	}
}

func TestPromptsThatCannotTakeAPlaceAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, text, want string }{
		"NoFile":       {"prompts: {system: gone.md}\n", "x", "prompts: system: there is no gone.md in "},
		"Outside":      {"prompts: {system: ../x}\n", "x", "leads out of"},
		"Empty":        {"prompts: {system: p.md}\n", " \n", "prompts: system: p.md: it is empty"},
		"NoProblem":    {"society: lab\nagents: 2\ncomputer: none\nprompts: {system: p.md}\n", "Work.", "it has no {{PROBLEM}}, and agents would not be told what to do"},
		"NoLines":      {"prompts: {standing: p.md}\n", "You stand.", "it has no {{LINES}}"},
		"AnotherPlace": {"prompts: {standing: p.md}\n", "{{LINES}} {{NOBODY}}", "{{NOBODY}} is not filled in here; there is {{LINES}}"},
		"NoPlaces":     {"prompts: {continue: p.md}\n", "Go on with {{PROBLEM}}", "{{PROBLEM}} is not filled in here, nor is anything else"},
		"Long":         {"prompts: {continue: p.md}\n", strings.Repeat("long ", 500), "it is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newGuild(t)
			p := plan(t, "q", c.spec, quiet)
			must(t, os.WriteFile(filepath.Join(p.Dir, "p.md"), []byte(c.text), 0o600))
			_, err := l.Create(context.Background(), p)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(quest.FieldOf(err), "prompts") {
				t.Errorf("got %v about %q, want %q about prompts", err, quest.FieldOf(err), c.want)
			}
		})
	}
}

func TestAFullWindowIsSummedUpByItsModel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "long", "window: 4000\ncontext: compact\n", `
rules:
  - on: {last: "Your context is nearly full"}
    cost: "0.01"
    say: "The last number was large."
  - on: {turn: 40}
    say: "done"
  - call: [{tool: calculate, args: {code: "print('${turn} ' * 300)"}}]
`))
	s := l.run(name)
	summaries := int64(0)
	for _, e := range l.events(name) {
		if c, ok := e.Body.(*event.ModelCall); ok && c.Compact != nil {
			summaries++
		}
	}
	if s.Status != quest.Finished || summaries < 2 || s.Spent.Cost != summaries*1e7 {
		t.Errorf("the quest is %s after %d summaries and has cost %d: want it finished, some, and a cent for each", s.Status, summaries, s.Spent.Cost)
	}
	l.sound(name)
}
