package study

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Literature is what a study has found outside, and what it asks for. A question that arXiv has
// answered is not asked again.
type Literature struct {
	// Library are the papers that arXiv told of, the newest last, each once.
	Library []event.FoundPaper `json:",omitempty"`
	// Queries are the last questions that it answered.
	Queries []Query `json:",omitempty"`
	// Lookups are what the world is asked for, and the last answers.
	Lookups []Lookup `json:",omitempty"`
}

// Query is a question that arXiv has answered: with which papers, in which event.
type Query struct {
	Text  string
	Limit int64
	IDs   []string `json:",omitempty"`
	Seq   uint64
}

// Lookup is a search for a tool call; Result is nil until it was answered.
type Lookup struct {
	agent.Place
	Seq    uint64
	Call   event.LiteratureCall
	Result *event.LiteratureResult `json:",omitzero"`
}

// How much is remembered.
const (
	maxLibrary = 500
	maxQueries = 100
	maxLookups = 8
)

// Lookup is what became of the search for a tool call, nil if there is none.
func (s *Study) Lookup(at agent.Place) *Lookup {
	for i := len(s.Lookups) - 1; i >= 0; i-- {
		if s.Lookups[i].Place == at {
			return &s.Lookups[i]
		}
	}
	return nil
}

// Answered is the last answer of arXiv to a question, if it gave at least so many papers or all
// that it had.
func (s *Study) Answered(query string, limit int64) *Query {
	for i := len(s.Queries) - 1; i >= 0; i-- {
		if q := &s.Queries[i]; q.Text == normal(query) && q.Limit >= limit {
			return q
		}
	}
	return nil
}

// Shelved are the papers that a question was answered with, as far as they are remembered.
func (s *Study) Shelved(q *Query) (out []event.FoundPaper) {
	for _, id := range q.IDs {
		if i := s.shelf(id); i >= 0 {
			out = append(out, s.Library[i])
		}
	}
	return out
}

func (s *Study) shelf(id string) int {
	return slices.IndexFunc(s.Library, func(p event.FoundPaper) bool { return p.ID == id })
}

// normal is a question as it is compared with others.
func normal(query string) string { return strings.ToLower(strings.Join(strings.Fields(query), " ")) }

// applyLiterature takes in what is about papers outside.
func (s *Study) applyLiterature(e event.Event) {
	switch b := e.Body.(type) {
	case *event.LiteratureCall:
		at := agent.Place{Answer: b.Answer, Part: b.Part}
		if s.Lookup(at) != nil {
			panic(fmt.Sprintf("literature.call: the call at %d of event %d has asked already", at.Part, at.Answer))
		}
		s.Lookups = append(s.Lookups, Lookup{Place: at, Seq: e.Seq, Call: *b})
		if n := len(s.Lookups) - maxLookups; n > 0 && s.Lookups[0].Result != nil {
			s.Lookups = slices.Delete(s.Lookups, 0, 1)
		}
	case *event.LiteratureResult:
		for i := range s.Lookups {
			if l := &s.Lookups[i]; l.Seq == b.Call && l.Result == nil {
				l.Result = b
				s.answeredBy(e, l)
			}
		}
	}
}

// answeredBy keeps what arXiv has told.
func (s *Study) answeredBy(e event.Event, l *Lookup) {
	if !l.Call.Outside || l.Result.Unasked != "" {
		return
	}
	q := Query{Text: normal(l.Call.Query), Limit: l.Call.Limit, Seq: e.Seq}
	for _, p := range l.Result.Papers {
		q.IDs = append(q.IDs, p.ID)
		if i := s.shelf(p.ID); i >= 0 {
			s.Library = slices.Delete(s.Library, i, i+1)
		}
		s.Library = append(s.Library, p)
	}
	s.Library = slices.Clone(s.Library[max(0, len(s.Library)-maxLibrary):])
	s.Queries = append(s.Queries, q)
	s.Queries = slices.Clone(s.Queries[max(0, len(s.Queries)-maxQueries):])
}

// abandonLookups forgets what a fork's origin waits for.
func (s *Study) abandonLookups() {
	s.Lookups = slices.DeleteFunc(s.Lookups, func(l Lookup) bool { return l.Result == nil })
}
