package runtime_test

import (
	"context"
	"slices"
	"testing"

	"lyceum/internal/event"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Beforehand agents' resources and prompts are told as their first search will find them; afterwards
// as it did.
func TestResourcesAndPromptsAreForeseen(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	p.tool("hello", "Says hello.", says("hello"))
	p.AddResource(&mcp.Resource{URI: "office://tables", Name: "tables", Description: "The times tables: what six times seven is."}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	p.AddPrompt(&mcp.Prompt{Name: "multiply", Description: "Asks what six times seven is."}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	pl := plan(t, "q", "discover: true\n"+p.with(l, ""), talks)
	before, err := l.Foresee(t.Context(), pl, "")
	must(t, err)
	if s := before.Servers; len(s) != 1 || s[0].Error != "" || s[0].Tools != 1 || s[0].Resources != 1 || s[0].Prompts != 1 {
		t.Fatalf("the server is told as %+v, want one of each", s)
	}
	name := l.create(pl)
	l.run(name)
	first := l.shownLists(name)[0].Beside
	if got := before.Agents[0].Beside; len(got) != 2 || !slices.Equal(got, first) {
		t.Errorf("foreseen are %+v, and found were %+v; want both things, and the same", got, first)
	}
	after, err := l.Shown(t.Context(), name)
	must(t, err)
	if got := after.Agents[0].Beside; !slices.Equal(got, first) {
		t.Errorf("afterwards it is told that %+v were found, want %+v", got, first)
	}
	plain, err := l.Foresee(t.Context(), plan(t, "r", p.with(l, ""), talks), "")
	must(t, err)
	if got := plain.Agents[0].Beside; !slices.Equal(got, []event.FoundBeside{}) {
		t.Errorf("an agent that finds nothing is told to find %+v", got)
	}
}
