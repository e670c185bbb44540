package tender

import (
	"strconv"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Facts is what policies are told of an event of a contract net.
func (n *Net) Facts(e event.Event, f *policy.Facts) {
	switch b := e.Body.(type) {
	case *event.CfpIssued:
		f.Ref = b.Task
	case *event.BidSubmitted:
		f.Ref = b.Task
	case *event.ContractAwarded:
		f.Ref, f.To = b.Task, b.To
	case *event.TaskCompleted:
		f.Ref = b.Task
	case *event.TaskFailed:
		f.Ref, f.Text = b.Task, b.Reason
	case *event.ClaimMade:
		f.Text = b.Text
	case *event.ChallengeRaised:
		f.Ref, f.Text = b.Rule, b.Reason
	}
}

// CallFacts is what policies are told of the message that a message of an agent
// answers: who sent it, and its performative.
func (n *Net) CallFacts(f *policy.Facts) {
	f.Ref = f.Field(argRef).Text
	v := f.Field(argReply)
	seq, err := strconv.ParseUint(v.Text, 10, 64)
	if err != nil || v.Kind != behavior.Number {
		return
	}
	f.Ref = v.Text
	if m, ok := n.Messages[seq]; ok {
		f.Author, f.Status = m.From, m.Performative
	}
}

var (
	argRef   = []string{"args", "ref"}
	argReply = []string{"args", "reply"}
)
