package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/society/architect/task"
	"lyceum/internal/workspace"
)

// Bounds of what is told of an inspection.
const (
	// maxArtifact is how large a file of a manifest may be.
	maxArtifact = 64 << 20
	// maxPreview is how much of a text a person is shown without opening it.
	maxPreview = 4 << 10
	// maxInlined is how much of all previews stands in the event itself.
	maxInlined  = 4 << 10
	maxFindings = 20
	maxListed   = 100
)

// inspections answers inspection.call. What is looked at is the home as the ledger has it,
// so that whoever verifies the quest comes to the same.
type inspections struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *inspections) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.InspectionCall)
	x := &inspection{rt: s.q.Runtime, call: b, repo: s.q.State.Repo}
	if a := s.q.State.Agent(b.Worker); a != nil {
		x.home = a.Tree
	}
	return func(ctx context.Context) ([]event.Draft, error) {
		x.skipped, x.refused = s.q.Unrecorded(b.Worker)
		err := x.inspect(runtime.Refusable(ctx))
		if why, full := runtime.NoRoom(err); full {
			x.InspectionResult = event.InspectionResult{Error: event.Text{Text: "there is no room to keep what was found: " + why}}
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("inspection.call %d: %w", e.Seq, err)
		}
		x.Call = e.Seq
		if err := x.fit(); err != nil {
			return nil, fmt.Errorf("inspection.call %d: %w", e.Seq, err)
		}
		return []event.Draft{s.q.Result(e.Seq, "core", &x.InspectionResult)}, nil
	}, nil
}

// inspection is one that is under way.
type inspection struct {
	event.InspectionResult

	rt   *runtime.Runtime
	call *event.InspectionCall
	repo *event.RepoSpec
	// home is the worker's as it is recorded; skipped what is in it and cannot be, refused
	// why nothing was recorded.
	home    *event.TreeRef
	skipped []blob.Skipped
	refused string
}

func (x *inspection) inspect(ctx context.Context) error {
	switch {
	case x.refused != "":
		x.Oversized, x.Error.Text = true, runtime.AtMost(x.rt.Redact(x.refused), 1000)
		return nil
	case x.home == nil:
		x.Error.Text = fmt.Sprintf("nothing is recorded of the home of %s", runtime.AtMost(x.call.Worker, 60))
		return nil
	}
	d, outside, err := x.changes(ctx)
	if err != nil {
		return x.oversized(err)
	}
	x.Files = int64(len(d.Changes))
	x.Outside = clipped(outside, maxListed)
	x.More = int64(len(outside) - len(x.Outside))
	if err := x.manifest(ctx); err != nil {
		return err
	}
	lines, err := x.take(ctx, d, len(outside) > 0)
	if err != nil {
		return err
	}
	for _, c := range d.Changes[:min(len(d.Changes), maxListed)] {
		n := lines[c.Path]
		x.Changes = append(x.Changes, event.TaskChange{Added: n.Added, Kind: kindOf(c), Path: runtime.AtMost(c.Path, 300), Removed: n.Removed})
	}
	return nil
}

// changes finds what differs from what the home began with, and what of it the scope does
// not allow. What is Lyceum's own is neither.
func (x *inspection) changes(ctx context.Context) (*repo.Delivery, []event.Skipped, error) {
	t := repo.Trees{Base: x.call.Begun, Begun: x.call.Begun, Home: *x.home}
	if x.repo != nil {
		t.Tracked, t.LeftOut = &x.repo.Tree, x.repo.LeftOut
	}
	d, err := repo.Inspect(ctx, x.rt.Blobs, t)
	if err != nil {
		return nil, nil, err
	}
	d.Changes = slices.DeleteFunc(d.Changes, func(c repo.Change) bool { return own(c.Path) })
	var outside, ignored []event.Skipped
	scope := task.Of(x.call.Scope)
	for _, c := range d.Changes {
		ok, why := scope.Allows(c.Path)
		if x.call.ReadOnly {
			ok, why = false, "the task is read-only: nothing may change"
		}
		if !ok {
			outside = append(outside, event.Skipped{Path: c.Path, Reason: why})
		}
	}
	for _, s := range d.LeftOut {
		switch {
		case own(s.Path):
		case s.Reason == repo.Ignored:
			ignored = append(ignored, s)
		default:
			outside = append(outside, s)
		}
	}
	for _, s := range x.skipped {
		if !own(s.Path) {
			ignored = append(ignored, event.Skipped{Path: s.Path, Reason: "it cannot be recorded: " + s.Reason})
		}
	}
	x.Ignored = clipped(ignored, maxListed)
	return d, outside, nil
}

// own reports whether a path is in the folder that executors leave manifests in.
func own(path string) bool {
	top, _, _ := strings.Cut(task.Folded(path), "/")
	return top == task.Own
}

// take makes the tree and the patch, unless nothing may be taken over.
func (x *inspection) take(ctx context.Context, d *repo.Delivery, refused bool) (map[string]repo.Lines, error) {
	if refused {
		return nil, nil
	}
	var patch []byte
	var lines map[string]repo.Lines
	err := d.Fits()
	if err == nil {
		patch, lines, err = d.Proven(ctx)
	}
	if err != nil {
		return nil, x.oversized(err)
	}
	tree, err := repo.Edited(ctx, x.rt.Blobs, x.call.Begun, d.Changes)
	if err != nil {
		return nil, err
	}
	ref, err := x.rt.Blobs.Put(ctx, patch)
	x.Tree, x.Patch = &tree, &ref
	return lines, err
}

// oversized takes an error for what was found, if that is how much was left.
func (x *inspection) oversized(err error) error {
	much, ok := errors.AsType[*repo.TooMuchError](err)
	if !ok {
		return err
	}
	x.Oversized, x.Error.Text = true, runtime.AtMost(x.rt.Redact(much.Error()), 1000)
	return nil
}

func kindOf(c repo.Change) string {
	switch {
	case c.New == nil:
		return event.Removed
	case c.New.Kind == blob.Link || c.Old != nil && c.Old.Kind == blob.Link:
		return "link"
	case c.Old == nil:
		return event.Added
	case c.Old.Hash == c.New.Hash:
		return "mode"
	}
	return event.Changed
}

func (x *inspection) find(format string, args ...any) {
	if len(x.Findings) < maxFindings {
		x.Findings = append(x.Findings, runtime.AtMost(x.rt.Redact(fmt.Sprintf(format, args...)), 400))
	}
}

// manifest reads what the executor says it made, and looks for it. What is not said is not
// made up.
func (x *inspection) manifest(ctx context.Context) error {
	data, err := x.handedIn(ctx)
	if err != nil || data == nil {
		return err
	}
	m, findings := task.DecodeManifest(data)
	for _, f := range findings {
		x.find("%s", f)
	}
	if m == nil {
		return nil
	}
	x.Manifest = m.Recorded(x.call.Task, x.call.Run)
	room := maxInlined
	for i, item := range m.Items {
		if item.Ref == task.Whole {
			continue
		}
		if err := x.artifact(ctx, item, &x.Manifest.Items[i], &room); err != nil {
			return err
		}
	}
	return nil
}

// handedIn is the text of the manifest, nil if there is none that could be one.
func (x *inspection) handedIn(ctx context.Context) ([]byte, error) {
	if x.call.Manifest.Size() > 0 {
		text, err := x.rt.Joined(ctx, []event.Text{x.call.Manifest})
		return []byte(text), err
	}
	for _, name := range task.Files {
		e, err := repo.At(ctx, x.rt.Blobs, *x.home, name)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
			continue
		case e.Kind != blob.File || e.Size > task.MaxManifest:
			x.find("%s is no file of at most %d bytes; links are not followed", name, task.MaxManifest)
			return nil, nil
		}
		return x.rt.Blobs.Get(ctx, e.Hash)
	}
	x.find("there is no manifest of what you made: hand one in with the tool artifact_manifest, or write %s", task.Files[0])
	return nil, nil
}

// artifact looks for the file of an item in the home, without following links. Its hash is
// the one under which it is recorded.
func (x *inspection) artifact(ctx context.Context, item task.Item, to *event.ArtifactItem, room *int) error {
	name := runtime.AtMost(item.Ref, 200)
	path := item.Path(workspace.Home)
	if path == "" {
		x.find("%s: it is not in your folder", name)
		return nil
	}
	e, err := repo.At(ctx, x.rt.Blobs, *x.home, path)
	if err != nil {
		return err
	}
	switch {
	case e == nil:
		x.find("%s: there is no such file; links are not followed", name)
		return nil
	case e.Kind == blob.Link:
		x.find("%s: it is a link, and links are not followed: name the file", name)
		return nil
	case e.Kind != blob.File:
		x.find("%s: it is a folder: name the files, or bundle them into one", name)
		return nil
	case e.Size > maxArtifact:
		x.find("%s: it has %d MiB, and an artifact may have %d: leave out what nobody needs", name, e.Size>>20, maxArtifact>>20)
		return nil
	}
	if sum, _ := item.Sum(); sum != e.Hash.String() {
		x.find("%s: its checksum is %s, and you said %s", name, e.Hash, sum)
	}
	to.File = new(e.Ref())
	return x.preview(ctx, e, to, room)
}

// preview keeps the beginning of an artifact that is a text.
func (x *inspection) preview(ctx context.Context, e *blob.Entry, to *event.ArtifactItem, room *int) error {
	in, err := x.rt.Blobs.Open(ctx, e.Hash)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxPreview))
	if err != nil {
		return err
	}
	if bytes.IndexByte(data, 0) >= 0 || len(data) == 0 {
		return nil
	}
	text := x.rt.Redact(runtime.Clean(string(data)))
	if w := event.Weight(text); w <= *room {
		*room -= w
		to.Preview.Text = text
		return nil
	}
	ref, err := x.rt.Blobs.Put(ctx, []byte(text))
	to.Preview.Ref = &ref
	return err
}

// fit has the result fit an event. What is wrong is told before what has changed.
func (x *inspection) fit() error {
	bare := func() bool {
		if x.Manifest == nil {
			return false
		}
		dropped := false
		for i := range x.Manifest.Items {
			if p := &x.Manifest.Items[i].Preview; p.Text != "" {
				p.Text, dropped = "", true
			}
		}
		return dropped
	}
	const least = 4
	return fit(&x.InspectionResult, half(&x.Changes, least*4, nil), half(&x.Ignored, least, nil), half(&x.Outside, least*4, &x.More), bare,
		half(&x.Changes, least, nil), half(&x.Outside, least, &x.More), half(&x.Findings, least, nil))
}
