package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// TestRelationsAreChosen: by where they begin, up or down, by type and by status; what is no choice is said.
func TestRelationsAreChosen(t *testing.T) {
	s := questtest.Begin(t, solo.Society{}, questtest.Created(solo.Society{}, 1, quest.Relate, quest.Unrelate, quest.Relations))
	s.Start()
	for _, args := range []string{
		`{"id":"plan","type":"plan"}`, `{"id":"a","type":"step","status":"done","parents":["plan"]}`, `{"id":"b","type":"step","status":"failed","parents":["plan"]}`,
		`{"id":"log","type":"file","status":"done","parents":["a"]}`, `{"id":"else","type":"file"}`,
	} {
		if got := output(t, s.Answer("agent-0", call(quest.Relate, args))); !strings.HasPrefix(got, "Noted: ") {
			t.Fatalf("%s is answered with %q", args, got)
		}
	}
	for args, want := range map[string]string{
		`{}`:                              "plan plan [pending]|  step a [done] (plan)|    file log [done] (a)|  step b [failed] (plan)|file else [pending]",
		`{"of":"a"}`:                      "step a [done] (plan)|  file log [done] (a)",
		`{"of":"log","direction":"up"}`:   "plan plan [pending]|  step a [done] (plan)|    file log [done] (a)",
		`{"type":"step"}`:                 "step a [done] (plan)|step b [failed] (plan)",
		`{"status":"done"}`:               "step a [done] (plan)|  file log [done] (a)",
		`{"type":"file","status":"done"}`: "file log [done] (a)",
		`{"of":"b","type":"file"}`:        "There is no such note.",
		`{"of":"gone"}`:                   "Nothing was changed: there is no note gone.",
		`{"direction":"about"}`:           "Nothing was changed: the direction must be down or up.",
		`{"colour":"red"}`:                "Nothing was changed: the arguments do not fit the schema of the tool.",
	} {
		if got := strings.ReplaceAll(output(t, s.Answer("agent-0", call(quest.Relations, args))), "\n", "|"); got != want {
			t.Errorf("relations %s says %q, want %q", args, got, want)
		}
	}
	s.Sound()
}
