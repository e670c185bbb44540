package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// maxTrial is how long a paper's entry point may run.
const maxTrial = 10 * time.Minute

// startReproduction runs a paper's entry point twice, each time in a computer and a
// home of its own, without network.
func (l *live) startReproduction(ctx context.Context, seq uint64, b *event.ReproductionCall) {
	l.launch(ctx, seq, func(ctx context.Context) ([]event.Draft, error) {
		select {
		case l.tools <- struct{}{}:
			defer func() { <-l.tools }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		begun := l.rt.Clock()
		body, err := l.reproduce(ctx, seq, b)
		if err != nil {
			return nil, fmt.Errorf("reproduction.call %d: %w", seq, err)
		}
		d := l.input("core", body)
		d.Parent = seq
		body.Call, body.Duration = seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	})
}

func (l *live) reproduce(ctx context.Context, seq uint64, b *event.ReproductionCall) (*event.ReproductionResult, error) {
	if l.driver == nil {
		return &event.ReproductionResult{Status: event.NotRun, Reason: "this quest has no computers to run it in"}, nil
	}
	out := &event.ReproductionResult{Status: event.Reproduced}
	for run := range 2 {
		ref, fault, err := l.trial(ctx, seq, run, b, out)
		if err != nil {
			return nil, err
		}
		switch {
		case fault != "":
			out.Status, out.Reason = event.NotRun, atMost(l.rt.redact(fault), 1000)
			if run == 0 {
				out.Output = ref
			}
			return out, nil
		case run == 0:
			out.Output = ref
		case ref.Hash != out.Output.Hash:
			out.Status, out.Second, out.Reason = event.Differs, ref, "two runs printed different bytes"
		}
	}
	return out, nil
}

// trial runs the entry point once. fault says why it did not go well, in words for
// agents.
func (l *live) trial(ctx context.Context, seq uint64, run int, b *event.ReproductionCall, result *event.ReproductionResult) (_ *event.Ref, fault string, err error) {
	dir := filepath.Join(l.rt.QuestDir(l.key), "computers", fmt.Sprintf("reproduction-%d-%d", seq, run))
	home := filepath.Join(dir, "home")
	// What a killed process left there may still be running.
	place := computer.Place{Home: home, Dir: filepath.Join(dir, "computer")}
	if err := computer.StopAt(ctx, place, l.driver); err != nil {
		return nil, "", err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(home, 0o700)); err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	if err := blob.Restore(ctx, l.rt.Blobs, b.Tree, root); err != nil {
		return nil, "", err
	}
	spec := l.spec
	spec.Network = computer.Network{}
	c, err := computer.Open(ctx, l.driver, place, spec, computer.Options{Progress: l.progress})
	if err != nil {
		return nil, "", err
	}
	defer c.Stop(context.WithoutCancel(ctx))
	started, err := describe(c)
	if err != nil {
		return nil, "", err
	}
	result.Fingerprint = started.Fingerprint
	res, err := c.Run(ctx, computer.Command{ID: "entrypoint", Args: runner(b.Entrypoint), Timeout: maxTrial})
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		return nil, "it could not be run: " + err.Error(), nil
	}
	in, err := res.Stdout.Open()
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	ref, err := l.rt.Blobs.Create(ctx, l.rt.redacting(in))
	if err != nil {
		return nil, "", err
	}
	result.Exit = int64(res.Exit)
	switch {
	case res.End != "":
		return &ref, fmt.Sprintf("it met the limit on %s", res.End), nil
	case res.Exit != 0:
		return &ref, fmt.Sprintf("it ended with exit code %d: %s", res.Exit, lastLines(res.Stderr)), nil
	}
	return &ref, "", nil
}

// runner is how a file is run: by what its name says, or by itself.
func runner(name string) []string {
	switch path.Ext(name) {
	case ".py":
		return []string{"python3", name}
	case ".sh":
		return []string{"sh", name}
	case ".js", ".mjs":
		return []string{"node", name}
	}
	return []string{"./" + name}
}

func lastLines(o computer.Output) string {
	text := o.Head
	if len(o.Tail) > 0 {
		text = o.Tail
	}
	return clean(string(text[max(0, len(text)-500):]))
}
