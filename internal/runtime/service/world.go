package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"lyceum/internal/analysis"
	"lyceum/internal/blob"
	"lyceum/internal/browser"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// World is the workshop of a world: it looks at what was made by rules and by stories, tries it
// out, and looks for what judges quote.
type World struct {
	// Browser is where the browser is in the computers of pages. Without it the usual places are
	// looked at.
	Browser string
}

// Open implements runtime.Workshop. A quest of pages whose computers have no browser does not begin:
// its maker would work for nothing.
func (s World) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	w := s.bench(q)
	if w.set.Kind != trial.Web || q.Driver == nil || q.State.Status == quest.Finished || q.State.Status == quest.Failed {
		return w, nil
	}
	// Where no computer can be started, stories are unavailable, which says why.
	_, err := q.Fresh("browser").Use(ctx, nil, func(c *computer.Computer, _ *event.ComputerStarted) error {
		return browser.Find(ctx, c, browser.Options{Program: s.Browser})
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// bench is a workshop as the quest's settings want it.
func (s World) bench(q *runtime.Quest) *worldBench {
	w := &worldBench{q: q, launch: func(ctx context.Context, c *computer.Computer) (visitor, error) {
		return launchBrowser(ctx, c, s.Browser)
	}}
	if m := world.Of(q.State); m != nil {
		w.set = m.Settings
	}
	return w
}

// worldBench answers the calls of one run. Nothing of it changes after Open.
type worldBench struct {
	q      *runtime.Quest
	set    world.Settings
	launch func(ctx context.Context, c *computer.Computer) (visitor, error)
}

// visitor is a browser in a computer.
type visitor interface {
	Visit(ctx context.Context, v browser.Visit) (*browser.Seen, error)
	Version() string
	Close() error
}

func launchBrowser(ctx context.Context, c *computer.Computer, program string) (visitor, error) {
	b, err := browser.Launch(ctx, c, browser.Options{Program: program})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Services implements runtime.Bench.
func (w *worldBench) Services() map[event.Type]runtime.Service {
	return map[event.Type]runtime.Service{"analysis.call": analyses{w}, "marks.call": marks{w}, "world.call": tries{w}}
}

// Looks implements audit.Witness.
func (w *worldWitness) Looks() map[event.Type]audit.Look {
	return map[event.Type]audit.Look{"analysis.call": w.analysed(), "marks.call": w.look(w.marked), "world.call": w.look(w.observed)}
}

// Printed implements runtime.Bench.
func (w *worldBench) Printed(event.Event) {}

// Close implements runtime.Bench.
func (w *worldBench) Close() error { return nil }

// Witness implements audit.Witnessed.
func (World) Witness(rt *runtime.Runtime, _ event.Event, b *event.QuestCreated, note audit.Note) audit.Witness {
	return newWorldWitness(rt, b, note)
}

// analyses answers analysis.call.
type analyses struct{ w *worldBench }

// Start implements runtime.Service.
func (s analyses) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.AnalysisCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		begun, on := s.w.q.Clock(), runtime.Refusable(ctx)
		tier := s.w.rules
		if b.Tier != 1 {
			tier = s.w.stories
		}
		body, err := tier(on, e.Seq, b)
		if why, full := runtime.NoRoom(err); full {
			body, err = &event.AnalysisResult{Verdict: analysis.Unavailable, Error: event.Text{Text: "there is no room to keep what was seen: " + why}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("analysis.call %d: %w", e.Seq, err)
		}
		d := s.w.q.Result(e.Seq, "core", body)
		body.Call, body.Duration = e.Seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	}, nil
}

// told is why something is unavailable, for a ledger.
func (w *worldBench) told(why string) event.Text {
	return event.Text{Text: runtime.AtMost(w.q.Redact(why), 1000)}
}

// treeFiles reads a tree as far as rules look at it.
func treeFiles(ctx context.Context, store blob.Store, tree event.TreeRef) ([]analysis.File, error) {
	var files []analysis.File
	var sum int64
	fsys := blob.Folder(ctx, store, tree)
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := analysis.File{Path: p, Size: info.Size(), Link: d.Type()&fs.ModeSymlink != 0}
		if sum += f.Size; !f.Link && f.Size <= analysis.MaxFile && sum <= analysis.MaxBytes {
			if f.Data, err = fs.ReadFile(fsys, p); err != nil {
				return err
			}
		}
		if files = append(files, f); len(files) > analysis.MaxFiles {
			return fs.SkipAll
		}
		return nil
	})
	return files, err
}

// media are the types under which a browser is given files.
var media = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".json": "application/json", ".txt": "text/plain; charset=utf-8", ".csv": "text/csv; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2", ".woff": "font/woff", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
	".mp4": "video/mp4", ".webm": "video/webm", ".wasm": "application/wasm",
}

// served gives a browser the files of a tree.
func served(ctx context.Context, store blob.Store, tree event.TreeRef) func(string) ([]byte, string, error) {
	fsys := blob.Folder(ctx, store, tree)
	return func(p string) ([]byte, string, error) {
		info, err := fs.Stat(fsys, p)
		if err != nil {
			return nil, "", err
		}
		if !info.Mode().IsRegular() || info.Size() > analysis.MaxBytes {
			return nil, "", fmt.Errorf("%s is no file that can be shown", p)
		}
		data, err := fs.ReadFile(fsys, p)
		kind := media[strings.ToLower(path.Ext(p))]
		if kind == "" {
			kind = "application/octet-stream"
		}
		return data, kind, err
	}
}

// noBrowser says why there is no browser, and whether that is what is wrong.
func noBrowser(err error) (string, bool) {
	if errors.Is(err, browser.ErrUnavailable) {
		return err.Error(), true
	}
	return "", false
}
