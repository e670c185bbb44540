package study

// Leader is the best of the verified main results: the one that the study has to show. Without a
// baseline to compare with it is the best of those that can be compared with the first.
func (s *Study) Leader() *Result {
	if base := s.Baseline(); base != nil {
		return s.Best(base)
	}
	var leader *Result
	for _, r := range s.Results {
		if r.Kind == ResultMain && r.Verdict == Verified && (leader == nil || chief(r, leader).Outcome == Better) {
			leader = r
		}
	}
	return leader
}

// Ran are how many results were run, and how many of them printed twice what was claimed.
func (s *Study) Ran() (ran, verified int64) {
	for _, r := range s.Results {
		if r.Run != 0 {
			ran++
		}
		if r.Run != 0 && r.Verdict == Verified {
			verified++
		}
	}
	return ran, verified
}
