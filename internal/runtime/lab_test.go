package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	rules "lyceum/internal/society/lab"
)

// act is a call of a tool. Its arguments are marshalled, but a string is sent as it is.
type act struct {
	tool string
	args any
}

type args map[string]any

// actor is a model that a test plays: what it returns is called for; nothing is a turn
// without a tool.
type actor func(ctx context.Context, r *model.Request) []act

func (a actor) Generate(ctx context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	out := &model.Answer{Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "hm"}}}
	for i, c := range a(ctx, r) {
		text, raw := c.args.(string)
		if !raw {
			data, err := json.Marshal(c.args)
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		out.Stop = model.StopTools
		out.Parts = append(out.Parts, model.Part{Kind: event.PartToolCall, ID: fmt.Sprintf("t%d-%d", r.Turn, i), Name: c.tool, Args: text})
	}
	return out, ctx.Err()
}

// research opens a home whose quests may be labs, played by an actor.
func research(t *testing.T, home string, a actor) *lab {
	t.Helper()
	l := openLab(t, home, nil)
	l.Societies = append(slices.Clone(societies), rules.Society{})
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return a, nil }
	return l
}

// found makes a lab.
func (l *lab) found(agents int, extra string) string {
	l.t.Helper()
	return l.create(plan(l.t, "q", fmt.Sprintf("society: lab\nagents: %d\ncomputer: none\n%s", agents, extra), "rules: [{say: x}]"))
}

func (l *lab) home(name, agent string) string {
	return filepath.Join(l.QuestDir(name), "agents", agent)
}

// heard is what an agent was told since it spoke.
func heard(r *model.Request) string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == model.Assistant {
			out = nil
			continue
		}
		for _, p := range m.Parts {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

var (
	askedFor  = regexp.MustCompile(`asked to review ([0-9a-f]{32}) by (agent-\d+)`)
	waiting   = regexp.MustCompile(`- ([0-9a-f]{32}) by (agent-\d+), titled .*: due`)
	published = regexp.MustCompile(`(?:has published |your publication )([0-9a-f]{32}).*`)
)

// honest reviews what it is asked to, rejecting what the bad one wrote, and votes for
// what is published.
func honest(r *model.Request, bad string) (out []act) {
	text := heard(r)
	for _, re := range []*regexp.Regexp{askedFor, waiting} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			grade := event.Accept
			if m[2] == bad {
				grade = event.Reject
			}
			out = append(out, act{"submit_review", args{"confidence": 3, "checked": args{"claim": "it", "ran": "it"}, "ref": m[1], "grade": grade, "content": "I looked at it."}})
		}
	}
	for _, m := range published.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[0], "REJECTED") && !strings.Contains(m[0], "reviews are in") {
			out = append(out, act{"vote_solution", args{"ref": m[1]}})
		}
	}
	return out
}

// answers are what tools told an agent, in the order of its calls, with what it called.
type answer struct {
	tool, text string
	failed     bool
}

func (l *lab) answers(name, agent string) (out []answer) {
	l.t.Helper()
	at := map[uint64]int{}
	for _, e := range l.events(name) {
		if e.Actor != agent {
			continue
		}
		got := func(call uint64, output event.Text, failed bool) {
			text, err := agentRead(l, output)
			must(l.t, err)
			out[at[call]].text, out[at[call]].failed = text, failed
		}
		switch b := e.Body.(type) {
		case *event.ToolCall:
			at[e.Seq] = len(out)
			out = append(out, answer{tool: e.Tool})
		case *event.PolicyBlocked:
			if b.Proposal == "tool.call" {
				at[e.Seq] = len(out)
				out = append(out, answer{tool: e.Tool})
			}
		case *event.ToolSkipped:
			at[e.Seq] = len(out)
			out = append(out, answer{tool: e.Tool})
		case *event.ToolAnswered:
			got(b.Call, b.Output, b.Error)
		case *event.ToolResult:
			got(b.Call, b.Output, b.Error)
		}
	}
	return out
}

func agentRead(l *lab, t event.Text) (string, error) {
	return agent.Read(t, func(ref event.Ref) ([]byte, error) { return l.Blob(context.Background(), ref) })
}

// whole fails the test unless the quest verifies and replays, and every call has one
// result. A call that was being prepared when the quest ended gets its own when the
// quest goes on.
func (l *lab) whole(name string) {
	l.t.Helper()
	for what, f := range map[string]func(context.Context, *runtime.Runtime, string, func(uint64)) (*audit.Report, error){"verify": audit.Verify, "replay": audit.Replay} {
		rep, err := f(context.Background(), l.Runtime, name, nil)
		must(l.t, err)
		if rep.Difference != nil {
			l.t.Fatalf("%s of %s: %v\nrecorded %s\ncomputed %s", what, name, rep.Difference, rep.Difference.Recorded, rep.Difference.Computed)
		}
	}
	results, late, over := map[uint64]int{}, map[uint64]bool{}, false
	for _, e := range l.events(name) {
		switch b := e.Body.(type) {
		case *event.ModelCall, *event.ToolCall, *event.ReproductionCall:
			results[e.Seq] += 0
		case *event.ModelResult:
			results[b.Call]++
		case *event.ToolResult:
			results[b.Call]++
		case *event.ToolAnswered:
			results[b.Call]++
		case *event.ReproductionResult:
			results[b.Call]++
		case *event.QuestFinished:
			over = true
		case *event.QuestResumed:
			over = false
		case *event.ToolPrepared:
			late[b.Call] = over
		}
	}
	for seq, n := range results {
		if n != 1 && !(n == 0 && late[seq]) {
			l.t.Fatalf("call %d of %s has %d results", seq, name, n)
		}
	}
}

// said reports whether a request has words anywhere.
func said(r *model.Request, words string) bool {
	return slices.ContainsFunc(r.Messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return strings.Contains(p.Text, words) })
	})
}
