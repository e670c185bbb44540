package behavior

// Description is what a thread states, in words.
type Description struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Broken says why it broke down.
	Broken string `json:"broken,omitempty"`
	// States are what it requests, waits for, blocks and is interrupted by now. A
	// thread that stands at several points says so for each.
	States []string `json:"states"`
}

// Describe says what each thread states now.
func (p *Program) Describe() []Description {
	out := make([]Description, 0, len(p.threads))
	for _, t := range p.threads {
		d := Description{Name: oneLine(t.Name), Text: oneLine(t.Text), Broken: oneLine(t.broken), States: []string{}}
		parts := []standing{{bids: t.bids}}
		if r, ok := t.body.(interface{ standings() []standing }); ok {
			parts = r.standings()
		}
		for _, part := range parts {
			for _, line := range part.bids.lines() {
				if part.who != "" {
					line = "for " + part.who + ": " + line
				}
				d.States = append(d.States, oneLine(line))
			}
		}
		out = append(out, d)
	}
	return out
}
