package evidence

// Missing returns the numbers of a claim, as written, each once and in order,
// that neither occur in a source nor follow from one. A number follows from
// another that is equal, however it is written (1.02e3, 1,020, 1020), or that
// rounds to it, half up or half to even, at the last digit that the claim shows.
// A percentage follows from the fraction that it is, which is one at most, and the
// other way round; and from the bare number, for a table's header may hold the percent sign.
//
// Where both have a unit of measure, the units must be comparable, and the numbers
// are compared after scaling: 35094 J/mol follows from 35.0942 kJ/mol, and 35.09
// J/mol does not.
//
// A number does not follow by rounding to zero, nor by cutting digits off, nor
// from digits in names; see Numbers for what counts. 300,350 is read as one number
// and, if that is not there, as two. What is not evaluated, such as ½, E99 or
// ninety-nine, must occur as it is written.
func Missing(claim string, sources []string) []string { return Know(sources).Missing(claim) }

// Known are the numbers of sources, which are read once for many claims.
type Known struct{ sources }

// Know reads sources.
func Know(texts []string) *Known { return &Known{newSources(texts)} }

// Missing is Missing of these sources.
func (k *Known) Missing(claim string) []string {
	var missing []string
	said := map[string]bool{}
	for _, f := range scan(claim).found {
		if said[f.number.Text] || k.support(f) {
			continue
		}
		said[f.number.Text] = true
		missing = append(missing, f.number.Text)
	}
	return missing
}

// sources are the numbers of all sources by how they can be read.
type sources struct {
	all, bare         *index            // but for percentages; bare are those without a unit
	units             map[string]*index // by what they measure, without prefixes
	percent, fraction *index            // fraction is the percentages as fractions
	scales            map[string]scaling
}

// scaling is a unit without prefixes and the power of ten that they made.
type scaling struct {
	base  string
	power int
}

func (k sources) scale(unit string) scaling {
	s, ok := k.scales[unit]
	if !ok {
		s.base, s.power = scale(unit)
		k.scales[unit] = s
	}
	return s
}

func newSources(texts []string) sources {
	k := sources{newIndex(), newIndex(), map[string]*index{}, newIndex(), newIndex(), map[string]scaling{}}
	for _, text := range texts {
		s := scan(text)
		for _, f := range s.found {
			k.add(f.number, f.unit)
			for _, part := range f.parts {
				k.add(part, f.unit)
			}
		}
		for _, name := range s.names {
			k.bare.equal[name] = true
		}
	}
	return k
}

func (k sources) add(n Number, unit string) {
	if n.percent {
		k.percent.add(n.face())
		if f := n.fraction(); f.atMostOne() {
			k.fraction.add(f)
		}
		return
	}
	k.all.add(n)
	if unit == "" || n.key != "" {
		k.bare.add(n)
		return
	}
	by := k.scale(unit)
	if k.units[by.base] == nil {
		k.units[by.base] = newIndex()
	}
	k.units[by.base].add(n.scaled(by.power))
}

func (k sources) support(f found) bool {
	if k.supportNumber(f.number, f.unit) {
		return true
	}
	for _, part := range f.parts {
		if !k.supportNumber(part, f.unit) {
			return false
		}
	}
	return len(f.parts) > 0
}

func (k sources) supportNumber(n Number, unit string) bool {
	switch {
	case n.percent:
		return k.percent.supports(n.face()) || k.bare.supports(n.face()) || n.fraction().atMostOne() && k.bare.supports(n.fraction())
	case n.key != "":
		return k.bare.supports(n)
	case unit == "":
		return k.all.supports(n) || k.fraction.supports(n) || k.percent.supports(n)
	}
	by := k.scale(unit)
	same := k.units[by.base]
	return k.bare.supports(n) || same != nil && same.supports(n.scaled(by.power))
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
