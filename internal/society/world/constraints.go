package world

import (
	"fmt"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"
)

// The parts of a structure are events of a program of the author's threads, in a fixed order:
// objects, channels, levers, loops, blocks, and at the end "structure". What a thread blocks is
// refused with its reason; one that wants something blocks the end until it was there.
const whole = "structure"

var partTypes = []string{"object", "channel", "lever", "loop", "block", whole}

// partsOf are the events of a structure.
func partsOf(s event.WorldStructure) (out []behavior.Event, err error) {
	add := func(kind string, v any) {
		if err != nil {
			return
		}
		var d behavior.Detail
		d, err = behavior.JSONDetail(trial.JSON(v))
		out = append(out, behavior.Event{Type: kind, Detail: d})
	}
	for _, x := range s.Objects {
		add("object", x)
	}
	for _, x := range s.Channels {
		add("channel", x)
	}
	for _, x := range s.Levers {
		add("lever", x)
	}
	for _, x := range s.Loops {
		add("loop", x)
	}
	for _, x := range s.Blocks {
		add("block", x)
	}
	return append(out, behavior.Event{Type: whole}), err
}

// programOf is the program of an author's threads.
func programOf(list []*behavior.Definition) (*behavior.Program, error) {
	p := behavior.New(nil)
	for _, d := range list {
		t, err := d.Thread()
		if err == nil {
			err = p.Add(t)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	return p, nil
}

// meets says which of the author's threads a structure does not pass, empty if it passes all.
func meets(list []*behavior.Definition, s event.WorldStructure) string {
	if len(list) == 0 {
		return ""
	}
	p, err := programOf(list)
	if err != nil {
		return err.Error() // it was checked when the quest was made
	}
	defer p.Close()
	parts, err := partsOf(s)
	if err != nil {
		return err.Error()
	}
	for _, e := range parts {
		if by := p.Blocked(e); len(by) > 0 {
			var lines []string
			for _, b := range by {
				lines = append(lines, fmt.Sprintf("the constraint %s refuses the %s: %s", b.Thread, e.Type, b.Reason))
			}
			return strings.Join(lines, "\n")
		}
		p.Trigger(e, false)
	}
	if broken := p.Broken(); len(broken) > 0 {
		return fmt.Sprintf("the constraint %s broke down: %s", broken[0].Thread, broken[0].Reason)
	}
	return ""
}

// How far the author's threads are looked through: how many states, and how many parts deep.
const (
	maxCheckDepth  = 128
	maxCheckStates = 1_500
)

// checkConstraints refuses threads that are traps: which ask for what is no part of a structure,
// request or ask something, or come to a point from which no structure passes any more.
func checkConstraints(list []*behavior.Definition) error {
	if len(list) > maxConstraints {
		return fmt.Errorf("there are %d, more than %d", len(list), maxConstraints)
	}
	for _, d := range list {
		for _, p := range d.Steps {
			if len(p.Request)+len(p.Ask) > 0 {
				return fmt.Errorf("%s requests or asks something: a constraint waits for parts, and blocks them", d.Name)
			}
			for _, pats := range [][]behavior.PatternDef{p.Block, p.Wait, p.Interrupt} {
				for _, pat := range pats {
					if err := onlyParts(d.Name, pat); err != nil {
						return err
					}
				}
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	p, err := programOf(list)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Add(behavior.Thread{Name: "maker", Priority: 1 << 20, Start: func() behavior.Behavior { return declares{} }}); err != nil {
		return err
	}
	v, err := p.Check(behavior.CheckOptions{Reach: behavior.Of(whole), Depth: maxCheckDepth, States: maxCheckStates, Accept: func(behavior.Status) bool { return true }})
	if err != nil {
		return err
	}
	switch v.Result {
	case behavior.Holds:
		return nil
	case behavior.Fails:
		return fmt.Errorf("no structure can pass from some point on: %s", v.Reason)
	}
	// Nothing was wrong as far as somebody looked: a trap may lie behind that.
	return fmt.Errorf("it is not proved that a structure can always pass: after %d states, %d parts deep, there were more; make the threads fewer or shorter", v.States, v.Depth)
}

func onlyParts(name string, p behavior.PatternDef) error {
	for _, t := range p.Types {
		ok := t == "*"
		for _, known := range partTypes {
			ok = ok || t == known
		}
		if !ok {
			return fmt.Errorf("%s speaks of %q, which is none of %s", name, t, strings.Join(partTypes, ", "))
		}
	}
	return nil
}

// declares is a maker that declares every part there can be, in any order, until the end.
type declares struct{}

func (declares) Bids() behavior.Bids {
	var b behavior.Bids
	for _, kind := range []struct {
		typ   string
		kinds []string
		whens []string
	}{{"object", trial.Objects, []string{""}}, {"channel", trial.Channels, []string{""}}, {"lever", trial.Levers, trial.Times}, {"loop", []string{""}, []string{""}}, {"block", trial.Blocks, []string{""}}} {
		for _, k := range kind.kinds {
			for _, w := range kind.whens {
				if detail, err := behavior.JSONDetail(trial.JSON(map[string]string{"kind": k, "when": w, "name": "any"})); err == nil {
					b.Request = append(b.Request, behavior.Event{Type: kind.typ, Detail: detail})
				}
			}
		}
	}
	b.Request = append(b.Request, behavior.Event{Type: whole})
	return b
}

// Next implements behavior.Behavior: with the end nothing more is declared.
func (declares) Next(e behavior.Event) bool { return e.Type != whole }
func (declares) Save() string               { return "" }
func (declares) Restore(string) error       { return nil }
