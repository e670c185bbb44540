package demo

import (
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/plain"
)

// lines are those of the file, without their ends.
func (s *selection) lines() []string { return linesOf(s.text) }

func linesOf(text string) []string {
	return strings.Split(strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n"), "\n")
}

// lineOf is where a record begins, from 1.
func (s *selection) lineOf(record int) int {
	return s.rows[record-1].line
}

// halves reads the file again, in two pieces that no record crosses.
func (s *selection) halves(d *desk, say string) (string, error) {
	middle := s.lineOf(len(s.rows)/2 + 1)
	out, err := d.use(say, readFile(s.path, 1, middle-1), readFile(s.path, middle, 0))
	if err != nil || out[0].failed || out[1].failed {
		return "", err
	}
	var pieces []string
	for _, o := range out {
		text := strings.TrimPrefix(o.text, "\uFEFF")
		if i := strings.LastIndex(text, "(there is more; go on with offset "); i >= 0 && !strings.Contains(text[i:], "\n") {
			text = text[:i]
		}
		pieces = append(pieces, starList(linesOf(text)))
	}
	return s.program(parseCode+`
		first = {first}
		second = {second}
		parts = []
		for start, lines in [(1, first), ({middle}, second)]:
			parts.append(records_of(lines, start))
		rows, gaps, odd, read = [], [], [], 0
		for half in [parts[0][1:], parts[1]]:
			got = taken(half, read)
			rows, gaps, odd, read = rows + got[0], gaps + got[1], odd + got[2], read + got[3]
		places = max([0] + [y[1] for _, _, _, y in rows])
		over_places = max([0] + [x[1] for _, _, x, _ in rows])
		rows = [[line, name, x[0] * pow(10, over_places - x[1]), y[0] * pow(10, places - y[1])] for line, name, x, y in rows]
		unit, over_unit = pow(10, places), pow(10, over_places)
	`, "first", pieces[0], "second", pieces[1], "middle", middle) + s.program(partialCode) + s.program(reportCode), nil
}

// rawCode takes the file as it is.
func (s *selection) rawCode() string {
	return s.program(parseCode+`
		lines = {lines}
		records = records_of(lines, 1)
		rows, gaps, odd, read = [], [], [], 0
		for line, cells in records[1:]:
			read += 1
			if filter >= 0 and cell(cells, filter) != only:
				continue
			name = cell(cells, group) if group >= 0 else ""
			x = number(cell(cells, over)) if over >= 0 else (read, 0)
			y = number(cell(cells, column))
			if x == None or y == None:
				if cell(cells, column).lower() in nothing or over >= 0 and cell(cells, over).lower() in nothing:
					gaps.append(line)
				else:
					odd.append(line)
			else:
				rows.append([line, name, x, y])
		places = max([0] + [y[1] for _, _, _, y in rows])
		over_places = max([0] + [x[1] for _, _, x, _ in rows])
		rows = [[line, name, x[0] * pow(10, over_places - x[1]), y[0] * pow(10, places - y[1])] for line, name, x, y in rows]
		unit, over_unit = pow(10, places), pow(10, over_places)
	`, "lines", starList(s.lines())) + s.program(textbookCode) + s.program(reportCode)
}

// readCode takes what this package's own reader made of the file.
func (s *selection) readCode() string {
	var b strings.Builder
	b.WriteString("[\n")
	for i, r := range s.rows {
		if selected, _ := s.usable(r); !selected {
			continue
		}
		x := strconv.Itoa(i + 1)
		if s.over >= 0 {
			x = s.integer(r, s.over)
		}
		fmt.Fprintf(&b, "    [%d, %s, %s, %s],\n", r.line, starText(r.cell(s.group)), x, s.integer(r, s.value))
	}
	b.WriteString("]")
	overPlaces := 0
	if s.over >= 0 {
		overPlaces = s.places(s.over)
	}
	return s.program(`
		# The cells as integers: the line, the group, the position and the value, the
		# last two without their decimal point. None is missing, "?" is no number.
		cells = {cells}
		unit = pow(10, {places})
		over_unit = pow(10, {overplaces})
		read = {read}
		rows, gaps, odd = [], [], []
		for line, name, x, y in cells:
			if x == None or y == None:
				gaps.append(line)
			elif x == "?" or y == "?":
				odd.append(line)
			else:
				rows.append([line, name, x, y])
	`, "cells", b.String(), "places", s.places(s.value), "overplaces", overPlaces, "read", len(s.rows)) + s.program(runningCode) + s.program(reportCode)
}

// integer is a cell without its decimal point, as Starlark.
func (s *selection) integer(r row, column int) string {
	cell := r.cell(column)
	if text, ok := s.decimal(cell); ok {
		return scaled(text, s.places(column))
	}
	if isMissing(cell) {
		return "None"
	}
	return `"?"`
}

// program puts the selection into a piece of code.
func (s *selection) program(text string, pairs ...any) string {
	wants := make([]string, len(s.wants))
	for i, w := range s.wants {
		wants[i] = strconv.Quote(w)
	}
	return program(text, append(pairs,
		"delimiter", starText(s.delimiter), "comma", starBool(s.comma), "column", s.value, "group", s.group, "over", s.over,
		"filter", s.filter, "only", starText(s.only), "nothing", starWords(missing), "wants", "["+strings.Join(wants, ", ")+"]")...)
}

func starBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// starText is a text as a Starlark literal. Nothing in it can end the literal.
func starText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "?") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case plain.Printable(string(r)):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func starWords(list []string) string {
	quoted := make([]string, len(list))
	for i, w := range list {
		quoted[i] = starText(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// starList has a line of the program for each line of the file.
func starList(lines []string) string {
	var b strings.Builder
	b.WriteString("[\n")
	for _, line := range lines {
		b.WriteString("    " + starText(line) + ",\n")
	}
	return b.String() + "]"
}

// parseCode reads CSV and decimal numbers.
const parseCode = `
		delimiter, comma, nothing = {delimiter}, {comma}, {nothing}
		column, group, over = {column}, {group}, {over}  # the value, its group, its position; -1 is none
		filter, only = {filter}, {only}
		def records_of(lines, start):
			# Each record is the line it begins in, and its cells.
			records, cells, text, quoted, begun = [], [], "", False, start
			for i in range(len(lines)):
				line = lines[i]
				if not quoted:
					if line.strip() == "":
						continue
					cells, text, begun = [], "", start + i
				if '"' not in line and not quoted:
					records.append((begun, [c.strip() for c in line.split(delimiter)]))
					continue
				for c in line.elems():
					if c == '"':
						quoted = not quoted
					elif c == delimiter and not quoted:
						cells.append(text.strip())
						text = ""
					else:
						text += c
				if quoted:
					text += "\n"
				else:
					records.append((begun, cells + [text.strip()]))
			return records
		def cell(cells, i):
			return cells[i] if i < len(cells) else ""
		def number(text):
			# (digits, how many of them are decimals), or None
			if comma:
				text = text.replace(",", ".", 1)
			sign, rest = 1, text
			if text[:1] in ["+", "-"] and text:
				sign, rest = (-1 if text[0] == "-" else 1), text[1:]
			before, dot, after = rest.partition(".")
			if not before.isdigit() or dot and not after.isdigit():
				return None
			if len(before) > 30 or len(after) > 15:
				return None
			return (sign * int(before + after), len(after))
		def taken(records, read):
			rows, empty, odd, count = [], [], [], 0
			for line, cells in records:
				count += 1
				if filter >= 0 and cell(cells, filter) != only:
					continue
				x = number(cell(cells, over)) if over >= 0 else (read + count, 0)
				y = number(cell(cells, column))
				if x != None and y != None:
					rows.append([line, cell(cells, group) if group >= 0 else "", x, y])
				elif cell(cells, column).lower() in nothing or over >= 0 and cell(cells, over).lower() in nothing:
					empty.append(line)
				else:
					odd.append(line)
			return [rows, empty, odd, count]
`

// Three ways to the same statistics, each as fractions (numerator, denominator).
const textbookCode = `
		def statistic(want, rows):
			ys = [y for _, _, _, y in rows]
			n = len(ys)
			if want == "mean":
				return (sum(ys), n * unit)
			if want == "sum":
				return (sum(ys), unit)
			ordered = sorted(ys)
			if want == "median":
				return (ordered[(n - 1) // 2] + ordered[n // 2], 2 * unit)
			if want == "minimum":
				return (ordered[0], unit)
			if want == "maximum":
				return (ordered[-1], unit)
			xs = [x for _, _, x, _ in rows]
			sx, sy = sum(xs), sum(ys)
			sxx, sxy = sum([x * x for x in xs]), sum([xs[i] * ys[i] for i in range(n)])
			return ((n * sxy - sx * sy) * over_unit, (n * sxx - sx * sx) * unit)
`

const runningCode = `
		def kth(list, k):
			# The one that k others are before, without sorting them all.
			while True:
				pivot = list[len(list) // 2]
				low = [v for v in list if v < pivot]
				same = len([v for v in list if v == pivot])
				if k < len(low):
					list = low
				elif k < len(low) + same:
					return pivot
				else:
					k -= len(low) + same
					list = [v for v in list if v > pivot]
		def statistic(want, rows):
			total, count, least, most = 0, 0, None, None
			for _, _, _, y in rows:
				total, count = total + y, count + 1
				if least == None or y < least:
					least = y
				if most == None or y > most:
					most = y
			if want == "mean":
				return (total, count * unit)
			if want == "sum":
				return (total, unit)
			if want == "median":
				ys = [y for _, _, _, y in rows]
				return (kth(ys, (count - 1) // 2) + kth(ys, count // 2), 2 * unit)
			if want == "minimum":
				return (least, unit)
			if want == "maximum":
				return (most, unit)
			# Deviations from the means, all of them times the count.
			middle = sum([x for _, _, x, _ in rows])
			top, bottom = 0, 0
			for _, _, x, y in rows:
				dx, dy = count * x - middle, count * y - total
				top, bottom = top + dx * dy, bottom + dx * dx
			return (top * over_unit, bottom * unit)
`

const partialCode = `
		def merged(a, b):
			# Two sorted lists as one.
			out, i, j = [], 0, 0
			while i < len(a) or j < len(b):
				if j == len(b) or i < len(a) and a[i] <= b[j]:
					out.append(a[i])
					i += 1
				else:
					out.append(b[j])
					j += 1
			return out
		def statistic(want, rows):
			half = len(rows) // 2
			totals, lists = [], []
			for part in [rows[:half], rows[half:]]:
				n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
				for _, _, x, y in part:
					n, sx, sy, sxx, sxy = n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y
				totals.append([n, sx, sy, sxx, sxy])
				lists.append(sorted([y for _, _, _, y in part]))
			n, sx, sy, sxx, sxy = [totals[0][i] + totals[1][i] for i in range(5)]
			if want == "mean":
				return (sy, n * unit)
			if want == "sum":
				return (sy, unit)
			ordered = merged(lists[0], lists[1])
			if want == "median":
				return (ordered[(n - 1) // 2] + ordered[n // 2], 2 * unit)
			if want == "minimum":
				return (min([l[0] for l in lists if l]), unit)
			if want == "maximum":
				return (max([l[-1] for l in lists if l]), unit)
			return ((n * sxy - sx * sy) * over_unit, (n * sxx - sx * sx) * unit)
`

// reportCode prints what all three must agree on.
const reportCode = `
		def decimal(n, d):
			# n / d, exact if it ends in time
			if d == 0:
				return "undefined"
			if d < 0:
				n, d = -n, -d
			size = 6
			while size < 20 and unit >= pow(10, size - 4):
				size += 1
			scale = pow(10, size)
			shown = (2 * abs(n) * scale + d) // (2 * d)
			digits = str(shown % scale)
			tail = ("0" * (size - len(digits)) + digits).rstrip("0")
			text = ("-" if n < 0 and shown else "") + str(shown // scale) + ("." + tail if tail else "")
			return text if shown * d == abs(n) * scale else "about " + text
		def told(rows):
			return ", ".join([want + " " + decimal(*statistic(want, rows)) for want in {wants}])
		def outliers(rows):
			# More than eight times as far from the median as half of the rows are.
			if len(rows) < 5:
				return []
			n, d = statistic("median", rows)
			middle = 2 * n * unit // d  # twice the median, in the units of the rows
			far = [[r[0], "", 0, abs(2 * r[3] - middle)] for r in rows]
			n, d = statistic("median", far)
			typical = 2 * n * unit // d
			return [rows[i][0] for i in range(len(rows)) if typical > 0 and far[i][3] > 4 * typical]
		notes = []
		for name in sorted(list(set([r[1] for r in rows]))):
			mine = [r for r in rows if r[1] == name]
			label = (name or "(no name)") if {group} >= 0 else "all rows"
			print(label + ": " + told(mine))
			strange = outliers(mine)
			if strange:
				print(label + " without outliers: " + told([r for r in mine if r[0] not in strange]))
				notes += ["outlier in line " + str(r[0]) + ", value " + decimal(r[3], unit) for r in mine if r[0] in strange]
		print("--")
		print(str(read) + " rows read, " + str(len(rows)) + " used, their sum is " + decimal(sum([r[3] for r in rows]), unit))
		if gaps:
			print("value missing in line " + ", ".join([str(line) for line in gaps]))
		if odd:
			print("value that is no number in line " + ", ".join([str(line) for line in odd]))
		for note in notes:
			print(note)
`
