package service

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
	"lyceum/internal/society/architect/task"
)

// Bounds of acceptance commands.
const (
	maxAcceptance = 15 * time.Minute
	// maxAccepted is how much is kept of what a command wrote, in front; the end comes beside.
	maxAccepted = 4 << 20
	// maxTails is how much of all outputs stands in the event.
	maxTails = 8 << 10
	maxTail  = 2 << 10
)

// acceptances answers acceptance.call.
type acceptances struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *acceptances) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.AcceptanceCall)
	state := s.q.State
	return func(ctx context.Context) ([]event.Draft, error) {
		begun, tab := s.q.Clock(), s.q.Tab()
		on := tab.On(ctx)
		body, err := accept(on, s.q, e.Seq, b, s.q.Furnished(on, state, &b.Tree))
		if why, full := runtime.NoRoom(err); full {
			body, err = &event.TestReport{Error: event.Text{Text: "there is no room to keep what the commands said: " + why}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("acceptance.call %d: %w", e.Seq, err)
		}
		d := s.q.Result(e.Seq, "core", body)
		body.Call, body.Stored, body.Duration = e.Seq, tab.Taken(), int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	}, nil
}

// accept runs commands on a tree, one after the other, in a fresh computer without network.
func accept(ctx context.Context, q *runtime.Quest, seq uint64, b *event.AcceptanceCall, fill func(*os.Root) error) (*event.TestReport, error) {
	out := &event.TestReport{Commands: []event.TestRun{}}
	if q.Driver == nil {
		out.Error.Text = "this quest has no computers to run the commands in"
		return out, nil
	}
	f := q.Fresh(fmt.Sprintf("acceptance-%d", seq))
	failed, err := f.Use(ctx, fill, func(c *computer.Computer, started *event.ComputerStarted) error {
		out.Fingerprint = started.Fingerprint
		for i, command := range b.Commands {
			run, err := acceptOne(ctx, q, c, i, command, b)
			if err != nil {
				return err
			}
			out.Commands = append(out.Commands, *run)
		}
		return nil
	})
	if failed != "" {
		out.Error.Text = runtime.AtMost(q.Redact(failed), 1000)
	}
	if err != nil {
		return nil, err
	}
	shorter := func() bool {
		dropped := false
		for i := range out.Commands {
			if t := &out.Commands[i].Tail; len(*t) > 100 {
				*t, dropped = plain.CutFront(*t, len(*t)/2), true
			}
		}
		return dropped
	}
	return out, fit(out, shorter, func() bool {
		dropped := false
		for i := range out.Commands {
			if t := &out.Commands[i].Command; len(*t) > 100 {
				*t, dropped = event.Cut(*t, len(*t)/2), true
			}
		}
		return dropped
	})
}

// acceptOne runs one command. Both streams are one, as a person would see them.
func acceptOne(ctx context.Context, q *runtime.Quest, c *computer.Computer, i int, command string, b *event.AcceptanceCall) (*event.TestRun, error) {
	limit := maxAcceptance
	if s := time.Duration(b.Seconds) * time.Second; s > 0 && s < limit {
		limit = s
	}
	run := &event.TestRun{Command: runtime.AtMost(command, task.MaxCommand)}
	res, err := c.Run(ctx, computer.Command{ID: fmt.Sprintf("acceptance-%d", i), Args: []string{"sh", "-c", `exec sh -c "$0" 2>&1`, command}, Timeout: limit})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		run.Exit, run.Tail = 126, runtime.AtMost(q.Redact("it could not be run: "+err.Error()), maxTail)
		run.Output, err = q.Blobs.Put(ctx, []byte(run.Tail))
		return run, err
	}
	run.Exit, run.End = int64(res.Exit), res.End
	text, err := spoken(q, res.Stdout)
	if err != nil {
		return nil, err
	}
	if run.Output, err = q.Blobs.Put(ctx, text); err != nil {
		return nil, err
	}
	if n, ok := task.Count(text); ok {
		run.Passed, run.Failed, run.Skipped = n.Passed, n.Failed, n.Skipped
	}
	run.Tail = tail(text, run.Good(), min(maxTail, maxTails/max(len(b.Commands), 1)))
	return run, nil
}

// tail is the end of an output; of a command that failed it begins with the line that says so,
// if that stands further up.
func tail(text []byte, good bool, most int) string {
	end := plain.CutFront(runtime.Clean(strings.TrimRight(string(text[max(0, len(text)-maxTail):]), "\n")), most)
	if good {
		return end
	}
	line := task.FirstFailing(text)
	if line == "" || strings.Contains(end, line) || len(line) > most/2 {
		return end
	}
	return line + "\n[…]\n" + plain.CutFront(end, most-len(line)-8)
}

// spoken is what a command wrote, without secrets: whole, or its beginning and its end.
func spoken(q *runtime.Quest, o computer.Output) ([]byte, error) {
	in, err := o.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(q.Redacting(in), maxAccepted))
	if err != nil || o.Size <= maxAccepted {
		return text, err
	}
	text = fmt.Appendf(text, "\n[… %d bytes in all, this is the end of them …]\n", o.Size)
	return append(text, q.Redact(string(o.Tail))...), nil
}
