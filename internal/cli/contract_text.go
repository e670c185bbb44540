package cli

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// gistContract says in a line what happened in a contract net.
func gistContract(b event.Body) string {
	switch b := b.(type) {
	case *event.BeliefUpdated:
		return oneLine(b.Belief+" = "+b.Value, 80)
	case *event.DesireSet:
		return oneLine(b.Desire, 80)
	case *event.IntentionFormed:
		if b.Dropped {
			return oneLine("not "+b.Intention+": "+b.Reason, 100)
		}
		return oneLine(b.Intention+": "+b.Reason, 100)
	case *event.PlanMade:
		return strings.Join(tasksOf(b), ", ")
	case *event.CfpIssued:
		return fmt.Sprintf("%s to %s", b.Task, strings.Join(b.To, ", "))
	case *event.BidSubmitted:
		return fmt.Sprintf("%s score %s (cost %s, latency %s, p %s, cap %s)", b.Task, decimal(b.Score, 9), decimal(b.Cost, 3), decimal(b.Latency, 3), decimal(b.Probability, 3), decimal(b.Capability, 3))
	case *event.ContractAwarded:
		return fmt.Sprintf("%s to %s at %s", b.Task, b.To, decimal(b.Score, 9))
	case *event.TaskCompleted:
		return fmt.Sprintf("%s, %d sources", b.Task, len(b.Sources))
	case *event.TaskFailed:
		return oneLine(b.Task+": "+b.Reason, 100)
	case *event.SearchCall:
		return oneLine(b.Method+": "+b.Query, 100)
	case *event.SearchResult:
		if b.Error != "" {
			return oneLine("error: "+b.Error, 100)
		}
		return fmt.Sprintf("%d of %d paragraphs (%.1f ms)", len(b.Anchors), b.Paragraphs, float64(b.Duration)/1000)
	case *event.ComputeCall:
		return oneLine(b.Program+" by "+b.Engine, 100)
	case *event.ComputeResult:
		if b.Error != "" {
			return oneLine(fmt.Sprintf("exit %d: %s", b.Exit, b.Error), 100)
		}
		return fmt.Sprintf("%s (%.1f ms)", oneLine(b.Engine, 60), float64(b.Duration)/1000)
	}
	return gistClaim(b)
}

func gistClaim(b event.Body) string {
	switch b := b.(type) {
	case *event.ClaimMade:
		return oneLine(fmt.Sprintf("%d %s%s", b.Claim, b.Text, citations(b.Sources)), 100)
	case *event.ClaimAttacked:
		return oneLine(fmt.Sprintf("%d by %d: %s", b.To, b.From, b.Reason), 100)
	case *event.ChallengeRaised:
		return oneLine(fmt.Sprintf("%d of %s, %s: %s", b.Challenge, claimName(b.Claim), b.Rule, b.Reason), 120)
	case *event.JustificationGiven:
		return oneLine(fmt.Sprintf("of challenge %d: %s", b.Challenge, b.Reason), 100)
	case *event.ClaimRetracted:
		return oneLine(fmt.Sprintf("%d: %s", b.Claim, b.Reason), 100)
	case *event.ReplanTriggered:
		return oneLine(fmt.Sprintf("round %d: %s", b.Round, b.Reason), 100)
	case *event.ArgumentsWeighed:
		return fmt.Sprintf("%d stand, %d defeated, %d undecided", len(b.Stand), len(b.Defeated), len(b.Undecided))
	}
	return ""
}

func tasksOf(b *event.PlanMade) (out []string) {
	for _, s := range b.Steps {
		out = append(out, oneLine(s.Task, 40))
	}
	return out
}

func citations(sources []int64) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, n := range sources {
		fmt.Fprintf(&b, "[%d]", n)
	}
	return b.String()
}

func claimName(n int64) string {
	if n == 0 {
		return "the answer"
	}
	return fmt.Sprintf("claim %d", n)
}

// lineContract tells a person what an event of a contract net means; nothing, if another
// tells it better.
func lineContract(e event.Event) string {
	gist := gistContract(e.Body)
	switch b := e.Body.(type) {
	case *event.IntentionFormed:
		if b.Dropped {
			return e.Actor + " leaves out " + strings.TrimPrefix(gist, "not ")
		}
		return e.Actor + " intends " + gist
	case *event.ContractAwarded:
		return gist
	case *event.TaskFailed:
		return e.Actor + " could not do " + gist
	case *event.SearchResult:
		return e.Actor + " found " + gist
	case *event.ComputeResult:
		if b.Error != "" {
			return e.Actor + "'s program gave no result: " + gist
		}
		return e.Actor + " computed by " + gist
	case *event.ClaimMade:
		return "claim " + gist
	case *event.ClaimAttacked:
		return "claim " + strings.Replace(gist, " by ", " is attacked by claim ", 1)
	case *event.ChallengeRaised:
		return e.Actor + " challenges " + strings.TrimPrefix(gist, fmt.Sprintf("%d of ", b.Challenge))
	case *event.JustificationGiven:
		return e.Actor + " justifies itself " + gist
	case *event.ClaimRetracted:
		return e.Actor + " takes back claim " + gist
	case *event.ReplanTriggered:
		return "planned again, " + gist
	case *event.ArgumentsWeighed:
		return "claims weighed: " + gist
	}
	return ""
}
