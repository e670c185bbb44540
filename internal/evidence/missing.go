package evidence

// Missing returns the numbers of a claim, as written, each once and in order,
// that neither occur in a source nor follow from one. A number follows from
// another that is equal, however it is written (1.02e3, 1,020, 1020), or that
// rounds to it, half up or half to even, at the last digit that the claim shows.
// A percentage follows from the fraction that it is, and the other way round; and
// from the bare number, for a table's header may hold the percent sign.
//
// A number does not follow by rounding to zero, nor by cutting digits off, nor
// from digits in names; see Numbers for what counts. 300,350 is read as one number
// and, if that is not there, as two.
func Missing(claim string, sources []string) []string {
	known := newSources(sources)
	var missing []string
	said := map[string]bool{}
	for _, f := range scan(claim) {
		if said[f.number.Text] || known.support(f) {
			continue
		}
		said[f.number.Text] = true
		missing = append(missing, f.number.Text)
	}
	return missing
}

// sources are the numbers of all sources by how they can be read.
type sources struct {
	bare, percent, fraction *index // fraction is the percentages as fractions
}

func newSources(texts []string) sources {
	k := sources{newIndex(), newIndex(), newIndex()}
	for _, text := range texts {
		for _, f := range scan(text) {
			k.add(f.number)
			for _, part := range f.parts {
				k.add(part)
			}
		}
	}
	return k
}

func (k sources) add(n Number) {
	if n.percent {
		k.percent.add(n.face())
		k.fraction.add(n.fraction())
		return
	}
	k.bare.add(n)
}

func (k sources) support(f found) bool {
	if k.supportNumber(f.number) {
		return true
	}
	for _, part := range f.parts {
		if !k.supportNumber(part) {
			return false
		}
	}
	return len(f.parts) > 0
}

func (k sources) supportNumber(n Number) bool {
	if n.percent {
		return k.percent.supports(n.face()) || k.bare.supports(n.face()) || k.bare.supports(n.fraction())
	}
	return k.bare.supports(n) || k.fraction.supports(n) || k.percent.supports(n)
}

// index answers in constant time whether some number equals, or rounds to, a
// given one. What the numbers round to is computed once for each last digit that
// is asked for; there are at most some thousand of them.
type index struct {
	equal   map[string]bool
	numbers []Number
	rounded map[int]map[string]bool
}

func newIndex() *index {
	return &index{equal: map[string]bool{}, rounded: map[int]map[string]bool{}}
}

func (x *index) add(n Number) {
	key := n.String()
	if x.equal[key] {
		// An equal one may show more digits, but those are zeros.
		return
	}
	x.equal[key] = true
	if !n.odd {
		x.numbers = append(x.numbers, n)
	}
}

func (x *index) supports(n Number) bool {
	if x.equal[n.String()] {
		return true
	}
	if n.odd || n.digits == "" {
		return false
	}
	at, ok := x.rounded[n.exponent]
	if !ok {
		at = map[string]bool{}
		for _, m := range x.numbers {
			up, even := m.rounded(n.exponent)
			at[m.sign()+up], at[m.sign()+even] = true, true
		}
		x.rounded[n.exponent] = at
	}
	return at[n.sign()+n.digits]
}
