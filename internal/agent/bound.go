package agent

import (
	"math"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"
)

// What a call can use at most, where limits are strict. A token has at least a byte, so a
// text has no more tokens than bytes; what a provider has counted once, it counts alike
// again.

// The most that comes to a text: frame is what a format puts around a part, sight is a
// picture, line what is said of a file, and unseen what a provider says to its model by
// itself.
const (
	frame  = 16
	sight  = 4096
	line   = 1024
	unseen = 2048
)

// Bound is how many tokens the agent's next call can read and write at most. The
// second is 0 if nobody knows. ask is what is said besides, if it is asked for a summary.
func (a *Agent) Bound(ask string) (input, output int64) {
	t := &a.Transcript
	all := a.System.Size + a.Tools.Size + unseen + t.weight(0)
	if t.Most > 0 {
		all = min(all, t.Most+frame+t.weight(t.Counted))
	}
	output = a.MaxOutput
	if output == 0 {
		output = a.RaisedOutput
	}
	return all + int64(len(ask)) + frame, output
}

// Reserve is what the agent's next call can use at most, in nanodollars and tokens; the
// highest number there is, if nobody knows.
func (a *Agent) Reserve(ask string) (cost, tokens int64) {
	input, output := a.Bound(ask)
	if output == 0 {
		return math.MaxInt64, math.MaxInt64
	}
	if a.Price == nil {
		return math.MaxInt64, input + output
	}
	return a.Price.Most(input, output), input + output
}

// weight is the most tokens that the messages of the window from number from on have.
func (t *Transcript) weight(from int64) (sum int64) {
	if from == 0 {
		if t.Lead != nil {
			sum += t.Lead.weight()
		}
		if t.Summary != nil {
			sum += t.Summary.weight()
		}
	}
	for i := max(t.First, from); i < t.End(); i++ {
		sum += t.Messages[i-t.First].weight()
	}
	return sum
}

func (m *Message) weight() (sum int64) {
	sum = frame
	for i := range m.Parts {
		p := &m.Parts[i]
		sum += p.Text.Len() + p.Args.Len() + p.Opaque.Len() + int64(len(p.ID)+len(p.Name)) + frame
		for _, f := range p.Attached {
			sum += line
			switch {
			case media.Showable(f.Media, f.Ref.Size):
				sum += sight
			case f.Media == media.Text:
				// A byte that cannot be shown is written as several.
				sum += 8 * min(max(f.Ref.Size, 0), media.MaxQuote)
			}
		}
	}
	return sum
}

// broke counts calls that broke off after they had cost something. Without strict limits a
// call tries again by itself.
func (a *Agent) broke(r *event.ModelResult) {
	if a.Strict && r.Error != nil && r.Error.Kind == string(model.Unavailable) && r.Wasted != nil {
		a.Broken++
		return
	}
	a.Broken = 0
}

// maxBroken is how many calls in a row may break off.
const maxBroken = 3
