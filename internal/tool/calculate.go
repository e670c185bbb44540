package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The limits of a calculation. A step is one instruction, or 16 bytes of a value
// that an instruction makes; so the limit bounds time and memory alike, and the
// same code meets it at the same place on every machine.
const (
	maxSteps   = 10_000_000
	maxPrinted = 64 << 10
	maxCode    = 64 << 10
	maxCalls   = 1000
)

const calculateText = `Runs a calculation in Starlark, a small Python dialect, and returns what it prints; if the last statement is an expression, its value too. ` +
	`Integers are exact and of any size. There are for, while, def, lambda, comprehensions, list, dict, set, tuple, sorted, zip, enumerate, min, max, abs, sum, round, pow (exact; use it instead of **), ` +
	`the modules math (sqrt, log, exp, sin, pi, ...) and json (encode, decode). ` +
	`There is no import, try, class, f-string, file or network. Every call starts afresh. A call ends after 10 million steps or 64 KiB of output.`

// Calculator returns the tool calculate. It needs nothing of the host, and the
// same code gives the same output.
func Calculator() Tool {
	// As many calculations at once as there are processors: more would not be
	// faster, and each may hold its whole share of memory.
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	return Tool{
		Tool: model.Tool{
			Name:        "calculate",
			Description: calculateText,
			Schema:      `{"type":"object","properties":{"code":{"type":"string","description":"The program."}},"required":["code"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Run: func(ctx context.Context, c Call) (string, error) {
			var args struct {
				Code string `json:"code"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return "", ctx.Err()
			}
			return calculate(ctx, args.Code, maxSteps)
		},
	}
}

// calculate runs code for that many steps at most and returns what it printed,
// in part if it fails.
func calculate(ctx context.Context, code string, steps uint64) (string, error) {
	if len(code) > maxCode {
		return "", fmt.Errorf("the code has %d bytes, more than the %d that are allowed", len(code), maxCode)
	}
	opts := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	file, err := opts.Parse("code", code, 0)
	if err != nil {
		return "", explain(err)
	}
	if err := guard(file); err != nil {
		return "", err
	}
	r := &run{steps: steps}
	env := r.environment()
	prog, err := starlark.FileProgram(file, env.Has)
	if err != nil {
		return "", explain(err)
	}
	thread := &starlark.Thread{Name: "calculate", Print: func(_ *starlark.Thread, text string) { r.printed(text) }}
	r.thread = thread
	thread.SetMaxExecutionSteps(steps)
	thread.OnMaxSteps = func(t *starlark.Thread) { t.Cancel(r.tooManySteps()) }
	stop := context.AfterFunc(ctx, func() { thread.Cancel("out of time") })
	defer stop()

	// Init does not freeze the globals, which would recurse without limit.
	_, err = prog.Init(thread, env)
	if err == nil {
		err = r.full
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return r.out.String(), explain(err)
}

// run is one calculation.
type run struct {
	steps  uint64
	thread *starlark.Thread
	out    strings.Builder
	full   error
}

// printed takes a line of output. What is over the limit ends the calculation:
// better than an output whose end, where the answer stands, is missing.
func (r *run) printed(text string) {
	if r.full != nil {
		return
	}
	if r.out.Len()+len(text)+1 > maxPrinted {
		r.full = fmt.Errorf("printed more than %d KiB; print less, such as a summary", maxPrinted>>10)
		r.thread.Cancel(r.full.Error())
		text = text[:max(0, maxPrinted-r.out.Len()-1)]
	}
	r.out.WriteString(text)
	r.out.WriteByte('\n')
}

func (r *run) tooManySteps() string {
	return fmt.Sprintf("it took more than %d steps (one for each instruction and for each 16 bytes of large values); use a smaller problem or a better algorithm", r.steps)
}

// explain puts an error of Starlark into words for whoever wrote the code.
func explain(err error) error {
	if list, ok := errors.AsType[resolve.ErrorList](err); ok {
		var lines []string
		for _, e := range list[:min(len(list), 5)] {
			lines = append(lines, fmt.Sprintf("line %d: %s", e.Pos.Line, e.Msg))
		}
		return errors.New(strings.Join(lines, "\n"))
	}
	if e, ok := errors.AsType[syntax.Error](err); ok {
		return fmt.Errorf("line %d, column %d: %s%s", e.Pos.Line, e.Pos.Col, e.Msg, syntaxHint(e.Msg))
	}
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		text := strings.TrimPrefix(e.Msg, "Starlark computation cancelled: ")
		return errors.New(text + trace(e.CallStack))
	}
	return err
}

func syntaxHint(msg string) string {
	for word, hint := range map[string]string{
		"got '**'":   "use pow(x, y) for powers",
		"got import": "there is no import; math and json are there already",
		"got try":    "there is no try",
		"got class":  "there is no class",
	} {
		if strings.Contains(msg, word) {
			return "; " + hint
		}
	}
	return ""
}

// trace says where an error came from, innermost first; our own guards do not
// count.
func trace(stack starlark.CallStack) string {
	var b strings.Builder
	shown := 0
	for i := range stack {
		f := stack.At(i)
		if strings.HasPrefix(f.Name, "$") || f.Pos.Line == 0 {
			continue
		}
		if shown++; shown > 8 {
			b.WriteString("\n  ...")
			break
		}
		fmt.Fprintf(&b, "\n  at line %d", f.Pos.Line)
		if f.Name != "<toplevel>" {
			fmt.Fprintf(&b, " in %s", f.Name)
		}
	}
	return b.String()
}
