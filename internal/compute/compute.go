// Package compute holds the programs that compute figures from data, and an
// interpreter for them.
//
// A program is one text with one hash, and two engines run it: python3 in a
// computer, and the interpreter in this binary where there is no Python. It is
// written in what both languages have in common, and does by itself whatever
// the two would do differently: it parses its tables, computes its logarithms
// and writes its numbers down by additions, multiplications and whole numbers
// only. So both engines print the same bytes, on any machine.
//
// What a program cannot do alone its surroundings give it:
//
//	files()      the paths of the data files, sorted, with slashes
//	read(path)   a file's text, or None if it is not text in UTF-8
//	shown(text)  text for one line of output: without control characters, short
//	fail(text)   ends the program: this is why there is no result
//	print, math  as in Python
//
// A fit also prints a line "plot: " with an SVG, which Split takes out.
//
// A program that fails says why; it never prints a figure that the data does not
// hold. What it read is hostile: the interpreter ends a program that takes too
// many steps or too much memory, whatever the data made it do.
package compute

import (
	"embed"
	"slices"
	"strings"
)

//go:embed programs
var programs embed.FS

// parts stand at the beginning of every program.
var parts = []string{"number", "table", "unit", "fit"}

// names are the programs; the file of each holds what it adds to the parts.
var names = []string{"activation-energy", "arrhenius", "kissinger", "linear", "statistics"}

// Names returns the names of the programs, sorted.
func Names() []string { return slices.Clone(names) }

// Program returns the text of a program. It is whole: it needs no other file.
func Program(name string) (text string, ok bool) {
	if !slices.Contains(names, name) {
		return "", false
	}
	for _, part := range append(slices.Clone(parts), name) {
		data, err := programs.ReadFile("programs/" + part + ".star")
		if err != nil {
			return "", false
		}
		text += string(data)
	}
	return text, true
}

// Python is a program as python3 runs it: a prelude that gives it its
// surroundings, and its text unchanged. The data are the files below the folder
// that is its first argument, or else below the working directory; its own file
// and names that begin with a dot are left out. fail writes to stderr and exits
// with 3.
func Python(text string) string {
	prelude, err := programs.ReadFile("programs/prelude.py")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(prelude) + text
}

// Split takes the pictures out of what one of these programs printed: a line that begins
// with "plot: " holds an SVG.
func Split(output string) (text string, plots []string) {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if svg, ok := strings.CutPrefix(line, "plot: <svg "); ok {
			plots = append(plots, "<svg "+strings.TrimSuffix(svg, "\n"))
			continue
		}
		b.WriteString(line)
	}
	return b.String(), plots
}
