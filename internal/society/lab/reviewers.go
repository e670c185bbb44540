package lab

import (
	"crypto/sha256"
	"encoding/binary"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

// askReviewer asks the next agent to review a paper, if one is still to be asked.
func askReviewer(s *quest.State, p *paper.Paper, e event.Event) []event.Draft {
	lab, of, who := settings(s), p.Wanted, p.Next
	if len(p.Requests) == 0 {
		for _, a := range s.Agents {
			if of < lab.Reviewers && eligible(p, a) {
				of++
			}
		}
	}
	if who == "" && int64(len(p.Requests)) < of {
		who = pick(s, p)
	}
	if who == "" {
		return nil
	}
	return one(e, "core", &event.ReviewRequested{Deadline: s.Agent(who).Turns + lab.Deadline, Of: of, Ref: p.Ref, Reviewer: who})
}

// eligible reports whether an agent can be asked to review a paper: it is not its
// author's, was not asked before, and could do it. One that was parked for doing
// nothing could: being asked wakes it.
func eligible(p *paper.Paper, a *agent.Agent) bool {
	able := a.Parked == "" || !a.Held && !a.GaveUp()
	return able && a.Name != p.Author && p.Request(a.Name) == nil
}

// pick chooses the next reviewer of a paper: one of those who have reviewed what it
// revises, if there are such, or else any; of them, one with the fewest reviews to do;
// of those, each with the same chance. It is empty if there is nobody.
func pick(s *quest.State, p *paper.Paper) string {
	var best []string
	least, known := 0, false
	old := Library(s).Paper(p.Revises)
	for _, a := range s.Agents {
		if !eligible(p, a) {
			continue
		}
		load, knows := len(Library(s).Asked[a.Name]), reviewed(old, a.Name)
		switch {
		case best == nil, knows && !known, knows == known && load < least:
			best, least, known = append(best[:0], a.Name), load, knows
		case knows == known && load == least:
			best = append(best, a.Name)
		}
	}
	if len(best) == 0 {
		return ""
	}
	return best[newDraw(s.Seed, p.Ref, len(p.Requests)).below(uint64(len(best)))]
}

// draw is a stream of random numbers: SHA-256 over a seed, a paper and a count. It is
// the same on every machine and with every version of Go.
type draw struct {
	seed [sha256.Size]byte
	n    uint64
}

func newDraw(seed uint64, ref string, nth int) *draw {
	b := binary.BigEndian.AppendUint64([]byte("lyceum reviewer\n"), seed)
	b = binary.BigEndian.AppendUint64(append(b, ref...), uint64(nth))
	return &draw{seed: sha256.Sum256(b)}
}

// below returns a number from 0 to n-1, each with the same chance: numbers beyond the
// last multiple of n are drawn again.
func (d *draw) below(n uint64) uint64 {
	limit := -n % n // 2^64 mod n
	for {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(d.seed[:], d.n))
		d.n++
		if v := binary.BigEndian.Uint64(sum[:]); v >= limit {
			return v % n
		}
	}
}

// Samples implements quest.Sampler: whoever has a review to write, or papers of others to vote
// on, is asked for a judgement of its own.
func (Society) Samples(s *quest.State, a *agent.Agent) bool {
	l := Library(s)
	return len(l.Asked[a.Name]) > 0 || len(l.Papers) > len(l.By(a.Name))
}
