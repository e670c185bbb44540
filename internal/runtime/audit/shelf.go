package audit

import (
	"context"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// shelves looks at what agents are recorded to have read of skills. The skills are pinned, so each
// is read again.
type shelves struct {
	rt *runtime.Runtime
	// args are those of calls under way.
	args map[uint64]event.Text
}

// look takes an event in that has been applied to s. Made says that it was a result, and read again.
func (v *shelves) look(ctx context.Context, s *quest.State, e event.Event) (d *Difference, made bool, err error) {
	if e.Tool != quest.LoadSkill && e.Tool != quest.LoadReference || s.Knowledge == nil {
		return nil, false, nil
	}
	switch b := e.Body.(type) {
	case *event.ToolCall:
		if u, err := s.Agent(e.Actor).Use(e.Seq); err == nil {
			v.args[e.Seq] = u.Args
		}
	case *event.ToolResult:
		args, ok := v.args[b.Call]
		delete(v.args, b.Call)
		if ok {
			d, err = v.read(ctx, s, e, b, args)
			return d, true, err
		}
	}
	return nil, false, nil
}

// read reads what a call has read again. What the rules are told must be the same; what the agent
// is told must begin with it, for notes may stand behind.
func (v *shelves) read(ctx context.Context, s *quest.State, e event.Event, b *event.ToolResult, given event.Text) (*Difference, error) {
	blobs := func(ref event.Ref) ([]byte, error) { return v.rt.Blob(ctx, ref) }
	args, err := agent.Read(given, blobs)
	if err != nil {
		return nil, err
	}
	shelf, err := v.rt.ShelfOf(ctx, s)
	if err != nil {
		return nil, err
	}
	got := b.Output.Text
	if b.Output.Ref != nil {
		if got, err = agent.Read(event.Text{Ref: b.Output.Ref}, blobs); err != nil {
			return nil, err
		}
	}
	text, outcome, failed := shelf.Read(ctx, e.Tool, args, s.Agent(e.Actor).Limit)
	if b.Error && (failed != nil || b.Full != nil) || !b.Error && failed == nil && b.Outcome == outcome && strings.HasPrefix(got, runtime.Clean(v.rt.Redact(text))) {
		return nil, nil
	}
	if failed != nil {
		text = failed.Error()
	}
	return &Difference{Seq: e.Seq, What: "what the agent was shown is not what the skill says that the quest has pinned", Recorded: event.Shorten(got, 400), Computed: event.Shorten(text, 400)}, nil
}
