package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	acp "github.com/coder/acp-go-sdk"
)

const carefulWrite = `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: a.txt, content: hello}}]
  - say: "Done."
`

// decisions are who answered what a policy had asked, in order; one that ran out says so.
func (h *home) decisions(quest string) (out []string) {
	h.t.Helper()
	for _, e := range h.rawEvents(quest) {
		switch e["type"] {
		case "interaction.answered":
			out = append(out, fmt.Sprint(e["actor"], " ", body(e)["choice"]))
		case "interaction.expired", "interaction.withdrawn":
			out = append(out, fmt.Sprint(e["type"]))
		}
	}
	return out
}

func (h *home) decided(quest string, want ...string) {
	h.t.Helper()
	if got := h.decisions(quest); !slices.Equal(got, want) {
		h.t.Errorf("the questions of %s were decided by %v, want %v", quest, got, want)
	}
	wrote := h.count(quest, "file.diff") > 0
	if yes := slices.Contains(want, "person yes"); wrote != yes {
		h.t.Errorf("of %s it is %v that the file was written, want %v", quest, wrote, yes)
	}
}

// TestAnExecutorAsksForPermissionInTheEditor: what an outside agent wants to do itself is a question
// there, about what it says that it will do, with its answer to it; only a yes lets it.
func TestAnExecutorAsksForPermissionInTheEditor(t *testing.T) {
	t.Parallel()
	for answer, says := range map[string]string{"yes": "All done.", "no": "I was not allowed.", "perhaps": "I was not allowed.", "": "I was not allowed."} {
		t.Run("Answer="+answer, func(t *testing.T) {
			talksOf(t, outsider["plan.yaml"], func(t *testing.T, h *home) {
				sandboxed(t, h)
				must(t, writeFolder(h.work, map[string]string{"quest.yaml": outsider["quest.yaml"] + "policies: [{name: careful, steps: [{ask: {type: permission.decided, reason: It does something itself.}}]}]\n"}))
				h.ok("create", "quest.yaml")
				e := h.edit()
				if answer != "" {
					e.choose = option(answer)
				}
				_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "q", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				e.says("q", "Go.", acp.StopReasonEndTurn)
				if got := e.words(); !strings.Contains(got, says) {
					t.Errorf("after %q the executor says %s, want %q", answer, got, says)
				}
				about := ""
				for _, p := range e.asked {
					about += *p.ToolCall.Title + "\n"
					if len(p.Options) != 2 || p.Options[0].Kind != acp.PermissionOptionKindAllowOnce || p.Options[1].Kind != acp.PermissionOptionKindRejectOnce {
						t.Errorf("the editor was to choose from %+v, want yes and no", p.Options)
					}
				}
				if len(e.asked) != 2 || !strings.Contains(about, "edit Write note") || !strings.Contains(about, "execute echo ran >> log") {
					t.Errorf("the editor was asked about\n%swant the file and the command, once each", about)
				}
				ran := h.count("q", "cli.run") > 0
				if ran != (answer == "yes") {
					t.Errorf("after %q it is %v that the executor's command ran", answer, ran)
				}
				h.sound("q")
			})
		})
	}
}

// TestAnAnswerThatComesLate is none: what was decided meanwhile stands, be it by the time that a
// policy gives, or by somebody else.
func TestAnAnswerThatComesLate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ within, want string }{
		"Expired":   {`, default: "no", within: 1s`, "interaction.expired"},
		"Elsewhere": {"", "person no"},
	} {
		t.Run(name, func(t *testing.T) {
			talksOf(t, carefulWrite, func(t *testing.T, h *home) {
				must(t, writeFolder(h.work, map[string]string{"quest.yaml": strings.Replace(strings.Replace(writeQuest, "write.yaml", "plan.yaml", 1), "It writes a file.}", "It writes a file."+c.within+"}", 1)}))
				h.ok("create", "quest.yaml")
				e := h.edit()
				asked, late := make(chan struct{}), make(chan struct{})
				free := sync.OnceFunc(func() { close(late) })
				t.Cleanup(free)
				e.choose = func(acp.RequestPermissionRequest) string { close(asked); <-late; return "yes" }
				_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "write", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				stops := make(chan string, 1)
				go func() {
					stop, err := e.ask("write", "Go.")
					stops <- fmt.Sprint(stop, " ", err)
				}()
				<-asked
				if name == "Elsewhere" {
					h.ok("answer", "write", "no")
				}
				if got := <-stops; got != "end_turn <nil>" { // nobody waits for the editor
					t.Fatalf("a prompt whose question was decided without the editor ends with %s", got)
				}
				free()
				e.choose = option("yes")
				e.says("write", "And now?", acp.StopReasonEndTurn) // after the late yes is read
				h.decided("write", c.want)
				if n := len(e.asked); n != 1 {
					t.Errorf("the editor was asked %d times, want once", n)
				}
			})
		})
	}
}

// TestAConnectionThatIsLostIsANo: an editor that goes away while it is asked has not said yes, and
// neither has one that takes its prompt back. Nobody is asked again.
func TestAConnectionThatIsLostIsANo(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"Lost", "Cancelled"} {
		t.Run(how, func(t *testing.T) {
			talksOf(t, carefulWrite, func(t *testing.T, h *home) {
				must(t, writeFolder(h.work, map[string]string{"quest.yaml": strings.Replace(writeQuest, "write.yaml", "plan.yaml", 1)}))
				h.ok("create", "quest.yaml")
				e := h.edit()
				asked, over := make(chan struct{}), make(chan struct{})
				t.Cleanup(func() { close(over) })
				e.choose = func(acp.RequestPermissionRequest) string { close(asked); <-over; return "yes" }
				_, err := e.conn.LoadSession(e.ctx(), acp.LoadSessionRequest{SessionId: "write", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				stops := make(chan string, 1)
				go func() {
					stop, err := e.ask("write", "Go.")
					stops <- fmt.Sprint(stop, " ", err)
				}()
				<-asked
				if how == "Lost" {
					e.end()
				} else {
					must(t, e.conn.Cancel(e.ctx(), acp.CancelNotification{SessionId: "write"}))
					if got := <-stops; got != "cancelled <nil>" {
						t.Errorf("a prompt that is taken back while it asks ends with %s", got)
					}
					e.end()
				}
				again := h.edit()
				again.choose = option("yes")
				_, err = again.conn.LoadSession(again.ctx(), acp.LoadSessionRequest{SessionId: "write", Cwd: h.work, McpServers: []acp.McpServer{}})
				must(t, err)
				again.says("write", "And now?", acp.StopReasonEndTurn)
				h.decided("write", "person no")
				if len(again.asked) != 0 {
					t.Errorf("the next editor was asked %+v, want nothing", again.asked)
				}
			})
		})
	}
}
