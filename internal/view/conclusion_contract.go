package view

import (
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

// maxClaims is how many claims of a contract net are told of at once, maxClaim how much of each.
const (
	maxClaims = 60
	maxClaim  = 1000
)

// conclude implements Society: the claims of a contract net, each with what became of it.
func (n contractNet) conclude(v *Views, s *quest.State) *Conclusion {
	net := contract.Net(s)
	if net == nil || s.Answer == nil && len(net.Claims) == 0 {
		return nil
	}
	c := n.agents.conclude(v, s)
	if c == nil {
		c = newConclusion()
		c.Said = Several(int64(len(net.Claims)), "claim is made, not weighed yet", "claims are made, not weighed yet")
	}
	c.Counts = "claims"
	if x, ok := v.society.(*argument); ok {
		c.History = thinned(x.History)
	}
	doubts, open := map[int64]int64{}, map[int64]int64{}
	for i := range net.Doubts {
		d := &net.Doubts[i]
		doubts[d.Claim]++
		if d.Open() {
			open[d.Claim]++
		}
	}
	for i := range net.Claims[:min(len(net.Claims), maxClaims)] {
		k := &net.Claims[i]
		c.Claims = append(c.Claims, ClaimMark{
			Claim: k.Claim, Text: event.Cut(k.Text, maxClaim), By: k.By, Status: standOf(net.Weighed, k.Claim, k.Retracted),
			Sources: int64(len(k.Sources)), Doubts: doubts[k.Claim], Open: open[k.Claim],
		})
	}
	return c
}

func standOf(w *event.ArgumentsWeighed, claim int64, retracted string) string {
	switch {
	case retracted != "":
		return "retracted"
	case w == nil:
		return "made"
	case slices.Contains(w.Stand, claim):
		return "stands"
	case slices.Contains(w.Undecided, claim):
		return "undecided"
	case slices.ContainsFunc(w.Defeated, func(d event.Defeat) bool { return d.Claim == claim }):
		return "defeated"
	}
	return "made"
}

// weighed notes how many claims stand after an event.
func (x *argument) weighed(e event.Event, b *event.ArgumentsWeighed, s *quest.State) {
	next := Turn{Seq: e.Seq, Time: e.Time, Same: int64(len(b.Stand)), Of: int64(len(b.Stand) + len(b.Defeated) + len(b.Undecided))}
	if n := contract.Net(s); n != nil && len(b.Stand) > 0 {
		if first := n.Claim(b.Stand[0]); first != nil {
			next.Value = quest.InShort(first.Text)
		}
	}
	x.History = record(x.History, next)
}
