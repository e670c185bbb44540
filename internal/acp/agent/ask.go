package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"

	sdk "github.com/coder/acp-go-sdk"
)

// What a quest asks a person, as far as the client can have it decided.

// askOpen asks the client what a quest that waits has asked before this turn.
func (t *turn) askOpen(st *quest.State) {
	for _, q := range st.Open() {
		t.ask(q.Seq, &q.Body)
	}
}

// ask has the client decide a question that has answers to choose from; any other, or one that
// it leaves open, the person answers with the next prompt. Where yes or no is asked, no answer
// is a no.
func (t *turn) ask(seq uint64, b *event.InteractionOpened) {
	if len(b.Options) == 0 || t.asked[seq] != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	t.asked[seq] = cancel
	t.pending++
	a, s := t.agent, t.session
	request := permission(s.id, seq, b)
	t.works.Go(func() {
		defer cancel()
		choice := a.decide(ctx, request, b)
		if ctx.Err() != nil && t.ctx.Err() == nil {
			choice = "" // it was decided elsewhere
		}
		if choice != "" {
			// One that comes too late is refused, and nothing comes of it. The answer is told
			// to the client as everybody's are: that it is recorded is news.
			if _, err := a.post(a.life, s.id, &event.InteractionAnswered{Interaction: seq, Choice: choice}); err != nil {
				a.opts.Say(fmt.Sprintf("Session %s: the answer to question %d was not taken: %s", s.id, seq, plain.Line(err.Error())))
			}
		}
		select {
		case t.decided <- choice != "":
		case <-t.ctx.Done():
		}
	})
}

// over takes a question back that the client was asked.
func (t *turn) over(seq uint64) {
	if cancel := t.asked[seq]; cancel != nil {
		cancel()
	}
}

// decide returns the option that the client chose, empty if it chose none.
func (a *Agent) decide(ctx context.Context, request sdk.RequestPermissionRequest, b *event.InteractionOpened) string {
	no := ""
	if b.Proposal != "" && slices.Contains(b.Options, "no") {
		no = "no"
	}
	if a.can().elicit {
		return cmp.Or(a.elicit(ctx, request, b), no)
	}
	return cmp.Or(a.permit(ctx, request), no)
}

// permission is a question as the protocol has it: about a call of a tool.
func permission(name string, seq uint64, b *event.InteractionOpened) sdk.RequestPermissionRequest {
	id := sdk.ToolCallId(fmt.Sprintf("question-%d", seq))
	if b.Answer != 0 {
		id = acp.ToolID(b.Answer, b.Part)
	}
	out := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(name), ToolCall: sdk.ToolCallUpdate{
		ToolCallId: id, Title: new(plain.Brief(b.Question.Text, 200)),
		Content: []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(plain.Text(b.Question.Text)))},
	}}
	for _, o := range b.Options {
		kind := sdk.PermissionOptionKindAllowOnce
		if b.Proposal != "" && o != "yes" {
			kind = sdk.PermissionOptionKindRejectOnce
		}
		out.Options = append(out.Options, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(o), Name: plain.Brief(o, 200), Kind: kind})
	}
	return out
}

// nudge has the quest looked after again, though nobody has answered.
func (t *turn) nudge() {
	select {
	case t.moved <- struct{}{}:
	default:
	}
}

// answers waits for an answer to one of the questions that the client was asked, and reports
// whether there is one, or the quest may go on for another reason: something else was said to
// it, or somebody else decided, be it that the time for it is over.
func (t *turn) answers(st *quest.State) (bool, error) {
	if t.pending == 0 {
		return t.answered, nil
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	rt, name := t.agent.rt, t.session.id
	news := t.news(ctx, st.Seq)
	// A server has a clock of its own, and takes what is said to its quest.
	var due <-chan time.Time
	var posted <-chan struct{}
	if !t.run.served {
		if at := st.Due(); at != 0 {
			timer := time.NewTimer(time.Duration(at-rt.Clock()) * time.Microsecond)
			defer timer.Stop()
			due = timer.C
		}
		var stop func()
		posted, stop = rt.Ledger.Posted(name)
		defer stop()
	}
	for t.pending > 0 {
		if said, err := rt.Ledger.Commands(ctx, name, st.Inbox); posted != nil && (len(said) > 0 || err != nil) {
			return true, err
		}
		select {
		case <-posted:
		case answered := <-t.decided:
			t.pending--
			if answered {
				return true, nil
			}
		case e := <-news:
			if e.Type == "quest.paused" && e.Actor == "person" {
				return false, errHeld
			}
			return true, nil
		case <-due:
			return true, nil
		case <-t.moved:
			return true, nil
		case <-t.ctx.Done():
			return false, t.ctx.Err()
		}
	}
	return t.answered, nil
}

// news has the first event after another, whoever caused it.
func (t *turn) news(ctx context.Context, after uint64) <-chan event.Event {
	out := make(chan event.Event, 1)
	t.works.Go(func() {
		for e, err := range t.agent.rt.Ledger.Follow(ctx, t.session.id, after+1) {
			if err == nil {
				out <- e
			}
			return
		}
	})
	return out
}
