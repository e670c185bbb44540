package view

import (
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

// Question is one that waits for a person's answer.
type Question struct {
	ID    uint64 `json:"id"`
	Asker string `json:"asker"`
	Text  string `json:"question"`
	// Options are answers to choose from. Another one may be given, unless it is about a
	// Proposal: that wants yes or no.
	Options  []string   `json:"options"`
	Proposal string     `json:"proposal,omitempty"`
	Policies []string   `json:"policies,omitempty"`
	Blocking bool       `json:"blocking"`
	Asked    event.Time `json:"asked"`
	// Expires is when Default counts, if nobody has answered by then.
	Expires *event.Time `json:"expires,omitempty"`
	Default string      `json:"default,omitempty"`
	// Answered says that there is an answer, which counts once somebody runs the quest.
	Answered bool `json:"answered,omitempty"`
}

// Questions are those of a quest that wait for an answer, the oldest first; answered are
// those that have one in the quest's inbox.
func Questions(s *quest.State, answered map[uint64]bool) []Question {
	out := []Question{}
	for _, q := range s.Open() {
		b := &q.Body
		x := Question{
			ID: q.Seq, Asker: q.Asker, Text: plain.Text(b.Question.Text), Options: []string{}, Proposal: string(b.Proposal),
			Blocking: b.Blocking, Asked: q.Time, Default: plain.Text(b.Default), Answered: answered[q.Seq],
		}
		x.Options = append(x.Options, b.Options...)
		for _, by := range b.By {
			x.Policies = append(x.Policies, by.Policy)
		}
		if b.Expires != 0 {
			x.Expires = &b.Expires
		}
		out = append(out, x)
	}
	return out
}
