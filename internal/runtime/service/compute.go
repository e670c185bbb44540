package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/compute"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// refusedExit is what a program of ours ends with when it refuses its data.
const refusedExit = 3

// programPin is what the names of pinned programs begin with.
const programPin = "program:"

// maxComputed is how long a program of a quest may run, unless its computers have
// less; maxComputedOutput is how much it may print, maxComputeData how much data the
// interpreter reads.
const (
	maxComputed       = 5 * time.Minute
	maxComputedOutput = 1 << 20
	maxComputeData    = 32 << 20
)

// computations answers compute.call: it runs a program on the quest's data.
type computations struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *computations) Start(e event.Event) (runtime.Work, error) {
	b, x := e.Body.(*event.ComputeCall), newComputation(s.q, e.Seq)
	return func(ctx context.Context) ([]event.Draft, error) {
		begun := s.q.Clock()
		body, blobs, err := x.result(ctx, b)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("compute.call %d: %w", e.Seq, err)
		}
		d := s.q.Result(e.Seq, e.Actor, body)
		d.Blobs = blobs
		body.Call, body.Duration = e.Seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	}, nil
}

// A computation is a program that is run on a quest's data, by python3 in a fresh
// computer without network, or by the interpreter.
type computation struct {
	rt   *runtime.Runtime
	data *event.TreeRef
	// fresh is the computer, nil if there are none.
	fresh *runtime.Fresh
}

func newComputation(q *runtime.Quest, seq uint64) *computation {
	x := &computation{rt: q.Runtime, data: q.State.Data}
	if q.Driver != nil {
		x.fresh = q.Fresh(fmt.Sprintf("computation-%d", seq))
	}
	return x
}

// ran is what a program did. fault says why there is no result.
type ran struct {
	output      []byte
	exit        int64
	fault       string
	engine      string
	command     string
	fingerprint event.Hash
}

// result runs what a call asks for.
func (x *computation) result(ctx context.Context, b *event.ComputeCall) (*event.ComputeResult, [][]byte, error) {
	r, err := x.run(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	body := &event.ComputeResult{
		Command: r.command, Engine: r.engine, Exit: r.exit, Fingerprint: r.fingerprint, Error: runtime.AtMost(x.rt.Redact(r.fault), 1000),
	}
	if r.fault != "" {
		return body, nil, nil
	}
	text, plots := output(x.rt, b, r.output)
	ref, blobs, err := x.rt.Keep(ctx, []byte(text))
	if err != nil {
		return nil, nil, err
	}
	body.Printed = &ref
	for _, svg := range plots {
		plot, more, err := x.rt.Keep(ctx, []byte(svg))
		if err != nil {
			return nil, nil, err
		}
		body.Plots, blobs = append(body.Plots, plot), append(blobs, more...)
	}
	body.Output.Text = event.Cut(text, maxComputedShown)
	return body, blobs, nil
}

// output is what a program printed, made safe, and the pictures it drew. Those of a program
// that an agent wrote are text: who opens an SVG in a browser runs what is in it.
func output(rt *runtime.Runtime, b *event.ComputeCall, printed []byte) (text string, plots []string) {
	text = runtime.Clean(rt.Redact(string(printed)))
	if b.Code == nil {
		return text, nil
	}
	return compute.Split(text)
}

// maxComputedShown is how much of what a program printed the rules see: what claims can
// rest on.
const maxComputedShown = 8 << 10

func (x *computation) run(ctx context.Context, b *event.ComputeCall) (*ran, error) {
	if b.Tree != nil {
		return x.inComputer(ctx, b.Tree, runner(b.Entrypoint), nil)
	}
	text, err := x.rt.Blob(ctx, *b.Code)
	if err != nil {
		return nil, err
	}
	if b.Engine == "builtin" {
		return x.interpret(ctx, string(text), maxComputed)
	}
	r, err := x.inComputer(ctx, nil, []string{"python3", "-I", "-"}, []byte(compute.Python(string(text))))
	if err == nil {
		r.command += " (the program is its input)"
	}
	return r, err
}

// interpret runs a program in this process, within limits, and for so long at most. Its steps
// end nearly all long before; but a step is no measure of time to the letter, and a stranger's
// quest brings its own program.
func (x *computation) interpret(ctx context.Context, text string, most time.Duration) (*ran, error) {
	r := &ran{engine: compute.Engine, command: "the built-in interpreter"}
	files, fault, err := x.files(ctx)
	if err != nil || fault != "" {
		r.fault, r.exit = fault, 1
		return r, err
	}
	inTime, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	r.output, err = compute.Interpret(inTime, text, files)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && inTime.Err() != nil {
		r.fault, r.exit = late(most), 1
		return r, nil
	}
	if err != nil {
		r.fault, r.exit = err.Error(), 1
		if _, ok := errors.AsType[*compute.Refusal](err); ok {
			r.exit = refusedExit
		}
	}
	return r, nil
}

// late says that the interpreter had no time left, which is about this machine and not about
// the program.
func late(most time.Duration) string { return fmt.Sprintf("it took more than %s", most) }

// files reads the quest's data.
func (x *computation) files(ctx context.Context) (map[string][]byte, string, error) {
	out := map[string][]byte{}
	if x.data == nil {
		return out, "", nil
	}
	var total int64
	err := blob.Files(ctx, x.rt.Blobs, *x.data, func(path string, ref event.Ref) error {
		if total += ref.Size; total > maxComputeData {
			return errTooMuch
		}
		data, err := x.rt.Blobs.Get(ctx, ref.Hash)
		out[path] = data
		return err
	})
	if errors.Is(err, errTooMuch) {
		return nil, fmt.Sprintf("the data has more than %d MiB, which is all that the built-in interpreter reads", maxComputeData>>20), nil
	}
	return out, "", err
}

var errTooMuch = errors.New("too much data")

// inComputer runs a command in a fresh computer whose home has the quest's data, and
// an agent's files beside it if there are some.
func (x *computation) inComputer(ctx context.Context, own *event.TreeRef, args []string, stdin []byte) (*ran, error) {
	r := &ran{command: strings.Join(args, " ")}
	if x.fresh == nil {
		r.fault, r.exit = "this quest has no computers to run it in", 1
		return r, nil
	}
	fault, err := x.fresh.Use(ctx, func(home *os.Root) error { return x.furnish(ctx, home, own) }, func(c *computer.Computer, started *event.ComputerStarted) error {
		r.fingerprint = started.Fingerprint
		r.engine = x.version(ctx, c, args[0])
		res, err := c.Run(ctx, computer.Command{ID: "program", Args: args, Stdin: stdin, Timeout: maxComputed})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.fault, r.exit = "it could not be run: "+err.Error(), 127
			return nil
		}
		return x.judge(r, res)
	})
	if fault != "" {
		r.fault, r.exit = fault, 1
	}
	return r, err
}

// furnish makes the home of the computer.
func (x *computation) furnish(ctx context.Context, root *os.Root, own *event.TreeRef) error {
	if err := x.rt.Restored(ctx, x.data)(root); err != nil {
		return err
	}
	if own == nil {
		return nil
	}
	return blob.Files(ctx, x.rt.Blobs, *own, func(path string, ref event.Ref) error {
		data, err := x.rt.Blobs.Get(ctx, ref.Hash)
		if err != nil {
			return err
		}
		// Whatever the data has there, a link out of the home included, makes room.
		if err := root.RemoveAll(path); err != nil {
			return err
		}
		return root.WriteFile(path, data, 0o700)
	})
}

// version is what a program is run by, as it says itself.
func (x *computation) version(ctx context.Context, c *computer.Computer, program string) string {
	res, err := c.Run(ctx, computer.Command{ID: "version", Args: []string{program, "--version"}, Timeout: 30 * time.Second})
	if err != nil || res.Exit != 0 {
		return program
	}
	return runtime.AtMost(runtime.Clean(strings.TrimSpace(string(res.Stdout.Head))), 100)
}

// judge takes what a command did apart.
func (x *computation) judge(r *ran, res *computer.Result) error {
	r.exit = int64(res.Exit)
	switch {
	case res.Stdout.Size > maxComputedOutput:
		r.fault = fmt.Sprintf("it printed %d bytes, more than %d", res.Stdout.Size, maxComputedOutput)
	case res.End != "":
		r.fault = "it was ended: the limit on " + res.End
	case res.Exit != 0:
		r.fault = strings.TrimSpace(lastLines(res.Stderr))
		if r.fault == "" {
			r.fault = fmt.Sprintf("it ended with exit code %d", res.Exit)
		}
	}
	if r.fault != "" {
		if r.exit == 0 {
			r.exit = 1
		}
		return nil
	}
	in, err := res.Stdout.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	r.output, err = io.ReadAll(io.LimitReader(in, maxComputedOutput))
	if err == nil && strings.TrimSpace(string(r.output)) == "" {
		r.fault, r.exit = "it printed nothing", 1
	}
	return err
}
