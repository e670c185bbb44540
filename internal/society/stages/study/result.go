package study

import "lyceum/internal/event"

// applyResult takes in what is about artifacts, results and baselines.
func (s *Study) applyResult(event.Event) {}
