package runtime

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// refused keeps the books on what policies refuse. A refused tool call has one
// answer, like any other call.
func (w *world) refused(e event.Event, b *event.PolicyBlocked) {
	if b.Proposal == "tool.call" {
		w.calls[e.Seq] = true
	}
	if w.report.Blocked == nil {
		w.report.Blocked = map[string]int{}
	}
	for _, by := range b.By {
		w.report.Blocked[by.Policy]++
	}
}

// A simGuard watches a ledger for what the policies must not have let happen. It
// counts in its own plain way, from the events alone.
type simGuard struct {
	on map[string]bool
	// parts are the arguments of each tool call proposed, by answer and part.
	parts map[[2]uint64][]byte
	open  map[uint64]simCall
	// calls counts those of unsafe since a person last spoke; passed are paths.
	calls  int
	passed map[string]bool
	// errs are the last errors of each tool that came without a success between.
	errs map[string][]event.Text
	// turns counts those of the agent, which may have most.
	turns, most int64
}

type simCall struct {
	tool, path string
	readable   bool
	stale      bool
}

// The settings that a simulation's policies have, for those it watches.
const (
	simMaxCalls   = 4
	simSameErrors = 2
)

func newGuard(policies []event.PolicySpec) *simGuard {
	g := &simGuard{on: map[string]bool{}, parts: map[[2]uint64][]byte{}, open: map[uint64]simCall{}, passed: map[string]bool{}, errs: map[string][]event.Text{}}
	for _, p := range policies {
		g.on[p.Name] = true
	}
	return g
}

func (g *simGuard) watch(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.UserMessage:
		g.calls = 0
		clear(g.errs)
	case *event.QuestResumed:
		clear(g.errs)
	case *event.ModelCall:
		g.turns++
		if g.most > 0 && g.turns > g.most {
			return fmt.Errorf("the agent has its turn %d of %d", g.turns, g.most)
		}
	case *event.ModelResult:
		for i, p := range b.Parts {
			if p.Args != nil {
				g.parts[[2]uint64{e.Seq, uint64(i)}] = []byte(p.Args.Text)
			}
		}
	case *event.FileDiff:
		clear(g.passed)
		for seq, o := range g.open {
			if seq != b.Call {
				o.stale = true
				g.open[seq] = o
			}
		}
	case *event.ToolCall:
		return g.began(e, b)
	case *event.ToolResult:
		g.ended(b.Call, b)
	case *event.ToolAnswered:
		delete(g.open, b.Call)
	}
	return nil
}

// began checks a tool call that was let pass.
func (g *simGuard) began(e event.Event, b *event.ToolCall) error {
	c := simCall{tool: e.Tool}
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(g.parts[[2]uint64{b.Answer, uint64(b.Part)}], &args) == nil && args.Path != "" {
		c.path, c.readable = strings.TrimPrefix(path.Clean("/"+args.Path), "/"), true
	}
	top, _, _ := strings.Cut(c.path, "/")
	switch {
	case g.on["no-touch"] && (top == "secret" || !c.readable):
		return fmt.Errorf("%s was called with the path %q", e.Tool, args.Path)
	case g.on["analysis-first"] && e.Tool == "unsafe" && !g.passed[c.path]:
		return fmt.Errorf("unsafe was called on %q, which had passed nothing", c.path)
	case g.on["same-error"] && g.closed(e.Tool):
		return fmt.Errorf("%s was called after the same error %d times", e.Tool, simSameErrors)
	}
	if e.Tool == "unsafe" {
		if g.calls++; g.on["max-calls"] && g.calls > simMaxCalls {
			return fmt.Errorf("unsafe was called %d times", g.calls)
		}
	}
	if g.on["one-at-a-time"] && slices.Contains([]string{"a", "b"}, top) {
		for seq, o := range g.open {
			if oTop, _, _ := strings.Cut(o.path, "/"); oTop == top {
				return fmt.Errorf("call %d works in %s, and so does call %d", e.Seq, top, seq)
			}
		}
	}
	g.open[e.Seq] = c
	return nil
}

func (g *simGuard) closed(tool string) bool {
	last := g.errs[tool]
	n := len(last)
	return n >= simSameErrors && !slices.ContainsFunc(last[n-simSameErrors:], func(t event.Text) bool { return !sameText(t, last[n-1]) })
}

func sameText(a, b event.Text) bool {
	if (a.Ref == nil) != (b.Ref == nil) {
		return false
	}
	return a.Text == b.Text && (a.Ref == nil || a.Ref.Hash == b.Ref.Hash)
}

func (g *simGuard) ended(call uint64, b *event.ToolResult) {
	c := g.open[call]
	delete(g.open, call)
	if b.Error {
		g.errs[c.tool] = append(g.errs[c.tool], b.Output)
	} else {
		clear(g.errs)
	}
	if c.tool == "safe" && c.readable {
		if delete(g.passed, c.path); !b.Error && !c.stale {
			g.passed[c.path] = true
		}
	}
}
