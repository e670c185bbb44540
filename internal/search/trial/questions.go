package trial

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// The kinds of questions; README.md says what they are.
const (
	Answerable    = "answerable"
	OtherWords    = "other-words"
	Table         = "table"
	Contradicting = "contradicting"
	Unanswerable  = "unanswerable"
)

// Kinds are all of them.
var Kinds = []string{Answerable, OtherWords, Table, Contradicting, Unanswerable}

// Question is one of the set, as README.md describes.
type Question struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Question string   `json:"question"`
	Accept   []string `json:"accept"`
	Files    []string `json:"files"`
}

// Read reads a set of questions.
func Read(r io.Reader) ([]Question, error) {
	var list []Question
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var q Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("question %d: %w", len(list)+1, err)
		}
		list = append(list, q)
	}
	return list, lines.Err()
}

// Accepts says whether a text holds what is accepted as an answer: all of it where
// sources contradict each other, one of it otherwise.
func (q *Question) Accepts(text string) bool {
	held := 0
	for _, a := range q.Accept {
		if holdsAny(text, a) {
			held++
		}
	}
	return held > 0 && (q.Kind != Contradicting || held == len(q.Accept))
}

// Touches says whether a text holds any of what is accepted.
func (q *Question) Touches(text string) bool {
	one := *q
	one.Kind = Answerable
	return one.Accepts(text)
}

func holdsAny(text, alternatives string) bool {
	text = flat(text)
	for a := range strings.SplitSeq(alternatives, "|") {
		if holds(text, flat(a)) {
			return true
		}
	}
	return false
}

func flat(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// holds says whether a part stands in a text between borders of words.
func holds(text, part string) bool {
	for at := 0; part != ""; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(part)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		first, _ := utf8.DecodeRuneInString(part)
		last, _ := utf8.DecodeLastRuneInString(part)
		after, _ := utf8.DecodeRuneInString(text[to:])
		if !(word(before) && word(first)) && !(word(last) && word(after)) {
			return true
		}
		at = from + 1
	}
	return false
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
