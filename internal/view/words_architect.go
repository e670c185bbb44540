package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// words implements Society: they are for what an architect plans and judges, and what becomes
// of its tasks. It is long because each type of event has its entry.
func (architects) words() dictionary {
	return dictionary{
		word("limit", func(t *Teller, _ event.Event, b *event.SessionConfig) Words {
			return Words{Text: fmt.Sprintf("a task may take %s, %s and %d s of each; executors by preference: %s",
				Several(b.Handovers, "handover"), Several(b.Calls, "command"), b.Seconds, t.cut(strings.Join(b.Executors, ", "))), Weight: Detail}
		}),
		word("plan", func(_ *Teller, e event.Event, b *event.PlanProposed) Words {
			return Words{By: e.Actor, Text: "plans " + planned(b.Tasks), Weight: News}
		}),
		word("plan", func(_ *Teller, _ event.Event, b *event.PlanApproved) Words {
			what := "the plan stands: "
			switch {
			case b.Edited:
				what = "a person has changed the plan, which now stands: "
			case b.Interaction != 0:
				what = "a person says yes to the plan: "
			}
			return Words{Text: what + planned(b.Tasks), Weight: News}
		}),
		word("snapshot", func(t *Teller, _ event.Event, b *event.TaskSnapshot) Words {
			return Words{Text: fmt.Sprintf("what %s has to know is gathered from %s", t.cut(b.Task), Several(int64(len(b.Events)), "event")), Notes: []string{b.Hash.String()[:12]}, Weight: Detail, about: b.Task}
		}),
		word("handover", func(t *Teller, _ event.Event, b *event.HandoverBegun) Words {
			if b.Repair {
				return Words{Text: fmt.Sprintf("%s goes back to %s for a repair: %s", t.cut(b.Task), t.cut(b.Worker), t.text(b.Package)), Notes: run(b.Run), Weight: News, about: b.Task}
			}
			return Words{Text: fmt.Sprintf("%s is handed over to %s", t.cut(b.Task), t.cut(b.Worker)), Notes: run(b.Run), Weight: News, about: b.Task}
		}),
		word("handover", func(t *Teller, _ event.Event, b *event.HandoverEnded) Words {
			text := fmt.Sprintf("run %d of %s is over", b.Run, t.cut(b.Task))
			switch b.Outcome {
			case event.OutcomeChecked:
				text = fmt.Sprintf("run %d of %s has passed every check, and stands to be judged", b.Run, t.cut(b.Task))
			case event.OutcomeError:
				text += " without a result"
			case event.OutcomeCancelled:
				text += ": cancelled"
			}
			return Words{Text: text, Weight: News, about: b.Task}
		}),
		word("check", func(t *Teller, _ event.Event, b *event.InspectionCall) Words {
			return Words{Text: fmt.Sprintf("what %s left of %s is compared with what it began with", t.cut(b.Worker), t.cut(b.Task)), Notes: run(b.Run), about: b.Task}
		}),
		word("", inspected),
		word("manifest", func(t *Teller, e event.Event, b *event.ArtifactManifest) Words {
			var items []string
			for _, i := range b.Items[:min(len(b.Items), 5)] {
				items = append(items, t.cut(i.Type)+" "+t.cut(i.Ref))
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("hands in %s of %s: %s", Several(int64(len(b.Items)), "artifact"), t.cut(b.Task), strings.Join(items, ", ")), Notes: run(b.Run), Weight: Detail, about: b.Task}
		}),
		word("tests", func(t *Teller, _ event.Event, b *event.AcceptanceCall) Words {
			return Words{Text: fmt.Sprintf("%s run %s: %s", Several(int64(len(b.Commands)), "acceptance command"), sides(t, b.Side, b.Task), t.cut(strings.Join(b.Commands, "; "))), Weight: Detail, about: b.Task}
		}),
		word("", tested),
		matters(word("task error", func(t *Teller, _ event.Event, b *event.TaskError) Words {
			w := Words{Text: fmt.Sprintf("%s went wrong in run %d (%s): %s", t.cut(b.Task), b.Run, t.cut(b.Category), t.text(b.Text)), Notes: []string{"failed"}, Weight: News, about: b.Task}
			if b.Line != "" {
				w.Notes = append(w.Notes, t.cut(b.Line))
			}
			if b.Same > 1 {
				w.Notes = append(w.Notes, fmt.Sprintf("the same %d times", b.Same))
			}
			return w
		}), func(b *event.TaskError) Interest { return Interest{Failed, b.Task} }),
		word("clarify", func(t *Teller, e event.Event, b *event.TaskClarify) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("asks the architect about %s: %s", t.cut(b.Task), t.text(b.Question)), Notes: []string{fmt.Sprintf("round %d", b.Round)}, Weight: News, about: b.Task}
		}),
		word("clarify", func(t *Teller, e event.Event, b *event.TaskClarified) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("answers question %d about %s: %s", b.Clarify, t.cut(b.Task), t.text(b.Text)), Weight: News, about: b.Task}
		}),
		matters(word("verdict", func(t *Teller, e event.Event, b *event.TaskJudged) Words {
			verb := map[string]string{event.VerdictAccept: "accepts", event.VerdictRefuse: "refuses", event.VerdictNarrow: "asks for less of"}[b.Verdict]
			if verb == "" {
				verb = "judges"
			}
			w := Words{By: e.Actor, Text: because(verb+" "+t.cut(b.Task), t.text(b.Reasons)), Notes: run(b.Run), Weight: News, about: b.Task}
			for _, s := range b.Shown[:min(len(b.Shown), 3)] {
				w.Notes = append(w.Notes, "shown by "+t.cut(s))
			}
			return w
		}), func(b *event.TaskJudged) Interest { return Interest{judged(b), b.Task} }),
		word("turn of a task", func(t *Teller, _ event.Event, b *event.TaskTurned) Words {
			how := "goes on in another way"
			switch b.How {
			case event.TurnedSwap:
				how = "goes to another executor, " + t.cut(b.Executor)
			case event.TurnedNarrow:
				how = "is to be made smaller"
			}
			return Words{Text: because(t.cut(b.Task)+" "+how, t.cut(b.Reason)), Weight: News, about: b.Task}
		}),
		word("task ended", func(t *Teller, _ event.Event, b *event.TaskEnded) Words {
			return Words{Text: because(t.cut(b.Task)+" is "+t.cut(b.Status), t.cut(b.Reason)), Weight: News, about: b.Task}
		}),
		word("summary", func(t *Teller, _ event.Event, b *event.TaskSummary) Words {
			return Words{Text: fmt.Sprintf("messages %d to %d are told as a summary: %s", b.First, b.Last, t.text(b.Text)), Notes: []string{Several(int64(len(b.Events)), "event")}, Weight: Detail}
		}),
		word("merge", func(t *Teller, _ event.Event, b *event.MergeCall) Words {
			var of []string
			for _, p := range b.Parts {
				of = append(of, t.cut(p.Task))
			}
			return Words{Text: "put together on the base: " + t.cut(strings.Join(of, ", ")), Weight: Detail}
		}),
		word("", merged),
		word("", func(_ *Teller, e event.Event, b *event.ArtifactsDropped) Words {
			return Words{By: e.Actor, Text: "no longer keeps " + Several(int64(len(b.Files)), "artifact") + " of runs that were refused", Weight: News}
		}),
		word(KindMessage, func(t *Teller, e event.Event, b *event.TaskOrder) Words {
			if b.Action == event.OrderCancel {
				return Words{By: e.Actor, Text: because("cancels "+t.cut(b.Task), t.cut(b.Text)), Weight: News, about: b.Task}
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("says to whoever works on %s: %s", t.cut(b.Task), t.cut(b.Text)), Weight: News, about: b.Task}
		}),
	}
}

// judged is what became of a task that an architect looked at.
func judged(b *event.TaskJudged) string {
	if b.Verdict == event.VerdictAccept {
		return Accepted
	}
	return Rejected
}

// planned names the tasks of a plan.
func planned(tasks []event.TaskPlan) string {
	out := []string{}
	for _, p := range tasks[:min(len(tasks), 5)] {
		out = append(out, flat(p.ID, 40)+" ("+flat(p.Goal, 60)+")")
	}
	if more := len(tasks) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return Several(int64(len(tasks)), "task") + ": " + strings.Join(out, ", ")
}

func run(n int64) []string { return []string{fmt.Sprintf("run %d", n)} }

// sides says on what acceptance commands run.
func sides(t *Teller, side, task string) string {
	switch side {
	case event.SideBefore:
		return "on the base, without " + t.cut(task)
	case event.SideAfter:
		return "on what " + t.cut(task) + " made"
	case event.SideMerged:
		return "on all that was made"
	}
	return "on " + t.cut(side)
}

// inspected says what a run has changed, and what of it cannot be taken over.
func inspected(t *Teller, _ event.Event, b *event.InspectionResult) Words {
	w := Words{Text: Several(b.Files, "file") + " changed", Weight: Detail}
	sign := map[string]string{event.Added: "+", event.Removed: "-"}
	var names []string
	for _, c := range b.Changes[:min(len(b.Changes), 3)] {
		s := sign[c.Kind]
		if s == "" {
			s = "~"
		}
		names = append(names, s+t.cut(c.Path))
	}
	if len(names) > 0 {
		w.Text += ": " + strings.Join(names, " ")
	}
	if b.Error.Len() > 0 {
		w.Text, w.Notes = "what was left cannot be inspected: "+t.text(b.Error), []string{"failed"}
	}
	for _, o := range b.Outside[:min(len(b.Outside), 3)] {
		w.Notes = append(w.Notes, "outside its scope: "+t.cut(o.Path)+" ("+t.cut(o.Reason)+")")
	}
	for _, f := range b.Findings[:min(len(b.Findings), 3)] {
		w.Notes = append(w.Notes, t.cut(f))
	}
	return w
}

// tested says how acceptance commands ended.
func tested(t *Teller, _ event.Event, b *event.TestReport) Words {
	if b.Error.Len() > 0 {
		return Words{Text: "the acceptance commands could not be run: " + t.text(b.Error), Notes: outcome(true, b.Duration), Weight: News}
	}
	good, failing := 0, ""
	var passed, failed int64
	for i := range b.Commands {
		r := &b.Commands[i]
		passed, failed = passed+r.Passed, failed+r.Failed
		if r.Good() {
			good++
		} else if failing == "" {
			failing = fmt.Sprintf("; %s ends with %d", t.cut(r.Command), r.Exit)
			if r.End != "" {
				failing = "; " + t.cut(r.Command) + " is ended: " + t.cut(r.End)
			}
		}
	}
	w := Words{Text: fmt.Sprintf("%d of %s succeeded%s", good, Several(int64(len(b.Commands)), "acceptance command"), failing), Weight: News, Notes: []string{millis(b.Duration)}}
	if passed+failed > 0 {
		w.Notes = append([]string{fmt.Sprintf("%s passed, %d failed", Several(int64(passed), "test"), failed)}, w.Notes...)
	}
	return w
}

// merged says what came of putting tasks together.
func merged(t *Teller, _ event.Event, b *event.MergeReport) Words {
	switch {
	case b.Error.Len() > 0:
		return Words{Text: "what was made cannot be put together: " + t.text(b.Error), Notes: []string{"failed"}, Weight: News}
	case len(b.Conflicts) > 0:
		c := b.Conflicts[0]
		return Words{Text: fmt.Sprintf("what was made does not fit together, and the base stays: %s at %s (%s)", Several(int64(len(b.Conflicts)), "conflict"), t.cut(c.Path), t.cut(c.Reason)), Notes: []string{"failed"}, Weight: News}
	}
	return Words{Text: "all that was made is put together: " + Several(b.Files, "file") + " changed", Weight: News}
}
