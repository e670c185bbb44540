package tui

import "lyceum/internal/quest"

// panels are those of the societies that have one, by the names of their rules.
var panels = map[string]func(*quest.State) panel{
	"lab":       newPapers,
	"architect": newTasks,
	"world":     newAttempts,
}
