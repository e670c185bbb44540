package bundle

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Formulas are written in a small part of the language of TeX: letters, digits, signs, scripts,
// fractions, roots, fences, accents, tables and the names of a closed list. What is in that part becomes a
// tree, and both forms of a paper are written from the tree: no byte of a stranger's reaches TeX or
// a browser as anything but a letter, a digit or a sign that we know. What is not in it is no
// formula, and is shown as it was written.

// mathKind says what a part of a formula is.
type mathKind int

const (
	// mathRow are parts beside each other.
	mathRow mathKind = iota
	mathNumber
	// mathLetter is a variable, mathSign what stands between them, mathFunction a name such as log.
	mathLetter
	mathSign
	mathFunction
	// mathWords are words in roman.
	mathWords
	mathSpace
	// mathFraction has two parts, mathRoot the radicand and perhaps an index.
	mathFraction
	mathRoot
	// mathScript has a base, what stands below, what stands above; either may be nil.
	mathScript
	// mathAccent has the part that stands below it, mathFence what stands between two signs.
	mathAccent
	mathFence
	// mathTable has lines, mathLine cells.
	mathTable
	mathLine
)

// formula is a part of a formula.
type formula struct {
	kind mathKind
	// tex is how TeX has it, char how a browser does.
	tex, char string
	parts     []*formula
	// limits says that in a formula by itself scripts stand below and above, relation that both of
	// its sides are values, closing is the second sign of a fence.
	limits, relation bool
	closing          *formula
	primes           int
	// env is what a table is.
	env *mathEnv
}

// Bounds of a formula.
const (
	maxFormula      = 2000
	maxFormulaDepth = 12
)

// readFormula reads a formula, nil if it is none of ours.
func readFormula(source string) *formula {
	r := &mathReader{s: source}
	row := r.row("")
	if r.bad || r.at < len(r.s) || len(row.parts) == 0 || len(source) > maxFormula {
		return nil
	}
	return row
}

// mathReader reads a formula from left to right. bad says that it is none of ours, and ends it.
type mathReader struct {
	s     string
	at    int
	depth int
	bad   bool
}

func (r *mathReader) fail() *formula {
	r.bad, r.at = true, len(r.s)
	return &formula{}
}

func (r *mathReader) rest() string { return r.s[r.at:] }

func (r *mathReader) skip() {
	for r.at < len(r.s) && strings.IndexByte(" \t\n", r.s[r.at]) >= 0 {
		r.at++
	}
}

// take reads what is there next, if it is that. A name ends where its letters do.
func (r *mathReader) take(s string) bool {
	rest, ok := strings.CutPrefix(r.rest(), s)
	if !ok || len(s) > 1 && asciiLetter(rune(s[len(s)-1])) && rest != "" && asciiLetter(rune(rest[0])) {
		return false
	}
	r.at += len(s)
	return true
}

// row reads parts until end, which is read as well; the empty end is that of the formula.
func (r *mathReader) row(end string) *formula {
	out := &formula{kind: mathRow}
	if r.depth++; r.depth > maxFormulaDepth {
		return r.fail()
	}
	defer func() { r.depth-- }()
	for {
		r.skip()
		switch {
		case r.at == len(r.s):
			if end != "" {
				return r.fail()
			}
			return out
		case end != "" && r.take(end):
			return out
		}
		out.parts = append(out.parts, r.scripted())
	}
}

// scripted reads a part with what stands below and above it, each once.
func (r *mathReader) scripted() *formula {
	base := &formula{kind: mathRow}
	if c := r.s[r.at]; c != '^' && c != '_' && c != '\'' {
		base = r.part()
	}
	var below, above *formula
	primes := 0
	for {
		r.skip()
		switch {
		case above == nil && r.take("'"):
			primes++
			continue
		case above == nil && r.take("^"):
			above = r.argument()
			continue
		case below == nil && r.take("_"):
			below = r.argument()
			continue
		}
		break
	}
	if below == nil && above == nil && primes == 0 {
		return base
	}
	return &formula{kind: mathScript, parts: []*formula{base, below, above}, primes: primes}
}

// argument is what TeX takes for one: a group, or a single letter, digit, sign or name.
func (r *mathReader) argument() *formula {
	r.skip()
	if r.at < len(r.s) {
		if c := r.s[r.at]; c >= '0' && c <= '9' {
			r.at++
			return &formula{kind: mathNumber, tex: string(c), char: string(c)}
		} else if strings.IndexByte("^_'}]", c) < 0 {
			return r.part()
		}
	}
	return r.fail()
}

// part reads one thing without its scripts.
func (r *mathReader) part() *formula {
	if n := numberAt(r.rest()); n > 0 {
		text := r.rest()[:n]
		r.at += n
		return &formula{kind: mathNumber, tex: text, char: strings.NewReplacer("{,}", ",", `\,`, "\u2009").Replace(text)}
	}
	c, size := utf8.DecodeRuneInString(r.rest())
	if r.at += size; c == '{' {
		return r.row("}")
	}
	if c == '\\' {
		return r.command()
	}
	if asciiLetter(c) {
		return &formula{kind: mathLetter, tex: string(c), char: string(c)}
	}
	if s, ok := symbols[string(c)]; ok {
		return s
	}
	return r.fail()
}

// numberAt is how many bytes of a text are a number: digits with points, or with what groups them.
func numberAt(s string) (n int) {
	digits := func(from int) (to int) {
		for to = from; to < len(s) && s[to] >= '0' && s[to] <= '9'; to++ {
		}
		return to
	}
	for {
		from := n
		for _, sep := range []string{".", "{,}", `\,`} {
			if strings.HasPrefix(s[n:], sep) && (n > 0 || sep == ".") {
				from = n + len(sep)
			}
		}
		to := digits(from)
		if to == from {
			return n
		}
		n = to
	}
}

// command reads a name and what belongs to it.
func (r *mathReader) command() *formula {
	n := 0
	for n < len(r.rest()) && asciiLetter(rune(r.rest()[n])) {
		n++
	}
	if n == 0 && r.at < len(r.s) {
		n = 1
	}
	name := r.rest()[:n]
	r.at += n
	switch {
	case name == "frac" || name == "dfrac" || name == "tfrac" || name == "binom":
		return &formula{kind: mathFraction, tex: name, parts: []*formula{r.argument(), r.argument()}}
	case name == "sqrt":
		return r.root()
	case name == "left":
		return r.fence()
	case name == "begin":
		return r.table()
	case mathAccents[name] != "":
		return &formula{kind: mathAccent, tex: name, char: mathAccents[name], parts: []*formula{r.argument()}}
	case styles[name] != nil:
		return r.styled(name)
	}
	if s, ok := symbols[`\`+name]; ok {
		return s
	}
	return r.fail()
}

func (r *mathReader) root() *formula {
	out := &formula{kind: mathRoot}
	var index *formula
	if r.skip(); r.take("[") {
		index = r.row("]")
	}
	if out.parts = []*formula{r.argument()}; index != nil {
		out.parts = append(out.parts, index)
	}
	return out
}

// fence reads what stands between two signs that grow with it.
func (r *mathReader) fence() *formula {
	open := r.delimiter()
	row := r.row(`\right`)
	if r.bad {
		return row
	}
	return &formula{kind: mathFence, tex: open.tex, char: open.char, parts: []*formula{row}, closing: r.delimiter()}
}

// fences are what can stand at either side; a point is nothing.
var fences = strings.Fields(`( ) [ ] | / . \{ \} \| \langle \rangle \lfloor \rfloor \lceil \rceil \vert \Vert`)

func (r *mathReader) delimiter() *formula {
	r.skip()
	for _, f := range fences {
		if !r.take(f) {
			continue
		}
		if f == "." {
			return &formula{tex: "."}
		}
		return symbols[f]
	}
	return r.fail()
}

// styled reads letters in another style.
func (r *mathReader) styled(name string) *formula {
	r.skip()
	body, _, found := strings.Cut(r.rest(), "}")
	if !found || !strings.HasPrefix(body, "{") {
		return r.fail()
	}
	r.at += len(body) + 1
	text := strings.Join(strings.Fields(body[1:]), " ")
	if name == "text" || name == "textrm" { // where spaces at the ends are seen
		text = strings.Map(func(c rune) rune {
			if c == '\n' || c == '\t' {
				return ' '
			}
			return c
		}, body[1:])
	}
	style := styles[name]
	shown := ""
	for _, c := range text {
		set := style(c)
		if set == 0 {
			return r.fail()
		}
		shown += string(set)
	}
	if strings.TrimSpace(text) == "" {
		return r.fail()
	}
	return &formula{kind: mathWords, tex: `\` + name + "{" + text + "}", char: shown}
}

// claims is what a formula says in numbers, as words would. Digits are part of a formula that has
// letters beside them: x², 2π, t+1; what stands alone at a side of a relation is a value.
func (f *formula) claims() string {
	var b strings.Builder
	for from, i := 0, 0; i <= len(f.parts); i++ {
		if i < len(f.parts) && !f.parts[i].relation {
			continue
		}
		side := &formula{kind: mathRow, parts: f.parts[from:i]}
		side.say(&b, !side.varies())
		if from = i + 1; i < len(f.parts) {
			b.WriteString(" " + f.parts[i].char + " ")
		}
	}
	return b.String()
}

// varies reports whether a part has a variable in it.
func (f *formula) varies() bool {
	return f != nil && (f.kind == mathLetter || f.kind == mathFunction || slices.ContainsFunc(f.parts, (*formula).varies))
}

// say writes the numbers of a part, and the words beside them: those may be units. A single digit
// counts where it is a value.
func (f *formula) say(b *strings.Builder, value bool) {
	switch {
	case f == nil:
	case f.kind == mathNumber && !value && len(f.tex) == 1, f.kind == mathSpace:
		b.WriteString(" ")
	case f.kind == mathNumber, f.kind == mathSign, f.kind == mathWords:
		b.WriteString(f.char)
	case f.kind == mathTable:
		f.sayTable(b, value)
	case f.kind == mathRow:
		for i, p := range f.parts {
			p.say(b, value || f.joined(i))
		}
	case f.kind == mathScript:
		base, below, above := f.parts[0], f.parts[1], f.parts[2]
		power := above != nil && base.kind == mathNumber // such as that of ten
		base.say(b, value)
		b.WriteString(map[bool]string{true: "^", false: " "}[power])
		above.say(b, value || power)
		b.WriteString(" ")
		below.say(b, false)
		b.WriteString(" ")
	default:
		b.WriteString(" ")
		for i, p := range f.parts {
			if i > 0 {
				b.WriteString("/")
			}
			p.say(b, value)
		}
		b.WriteString(" ")
	}
}

// counts reports whether a part is a number, or may be read as one.
func (f *formula) counts() bool {
	return f.kind == mathNumber || f.kind == mathRow || f.kind == mathScript && f.parts[0].counts()
}

// joined reports whether the part at a place is read together with another number: 1{.}5.
func (f *formula) joined(at int) bool {
	number := func(i int) bool { return i >= 0 && i < len(f.parts) && f.parts[i].counts() }
	is := func(i int, signs string) bool {
		return i >= 0 && i < len(f.parts) && f.parts[i].tex != "" && strings.Contains(signs, f.parts[i].tex)
	}
	if !number(at) {
		return false
	}
	return number(at-1) || number(at+1) || is(at-1, ".") || is(at-1, `\,`) && number(at-2) || is(at+1, `.\,`) && number(at+2)
}
