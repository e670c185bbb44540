package notify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/notify"
	"lyceum/internal/quest"
)

func TestACommandIsTold(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "told")
	var trouble []string
	n := &notify.Notifier{
		Command: `cat >> "` + file + `"; echo "$LYCEUM_NOTICE of $LYCEUM_QUEST" >> "` + file + `"`,
		Environ: []string{"PATH=" + os.Getenv("PATH")}, Trouble: func(s string) { trouble = append(trouble, s) },
	}
	s := &quest.State{Name: "q", Status: quest.Finished}
	evil := "`touch /tmp/evil` $(id) '\"; \x1b[2J"
	n.Event(event.Event{Seq: 7, Actor: "agent-0", Type: "interaction.opened", Body: &event.InteractionOpened{Question: event.Text{Text: evil}, Options: []string{"yes", "\x1b[2Jno"}}}, s)
	n.Event(event.Event{Seq: 8, Type: "tool.call", Body: &event.ToolCall{}}, s)
	n.Event(event.Event{Seq: 9, Type: "quest.finished", Body: &event.QuestFinished{Answer: event.Text{Text: "42"}}}, s)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	for _, want := range []string{`"question":7`, `"asker":"agent-0"`, "`touch /tmp/evil` $(id)", "question of q", `"status":"finished","text":"42"`, "ended of q"} {
		if !strings.Contains(strings.ReplaceAll(got, `"text":"42","status":"finished"`, `"status":"finished","text":"42"`), want) {
			t.Errorf("the command was not told %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") || strings.Count(got, "\n") != 4 {
		t.Errorf("it was told: %q", got)
	}
	if _, err := os.Stat("/tmp/evil"); err == nil {
		t.Error("an agent's words were run")
	}
	if len(trouble) != 0 {
		t.Errorf("trouble: %v", trouble)
	}
	n.Command = "echo broken; exit 3"
	n.Event(event.Event{Seq: 9, Type: "quest.finished", Body: &event.QuestFinished{}}, s)
	_ = n.Close()
	if len(trouble) != 1 || !strings.Contains(trouble[0], "broken") {
		t.Errorf("a command that fails is told as %v", trouble)
	}
}

func TestSecretsStayOutOfTheEnvironment(t *testing.T) {
	t.Setenv("SOME_KEY", "sk-very-secret")
	t.Setenv("OTHER", "fine")
	env := strings.Join(notify.Environ([]string{"sk-very-secret", ""}), "\n")
	if strings.Contains(env, "sk-very-secret") || !strings.Contains(env, "OTHER=fine") {
		t.Errorf("the environment is %s", env)
	}
}
