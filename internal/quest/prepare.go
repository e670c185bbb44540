package quest

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// Preparing is a command that runs before any agent does anything.
type Preparing struct {
	Command string
	// Tree is the home that it left, nil until it has succeeded. Every agent begins with it.
	Tree *event.TreeRef `json:",omitzero"`
	// Failed says why it did not succeed, the last time it was tried since the quest went on.
	Failed string `json:",omitzero"`
}

// Unprepared reports whether agents have no homes yet.
func (s *State) Unprepared() bool { return s.Preparing != nil && s.Preparing.Tree == nil }

// Begun is what the homes of agents began with, nil if they were empty.
func (s *State) Begun() *event.TreeRef {
	switch {
	case s.Preparing != nil && s.Preparing.Tree != nil:
		return s.Preparing.Tree
	case s.Repo != nil:
		return &s.Repo.Tree
	}
	return s.Data
}

// prepare has what agents begin with made ready, and ends the quest where it cannot be. Run
// again, the quest tries again.
func (s *State) prepare(e event.Event) []event.Draft {
	for _, c := range s.Calls {
		if c.Kind == "prepare.call" {
			return nil
		}
	}
	if over := s.overStored(&s.Limits, nil); over != nil {
		return []event.Draft{exceeded(e, over)} // with more it is tried again
	}
	if s.Preparing.Failed != "" {
		return []event.Draft{After(e, "core", "", &event.QuestFailed{Reason: s.Preparing.Failed})}
	}
	return []event.Draft{After(e, "core", "", &event.PrepareCall{Command: s.Preparing.Command})}
}

// prepared takes in how the preparation ended.
func (s *State) prepared(b *event.PrepareResult) {
	delete(s.Calls, b.Call)
	s.kept(nobody, b.Stored, b.Full)
	p := s.Preparing
	if !b.Failed() {
		p.Tree, p.Failed = b.Tree, ""
		for _, a := range s.Agents {
			a.Tree = b.Tree
		}
		return
	}
	if b.Full != nil {
		return // it is the quest that has no room
	}
	p.Failed = "prepare: "
	switch {
	case b.Error != "":
		p.Failed += b.Error
	default:
		p.Failed += fmt.Sprintf("the command ended with exit code %d", b.Exit)
	}
	if text := strings.TrimSpace(b.Output.Text); text != "" {
		p.Failed += ": " + event.Shorten(lastOf(text), 1000)
	}
}

// lastOf is the end of an output, from the beginning of a line on.
func lastOf(text string) string {
	const most = 900
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-most:], "")
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// checkResult refuses the result of a preparation that says nothing.
func (s *State) checkResult(b *event.PrepareResult) error {
	if s.Preparing == nil {
		return fmt.Errorf("quest %s prepares nothing", s.Name)
	}
	if b.Error == "" && b.Exit == 0 && b.Tree == nil {
		return fmt.Errorf("the preparation of quest %s succeeded, and left no home", s.Name)
	}
	return s.answers(b)
}
