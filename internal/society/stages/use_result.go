package stages

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// resultTools are about artifacts, results and baselines.
var resultTools []quest.OwnTool

var resultUses = map[string]func(*using) []event.Draft{}
