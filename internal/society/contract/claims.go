package contract

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lyceum/internal/event"
	"lyceum/internal/evidence"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// beforeAudit makes the claims that the rules make, and finds those that cannot both
// hold.
func beforeAudit(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	n := Net(s)
	if t.Place.Answer == 0 {
		for _, c := range findings(s) {
			if !slices.ContainsFunc(n.Claims, func(o tender.Claim) bool { return o.Text == c.Text }) {
				c.Claim, c.Confidence = int64(len(n.Claims))+1, confidence(n, c.Sources)
				return one(e, c.by, &c.ClaimMade)
			}
		}
	}
	return conflict(s, e)
}

// finding is a claim to be made.
type finding struct {
	event.ClaimMade
	by string
}

// maxLines is how many lines of what a program printed a claim has.
const maxLines = 8

// findings are the claims that follow from what was found and computed: the lines that
// programs printed, and the sentences of the corpus that are closest to the task.
func findings(s *quest.State) (out []finding) {
	n := Net(s)
	for i := range n.Sources {
		if src := &n.Sources[i]; src.Compute != nil && first(n, src) {
			out = append(out, printed(n, src)...)
		}
	}
	if draft(n).Answer != 0 {
		return out // a model has said what the texts say
	}
	for _, p := range passages(s) {
		if !slices.ContainsFunc(out, func(f finding) bool { return f.Text == p.text }) {
			out = append(out, finding{event.ClaimMade{Sources: []int64{p.src.Number}, Text: p.text}, workerOf(n, p.src)})
		}
	}
	return out
}

// first reports whether a computation is the first of its program.
func first(n *tender.Net, src *tender.Source) bool {
	return !slices.ContainsFunc(n.Sources[:src.Number-1], func(o tender.Source) bool { return same(&o, src) })
}

// same reports whether two computations are of one program.
func same(a, b *tender.Source) bool {
	return a.Compute != nil && b.Compute != nil && a.Asked.Code != nil && b.Asked.Code != nil && *a.Asked.Code == *b.Asked.Code
}

func workerOf(n *tender.Net, src *tender.Source) string {
	if t := n.Task(src.Task); t != nil && t.Worker != "" {
		return t.Worker
	}
	return Planner
}

// printed are the claims of what a program printed: one for each data file.
func printed(n *tender.Net, src *tender.Source) (out []finding) {
	sources := []int64{src.Number}
	for i := range n.Sources {
		if o := &n.Sources[i]; o.Number != src.Number && same(o, src) && o.Text() == src.Text() {
			sources = append(sources, o.Number)
		}
	}
	file, column, lines := "", "", []string(nil)
	flush := func() {
		if len(lines) == 0 {
			return
		}
		text := fmt.Sprintf("By %s", src.Asked.Program)
		if file != "" {
			text += " on " + file
		}
		if column != "" {
			text += ", column " + column
		}
		text += ": " + strings.Join(lines[:min(len(lines), maxLines)], ", ") + "."
		out = append(out, finding{event.ClaimMade{Sources: sources, Text: event.Shorten(text, 2000)}, workerOf(n, src)})
		lines = nil
	}
	for line := range strings.Lines(src.Text()) {
		line = strings.TrimSpace(line)
		switch name, isFile := strings.CutPrefix(line, "file: "); {
		case isFile:
			flush()
			file, column = name, ""
		case strings.HasPrefix(line, "column: "):
			flush()
			column = strings.TrimPrefix(line, "column: ")
		case strings.Contains(line, " = ") && !strings.Contains(line, ": "):
			lines = append(lines, line)
		}
	}
	flush()
	return out
}

// withoutHeadings leaves out the lines that are headings in Markdown: they are no
// sentences.
func withoutHeadings(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out = append(out, line)
		}
	}
	if rest := strings.Join(out, ""); strings.TrimSpace(rest) != "" {
		return rest
	}
	return text
}

// sentences splits a text at the ends of sentences: a mark, and a space or nothing
// after it. A text that has none is one sentence.
func sentences(text string) (out []string) {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	start := 0
	for i, r := range runes {
		wide := strings.ContainsRune("。！？", r)
		end := wide || strings.ContainsRune(".!?", r) && (i+1 == len(runes) || unicode.IsSpace(runes[i+1]))
		if end && (wide || i-start > 20) { // not after an abbreviation at the start
			out = append(out, strings.TrimSpace(string(runes[start:i+1])))
			start = i + 1
		}
	}
	if rest := strings.TrimSpace(string(runes[start:])); rest != "" {
		out = append(out, rest)
	}
	return out
}

// tolerance is by how much two values of one quantity may differ, in thousandths.
const tolerance = 100

// conflict finds the next two claims that give different values for one quantity. The
// one that is surer attacks the other; if neither is, they attack each other.
func conflict(s *quest.State, e event.Event) []event.Draft {
	n := Net(s)
	claims := active(n)
	phrases := quantities(s)
	for i, a := range claims {
		for _, b := range claims[i+1:] {
			why := differ(a.Text, b.Text, phrases)
			if why == "" || computedTogether(n, a, b) {
				continue
			}
			sureA, sureB := confidence(n, a.Sources), confidence(n, b.Sources)
			if sureA >= sureB && !attacked(n, a, b) {
				return one(e, a.By, &event.ClaimAttacked{From: a.Claim, Reason: why, To: b.Claim})
			}
			if sureB >= sureA && !attacked(n, b, a) {
				return one(e, b.By, &event.ClaimAttacked{From: b.Claim, Reason: why, To: a.Claim})
			}
		}
	}
	return nil
}

// computedTogether reports whether two claims are of computations. What differs then is
// the data: they are about different files, columns or methods.
func computedTogether(n *tender.Net, a, b *tender.Claim) bool {
	computed := func(c *tender.Claim) bool {
		return slices.ContainsFunc(c.Sources, func(number int64) bool { src := n.Source(number); return src != nil && src.Compute != nil })
	}
	return computed(a) && computed(b)
}

func attacked(n *tender.Net, from, to *tender.Claim) bool {
	return slices.ContainsFunc(n.Attacks, func(a event.ClaimAttacked) bool { return a.From == from.Claim && a.To == to.Claim })
}

// quantities are the phrases of the task that can name a quantity: two words that say
// something, one after the other, and words of a script without spaces.
func quantities(s *quest.State) (out []string) {
	words := wordsOf(s.Problem.Text)
	for i, w := range words {
		if slices.Contains(stopWords, w) {
			continue
		}
		if []rune(w)[0] >= 0x2E80 && len([]rune(w)) > 1 {
			out = append(out, w)
		}
		if i+1 < len(words) && !slices.Contains(stopWords, words[i+1]) {
			out = append(out, w+" "+words[i+1])
		}
	}
	return out
}

// differ says why two texts cannot both hold, if both give a value for the same
// quantity in the same unit and the values are not close to each other.
func differ(a, b string, phrases []string) string {
	shared := ""
	wordsA, wordsB := wordsOf(a), wordsOf(b)
	for _, p := range phrases {
		if len(among(wordsA, []string{p})) > 0 && len(among(wordsB, []string{p})) > 0 {
			shared = p
			break
		}
	}
	if shared == "" {
		return ""
	}
	why := ""
	for _, x := range evidence.Values(a) {
		for _, y := range evidence.Values(b) {
			switch {
			case x.Unit == "" || y.Unit == "" || !evidence.Comparable(x, y):
			case evidence.Agree(x, y, tolerance):
				return "" // they have a value in common
			case why == "":
				why = fmt.Sprintf("they give different values for %s: %s %s and %s %s", shared, x.Number.Text, x.Unit, y.Number.Text, y.Unit)
			}
		}
	}
	return why
}
