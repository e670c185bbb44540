package runtimetest

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// guard watches a ledger for what the policies must not have let happen. It
// counts in its own plain way, from the events alone.
type guard struct {
	on map[string]bool
	// parts are the arguments of each tool call proposed, by answer and part.
	parts map[[2]uint64][]byte
	open  map[uint64]guarded
	// calls counts those of unsafe since a person last spoke; passed are paths.
	calls  int
	passed map[string]bool
	// errs are the last errors of each tool that came without a success between.
	errs map[string][]event.Text
}

type guarded struct {
	tool, path string
	readable   bool
	stale      bool
	// counted says that the call is one of those of unsafe that are counted.
	counted bool
}

// The settings that a simulation's policies have, for those it watches.
const (
	maxCalls   = 4
	sameErrors = 2
)

func newGuard(policies []event.PolicySpec) *guard {
	g := &guard{on: map[string]bool{}, parts: map[[2]uint64][]byte{}, open: map[uint64]guarded{}, passed: map[string]bool{}, errs: map[string][]event.Text{}}
	for _, p := range policies {
		g.on[p.Name] = true
	}
	return g
}

func (g *guard) watch(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.UserMessage:
		g.calls = 0
		for seq, o := range g.open {
			o.counted = false
			g.open[seq] = o
		}
		clear(g.errs)
	case *event.QuestForked:
		for _, o := range g.open { // the fork calls again for what was under way
			if o.counted {
				g.calls--
			}
		}
		clear(g.open)
		clear(g.errs)
	case *event.QuestResumed:
		clear(g.errs)
	case *event.ModelResult:
		for i, p := range b.Parts {
			if p.Args != nil && p.Args.Ref == nil {
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
		if !slices.Contains(pathless, e.Tool) && !strings.Contains(e.Tool, "__") { // tools of servers touch nothing
			return g.began(e, b)
		}
	case *event.ToolResult:
		g.ended(b.Call, b)
	case *event.ToolAnswered:
		delete(g.open, b.Call)
	}
	return nil
}

// pathless are tools that have no path, and touch nothing.
var pathless = []string{asking, quest.SearchTools, quest.Relate, quest.Unrelate, quest.Relations}

// began checks a tool call that was let pass.
func (g *guard) began(e event.Event, b *event.ToolCall) error {
	c := guarded{tool: e.Tool}
	var args struct {
		Path string `json:"path"`
	}
	given, seen := g.parts[[2]uint64{b.Answer, uint64(b.Part)}]
	none := seen && len(bytes.TrimSpace(given)) == 0 // as if it were {}: there is no path
	if json.Unmarshal(given, &args) == nil && args.Path != "" {
		c.path, c.readable = strings.TrimPrefix(path.Clean("/"+args.Path), "/"), true
	}
	top, _, _ := strings.Cut(c.path, "/")
	switch {
	case g.on["no-touch"] && (top == "secret" || !c.readable && !none):
		return fmt.Errorf("%s was called with the path %q", e.Tool, args.Path)
	case g.on["analysis-first"] && e.Tool == Unsafe && !g.passed[c.path]:
		return fmt.Errorf("unsafe was called on %q, which had passed nothing", c.path)
	case g.on["same-error"] && g.closed(e.Tool):
		return fmt.Errorf("%s was called after the same error %d times", e.Tool, sameErrors)
	}
	if e.Tool == Unsafe {
		c.counted = true
		if g.calls++; g.on["max-calls"] && g.calls > maxCalls {
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

func (g *guard) closed(tool string) bool {
	last := g.errs[tool]
	n := len(last)
	return n >= sameErrors && !slices.ContainsFunc(last[n-sameErrors:], func(t event.Text) bool { return !sameText(t, last[n-1]) })
}

func sameText(a, b event.Text) bool {
	if (a.Ref == nil) != (b.Ref == nil) {
		return false
	}
	return a.Text == b.Text && (a.Ref == nil || a.Ref.Hash == b.Ref.Hash)
}

func (g *guard) ended(call uint64, b *event.ToolResult) {
	c := g.open[call]
	delete(g.open, call)
	if b.Error {
		g.errs[c.tool] = append(g.errs[c.tool], b.Output)
	} else {
		clear(g.errs)
	}
	if c.tool == Safe && c.readable {
		if delete(g.passed, c.path); !b.Error && !c.stale {
			g.passed[c.path] = true
		}
	}
}
