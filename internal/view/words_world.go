package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// words implements Society.
func (worlds) words() dictionary {
	return dictionary{
		word("structure", func(_ *Teller, e event.Event, b *event.StructureDeclared) Words {
			s := &b.Structure
			n := len(s.Objects) + len(s.Channels) + len(s.Levers) + len(s.Loops) + len(s.Blocks)
			return Words{By: e.Actor, Text: "declares what its work consists of: " + Several(int64(n), "part"), Weight: Detail}
		}),
		word("attempt", func(t *Teller, e event.Event, b *event.AttemptProposed) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("proposes attempt %d: %s", b.Attempt, t.cut(b.Intent)), Notes: []string{Several(int64(len(b.Stories)), "story", "stories")}, Weight: News, about: attemptName(b.Attempt)}
		}),
		word("analysis", func(_ *Teller, _ event.Event, b *event.AnalysisCall) Words {
			return Words{Text: fmt.Sprintf("%s looks at attempt %d", tierName(b.Tier, b.HeldOut), b.Attempt), about: attemptName(b.Attempt)}
		}),
		word("", analysedWords),
		word("quotations", func(_ *Teller, e event.Event, b *event.MarksCall) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("has its quotations from attempt %d looked for", b.Attempt), about: attemptName(b.Attempt)}
		}),
		word("", func(t *Teller, _ event.Event, b *event.MarksResult) Words {
			switch {
			case b.Error != "":
				return Words{Text: "quotations could not be looked for: " + t.cut(b.Error), Notes: []string{"failed"}, Weight: Detail}
			case len(b.Missing) > 0:
				return Words{Text: "is not there: " + t.cut(strings.Join(b.Missing[:min(len(b.Missing), 3)], "; ")), Notes: []string{"failed"}, Weight: Detail}
			}
			return Words{Text: "what was quoted is there", Weight: Detail}
		}),
		word("marks", func(t *Teller, e event.Event, b *event.MarksGiven) Words {
			var all []string
			for _, m := range b.Marks[:min(len(b.Marks), 5)] {
				all = append(all, fmt.Sprintf("%s %d", t.cut(m.Criterion), m.Mark))
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("marks attempt %d: %s", b.Attempt, strings.Join(all, ", ")), Weight: News, about: attemptName(b.Attempt)}
		}),
		matters(word("verdict", func(t *Teller, _ event.Event, b *event.TierJudged) Words {
			w := Words{Text: because(fmt.Sprintf("attempt %d: %s %s", b.Attempt, tierName(b.Tier, false), t.cut(b.Verdict)), t.cut(b.Reason)), Weight: News, about: attemptName(b.Attempt)}
			for _, c := range b.Criteria[:min(len(b.Criteria), 5)] {
				w.Notes = append(w.Notes, fmt.Sprintf("%s %d", t.cut(c.Criterion), c.Mark))
			}
			return w
		}), func(b *event.TierJudged) Interest { return Interest{Judged, attemptName(b.Attempt)} }),
		word("reward", func(_ *Teller, _ event.Event, b *event.RewardGiven) Words {
			w := Words{Text: fmt.Sprintf("attempt %d earns %s", b.Attempt, thousandths(b.Sum)), Weight: News, about: attemptName(b.Attempt)}
			if b.None {
				w.Text = fmt.Sprintf("what attempt %d earns cannot be told", b.Attempt)
			}
			if b.HeldOut != nil {
				w.Notes = append(w.Notes, "held-out "+thousandths(*b.HeldOut))
			}
			return w
		}),
		word("prediction", func(t *Teller, e event.Event, b *event.PredictionMade) Words {
			text := fmt.Sprintf("predicts of attempt %d", b.Attempt)
			if len(b.Steps) > 0 {
				text += ", when it does " + t.cut(strings.Join(stepLines(b.Steps[:min(len(b.Steps), 3)]), ", then "))
			}
			for i := range b.Expect[:min(len(b.Expect), 2)] {
				x := &b.Expect[i]
				text += fmt.Sprintf("; %s (%s)", t.cut(conditionLine(&x.Condition)), thousandths(x.Probability))
			}
			return Words{By: e.Actor, Text: text, Notes: []string{Several(int64(len(b.Expect)), "condition")}, Weight: News, about: attemptName(b.Attempt)}
		}),
		word("try", func(t *Teller, _ event.Event, b *event.WorldCall) Words {
			return Words{Text: fmt.Sprintf("attempt %d is tried: %s", b.Attempt, t.cut(strings.Join(stepLines(b.Steps[:min(len(b.Steps), 5)]), ", then "))), about: attemptName(b.Attempt)}
		}),
		word("", observedWords),
		word("surprise", func(_ *Teller, _ event.Event, b *event.SurpriseMeasured) Words {
			w := Words{Text: fmt.Sprintf("surprise of attempt %d: %s", b.Attempt, millionths(b.Mean)), Weight: News, about: attemptName(b.Attempt)}
			if b.Unforeseen > 0 {
				w.Notes = append(w.Notes, fmt.Sprintf("%d unforeseen", b.Unforeseen))
			}
			return w
		}),
	}
}

func attemptName(n int64) string { return fmt.Sprintf("attempt %d", n) }

// tierName says who looks.
func tierName(tier int64, held bool) string {
	switch {
	case held || tier == heldOutTier:
		return "held-out stories"
	case tier == 1:
		return "tier 1 (rules)"
	case tier == 2:
		return "tier 2 (judges)"
	case tier == 3:
		return "tier 3 (stories)"
	}
	return fmt.Sprintf("tier %d", tier)
}

func thousandths(n int64) string { return fmt.Sprintf("%d.%03d", n/1000, max(n%1000, 0)) }

// millionths are told to three places.
func millionths(n int64) string { return thousandths(n / 1000) }

func analysedWords(t *Teller, _ event.Event, b *event.AnalysisResult) Words {
	if b.Error.Len() > 0 {
		return Words{Text: "the analysis came to nothing: " + t.text(b.Error), Notes: outcome(true, b.Duration), Weight: Detail}
	}
	w := Words{Text: "it says " + t.cut(b.Verdict), Notes: []string{millis(b.Duration)}, Weight: Detail}
	if n := int64(len(b.Findings)) + b.More; n > 0 {
		w.Text += ", with " + Several(n, "finding")
	}
	passed := 0
	for i := range b.Stories {
		if b.Stories[i].Verdict == "passed" {
			passed++
		} else {
			w.Notes = append(w.Notes, t.cut(b.Stories[i].Name)+": "+t.cut(b.Stories[i].Verdict))
		}
	}
	if len(b.Stories) > 0 {
		w.Text += fmt.Sprintf(", %d of %s passed", passed, Several(int64(len(b.Stories)), "story", "stories"))
	}
	w.Notes = w.Notes[:min(len(w.Notes), 6)]
	return w
}

func observedWords(t *Teller, _ event.Event, b *event.WorldObserved) Words {
	if b.Error.Len() > 0 || b.End != "done" {
		return Words{Text: because("the try ended: "+t.cut(b.End), t.text(b.Error)), Notes: outcome(true, b.Duration), Weight: News}
	}
	held := 0
	for _, ok := range b.Held {
		if ok {
			held++
		}
	}
	w := Words{Text: fmt.Sprintf("%d of %s held", held, Several(int64(len(b.Held)), "condition")), Notes: []string{millis(b.Duration)}, Weight: News}
	if b.Unforeseen > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%d unforeseen", b.Unforeseen))
	}
	return w
}
