package quest

import (
	"cmp"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Concluder is a society that can say a quest's answer in a line: the value, who agrees,
// how sure that makes it. It says so at any time, from the state alone.
type Concluder interface {
	// Verdict is nil while there is nothing to say.
	Verdict(s *State) *Verdict
}

// Verdict is a quest's answer as a line of its own. What agents wrote in it is for others
// to make harmless.
type Verdict struct {
	// Value is the answer itself, on one line.
	Value string `json:"value"`
	// Candidate says that it is the best there is, and no answer that the quest ended with.
	Candidate bool `json:"candidate"`
	// Agree says who agrees, in words.
	Agree string `json:"agree"`
	// Sure is high, medium, low or unchecked, and Why says why.
	Sure string `json:"sure"`
	Why  string `json:"why"`
	// Source is what it stands in, such as a paper, empty if there is only the answer.
	Source string `json:"source,omitempty"`
	// Votes are how many of Voters are for it; Same and Otherwise are how many other
	// results say the same and something else. They are there where the society counts such.
	Votes     *int64 `json:"votes,omitempty"`
	Voters    *int64 `json:"voters,omitempty"`
	Same      *int64 `json:"same,omitempty"`
	Otherwise *int64 `json:"otherwise,omitempty"`
}

// How sure a verdict is. Unchecked is what nobody but its author has looked at.
const (
	SureHigh      = "high"
	SureMedium    = "medium"
	SureLow       = "low"
	SureUnchecked = "unchecked"
)

// maxVerdict is how long the value of a verdict is, in bytes of JSON.
const maxVerdict = 200

// InShort is a text as the value of a verdict: its first line that says something, without
// marks of bold type. A heading is one only if nothing else is there.
func InShort(text string) string {
	heading := ""
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "\uFFFD")), " ")
		said := event.Shorten(plain.Unmarked(line), maxVerdict)
		if strings.Trim(said, "#*_ ") == "" {
			said = "" // a rule, or marks of nothing
		}
		switch {
		case said == "":
		case strings.HasPrefix(line, "#"):
			heading = cmp.Or(heading, said)
		default:
			return said
		}
	}
	return heading
}

// Verdict is the quest's answer in a line, nil while there is none.
func (s *State) Verdict() *Verdict {
	c, ok := s.rules.Society.(Concluder)
	if !ok {
		return nil
	}
	v := c.Verdict(s)
	if v != nil && v.Value == "" {
		v.Value = "(a long answer: read it whole)" // it stands in a blob
	}
	return v
}

// Heading is the verdict as it stands before an answer that is written out whole: a
// quotation in Markdown, empty while there is none.
func (s *State) Heading() string {
	v := s.Verdict()
	if v == nil {
		return ""
	}
	return "> " + v.Line() + "\n\n"
}

// Line is a verdict in one line.
func (v *Verdict) Line() string {
	head := v.Value
	if v.Candidate {
		head += " (a candidate, no answer yet)"
	}
	for _, part := range v.Parts() {
		head += " · " + part
	}
	return head
}

// Parts are what there is to say of a value: who agrees, how sure that makes it, and
// where it stands.
func (v *Verdict) Parts() (out []string) {
	for _, part := range []string{v.Agree, v.Certainty(), v.Source} {
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// Certainty says how sure a verdict is, and why.
func (v *Verdict) Certainty() string {
	if v.Why == "" {
		return "sure: " + v.Sure
	}
	return "sure: " + v.Sure + " (" + v.Why + ")"
}
