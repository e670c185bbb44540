package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"

	acp "github.com/coder/acp-go-sdk"
)

// modes are the modes that an editor was told, in order; they are forgotten.
func (e *editor) modes() (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.updates {
		if m := n.Update.CurrentModeUpdate; m != nil {
			out = append(out, string(m.CurrentModeId))
		}
	}
	e.updates = nil
	return slices.Compact(out)
}

func (e *editor) option(id acp.SessionId, name, value string) ([]acp.SessionConfigOption, error) {
	r, err := e.conn.SetSessionConfigOption(e.ctx(), acp.SetSessionConfigOptionRequest{ValueId: &acp.SetSessionConfigOptionValueId{SessionId: id, ConfigId: acp.SessionConfigId(name), Value: acp.SessionConfigValueId(value)}})
	return r.ConfigOptions, err
}

// shown is the value of the option mode, empty if there is none.
func shown(options []acp.SessionConfigOption) string {
	for _, o := range options {
		if o.Select != nil && o.Select.Id == "mode" && o.Select.Category != nil && *o.Select.Category == acp.SessionConfigOptionCategoryMode {
			return string(o.Select.CurrentValue)
		}
	}
	return ""
}

// TestTheModesOfASociety: an editor is shown the modes of the session's society, sets one before the
// quest is there and another while a question waits, and finds the last one in a new process.
func TestTheModesOfASociety(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("Served=%v", served), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, planned)
			sandboxed(t, h)
			if served {
				s := h.serve()
				t.Cleanup(func() { s.kill() })
			}
			e := h.edit("--model", "script:plan.yaml", "--society", "architect")
			s, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: h.work, McpServers: []acp.McpServer{}})
			must(t, err)
			if s.Modes == nil || s.Modes.CurrentModeId != "auto" || len(s.Modes.AvailableModes) != 2 || shown(s.ConfigOptions) != "auto" {
				t.Fatalf("a new session of an architect has the modes %+v and shows %q, want auto of two", s.Modes, shown(s.ConfigOptions))
			}
			set := func(e *editor, mode string) error {
				_, err := e.conn.SetSessionMode(e.ctx(), acp.SetSessionModeRequest{SessionId: s.SessionId, ModeId: acp.SessionModeId(mode)})
				return err
			}
			if err := set(e, "nonsense"); code(err) != -32602 || !strings.Contains(err.Error(), "want auto or approve") {
				t.Errorf("a mode that is none: %v, want -32602", err)
			}
			// The society that is chosen brings its modes with it.
			options, err := e.option(s.SessionId, "society", "solo")
			must(t, err)
			if got := shown(options); got != "" {
				t.Errorf("solo has the mode %q", got)
			}
			if err := set(e, "auto"); code(err) != -32602 {
				t.Errorf("a mode of a society that has none: %v, want -32602", err)
			}
			options, err = e.option(s.SessionId, "society", "architect")
			must(t, err)
			if got := shown(options); got != "auto" {
				t.Errorf("an architect begins in the mode %q, want auto", got)
			}
			options, err = e.option(s.SessionId, "mode", "approve")
			must(t, err)
			if got := shown(options); got != "approve" {
				t.Errorf("the option shows %q, want approve", got)
			}

			// While the plan waits for a yes, the person has it go on by itself.
			over := make(chan struct{})
			t.Cleanup(func() { close(over) })
			e.mu.Lock()
			e.choose = func(acp.RequestPermissionRequest) string {
				if err := set(e, "auto"); err != nil {
					t.Errorf("set the mode while a question waits: %v", err)
				}
				<-over // nobody ever answers
				return ""
			}
			e.mu.Unlock()
			e.says(s.SessionId, "Two things.", acp.StopReasonEndTurn)
			if got := e.modes(); len(got) < 2 || got[0] != "approve" || got[len(got)-1] != "auto" {
				t.Errorf("the editor was told the modes %v, want approve and then auto", got)
			}
			var said []string
			for _, ev := range h.rawEvents(string(s.SessionId)) {
				switch b := body(ev); ev["type"] {
				case "mode.set":
					said = append(said, ev["actor"].(string)+" "+b["mode"].(string))
				case "quest.started", "interaction.opened", "interaction.withdrawn", "plan.approved":
					said = append(said, ev["type"].(string))
				}
			}
			if got, want := strings.Join(said, ", "), "person approve, quest.started, interaction.opened, person auto, interaction.withdrawn, plan.approved, interaction.opened"; got != want {
				t.Errorf("the ledger says %s, want %s", got, want)
			}

			next := h.edit("--model", "script:plan.yaml")
			loaded, err := next.conn.LoadSession(next.ctx(), acp.LoadSessionRequest{SessionId: s.SessionId, Cwd: h.work, McpServers: []acp.McpServer{}})
			must(t, err)
			if got := next.modes(); strings.Join(got, " ") != "approve auto" || loaded.Modes == nil || loaded.Modes.CurrentModeId != "auto" || shown(loaded.ConfigOptions) != "auto" {
				t.Errorf("loaded, the session was in %v and is in %+v, want auto", got, loaded.Modes)
			}
			must(t, set(next, "approve")) // without a prompt
			resumed, err := next.conn.ResumeSession(next.ctx(), acp.ResumeSessionRequest{SessionId: s.SessionId, Cwd: h.work})
			must(t, err)
			if resumed.Modes == nil || resumed.Modes.CurrentModeId != "approve" {
				t.Errorf("resumed, the session has %+v, want approve", resumed.Modes)
			}
			// The editor is told of it by what is appended, which may come after the answer.
			var told []string
			for began := time.Now(); len(told) == 0 && time.Since(began) < patience; time.Sleep(time.Millisecond) {
				told = next.modes()
			}
			if strings.Join(told, " ") != "approve" {
				t.Errorf("the editor was told the modes %v, want approve", told)
			}
			h.ok("verify", string(s.SessionId))
			h.ok("replay", string(s.SessionId))
		})
	}
}

// TestAPersonSetsTheModeOfAQuest by the command line; a society that has no modes says so.
func TestAPersonSetsTheModeOfAQuest(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	files := map[string]string{"one.yaml": "name: alone\nproblem: Why?\nmodel: demo\n"}
	for name, text := range planned {
		files[name] = text
	}
	h := newHome(t, files)
	sandboxed(t, h)
	h.ok("create", "quest.yaml")
	h.run("mode", "plans").want(t, 0, "* auto", "  approve")
	h.run("mode", "plans", "perhaps").want(t, 2, "want auto or approve")
	h.run("mode", "plans", "approve").want(t, 0, "Recorded. It takes effect when the quest runs: lyceum run plans")
	h.run("mode", "plans", "--json").want(t, 0, `"mode": "approve"`, `"current": true`)
	h.run("run", "quest.yaml").want(t, 3, "Answer yes or no") // and not: Shall I begin?
	h.run("trace", "plans").want(t, 0, "person     mode.set", "sets the mode approve")
	h.ok("mode", "plans", "auto") // it waits for an answer, and takes this when it goes on
	h.run("mode", "plans").want(t, 0, "* auto", "  approve")
	h.run("run", "plans").want(t, 3, "the plan stands: 2 tasks", "Shall I begin?")
	h.ok("create", "one.yaml")
	h.run("mode", "alone").want(t, 0, "has no modes: its society, solo")
	h.run("mode", "alone", "auto").want(t, 2, "has no modes")
}

// TestTheStagesOfAStudyAreItsModes: an editor is shown the seven stages with the one where a study
// begins; setting one is /stage, refused in words as that is; a move that the study makes itself is
// told; another process finds the study where it is.
func TestTheStagesOfAStudyAreItsModes(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("Served=%v", served), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"plan.yaml": `rules:
  - on: {turn: 1}
    say: "I look at it."
    call: [{tool: move_anchor, args: {to: baseline, reason: "It is known enough."}}]
  - say: "I heard you."
`})
			if served {
				s := h.serve()
				t.Cleanup(func() { s.kill() })
			}
			e := h.edit("--model", "script:plan.yaml", "--society", "stages")
			s, err := e.conn.NewSession(e.ctx(), acp.NewSessionRequest{Cwd: h.work, McpServers: []acp.McpServer{}})
			must(t, err)
			if s.Modes == nil || s.Modes.CurrentModeId != "scout" || len(s.Modes.AvailableModes) != 7 || shown(s.ConfigOptions) != "scout" {
				t.Fatalf("a new session of a study has the modes %+v and shows %q, want scout of seven", s.Modes, shown(s.ConfigOptions))
			}
			set := func(e *editor, id acp.SessionId, mode string) error {
				_, err := e.conn.SetSessionMode(e.ctx(), acp.SetSessionModeRequest{SessionId: id, ModeId: acp.SessionModeId(mode)})
				return err
			}
			if err := set(e, s.SessionId, "nonsense"); code(err) != -32602 || !strings.Contains(err.Error(), "want scout") {
				t.Errorf("a stage that is none: %v, want -32602 and those there are", err)
			}
			e.says(s.SessionId, "Which forecast is best?", acp.StopReasonEndTurn)
			if got := e.modes(); strings.Join(got, " ") != "baseline" {
				t.Errorf("the study went to baseline, and the editor was told the modes %v", got)
			}
			if err := set(e, s.SessionId, "idea"); code(err) != -32602 || !strings.Contains(err.Error(), "/waive baseline-first") {
				t.Errorf("forward without a baseline: %v, want -32602 and how to waive it", err)
			}
			must(t, set(e, s.SessionId, "baseline")) // where it is: nothing to record
			if n := h.count(string(s.SessionId), "study.order"); n != 0 {
				t.Errorf("%d orders are recorded, want none", n)
			}
			must(t, set(e, s.SessionId, "scout"))
			var told []string // after the answer
			for began := time.Now(); !slices.Contains(told, "scout") && time.Since(began) < patience; time.Sleep(time.Millisecond) {
				told = append(told, e.modes()...)
			}
			if len(told) == 0 || told[len(told)-1] != "scout" {
				t.Errorf("after it was set back the editor was told the modes %v, want scout last", told)
			}
			e.says(s.SessionId, "Look again.", acp.StopReasonEndTurn)
			var moves []string
			for _, ev := range h.rawEvents(string(s.SessionId)) {
				if ev["type"] == "anchor.moved" {
					moves = append(moves, fmt.Sprint(body(ev)["by"], " ", body(ev)["from"], " ", body(ev)["to"]))
				}
			}
			if got, want := strings.Join(moves, ", "), "tool scout baseline, person baseline scout"; got != want {
				t.Errorf("the study moved %s, want %s", got, want)
			}
			next := h.edit("--model", "script:plan.yaml")
			loaded, err := next.conn.LoadSession(next.ctx(), acp.LoadSessionRequest{SessionId: s.SessionId, Cwd: h.work, McpServers: []acp.McpServer{}})
			must(t, err)
			if got := next.modes(); strings.Join(got, " ") != "baseline scout" || loaded.Modes == nil || loaded.Modes.CurrentModeId != "scout" || len(loaded.Modes.AvailableModes) != 7 {
				t.Errorf("loaded, the study was in %v and is in %+v, want baseline, scout, and scout", got, loaded.Modes)
			}
			h.run("mode", string(s.SessionId)).want(t, 0, "* scout", "  finalize")
			h.run("mode", string(s.SessionId), "idea").want(t, 2, "/waive baseline-first <why>")
			h.ok("replay", string(s.SessionId))

			// A mode that is set before the first prompt is where the study begins.
			at := e.begin(h.work)
			must(t, set(e, at, "write"))
			e.says(at, "Write it down.", acp.StopReasonEndTurn)
			if created := body(h.rawEvents(string(at))[0]); !strings.Contains(fmt.Sprint(created["settings"]), `"anchor":"write"`) {
				t.Errorf("the study was made of %v, want it to begin at write", created)
			}
			h.ok("replay", string(at))
		})
	}
}
