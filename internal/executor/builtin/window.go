package builtin

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// window says what of a conversation is not shown to the model any more: the results and the
// pictures, and the arguments of calls, of lines before a place, and whole lines behind the first word. What is
// not shown stays in the session's file.
type window struct {
	Results int `json:"results,omitzero"`
	Args    int `json:"args,omitzero"`
	Lines   int `json:"lines,omitzero"`
}

// What stands in place of what is not shown.
const (
	droppedResult = "(This result was dropped to make room. Call the tool again if you need it.)"
	droppedArgs   = `{"dropped":"to make room"}`
	least         = 200 // bytes that are not worth dropping
)

// size is how many bytes of a line the model is shown.
func (w window) size(i int, l *line, first int) (n int) {
	if i > first && i < w.Lines {
		return 0
	}
	switch l.Kind {
	case kindUser:
		n = len(l.Text)
		for _, p := range w.pictures(i, l) {
			n += len(p.Text)
			if p.Kind == model.PartImage {
				n += pictureSize
			}
		}
		return n
	case kindResult:
		return len(w.result(i, l))
	case kindAnswer:
		for _, p := range l.Parts {
			n += len(p.Text) + len(p.Opaque) + len(p.Name) + len(w.args(i, p))
		}
	}
	return n
}

func (w window) result(i int, l *line) string {
	if i < w.Results && len(l.Text) > least {
		return droppedResult
	}
	return l.Text
}

func (w window) args(i int, p part) string {
	if i < w.Args && len(p.Args) > least {
		return droppedArgs
	}
	return p.Args
}

// narrow returns the window that has the conversation fit into so many bytes, as far as that
// is possible: the oldest results go first, then the oldest arguments, then the oldest prompts
// with all that came of them. It drops more than it must, so that what is shown stays the same
// for a while. What the model has not answered yet stays, and so does the first thing that it
// was told.
func (w window) narrow(lines []line, most int) window {
	first, last, prompt := marks(lines)
	total := 0
	for i := range lines {
		total += w.size(i, &lines[i], first)
	}
	if total <= most {
		return w
	}
	enough := most / 4 * 3
	advance := func(to *int, end int) {
		for *to < end && total > enough {
			total -= w.size(*to, &lines[*to], first)
			*to++
			total += w.size(*to-1, &lines[*to-1], first)
		}
	}
	advance(&w.Results, last)
	advance(&w.Args, last)
	// Only whole prompts are left out: a result needs its call.
	for next := w.Lines; next < prompt && total > enough; {
		for next++; next < prompt && (next <= first || lines[next].Kind != kindUser); next++ {
		}
		for i := w.Lines; i < next; i++ {
			if i > first {
				total -= w.size(i, &lines[i], first)
			}
		}
		w.Lines = next
	}
	return w
}

// marks are the places of the first thing that was said, of the last answer, and of the last
// thing that was said.
func marks(lines []line) (first, last, prompt int) {
	first = -1
	for i := range lines {
		switch lines[i].Kind {
		case kindUser:
			if prompt = i; first < 0 {
				first = i
			}
		case kindAnswer:
			last = i
		}
	}
	return first, last, prompt
}

// messages is the conversation as the model is shown it.
func (w window) messages(lines []line) (out []model.Message) {
	first, _, _ := marks(lines)
	names := map[string]string{}
	say := func(r model.Role, parts ...model.Part) {
		if n := len(out); n > 0 && out[n-1].Role == r {
			out[n-1].Parts = append(out[n-1].Parts, parts...)
			return
		}
		out = append(out, model.Message{Role: r, Parts: parts})
	}
	hidden := 0
	for i := range lines {
		l := &lines[i]
		if i > first && i < w.Lines {
			hidden++
			continue
		}
		if hidden > 0 {
			say(model.User, model.Part{Kind: event.PartText, Text: fmt.Sprintf("(%d entries of this conversation were dropped here to make room.)", hidden)})
			hidden = 0
		}
		switch l.Kind {
		case kindUser:
			if l.Text != "" {
				say(model.User, model.Part{Kind: event.PartText, Text: l.Text})
			}
			say(model.User, w.pictures(i, l)...)
		case kindAnswer:
			var parts []model.Part
			for _, p := range l.Parts {
				m := p.model()
				m.Args = w.args(i, p)
				names[p.Call] = p.Name
				parts = append(parts, m)
			}
			if len(parts) > 0 {
				say(model.Assistant, parts...)
			}
		case kindResult:
			say(model.User, model.Part{Kind: model.PartToolResult, ID: l.ID, Name: names[l.ID], Text: w.result(i, l), Error: l.Failed})
		}
	}
	return out
}
