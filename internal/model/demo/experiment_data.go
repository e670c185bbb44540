package demo

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// groupMeans are the means of a column of a table for each group of its rows, where
// another column may say in which unit a row was measured.
type groupMeans struct{}

func (groupMeans) recognise(s sentence) (designer, bool) {
	found, ok := tables{}.recognise(s)
	if !ok {
		return nil, false
	}
	q := found.(*tableQuestion)
	return survey{q}, len(q.wants) == 1 && q.wants[0] == "mean" && grouping.MatchString(s.raw)
}

type survey struct{ *tableQuestion }

func (q survey) design(d *desk) (*experiment, string, error) {
	seen, err := d.look()
	if err != nil {
		return nil, "", err
	}
	var list []*table
	why := "there is no table to be seen"
	for _, f := range seen {
		if t, err := readTable(f.path, f.text); err == nil {
			list = append(list, t)
		} else {
			why = err.Error()
		}
	}
	t := q.pick(list, d.question.text)
	if t == nil {
		return nil, "I cannot work on this: " + why, nil
	}
	s, trouble := q.choose(t, d.question.text)
	if trouble != "" {
		return nil, fmt.Sprintf("I looked at %s and did not compute anything: %s", t.path, trouble), nil
	}
	m := &measured{selection: s, unit: -1}
	if trouble := m.understand(q.text); trouble != "" {
		return nil, fmt.Sprintf("I looked at %s and did not compute anything: %s", t.path, trouble), nil
	}
	return m.experiment(), "", nil
}

// units are those of one kind, and how many of the smallest they are.
var units = []map[string]int{
	{"mm": 1, "cm": 10, "dm": 100, "m": 1000},
	{"g": 1, "kg": 1000, "t": 1_000_000},
	{"s": 1, "min": 60, "h": 3600},
}

var (
	inUnit    = late(`(?i)\bin (mm|cm|dm|m|g|kg|t|s|min|h|millimet|centimet|decimet|met|gram|kilogram|tonne|second|minute|hour)(?:re|er)?s?\b`)
	unitNames = map[string]string{"millimet": "mm", "centimet": "cm", "decimet": "dm", "met": "m", "gram": "g", "kilogram": "kg", "tonne": "t", "second": "s", "minute": "min", "hour": "h"}
	// safeName is a word that means nothing else to a shell or to awk.
	safeName = late(`^[\pL\pN][\pL\pN _.-]*$`)
)

// measured is a selection with its units.
type measured struct {
	*selection
	// unit is the column with the units, -1 for none, and in the one that is asked for.
	unit int
	in   string
	kind map[string]int
}

// understand finds the units. It returns why the table cannot be worked on.
func (m *measured) understand(question string) string {
	base := path.Base(m.path)
	switch {
	case !safeName.MatchString(base) || strings.ContainsAny(base, " "):
		return "the name of the file is not one that I put into a program"
	case m.delimiter != "," || m.comma || strings.ContainsAny(m.text, "\"\t") || strings.Contains(m.text, ", ") || strings.Contains(m.text, " ,"):
		return "my programs for it read plain CSV, without quotes and blanks"
	case slices.ContainsFunc(m.rows, func(r row) bool { _, ok := m.decimal(r.cell(m.value)); return !ok && !isMissing(r.cell(m.value)) }):
		return "some cells are neither numbers nor empty"
	case m.group < 0 || m.filter >= 0:
		return "I can only give the mean for each group"
	}
	for _, h := range []int{m.value, m.group} {
		if !safeName.MatchString(m.header[h]) {
			return "a column has a name that I do not put into a program"
		}
	}
	m.unit = slices.IndexFunc(m.header, func(h string) bool { return strings.EqualFold(h, "unit") || strings.EqualFold(h, "units") })
	if m.unit < 0 {
		return ""
	}
	found := inUnit.FindStringSubmatch(question)
	if found == nil {
		return "the rows have units, and the question does not say in which the mean is wanted"
	}
	m.in = strings.ToLower(found[1])
	if short, ok := unitNames[m.in]; ok {
		m.in = short
	}
	for _, kind := range units {
		if kind[m.in] > 0 {
			m.kind = kind
		}
	}
	for _, r := range m.rows {
		if m.kind[r.cell(m.unit)] == 0 && !isMissing(r.cell(m.value)) {
			return fmt.Sprintf("line %d has a unit that I do not know", r.line)
		}
	}
	return ""
}

// mixed reports whether some row has another unit than the one that is asked for.
func (m *measured) mixed() bool {
	return m.unit >= 0 && slices.ContainsFunc(m.rows, func(r row) bool {
		_, ok := m.decimal(r.cell(m.value))
		return ok && r.cell(m.unit) != m.in
	})
}

func (m *measured) experiment() *experiment {
	value, group := m.header[m.value], m.header[m.group]
	x := &experiment{
		data:  m.path,
		asks:  fmt.Sprintf("the mean of %s for each %s in %s", value, group, m.path),
		title: fmt.Sprintf("The mean %s for each %s", value, group),
	}
	if m.in != "" {
		x.asks, x.title = x.asks+", in "+m.in, x.title+", in "+m.in
	}
	slug := strings.ToLower(strings.Join(words(value), "-"))
	totals := approach{slug: slug + "-by-totals", name: "adding up each group in whole numbers", code: m.code(totalsScript)}
	sorted := approach{slug: slug + "-by-deviations", name: "sorting the rows and adding up deviations from the first of each group", code: m.code(deviationsScript)}
	single := approach{slug: slug + "-group-by-group", name: "reading the file again for each group", code: m.code(singleScript)}
	x.checks = []approach{totals, sorted, single}
	if m.mixed() {
		x.tries = append(x.tries, approach{slug: slug + "-simple", name: "the mean of the column for each group", code: m.code(unitlessScript),
			flaw:   fmt.Sprintf("I had taken all numbers for %s. The column %s says that some rows are in another unit, and I had not looked at it", m.in, m.header[m.unit]),
			excuse: "It is only a mean, so I see nothing to check",
		})
	}
	if m.hasMissing() {
		x.tries = append(x.tries, approach{slug: slug + "-converted", name: "the mean for each group, all converted to one unit", code: m.code(zeroScript),
			flaw:   fmt.Sprintf("awk reads a cell without a number as 0, so every row without a %s counted as a measurement of zero and pulled its mean down", value),
			excuse: "I have taken care of the units, so I see nothing more to check",
		})
	}
	x.tries = append(x.tries, totals, sorted, single)
	return x
}

// code puts the table's columns into a program.
func (m *measured) code(text string) string {
	pow := "1" + strings.Repeat("0", m.places(m.value))
	factors, per := []string{}, 1
	for name, n := range m.kind {
		factors = append(factors, fmt.Sprintf("size[\"%s\"] = %d", name, n))
		if name == m.in {
			per = n
		}
	}
	slices.Sort(factors)
	unit := "1"
	if m.unit >= 0 {
		unit = fmt.Sprintf("size[$%d]", m.unit+1)
	} else {
		factors = []string{"size[\"\"] = 1"}
	}
	what := m.header[m.value]
	if m.in != "" {
		what += " in " + m.in
	}
	other := "0"
	if m.unit >= 0 {
		other = fmt.Sprintf("$%d != \"%s\"", m.unit+1, m.in)
	}
	return script(text,
		"file", path.Base(m.path), "what", what, "by", m.header[m.group], "value", m.value+1, "group", m.group+1, "unit", unit, "factors", strings.Join(factors, "; "),
		"pow", pow, "per", per, "other", other, "gap", gapTest(m.value+1), "join", joinScript)
}

// gapTest is awk for: this cell has no value.
func gapTest(column int) string {
	var list []string
	for _, w := range missing {
		if w != "" {
			// A slash would end the expression.
			list = append(list, strings.ReplaceAll(regexp.QuoteMeta(w), "/", "."))
		}
	}
	return fmt.Sprintf("tolower($%d) ~ /^(%s)?$/", column, strings.Join(list, "|"))
}

// joinScript puts the lines of a report on one, the remarks after it.
const joinScript = `LC_ALL=C sort | awk '/^#/ { notes = notes $0 "\n"; next } { line = line sep $0; sep = "; " } END { print line; printf "%s", notes }'`

// The programs. All of them take the name of the file, and have the one beside them
// for a default. Values are whole numbers of the smallest unit, so that no sum is
// rounded.
const (
	totalsScript = `
		# The mean {what} for each {by}: total and count of each group.
		awk -F, '
		BEGIN { {factors} }
		{ sub(/\r$/, "") }
		NR == 1 || NF < 2 { next }
		{ rows++ }
		{gap} { gaps++; next }
		{
			if ({other}) others++
			v = ${value} * {pow}
			total[${group}] += int(v + (v < 0 ? -0.5 : 0.5)) * {unit}
			n[${group}]++
		}
		END {
			for (g in n) printf "%s: %.3f\n", g, total[g] / n[g] / ({pow} * {per})
			printf "# %d rows, %d of them without a value, %d in another unit and converted\n", rows, gaps, others
		}' "${1:-{file}}" | {join}
	`
	deviationsScript = `
		# The mean {what} for each {by}: the rows sorted by group, and in each the
		# deviations from its first value.
		tail -n +2 "${1:-{file}}" | tr -d '\r' | LC_ALL=C sort -t, -k{group},{group} | awk -F, '
		function report() { if (n) printf "%s: %.3f\n", name, (first * n + sum) / n / ({pow} * {per}) }
		BEGIN { {factors} }
		NF < 2 { next }
		{ rows++ }
		{gap} { gaps++; next }
		{
			if ({other}) others++
			v = ${value} * {pow}
			v = int(v + (v < 0 ? -0.5 : 0.5)) * {unit}
			if (${group} != name || !n) { report(); name = ${group}; first = v; n = sum = 0 }
			n++
			sum += v - first
		}
		END {
			report()
			printf "# %d rows, %d of them without a value, %d in another unit and converted\n", rows, gaps, others
		}' | {join}
	`
	singleScript = `
		# The mean {what} for each {by}: the file read once for each group.
		file=${1:-{file}}
		tail -n +2 "$file" | tr -d '\r' | cut -d, -f{group} | LC_ALL=C sort -u | while IFS= read -r name; do
			NAME=$name awk -F, '
			BEGIN { {factors} }
			{ sub(/\r$/, "") }
			NR == 1 || NF < 2 || ${group} != ENVIRON["NAME"] || {gap} { next }
			{
				v = ${value} * {pow}
				sum += int(v + (v < 0 ? -0.5 : 0.5)) * {unit}
				n++
			}
			END { if (n) printf "%s: %.3f\n# %s: %d values\n", ENVIRON["NAME"], sum / n / ({pow} * {per}), ENVIRON["NAME"], n }' "$file"
		done | {join}
	`
	unitlessScript = `
		# The mean {what} for each {by}.
		awk -F, '
		{ sub(/\r$/, "") }
		NR == 1 || NF < 2 || {gap} { next }
		{ total[${group}] += ${value}; n[${group}]++ }
		END { for (g in n) printf "%s: %.3f\n", g, total[g] / n[g] }' "${1:-{file}}" | {join}
	`
	zeroScript = `
		# The mean {what} for each {by}.
		awk -F, '
		BEGIN { {factors} }
		{ sub(/\r$/, "") }
		NR == 1 || NF < 2 { next }
		{ total[${group}] += ${value} * {unit}; n[${group}]++ }
		END { for (g in n) printf "%s: %.3f\n", g, total[g] / n[g] / {per} }' "${1:-{file}}" | {join}
	`
)
