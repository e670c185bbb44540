package quest

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// Excerpt is a part of a recorded text: so many lines from line From on, which counts from
// the end if it is negative.
type Excerpt struct {
	Call uint64
	Ref  event.Ref
	// Text is the text itself, if it stands in no blob.
	Text  string
	From  int64
	Lines int64
}

const (
	standardLines = 200
	maxLines      = 2000
)

// excerpt is what a call of ReadResult asks for. An agent finds results of its own calls
// only.
func excerpt(a *agent.Agent, u *agent.Use) (*Excerpt, error) {
	var args struct {
		Call  uint64 `json:"call"`
		From  int64  `json:"from"`
		Lines int64  `json:"lines"`
	}
	args.From, args.Lines = 1, standardLines
	if err := json.Unmarshal([]byte(u.Args.Text), &args); err != nil || args.From == 0 || args.Lines < 1 || args.Lines > maxLines {
		return nil, fmt.Errorf("the arguments do not fit the tool: call is a number, from a line such as 1 or -50, lines 1 to %d", maxLines)
	}
	long, ok := a.Long(args.Call)
	if !ok {
		return nil, fmt.Errorf("there is no long result of a call %d of yours; the note in a shortened result gives the number (of the last %d long ones)", args.Call, agent.MaxLong)
	}
	return &Excerpt{Call: args.Call, Ref: long.Ref, Text: long.Text, From: args.From, Lines: args.Lines}, nil
}
