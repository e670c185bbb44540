package service

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"lyceum/internal/analysis"
	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
	"lyceum/internal/society/world/trial"
)

// Bounds of what a program leaves.
const (
	maxLeftFile = 64 << 10
	maxWalked   = 5000
)

// programs runs stories of a program: each run has a computer and a home of its own.
func (t *telling) programs(ctx context.Context, list []event.WorldStory) (why string, err error) {
	t.analyser = "commands"
	for i, s := range list {
		runs := storyRuns{Name: s.Name}
		for n := range 2 {
			run, err := t.w.command(ctx, fmt.Sprintf("stories-%d-%d-%d", t.seq, i, n), t.tree, s.Steps)
			if err != nil {
				return "", err
			}
			t.computer, runs.Runs = run.in, append(runs.Runs, run)
			if run.End == trial.Unavailable {
				why = run.Why
			}
		}
		t.runs = append(t.runs, runs)
	}
	return why, nil
}

// command runs a program in a fresh computer, once for each step, and tells of the last.
func (w *worldBench) command(ctx context.Context, purpose string, tree event.TreeRef, steps []event.WorldStep) (storyRun, error) {
	run := storyRun{End: trial.Done}
	fsys := blob.Folder(ctx, w.q.Blobs, tree)
	program := analysis.Start(func(p string) bool {
		info, err := fs.Stat(fsys, p)
		return err == nil && info.Mode().IsRegular()
	})
	if program == "" {
		run.End, run.Why = trial.Error, "there is no program to run"
		return run, nil
	}
	f := w.q.Fresh(purpose)
	fault, err := f.Use(ctx, w.q.Restored(ctx, &tree), func(c *computer.Computer, started *event.ComputerStarted) error {
		run.in = started.Fingerprint
		left := maxStory
		for i, s := range steps {
			run.Step = i
			res, err := c.Run(ctx, computer.Command{ID: fmt.Sprintf("step-%d", i), Args: append(runner(program), s.Args...), Stdin: []byte(s.Input), Timeout: max(left, 1)})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				run.End, run.Why = ended(program, err)
				return nil
			}
			left -= res.Duration
			if run.End, run.Why = endOf(res); run.End != trial.Done {
				return nil
			}
			run.Sight.Exit, run.Sight.Output, run.Sight.Errors = int64(res.Exit), w.printed(res.Stdout), w.printed(res.Stderr)
		}
		run.Step = len(steps)
		files, err := w.left(f.Place.Home, fsys)
		run.Sight.Files = files
		return err
	})
	if fault != "" {
		run.End, run.Why = trial.Unavailable, fault
	}
	run.Why = w.told(run.Why).Text
	return run, err
}

// ended is how a program ended that could not be started: without its interpreter nobody can
// tell what it does.
func ended(program string, err error) (end, why string) {
	if by := runner(program)[0]; !strings.HasPrefix(by, "./") {
		return trial.Unavailable, fmt.Sprintf("%s, which runs %s, could not be started in the computer (%v): give the quest a computer that has it", by, program, err)
	}
	return trial.Error, err.Error()
}

// endOf is how a command ended, in the words of stories.
func endOf(res *computer.Result) (end, why string) {
	switch {
	case res.End == computer.EndTimeout:
		return trial.Timeout, fmt.Sprintf("it took longer than %s", maxStory)
	case res.End != "":
		return trial.Crash, "it met the limit on " + res.End
	case res.Signal != "":
		return trial.Crash, "it was ended by " + res.Signal
	}
	return trial.Done, ""
}

// printed is what a program wrote, without secrets and within bounds.
func (w *worldBench) printed(o computer.Output) string {
	text := runtime.Clean(w.q.Redact(string(o.Head)))
	if int64(len(o.Head)) < o.Size || len(text) > maxSeenText {
		text = plain.Cut(text, maxSeenText-100) + fmt.Sprintf("\n[… %d bytes in all …]\n", o.Size)
	}
	return text
}

// left are the files that a program made or changed: the first by name, each if it is not long.
// What it left is a stranger's, so nothing is followed, and only so much is gone through.
func (w *worldBench) left(home string, before fs.FS) (out []trial.File, err error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	walked := 0
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if walked++; err != nil || walked > maxWalked || len(out) == maxSightFiles {
			return fs.SkipAll
		}
		if !d.Type().IsRegular() || len(p) > 200 || !plain.Printable(p) {
			return nil
		}
		data, err := readPlain(root, p, maxLeftFile)
		if err != nil {
			return nil // what cannot be read is not shown
		}
		if old, err := fs.ReadFile(before, p); err == nil && string(old) == string(data) {
			return nil
		}
		out = append(out, trial.File{Path: p, Content: runtime.Clean(w.q.Redact(string(data)))})
		return nil
	})
	return out, err
}
