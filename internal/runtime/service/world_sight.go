package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

// Bounds of what is kept of a page or a program: of all of it, and in an event.
const (
	maxSeenNodes = 4000
	maxSeenText  = 64 << 10
	maxSeenName  = 500

	maxSightTree  = 1500
	maxSightText  = 700
	maxSightLines = 8
	// maxHeldLines is how many lines of each kind conditions are judged by.
	maxHeldLines  = 200
	maxSightLine  = 120
	maxSightFiles = 10
)

// seenPage is what a browser saw, without secrets and within bounds.
func (w *worldBench) seenPage(s browser.Sight) trial.Sight {
	clean := func(text string, most int) string { return plain.Cut(runtime.Clean(w.q.Redact(text)), most) }
	out := trial.Sight{Text: clean(s.Text, maxSeenText), Title: clean(s.Title, maxSightLine), Console: w.lines(s.Console), Dialogs: w.lines(s.Dialogs)}
	for _, n := range s.Nodes[:min(len(s.Nodes), maxSeenNodes)] {
		out.Nodes = append(out.Nodes, trial.Node{
			Depth: n.Depth, Role: wordOf(n.Role), Name: clean(n.Name, maxSeenName), Value: clean(n.Value, maxSeenName),
			Checked: n.Checked == "true" || n.Pressed == "true", Disabled: n.Disabled, Focused: n.Focused,
		})
	}
	for _, list := range []int{len(s.Console), len(s.Dialogs), len(s.Requests)} {
		out.Left += int64(max(list-maxHeldLines, 0))
	}
	for _, r := range s.Requests[:min(len(s.Requests), maxHeldLines)] {
		out.Requests = append(out.Requests, event.WorldRequest{Given: r.Given, Method: wordOf(r.Method), URL: runtime.AtMost(w.q.Redact(r.URL), maxSightLine)})
	}
	return out
}

// wordOf is a role or a method as a word of letters.
func wordOf(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s)
	if s == "" {
		return "none"
	}
	return s[:min(len(s), 40)]
}

func (w *worldBench) lines(list []string) (out []string) {
	for _, l := range list[:min(len(list), maxHeldLines)] {
		out = append(out, runtime.AtMost(w.q.Redact(l), maxSightLine))
	}
	return out
}

// heldLines are the lines of a sight, where an event has not room for all.
type heldLines struct {
	Console  []string             `json:"console,omitempty"`
	Dialogs  []string             `json:"dialogs,omitempty"`
	Requests []event.WorldRequest `json:"requests,omitempty"`
	Left     int64                `json:"left,omitzero"`
}

// shown are the first of a list that an event has, and how many are left out by now.
func shown[T any](list []T, left int64) ([]T, int64) {
	n := min(len(list), maxSightLines)
	return list[:n:n], left + int64(len(list)-n)
}

// kept stores a sight, and is what a ledger has of it.
func (w *worldBench) kept(ctx context.Context, s trial.Sight, picture []byte) (out event.WorldSight, err error) {
	out = event.WorldSight{Exit: s.Exit, Left: s.Left, Title: s.Title}
	out.Console, out.Left = shown(s.Console, out.Left)
	out.Dialogs, out.Left = shown(s.Dialogs, out.Left)
	out.Requests, out.Left = shown(s.Requests, out.Left)
	if out.Left > 0 {
		data, err := json.Marshal(heldLines{s.Console, s.Dialogs, s.Requests, s.Left})
		if err != nil {
			return out, err
		}
		ref, err := w.q.Blobs.Put(ctx, data)
		if err != nil {
			return out, err
		}
		out.Lines = &ref
	}
	for _, t := range []struct {
		to   *event.Text
		text string
		most int
	}{{&out.Accessibility, trial.Lines(s.Nodes), maxSightTree}, {&out.Text, s.Text, maxSightText}, {&out.Output, s.Output, maxSightTree}, {&out.Errors, s.Errors, maxSightText}} {
		if t.to.Text = event.Cut(t.text, t.most); len(t.to.Text) < len(t.text) {
			ref, err := w.q.Blobs.Put(ctx, []byte(t.text))
			if err != nil {
				return out, err
			}
			t.to.Ref = &ref
		}
	}
	for _, f := range s.Files {
		ref, err := w.q.Blobs.Put(ctx, []byte(f.Content))
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, event.FileSeen{File: ref, Path: f.Path})
	}
	if len(picture) > 0 {
		ref, err := w.q.Blobs.Put(ctx, picture)
		if err != nil {
			return out, err
		}
		out.Picture = &ref
	}
	return out, nil
}

// recalled is a sight as its record has it: by this one conditions are judged, then and later.
func recalled(ctx context.Context, rt *runtime.Runtime, s event.WorldSight) (trial.Sight, error) {
	out := trial.Sight{Console: s.Console, Dialogs: s.Dialogs, Exit: s.Exit, Requests: s.Requests, Title: s.Title}
	if s.Lines != nil {
		held, err := linesOf(ctx, rt, s)
		if err != nil {
			return out, err
		}
		out.Console, out.Dialogs, out.Requests, out.Left = held.Console, held.Dialogs, held.Requests, held.Left
	}
	var nodes string
	for _, t := range []struct {
		from event.Text
		to   *string
	}{{s.Accessibility, &nodes}, {s.Text, &out.Text}, {s.Output, &out.Output}, {s.Errors, &out.Errors}} {
		if *t.to = t.from.Text; t.from.Ref != nil {
			data, err := rt.Blob(ctx, *t.from.Ref)
			if err != nil {
				return out, err
			}
			if !strings.HasPrefix(string(data), t.from.Text) {
				return out, errCut
			}
			*t.to = string(data)
		}
	}
	for _, f := range s.Files {
		data, err := rt.Blob(ctx, f.File)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, trial.File{Path: f.Path, Content: string(data)})
	}
	var err error
	out.Nodes, err = trial.ReadLines(nodes)
	return out, err
}

// linesOf are the lines of a sight whose event shows only the first of them.
func linesOf(ctx context.Context, rt *runtime.Runtime, s event.WorldSight) (held heldLines, err error) {
	data, err := rt.Blob(ctx, *s.Lines)
	if err != nil {
		return held, err
	}
	if err := json.Unmarshal(data, &held); err != nil {
		return held, fmt.Errorf("read the lines of a sight: %w", err)
	}
	left := held.Left
	console, left := shown(held.Console, left)
	dialogs, left := shown(held.Dialogs, left)
	requests, left := shown(held.Requests, left)
	if left != s.Left || !slices.Equal(console, s.Console) || !slices.Equal(dialogs, s.Dialogs) || !slices.Equal(requests, s.Requests) {
		return held, errLines
	}
	return held, nil
}

// errLines says that the lines in an event are not the first of those it stands for.
var errLines = fmt.Errorf("lines of the record are not the first of the blob that it names")

// errCut says that a text in an event is not the beginning of what it stands for.
var errCut = fmt.Errorf("a text of the record is not the beginning of the blob that it names")
