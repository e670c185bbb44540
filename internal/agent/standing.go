package agent

import (
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// What an agent is shown, beyond what was said: the policy of its window.
//
// A full window is cut to about half. Before that the model may be asked to sum up what
// will go (Compacts): its words then stand in front of what stays. If that fails, the
// window is cut without. After either, and every so many turns, the rules tell the agent
// where it stands. That is the last thing a request says, and stays where it is: what
// follows is said behind it, so that requests go on beginning alike, which providers make
// cheaper.

// standEvery is after how many turns an agent is told again where it stands.
const standEvery = 20

// StandingDue reports whether the agent must be told where it stands before its next call.
func (a *Agent) StandingDue() bool {
	turn := a.Turns + 1
	if a.Stood == turn {
		return false
	}
	head, first := a.window()
	return turn-a.Stood >= standEvery || head != a.Transcript.Head || first != a.Transcript.First || a.Has != nil && a.Seen != a.Computer
}

// Stand tells the agent where it stands. It panics if the agent is busy: the rules tell it
// right before they ask its model.
func (a *Agent) Stand(t event.Text) {
	if a.Phase() != Ready {
		panic("the agent is told where it stands, and is " + a.Phase().String())
	}
	a.Transcript.addAside(t)
	a.Stood, a.Seen = a.Turns+1, a.Computer
}

// window is the one that the next call has.
func (a *Agent) window() (head, first int64) {
	t := &a.Transcript
	total := a.Filled()
	switch {
	case a.Overflows > 0:
		return t.cut(total, total/2)
	case total > a.Limit:
		return t.cut(total, a.Limit/2)
	}
	return t.Head, t.First
}

// Compaction is the model.call that sums up what the window has no room for any more, nil
// if there is nothing to sum up, or the window is to be cut without. ask is what the model
// is told, and mark what will stand before its words.
func (a *Agent) Compaction(ask, mark string) *event.ModelCall {
	t := &a.Transcript
	head, first := a.window()
	if !a.Compacts || a.Uncompacted || a.Overflows > 0 || ask == "" || first <= t.First+1 {
		return nil
	}
	c := a.call(t.Head, t.First, first-1)
	c.Compact = &event.Compaction{Ask: event.Text{Text: ask}, First: first, Head: head, Mark: mark}
	c.Rendering = t.rendering(c)
	return c
}

// asked is what the model is told last, when it is asked for a summary.
func asked(c *event.Compaction) Message {
	return message(model.User, []Part{{Kind: event.PartText, Text: c.Ask}})
}

// compacted takes the summary that the model was asked for. If there is none, or one that
// takes more than a quarter of the window, the window will be cut.
func (a *Agent) compacted(r *event.ModelResult) {
	c := a.Compacting
	a.Compacting, a.Failed, a.Stop = nil, nil, ""
	defer a.flushQueue()
	var parts []Part
	for _, p := range r.Parts {
		if p.Kind == event.PartText && p.Text != nil && p.Text.Len() > 0 {
			parts = append(parts, partOf(p))
		}
	}
	t := &a.Transcript
	m := message(model.User, append([]Part{{Kind: event.PartText, Text: event.Text{Text: c.Mark}}}, parts...))
	if r.Error != nil || len(parts) == 0 || m.Tokens > a.Limit/4 || c.First <= t.First || c.First > t.End() {
		a.Uncompacted = true
		return
	}
	a.standFor(c.Head, c.First, m)
}

// ToSum are the messages that a summary by the rules would stand for now: the older half of
// what the model is shown. ok is false while the agent is busy, or nothing can go.
func (a *Agent) ToSum() (first, last int64, ok bool) {
	t := &a.Transcript
	if a.Phase() != Ready || a.Session != nil {
		return 0, 0, false
	}
	total := t.tokens(0)
	_, next := t.cut(total, total/2)
	return t.First, next - 1, next > t.First+1
}

// Summable reports whether a summary can stand for these messages now.
func (a *Agent) Summable(first, last int64) bool {
	from, to, ok := a.ToSum()
	return ok && first == from && last == to
}

// Summarized puts words of the rules into the place of older messages, as a summary of the
// model's own would be.
func (a *Agent) Summarized(b *event.TaskSummary) {
	t := &a.Transcript
	total := t.tokens(0)
	head, next := t.cut(total, total/2)
	a.standFor(head, next, message(model.User, []Part{{Kind: event.PartText, Text: b.Text}}))
}

// standFor moves the window, and has a message stand for what goes.
func (a *Agent) standFor(head, first int64, m Message) {
	t := &a.Transcript
	m.Aside = true
	t.moveTo(head, first)
	t.Size += m.Tokens - t.summed()
	if t.Reported > 0 {
		t.Reported += m.Tokens - t.summed()
		t.Most += m.weight()
	}
	t.Summary = &m
	a.Stood = -standEvery // the window is another one
}
