package service

import (
	"context"
	"fmt"
	"os"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/architect/task"
)

// planWitness looks at what is recorded of executors' work: that a tree which was taken over
// lies within its scope, that the patch is the one that makes it of what was before, and
// that a merge is what its parts give.
type planWitness struct {
	rt   *runtime.Runtime
	repo *event.RepoSpec
	note audit.Note
}

// Close implements audit.Witness.
func (w *planWitness) Close() {}

// accepted only notes where more is known.
func (w *planWitness) accepted(_ context.Context, _, result event.Event) (*audit.Difference, error) {
	w.note(result, "the commands are not run again: verify --execute runs them")
	return nil, nil
}

func (w *planWitness) inspected(ctx context.Context, asked, e event.Event) (*audit.Difference, error) {
	call, b := asked.Body.(*event.InspectionCall), e.Body.(*event.InspectionResult)
	differs := func(format string, args ...any) (*audit.Difference, error) {
		return &audit.Difference{Seq: e.Seq, What: fmt.Sprintf(format, args...)}, nil
	}
	if b.Manifest != nil && len(b.Findings) == 0 {
		for _, i := range b.Manifest.Items {
			sum, _ := task.Item{Checksum: i.Checksum}.Sum()
			if i.File != nil && i.File.Hash.String() != sum || i.File == nil && i.Ref != task.Whole {
				return differs("nothing is said against the artifact %q, and its file is not the one that was named", runtime.AtMost(i.Ref, 200))
			}
		}
	}
	if b.Tree == nil {
		if b.Patch != nil {
			return differs("there is a patch, and no tree that it makes")
		}
		return nil, nil
	}
	if len(b.Outside) > 0 || b.More > 0 || b.Patch == nil {
		return differs("a tree was taken over with changes outside the scope, or without a patch")
	}
	x := &inspection{rt: w.rt, call: call, repo: w.repo, home: b.Tree}
	d, outside, err := x.changes(ctx)
	if err != nil {
		return nil, err
	}
	if len(outside) > 0 {
		return differs("the tree that was taken over has a change at %q, which the scope does not allow: %s", outside[0].Path, outside[0].Reason)
	}
	if int64(len(d.Changes)) != b.Files {
		return differs("%d files differ from what the home began with, and it says %d", len(d.Changes), b.Files)
	}
	return w.patched(ctx, e, d, *b.Patch)
}

// patched makes a patch again, and proves it.
func (w *planWitness) patched(ctx context.Context, e event.Event, d *repo.Delivery, recorded event.Ref) (*audit.Difference, error) {
	patch, _, err := d.Proven(ctx)
	if err != nil {
		return nil, err
	}
	if ref := event.RefOf(patch); ref != recorded {
		return &audit.Difference{Seq: e.Seq, What: "git makes another patch of the recorded trees", Recorded: recorded.Hash.String(), Computed: ref.Hash.String()}, nil
	}
	return nil, nil
}

func (w *planWitness) merged(ctx context.Context, asked, e event.Event) (*audit.Difference, error) {
	call, b := asked.Body.(*event.MergeCall), e.Body.(*event.MergeReport)
	if b.Error.Size() > 0 && b.Tree == nil {
		w.note(e, "nothing was put together then, and is not now: %s", b.Error.Text)
		return nil, nil
	}
	again, err := merge(ctx, w.rt, call)
	if err != nil {
		return nil, err
	}
	again.Call, again.Stored, again.Full = b.Call, b.Stored, b.Full
	return audit.CompareBodies(e, again, "the recorded parts give something else when they are put together")
}

// Recorded implements audit.Repeater.
func (Architect) Recorded(_ *quest.State, call event.Event) (kind, what string) {
	if b, ok := call.Body.(*event.AcceptanceCall); ok {
		return "acceptance", strings.Join(b.Commands, "; ")
	}
	return "", ""
}

// Again implements audit.Repeater: it runs acceptance commands as they were run then. How
// they end must be the same; what they print often has times in it.
func (Architect) Again(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	asked, then := call.Body.(*event.AcceptanceCall), result.Body.(*event.TestReport)
	switch {
	case then.Error.Size() > 0:
		return out.Not("the commands did not run then: " + then.Error.Text), nil
	case x.NoComputer() != "":
		return out.Not(x.NoComputer()), nil
	}
	fill := func(home *os.Root) error { return x.Furnished(ctx, x.State, &asked.Tree)(home) }
	now, err := accept(ctx, x.Quest, call.Seq, asked, fill)
	if err != nil {
		return out, err
	}
	if now.Error.Size() > 0 || len(now.Commands) != len(then.Commands) {
		return out.Not("the commands could not be run: " + now.Error.Text), nil
	}
	var differs []string
	for i, c := range now.Commands {
		if o := then.Commands[i]; c.Exit != o.Exit || c.End != o.End || c.Passed != o.Passed || c.Failed != o.Failed {
			differs = append(differs, fmt.Sprintf("%s ended with exit code %d, %d passed and %d failed, and not with %d, %d and %d", runtime.AtMost(o.Command, 80), c.Exit, c.Passed, c.Failed, o.Exit, o.Passed, o.Failed))
		}
	}
	return out.Judged(differs, audit.OtherComputer(then.Fingerprint, now.Fingerprint)), nil
}
