package stages

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// maxMail is how many messages are delivered at once: as many as can be read again, if there was
// no room for them.
const maxMail = agent.MaxLong

// retryTimer is the purpose of the timer that ends the wait for a model that failed.
const retryTimer = "sitting/retry"

// Tend implements quest.Host: orders first, then the question that is to be asked, what is to be said
// elsewhere, and questions that nobody waits for any more, then results that are to be run, papers that
// are to be reviewed and files that are to be copied, then what comes after a sitting.
func (Society) Tend(s *quest.State, e event.Event) []event.Draft {
	m, a := Of(s), s.Agent(Researcher)
	if a == nil {
		return nil
	}
	if step := obey(s, m, e); step != nil {
		return step
	}
	if q := m.Study.Unasked(); q != nil {
		return one(e, Researcher, &event.InteractionOpened{Answer: q.Answer, Part: q.Part, Blocking: true, Options: q.Options, Question: event.Text{Text: q.Text}})
	}
	if step := send(s, m, e); step != nil {
		return step
	}
	if step := withdraw(s, m, e); step != nil {
		return step
	}
	if call := m.Study.Try(); call != nil {
		return one(e, "core", call)
	}
	if step := review(s, m, e); step != nil {
		return step
	}
	if step := s.CopyFiles(e, a); step != nil {
		return step
	}
	if s.Sitting != nil || len(s.Ready()) < len(s.Mail) {
		return nil
	}
	return next(s, m, a, e)
}

// next is what comes after a sitting, in this order: a failed one is tried again after a time;
// mail begins the next; a question waits for its answer, a command in the background for its
// end; who works on their own goes on, and a copilot waits.
func next(s *quest.State, m *Memory, a *agent.Agent, e event.Event) []event.Draft {
	switch {
	case a.Parked != "" || a.Asked != 0 || len(a.Open) > 0:
		return nil
	case m.Study.Concluded != 0:
		return one(e, a.Name, &event.QuestFinished{Answer: event.Text{Text: m.Study.Conclusion}, Warnings: m.Study.Warnings()})
	case m.Failed:
		return again(m, e)
	case len(s.Mail) > 0 || m.Study.Recovers():
		return sit(s, m, a, e)
	case m.Study.Waits() != nil || background(a) || m.Study.Reviewed != nil:
		return nil
	case m.Exited:
		return sit(s, m, a, e)
	case m.Settings.Mode != study.Autonomous:
		return nil
	case m.Study.Parks():
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("%d sittings in a row have left nothing that lasts. Say something, and it goes on.", m.Study.Empty)})
	}
	return sit(s, m, a, e)
}

// sit begins the next sitting, with all mail that waits. Before that the home is asked once for
// cards that its prompt shows; if it has none to give, that is no reason not to begin.
func sit(s *quest.State, m *Memory, a *agent.Agent, e event.Event) []event.Draft {
	mail := s.Waits()
	mail = mail[:min(len(mail), maxMail)]
	switch {
	case m.Study.Seeking():
		return nil
	case m.Study.Seeks():
		_, kinds := study.PlanOf(m.Study.SkillOf(mail), m.Study.Anchor)
		return one(e, "core", &event.CardCall{Action: study.CardSearch, Kinds: kinds, Query: queryOf(s, len(mail))})
	}
	runner := m.Settings.Runner
	return s.Sit(e, a, &event.SittingBegun{
		Anchor: m.Study.Anchor, Branch: m.Study.Current, Fresh: a.Transcript.Bare() || m.Study.Fresh(runner, a.HalfFull()), Mail: mail, Number: m.Study.Next(),
		Recovers: m.Study.Recovers(), Runner: runner, Skill: m.Study.SkillOf(mail),
	})
}

// maxQuery is how many bytes of the mail cards are looked for by.
const maxQuery = 2000

// queryOf are the words of the mail that a sitting begins with, the newest first.
func queryOf(s *quest.State, mail int) string {
	var words []string
	for _, l := range slices.Backward(s.Mail[:min(mail, len(s.Mail))]) {
		words = append(words, l.Text.Text)
	}
	return event.Shorten(strings.Join(words, "\n"), maxQuery)
}

// maxAfter is how long a provider is left alone at most because it asks for that: one that names
// a year means something else.
const maxAfter = event.Time(24 * 3600 * 1_000_000)

// again waits until a model that failed is tried again: when its provider says, or after a time
// that grows. When it has been tried often enough, the quest rests.
func again(m *Memory, e event.Event) []event.Draft {
	if m.Retry != 0 {
		return nil
	}
	wait, ok := m.Study.Delay()
	if !ok {
		return one(e, "core", &event.QuestRested{Kind: event.RestModel, Reason: event.Shorten(fmt.Sprintf("The model failed %d times in a row, the last time with: %s", m.Study.Failures, m.Reason), 2000)})
	}
	if wait > 0 && m.After > 0 {
		wait = min(event.Time(m.After), maxAfter)
	}
	return one(e, "core", &event.TimerSet{At: e.Time + wait, Purpose: retryTimer})
}

// end ends the sitting under way.
func end(s *quest.State, e event.Event, outcome, reason string) []event.Draft {
	m := Of(s)
	durable := m.Study.Sitting != nil && m.Study.Sitting.Durable
	return one(e, Researcher, &event.SittingEnded{Durable: durable, Number: s.Sitting.Number, Outcome: outcome, Reason: reason})
}

// deliver hands over all mail that waits during a sitting.
func deliver(s *quest.State, e event.Event, with string) []event.Draft {
	mail := s.Ready()
	return one(e, "core", &event.MailDelivered{Messages: mail[:min(len(mail), maxMail)], To: Researcher, With: with})
}

// background reports whether a command of the researcher's has outlived its call, and runs.
func background(a *agent.Agent) bool {
	for _, c := range a.Commands {
		if c.Keep && !c.Ended {
			return true
		}
	}
	return false
}

// obey does what a person has ordered: what they take back comes first, so that it is not
// delivered. Of several words about the stage, said while the quest rested, the last counts.
func obey(s *quest.State, m *Memory, e event.Event) []event.Draft {
	var stage *Order
	now := false
	for i := range m.Orders {
		switch o := &m.Orders[i]; o.Action {
		case event.SteerWithdraw:
			return one(e, "core", &event.MailWithdrawn{Message: o.Message})
		case event.SteerStage:
			stage = o
		case event.SteerApprove:
			return one(e, o.Actor, &event.CardCall{Action: study.CardApprove, ID: o.What, Revision: o.Revision})
		case event.SteerNow:
			now = s.Sitting != nil && len(s.Ready()) > 0
		}
	}
	switch {
	case stage != nil:
		return one(e, stage.Actor, &event.AnchorMoved{By: "person", From: m.Study.Anchor, Reason: stage.Reason, To: stage.What})
	case now:
		return deliver(s, e, event.WithNow)
	}
	return nil
}

// withdraw takes back a question that nobody waits for any more: a newer one is open, or it was
// answered by a message.
func withdraw(s *quest.State, m *Memory, e event.Event) []event.Draft {
	open := uint64(0)
	if t := m.Study.Waits(); t != nil {
		open = t.Interaction
	}
	for i := range s.Questions {
		if q := &s.Questions[i]; q.Own() && q.Asker == Researcher && q.Seq != open {
			return one(e, "core", &event.InteractionWithdrawn{Interaction: q.Seq})
		}
	}
	return nil
}
