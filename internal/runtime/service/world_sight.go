package service

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
	"lyceum/internal/society/world/trial"
)

// Bounds of what is kept of a page or a program: of all of it, and in an event.
const (
	maxSeenNodes = 4000
	maxSeenText  = 64 << 10
	maxSeenName  = 500

	maxSightTree  = 1500
	maxSightText  = 700
	maxSightLines = 8
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
	for _, r := range s.Requests[:min(len(s.Requests), maxSightLines)] {
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
	for _, l := range list[:min(len(list), maxSightLines)] {
		out = append(out, runtime.AtMost(w.q.Redact(l), maxSightLine))
	}
	return out
}

// kept stores a sight, and is what a ledger has of it.
func (w *worldBench) kept(ctx context.Context, s trial.Sight, picture []byte) (out event.WorldSight, err error) {
	out = event.WorldSight{Console: s.Console, Dialogs: s.Dialogs, Exit: s.Exit, Requests: s.Requests, Title: s.Title}
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

// errCut says that a text in an event is not the beginning of what it stands for.
var errCut = fmt.Errorf("a text of the record is not the beginning of the blob that it names")
