package agent

import (
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// A window is legal when it begins with a user's message, and every result of a
// tool has its call before it. So it can begin anew at a message that a user
// began some work with, or, keeping that message in front, at an answer that
// calls tools right after the results of others.

// startsLoop reports whether m is a user's word alone, not a result.
func (m *Message) startsLoop() bool {
	return m.Role == model.User && !m.Aside && !m.has(model.PartToolResult)
}

// afterResults reports whether the last thing that happened before message i, which is not
// the first of the window, was the end of tools.
func (t *Transcript) afterResults(i int64) bool {
	for i--; i > t.First && t.at(i).Aside; i-- {
	}
	return t.at(i).has(model.PartToolResult)
}

func (m *Message) has(kind string) bool {
	for _, p := range m.Parts {
		if p.Kind == kind {
			return true
		}
	}
	return false
}

// cut chooses a smaller window for a request of total tokens: the largest legal
// one of at most target tokens. If there is none it takes the smallest there is,
// and lets the provider judge.
func (t *Transcript) cut(total, target int64) (head, first int64) {
	head, first = t.Head, t.First
	size := t.Size
	loop := t.Head
	rest := t.Size // tokens of the summary and the messages from i on
	if t.Head < t.First {
		rest -= t.at(t.Head).Tokens
	}
	for i := t.First; i < t.End(); i++ {
		m := t.at(i)
		switch {
		case i == t.First:
		case m.startsLoop():
			loop, head, first, size = i, i, i, rest
		case m.has(event.PartToolCall) && t.afterResults(i):
			head, first, size = loop, i, rest+t.at(loop).Tokens
		}
		rest -= m.Tokens
		if scaled(size, total, t.Size) <= target {
			break
		}
	}
	return head, first
}

// scaled turns an estimate into the provider's tokens.
func scaled(part, total, whole int64) int64 { return part * total / max(whole, 1) }
