package demo

import (
	"fmt"
	"slices"
	"strings"
)

// tables answers questions about a column of a CSV file in the workspace.
type tables struct{}

// statistic is what can be asked of a column.
type statistic struct {
	name string
	word pattern
}

var statistics = []statistic{
	{"mean", late(`(?i)\b(mean|average|avg)\b`)},
	{"median", late(`(?i)\bmedian\b`)},
	{"sum", late(`(?i)\b(sum|total)\b`)},
	{"minimum", late(`(?i)\b(min|minimum|minimal|lowest|smallest|least)\b`)},
	{"maximum", late(`(?i)\b(max|maximum|maximal|highest|largest|greatest)\b`)},
	{"trend", late(`(?i)\b(trend|slope|linear (fit|regression))\b`)},
}

func (tables) recognise(s sentence) (inquiry, bool) {
	var q tableQuestion
	for _, k := range statistics {
		if k.word.MatchString(s.raw) {
			q.wants = append(q.wants, k.name)
		}
	}
	q.text = s.raw
	return &q, len(q.wants) > 0
}

// tableQuestion is a question about a table that has not been seen yet.
type tableQuestion struct {
	text  string
	wants []string
}

// selection is the question in terms of a table. -1 is no column.
type selection struct {
	*table
	wants []string
	// value is the column that is asked about, group and over say by which others,
	// and filter is one of which only some rows are meant.
	value, group, over, filter int
	only                       string
}

func (q *tableQuestion) plan(d *desk) (*task, error) {
	seen, err := d.look()
	if err != nil {
		return nil, err
	}
	var candidates []*table
	var troubles []string
	for _, f := range seen {
		if !isTable(f.path) {
			continue
		}
		t, err := readTable(f.path, f.text)
		switch {
		case err != nil:
			troubles = append(troubles, err.Error())
		default:
			candidates = append(candidates, t)
		}
	}
	t := q.pick(candidates, d.question.text)
	switch {
	case t == nil && len(candidates) > 0:
		return seen.lost("I cannot tell which of the tables is meant; name one of them"), nil
	case t == nil && len(troubles) > 0:
		return seen.lost("I cannot work on this: " + strings.Join(troubles, "; ")), nil
	case t == nil:
		return unknown{}.plan(d)
	}
	s, trouble := q.choose(t, d.question.text)
	if trouble != "" {
		return seen.lost(fmt.Sprintf("I looked at %s and did not compute anything: %s", t.path, trouble)), nil
	}
	return s.task(), nil
}

func isTable(path string) bool {
	lower := strings.ToLower(path)
	return strings.HasSuffix(lower, ".csv") || strings.HasSuffix(lower, ".tsv")
}

// pick returns the table that the question names, or the only one with a column
// that it names.
func (q *tableQuestion) pick(list []*table, text string) *table {
	var found []*table
	for _, t := range list {
		base := t.path[strings.LastIndex(t.path, "/")+1:]
		if strings.Contains(strings.ToLower(text), strings.ToLower(base)) {
			return t
		}
		if slices.ContainsFunc(words(q.text), func(w string) bool { return t.find(w) >= 0 }) {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(list) == 1:
		return list[0]
	}
	return nil
}

var (
	grouping  = late(`(?i)\b(?:per|by|for each|for every|of each|in each|at each|each|over|against|versus|vs|as a function of)\s+(?:the\s+)?([\pL\pN_]+)`)
	condition = late(`(?i)\b(when|where|only|above|below|between|after|before|except|excluding|without|if|than|whose|not|other|until|since|first|last|deviation|variance|correlation|percentile|quantile|weighted|geometric|harmonic)\b`)
	aboutData = late(`(?i)\b(column|file|table|data|csv|values|numbers|rows)\b`)
	byRow     = late(`(?i)^(time|rows?)$`)
	digit     = late(`\d+`)
)

// choose reads the question with the table's columns in mind. What it says
// otherwise is why it cannot.
func (q *tableQuestion) choose(t *table, all string) (*selection, string) {
	s := &selection{table: t, wants: q.wants, value: -1, group: -1, over: -1, filter: -1}
	text := strings.ReplaceAll(q.text, t.path[strings.LastIndex(t.path, "/")+1:], " ")
	for _, k := range statistics {
		text = k.word.ReplaceAllString(text, " ")
	}
	columns := "its columns are " + strings.Join(t.header, ", ")
	if m := condition.FindString(text); m != "" {
		return nil, fmt.Sprintf("the question has %q in it, and conditions of that kind are beyond me; %s", m, columns)
	}
	if m := grouping.FindStringSubmatch(text); m != nil {
		column := t.find(strings.ToLower(m[1]))
		switch {
		case column >= 0 && slices.Contains(q.wants, "trend") && t.numeric(column):
			s.over = column
		case column >= 0:
			s.group = column
		case slices.Contains(q.wants, "trend") && byRow.MatchString(m[1]):
		default:
			return nil, fmt.Sprintf("there is no column for %q; %s", m[0], columns)
		}
		text = strings.Replace(text, m[0], " ", 1)
	}
	text = s.restrict(text)
	if m := digit.FindString(text); m != "" && !strings.Contains(strings.Join(t.header, " "), m) {
		return nil, fmt.Sprintf("the question has the number %s in it, and I cannot tell what for; %s", brief(m), columns)
	}
	if trouble := s.findValue(text, aboutData.MatchString(all), columns); trouble != "" {
		return nil, trouble
	}
	if !slices.ContainsFunc(s.rows, func(r row) bool { _, ok := s.usable(r); return ok }) {
		return nil, "there is no number in the rows that are meant; " + columns
	}
	return s, ""
}

// restrict looks for a value of a column, such as the name of a place, in the
// question: one is a filter, several ask for groups.
func (s *selection) restrict(text string) string {
	padded := " " + strings.Join(words(text), " ") + " "
	for c := range s.header {
		if s.numeric(c) || c == s.group {
			continue
		}
		var found []string
		for _, r := range s.rows {
			name := strings.Join(words(r.cell(c)), " ")
			if len(name) >= 3 && strings.Contains(padded, " "+name+" ") && !slices.Contains(found, r.cell(c)) {
				found = append(found, r.cell(c))
			}
		}
		switch {
		case len(found) == 1:
			s.filter, s.only = c, found[0]
		case len(found) > 1 && s.group < 0:
			s.group = c
		default:
			continue
		}
		for _, f := range found {
			padded = strings.Replace(padded, " "+strings.Join(words(f), " ")+" ", " ", 1)
		}
		return padded
	}
	return text
}

// findValue finds the column that is meant.
func (s *selection) findValue(text string, anyColumn bool, columns string) string {
	best, ties := 0, 0
	var numeric []int
	for c := range s.header {
		if c == s.group || c == s.over || !s.numeric(c) {
			continue
		}
		numeric = append(numeric, c)
		score := 0
		for _, w := range words(text) {
			score += s.names(c, w)
		}
		switch {
		case score > best:
			best, ties, s.value = score, 1, c
		case score == best:
			ties++
		}
	}
	switch {
	case best > 0 && ties == 1:
		return ""
	case best == 0 && len(numeric) == 1 && anyColumn:
		s.value = numeric[0]
		return ""
	}
	return "I cannot tell which column is meant; " + columns
}

// asks is the question as it is understood.
func (s *selection) asks() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the %s of the column %s", strings.Join(s.wants, " and the "), s.header[s.value])
	if slices.Contains(s.wants, "trend") {
		b.WriteString(" (the trend by least squares, for each unit of ")
		if s.over >= 0 {
			b.WriteString(s.header[s.over] + ")")
		} else {
			b.WriteString("row number)")
		}
	}
	if s.group >= 0 {
		fmt.Fprintf(&b, ", for each %s", s.header[s.group])
	}
	if s.filter >= 0 {
		fmt.Fprintf(&b, ", for the rows whose %s is %q", s.header[s.filter], s.only)
	}
	return b.String() + ", in " + s.path
}

func (s *selection) task() *task {
	raw, read := s.rawCode(), s.readCode()
	t := &task{asks: s.asks(), show: s.show}
	t.methods = [3]method{
		{name: "parsing the raw text", code: raw},
		{name: "adding up cell by cell", code: read},
		{name: "putting two halves of the file together", prepare: s.halves, prepared: "I have read both halves again. The program takes each of them and puts the partial results together."},
	}
	t.methods[0].slips = []slip{mistake(raw, "for line, cells in records[1:]:", "for line, cells in records[1:-1]:", "the last line of the file was left out")}
	if s.hasMissing() {
		t.methods[0].slips = append(t.methods[0].slips, mistake(raw, "gaps.append(line)", "rows.append([line, name, x or (0, 0), (0, 0)])", "a missing value was counted as zero"))
	}
	t.methods[1].slips = []slip{mistake(read, "for line, name, x, y in cells:", "for line, name, x, y in cells[1:]:", "the first row of numbers was taken for a second header")}
	if s.allPositive() && s.places(s.value) > 0 {
		right := fmt.Sprintf("unit = pow(10, %d)", s.places(s.value))
		t.methods[1].slips = append(t.methods[1].slips, mistake(read, right, fmt.Sprintf("unit = pow(10, %d)", s.places(s.value)-1), "the decimal point was moved by one place too few, so that everything was ten times too large"))
	}
	t.remarks = s.remarks()
	return t
}

// usable reports whether a row is selected, and whether it has what is needed.
func (s *selection) usable(r row) (selected, usable bool) {
	if s.filter >= 0 && r.cell(s.filter) != s.only {
		return false, false
	}
	_, ok := s.decimal(r.cell(s.value))
	if s.over >= 0 {
		_, has := s.decimal(r.cell(s.over))
		ok = ok && has
	}
	return true, ok
}

func (s *selection) hasMissing() bool {
	return slices.ContainsFunc(s.rows, func(r row) bool {
		selected, _ := s.usable(r)
		return selected && isMissing(r.cell(s.value))
	})
}

func (s *selection) allPositive() bool {
	return !slices.ContainsFunc(s.rows, func(r row) bool {
		text, ok := s.decimal(r.cell(s.value))
		return ok && (strings.HasPrefix(text, "-") || strings.Trim(text, "+0.") == "")
	})
}

func (s *selection) remarks() []string {
	var list []string
	if slices.Contains(s.wants, "trend") && s.over < 0 {
		list = append(list, "no column of numbers was named for the trend, so the rows are numbered 1, 2, 3, …")
	}
	return list
}

// show makes Markdown of what the programs print.
func (s *selection) show(result string) string {
	values, notes, _ := strings.Cut(result, "--")
	var b strings.Builder
	fmt.Fprintf(&b, "Result: %s.\n\n", s.asks())
	for line := range strings.SplitSeq(strings.TrimSpace(values), "\n") {
		fmt.Fprintf(&b, "- **%s**\n", line)
	}
	fmt.Fprintf(&b, "\n%s.", strings.Join(strings.Split(strings.TrimSpace(notes), "\n"), "; "))
	return b.String()
}
