package runtimetest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// advised checks that each is told once what concerns it, and none what does not.
func (b *labBooks) advised(e event.Event, x *event.AdvisorySent) error {
	if x.Kind == event.AdviseUpdated { // of no paper: a server's resource is another
		for _, name := range x.To {
			delete(b.parked, name)
			b.told[name] = append(b.told[name], labAdvice{e.Seq, x.Text.Text})
		}
		return nil
	}
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	if err := b.blind(x.Text.Text); err != nil {
		return err
	}
	to := x.To
	if len(to) == 0 {
		to = slices.DeleteFunc(slices.Clone(b.agents), func(name string) bool { return name == x.Except })
	}
	for _, name := range to {
		if x.Kind != event.AdviseExpired {
			delete(b.parked, name)
		}
		b.told[name] = append(b.told[name], labAdvice{e.Seq, x.Text.Text})
		r := p.requests[name]
		ok := false
		switch x.Kind {
		case event.AdviseUnshown:
			ok = name == p.author && p.missing && !p.warned && len(p.requests) == 0 && len(to) == 1
			p.warned = true
		case event.AdviseRequested:
			if ok = r != nil && r.state == "open" && !r.told; ok {
				r.told = true
			}
		case event.AdviseExpired:
			if ok = r != nil && r.state == "expired" && !r.closed; ok {
				r.closed = true
			}
		case event.AdviseReceived:
			p.received++
			ok = name == p.author && p.received <= int64(len(p.reviews)) && len(to) == 1
		case event.AdviseDecided:
			ok = name == p.author && p.status != event.Submitted && !p.decided && len(to) == 1
			p.decided = true
		case event.AdviseAnnounced:
			ok = name != p.author && p.status == event.Published && x.Except == p.author && !p.announced
		}
		if !ok {
			return fmt.Errorf("%s is told that %s is %s, wrongly or a second time", name, x.Ref, x.Kind)
		}
	}
	b.saw("advisories")
	p.announced = p.announced || x.Kind == event.AdviseAnnounced
	return nil
}

// blind refuses a text that quotes a review: reviews come with the paper's folder, and
// there once it is decided.
func (b *labBooks) blind(text string) error {
	if strings.Contains(text, secretReview) {
		return fmt.Errorf("it quotes a review: %.200q", text)
	}
	return nil
}

// delivered checks the folder that an agent gets: without reviews until the paper is
// decided, and with all of them after.
func (b *labBooks) delivered(d *quest.Delivery) {
	if d.Find != nil {
		b.searched(d.Find)
		return
	}
	b.saw("delivered")
	p := b.papers[strings.TrimPrefix(d.Path, "publications/")]
	reviews := 0
	for _, t := range d.Texts {
		if t.Name == "revised-reviews.md" {
			continue
		}
		for _, part := range t.Parts {
			reviews += strings.Count(part.Text.Text, secretReview)
		}
	}
	want := len(p.reviews)
	if p.status == event.Submitted {
		want = 0
	}
	if reviews != want {
		b.fault = fmt.Errorf("the folder of %s, which is %s, has %d reviews of %d", p.ref, p.status, reviews, len(p.reviews))
	}
}

// searched checks that no review can be found.
func (b *labBooks) searched(f *quest.Finding) {
	b.saw("searched")
	for _, x := range f.Among {
		for _, part := range x.Parts {
			if strings.Contains(part.Text, secretReview) {
				b.fault = fmt.Errorf("a search finds a review: %s", x.Line)
			}
		}
	}
}

// batch checks what must be done when an input and all it led to are in: what can be
// decided is, citations are counted with the decision, everybody is told, and whoever
// takes another's place is asked.
func (b *labBooks) batch() error {
	touched := b.touched
	if !b.running || b.fault != nil {
		return b.fault // what is due is done when the quest goes on
	}
	b.touched = nil
	for _, p := range touched {
		var left string
		switch {
		case p.instead != "":
			left = p.instead + " is to be asked"
		case p.status == event.Submitted && !p.waits():
			left = "it can be decided"
		case p.entrypoint && p.trial == 0:
			left = "it is to be run"
		case p.status == event.Published && !p.counted && len(p.cites) > 0:
			left = "its citations are to be counted"
		case p.received < int64(len(p.reviews)) || p.status != event.Submitted && !p.decided || p.status == event.Published && !p.announced && len(b.agents) > 1:
			left = "somebody is to be told of it"
		}
		for name, r := range p.requests {
			if r.state == "open" && !r.told || r.state == "expired" && !r.closed {
				left = name + " is to be told"
			}
		}
		if left != "" {
			return fmt.Errorf("paper %s is %s, and %s", p.ref, p.status, left)
		}
	}
	return nil
}

// shown checks that each advisory comes to its agent once: with the next turn, after
// the results of the last one's tools.
func (b *labBooks) shown(s *quest.State) error {
	asks := b.asks
	b.asks = nil
	for _, e := range asks {
		last := lastShown(e)
		a := s.Agent(e.Actor)
		due := b.told[e.Actor]
		late := slices.IndexFunc(due, func(x labAdvice) bool { return x.seq > e.Seq })
		if late < 0 {
			late = len(due)
		}
		want := map[string]int{}
		for _, x := range due[:late] {
			want[x.text]++
		}
		b.told[e.Actor] = due[late:]
		from := b.seen[e.Actor]
		b.seen[e.Actor] = last + 1
		for i := max(from, a.Transcript.First); i <= last; i++ {
			results := false
			for j, part := range a.Transcript.Messages[i-a.Transcript.First].Parts {
				results = results || part.ID != ""
				if !strings.HasPrefix(part.Text.Text, "Advisory (") && !strings.HasPrefix(part.Text.Text, "The resource sim://") {
					continue
				}
				if want[part.Text.Text]--; want[part.Text.Text] < 0 || results && j == 0 {
					return fmt.Errorf("%s is shown at %d what it was shown before, or not told: %q", e.Actor, e.Seq, part.Text.Text)
				}
			}
		}
		for text, n := range want {
			if n != 0 && a.Transcript.First <= from {
				return fmt.Errorf("%s is not shown at %d what it was told: %q", e.Actor, e.Seq, text)
			}
		}
	}
	return nil
}

// lastShown is the last message that a turn begins with.
func lastShown(e event.Event) int64 {
	if b, ok := e.Body.(*event.PromptCall); ok {
		return b.Last
	}
	return e.Body.(*event.ModelCall).Last
}
