package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// Recorded implements audit.Repeater.
func (Lab) Recorded(_ *quest.State, call event.Event) (kind, what string) { return recordedRun(call) }

// Recorded implements audit.Repeater.
func (Stages) Recorded(_ *quest.State, call event.Event) (kind, what string) {
	b, ok := call.Body.(*event.BundleCall)
	if !ok {
		return recordedRun(call)
	}
	var programs []string
	for _, f := range b.Figures {
		programs = append(programs, strings.Join(runner(f.Program), " "))
	}
	if len(programs) == 0 {
		return "", ""
	}
	return "figures", runtime.AtMost(strings.Join(programs, "; "), 400)
}

func recordedRun(call event.Event) (kind, what string) {
	if b, ok := call.Body.(*event.ReproductionCall); ok {
		return "reproduction", strings.Join(runner(b.Entrypoint), " ")
	}
	return "", ""
}

// Again implements audit.Repeater: it runs a paper's entry point as it was run then,
// twice.
func (Lab) Again(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	return runAgain(ctx, x, call, result, out)
}

// Again implements audit.Repeater: it runs a result as a lab does a paper, and makes figures anew.
func (Stages) Again(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	if b, ok := call.Body.(*event.BundleCall); ok {
		return figuresAgain(ctx, x, call.Seq, b, result.Body.(*event.BundleResult), out)
	}
	return runAgain(ctx, x, call, result, out)
}

func runAgain(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	then := result.Body.(*event.ReproductionResult)
	switch {
	case then.Output == nil:
		return out.Not("it printed nothing that was kept: " + then.Reason), nil
	case then.Status == event.Differs:
		return out.Not("two runs printed different bytes then, too"), nil
	case x.NoComputer() != "":
		return out.Not(x.NoComputer()), nil
	}
	now, err := reproduce(ctx, x.Quest, call.Seq, call.Body.(*event.ReproductionCall))
	if err != nil {
		return out, err
	}
	if now.Fingerprint.IsZero() {
		return out.Not(now.Reason), nil
	}
	var differs []string
	if now.Status != then.Status || now.Exit != then.Exit {
		differs = append(differs, fmt.Sprintf("it is %s with exit code %d, not %s with %d", now.Status, now.Exit, then.Status, then.Exit))
	}
	if now.Output == nil || now.Output.Hash != then.Output.Hash {
		differs = append(differs, "its output differs")
	}
	if !slices.Equal(now.Figures, then.Figures) {
		differs = append(differs, "its figures differ")
	}
	return out.Judged(differs, audit.OtherComputer(then.Fingerprint, now.Fingerprint)), nil
}

// Recorded implements audit.Repeater.
func (Contract) Recorded(_ *quest.State, call event.Event) (kind, what string) {
	if b, ok := call.Body.(*event.ComputeCall); ok {
		return "computation", b.Program
	}
	return "", ""
}

// Again implements audit.Repeater: it runs a program of the quest.
func (Contract) Again(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	asked, then := call.Body.(*event.ComputeCall), result.Body.(*event.ComputeResult)
	if asked.Engine != "builtin" && x.NoComputer() != "" { // the interpreter needs no computer
		return out.Not(x.NoComputer()), nil
	}
	now, _, err := newComputation(x.Quest, call.Seq).result(ctx, asked)
	if err != nil {
		return out, err
	}
	if now.Fingerprint.IsZero() && !then.Fingerprint.IsZero() || now.Error == late(maxComputed) && then.Error != now.Error {
		return out.Not(now.Error), nil
	}
	var differs []string
	if now.Exit != then.Exit {
		differs = append(differs, fmt.Sprintf("it ended with exit code %d, not with %d", now.Exit, then.Exit))
	}
	if (now.Printed == nil) != (then.Printed == nil) || now.Printed != nil && now.Printed.Hash != then.Printed.Hash {
		differs = append(differs, "its output differs")
	}
	if !slices.Equal(now.Plots, then.Plots) {
		differs = append(differs, "its plots differ")
	}
	excuses := audit.OtherComputer(then.Fingerprint, now.Fingerprint)
	if now.Engine != then.Engine {
		excuses = append(excuses, fmt.Sprintf("different environment: %s, then %s", now.Engine, then.Engine))
	}
	return out.Judged(differs, excuses), nil
}
