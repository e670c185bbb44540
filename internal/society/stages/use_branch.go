package stages

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// branchTools are about lines of work and their checkpoints.
var branchTools []quest.OwnTool

var branchUses = map[string]func(*using) []event.Draft{}
