package view

import (
	"fmt"

	"lyceum/internal/event"
)

// surveyWords are for what happens in a study, whose ledger is its own.
var surveyWords = dictionary{
	word("", func(t *Teller, e event.Event, b *event.SurveyDesigned) Words {
		return Words{By: e.Actor, Text: fmt.Sprintf("designs a study of %s for %s: %s", Several(int64(len(b.Arms)*len(b.Models)*len(b.Seeds)), "quest"), Dollars(b.Budget), t.cut(b.Question)), Weight: News}
	}),
	word("", func(t *Teller, _ event.Event, b *event.SurveyAllotted) Words {
		return Words{Text: fmt.Sprintf("cell %d gets %s, for quest %s", b.Cell, Dollars(b.Budget), t.cut(b.Quest))}
	}),
	word(KindAnswer, func(t *Teller, _ event.Event, b *event.SurveyObserved) Words {
		text := fmt.Sprintf("cell %d is over (%s)", b.Cell, t.cut(b.State))
		if b.Answer != "" {
			return Words{Text: text + ": " + t.cut(b.Answer), Weight: News}
		}
		return Words{Text: because(text, t.cut(b.Reason)), Weight: News}
	}),
	word("", func(_ *Teller, _ event.Event, b *event.SurveyFinished) Words {
		return Words{Text: fmt.Sprintf("the study is finished: %d of %s have an answer, for %s", b.Answered, Several(b.Cells, "quest"), Dollars(b.Cost)), Weight: News}
	}),
}
