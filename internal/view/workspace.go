package view

import (
	"sort"

	"lyceum/internal/event"
)

// Workspaces are the trees of agents' homes over time.
type Workspaces struct {
	first    *event.TreeRef // what every home began with
	versions map[string][]Version
}

// Version is an agent's home after an event.
type Version struct {
	Seq  uint64
	Time event.Time
	Tree event.TreeRef
	// Cause is begin, tool or outside; Changes is how many files it concerned.
	Cause   string
	Changes int64
}

// Take adds the next event of the ledger.
func (w *Workspaces) Take(e event.Event) {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		w.versions = map[string][]Version{}
		w.first = b.Data
	case *event.FileDiff:
		w.versions[e.Actor] = append(w.versions[e.Actor], Version{
			Seq: e.Seq, Time: e.Time, Tree: b.After, Cause: b.Cause, Changes: int64(len(b.Changes)) + b.More,
		})
	}
}

// Versions are when an agent's files changed.
func (w *Workspaces) Versions(agent string) []Version { return w.versions[agent] }

// At returns an agent's home as it was after an event, nil if nothing is recorded.
func (w *Workspaces) At(agent string, seq uint64) *event.TreeRef {
	all := w.versions[agent]
	i := sort.Search(len(all), func(i int) bool { return all[i].Seq > seq })
	if i == 0 {
		return w.first
	}
	return &all[i-1].Tree
}
