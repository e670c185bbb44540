package stages

import (
	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// tools are those of the researcher that the rules answer.
var tools []quest.OwnTool

// Use implements quest.Toolbox.
func (Society) Use(*quest.State, *agent.Agent, *agent.Use, event.Event) []event.Draft { return nil }

// policies are those of every study.
func policies() []behavior.Thread { return nil }
