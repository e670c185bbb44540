package acp

import (
	"cmp"
	"fmt"
	"slices"

	"lyceum/internal/event"

	sdk "github.com/coder/acp-go-sdk"
)

// executor says what an executor did and said. It came as updates of this very protocol, and
// goes out as such again: what is not of the protocol was left out when it was recorded.
func (t *translator) executor() (out []sdk.SessionUpdate) {
	add := func(kind string, text event.Text) {
		if text.Len() == 0 {
			return
		}
		said := unheard(t.heard, kind, t.text(text))
		switch {
		case said == "":
		case kind == event.PartThinking:
			out = append(out, sdk.UpdateAgentThoughtText(said))
		default:
			out = append(out, t.says(said))
		}
	}
	switch b := t.event.Body.(type) {
	case *event.PromptResult:
		add(event.PartThinking, b.Thought)
		add(event.PartText, b.Text)
	case *event.SaidReported:
		if b.Thought {
			add(event.PartThinking, b.Text)
			break
		}
		add(event.PartText, b.Text)
	case *event.ToolProposed:
		out = append(out, sdk.StartToolCall(ToolID(t.event.Seq, 0), b.Name, sdk.WithStartKind(toolKind(b.Name)),
			sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartRawInput(t.input(&b.Args))))
	case *event.ToolReported:
		out = append(out, t.reported(b))
	case *event.PlanReported:
		entries := []sdk.PlanEntry{}
		for _, x := range b.Entries {
			entries = append(entries, sdk.PlanEntry{Content: x.Text, Priority: sdk.PlanEntryPriority(cmp.Or(x.Priority, "medium")), Status: sdk.PlanEntryStatus(x.Status)})
		}
		if b.More > 0 {
			entries = append(entries, sdk.PlanEntry{Content: fmt.Sprintf("and %d more", b.More), Priority: sdk.PlanEntryPriorityLow, Status: sdk.PlanEntryStatusPending})
		}
		out = append(out, sdk.UpdatePlan(entries...))
	}
	return out
}

// reported is a call of an executor's own. A client takes the second one of the same id for
// what became of the first.
func (t *translator) reported(b *event.ToolReported) sdk.SessionUpdate {
	// The id is the executor's: it may have those of another prompt, and of another agent.
	id := sdk.ToolCallId(fmt.Sprintf("%s-%d-%s", t.event.Actor, b.Prompt, b.ID))
	title := cmp.Or(t.text(b.Title), b.Kind, b.ID)
	var places []sdk.ToolCallLocation
	for _, p := range b.Paths {
		places = append(places, sdk.ToolCallLocation{Path: p})
	}
	if b.Status == "completed" || b.Status == "failed" {
		u := outcome(id, b.Status == "failed", t.text(b.Output))
		u.ToolCallUpdate.Title, u.ToolCallUpdate.Kind, u.ToolCallUpdate.Locations = &title, new(kindOf(b.Kind)), places
		return u
	}
	return sdk.StartToolCall(id, title, sdk.WithStartKind(kindOf(b.Kind)), sdk.WithStartStatus(sdk.ToolCallStatus(b.Status)),
		sdk.WithStartLocations(places), sdk.WithStartRawInput(t.input(&b.Input)))
}

// kinds are those of calls that a client draws.
var kinds = []sdk.ToolKind{
	sdk.ToolKindRead, sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove, sdk.ToolKindSearch, sdk.ToolKindExecute, sdk.ToolKindThink, sdk.ToolKindFetch, sdk.ToolKindSwitchMode,
}

func kindOf(kind string) sdk.ToolKind {
	if k := sdk.ToolKind(kind); slices.Contains(kinds, k) {
		return k
	}
	return sdk.ToolKindOther
}
