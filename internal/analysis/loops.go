package analysis

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// loops looks for what was declared: each lever and channel that has a place must be found there
// by role and name, and a loop must join two of them. What scripts make, no page tells.
func (l *look) loops(s *event.WorldStructure) {
	if s == nil || len(l.pages) == 0 {
		return
	}
	known := map[string]bool{}
	for _, v := range s.Levers {
		known["lever "+v.Name] = true
		l.placed("lever", v.Name, v.At)
	}
	for _, c := range s.Channels {
		known["channel "+c.Name] = true
		l.placed("channel", c.Name, c.At)
	}
	for _, o := range s.Loops {
		for _, part := range []string{"lever " + o.Lever, "channel " + o.Channel} {
			if !known[part] {
				l.fail("", 0, "loop", part, fmt.Sprintf("the loop %s has none of that name", o.Name))
			}
		}
	}
}

// placed looks for one part.
func (l *look) placed(kind, name string, at event.WorldPlace) {
	if at.Role == "" && at.Name == "" {
		return
	}
	role := strings.ToLower(at.Role)
	if role == "img" {
		role = "image"
	}
	alike := false
	for _, p := range l.pages {
		for _, e := range p.all {
			if e.tag == "" || !l.spend(1) || role != "" && roleOf(e) != role {
				continue
			}
			alike = true
			if at.Name == "" || l.nameOf(p, e) == squeeze(at.Name) {
				return
			}
		}
	}
	found := Failed
	if l.made || l.named && alike {
		found = Told // a script may make or name it
	}
	l.note(Entry, 0, "loop", found, fmt.Sprintf("the %s %s: %s", kind, name, placeOf(at)), "no such element in the pages")
}

func placeOf(at event.WorldPlace) string {
	switch {
	case at.Role == "":
		return fmt.Sprintf("%q", at.Name)
	case at.Name == "":
		return at.Role
	}
	return fmt.Sprintf("%s %q", at.Role, at.Name)
}
