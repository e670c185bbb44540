package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// leastBeside is how narrow a column may get: what does not fit beside the others stands below them.
const leastBeside = 24

// Beside puts texts beside each other, each in a column of its own, as many in a row as the width has room for.
func Beside(texts []string, width int) string {
	const gap = 3
	fit := max(min(len(texts), (width+gap)/(leastBeside+gap)), 1)
	var out strings.Builder
	for len(texts) > 0 {
		row := texts[:min(fit, len(texts))]
		texts = texts[len(row):]
		column := max((width+gap)/len(row)-gap, 1)
		columns, height := make([][]string, len(row)), 0
		for i, text := range row {
			columns[i] = strings.Split(strings.TrimRight(ansi.Wrap(Clean(text), column, ""), "\n"), "\n")
			height = max(height, len(columns[i]))
		}
		for y := range height {
			line := ""
			for i, lines := range columns {
				line += strings.Repeat(" ", max(i*(column+gap)-ansi.StringWidth(line), 0))
				if y < len(lines) {
					line += lines[y]
				}
			}
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if len(texts) > 0 {
			out.WriteString("\n")
		}
	}
	return out.String()
}
