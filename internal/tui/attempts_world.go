package tui

import (
	"fmt"
	"strings"

	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// attempts is the panel of a maker: what it proposed, in that order. It is
// folded from the events.
type attempts struct {
	folded
	making *view.Making
}

func newAttempts(*quest.State) panel {
	m := view.NewMaking()
	return &attempts{folded{fold: m.Take, size: func() int { return len(m.Attempts) }}, m}
}

func (x *attempts) counts() []string {
	n := 0
	for _, a := range x.making.Attempts {
		if a.State == view.AttemptPassed {
			n++
		}
	}
	return []string{fmt.Sprintf("%d of %s passed", n, view.Several(int64(x.length()), "attempt"))}
}

// asked are the attempts of a maker that are being judged.
func (x *attempts) asked(agent string) (out []string) {
	for _, a := range x.making.Attempts {
		if a.Maker == agent && a.State == view.AttemptJudging {
			out = append(out, fmt.Sprintf("attempt %d", a.Number))
		}
	}
	return out
}

func (x *attempts) about(agent string) (facts []fact) {
	for _, a := range x.making.Attempts {
		if a.Maker == agent {
			facts = append(facts, fact{"attempt", fmt.Sprintf("%d  %s  %s", a.Number, a.State, a.Intent)})
		}
	}
	return facts
}

func (x *attempts) open(*Source) (tea.Cmd, string) {
	if x.chosen >= x.length() {
		return nil, "Nothing was proposed yet."
	}
	a := x.making.Attempts[x.chosen]
	return told(fmt.Sprintf("Attempt %d", a.Number), attemptText(a)), ""
}

// attemptText tells an attempt: what each tier said, what was predicted and what was seen.
func attemptText(a *view.Attempt) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s\n", Clean(a.Intent))
	say("state        %s", a.State)
	if why := a.Card().Why; why != "" {
		say("in the way   %s", Clean(why))
	}
	if a.Reward != nil && a.Reward.Sum != nil {
		say("reward       %.3f", float64(*a.Reward.Sum)/1000)
	}
	for _, t := range a.Tiers {
		say("\ntier %d: %s %s", t.Tier, orNow(Clean(t.Verdict)), Clean(t.Reason))
		for _, f := range t.Findings {
			say("  %s %s %s: expected %s, saw %s", Clean(f.Kind), Clean(f.Check), Clean(f.Where), Clean(f.Expected), Clean(f.Observed))
		}
		for _, s := range t.Stories {
			say("  story %s: %s, %d of %s", Clean(s.Name), Clean(s.Verdict), s.Met, view.Several(s.Of, "condition"))
		}
	}
	for _, m := range a.Marks {
		for _, k := range m.Marks {
			say("\n%s: %s %d “%s”", Clean(m.Judge), Clean(k.Criterion), k.Mark, Clean(k.Quotation))
		}
	}
	for _, t := range a.Tries {
		say("\ntried: %s; %s", Clean(strings.Join(t.Steps, ", then ")), orNow(Clean(t.End)))
		for _, x := range t.Expect {
			seen := "not seen"
			if x.Held != nil && *x.Held {
				seen = "held"
			} else if x.Held != nil {
				seen = "did not hold"
			}
			say("  predicted %.3f: %s; %s", float64(x.Probability)/1000, Clean(x.Condition), seen)
		}
		if t.Surprise != nil {
			say("  surprise %.3f, %d unforeseen", float64(*t.Surprise)/1e6, t.Unforeseen)
		}
	}
	return b.String()
}

func (x *attempts) list(m *Model, l layout) []string {
	inner := l.right - 2
	state, numbers := 11, 8+7
	name := max(inner-3-state-1-numbers, 8)
	row := func(mark, sign, id, is, reward, tries string) string {
		return mark + sign + " " + fit(id, name) + " " + fit(is, state) + right(reward, 8) + right(tries, 7)
	}
	rows := []string{faint.Render(row(" ", " ", "attempt", "state", "reward", "tries"))}
	from, to := around(x.chosen, x.length(), l.rows)
	for i := from; i < to; i++ {
		c := x.making.Attempts[i].Card()
		sign, style := attemptSign(c.State)
		reward := ""
		if c.Reward != nil {
			reward = fmt.Sprintf("%.3f", float64(*c.Reward)/1000)
		}
		rows = append(rows, row(m.mark(panelPane, i == x.chosen), style.Render(sign), fmt.Sprintf("%d  %s", c.Number, line(c.Intent)), c.State, reward, some(int64(c.Tries))))
	}
	if x.length() == 0 {
		rows = append(rows, faint.Render("   Nothing was proposed yet."))
	}
	return frame(bold.Render("Attempts"), place(from, to, x.length()), padded(rows, l.lists-2), l.right, m.focus == panelPane)
}

func attemptSign(state string) (string, lipgloss.Style) {
	switch state {
	case view.AttemptPassed:
		return "●", green
	case view.AttemptRejected:
		return "×", red
	case view.AttemptUnavailable:
		return "?", yellow
	}
	return "▸", cyan
}
