package demo

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// The largest table that is worked on: a program holds the whole of it.
const (
	maxTable = 40_000
	maxRows  = 1_500
)

// table is a CSV file as it was read.
type table struct {
	path, text, delimiter string
	// comma says that decimals are written 3,5.
	comma  bool
	header []string
	rows   []row
}

// row is a record and the line it begins in.
type row struct {
	line  int
	cells []string
}

func (r row) cell(column int) string {
	if column < 0 || column >= len(r.cells) {
		return ""
	}
	return r.cells[column]
}

// readTable takes a file apart. It says why if it is not a table.
func readTable(path, text string) (*table, error) {
	text = strings.TrimPrefix(text, "\uFEFF")
	if len(text) > maxTable || strings.Contains(text, "\n(there is more; go on with offset ") {
		return nil, fmt.Errorf("%s is larger than the %d bytes that I can work on", path, maxTable)
	}
	t := &table{path: path, text: text, delimiter: delimiterOf(text)}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = rune(t.delimiter[0]), -1, true
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not a table that I can read: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], `"`, ""))
		}
		t.rows = append(t.rows, row{line, cells})
	}
	if len(t.rows) < 2 || len(t.rows[0].cells) < 2 && len(t.rows) < 3 {
		return nil, fmt.Errorf("%s has no rows below a header", path)
	}
	if len(t.rows) > maxRows+1 {
		return nil, fmt.Errorf("%s has more than the %d rows that I can work on", path, maxRows)
	}
	t.header, t.rows = t.rows[0].cells, t.rows[1:]
	if !slices.ContainsFunc(t.header, func(h string) bool { return strings.ContainsFunc(h, unicode.IsLetter) }) {
		return nil, fmt.Errorf("%s has no header with the names of its columns", path)
	}
	t.comma = t.delimiter != "," && !pointed.MatchString(text) && commaed.MatchString(text)
	return t, nil
}

// delimiterOf is what the header has most of.
func delimiterOf(text string) string {
	head, best := firstLine(text), ","
	for _, d := range []string{";", "\t"} {
		if strings.Count(head, d) > strings.Count(head, best) {
			best = d
		}
	}
	return best
}

// missing are the cells that mean nothing.
var missing = []string{"", "na", "n/a", "nan", "null", "none", "-", "?"}

func isMissing(cell string) bool { return slices.Contains(missing, strings.ToLower(cell)) }

var (
	pointed = late(`\d\.\d`)
	commaed = late(`\d,\d`)
)

var decimalCell = late(`^[+-]?\d{1,30}(\.\d{1,15})?$`)

// decimal returns a cell as digits with a point, if it is a number.
func (t *table) decimal(cell string) (string, bool) {
	if t.comma {
		cell = strings.Replace(cell, ",", ".", 1)
	}
	return cell, decimalCell.MatchString(cell)
}

// numeric reports whether most of a column is numbers.
func (t *table) numeric(column int) bool {
	numbers, others := 0, 0
	for _, r := range t.rows {
		cell := r.cell(column)
		if _, ok := t.decimal(cell); ok {
			numbers++
		} else if !isMissing(cell) {
			others++
		}
	}
	return numbers > others
}

// places is how many decimals a column has.
func (t *table) places(column int) int {
	most := 0
	for _, r := range t.rows {
		if text, ok := t.decimal(r.cell(column)); ok {
			_, after, _ := strings.Cut(text, ".")
			most = max(most, len(after))
		}
	}
	return most
}

// scaled is a number as an integer, with so many decimals moved in.
func scaled(text string, places int) string {
	before, after, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(before, "-") {
		sign = "-"
	}
	digits := strings.TrimLeft(strings.TrimLeft(before, "+-")+after+strings.Repeat("0", places-len(after)), "0")
	if digits == "" {
		return "0"
	}
	return sign + digits
}

// words splits a name or a sentence into words of letters and digits.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// names reports how well a word of the question names a column: all of its name,
// a word of it, or not at all.
func (t *table) names(column int, word string) int {
	parts := words(t.header[column])
	if len(parts) == 0 {
		return 0
	}
	best := 0
	for i, p := range parts {
		switch {
		case p == word || p+"s" == word || p == word+"s":
			if i == 0 || best == 2 {
				best = 2
			} else {
				best = max(best, 1)
			}
		case len(p) >= 3 && len(word) >= 3 && (strings.HasPrefix(word, p) || len(word) >= 4 && strings.HasPrefix(p, word)):
			best = max(best, 1)
		}
	}
	return best
}

// find returns the column that a word names, -1 for none.
func (t *table) find(word string) int {
	best, at := 0, -1
	for c := range t.header {
		if n := t.names(c, word); n > best {
			best, at = n, c
		}
	}
	return at
}
