package demo

import (
	"math/big"
	"strings"
)

// maxQuestion is how much of a question is read for its sentences.
const maxQuestion = 20_000

// question is what a person said.
type question struct {
	text      string
	sentences []sentence
}

// sentence is a part of a question, as it was written and in plain words.
type sentence struct {
	raw string
	// plain is in lower case, without filler words, and with one word for each of
	// the ways to say the same.
	plain string
}

func newQuestion(text string) question {
	q := question{text: text}
	for _, raw := range sentences(strings.ToValidUTF8(text[:min(len(text), maxQuestion)], "")) {
		q.sentences = append(q.sentences, sentence{raw, known(raw)})
	}
	return q
}

// recognise finds the first sentence that a skill knows.
func recognise(q question) (inquiry, bool) {
	for _, s := range q.sentences {
		for _, k := range skills() {
			if found, ok := k.recognise(s); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// unread is what no skill has looked at, if one has looked at something.
func (q question) unread() string {
	var rest []string
	known := false
	for _, s := range q.sentences {
		if !known {
			if _, known = recognise(question{sentences: []sentence{s}}); known {
				continue
			}
		}
		if namesTable.MatchString(s.raw) {
			continue // it was used to find the file
		}
		if strings.TrimSpace(courtesy.ReplaceAllString(s.plain, "")) != "" {
			rest = append(rest, s.raw)
		}
	}
	if !known {
		return ""
	}
	return strings.Join(rest, " ")
}

var (
	namesTable = late(`[\pL\pN_./-]+\.[ct]sv\b`)
	paragraph  = late(`\n\s*\n`)
	// sentenceEnd leaves 3.5, data.csv and 20! alone.
	sentenceEnd = late(`[^\s\d)]!+(\s|$)|[.?;](\s|$)|[。？；]`)
)

func sentences(text string) []string {
	var list []string
	for _, p := range paragraph.Split(text, -1) {
		p = strings.Join(strings.Fields(p), " ")
		for p != "" {
			end := len(p)
			if m := sentenceEnd.FindStringIndex(p); m != nil {
				end = m[1]
			}
			if s := strings.TrimSpace(p[:end]); s != "" {
				list = append(list, s)
			}
			p = strings.TrimSpace(p[end:])
		}
	}
	return list
}

// rewrite is a way to say something plainly.
type rewrite struct {
	from pattern
	to   string
}

func rewrites(pairs ...string) []rewrite {
	var list []rewrite
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, rewrite{late(pairs[i]), pairs[i+1]})
	}
	return list
}

var (
	courtesy = late(`\b(check|verify|show|explain|say how|prove|justify|use|write)\b.*|\b(thanks|thank you|hello|hi)\b|[.?!,]`)
	plainer  = rewrites(
		`(\d),(\d{3})\b`, `$1$2`, `(\d),(\d{3})\b`, `$1$2`, `(\d)_(\d)`, `$1$2`,
		`\*\*`, `^`, `≤|<=`, ` upto `, `<`, ` below `, `√`, `square root of `, `π`, `pi`,
		`,? and (check|verify|show|explain|say how|prove|justify)\b.*`, ``,
		`\bhow many\b|\b(the )?(total )?number of\b|^count\b`, `count`,
		`\b(less|smaller|lower) than\b|\bunder\b`, `below`,
		`\bup to( and including)?\b|\bat most\b|\b(not|no) (exceeding|greater than|more than|larger than)\b|\bfrom 1 to\b|\bbetween 1 and\b`, `upto`,
		`\bprime numbers?\b|\bprime\b`, `primes`, `\bperfect numbers?\b`, `perfects`,
		`\bfibonacci( numbers?)?\b`, `fibonacci`, `\bpartitions? (function )?of( the (number|integer))?\b|\bpartitions of\b`, `partitions`,
		`\bfactorial of (\d+)\b|\b(\d+)!`, `$1$2 factorial`,
		`\bdigits? sum\b|\bsum of (the |its )?digits\b`, `sum digits`,
		`\bto the power( of)?\b|\braised to\b`, `^`, `\s*\^\s*`, `^`,
		`\bmillions?\b`, `million`, `\bone (million|thousand|hundred|billion)\b`, `1 $1`, `\bten (million|thousand|hundred)\b`, `10 $1`,
		`\b(\d+) hundred\b`, `${1}00`, `\b(\d+) thousand\b`, `${1}000`, `\b(\d+) million\b`, `${1}000000`, `\b(\d+) billion\b`, `${1}000000000`,
		`\b(\d+)-?(st|nd|rd|th)\b`, `no $1`,
		"[`\"'“”,:?.!]+(\\s|$)|^[`\"'“”]+", ` `,
		`\b(please|the|a|an|there|are|is|exist|all|of|positive|natural|integers?|whole|what|which|compute|calculate|find|give|get|me|tell|determine|exactly|value|can|you|do|does|have|has|we|its|it|in|that|decimal expansion)\b`, ` `,
		"[`\"]", ` `,
	)
)

// known puts a sentence into the words that the skills know.
func known(raw string) string {
	s := strings.ToLower(raw)
	for _, r := range plainer {
		s = r.from.ReplaceAllString(s, r.to)
	}
	return strings.Join(strings.Fields(s), " ")
}

// whole is the expression for a number in plain words.
const whole = `(\d+(?:\^\d+|e\d+)?)`

// number reads what whole found. Beyond any use it is only huge.
func number(text string) *big.Int {
	base, exponent, power := strings.Cut(text, "^")
	if !power {
		if base, exponent, power = strings.Cut(text, "e"); power {
			if len(exponent) > 3 {
				return huge()
			}
			base, exponent = base+strings.Repeat("0", int(digitsOf(exponent).Int64())), "1"
		}
	}
	n := digitsOf(base)
	if !power {
		return n
	}
	e := digitsOf(exponent)
	if n.BitLen() > 1 && (e.BitLen() > 12 || int64(n.BitLen())*e.Int64() > 1<<14) {
		return huge()
	}
	if e.BitLen() > 32 {
		e = big.NewInt(1) // 0 or 1 to any power
	}
	return n.Exp(n, e, nil)
}

func digitsOf(text string) *big.Int {
	if len(text) > 5000 {
		return huge()
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return new(big.Int)
	}
	return n
}

func huge() *big.Int { return new(big.Int).Lsh(big.NewInt(1), 1<<14) }

// within returns n if it is in reach, and otherwise a task that says what is.
func within(n *big.Int, least, most int64, asks, what string) (int64, *task) {
	if n.IsInt64() && n.Int64() >= least && n.Int64() <= most {
		return n.Int64(), nil
	}
	shown := n.String()
	if len(shown) > 40 {
		shown = "a number of more than 40 digits"
	}
	t := &task{asks: asks, refused: "I did not compute this: it is beyond what I can do. " + sentenceCase(what) + " from " +
		big.NewInt(least).String() + " to " + grouped(big.NewInt(most).String()) + " is within reach, where a calculation may take 10 million steps; the question has " + grouped(shown) + ".",
		looked: "I take the question to be: " + brief(asks) + ". No number is given because none was computed."}
	return 0, t
}
