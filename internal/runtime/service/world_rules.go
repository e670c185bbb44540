package service

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/analysis"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
	"lyceum/internal/society/world"
)

const (
	// maxRuled is how many findings of the rules stand in an event at most.
	maxRuled = 40
	// checked is what the name of a command's finding begins with.
	checked = "check "
	// maxCheck is how long one of the author's commands may take, in seconds.
	maxCheck = 120
	// notRun and notFound are the exit codes of a shell whose command cannot be run, or is not
	// there.
	notRun, notFound = 126, 127
)

// rules is tier 1: the built-in looks, and the author's commands in a fresh computer.
func (w *worldBench) rules(ctx context.Context, seq uint64, b *event.AnalysisCall) (*event.AnalysisResult, error) {
	files, err := treeFiles(ctx, w.q.Blobs, b.Tree)
	if err != nil {
		return nil, err
	}
	commands, in, err := w.commands(ctx, seq, b)
	if err != nil {
		return nil, err
	}
	text := w.q.Redact(analysis.Text(files, w.set.Kind))
	ref, err := w.q.Blobs.Put(ctx, []byte(text))
	if err != nil {
		return nil, err
	}
	out, err := ruled(files, b.Structure, w.set.Kind, commands, ref)
	if out != nil {
		out.Fingerprint = in
	}
	return out, err
}

// ruled is what tier 1 says: of the same files, the same, whoever looks. Findings of commands
// come first, and all of them.
func ruled(files []analysis.File, s *event.WorldStructure, kind string, commands []event.WorldFinding, text event.Ref) (*event.AnalysisResult, error) {
	report := analysis.Look(files, s, kind)
	out := &event.AnalysisResult{Analyser: analysis.Version, Verdict: "passed", Text: &text}
	switch {
	case report.Failed || has(commands, analysis.Failed):
		out.Verdict = analysis.Failed
	case has(commands, analysis.Unavailable):
		out.Verdict = analysis.Unavailable
	}
	own := report.Findings
	out.More = report.More
	join := func(n int) {
		out.More += int64(len(own) - n)
		own = own[:n]
		out.Findings = append(commands[:len(commands):len(commands)], own...)
	}
	join(min(len(own), maxRuled))
	return out, fit(out, func() bool {
		if len(own) == 0 {
			return false
		}
		join(len(own) / 2)
		return true
	})
}

// has reports whether a finding that blocks is of a kind.
func has(list []event.WorldFinding, kind string) bool {
	for _, f := range list {
		if f.Required && f.Kind == kind {
			return true
		}
	}
	return false
}

// commands runs the author's checks, one after the other, in a fresh computer without network.
func (w *worldBench) commands(ctx context.Context, seq uint64, b *event.AnalysisCall) (out []event.WorldFinding, in event.Hash, err error) {
	if len(w.set.Checks) == 0 {
		return nil, in, nil
	}
	all := func(why string) (out []event.WorldFinding) {
		for _, c := range w.set.Checks {
			out = append(out, w.finding(c, analysis.Unavailable, why))
		}
		return out
	}
	if w.q.Driver == nil {
		return all("this quest has no computers to run it in"), in, nil
	}
	f := w.q.Fresh(fmt.Sprintf("checks-%d", seq))
	fault, err := f.Use(ctx, w.q.Restored(ctx, &b.Tree), func(c *computer.Computer, started *event.ComputerStarted) error {
		in = started.Fingerprint
		for i, check := range w.set.Checks {
			run, err := acceptOne(ctx, w.q, c, i, check.Run, &event.AcceptanceCall{Seconds: maxCheck, Commands: []string{check.Run}})
			if err != nil {
				return err
			}
			switch {
			case run.Good():
			case run.Exit == notRun || run.Exit == notFound:
				out = append(out, w.finding(check, analysis.Unavailable, "its program is not in the computer: "+lastLine(run.Tail)))
			case run.End != "":
				out = append(out, w.finding(check, analysis.Failed, "it met the limit on "+run.End))
			default:
				out = append(out, w.finding(check, analysis.Failed, fmt.Sprintf("exit code %d: %s", run.Exit, run.Tail)))
			}
		}
		return nil
	})
	if fault != "" {
		return all(fault), in, nil
	}
	return out, in, err
}

// finding is what a command of the author has to say.
func (w *worldBench) finding(c world.Check, kind, why string) event.WorldFinding {
	return event.WorldFinding{
		Check: checked + runtime.AtMost(c.Name, 60), Kind: kind, Required: c.Required,
		Expected: runtime.AtMost("exit code 0 of "+plain.Brief(c.Run, 100), 200), Observed: runtime.AtMost(w.q.Redact(plain.Line(why)), 400),
	}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
