package runtimetest

import (
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// The provider of all simulated models goes away now and then. Whoever asked it waits until
// it is back, or the quest comes to rest. The world tells of it as a live one does: that it
// is gone before each further try, and that it is back with each result.

const provider = "sim"

// outage has the provider go and come, and returns what is told of it.
func (w *World) outage() []event.Draft {
	switch {
	case w.gone && w.Chance(250):
		w.gone = false
		w.Saw("outages over")
	case !w.gone && w.Chance(w.rates.Outage):
		w.gone = true
		w.patience = w.Int64N(3_000_000)
	}
	if !w.gone || w.Chance(500) {
		return nil
	}
	var models []string
	for _, a := range w.State().Agents {
		if a.Model != "" && !slices.Contains(models, a.Model) {
			models = append(models, a.Model)
		}
	}
	return []event.Draft{{Time: w.Now, Actor: "core", Body: &event.ProviderLost{Models: models, Patience: w.patience, Provider: provider, Reason: "nobody is there"}}}
}

// absent reports whether a call waits for the provider, and what becomes of it when the
// quest does not.
func (w *World) absent(seq uint64, c quest.Call) (waits bool, untaken []event.Draft) {
	if !w.gone || c.Kind != "model.call" {
		return false, nil
	}
	if w.State().Status == quest.Running {
		return true, nil
	}
	w.Saw("turns not taken")
	return false, []event.Draft{{Parent: seq, Time: w.Now, Actor: c.Agent, Body: &event.ModelResult{
		Call: seq, Error: &event.ModelError{Kind: event.ErrorAway, Text: "nobody is there"},
	}}}
}

// outages keeps account of them: the timer of one that is over nobody waits for,
// nor that of the time of a quest that waits for words.
func (b *books) outages(w *World, e event.Event) {
	switch x := e.Body.(type) {
	case *event.ProviderLost:
		w.Saw("outages")
	case *event.QuestRested:
		w.Saw("rested: " + x.Kind)
	case *event.ModelResult:
		if x.Untaken() {
			b.turns--
			b.share[e.Actor]--
		}
	}
	for seq, purpose := range b.timers {
		if len(b.shadow.Outages) == 0 && strings.HasPrefix(purpose, "outage/") || b.shadow.HasMail() && b.shadow.Waiting() && (purpose == "duration" || purpose == "sitting/retry") {
			delete(b.timers, seq)
			delete(b.open, seq)
		}
	}
}
