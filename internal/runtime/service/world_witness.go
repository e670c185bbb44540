package service

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/analysis"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

// worldWitness looks at what a world is recorded to have said: tier 1 is done again by the same
// rules, recorded sights must give the recorded verdicts, and quotations must be found again. What was
// run, stories, tries and the author's commands, is run again by verify --execute.
type worldWitness struct {
	rt   *runtime.Runtime
	set  world.Settings
	bad  error
	note audit.Note
}

func newWorldWitness(rt *runtime.Runtime, b *event.QuestCreated, note audit.Note) *worldWitness {
	w := &worldWitness{rt: rt, note: note}
	w.bad = quest.Recorded(b, &w.set)
	return w
}

// Close implements audit.Witness.
func (w *worldWitness) Close() {}

// look is one in which what does not hold is said in words.
func (w *worldWitness) look(find func(ctx context.Context, call, result event.Event) (what string, err error)) audit.Look {
	return audit.Look{Find: func(ctx context.Context, call, result event.Event) (*audit.Difference, error) {
		if w.bad != nil {
			return &audit.Difference{Seq: result.Seq, What: w.bad.Error()}, nil
		}
		what, err := find(ctx, call, result)
		if err != nil {
			what = err.Error() // a blob that is gone or changed
		}
		if what == "" {
			return nil, nil
		}
		return &audit.Difference{Seq: result.Seq, What: what}, nil
	}}
}

// analysed looks at what was seen of an attempt.
func (w *worldWitness) analysed() audit.Look {
	told := w.look(func(ctx context.Context, call, result event.Event) (string, error) {
		return w.told(ctx, call.Body.(*event.AnalysisCall), result.Body.(*event.AnalysisResult))
	})
	return audit.Look{Find: func(ctx context.Context, call, result event.Event) (*audit.Difference, error) {
		asked, b := call.Body.(*event.AnalysisCall), result.Body.(*event.AnalysisResult)
		switch {
		case w.bad != nil: // which told says
		case b.Runs == nil && b.Text == nil && b.Verdict == analysis.Unavailable:
			w.note(result, "nothing was kept of what was seen, so nobody can look again: %s", b.Error.Text)
			return nil, nil
		case asked.Tier == 1:
			return w.ruled(ctx, result, asked, b)
		}
		return told.At(ctx, call, result)
	}}
}

// ruled does tier 1 again. What commands of the author said is taken as it is recorded.
func (w *worldWitness) ruled(ctx context.Context, e event.Event, call *event.AnalysisCall, b *event.AnalysisResult) (*audit.Difference, error) {
	if b.Analyser != analysis.Version {
		w.note(e, "tier 1 was judged by %s, and this is %s: it is not checkable here", runtime.AtMost(b.Analyser, 100), analysis.Version)
		return nil, nil
	}
	files, err := treeFiles(ctx, w.rt.Blobs, call.Tree)
	if err != nil {
		return &audit.Difference{Seq: e.Seq, What: err.Error()}, nil
	}
	var commands []event.WorldFinding
	for _, f := range b.Findings {
		if strings.HasPrefix(f.Check, checked) {
			commands = append(commands, f)
		}
	}
	if len(w.set.Checks) > 0 {
		w.note(e, "the author's checks are not run again: verify --execute runs them")
	}
	text := event.RefOf([]byte(analysis.Text(files, w.set.Kind)))
	if b.Text != nil && *b.Text != text {
		kept, err := w.rt.Blob(ctx, *b.Text)
		if err != nil || !strings.Contains(string(kept), "[key]") {
			return &audit.Difference{Seq: e.Seq, What: "judges were shown something else than what the tree holds", Recorded: b.Text.Hash.String(), Computed: text.Hash.String()}, nil
		}
		text = *b.Text // a secret was taken out of it
	}
	again, err := ruled(files, call.Structure, w.set.Kind, commands, text)
	if err != nil {
		return nil, err
	}
	again.Call, again.Duration, again.Stored, again.Full, again.Error, again.Fingerprint = b.Call, b.Duration, b.Stored, b.Full, b.Error, b.Fingerprint
	return audit.CompareBodies(e, again, "the rules say something else of the recorded tree")
}

// told judges stories again by what is recorded of their runs.
func (w *worldWitness) told(ctx context.Context, call *event.AnalysisCall, b *event.AnalysisResult) (string, error) {
	if b.Runs == nil {
		return "there is a verdict, and nothing of what was seen", nil
	}
	data, err := w.rt.Blob(ctx, *b.Runs)
	if err != nil {
		return "", err
	}
	var runs []storyRuns
	if err := json.Unmarshal(data, &runs); err != nil {
		return "what was seen in the runs cannot be read: " + err.Error(), nil
	}
	list := call.Stories
	if call.HeldOut {
		list = w.set.HeldOut
	}
	again, verdict := judgedStories(w.set.Kind, list, runs)
	if verdict != b.Verdict || len(again) != len(b.Stories) {
		return fmt.Sprintf("the tier is recorded as %s, and what was seen in the runs comes to %s", b.Verdict, verdict), nil
	}
	for i, s := range b.Stories {
		now := again[i]
		if s.Name != now.Name || s.Verdict != now.Verdict || s.Met != now.Met || s.Conditions != now.Conditions || len(s.Findings) > len(now.Findings) || !slices.Equal(s.Findings, now.Findings[:len(s.Findings)]) {
			return fmt.Sprintf("story %q is recorded as %s, %d of %d, and what was seen comes to %s, %d of %d", s.Name, s.Verdict, s.Met, s.Conditions, now.Verdict, now.Met, now.Conditions), nil
		}
		if what, err := w.pictured(ctx, s, runs, i); what != "" || err != nil {
			return what, err
		}
	}
	return "", nil
}

// pictured looks at what is shown of the end of a story: it must be what its first run saw, and
// its picture there.
func (w *worldWitness) pictured(ctx context.Context, s event.StoryVerdict, runs []storyRuns, i int) (string, error) {
	if s.After == nil {
		return "", nil
	}
	if s.After.Picture != nil {
		if err := blobThere(ctx, w.rt, *s.After.Picture); err != nil {
			return "", err
		}
	}
	if s.After.Accessibility.Size()+s.After.Output.Size() == 0 {
		return "", nil // left out, for the runs have it
	}
	seen, err := recalled(ctx, w.rt, *s.After)
	if err != nil {
		return "", err
	}
	if i >= len(runs) || len(runs[i].Runs) == 0 || !alike(seen, runs[i].Runs[0].Sight) {
		return fmt.Sprintf("what is shown of the end of story %q is not what its first run saw", s.Name), nil
	}
	return "", nil
}

// alike compares sights by what is written of them: a list of nothing is no list.
func alike(a, b trial.Sight) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// blobThere reads a blob, which has another hash if a byte of it was changed.
func blobThere(ctx context.Context, rt *runtime.Runtime, ref event.Ref) error {
	data, err := rt.Blob(ctx, ref)
	if err == nil && event.RefOf(data) != ref {
		err = &blob.DamageError{Hash: ref.Hash}
	}
	return err
}

func (w *worldWitness) marked(ctx context.Context, asked, result event.Event) (string, error) {
	call, b := asked.Body.(*event.MarksCall), result.Body.(*event.MarksResult)
	missing, err := unquoted(ctx, w.rt, call)
	if err != nil || slices.Equal(missing, b.Missing) {
		return "", err
	}
	return fmt.Sprintf("%d quotations are recorded as missing, and %d are not in what the judge was shown", len(b.Missing), len(missing)), nil
}

// observed compares what held and what changed with what recorded sights say.
func (w *worldWitness) observed(ctx context.Context, asked, result event.Event) (string, error) {
	call, b := asked.Body.(*event.WorldCall), result.Body.(*event.WorldObserved)
	again := *b
	if err := compared(ctx, w.rt, w.set.Kind, call.Expect, &again); err != nil {
		return "", err
	}
	if !slices.Equal(again.Held, b.Held) || again.Unforeseen != b.Unforeseen || !slices.Equal(again.Changes, b.Changes) {
		return "what is recorded to have held, or changed, is not what the recorded sights say", nil
	}
	for _, s := range []event.WorldSight{b.Before, b.After} {
		if s.Picture != nil {
			if err := blobThere(ctx, w.rt, *s.Picture); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}
