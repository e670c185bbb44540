package view

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"lyceum/internal/plain"
)

//go:embed page.html
var pageText string

// How much a page shows: so many rows of steps, so many of a stretch of equal ones,
// which is folded if it is longer than unfolded, and so many lines of a text.
const (
	maxRows   = 4000
	maxFolded = 100
	unfolded  = 6
	maxLines  = 2000
)

// HTML writes the comparison as one page that needs nothing else: no script, no other
// file. All texts of the quests are escaped, and what cannot be seen is shown as such.
func (d *Diff) HTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"visible": plain.Text, "duration": duration, "percent": percent, "short": short,
		"usd": func(s Side) string {
			if s.Unpriced > 0 {
				return "unknown"
			}
			return "$" + s.Cost.String()
		},
		"where": where, "join": func(list []string) string { return plain.Text(strings.Join(list, ", ")) },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	p := &page{Diff: d, EventsA: uint64(d.A.Events), EventsB: uint64(d.B.Events), AnswerLines: shown(d.Answer.lines), SpecLines: shown(d.Spec.lines)}
	p.Blocks, p.Hidden = blocks(d.Steps.Pairs)
	for _, part := range []struct {
		name   string
		weight int
		value  Millionths
	}{{"answer", 40, d.Similarity.Answer}, {"steps", 40, d.Similarity.Steps}, {"tools", 20, d.Similarity.Tools}} {
		p.Parts = append(p.Parts, partOf{part.name, part.weight, part.value})
	}
	return t.Execute(w, p)
}

type page struct {
	*Diff
	EventsA, EventsB       uint64
	Parts                  []partOf
	Blocks                 []block
	Hidden                 int
	AnswerLines, SpecLines text
}

type partOf struct {
	Name   string
	Weight int
	Value  Millionths
}

// block is a stretch of pairs; a folded one is of equal ones that nobody needs to see
// at first.
type block struct {
	Folded bool
	Pairs  []Pair
	More   int
}

// blocks folds long stretches of equal pairs, and leaves out what is too much.
func blocks(pairs []Pair) (out []block, hidden int) {
	rows := 0
	for i := 0; i < len(pairs); {
		end := i + 1
		for end < len(pairs) && (pairs[end].Mark == Same) == (pairs[i].Mark == Same) {
			end++
		}
		b := block{Pairs: pairs[i:end]}
		if pairs[i].Mark == Same && end-i > unfolded {
			b.Folded = true
			b.Pairs = b.Pairs[:min(len(b.Pairs), maxFolded)]
			b.More = end - i - len(b.Pairs)
		}
		if room := maxRows - rows; len(b.Pairs) > room {
			b.Pairs = b.Pairs[:room]
			return append(out, b), len(pairs) - i - room
		}
		rows += len(b.Pairs)
		out, i = append(out, b), end
	}
	return out, 0
}

// text is the lines of a text diff that are shown, and how many are not.
type text struct {
	Lines []Line
	More  int
}

func shown(all []Line) text {
	n := min(len(all), maxLines)
	return text{all[:n], len(all) - n}
}

// where says at which events a step stands.
func where(s *Step) string {
	if s.Last > s.Seq+1 {
		return fmt.Sprintf("%d–%d", s.Seq, s.Last)
	}
	return fmt.Sprint(s.Seq)
}

// percent is a figure as a whole number of hundredths; all of them only if it is one.
func percent(m Millionths) int64 { return int64(m) / (Whole / 100) }

// short is enough of a hash to tell it from others.
func short(hash string) string { return hash[:min(len(hash), 12)] }

// duration writes microseconds for people.
func duration(micros int64) string {
	switch {
	case micros < 1000:
		return fmt.Sprintf("%d µs", micros)
	case micros < 1_000_000:
		return fmt.Sprintf("%d.%d ms", micros/1000, micros%1000/100)
	case micros < 60_000_000:
		return fmt.Sprintf("%d.%02d s", micros/1_000_000, micros%1_000_000/10_000)
	}
	return fmt.Sprintf("%d min %d s", micros/60_000_000, micros%60_000_000/1_000_000)
}
