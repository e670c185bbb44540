package study

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// A review that came with the materials, or with a message, is a file of somebody else's. The
// researcher takes points from it; each quotes the file, and each point that the file lists is
// quoted. The file is the one that the quest was made with, or that was sent: what became of it in a
// home does not count.

// SentFile is one that came with a message, as it is called in the home.
type SentFile struct {
	Path string
	Ref  event.Ref
}

// Sent is the file of a path that came with a message, nil if there is none, or none any more.
func (s *Study) Sent(path string) *event.Ref {
	for i := range s.SentFiles {
		if s.SentFiles[i].Path == path {
			return &s.SentFiles[i].Ref
		}
	}
	return nil
}

// Report is a file that is read against points, for a tool call; Result is nil until it was.
type Report struct {
	agent.Place
	Seq    uint64
	Source string
	Points int64 `json:",omitzero"`
	// Quotes are as the call has them.
	Quotes []event.ReportQuote `json:",omitempty"`
	Result *event.ReportResult `json:",omitzero"`
}

// Bounds of what is compared.
const (
	// MaxQuotes is how many words of the file points name together, MaxQuote how long each is.
	MaxQuotes = 48
	MaxQuote  = 200
	minQuote  = 8
	maxLeft   = 12
	maxBegin  = 120
	maxItems  = 500
	maxReport = 8
	// maxSent is how many files of messages can be reviews, the newest.
	maxSent = 64
)

// Report is what became of the comparison for a tool call, nil if there is none.
func (s *Study) Report(at agent.Place) *Report {
	for _, r := range slices.Backward(s.Reports) {
		if r.Place == at {
			return r
		}
	}
	return nil
}

// MayCompare says why quotes cannot be looked for.
func MayCompare(b *event.ReportCall) error {
	has := make([]bool, b.Points+1)
	switch {
	case !isFile(b.Source):
		return fmt.Errorf("%.100q is no file", b.Source)
	case b.Points < 0 || b.Points > MaxPoints:
		return fmt.Errorf("a review has at most %d points", MaxPoints)
	case len(b.Quotes) > MaxQuotes:
		return fmt.Errorf("the points quote the file %d times: at most %d", len(b.Quotes), MaxQuotes)
	}
	for _, q := range b.Quotes {
		if q.Point < 1 || q.Point > b.Points {
			return fmt.Errorf("there is no point %d", q.Point)
		}
		if has[q.Point] = true; len(plainly(q.Text)) < minQuote || event.Weight(q.Text) > MaxQuote {
			return fmt.Errorf("point %d: a quote has %d to %d bytes", q.Point, minQuote, MaxQuote)
		}
	}
	for n := int64(1); n <= b.Points; n++ {
		if !has[n] {
			return fmt.Errorf("point %d quotes nothing of %.100q: quotes are its words, as they stand there", n, b.Source)
		}
	}
	return nil
}

// CompareReport reads the text of a review against quotes of it. A quote is of the first point that the
// text lists, has it, and is nobody's yet.
func CompareReport(text string, b *event.ReportCall) *event.ReportResult {
	r, whole := &event.ReportResult{}, plainly(text)
	items := ReportItems(text)
	r.Items = int64(len(items))
	taken := make([]bool, len(items))
	said := make([]string, len(items))
	for i, item := range items {
		said[i] = plainly(item)
	}
	for n, q := range b.Quotes {
		words := plainly(q.Text)
		if !strings.Contains(whole, words) {
			r.Absent = append(r.Absent, int64(n+1))
			continue
		}
		for i := range items {
			if !taken[i] && strings.Contains(said[i], words) {
				taken[i] = true
				break
			}
		}
	}
	for i, item := range items {
		switch {
		case taken[i]:
		case len(r.Left) == maxLeft:
			r.More++
		default:
			r.Left = append(r.Left, event.Shorten(strings.Join(strings.Fields(item), " "), maxBegin))
		}
	}
	return r
}

// plainly is text as it is compared: without case, breaks of lines, marks of Markdown, and shapes of quotes
// and dashes.
func plainly(text string) string {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '*', '_', '`':
			return -1
		case '‘', '’', '‚', '“', '”', '„', '"':
			return '\''
		case '–', '—', '‐', '‑':
			return '-'
		}
		return unicode.ToLower(r)
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

var (
	// numbered begins a point of a report: 3. or (3) or R2.3: or Point 3.
	numbered = regexp.MustCompile(`^ {0,3}(?:[-*+] +)?(?:\*\*|__)?(?i:(?:(?:major|minor|general|specific) +)?(?:point|comment|question|issue|concern|remark|weakness) +#?|#|[rqw](?:eviewer +)?)?\(?\d{1,3}(?:\.\d{1,3})?[.):](?:\*\*|__)?(?: |$)`)
	bullet   = regexp.MustCompile(`^ {0,3}[-*+] +\S`)
	heading  = regexp.MustCompile(`^ {0,3}#{1,6} |^ {0,3}(?i:(?:major|minor|general|specific|other|detailed) +(?:points?|comments?|issues?|concerns?|remarks?|revisions?)|summary|strengths|weaknesses|questions|references|literature|bibliography|recommendation|decision)\W*$`)
	foreign  = regexp.MustCompile(`(?i)^\W*(?:references|literature|bibliography|summary|strengths|recommendation|decision)\W*$`)
)

// ReportItems are the points that the text of a review lists: those with numbers, or, if none has one, those with
// bullets. What stands under a heading such as references is none.
func ReportItems(text string) []string {
	if out := listed(text, numbered); len(out) > 0 {
		return out
	}
	return listed(text, bullet)
}

func listed(text string, begins *regexp.Regexp) (out []string) {
	inside, passed := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case heading.MatchString(line) && !begins.MatchString(line):
			inside, passed = false, foreign.MatchString(line)
		case passed:
		case begins.MatchString(line):
			if len(out) == maxItems {
				return out
			}
			out, inside = append(out, line), true
		case inside:
			out[len(out)-1] += "\n" + line
		}
	}
	return out
}

// applyReport takes in what is about reviews of the materials.
func (s *Study) applyReport(e event.Event) {
	switch b := e.Body.(type) {
	case *event.FilesCall:
		if !s.Drops {
			return
		}
		for _, f := range b.Files {
			s.SentFiles = append(s.SentFiles, SentFile{Path: b.Folder + "/" + f.Name, Ref: f.Ref})
		}
		s.SentFiles = slices.Delete(s.SentFiles, 0, max(len(s.SentFiles)-maxSent, 0))
	case *event.ReportCall:
		at := agent.Place{Answer: b.Answer, Part: b.Part}
		if sent := s.Sent(b.Source); (sent == nil) != (b.Ref == nil) || sent != nil && *sent != *b.Ref {
			panic(fmt.Sprintf("report.call: %.100q is not the file that was sent", b.Source))
		}
		if err := MayCompare(b); err != nil || s.Report(at) != nil {
			panic(fmt.Sprintf("report.call at %d of event %d: asked already, or wrong: %v", at.Part, at.Answer, err))
		}
		s.Reports = append(s.Reports, &Report{Place: at, Seq: e.Seq, Source: b.Source, Points: b.Points, Quotes: b.Quotes})
		if n := len(s.Reports) - maxReport; n > 0 && s.Reports[0].Result != nil {
			s.Reports = slices.Delete(s.Reports, 0, 1)
		}
	case *event.ReportResult:
		for _, r := range s.Reports {
			if r.Seq == b.Call && r.Result == nil {
				r.Result = b
			}
		}
	}
}

// CheckReport says why a result cannot be of its call.
func (s *Study) CheckReport(b *event.ReportResult) error {
	for _, r := range s.Reports {
		if r.Seq != b.Call {
			continue
		}
		for _, n := range b.Absent {
			if n < 1 || n > int64(len(r.Quotes)) {
				return fmt.Errorf("there is no quote %d", n)
			}
		}
	}
	return nil
}

// Differs says how points differ from the file that they were read against, nothing if they are it.
func (r *Report) Differs() (out []string) {
	for _, n := range r.Result.Absent {
		q := r.Quotes[n-1]
		out = append(out, fmt.Sprintf("point %d quotes %s, which is not in %s", q.Point, quote(q.Text, MaxQuote), quote(r.Source, 100)))
	}
	for _, l := range r.Result.Left {
		out = append(out, "no point quotes "+quote(l, maxBegin))
	}
	if n := r.Result.More; n > 0 {
		out = append(out, fmt.Sprintf("and %d more that the file lists", n))
	}
	return out
}

// unread says why a review of the materials is not what its file says.
func (s *Study) unread(b *event.ReviewGiven) error {
	r := s.Report(agent.Place{Answer: b.Answer, Part: b.Part})
	if !s.Compares {
		return nil
	}
	if r == nil || r.Result == nil || r.Result.Error != "" || r.Source != b.Source || r.Points != int64(len(b.Points)) || len(r.Differs()) > 0 {
		return fmt.Errorf("the points were not read against %.100q", b.Source)
	}
	return nil
}

// abandonReports forgets what a fork's origin waits for.
func (s *Study) abandonReports() {
	s.Reports = slices.DeleteFunc(s.Reports, func(r *Report) bool { return r.Result == nil })
}
