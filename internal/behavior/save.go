package behavior

import (
	"fmt"
	"slices"
	"strconv"
)

// Saved is where a thread stands.
type Saved struct {
	Name string `json:"name"`
	// State is what a Saver wrote, Heard what any other has heard since it began.
	State string       `json:"state,omitzero"`
	Heard []SavedEvent `json:"heard,omitempty"`
	// Lost says that it has heard too much to be brought back.
	Lost   bool   `json:"lost,omitzero"`
	Broken string `json:"broken,omitzero"`
}

// SavedEvent is an event as text.
type SavedEvent struct {
	Type   string `json:"type"`
	Detail string `json:"detail,omitzero"`
}

// Save writes down where the threads stand that have not ended. Triggers that
// wait are not part of it: whoever offered them must do so again.
func (p *Program) Save() []Saved {
	out := make([]Saved, 0, len(p.threads))
	for _, t := range p.threads {
		s := Saved{Name: t.Name}
		if saver, ok := t.body.(Saver); ok {
			t.guard(func() { s.State = saver.Save() })
		}
		s.Broken, s.Lost = t.broken, t.long
		for _, e := range t.heard {
			h := SavedEvent{Type: e.Type}
			if e.Detail != nil {
				h.Detail = e.Detail.JSON()
			}
			s.Heard = append(s.Heard, h)
		}
		out = append(out, s)
	}
	return out
}

// Restore brings the threads to where they stood. The program must have been made
// of the same threads, and not have gone on since. Threads that are not in saved
// had ended.
func (p *Program) Restore(saved []Saved) error {
	by := map[string]Saved{}
	for _, s := range saved {
		by[s.Name] = s
	}
	for _, t := range p.threads {
		s, ok := by[t.Name]
		if !ok {
			t.end()
			t.broken = ""
			continue
		}
		if err := t.restore(s); err != nil {
			return fmt.Errorf("restore thread %s: %w", t.Name, err)
		}
		delete(by, t.Name)
	}
	for _, s := range saved {
		if _, left := by[s.Name]; left {
			return fmt.Errorf("restore thread %s: there is none", s.Name)
		}
	}
	p.sweep()
	return nil
}

func (t *thread) restore(s Saved) error {
	if s.Broken != "" {
		t.breakDown(s.Broken)
		return nil
	}
	if s.Lost {
		return fmt.Errorf("it has heard more than %d events in one run, which nobody kept", maxHeard)
	}
	if saver, ok := t.body.(Saver); ok {
		var err error
		t.guard(func() {
			if err = saver.Restore(s.State); err == nil {
				t.bids = t.body.Bids()
			}
		})
		return err
	}
	for _, h := range s.Heard {
		e := Event{Type: h.Type}
		if h.Detail != "" {
			d, err := JSONDetail(h.Detail)
			if err != nil {
				return err
			}
			e.Detail = d
		}
		if t.body == nil {
			return fmt.Errorf("it ended before it heard %s", e)
		}
		t.hear(e)
	}
	return nil
}

// Clone returns a program of the same threads at the same points, without
// options and without triggers that wait.
func (p *Program) Clone() (*Program, error) {
	c := New(nil)
	for _, t := range slices.SortedFunc(slices.Values(p.threads), func(a, b *thread) int { return a.order - b.order }) {
		if err := c.Add(t.Thread); err != nil {
			return nil, err
		}
	}
	if err := c.Restore(p.Save()); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// key is the same for programs of the same threads at the same points.
func (p *Program) key() string { return keyOf(p.Save()) }

func keyOf(saved []Saved) string {
	var b []byte
	for _, s := range saved {
		for _, text := range []string{s.Name, s.State, s.Broken} {
			b = strconv.AppendQuote(b, text)
		}
		for _, h := range s.Heard {
			b = strconv.AppendQuote(append(b, ','), h.Type)
			b = strconv.AppendQuote(b, h.Detail)
		}
		b = append(b, ';')
	}
	return string(b)
}
