package model

import (
	"slices"

	"lyceum/internal/event"
)

// Unseen stands for a picture that a model cannot see.
const Unseen = "(This picture cannot be shown to you.)"

// Unsighted returns messages for a model that cannot see: words stand for the pictures.
func Unsighted(messages []Message) []Message {
	return EachPicture(messages, func(*Part) string { return Unseen })
}

// EachPicture returns messages with each picture as f leaves it. f may change the
// picture it is given, or return words that are to stand for it. It is asked in the
// order in which the pictures stand. What has none is shared with the messages given,
// which stay as they are.
func EachPicture(messages []Message, f func(*Part) (instead string)) []Message {
	var out []Message
	for i := range messages { // in place: there are many, at each request
		if !shows(messages[i].Parts) {
			continue
		}
		if out == nil {
			out = slices.Clone(messages)
		}
		out[i].Parts = pictured(messages[i].Parts, f)
	}
	if out == nil {
		return messages
	}
	return out
}

func shows(parts []Part) bool {
	for i := range parts {
		if p := &parts[i]; p.Kind == PartImage || len(p.Pictures) > 0 {
			return true
		}
	}
	return false
}

func pictured(parts []Part, f func(*Part) string) []Part {
	out := slices.Clone(parts)
	for i := range out {
		p := &out[i]
		if p.Kind == PartImage {
			if words := f(p); words != "" {
				*p = Part{Kind: event.PartText, Text: words}
			}
			continue
		}
		var kept []Part
		for _, picture := range p.Pictures {
			if words := f(&picture); words != "" {
				p.Text = Below(p.Text, words)
				continue
			}
			kept = append(kept, picture)
		}
		p.Pictures = kept
	}
	return out
}

// Below adds a line to a text.
func Below(text, line string) string {
	if text == "" {
		return line
	}
	return text + "\n" + line
}
