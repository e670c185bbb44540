package survey

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/evidence"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

// Row is a line of a study's table. Fields are only added.
type Row struct {
	Cell    int64  `json:"cell"`
	Society string `json:"society"`
	Model   string `json:"model"`
	Seed    string `json:"seed"`
	Quest   string `json:"quest"`
	// State is waiting for a cell without money, open for one that has it, and then what came of it.
	State string `json:"state"`
	// Answer is the quest's in a line. Group is the number of the answer among those of the study, from
	// 1 on, the most frequent first: cells that say the same have the same. Same is how many of those
	// that have an answer are in it.
	Answer    string `json:"answer"`
	Candidate bool   `json:"candidate,omitzero"`
	Group     int    `json:"group"`
	Same      int    `json:"same"`
	// Agree is who agrees within the quest, Sure how sure that makes it.
	Agree string `json:"agree"`
	Sure  string `json:"sure"`
	// AllottedUSD is the cell's share, CostUSD what it has cost, at least if Unpriced is not 0.
	AllottedUSD string  `json:"allotted_usd"`
	CostUSD     string  `json:"cost_usd"`
	Unpriced    int64   `json:"unpriced_calls"`
	Seconds     Seconds `json:"seconds"`
	Tokens      int64   `json:"tokens"`
	Turns       int64   `json:"turns"`
	Events      uint64  `json:"events"`
	Reason      string  `json:"reason"`
	// Text is the whole answer, where it was asked for.
	Text string `json:"text,omitzero"`
}

// Seconds is a time in microseconds that is written in seconds.
type Seconds int64

func (s Seconds) String() string { return fmt.Sprintf("%d.%06d", int64(s)/1e6, int64(s)%1e6) }

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	whole, part, _ := strings.Cut(string(data), ".")
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	*s = Seconds(n)
	return err
}

// The states of cells that were not observed.
const (
	Waits = "waiting"
	Runs  = "open"
)

// Agreement is one answer of a study, and how many cells give it.
type Agreement struct {
	Answer string  `json:"answer"`
	Cells  []int64 `json:"cells"`
}

// Table is a study's cells in their order, and its answers, the most frequent first.
func (s *State) Table() ([]Row, []Agreement) {
	rows := make([]Row, len(s.Cells))
	groups := s.groups()
	for i, c := range s.Cells {
		r := Row{Cell: c.Number, Society: c.Arm.Label, Model: c.Model, Seed: c.Seed, Quest: c.Quest, State: Waits, AllottedUSD: quest.USD(c.Budget).String(), CostUSD: quest.USD(0).String()}
		switch {
		case c.Seen != nil:
			r.observed(c.Seen)
		case c.Allotted:
			r.State = Runs
		}
		for n, g := range groups {
			for _, cell := range g.Cells {
				if cell == c.Number {
					r.Group, r.Same = n+1, len(g.Cells)
				}
			}
		}
		rows[i] = r
	}
	return rows, groups
}

func (r *Row) observed(b *event.SurveyObserved) {
	r.State, r.Answer, r.Candidate, r.Agree, r.Sure, r.Reason = b.State, b.Answer, b.Candidate, b.Agree, b.Sure, b.Reason
	r.CostUSD, r.Unpriced, r.Tokens, r.Turns, r.Events = quest.USD(b.Cost).String(), b.Unpriced, b.Tokens, b.Turns, b.Events
	r.Seconds = Seconds(b.Running)
}

// groups puts together the cells whose quests ended with the same answer.
func (s *State) groups() (out []Agreement) {
	out = []Agreement{}
	for _, c := range s.Cells {
		if c.Seen == nil || c.Seen.State != Finished || c.Seen.Answer == "" {
			continue
		}
		at := -1
		for i := range out {
			if SameAnswer(out[i].Answer, c.Seen.Answer) {
				at = i
				break
			}
		}
		if at < 0 {
			out = append(out, Agreement{Answer: c.Seen.Answer})
			at = len(out) - 1
		}
		out[at].Cells = append(out[at].Cells, c.Number)
	}
	// In order of how many, and among equals as they came: an insertion keeps that.
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && len(out[j].Cells) > len(out[j-1].Cells); j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// SameAnswer reports whether two answers in a line say the same: the same words but for case, marks and
// spaces; or each has one number alone, and it is the same with its unit.
func SameAnswer(a, b string) bool {
	if bare(a) == bare(b) {
		return true
	}
	x, y := evidence.Values(a), evidence.Values(b)
	return len(x) == 1 && len(y) == 1 && evidence.Agree(x[0], y[0], 0)
}

// bare is an answer without what does not matter.
func bare(s string) string {
	s = strings.ToLower(plain.Unmarked(s))
	return strings.Trim(strings.Join(strings.Fields(s), " "), " .,;:!?\"'`*_")
}

// columns are those of the CSV.
var columns = []string{"cell", "society", "model", "seed", "quest", "state", "answer", "candidate", "group", "same", "agree", "sure", "allotted_usd", "cost_usd", "unpriced_calls", "seconds", "tokens", "turns", "events", "reason"}

// CSV writes the table as RFC 4180 has it. What agents wrote may be made to look like a formula to a
// spreadsheet: such a text gets an apostrophe in front, which spreadsheets do not show.
func (s *State) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(columns); err != nil {
		return err
	}
	rows, _ := s.Table()
	for _, r := range rows {
		err := out.Write([]string{
			strconv.FormatInt(r.Cell, 10), harmless(r.Society), harmless(r.Model), r.Seed, r.Quest, harmless(r.State), harmless(r.Answer), strconv.FormatBool(r.Candidate),
			strconv.Itoa(r.Group), strconv.Itoa(r.Same), harmless(r.Agree), harmless(r.Sure), r.AllottedUSD, r.CostUSD, strconv.FormatInt(r.Unpriced, 10),
			r.Seconds.String(), strconv.FormatInt(r.Tokens, 10), strconv.FormatInt(r.Turns, 10), strconv.FormatUint(r.Events, 10), harmless(r.Reason),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// harmless is a text that no spreadsheet takes for a formula, on one line. A number stays one.
func harmless(s string) string {
	s = plain.Line(s)
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	// Full-width signs count: some spreadsheets take them for the plain ones.
	if strings.IndexAny(strings.TrimLeft(s, " \u00a0"), "=+-@|%＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}
