package study

import "lyceum/internal/event"

// applyBranch takes in what is about lines of work.
func (s *Study) applyBranch(event.Event) {}
