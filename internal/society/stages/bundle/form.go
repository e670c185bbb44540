package bundle

import "strings"

// form is how one of the forms of a paper has what stands in a line. Both are written by one walk.
type form struct {
	*strings.Builder
	// text is a stranger's text, math a formula, cite what is cited; link begins a link.
	text func(string) string
	math func(f *formula, display bool) string
	cite func([]cite)
	link func(to string) string
	// around is what stands before and behind spans, by their kind.
	around map[spanKind][2]string
}

func (f *form) spans(list []span) {
	for i := range list {
		s := &list[i]
		around := f.around[s.kind]
		if s.kind == link {
			if around[0] = f.link(s.to); s.to == "" { // it leads nowhere
				around = [2]string{}
			}
		}
		f.WriteString(around[0])
		switch s.kind {
		case words, fixed:
			f.WriteString(f.text(s.text))
		case inMath:
			f.WriteString(f.math(s.formula, s.display))
		case cited:
			f.cite(s.cites)
		default:
			f.spans(s.spans)
		}
		f.WriteString(around[1])
	}
}
