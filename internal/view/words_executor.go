package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// executorWords are for executors. What one says of itself, and of what it did, are its own
// words.
var executorWords = dictionary{
	word("executor", func(t *Teller, e event.Event, b *event.ExecutorCall) Words {
		return Words{By: e.Actor, Text: "is the executor " + t.cut(b.Executor) + ", which is made ready", Weight: Detail}
	}),
	word("executor", func(t *Teller, e event.Event, b *event.ExecutorReady) Words {
		if b.Error.Len() > 0 {
			return Words{By: e.Actor, Text: "its executor cannot be used: " + t.text(b.Error), Notes: []string{"failed"}, Weight: News}
		}
		w := Words{By: e.Actor, Text: "its executor is ready: " + t.cut(strings.TrimSpace(b.Name+" "+b.Version)), Weight: News}
		if b.Mode != "" {
			w.Notes = append(w.Notes, "mode "+t.cut(b.Mode))
		}
		if b.Reported {
			w.Notes = append(w.Notes, "what it runs itself is what it says")
		}
		return w
	}),
	word("", func(t *Teller, e event.Event, b *event.SessionOpened) Words {
		return Words{By: e.Actor, Text: fmt.Sprintf("its session %s is open in %s (%s)", t.cut(b.ID), t.cut(b.Process), t.cut(b.How))}
	}),
	word(KindTurn, func(_ *Teller, e event.Event, b *event.PromptCall) Words {
		return Words{By: e.Actor, Text: fmt.Sprintf("is prompted: turn %d, messages %d to %d", b.Turn, b.First, b.Last)}
	}),
	word("", func(t *Teller, e event.Event, b *event.PromptBegun) Words {
		return Words{By: e.Actor, Text: fmt.Sprintf("prompt %d is told to %s", b.Call, t.cut(b.Process))}
	}),
	word("", func(t *Teller, e event.Event, b *event.PromptResult) Words {
		notes := outcome(b.Failed(), b.Duration)
		switch {
		case b.Failed():
			return Words{By: e.Actor, Text: "its prompt came to no end: " + t.text(b.Error), Notes: notes, Weight: News}
		case b.Text.Len() == 0:
			return Words{By: e.Actor, Text: "its prompt is over without a word: " + t.cut(b.Stop), Notes: notes, Weight: Detail}
		}
		return Words{By: e.Actor, Text: "says: " + t.text(b.Text), Notes: append(notes, t.cut(b.Stop)), Weight: Detail}
	}),
	word("permission", func(t *Teller, e event.Event, b *event.PermissionAsked) Words {
		return Words{By: e.Actor, Text: "wants to do by itself: " + strings.TrimSpace(t.cut(b.Kind)+" "+t.text(b.Title)), Weight: Detail}
	}),
	word("permission", func(t *Teller, e event.Event, b *event.PermissionDecided) Words {
		if b.Given {
			return Words{By: e.Actor, Text: fmt.Sprintf("may do once what it asked for in event %d", b.Asked), Weight: Detail}
		}
		return Words{By: e.Actor, Text: because(fmt.Sprintf("may not do what it asked for in event %d", b.Asked), t.cut(b.Reason)), Weight: News}
	}),
	word(KindTool, func(t *Teller, e event.Event, b *event.ToolReported) Words {
		text := strings.TrimSpace(t.cut(b.Kind) + " " + t.text(b.Title))
		if text == "" {
			text = t.cut(b.ID)
		}
		w := Words{By: e.Actor, Text: "reports a call of its own, " + t.cut(b.Status) + ": " + text, Weight: Detail}
		if b.Status == "failed" {
			w.Notes = []string{"failed"}
		}
		return w
	}),
	word("plan", func(t *Teller, e event.Event, b *event.PlanReported) Words {
		var steps []string
		for _, x := range b.Entries {
			steps = append(steps, t.cut(x.Text)+" ("+t.cut(x.Status)+")")
		}
		if b.More > 0 {
			steps = append(steps, fmt.Sprintf("and %d more", b.More))
		}
		return Words{By: e.Actor, Text: t.cut("plans: " + strings.Join(steps, "; ")), Weight: Detail}
	}),
	word("", func(t *Teller, e event.Event, b *event.SaidReported) Words {
		if b.Thought {
			return Words{By: e.Actor, Text: "thinks: " + t.text(b.Text), Weight: Aside}
		}
		return Words{By: e.Actor, Text: "says: " + t.text(b.Text), Weight: Detail}
	}),
	word("", func(_ *Teller, e event.Event, b *event.HomeCall) Words {
		what := "what every home begins with"
		if b.Tree != nil {
			what = Number(b.Tree.Size) + " bytes in it"
		}
		return Words{By: e.Actor, Text: "gets a new home: " + what}
	}),
	word("", func(t *Teller, e event.Event, b *event.HomeRenewed) Words {
		if b.Error.Len() > 0 {
			return Words{By: e.Actor, Text: "has no home: " + t.text(b.Error), Notes: []string{"failed"}, Weight: News}
		}
		return Words{By: e.Actor, Text: "has a new home, and begins as one that has heard nothing", Weight: Detail}
	}),
	word("stop", func(t *Teller, e event.Event, b *event.PromptStopped) Words {
		return Words{By: e.Actor, Text: because("is told to stop", t.cut(b.Reason)), Weight: News}
	}),
}
