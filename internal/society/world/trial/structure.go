package trial

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// The closed words of a structure.
var (
	Objects  = []string{"nested", "relational", "list", "steps"}
	Channels = []string{"text", "binary", "selection", "audio", "video"}
	Levers   = []string{"affordance", "mechanic", "game"}
	Times    = []string{"instant", "progressive", "delayed"}
	Blocks   = []string{"pool", "stream", "wall", "thread", "grid"}
)

// ReadStructure reads what a maker declares.
func ReadStructure(raw []byte) (event.WorldStructure, error) {
	var s event.WorldStructure
	if err := read("structure", raw, &s); err != nil {
		return event.WorldStructure{}, err
	}
	if err := CheckStructure(s); err != nil {
		return event.WorldStructure{}, err
	}
	return s, nil
}

// CheckStructure refuses, by name, an unknown word, a loop without response, a lever without loop.
func CheckStructure(s event.WorldStructure) error {
	n := len(s.Objects) + len(s.Channels) + len(s.Levers) + len(s.Loops) + len(s.Blocks)
	switch {
	case n == 0:
		return fmt.Errorf("the structure has no part: declare objects, channels, levers, loops, blocks")
	case n > MaxParts:
		return fmt.Errorf("the structure has %d parts, more than %d", n, MaxParts)
	}
	seen := parts{}
	for _, o := range s.Objects {
		if err := seen.part("object", o.Name, o.Kind, Objects, o.At); err != nil {
			return err
		}
	}
	for _, c := range s.Channels {
		if err := seen.part("channel", c.Name, c.Kind, Channels, c.At); err != nil {
			return err
		}
	}
	for _, l := range s.Levers {
		if err := seen.part("lever", l.Name, l.Kind, Levers, l.At); err != nil {
			return err
		}
		if err := word("lever", l.Name, l.When, Times); err != nil {
			return err
		}
	}
	for _, b := range s.Blocks {
		if err := seen.part("block", b.Name, b.Kind, Blocks, b.At); err != nil {
			return err
		}
	}
	if err := seen.loops(s); err != nil {
		return err
	}
	if w := Weight(s); w > MaxStructure {
		return fmt.Errorf("the structure has %d bytes, more than %d: use shorter names", w, MaxStructure)
	}
	return nil
}

// parts are those that were seen, by what they are and their name.
type parts map[[2]string]bool

func (p parts) once(what, name string) error {
	if err := named(what, name); err != nil {
		return err
	}
	if p[[2]string{what, name}] {
		return fmt.Errorf("%s %s is there twice", what, quoted(name))
	}
	p[[2]string{what, name}] = true
	return nil
}

func (p parts) part(what, name, kind string, words []string, at event.WorldPlace) error {
	if err := p.once(what, name); err != nil {
		return err
	}
	if err := word(what, name, kind, words); err != nil {
		return err
	}
	return place(what+" "+quoted(name), at)
}

func (p parts) loops(s event.WorldStructure) error {
	led := map[string]bool{}
	for _, l := range s.Loops {
		if err := p.once("loop", l.Name); err != nil {
			return err
		}
		switch {
		case l.Response == "":
			return fmt.Errorf("loop %s has no response: say what is seen in its channel", quoted(l.Name))
		case len(l.Response) > maxText/2:
			return fmt.Errorf("loop %s: a response has at most %d bytes", quoted(l.Name), maxText/2)
		case !p[[2]string{"lever", l.Lever}]:
			return fmt.Errorf("loop %s: there is no lever %s", quoted(l.Name), quoted(l.Lever))
		case !p[[2]string{"channel", l.Channel}]:
			return fmt.Errorf("loop %s: there is no channel %s", quoted(l.Name), quoted(l.Channel))
		}
		led[l.Lever] = true
	}
	for _, l := range s.Levers {
		if !led[l.Name] {
			return fmt.Errorf("lever %s is in no loop: say what it leads to, or leave it out", quoted(l.Name))
		}
	}
	return nil
}

// Certain is the probability of what a declared loop foretells, in thousandths: whoever declares
// it says that it is so.
const Certain = 1000

// Foretold is what the declared loops say of steps that touch their levers. A delayed lever says
// something only if somebody waits after it. What would not fit into an event is left out.
func Foretold(kind string, s event.WorldStructure, steps []event.WorldStep) []event.WorldExpectation {
	var told []event.WorldExpectation
	room := MaxForetold
	for _, loop := range s.Loops {
		for _, l := range s.Levers {
			if l.Name != loop.Lever || !touched(kind, l, steps) {
				continue
			}
			for _, c := range s.Channels {
				if c.Name != loop.Channel {
					continue
				}
				x := event.WorldExpectation{Condition: response(kind, c, loop.Response), Loop: loop.Name, Probability: Certain}
				if room -= Weight(x); room >= 0 {
					told = append(told, x)
				}
			}
		}
	}
	return told
}

func touched(kind string, l event.WorldLever, steps []event.WorldStep) bool {
	hit := false
	for _, s := range steps {
		switch {
		case s.Do == "wait" && hit:
			return true
		case s.Do == "wait":
		case kind == Program:
			hit = hit || l.At.Name == "" || slices.Contains(s.Args, l.At.Name)
		default:
			hit = hit || l.At != (event.WorldPlace{}) && (l.At.Role == "" || l.At.Role == s.At.Role) && (l.At.Name == "" || fold(l.At.Name) == fold(s.At.Name))
		}
	}
	return hit && (l.When != "delayed" || kind == Program)
}

// response is the condition that a response in a channel is. What nobody can read, such as a
// sound, must at least have its place.
func response(kind string, c event.WorldChannel, text string) event.WorldCondition {
	switch {
	case kind == Program && c.Kind == "binary" && c.At.Name != "":
		return event.WorldCondition{Kind: "file", Path: c.At.Name}
	case kind == Program:
		return event.WorldCondition{Kind: "output", How: "contains", Text: text}
	case c.At == (event.WorldPlace{}):
		return event.WorldCondition{Kind: "text", How: "contains", Text: text}
	case c.Kind == "text":
		return event.WorldCondition{Kind: "text", At: c.At, How: "contains", Text: text}
	case c.Kind == "selection":
		return event.WorldCondition{Kind: "value", At: c.At, How: "contains", Text: text}
	}
	return event.WorldCondition{Kind: "present", At: c.At}
}
