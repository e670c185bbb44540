package contract

import (
	"cmp"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// offer is what a worker asks and promises, in thousandths.
type offer struct{ cost, latency, probability, capability int64 }

// score is what an offer is worth, in billionths:
// 0.4 probability + 0.3 capability + 0.15/(1+cost) + 0.15/(1+latency).
func (o offer) score() int64 {
	share := func(of int64) int64 {
		const whole = 150_000_000 * 1000
		return (whole + (1000+of)/2) / (1000 + of)
	}
	return 400_000*o.probability + 300_000*o.capability + share(o.cost) + share(o.latency)
}

// capable are the workers that can do a part of the plan, by name.
func capable(s *quest.State, t *tender.Task) []string {
	var out []string
	switch t.Kind {
	case research:
		out = []string{Lexical}
		if Net(s).Spec.Embedder != "" && t.Around == 0 {
			out = append(out, Hybrid)
		}
	case compute:
		if program(s, t.Text) != nil {
			out = append(out, Builtin)
			if s.Computer != nil {
				out = append(out, Python)
			}
		}
		if c := s.Agent(Coder); c != nil && !c.Held && !c.GaveUp() {
			out = append(out, Coder)
		}
	case audit:
		out = []string{Auditor, Recompute}
	}
	if rest := slices.DeleteFunc(slices.Clone(out), func(w string) bool { return slices.Contains(t.Without, w) }); len(rest) > 0 {
		out = rest // if there is nobody else, whoever had a chance gets another
	}
	slices.Sort(out)
	return out
}

// offerOf is a worker's offer for a part of the plan. Who has failed at something in
// this quest promises less.
func offerOf(s *quest.State, t *tender.Task, worker string) offer {
	var o offer
	switch worker {
	case Lexical:
		o = offer{cost: 1000, latency: 500, probability: 900, capability: 850}
		if names(t.Text) || t.Place.Answer == 0 && names(s.Problem.Text) {
			o.capability = 1000
		}
	case Hybrid:
		o = offer{cost: 1200, latency: 600, probability: 900, capability: 950}
	case Python:
		o = offer{cost: 2000, latency: 1000, probability: 850, capability: 1000}
	case Builtin:
		o = offer{cost: 1000, latency: 500, probability: 850, capability: 800}
	case Coder:
		o = offer{cost: 5000, latency: 20_000, probability: 700, capability: 600}
		if program(s, t.Text) == nil {
			o.capability = 1000
		}
	case Auditor:
		o = offer{cost: 500, latency: 300, probability: 950, capability: 1000}
		if Net(s).Spec.Audit == Strict {
			o.capability = 600
		}
	case Recompute:
		o = offer{cost: 2000, latency: 1000, probability: 950, capability: 900}
		if Net(s).Spec.Audit == Strict {
			o.capability = 1000
		}
	}
	done, failed := record(Net(s), worker)
	o.probability = o.probability * (1 + done) / (1 + done + failed)
	return o
}

// record is how often a worker has done what it was given, and how often not.
func record(n *tender.Net, worker string) (done, failed int64) {
	for _, t := range n.Tasks {
		if t.Done && t.Worker == worker {
			done++
		}
		for _, b := range t.Bids {
			if b.Worker == worker && b.Failed != "" {
				failed++
			}
		}
	}
	return done, failed
}

// tenders takes the next step from a part of the plan to who does it, nil once
// somebody has it and has said so.
func tenders(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	switch {
	case t.Cfp == 0:
		to := capable(s, t)
		if len(to) == 0 {
			return one(e, Planner, &event.TaskFailed{Reason: "no worker of this quest can do it", Task: t.Task})
		}
		return one(e, Planner, &event.CfpIssued{Kind: t.Kind, Task: t.Task, Text: t.Text, To: to})
	case len(t.Bids) < len(t.To):
		worker := t.To[len(t.Bids)]
		o := offerOf(s, t, worker)
		return one(e, worker, &event.BidSubmitted{
			Capability: o.capability, Cfp: t.Cfp, Cost: o.cost, Latency: o.latency, Probability: o.probability, Score: o.score(), Task: t.Task,
		})
	case t.Worker == "":
		best := best(t.Bids)
		return one(e, Planner, &event.ContractAwarded{Bid: best.Seq, Score: best.Score, Task: t.Task, To: best.Worker})
	case t.Told:
		return nil
	case t.Worker == Coder:
		return one(e, Planner, &event.MessageSent{
			Performative: event.Request, Reply: t.Award, To: Coder,
			Text: event.Text{Text: quest.Fill(s.Texts["contract"], "TASK", t.Text)},
		})
	}
	return tell(e, t.Worker, event.Commit, t.Award, "I do "+t.Task+".")
}

// best is the highest bid of those that have not failed; of equal ones, the first by
// name.
func best(bids []tender.Bid) tender.Bid {
	left := slices.DeleteFunc(slices.Clone(bids), func(b tender.Bid) bool { return b.Failed != "" })
	return slices.MinFunc(left, func(a, b tender.Bid) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Worker, b.Worker))
	})
}
