package behavior

// Tell tells the program of something that has happened. Nobody can block it any
// more; threads that wait for it move on, and those it interrupts end.
func (p *Program) Tell(e Event) {
	p.note(p.Blocked(e)) // for those that cannot bear to hear of it
	p.choose(e, "")
}

// Break declares a thread broken, as if it had panicked. It is for the one who
// sees that a thread does harm in another way, such as asking for one thing after
// another without end.
func (p *Program) Break(name, reason string) {
	for _, t := range p.threads {
		if t.Name == name && t.broken == "" {
			t.breakDown(reason)
		}
	}
}
