package service

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// maxTrial is how long an entry point may run, unless the quest's computers
// have less; maxTrialOutput is how much it may print, maxTrials how many run at once.
const (
	maxTrial       = 10 * time.Minute
	maxTrialOutput = 16 << 20
	maxTrials      = 2
)

// trials are the places for papers' entry points that run. Papers that take long would
// keep everybody from working if they took the places of tools; and an author who hands
// in many would keep the others' papers from being run, so each has one place.
//
// The owner of the quest alone gives them out; the zero value has all of them free.
type trials struct {
	all chan struct{}
	of  map[string]chan struct{}
}

// places are what a run of an author's paper needs, in this order: its author's own, and
// one of those for all. Whoever waits for the second keeps nobody but its author waiting.
func (t *trials) places(author string) [2]chan struct{} {
	if t.all == nil {
		t.all, t.of = make(chan struct{}, maxTrials), map[string]chan struct{}{}
	}
	if t.of[author] == nil {
		t.of[author] = make(chan struct{}, 1)
	}
	return [2]chan struct{}{t.of[author], t.all}
}

// reproductions answers reproduction.call: it runs the entry point of a paper, or of a study's
// result, twice, each time in a computer and a home of its own, without network.
type reproductions struct {
	q *runtime.Quest
	// author is who handed in what a call runs.
	author func(*event.ReproductionCall) string
	trials trials
}

// newReproductions are those of a lab.
func newReproductions(q *runtime.Quest) *reproductions {
	return &reproductions{q: q, author: func(b *event.ReproductionCall) string { return lab.Library(q.State).Paper(b.Ref).Author }}
}

// Start implements runtime.Service.
func (s *reproductions) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.ReproductionCall)
	places := s.trials.places(s.author(b))
	return func(ctx context.Context) ([]event.Draft, error) {
		for _, place := range places {
			select {
			case place <- struct{}{}:
				defer func() { <-place }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		begun := s.q.Clock()
		body, err := reproduce(ctx, s.q, e.Seq, b)
		if err != nil {
			return nil, fmt.Errorf("reproduction.call %d: %w", e.Seq, err)
		}
		d := s.q.Result(e.Seq, "core", body)
		body.Call, body.Duration = e.Seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	}, nil
}

// reproduce is what comes of running an entry point.
func reproduce(ctx context.Context, q *runtime.Quest, seq uint64, b *event.ReproductionCall) (*event.ReproductionResult, error) {
	if q.Driver == nil {
		return &event.ReproductionResult{Status: event.NotRun, Missing: b.Claims, Reason: "this quest has no computers to run it in"}, nil
	}
	out := &event.ReproductionResult{Status: event.SameOutput}
	for run := range 2 {
		ref, fault, err := enter(ctx, q, seq, run, b, out)
		if err != nil {
			return nil, err
		}
		switch {
		case fault != "":
			out.Status, out.Reason = event.NotRun, runtime.AtMost(q.Redact(fault), 1000)
			if run == 0 {
				out.Output = ref
			}
			return out, readPrinted(ctx, q, b, out)
		case run == 0:
			out.Output = ref
		case ref.Hash != out.Output.Hash:
			out.Status, out.Second, out.Reason = event.Differs, ref, "two runs printed different bytes"
		}
	}
	return out, readPrinted(ctx, q, b, out)
}

// What is looked through for claims of a long output: its beginning and its end. The
// result holds the first maxExcerpt bytes.
const (
	maxSearched = 1 << 20
	maxExcerpt  = 1000
)

// readPrinted looks for what a paper claims in what its program printed, and for the figures of a
// result.
func readPrinted(ctx context.Context, q *runtime.Quest, b *event.ReproductionCall, out *event.ReproductionResult) error {
	var printed string
	if out.Output != nil {
		data, err := q.Blob(ctx, *out.Output)
		if err != nil {
			return fmt.Errorf("read what it printed: %w", err)
		}
		if out.Figures, err = readFigures(ctx, q.Runtime, b, out); err != nil {
			return err
		}
		if len(data) > maxSearched {
			data = slices.Concat(data[:maxSearched/2], []byte("\n"), data[len(data)-maxSearched/2:])
		}
		printed = runtime.Clean(string(data))
	}
	out.Missing = paper.Unshown(b.Claims, printed)
	out.Printed = event.Shorten(strings.TrimSpace(printed), maxExcerpt)
	return nil
}

// enter runs the entry point once. fault says why it did not go well, in words for
// agents.
func enter(ctx context.Context, q *runtime.Quest, seq uint64, run int, b *event.ReproductionCall, result *event.ReproductionResult) (ref *event.Ref, fault string, err error) {
	// Beside the computers of the agents, so that whoever removes theirs finds it too.
	f := q.Fresh(fmt.Sprintf("reproduction-%d-%d", seq, run))
	failed, err := f.Use(ctx, q.Restored(ctx, &b.Tree), func(c *computer.Computer, started *event.ComputerStarted) error {
		result.Fingerprint = started.Fingerprint
		res, err := c.Run(ctx, computer.Command{ID: "entrypoint", Args: runner(b.Entrypoint), Timeout: maxTrial})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			fault = "it could not be run: " + err.Error()
			return nil
		case res.Stdout.Size > maxTrialOutput:
			fault = fmt.Sprintf("it printed %d bytes, more than %d: print what shows the claim, and write the rest into files", res.Stdout.Size, maxTrialOutput)
			return nil
		}
		result.Exit, fault = int64(res.Exit), trialFault(res)
		in, err := res.Stdout.Open()
		if err != nil {
			return err
		}
		defer in.Close()
		printed, err := q.Blobs.Create(ctx, q.Redacting(in))
		ref = &printed
		if err != nil || len(b.Metrics) > 0 {
			return err
		}
		// The press puts it beside the paper, and into the folder's history.
		return blob.Charge(ctx, 2*blob.Blocks(min(printed.Size, maxPrinted)))
	})
	return ref, cmp.Or(fault, failed), err
}

// trialFault says why an entry point did not end well.
func trialFault(res *computer.Result) string {
	switch res.End {
	case "":
	case computer.EndTimeout, computer.EndMemory, computer.EndProcesses, computer.EndDisk:
		return fmt.Sprintf("it met the limit on %s", res.End)
	default:
		return "it was ended from outside: " + res.End
	}
	if res.Exit != 0 {
		return fmt.Sprintf("it ended with exit code %d: %s", res.Exit, lastLines(res.Stderr))
	}
	return ""
}

// runner is how a file is run: by what its name says, or by itself. Its name may begin
// like an option.
func runner(name string) []string {
	file := "./" + name
	switch path.Ext(name) {
	case ".py":
		return []string{"python3", file}
	case ".sh":
		return []string{"sh", file}
	case ".js", ".mjs":
		return []string{"node", file}
	}
	return []string{file}
}

func lastLines(o computer.Output) string {
	text := o.Head
	if len(o.Tail) > 0 {
		text = o.Tail
	}
	return runtime.Clean(string(text[max(0, len(text)-500):]))
}
