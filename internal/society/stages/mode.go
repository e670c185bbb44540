package stages

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// modes are the stages: to whom knows modes alone, a study is in the one where it stands.
var modes = []quest.Mode{
	{ID: study.Scout, Name: "Scout", About: "Find out what is asked, and what is known"},
	{ID: study.Baseline, Name: "Baseline", About: "Have something to compare with"},
	{ID: study.Idea, Name: "Idea", About: "Choose what to try"},
	{ID: study.Experiment, Name: "Experiment", About: "Try it, and measure"},
	{ID: study.Campaign, Name: "Analysis campaign", About: "Find out why, and whether it holds"},
	{ID: study.Write, Name: "Write", About: "Write the paper"},
	{ID: study.Finalize, Name: "Finalize", About: "Bring the study to its end"},
}

// Modes implements quest.Moded. A study that was told to go to a stage, and has not yet, is said to
// be there.
func (Society) Modes(s *quest.State) ([]quest.Mode, string) {
	if s == nil || Of(s) == nil {
		return modes, settingsOf(nil).Anchor
	}
	m := Of(s)
	now := m.Study.Anchor
	for _, o := range m.Orders {
		if o.Action == event.SteerStage {
			now = o.What
		}
	}
	return modes, now
}

// ModeOrder implements quest.Located: the order is that of /stage.
func (Society) ModeOrder(id string) event.Body {
	return &event.StudyOrder{Action: event.SteerStage, What: id, Reason: "a person said so"}
}

// ModeOf implements quest.Located.
func (Society) ModeOf(order event.Body) string {
	if b, ok := order.(*event.StudyOrder); ok && b.Action == event.SteerStage {
		return b.What
	}
	return ""
}

// ModeKeys implements quest.Located.
func (Society) ModeKeys(id string) quest.Keys { return quest.Keys{keyAnchor: id} }
