package stages

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// Memory is what the rules know: the study, and what they wait for.
type Memory struct {
	Settings Settings
	Study    *study.Study
	// Corpus is the folder in which papers are looked for, nil if there is none.
	Corpus *event.TreeRef `json:",omitzero"`
	// Orders are those of people that nothing was done about yet.
	Orders []Order `json:",omitempty"`
	// Failed says that the last sitting did, for Reason, and that it is waited for the next;
	// Retry is the timer of that, 0 until there is one. After is how long the model's provider
	// asked to be left alone, in microseconds, 0 if it said nothing.
	Failed bool   `json:",omitzero"`
	After  int64  `json:",omitzero"`
	Reason string `json:",omitzero"`
	Retry  uint64 `json:",omitzero"`
	// Exited says that a command in the background has ended, or a review, and nobody was told.
	Exited bool `json:",omitzero"`
}

// Order is a person's word about the course of the study.
type Order struct {
	Seq                         uint64
	Actor, Action, What, Reason string `json:",omitzero"`
	Message                     uint64 `json:",omitzero"`
	// Revision is that of the card that is approved, as it was offered then.
	Revision int64 `json:",omitzero"`
}

// maxOrders is how many orders wait at most, while the quest does not run.
const maxOrders = 64

// Begin implements quest.Knower.
func (Society) Begin(s *quest.State, b *event.QuestCreated) quest.Memory {
	m := &Memory{Settings: settingsOf(nil), Corpus: b.Corpus}
	if err := quest.Recorded(b, &m.Settings); err != nil {
		panic(err)
	}
	if err := m.Settings.check(); err != nil {
		panic(err)
	}
	m.Study = study.New(m.Settings.Mode, m.Settings.Anchor, len(m.Settings.Materials) > 0)
	m.Study.Compares, m.Study.Drops = m.Settings.Reports || m.Settings.Dropped, m.Settings.Dropped
	m.Study.Paperless = m.Settings.Paper == noPaper
	r := s.Agent(Reviewer)
	m.Study.Reviewer = r != nil && r.Mind() == agent.ByModel
	m.Study.Routing = m.Settings.Routing
	return m
}

// Blank implements quest.Knower.
func (Society) Blank() quest.Memory { return &Memory{} }

// Of is what is known of a study, nil if the quest is none.
func Of(s *quest.State) *Memory {
	m, _ := s.Memory().(*Memory)
	return m
}

// Apply implements quest.Memory.
func (m *Memory) Apply(e event.Event) {
	m.Study.Apply(e)
	switch b := e.Body.(type) {
	case *event.StudyOrder:
		m.ordered(e, b)
	case *event.MailWithdrawn:
		m.done(func(o Order) bool { return o.Action == event.SteerWithdraw && o.Message == b.Message })
	case *event.MailDelivered:
		if b.With == event.WithNow {
			m.done(isNow)
		}
	case *event.CardCall:
		m.done(func(o Order) bool {
			return b.Action == study.CardApprove && o.Action == event.SteerApprove && o.What == b.ID
		})
	case *event.AnchorMoved:
		m.done(func(o Order) bool { return o.Action == event.SteerStage })
	case *event.UserMessage, *event.InteractionAnswered:
		m.Failed = false
	case *event.QuestResumed:
		m.Failed, m.Study.Failures, m.Study.Empty = false, 0, 0
	case *event.SittingBegun:
		m.Failed, m.Retry, m.Reason, m.Exited = false, 0, "", false
		m.done(isNow)
	case *event.SittingEnded:
		m.Failed, m.Retry, m.Reason = b.Outcome == event.SittingFailed || b.Outcome == event.SittingInterrupted, 0, b.Reason
		m.done(isNow)
	case *event.ModelResult:
		if e.Actor == Researcher {
			m.After = 0
			if b.Error != nil {
				m.After = b.Error.After
			}
		}
	case *event.TimerSet:
		if b.Purpose == retryTimer {
			m.Retry = e.Seq
		}
	case *event.TimerFired:
		if b.Call == m.Retry {
			m.Failed, m.Retry = false, 0
		}
	case *event.CliExit:
		// What an executor runs itself ends with its prompt.
		m.Exited = m.Exited || !m.Study.Under() && b.Call != 0
	case *event.ReviewGiven:
		m.Exited = m.Exited || !m.Study.Under()
	}
}

// ordered takes in a person's word. What is waived or used the study knows by then.
func (m *Memory) ordered(e event.Event, b *event.StudyOrder) {
	switch b.Action {
	case event.SteerNow:
		if !m.Study.Under() {
			return // what waits begins a sitting anyway
		}
	case event.SteerApprove:
		c, err := m.Study.Offered(b.What)
		if err != nil {
			panic("study.order: " + err.Error())
		}
		m.Orders = append(m.Orders, Order{Seq: e.Seq, Actor: e.Actor, Action: b.Action, What: c.ID, Revision: c.Promoted})
		return
	case event.SteerStage, event.SteerWithdraw:
	default:
		return
	}
	m.Orders = append(m.Orders, Order{Seq: e.Seq, Actor: e.Actor, Action: b.Action, What: b.What, Reason: b.Reason, Message: b.Message})
}

// done forgets orders that are carried out, or that nothing can come of any more.
func (m *Memory) done(which func(Order) bool) { m.Orders = slices.DeleteFunc(m.Orders, which) }

func isNow(o Order) bool { return o.Action == event.SteerNow }

// Abandon implements quest.Memory.
func (m *Memory) Abandon() {
	m.Study.Abandon()
	m.Failed, m.Retry, m.Exited = false, 0, false
}

// Happened implements quest.Memory.
func (m *Memory) Happened(_ string, at agent.Place) bool { return m.Study.Effect(at) != 0 }

// Check implements quest.Checker.
func (m *Memory) Check(b event.Result) error {
	switch b := b.(type) {
	case *event.ReproductionResult:
		return m.Study.CheckRun(b)
	case *event.BaselineResult:
		return m.Study.CheckBrought(b)
	case *event.BundleResult:
		return m.Study.CheckBundle(b)
	case *event.ReportResult:
		return m.Study.CheckReport(b)
	}
	return nil
}

// Facts implements quest.Memory.
func (m *Memory) Facts(event.Event, *policy.Facts) {}

// Idle implements quest.Idler: nobody waits for the time of a model that answers again.
func (m *Memory) Idle(purpose string) bool { return purpose == retryTimer && !m.Failed }

// Resting implements quest.Rester.
func (m *Memory) Resting(s *quest.State) bool {
	a := s.Agent(Researcher)
	switch {
	case a == nil || m.Failed || len(m.Orders) > 0 || len(m.Study.Unsent) > 0:
		return false
	case a.Parked != "":
		return true
	case background(a) || m.Exited || m.Study.Recovers() || m.Study.Reviewed != nil || m.Study.Due() != nil:
		return false
	}
	return m.Study.Waits() != nil || m.Settings.Mode == study.Copilot
}

// MayReply implements quest.Replied.
func (m *Memory) MayReply(seq uint64) error { return m.Study.MayReply(seq) }

// MaySteer implements quest.Steered.
func (m *Memory) MaySteer(b *event.StudyOrder) error {
	if len(m.Orders) >= maxOrders {
		return fmt.Errorf("%d orders wait already", len(m.Orders))
	}
	switch b.Action {
	case event.SteerNow, event.SteerWithdraw:
		return nil
	case event.SteerStage:
		err := m.Study.MayMove(b.What)
		if lacks := m.Study.Lacks(b.What); err != nil && len(lacks) > 0 {
			err = fmt.Errorf("%w: /waive %s <why>", err, lacks[0].Name)
		}
		return err
	case event.SteerWaive:
		return m.Study.MayWaive(b.What, b.Reason)
	case event.SteerUse:
		if !slices.Contains(m.skills(), b.What) {
			return fmt.Errorf("there is no skill %.40q: there are %s", b.What, strings.Join(m.skills(), ", "))
		}
		return nil
	case event.SteerApprove:
		_, err := m.Study.Offered(b.What)
		return err
	}
	return errors.New("an order is stage, now, withdraw, waive, approve or use")
}

// skills are the names of those that a sitting can have.
func (m *Memory) skills() []string { return study.Skills }
