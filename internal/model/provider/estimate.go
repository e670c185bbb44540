package provider

import (
	"cmp"
	"errors"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// What an attempt used that its provider did not tell, reckoned from above: a token has
// at least a byte, so a text has no more tokens than bytes.

// unseen is how many tokens a provider may have made that did not come, where no limit of
// an answer is known; frame is what the format puts around a part, and sight what a
// picture is at most.
const (
	unseen = 4096
	frame  = 16
	sight  = 4096
)

// untold reports whether a provider has told nothing of what an answer used.
func untold(u event.Usage) bool { return u.Input <= 0 && u.Output <= 0 }

// charge adds what a failed attempt used. One that broke off in the middle of an answer is
// charged for all that it may have used, if the provider did not tell. Where nothing
// came, nothing is: a provider that is away must not use up a quest's money.
func (at *attempts) charge(c *caller, r *model.Request, heard int64, err error) {
	used := event.Usage{}
	if e, ok := errors.AsType[*model.Error](err); ok {
		used = sane(e.Usage)
	}
	if untold(used) && heard > 0 && c.price != nil {
		used = c.bound(r, cmp.Or(c.limit(r), heard+unseen))
		at.estimated = true
	}
	if used != (event.Usage{}) {
		at.wasted.Add(used)
		at.paid++
	}
}

// limit is how many tokens an answer to a request can have; 0 if nobody knows.
func (c *caller) limit(r *model.Request) int64 {
	if r.MaxTokens > 0 {
		return r.MaxTokens
	}
	return c.output
}

// written is how many tokens an answer of so many bytes can have.
func (c *caller) written(r *model.Request, bytes int64) int64 {
	if most := c.limit(r); most > 0 {
		return min(bytes, most)
	}
	return bytes
}

// bound is the most that a request and an answer of so many tokens use.
func (c *caller) bound(r *model.Request, output int64) event.Usage {
	input := int64(len(r.System))
	for _, t := range r.Tools {
		input += int64(len(t.Name)+len(t.Description)+len(t.Shown())) + frame
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			input += weight(p) + frame
		}
	}
	if c.context > 0 {
		input = min(input, c.context)
	}
	return event.Usage{Input: max(input, 1), Output: output}
}

func weight(p model.Part) int64 {
	if p.Kind == model.PartImage {
		return sight
	}
	return int64(len(p.Text)+len(p.ID)+len(p.Name)+len(p.Args)+len(p.Opaque)) + int64(len(p.Pictures))*sight
}

// heardIn is how many tokens an answer has at most that is whole.
func heardIn(a *model.Answer) (n int64) {
	for _, p := range a.Parts {
		n += weight(p)
	}
	return n
}
