// Package starlark runs programs that nobody has read, in one process with
// everything else.
//
// A program is text of one of two dialects. The full one is Starlark with
// recursion and sets, plus sum, round and pow. The shared one is what means the
// same in Python 3: functions at the left margin, numbers, texts, lists and dicts;
// what Python would do otherwise is refused.
//
// Starlark counts instructions, but one instruction may make a gigabyte, and some
// recurse as deep as a value is nested until the Go stack ends, which nobody can
// recover from. So a program is rewritten before it is compiled: what makes a
// value of any size becomes a call of a function of ours that knows its price and
// asks for it before it does the work. The full dialect pays for everything in
// steps, of which one is an instruction or 16 bytes. The shared one pays for what
// it looks through in steps and for what it makes in bytes, garbage included. So
// the same program on the same data ends at the same place on every machine.
//
// What is left: instructions that are not charged for what they make hold some 30
// bytes each, so that the most wasteful program of 10 million steps holds about
// 300 MB; a key that is not there is written out once, in up to four times its
// length; and hashing or comparing one very long text is one step, as is one more
// key among many with the same hash. So a program may need its context to end it
// in time, though never to end it at all. A single instruction that makes a dict of many
// keys with one hash larger may outlast its context: who must answer in time does not wait
// for it.
package starlark

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

// Dialect is a language, and what a program in it may use up. No limit may be
// zero, but for Memory in the full dialect, which does not count it.
type Dialect struct {
	Shared bool // with Python

	Text   int    // bytes of a program
	Output int    // bytes that it prints
	Steps  uint64 // instructions, and 16 bytes that one of them looks through
	Memory uint64 // bytes that it ever makes

	// What is said when a limit is met: formats for the limit, which TooLong
	// has behind the length of the text.
	TooLong, TooManySteps, TooMuchPrinted string

	// Functions are there beside those of the language.
	Functions map[string]Function
}

// Refusal is what a program of the shared dialect said with fail.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Run is one program that is being run. It belongs to the goroutine that runs it.
type Run struct {
	Dialect
	thread *starlark.Thread
	out    bytes.Buffer
	full   error  // why nothing more is printed
	made   uint64 // bytes
}

// Run runs a program and returns what it printed, also if it did not end well. A
// *Refusal is what the program itself said; any other error is a fault of the
// program, a limit that it met, or ctx's.
func (d Dialect) Run(ctx context.Context, text string) (out []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(text) > d.Text {
		return nil, fmt.Errorf(d.TooLong, len(text), d.Text)
	}
	r := &Run{Dialect: d, thread: &starlark.Thread{Name: "program"}}
	r.thread.SetLocal(runKey, r)
	// A panic of the interpreter is a fault like any other: it must not take the
	// quests of this process with it.
	defer func() {
		if p := recover(); p != nil {
			out, err = r.out.Bytes(), fmt.Errorf("the interpreter gave up: %v", p)
		}
	}()
	err = r.do(ctx, text)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return r.out.Bytes(), d.explain(err)
}

func (r *Run) do(ctx context.Context, text string) error {
	opts := &syntax.FileOptions{While: true, TopLevelControl: true, GlobalReassign: true, Set: !r.Shared, Recursion: !r.Shared}
	file, err := opts.Parse("program", text, 0)
	if err != nil {
		return err
	}
	if err := r.guard(file); err != nil {
		return err
	}
	env := r.environment()
	prog, err := starlark.FileProgram(file, env.Has)
	if err != nil {
		return err
	}
	r.thread.Print = func(_ *starlark.Thread, text string) { r.printed(text) }
	r.thread.SetMaxExecutionSteps(r.Steps)
	r.thread.OnMaxSteps = func(t *starlark.Thread) { t.Cancel(r.tooManySteps().Error()) }
	stop := context.AfterFunc(ctx, func() { r.thread.Cancel("out of time") })
	defer stop()
	// Init, unlike ExecFile, does not freeze what is left, which would recurse as
	// deep as the program nested its lists.
	if _, err = prog.Init(r.thread, env); err != nil {
		return err
	}
	return r.full
}

// spend takes n from the steps that are left.
func (r *Run) spend(n uint64) error {
	if n > r.left() {
		return r.tooManySteps()
	}
	r.thread.Steps += n
	return nil
}

func (r *Run) left() uint64 { return r.Steps - min(r.thread.Steps, r.Steps) }

func (r *Run) tooManySteps() error { return fmt.Errorf(r.TooManySteps, r.Steps) }

// Keep pays for bytes that a program of the shared dialect makes.
func (r *Run) Keep(n uint64) error {
	if n > r.Memory-min(r.made, r.Memory) {
		return fmt.Errorf("it needs more than %d MiB of memory; use less data or keep less of it", r.Memory>>20)
	}
	r.made += n
	return nil
}

// work pays for bytes that one instruction looks through.
func (r *Run) work(n int) error { return r.spend(uint64(n) / 16) }

// printed takes a line of output in the full dialect. What is over the limit ends
// the program: better than an output whose end, where the answer stands, is
// missing.
func (r *Run) printed(text string) {
	if r.full != nil {
		return
	}
	if r.out.Len()+len(text)+1 > r.Output {
		r.full = r.tooMuchPrinted()
		r.thread.Cancel(r.full.Error())
		text = text[:max(0, r.Output-r.out.Len()-1)]
	}
	r.out.WriteString(text)
	r.out.WriteByte('\n')
}

func (r *Run) tooMuchPrinted() error { return fmt.Errorf(r.TooMuchPrinted, r.Output>>10) }

// explain is short, whatever the error is about: it lands in a ledger. A refusal
// stays one.
func (d Dialect) explain(err error) error {
	err = d.inWords(err)
	if _, ok := errors.AsType[*Refusal](err); err == nil || ok || len(err.Error()) <= maxError {
		return err
	}
	return errors.New(short(err.Error(), maxError))
}

// maxError is the most bytes of an error.
const maxError = 64 << 10

func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// inWords puts an error of the interpreter into words for whoever wrote the
// program.
func (d Dialect) inWords(err error) error {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	if list, ok := errors.AsType[resolve.ErrorList](err); ok {
		shown := 5
		if d.Shared {
			shown = 1
		}
		var lines []string
		for _, e := range list[:min(len(list), shown)] {
			lines = append(lines, fmt.Sprintf("line %d: %s", e.Pos.Line, e.Msg))
		}
		return errors.New(strings.Join(lines, "\n"))
	}
	if e, ok := errors.AsType[syntax.Error](err); ok {
		return fmt.Errorf("line %d, column %d: %s%s", e.Pos.Line, e.Pos.Col, e.Msg, d.hint(e.Msg))
	}
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		text := strings.TrimPrefix(e.Msg, "Starlark computation cancelled: ")
		return errors.New(d.traced(short(text, maxError/2), e.CallStack))
	}
	return err
}

// hint says what to write instead of what Python has and the full dialect has not.
func (d Dialect) hint(msg string) string {
	for _, h := range []struct{ word, hint string }{
		{"got '**'", "use pow(x, y) for powers"},
		{"got import", "there is no import; math and json are there already"},
		{"got try", "there is no try"},
		{"got class", "there is no class"},
	} {
		if !d.Shared && strings.Contains(msg, h.word) {
			return "; " + h.hint
		}
	}
	return ""
}

// traced says where an error came from: the line, and in the full dialect also
// those that called, innermost first. Our own guards have no line.
func (d Dialect) traced(text string, stack starlark.CallStack) string {
	var at []starlark.CallFrame
	for i := range stack {
		if f := stack.At(i); f.Pos.Line > 0 {
			at = append(at, f)
		}
	}
	if d.Shared {
		line := int32(0)
		if len(at) > 0 {
			line = at[0].Pos.Line
		}
		return fmt.Sprintf("line %d: %s", line, text)
	}
	for i, f := range at {
		if i == 8 {
			return text + "\n  ..."
		}
		text += fmt.Sprintf("\n  at line %d", f.Pos.Line)
		if f.Name != "<toplevel>" {
			text += " in " + f.Name
		}
	}
	return text
}
