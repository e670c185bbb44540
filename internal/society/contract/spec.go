package contract

import (
	"cmp"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// MaxTask is how long the task of a contract net may be, in bytes of JSON: its rules
// read it, and so it must stand in the quest's first event.
const MaxTask = 4000

// The keys of a contract net.
const (
	keyTask      = "task"
	keyCorpus    = "corpus"
	keyAudit     = "audit"
	keyWaitUntil = "wait_until"
)

var keys = []quest.Key{
	quest.QuestionKey(keyTask, "the question of a contract net; instead of problem"),
	quest.TextKey(keyCorpus, "a folder beside quest.yaml whose .md and .txt files a contract net searches"),
	quest.TextKey(keyAudit, "how strictly the answer of a contract net is audited: lite, standard (the default) or strict", Levels...),
	quest.TextKey(keyWaitUntil, "when the work of a contract net begins, such as 2030-01-31T12:00:00Z; default: at once"),
}

// About implements quest.Described.
func (Society) About() string {
	return "a planner, workers that bid, and an auditor, see docs/contract.md"
}

// Keys implements quest.Keyed.
func (Society) Keys() []quest.Key { return keys }

// Check implements quest.Keyed.
func (Society) Check(s *quest.Spec) error {
	if text := quest.TextOf(s, keyWaitUntil); text != "" {
		if at, err := time.Parse(time.RFC3339, text); err != nil || !believable(at) {
			return quest.Fault(keyWaitUntil, "wait_until %.60q: want a time such as 2030-01-31T12:00:00Z", text)
		}
	}
	return nil
}

// Settle implements quest.Keyed: it says how the net works. The corpus is pinned by the
// net's workshop, which can read it.
func (Society) Settle(s *quest.Spec, b *event.QuestCreated) error {
	b.Contract = &event.ContractSpec{Audit: cmp.Or(quest.TextOf(s, keyAudit), Standard)}
	if at, err := time.Parse(time.RFC3339, quest.TextOf(s, keyWaitUntil)); err == nil {
		b.Contract.WaitUntil = event.Time(at.UnixMicro())
	}
	return nil
}

// Corpus is the folder that a spec names for a net to search, empty for none.
func Corpus(s *quest.Spec) string { return quest.TextOf(s, keyCorpus) }

// believable reports whether somebody can mean to wait until a time.
func believable(at time.Time) bool { return at.Year() >= 2000 && at.Year() < 2200 }
