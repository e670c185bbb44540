package compute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Engine names the interpreter for people.
const Engine = "built-in interpreter (Starlark, the subset it shares with Python 3)"

// limits of a run. A step is one instruction, or 16 bytes that one instruction
// looks through. Memory is all that the program ever made, not what it still
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
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

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

func interpret(ctx context.Context, text string, files map[string][]byte, most limits) (out []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(text) > most.text {
		return nil, fmt.Errorf("the program has %d bytes, more than the %d that are allowed; make it shorter", len(text), most.text)
	}
	if n := size(files); n > most.input {
		return nil, fmt.Errorf("the data has %d bytes, more than the %d that are allowed; give fewer or smaller files", n, most.input)
	}
	opts := &syntax.FileOptions{While: true, TopLevelControl: true, GlobalReassign: true}
	file, err := opts.Parse("program", text, 0)
	if err != nil {
		return nil, explain(err)
	}
	if err := guard(file); err != nil {
		return nil, err
	}
	r := &run{most: most, files: files, texts: map[string]starlark.Value{}}
	return r.do(ctx, file)
}

func size(files map[string][]byte) int {
	n := 0
	for _, data := range files {
		n += len(data)
	}
	return n
}

// run is one program that is being run.
type run struct {
	most   limits
	files  map[string][]byte
	texts  map[string]starlark.Value // what read returned, so that reading twice costs once
	thread *starlark.Thread
	out    bytes.Buffer
	made   uint64 // bytes
}

func (r *run) do(ctx context.Context, file *syntax.File) (out []byte, err error) {
	// A panic of the interpreter is a fault like any other: it must not take the
	// quests of this process with it.
	defer func() {
		if p := recover(); p != nil {
			out, err = r.out.Bytes(), fmt.Errorf("the interpreter gave up: %v", p)
		}
	}()
	env := r.environment()
	prog, err := starlark.FileProgram(file, env.Has)
	if err != nil {
		return nil, explain(err)
	}
	r.thread = &starlark.Thread{Name: "program"}
	r.thread.SetMaxExecutionSteps(r.most.steps)
	r.thread.OnMaxSteps = func(t *starlark.Thread) { t.Cancel(r.tooManySteps()) }
	stop := context.AfterFunc(ctx, func() { r.thread.Cancel("out of time") })
	defer stop()
	// Init, unlike ExecFile, does not freeze what is left, which would recurse as
	// deep as the program nested its lists.
	_, err = prog.Init(r.thread, env)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return r.out.Bytes(), explain(err)
}

// keep pays for bytes that the program makes.
func (r *run) keep(n uint64) error {
	if n > r.most.memory-min(r.made, r.most.memory) {
		return fmt.Errorf("it needs more than %d MiB of memory; use less data or keep less of it", r.most.memory>>20)
	}
	r.made += n
	return nil
}

// work pays for bytes that one instruction looks through.
func (r *run) work(n int) error {
	r.thread.Steps += uint64(n) / 16
	if r.thread.Steps > r.most.steps {
		return errors.New(r.tooManySteps())
	}
	return nil
}

func (r *run) tooManySteps() string {
	return fmt.Sprintf("it took more than %d steps; use less data or a better method", r.most.steps)
}

// explain puts an error of the interpreter into words for whoever wrote the
// program. A refusal stays one.
func explain(err error) error {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	if list, ok := errors.AsType[resolve.ErrorList](err); ok && len(list) > 0 {
		return fmt.Errorf("line %d: %s", list[0].Pos.Line, list[0].Msg)
	}
	if e, ok := errors.AsType[syntax.Error](err); ok {
		return fmt.Errorf("line %d, column %d: %s", e.Pos.Line, e.Pos.Col, e.Msg)
	}
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		text := strings.TrimPrefix(e.Msg, "Starlark computation cancelled: ")
		return fmt.Errorf("line %d: %s", line(e.CallStack), text)
	}
	return err
}

// line is where the program was, leaving out our own functions.
func line(stack starlark.CallStack) int32 {
	for i := range stack {
		if pos := stack.At(i).Pos; pos.Line > 0 && pos.Filename() == "program" {
			return pos.Line
		}
	}
	return 0
}
