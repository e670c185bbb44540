package contract

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
	"lyceum/internal/wording"
)

// What is quoted of the corpus, without a model: passages that cover enough of the task
// by an absolute measure, and have a sentence or a row of a table that can be the kind of
// answer that is asked for. If there is none, nothing is claimed.

// maxPassages is how many passages an answer quotes, maxPassage how long one is.
const (
	maxPassages = 3
	maxPassage  = 600
)

// nearBest is how near to the best passage others must come, in thousandths. Like the
// bars of the levels it was chosen on the open half of internal/search/trial.
const nearBest = 850

// asMuch is how near a further passage of the same document must come.
const asMuch = 970

// passage is what can be quoted of a source.
type passage struct {
	src   *tender.Source
	text  string
	worth int64
}

// passages are what answers the parts of a task, the best first.
func passages(s *quest.State) (out []passage) {
	n := Net(s)
	for _, part := range wording.Parts(s.Problem.Text) {
		var found []passage
		wants, terms := wording.Wants(part), weighed(n, part)
		for i := range n.Sources {
			src := &n.Sources[i]
			if src.Anchor == nil || src.Anchor.Cover < level(n).relevance || !searched(n, src) {
				continue
			}
			if p, ok := quoted(src, wants, terms); ok {
				found = append(found, p)
			}
		}
		slices.SortStableFunc(found, func(a, b passage) int { return cmp.Compare(b.worth, a.worth) })
		for i, p := range found {
			if i > 0 && p.worth < found[0].worth/1000*nearBest || len(out) >= maxPassages {
				break
			}
			known := slices.ContainsFunc(out, func(o passage) bool {
				// Another document may say otherwise; the same one has to say as much.
				return o.src == p.src || o.src.Anchor.Doc == p.src.Anchor.Doc && p.worth < found[0].worth/1000*asMuch
			})
			if !known {
				out = append(out, p)
			}
		}
	}
	return out
}

// searched reports whether a search for the task has found a source: how much it covers of
// a model's query says nothing about the task.
func searched(n *tender.Net, src *tender.Source) bool {
	return slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool {
		return t.Kind == research && t.Place.Answer == 0 && slices.Contains(t.Found, src.Number)
	})
}

// weight is a word of the question and what it is worth in the corpus.
type weight struct {
	wording.Term
	stem   string
	weight int64
}

// weighed are the words of a part of the task, with what the last search says they are
// worth.
func weighed(n *tender.Net, part string) (out []weight) {
	for _, t := range wording.Terms(part) {
		w := weight{t, wording.Stem(t.Word), 1000}
		for _, known := range n.Words {
			if known.Word == t.Word {
				w.weight = known.Weight
			}
		}
		out = append(out, w)
	}
	return out
}

// quoted chooses what to quote of a source: the sentence or row that says most of the
// question and can be an answer to it, with what stands around it.
func quoted(src *tender.Source, wants wording.Wanted, terms []weight) (passage, bool) {
	best, at := int64(-1), -1
	units := unitsOf(src.Anchor.Snippet)
	above := wording.Stems(src.Anchor.Context)
	for i, u := range units {
		said := u.text
		if i > 0 && pronoun(u.text) {
			said = units[i-1].text + " " + u.text // what "it" is, the sentence before says
		}
		if !wants.Fits(u.text) && !(u.row && wants.Kind == wording.Place) || !speaks(said, src.Anchor.Context, terms) {
			continue
		}
		c := covered(said, above, terms)
		if !u.whole() {
			c -= c / 10
		}
		if c > best {
			best, at = c, i
		}
	}
	if at < 0 {
		return passage{}, false
	}
	return passage{src, around(units, at), src.Anchor.Cover/2 + best/2}, true
}

// pronoun reports whether a sentence begins with a word that stands for what was said before.
func pronoun(text string) bool {
	words := wording.Words(text)
	return len(words) > 0 && slices.Contains([]string{"it", "its", "they", "their", "this", "these", "he", "she", "his", "her"}, strings.ToLower(words[0]))
}

// speaks reports whether a sentence itself says half of what is asked about its subject,
// which is what the file's name, the title and headings say. A number or a name somewhere near is none
// that was asked for.
func speaks(text, context string, terms []weight) bool {
	own, subject := wording.Stems(text), wording.Stems(context)
	has, all := int64(0), int64(0)
	for _, t := range terms {
		words := append([]string{t.stem}, t.Same...)
		within := func(list []string) bool {
			return slices.ContainsFunc(words, func(s string) bool { return slices.Contains(list, s) })
		}
		if within(subject) {
			continue
		}
		all += t.weight
		if within(own) {
			has += t.weight
		}
	}
	return 2*has >= all
}

// covered is how much of a question a sentence covers, in billionths. What only stands
// over it counts a little less.
func covered(text string, above []string, terms []weight) int64 {
	has, all := int64(0), int64(0)
	own := wording.Stems(text)
	for _, t := range terms {
		all += 10 * t.weight
		worth := int64(0)
		for _, s := range append([]string{t.stem}, t.Same...) {
			switch {
			case slices.Contains(own, s):
				worth = max(worth, 10)
			case slices.Contains(above, s):
				worth = max(worth, 8)
			}
			if s == t.stem && worth > 0 {
				break
			}
		}
		has += worth * t.weight
	}
	return has * 1_000_000_000 / max(all, 1)
}

// unit is a sentence, or a row of a table with the names of its columns.
type unit struct {
	text string
	row  bool
}

// whole reports whether a unit is a sentence, a row or an item, and not a piece of code
// or a title.
func (u unit) whole() bool {
	ended := strings.ContainsAny(".!?。！？", lastRune(u.text)) && !strings.Contains(u.text, ":=")
	return u.row || item(u.text) || ended
}

func lastRune(s string) string {
	_, n := utf8.DecodeLastRuneInString(s)
	return s[len(s)-n:]
}

// unitsOf takes a passage apart.
func unitsOf(text string) (out []unit) {
	var prose, table []string
	flush := func() {
		for _, s := range sentences(strings.Join(prose, "\n")) {
			out = append(out, unit{text: s})
		}
		prose = nil
		out = append(out, rows(table)...)
		table = nil
	}
	for line := range strings.Lines(withoutHeadings(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|") || len(columns(line)) > 2:
			if len(prose) > 0 {
				flush()
			}
			table = append(table, line)
		case item(line):
			flush()
			prose = append(prose, line)
			flush()
		default:
			if len(table) > 0 {
				flush()
			}
			prose = append(prose, line)
		}
	}
	flush()
	return out
}

// item says whether a line is one of a list.
func item(line string) bool {
	number, rest, ok := strings.Cut(line, ". ")
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || ok && rest != "" && number != "" && strings.Trim(number, "0123456789") == ""
}

// columns are the cells of a line of a table that is set by spaces: at least two stand
// between cells.
func columns(line string) (out []string) {
	for cell := range strings.SplitSeq(line, "  ") {
		if cell = strings.TrimSpace(cell); cell != "" {
			out = append(out, cell)
		}
	}
	return out
}

// rows are those of a table in Markdown, each with the names of the columns.
func rows(table []string) (out []unit) {
	var head []string
	for i, line := range table {
		cells := columns(line)
		if strings.HasPrefix(line, "|") {
			cells = strings.Split(strings.Trim(line, "|"), "|")
		}
		if strings.Trim(line, "|-: ") == "" {
			continue
		}
		if i == 0 {
			head = cells
			continue
		}
		var parts []string
		for j, c := range cells {
			c = strings.TrimSpace(c)
			if c == "" {
				continue
			}
			if j < len(head) && strings.TrimSpace(head[j]) != "" {
				c = strings.TrimSpace(head[j]) + ": " + c
			}
			parts = append(parts, c)
		}
		out = append(out, unit{strings.Join(parts, "; "), true})
	}
	return out
}

// around is a unit in quotes with what stands around it, as far as that is not too long.
// A row stands for itself.
func around(units []unit, at int) string {
	text := units[at].text
	if units[at].row {
		return "“" + event.Shorten(text, maxPassage) + "”"
	}
	from, to := at, at+1
	for grown := true; grown; {
		grown = false
		if to < len(units) && !units[to].row && len(text)+len(units[to].text) < maxPassage {
			text, to, grown = text+" "+units[to].text, to+1, true
		}
		if from > 0 && !units[from-1].row && len(text)+len(units[from-1].text) < maxPassage {
			text, from, grown = units[from-1].text+" "+text, from-1, true
		}
	}
	return "“" + event.Shorten(text, maxPassage) + "”"
}
