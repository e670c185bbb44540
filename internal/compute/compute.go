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
	"crypto/sha256"
	"embed"
	"encoding/hex"
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

// Earlier programs are not made into quests any more; a quest has the text of its own. These
// are their SHA-256 sums: what they compute is known, also to later versions.
var earlier = map[string][]string{
	"activation-energy": {"efa292b47ec7456547bb9200b4859182538c5eaf6367fbff0c0f087f29acb4c8"},
	"arrhenius":         {"59d17f8bf2fe351ba0e715d290122967dc8ca3e50f889e89c85593248e85a2a8"},
	"kissinger":         {"8c1c5545b782ef4ad0f41554fbd493a0ed337cf07c455bce5c3e98073b5f3392"},
	"linear":            {"2e6e15fefaa84906cc5907f00f6a57a66f5be4b17007a34c6b2fbf16c18d3c41"},
	"statistics":        {"23ffdb6285beb2133ba12b38d97e2ed8bc139ee59d6cbb090141044dbabaa6c1"},
}

// Known reports whether a text of this SHA-256 sum is a program of this name: that of
// Program, or an earlier one.
func Known(name string, sum [sha256.Size]byte) bool {
	text, ok := Program(name)
	return ok && sha256.Sum256([]byte(text)) == sum || slices.Contains(earlier[name], hex.EncodeToString(sum[:]))
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
