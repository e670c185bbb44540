package runtime

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

// startCompute runs a program on the quest's data.
func (l *live) startCompute(ctx context.Context, seq uint64, actor string, b *event.ComputeCall) {
	l.launch(ctx, seq, func(ctx context.Context) ([]event.Draft, error) {
		begun := l.rt.Clock()
		x := &computation{rt: l.rt, driver: l.driver, spec: l.spec, data: l.state.Data, progress: l.progress,
			place: l.rt.place(l.key, fmt.Sprintf("computation-%d", seq))}
		t := &texts{rt: l.rt}
		body, err := x.result(ctx, t, b)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("compute.call %d: %w", seq, err)
		}
		d := event.Draft{Parent: seq, Time: l.rt.Clock(), Actor: actor, Body: body, Blobs: t.small}
		body.Call, body.Duration = seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	})
}

// A computation is a program that is run on a quest's data, by python3 in a fresh
// computer without network, or by the interpreter.
type computation struct {
	rt       *Runtime
	driver   computer.Driver
	spec     computer.Spec
	data     *event.TreeRef
	place    computer.Place
	progress func(string)
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
func (x *computation) result(ctx context.Context, t *texts, b *event.ComputeCall) (*event.ComputeResult, error) {
	r, err := x.run(ctx, b)
	if err != nil {
		return nil, err
	}
	body := &event.ComputeResult{
		Command: r.command, Engine: r.engine, Exit: r.exit, Fingerprint: r.fingerprint, Error: atMost(x.rt.redact(r.fault), 1000),
	}
	if r.fault != "" {
		return body, nil
	}
	text := clean(x.rt.redact(string(r.output)))
	ref, err := t.put(ctx, []byte(text))
	if err != nil {
		return nil, err
	}
	body.Printed = &ref
	body.Output.Text = event.Cut(text, maxComputedShown)
	return body, nil
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
		return x.interpret(ctx, string(text))
	}
	r, err := x.inComputer(ctx, nil, []string{"python3", "-I", "-"}, []byte(compute.Python(string(text))))
	if err == nil {
		r.command += " (the program is its input)"
	}
	return r, err
}

// interpret runs a program in this process, within limits.
func (x *computation) interpret(ctx context.Context, text string) (*ran, error) {
	r := &ran{engine: compute.Engine, command: "the built-in interpreter"}
	files, fault, err := x.files(ctx)
	if err != nil || fault != "" {
		r.fault, r.exit = fault, 1
		return r, err
	}
	r.output, err = compute.Interpret(ctx, text, files)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.fault, r.exit = err.Error(), 1
		if _, ok := errors.AsType[*compute.Refusal](err); ok {
			r.exit = refusedExit
		}
	}
	return r, nil
}

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
	if x.driver == nil {
		r.fault, r.exit = "this quest has no computers to run it in", 1
		return r, nil
	}
	f := &fresh{driver: x.driver, spec: x.spec, place: x.place, progress: x.progress}
	fault, err := f.use(ctx, func(home *os.Root) error { return x.furnish(ctx, home, own) }, func(c *computer.Computer, started *event.ComputerStarted) error {
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
	if err := x.rt.restored(ctx, x.data)(root); err != nil {
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
	return atMost(clean(strings.TrimSpace(string(res.Stdout.Head))), 100)
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
