package runtimetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/evidence"
	"lyceum/internal/society/contract"
)

// argued checks claims, what is said against them, and the weighing.
func (n *netBooks) argued(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.ClaimMade:
		return n.claimed(e, x)
	case *event.ClaimAttacked:
		at := [2]int64{x.From, x.To}
		if n.claim(x.From) == nil || n.claim(x.To) == nil || x.From == x.To || n.attacks[at] {
			return fmt.Errorf("claim %d attacks %d, one of which is none, or itself, or it has before", x.From, x.To)
		}
		n.attacks[at] = true
		n.saw("attacks")
	case *event.ChallengeRaised:
		return n.challenged(e, x)
	case *event.JustificationGiven:
		d := n.openDoubt(x.Challenge)
		if d == nil || n.claim(d.Claim) == nil || n.claim(d.Claim).by != e.Actor || len(x.Sources) == 0 {
			return fmt.Errorf("%s justifies challenge %d, which is not open, or of another's claim", e.Actor, x.Challenge)
		}
		d.state = "justified"
		n.saw("justifications")
		return n.rests(n.claim(d.Claim), x.Sources)
	case *event.ClaimRetracted:
		c, d := n.claim(x.Claim), n.openDoubt(x.Challenge)
		if c == nil || c.retracted || c.by != e.Actor || d == nil || d.Claim != x.Claim {
			return fmt.Errorf("%s takes claim %d back, which is another's, or taken back, or not challenged", e.Actor, x.Claim)
		}
		c.retracted, d.state = true, "retracted"
		n.saw("retractions")
	case *event.ReplanTriggered:
		if x.Round != n.round+1 || x.Round > 2 || len(x.Challenges) == 0 {
			return fmt.Errorf("round %d comes after round %d, for the challenges %v", x.Round, n.round, x.Challenges)
		}
		n.round = x.Round
		for _, number := range x.Challenges {
			d := n.openDoubt(number)
			if d == nil {
				return fmt.Errorf("the work is planned again for challenge %d, which is not open", number)
			}
			d.state = "replanned"
		}
		n.saw("replans")
	case *event.ArgumentsWeighed:
		return n.weighs(x)
	}
	return nil
}

func (n *netBooks) claim(number int64) *netClaim {
	if number < 1 || number > int64(len(n.claims)) {
		return nil
	}
	return n.claims[number-1]
}

func (n *netBooks) openDoubt(number int64) *netDoubt {
	if number < 1 || number > int64(len(n.doubts)) || n.doubts[number-1].state != "open" {
		return nil
	}
	return n.doubts[number-1]
}

// openDoubts counts the challenges of an audit that nobody has answered.
func (n *netBooks) openDoubts(audit *netTask) (out int) {
	for _, d := range n.doubts {
		if d.audit == audit && d.state == "open" {
			out++
		}
	}
	return out
}

// lastAudit is the last part of the plan that is an audit, nil if there is none.
func (n *netBooks) lastAudit() (out *netTask) {
	for _, t := range n.tasks {
		if t.Kind == "audit" {
			out = t
		}
	}
	return out
}

// claimed checks that claims are numbered, and name sources that there are. What the rules
// claim stands in its source to the letter.
func (n *netBooks) claimed(e event.Event, x *event.ClaimMade) error {
	n.saw("claims")
	if x.Claim != int64(len(n.claims))+1 || strings.TrimSpace(x.Text) == "" {
		return fmt.Errorf("claim %d comes after %d claims, or is empty", x.Claim, len(n.claims))
	}
	if n.weighed = nil; (x.Confidence == 0) != (len(x.Sources) == 0) || x.Confidence < 0 || x.Confidence > 970 {
		return fmt.Errorf("claim %d rests on %v with the confidence %d", x.Claim, x.Sources, x.Confidence)
	}
	c := &netClaim{ClaimMade: x, by: e.Actor}
	n.claims = append(n.claims, c)
	if err := n.rests(c, x.Sources); err != nil || x.Answer != 0 {
		return err
	}
	if len(x.Sources) == 0 {
		return errors.New("the rules claim something without a source")
	}
	from := n.sources[x.Sources[0]-1].text
	if quoted, is := strings.CutPrefix(x.Text, "“"); is {
		quoted = strings.TrimSuffix(quoted, "”")
		if !strings.Contains(strings.Join(strings.Fields(from), " "), quoted) {
			return fmt.Errorf("claim %d quotes %q, which %q does not say", x.Claim, quoted, from)
		}
		return nil
	}
	if missing := evidence.Missing(x.Text, []string{from}); len(missing) > 0 {
		return fmt.Errorf("claim %d has %v, which its program did not print", x.Claim, missing)
	}
	return nil
}

// rests adds sources to a claim: each is there.
func (n *netBooks) rests(c *netClaim, sources []int64) error {
	for _, number := range sources {
		if number < 1 || number > int64(len(n.sources)) {
			return fmt.Errorf("claim %d names source %d of %d", c.Claim, number, len(n.sources))
		}
		if !slices.Contains(c.sources, number) {
			c.sources = append(c.sources, number)
		}
	}
	return nil
}

// challenged checks that who challenges has the audit, and says everything once.
func (n *netBooks) challenged(e event.Event, x *event.ChallengeRaised) error {
	i := slices.IndexFunc(n.tasks, func(t *netTask) bool { return t.Kind == "audit" && !t.done && t.worker == e.Actor && t.told })
	if i < 0 || x.Challenge != int64(len(n.doubts))+1 || x.Claim != 0 && n.claim(x.Claim) == nil {
		return fmt.Errorf("%s raises challenge %d of claim %d, and has no audit, or there is no such claim", e.Actor, x.Challenge, x.Claim)
	}
	audit := n.tasks[i]
	if slices.ContainsFunc(n.doubts, func(d *netDoubt) bool { return d.audit == audit && d.Claim == x.Claim && d.Rule == x.Rule }) {
		return fmt.Errorf("%s raises %s of claim %d a second time", e.Actor, x.Rule, x.Claim)
	}
	n.doubts = append(n.doubts, &netDoubt{ChallengeRaised: x, state: "open", audit: audit})
	n.saw("challenges by " + x.Rule)
	return nil
}

// active are the claims that count, of those that nobody has taken back: the ones of the
// last draft that was handed to an auditor, or else of the last one; and the rules' own.
func (n *netBooks) active() (out []*netClaim) {
	handed := func(at labPlace) bool {
		return at != (labPlace{}) && slices.ContainsFunc(n.tasks, func(t *netTask) bool { return t.Kind == "audit" && t.place == at })
	}
	var draft labPlace
	for _, c := range n.claims {
		if at := (labPlace{c.Answer, c.Part}); c.Answer != 0 && (handed(at) || !handed(draft)) {
			draft = at
		}
	}
	for _, c := range n.claims {
		if !c.retracted && (c.Answer == 0 || draft == labPlace{c.Answer, c.Part}) {
			out = append(out, c)
		}
	}
	return out
}

// weighs checks that each claim that counts is weighed once, that none stands which
// another that stands attacks, or which is challenged and not justified, and that what
// stands rests on something.
func (n *netBooks) weighs(x *event.ArgumentsWeighed) error {
	n.saw("weighings")
	n.weighed = x
	all := slices.Concat(x.Stand, x.Undecided)
	for _, d := range x.Defeated {
		if all = append(all, d.Claim); d.By == "" {
			return fmt.Errorf("claim %d is defeated by nobody", d.Claim)
		}
		n.saw("claims defeated")
	}
	slices.Sort(all)
	var want []int64
	for _, c := range n.active() {
		want = append(want, c.Claim)
	}
	if !slices.Equal(all, want) {
		return fmt.Errorf("the claims %v are weighed, and %v count", all, want)
	}
	for at := range n.attacks {
		if slices.Contains(x.Stand, at[0]) && slices.Contains(x.Stand, at[1]) {
			return fmt.Errorf("claims %d and %d both stand, and one attacks the other", at[0], at[1])
		}
	}
	for _, d := range n.doubts {
		if d.audit == n.lastAudit() && slices.Contains(x.Stand, d.Claim) && d.state != "justified" {
			return fmt.Errorf("claim %d stands, and challenge %d of it (%s) is %s", d.Claim, d.Challenge, d.Rule, d.state)
		}
	}
	for _, number := range x.Stand {
		if err := n.holds(n.claim(number)); err != nil {
			return err
		}
	}
	return nil
}

// holds checks that a claim rests on evidence: it names sources, and has no number that
// none of them has.
func (n *netBooks) holds(c *netClaim) error {
	var from []string
	for _, number := range c.sources {
		from = append(from, n.sources[number-1].text)
	}
	if missing := evidence.Missing(c.Text, from); len(from) == 0 || len(missing) > 0 {
		return fmt.Errorf("claim %d stands, rests on %v, and has %v from nowhere", c.Claim, c.sources, missing)
	}
	n.saw("claims that stand")
	return nil
}

// finished checks that an answer comes when all is done, audited and weighed, that it says
// what stands, with sources, and that what stayed open is said.
func (n *netBooks) finished(e event.Event, x *event.QuestFinished) error {
	n.ends++
	for _, t := range n.tasks {
		if !t.done {
			return fmt.Errorf("the answer is given, and %s is not done", t.Task)
		}
	}
	audit := n.lastAudit()
	if e.Actor != contract.Planner || audit == nil || n.weighed == nil {
		return errors.New("the answer is not the planner's, or was not audited and weighed")
	}
	for _, d := range n.doubts {
		if d.audit == audit && (d.state == "open" || d.state == "replanned") && len(x.Warnings) == 0 {
			return fmt.Errorf("challenge %d (%s) is %s, and the answer warns of nothing", d.Challenge, d.Rule, d.state)
		}
	}
	if len(n.weighed.Stand) == 0 && len(x.Warnings) == 0 {
		return errors.New("no claim stands, and the answer warns of nothing")
	}
	if len(x.Warnings) > 0 {
		n.saw("answers with warnings")
	} else {
		n.saw("answers that hold")
	}
	for _, number := range n.weighed.Stand {
		for _, source := range n.claim(number).sources {
			if !strings.Contains(x.Answer.Text, fmt.Sprintf("[%d]", source)) && !strings.Contains(x.Answer.Text, "The rest is shown by") {
				return fmt.Errorf("claim %d rests on source %d, which the answer does not name", number, source)
			}
		}
	}
	return nil
}
