package tool

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/starlark"

	"github.com/go-json-experiment/json"
)

// The limits of a calculation. A step is one instruction, or 16 bytes of a value
// that an instruction makes, and what takes longer costs more of them; so the limit bounds time
// and memory alike, and the same code meets it at the same place on every machine.
const (
	maxSteps   = 10_000_000
	maxPrinted = 64 << 10
	maxCode    = 64 << 10
)

const calculateText = `Runs a calculation in Starlark, a small Python dialect, and returns what it prints; if the last statement is an expression, its value too. ` +
	`Integers are exact and of any size. There are for, while, def, lambda, comprehensions, list, dict, set, tuple, sorted, zip, enumerate, min, max, abs, sum, round, pow (exact; use it instead of **), ` +
	`the modules math (sqrt, log, exp, sin, pi, ...) and json (encode, decode). ` +
	`There is no import, try, class, f-string, file or network. Every call starts afresh. A call ends after 10 million steps or 64 KiB of output.`

// maxTime is how long a calculation may take. The steps end nearly all long before; but a step is
// no measure of time to the letter, and on a busy machine none at all. What the agent is then told
// is a result like any other, which the ledger has and replay takes from there.
const maxTime = 30 * time.Second

// lastStep is how long a calculation that is out of time may still take to say so. One that is in
// the middle of a single long step, such as that of a dict whose keys all have the same hash, is
// not waited for; it ends with the step.
const lastStep = time.Second

// Calculator returns the tool calculate. It needs nothing of the host, and the
// same code gives the same output.
func Calculator() Tool { return calculator(maxTime) }

func calculator(most time.Duration) Tool {
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
		Same:       true,
		Brief:      true,
		Reads:      true,
		Run: func(ctx context.Context, c Call) (string, error) {
			var args struct {
				Code string `json:"code"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			if brief(ctx) {
				return calculateBriefly(ctx, args.Code)
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			return within(ctx, most, func(ctx context.Context) (string, error) {
				defer func() { <-slots }()
				return calculate(ctx, args.Code, maxSteps)
			})
		},
	}
}

// What a calculation has that is made briefly: some tens of microseconds, and at most a few hundred.
const (
	briefCode    = 1 << 10
	briefSteps   = 2000
	briefPrinted = 1 << 10
)

// calculateBriefly makes a calculation that needs few steps. One that fails is made again with all
// steps that there are: what it says of its failure must not depend on how it was made.
func calculateBriefly(ctx context.Context, code string) (string, error) {
	if len(code) > briefCode {
		return "", ErrLonger
	}
	out, err := calculate(ctx, code, briefSteps)
	if err != nil || len(out) > briefPrinted {
		return "", ErrLonger
	}
	return out, nil
}

// within runs a calculation for so long at most.
func within(ctx context.Context, most time.Duration, run func(context.Context) (string, error)) (string, error) {
	type outcome struct {
		text string
		err  error
	}
	inTime, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		text, err := run(inTime)
		done <- outcome{text, err}
	}()
	var out outcome
	select {
	case out = <-done:
	case <-inTime.Done():
		late := time.NewTimer(lastStep)
		defer late.Stop()
		select {
		case out = <-done:
		case <-late.C:
			out.err = inTime.Err()
		}
	}
	if out.err != nil && inTime.Err() != nil && ctx.Err() == nil {
		return out.text, fmt.Errorf("it took more than %s; use a smaller problem or a better algorithm", most)
	}
	return out.text, out.err
}

// calculate runs code for that many steps at most and returns what it printed,
// in part if it fails.
func calculate(ctx context.Context, code string, steps uint64) (string, error) {
	out, err := starlark.Dialect{
		Text: maxCode, Output: maxPrinted, Steps: steps,
		TooLong:        "the code has %d bytes, more than the %d that are allowed",
		TooManySteps:   "it took more than %d steps (one for each instruction and for each 16 bytes of large values); use a smaller problem or a better algorithm",
		TooMuchPrinted: "printed more than %d KiB; print less, such as a summary",
	}.Run(ctx, code)
	return string(out), err
}
