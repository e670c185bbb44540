package compute

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
	"lyceum/internal/starlark"
)

// Engine names the interpreter for people.
const Engine = "built-in interpreter (Starlark, the subset it shares with Python 3)"

// limits of a run. Memory is all that the program ever made, not what it still
// holds: so the same program on the same data ends at the same place on every
// machine, however its garbage is collected.
type limits struct {
	steps  uint64
	memory uint64
	output int
	input  int
	text   int
}

var standard = limits{
	steps:  1_000_000_000, // a fit through a million points takes about half
	memory: 1 << 30,
	output: 1 << 20,
	input:  32 << 20,
	text:   64 << 10,
}

// Refusal is what a program said with fail: why the data gives no result.
type Refusal = starlark.Refusal

// Interpret runs a program and returns what it printed, also if it did not end
// well. files are the data, by slash path. A *Refusal is what the program itself
// said with fail; any other error is a fault of the program, a limit that it met,
// or ctx's.
//
// Looking up one very long text is one step. So a hostile program may need ctx
// to end it in time, though never to end it at all.
func Interpret(ctx context.Context, text string, files map[string][]byte) ([]byte, error) {
	return interpret(ctx, text, files, standard)
}

func interpret(ctx context.Context, text string, files map[string][]byte, most limits) ([]byte, error) {
	n := 0
	for _, data := range files {
		n += len(data)
	}
	if n > most.input && ctx.Err() == nil && len(text) <= most.text {
		return nil, fmt.Errorf("the data has %d bytes, more than the %d that are allowed; give fewer or smaller files", n, most.input)
	}
	given := surroundings{files, map[string]starlark.Value{}}
	return starlark.Dialect{
		Shared: true, Text: most.text, Output: most.output, Steps: most.steps, Memory: most.memory,
		TooLong:        "the program has %d bytes, more than the %d that are allowed; make it shorter",
		TooManySteps:   "it took more than %d steps; use less data or a better method",
		TooMuchPrinted: "it printed more than %d KiB; print less",
		Functions: map[string]starlark.Function{
			"files": {Do: given.list}, "read": {Least: 1, Most: 1, Do: given.read}, "shown": {Least: 1, Most: 1, Do: shown},
		},
	}.Run(ctx, text)
}

// surroundings are what a program cannot do alone.
type surroundings struct {
	files map[string][]byte
	texts map[string]starlark.Value // what read returned, so that reading twice costs once
}

// list is files(): the paths that both engines can name.
func (s surroundings) list(r *starlark.Run, _ []starlark.Value) (starlark.Value, error) {
	var names []string
	for name := range s.files {
		if visible(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return r.Texts(names)
}

func visible(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || strings.HasPrefix(part, ".") {
			return false
		}
	}
	return utf8.ValidString(path) && !strings.Contains(path, "\x00")
}

func (s surroundings) read(r *starlark.Run, args []starlark.Value) (starlark.Value, error) {
	name, ok := starlark.Text(args[0])
	data, there := s.files[name]
	if !ok || !there || !visible(name) {
		return nil, fmt.Errorf("there is no data file %s; files() lists those there are", args[0].Type())
	}
	if v := s.texts[name]; v != nil {
		return v, nil
	}
	s.texts[name] = starlark.None
	if utf8.Valid(data) && !slices.Contains(data, 0) {
		if err := r.Keep(uint64(len(data))); err != nil {
			return nil, err
		}
		s.texts[name] = starlark.NewText(string(data))
	}
	return s.texts[name], nil
}

// shown is text as it may stand in a line of output: what could begin another
// line, or change how a terminal or a page shows this one, is replaced.
func shown(r *starlark.Run, args []starlark.Value) (starlark.Value, error) {
	text, ok := starlark.Text(args[0])
	if !ok {
		return nil, fmt.Errorf("shown got a %s, want a text", args[0].Type())
	}
	var b strings.Builder
	n := 0
	for _, c := range text {
		if n++; n > 60 {
			b.WriteString("...")
			break
		}
		if plain.Output.Has(c) {
			c = '?'
		}
		b.WriteRune(c)
	}
	return starlark.NewText(b.String()), r.Keep(uint64(b.Len()))
}
