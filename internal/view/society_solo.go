package view

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

// soloist is how an agent that works alone is shown: by its answer, and by what it had computed.
type soloist struct{ agents }

// workings are what tools gave an agent that works alone, the latest maxChecks of them.
type workings struct {
	agents
	List []Check
	// Whole are the outputs themselves, as far as they are compared.
	Whole []string
	Count int64
}

// writers are tools that say only that they did something: what they give is no check.
var writers = []string{"write_file", "edit_file"}

// maxOutput is how much of an output is kept to be compared, in bytes.
const maxOutput = 4 << 10

// begin implements Society.
func (soloist) begin() part { return &workings{} }

// take implements part.
func (o *workings) take(v *Views, e event.Event, s *quest.State) {
	o.agents.take(v, e, s)
	b, ok := e.Body.(*event.ToolResult)
	if !ok || slices.Contains(writers, e.Tool) {
		return
	}
	o.Count++
	check := Check{Seq: e.Seq, Tool: e.Tool, Output: quest.InShort(b.Output.Text)}
	if b.Error {
		check.Holds = "failed"
	}
	o.List, o.Whole = append(o.List, check), append(o.Whole, event.Cut(b.Output.Text, maxOutput))
	if len(o.List) > maxChecks {
		o.List, o.Whole = slices.Delete(o.List, 0, 1), slices.Delete(o.Whole, 0, 1)
	}
}

// conclude implements Society: which outputs of tools hold the numbers of the answer.
func (x soloist) conclude(v *Views, s *quest.State) *Conclusion {
	c := x.agents.conclude(v, s)
	o, ok := v.society.(*workings)
	if c == nil || !ok {
		return c
	}
	value := s.Verdict().Value
	_, numbers := paper.Abstract(value)
	// A number of the question that the answer repeats is not what was asked for.
	if own := paper.Unshown(numbers, s.Problem.Text); len(own) > 0 {
		numbers = own
	}
	holds := 0
	for i, check := range slices.Backward(o.List) {
		if check.Holds == "" && len(numbers) > 0 {
			check.Holds = "no"
			if len(paper.Unshown(numbers, o.Whole[i])) == 0 {
				check.Holds = "yes"
				holds++
			}
		}
		c.Checks = append(c.Checks, check)
	}
	switch {
	case o.Count == 0:
		c.Printed = "no tool was used: it is the model's word"
	case len(numbers) == 0:
		c.Printed = Several(o.Count, "result of tools", "results of tools") + ", and no number in the answer to look for in them"
	case int64(len(o.List)) < o.Count:
		c.Printed = fmt.Sprintf("%d of the last %d results of tools hold it", holds, len(o.List))
	default:
		c.Printed = fmt.Sprintf("%d of %s it", holds, Several(o.Count, "result of tools holds", "results of tools hold"))
	}
	return c
}
