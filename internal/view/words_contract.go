package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// words implements Society: they are for what happens in a contract net. It is long because
// each type of event has its entry.
func (contractNet) words() dictionary {
	return dictionary{
		word("belief", func(t *Teller, e event.Event, b *event.BeliefUpdated) Words {
			return Words{By: e.Actor, Text: "believes " + t.cut(b.Belief) + " = " + t.cut(b.Value)}
		}),
		word("desire", func(t *Teller, e event.Event, b *event.DesireSet) Words {
			return Words{By: e.Actor, Text: "wants " + t.cut(b.Desire)}
		}),
		word("intention", func(t *Teller, e event.Event, b *event.IntentionFormed) Words {
			verb := "intends "
			if b.Dropped {
				verb = "leaves out "
			}
			return Words{By: e.Actor, Text: verb + t.cut(b.Intention) + ": " + t.cut(b.Reason), Weight: News}
		}),
		word("plan", func(t *Teller, e event.Event, b *event.PlanMade) Words {
			var tasks []string
			for _, s := range b.Steps {
				tasks = append(tasks, flat(s.Task, 40))
			}
			return Words{By: e.Actor, Text: "plans " + strings.Join(tasks, ", ")}
		}),
		word("call for bids", func(t *Teller, e event.Event, b *event.CfpIssued) Words {
			return Words{By: e.Actor, Text: "calls for bids for " + t.cut(b.Task) + " from " + strings.Join(b.To, ", "), about: b.Task}
		}),
		word("bid", func(t *Teller, e event.Event, b *event.BidSubmitted) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("bids for %s: score %s (cost %s, latency %s, p %s, cap %s)", t.cut(b.Task),
				figure(b.Score, 9), figure(b.Cost, 3), figure(b.Latency, 3), figure(b.Probability, 3), figure(b.Capability, 3)), about: b.Task}
		}),
		word("award", func(t *Teller, _ event.Event, b *event.ContractAwarded) Words {
			return Words{Text: fmt.Sprintf("%s goes to %s at %s", t.cut(b.Task), b.To, figure(b.Score, 9)), Weight: News, about: b.Task}
		}),
		word("task done", func(t *Teller, e event.Event, b *event.TaskCompleted) Words {
			return Words{By: e.Actor, Text: "has done " + t.cut(b.Task) + ", " + Several(int64(len(b.Sources)), "source"), about: b.Task}
		}),
		matters(word("task failed", func(t *Teller, e event.Event, b *event.TaskFailed) Words {
			return Words{By: e.Actor, Text: "could not do " + t.cut(b.Task) + ": " + t.cut(b.Reason), Weight: News, about: b.Task}
		}), func(b *event.TaskFailed) Interest { return Interest{Failed, b.Task} }).onLanes("failed"),
		word(KindSearch, func(t *Teller, e event.Event, b *event.SearchCall) Words {
			return Words{By: e.Actor, Text: "searches (" + t.cut(b.Method) + "): " + t.cut(b.Query)}
		}),
		word("", found),
		word(KindCompute, func(t *Teller, e event.Event, b *event.ComputeCall) Words {
			return Words{By: e.Actor, Text: "computes " + t.cut(b.Program) + " by " + t.cut(b.Engine)}
		}),
		word("", func(t *Teller, e event.Event, b *event.ComputeResult) Words {
			w := Words{By: e.Actor, Text: "computed by " + t.cut(b.Engine), Notes: append(printed(b.Printed), outcome(b.Error != "", b.Duration)...), Weight: News}
			if b.Error != "" {
				w.Text = fmt.Sprintf("could not compute: exit %d: %s", b.Exit, t.cut(b.Error))
			}
			return w
		}),
		word("claim", func(t *Teller, e event.Event, b *event.ClaimMade) Words {
			var cited strings.Builder
			for _, n := range b.Sources {
				fmt.Fprintf(&cited, "[%d]", n)
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("makes claim %d: %s %s", b.Claim, t.cut(b.Text), cited.String()), Weight: News}
		}).onLanes("claim"),
		word("attack", func(t *Teller, _ event.Event, b *event.ClaimAttacked) Words {
			return Words{Text: fmt.Sprintf("claim %d is attacked by claim %d: %s", b.To, b.From, t.cut(b.Reason)), Weight: News}
		}),
		word("challenge", func(t *Teller, e event.Event, b *event.ChallengeRaised) Words {
			of := "the answer"
			if b.Claim != 0 {
				of = fmt.Sprintf("claim %d", b.Claim)
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("raises challenge %d of %s, %s: %s", b.Challenge, of, t.cut(b.Rule), t.cut(b.Reason)), Weight: News}
		}).onLanes("challenge"),
		word("justification", func(t *Teller, e event.Event, b *event.JustificationGiven) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("answers challenge %d: %s", b.Challenge, t.cut(b.Reason)), Weight: News}
		}),
		word("retraction", func(t *Teller, e event.Event, b *event.ClaimRetracted) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("takes back claim %d: %s", b.Claim, t.cut(b.Reason)), Weight: News}
		}),
		word("replan", func(t *Teller, _ event.Event, b *event.ReplanTriggered) Words {
			return Words{Text: fmt.Sprintf("planned again, round %d: %s", b.Round, t.cut(b.Reason)), Weight: News}
		}),
		always(Judged, word("weighing", func(_ *Teller, _ event.Event, b *event.ArgumentsWeighed) Words {
			return Words{Text: fmt.Sprintf("claims weighed: %d stand, %d defeated, %d undecided", len(b.Stand), len(b.Defeated), len(b.Undecided)), Weight: News}
		})),
	}
}

// found says what a search brought, and notes where the best of it stands.
func found(t *Teller, e event.Event, b *event.SearchResult) Words {
	w := Words{By: e.Actor, Text: fmt.Sprintf("found %d of %s", len(b.Anchors), Several(int64(b.Paragraphs), "paragraph")), Weight: News}
	if b.Error != "" {
		w.Text = "found nothing: " + t.cut(b.Error)
	}
	for _, x := range b.Anchors[:min(len(b.Anchors), 3)] {
		w.Notes = append(w.Notes, fmt.Sprintf("%s:%d %s", flat(x.Doc, 40), x.Paragraph, x.Hash.String()[:12]))
	}
	w.Notes = append(w.Notes, outcome(b.Error != "", b.Duration)...)
	return w
}
