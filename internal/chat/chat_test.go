package chat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		name, args, words, fault string
	}{
		"hello":                            {words: "hello"},
		" /status":                         {words: " /status"},
		"a/b":                              {words: "a/b"},
		"//usr/bin is missing":             {words: "/usr/bin is missing"},
		"/status":                          {name: "status"},
		"/Status ":                         {name: "status"},
		"/stage":                           {name: "stage"},
		"/stage idea  because it":          {name: "stage", args: "idea  because it"},
		"/stage\nidea":                     {name: "stage", args: "idea"},
		"/use figures":                     {name: "use", args: "figures"},
		"/use":                             {fault: "/use wants more: /use <skill>"},
		"/pause please":                    {fault: "/pause takes nothing after it"},
		"/":                                {fault: "there is no command /. The commands are /help /status /stage"},
		"/staus":                           {fault: "there is no command /staus; did you mean /status? The commands are"},
		"/sumary":                          {fault: "did you mean /summary?"},
		"/pu":                              {fault: "there is no command /pu"},
		"/metr":                            {fault: "did you mean /metrics?"},
		"/home/me/x.csv":                   {fault: "To say it in words, begin with two slashes"},
		"/x\x1b[2J":                        {fault: "there is no command /x\uFFFD[2J"},
		"/" + strings.Repeat("long", 1000): {fault: "there is no command /longlong"},
	} {
		cmd, words, err := chat.Parse(text)
		switch {
		case want.fault != "":
			if err == nil || !strings.Contains(err.Error(), want.fault) || cmd != nil || words != "" {
				t.Errorf("%.40q: got %v %q %v, want the fault %q", text, cmd, words, err, want.fault)
			}
		case err != nil:
			t.Errorf("%q: got %v, want no fault", text, err)
		case want.name == "" && (cmd != nil || words != want.words):
			t.Errorf("%q: got %v %q, want the words %q", text, cmd, words, want.words)
		case want.name != "" && (cmd == nil || *cmd != chat.Command{Name: want.name, Args: want.args}):
			t.Errorf("%q: got %v, want /%s %s", text, cmd, want.name, want.args)
		}
	}
}

// TestEveryCommandIsThere holds the list against what the specification names.
func TestEveryCommandIsThere(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq("help status stage plan graph summary metrics pause resume stop approve now use") {
		if cmd, _, err := chat.Parse("/" + name + map[string]string{"use": " review"}[name]); err != nil || cmd.Name != name {
			t.Errorf("/%s: got %v %v, want the command", name, cmd, err)
		}
	}
}

// desk is a quest that commands are given to.
type desk struct {
	state   *quest.State
	views   view.Views
	orders  []event.Body
	resumed int
	refuses error
}

func (d *desk) Look(_ context.Context, read func(*quest.State, *view.Views) error) error {
	return read(d.state, &d.views)
}

func (d *desk) Text(_ context.Context, t event.Text) (string, error) {
	if t.Ref != nil {
		return "from a blob", nil
	}
	return t.Text, nil
}

func (d *desk) Order(_ context.Context, b event.Body) (string, error) {
	d.orders = append(d.orders, b)
	return "Told.", d.refuses
}

func (d *desk) Resume(context.Context) (string, error) { d.resumed++; return "It goes on.", nil }

func (d *desk) do(t *testing.T, text string) (string, error) {
	t.Helper()
	cmd, _, err := chat.Parse(text)
	if err != nil || cmd == nil {
		t.Fatalf("%s is no command: %v", text, err)
	}
	return chat.Do(t.Context(), d, cmd)
}

// study is one in the middle of things.
func study() *desk {
	d := &desk{state: &quest.State{Name: "study", Rules: "stages/1", Status: quest.Running, Problem: event.Text{Text: "Forecast it."}}}
	for i, b := range []event.Body{
		&event.SittingBegun{Number: 1, Anchor: "scout", Skill: "scout", Mail: []uint64{1}},
		&event.AnchorMoved{From: "scout", To: "baseline", By: "tool", Reason: "two papers are enough\x1b[2J"},
		&event.InteractSaid{Kind: "milestone", Text: event.Text{Text: "The baseline\nstands."}},
		&event.UserMessage{Text: event.Text{Text: "And the series?"}},
	} {
		d.views.Talk.Take(event.Event{Seq: uint64(i + 5), Actor: "researcher", Type: b.Type(), Body: b})
	}
	return d
}

func TestOrders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]event.Body{
		"/pause":                      &event.QuestPaused{Reason: "paused by a person"},
		"/stop":                       &event.QuestStopped{Reason: "stopped by a person"},
		"/stage idea":                 &event.StudyOrder{Action: "stage", What: "idea", Reason: "a person said so"},
		"/stage scout we were hasty":  &event.StudyOrder{Action: "stage", What: "scout", Reason: "we were hasty"},
		"/now":                        &event.StudyOrder{Action: "now"},
		"/use review":                 &event.StudyOrder{Action: "use", What: "review"},
		"/withdraw #8":                &event.StudyOrder{Action: "withdraw", Message: 8},
		"/waive baseline-first a toy": &event.StudyOrder{Action: "waive", What: "baseline-first", Reason: "a toy"},
		"/approve k-12":               &event.StudyOrder{Action: "approve", What: "k-12"},
		"/approve":                    &event.InteractionAnswered{Interaction: 40, Choice: "yes"},
		"/approve 40":                 &event.InteractionAnswered{Interaction: 40, Choice: "yes"},
	} {
		d := study()
		d.state.Questions = []quest.Question{{Seq: 30, Body: event.InteractionOpened{Options: []string{"red", "blue"}}}, {Seq: 40, Body: event.InteractionOpened{Options: []string{"no", "yes"}, Proposal: "tool.call"}}}
		if said, err := d.do(t, text); err != nil || said != "Told." || len(d.orders) != 1 || fmt.Sprintf("%#v", d.orders[0]) != fmt.Sprintf("%#v", want) {
			t.Errorf("%s: got %q %v %#v, want %#v", text, said, err, d.orders, want)
		}
	}
	d := study()
	if said, err := d.do(t, "/resume"); err != nil || said != "It goes on." || d.resumed != 1 || len(d.orders) > 0 {
		t.Errorf("/resume: got %q %v %+v, want that it goes on", said, err, d)
	}
	d.refuses = errors.New("not now")
	if _, err := d.do(t, "/now"); !errors.Is(err, d.refuses) {
		t.Errorf("an order that is refused: got %v, want the reason", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/stage baselin":        "there is no stage baselin: there are scout, baseline, idea, experiment, analysis-campaign, write, finalize. Did you mean baseline?",
		"/stage x\x1b[1m":       "there is no stage",
		"/withdraw all":         `"all" is not the number of a message`,
		"/withdraw 0":           "is not the number of a message",
		"/waive baseline-first": "/waive wants a reason",
		"/use two skills":       "/use takes the name of one skill",
		"/approve":              "nothing is asked that yes would be an answer to",
		"/approve 30":           "no question 30 is open that yes would be an answer to",
	} {
		d := study()
		d.state.Questions = []quest.Question{{Seq: 30, Body: event.InteractionOpened{Options: []string{"red", "blue"}}}}
		if _, err := d.do(t, text); err == nil || !strings.Contains(err.Error(), want) || len(d.orders) > 0 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: got %v and %d orders, want the refusal %q", text, err, len(d.orders), want)
		}
	}
	alone := &desk{state: &quest.State{Name: "alone", Rules: "solo/4", Status: quest.Running}}
	for _, text := range []string{"/stage idea", "/stage", "/now", "/use review", "/withdraw 3", "/waive x y"} {
		if _, err := alone.do(t, text); !errors.Is(err, chat.ErrNoStudy) || len(alone.orders) > 0 {
			t.Errorf("%s to a quest without stages: got %v, want %v", text, err, chat.ErrNoStudy)
		}
	}
	two := study()
	two.state.Questions = []quest.Question{{Seq: 30, Body: event.InteractionOpened{Options: []string{"yes", "no"}}}, {Seq: 40, Body: event.InteractionOpened{Options: []string{"yes", "no"}}}}
	if _, err := two.do(t, "/approve"); err == nil || !strings.Contains(err.Error(), "say which, 30, 40") {
		t.Errorf("/approve with two questions: got %v, want to be asked which", err)
	}
}

func TestAnswersFromViews(t *testing.T) {
	t.Parallel()
	d := study()
	for text, want := range map[string][]string{
		"/help":    {"/stage [stage [why]]", "/now ", "/use <skill>"},
		"/status":  {"study is running.", "Stage: baseline.", "Sitting 1 goes on, by the skill scout.", "Not delivered yet: 1 message (8).", "0 turns"},
		"/stage":   {"scout · [baseline] · idea", "6  scout → baseline, by researcher: two papers are enough\uFFFD[2J"},
		"/plan":    {"scout · [baseline]"},
		"/summary": {"It is about: Forecast it.", "researcher said last:\nThe baseline\nstands."},
		"/metrics": {"0 turns, 0 tool calls"},
	} {
		got, err := d.do(t, text)
		for _, w := range want {
			if err != nil || !strings.Contains(got, w) || strings.Contains(got, "\x1b") {
				t.Errorf("%s: got %q %v, want %q in it", text, got, err, w)
			}
		}
	}
	if len(d.orders)+d.resumed > 0 {
		t.Errorf("answers from views gave orders: %v", d.orders)
	}
	alone := &desk{state: &quest.State{Name: "alone", Rules: "solo/4", Status: quest.Finished, Answer: &event.Text{Ref: &event.Ref{Size: 9}}}}
	if got, err := alone.do(t, "/summary"); err != nil || !strings.HasSuffix(got, "The answer:\nfrom a blob") {
		t.Errorf("/summary of a finished quest: got %q %v, want the answer from its blob", got, err)
	}
	if got, err := alone.do(t, "/plan"); err != nil || got != "There is no plan." {
		t.Errorf("/plan: got %q %v, want that there is none", got, err)
	}
	if got, _ := alone.do(t, "/help"); strings.Contains(got, "/now") || !strings.Contains(got, "/status") {
		t.Errorf("/help where there are no stages: got %q, want status and no now", got)
	}
}

// Servers are listed, and one is taken from the quest; a conversation adds none.
func TestServersOfAQuest(t *testing.T) {
	t.Parallel()
	d := &desk{state: &quest.State{Name: "alone", Rules: "solo/4", Status: quest.Running}}
	if got, err := d.do(t, "/servers"); err != nil || got != "The quest has no MCP servers." {
		t.Errorf("/servers where there are none: got %q %v", got, err)
	}
	if _, err := d.do(t, "/servers remove tracker"); err == nil || !strings.Contains(err.Error(), "no MCP servers") {
		t.Errorf("a server of none: got %v", err)
	}
	d.state.Servers = []event.ServerPin{{Kind: "http", Name: "tracker"}}
	if got, err := d.do(t, "/servers"); err != nil || !strings.Contains(got, "tracker") || !strings.Contains(got, "nobody has asked it yet") {
		t.Errorf("/servers: got %q %v", got, err)
	}
	for text, want := range map[string]string{
		"/servers remove traker": "Did you mean tracker?", "/servers remove": "/servers remove <server>", "/servers add x https://example.org": "lyceum mcp add alone",
	} {
		if _, err := d.do(t, text); err == nil || !strings.Contains(err.Error(), want) || len(d.orders) > 0 {
			t.Errorf("%s: got %v and %d orders, want %q", text, err, len(d.orders), want)
		}
	}
	if _, err := d.do(t, "/servers remove tracker"); err != nil || len(d.orders) != 1 || *d.orders[0].(*event.McpRemoved) != (event.McpRemoved{Server: "tracker"}) {
		t.Errorf("/servers remove tracker: got %v %v", err, d.orders)
	}
}
