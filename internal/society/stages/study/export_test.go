package study

// CloseBranch closes a line of work as a result does.
func (s *Study) CloseBranch(name string, by uint64) { s.closeBranch(name, by) }
