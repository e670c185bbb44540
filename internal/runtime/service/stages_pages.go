package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// pages are the files of a study's folder: its plan, how it stands, its cards and its artifacts.
// They follow from the ledger and are written again where they are missing or changed. All of
// it belongs to the goroutine that owns the quest.
type pages struct {
	q *runtime.Quest
	// seq is the last event that is known to be durable.
	seq uint64
	// written are the keys of pages as this process has seen them on disk, by path.
	written map[string]string
}

func newPages(q *runtime.Quest) *pages {
	return &pages{q: q, seq: q.State.Seq, written: map[string]string{}}
}

// printed is told of each event. The folder is brought up to date when a sitting has ended; what
// comes between is written when the run ends, or by the next.
func (p *pages) printed(ctx context.Context, e event.Event) error {
	p.seq = e.Seq
	if _, over := e.Body.(*event.SittingEnded); !over || p.q.State.Seq != e.Seq {
		return nil
	}
	return p.write(ctx)
}

// close writes the rest. A state that is ahead of the ledger is of a quest that never was.
func (p *pages) close(ctx context.Context) error {
	if p.q.State.Seq != p.seq {
		return nil
	}
	return p.write(ctx)
}

// stated are the files that tell how the study stands, with the event that they are as of.
func stated(state *quest.State, s *study.Study) []study.Page {
	as := fmt.Sprintf(study.AsOf+"\n\n", state.Seq)
	status := "# Status\n\n" + strings.Join(stages.Standing(state), "\n") + "\n\n" + s.Account() + "\n"
	return []study.Page{{Path: "plan.md", Head: as + s.Track()}, {Path: "status.md", Head: as + status}}
}

// write writes what is missing or another.
func (p *pages) write(ctx context.Context) error {
	s := stages.Of(p.q.State).Study
	for _, x := range append(s.Pages(p.q.State.Name), stated(p.q.State, s)...) {
		if x.Key != "" && p.written[x.Path] == x.Key {
			continue
		}
		data, err := p.data(ctx, x)
		if err != nil {
			return err
		}
		path := filepath.Join(p.q.QuestDir(p.q.Key), filepath.FromSlash(x.Path))
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, data) {
			if err := errors.Join(outdated(path, x), runtime.ReplaceFile(path, data)); err != nil {
				return fmt.Errorf("write %s of quest %s: %w", x.Path, p.q.Key, err)
			}
		}
		p.written[x.Path] = x.Key
	}
	return nil
}

// data is what a page should hold.
func (p *pages) data(ctx context.Context, x study.Page) ([]byte, error) {
	if x.Text.Len() == 0 {
		return []byte(x.Head), nil
	}
	text, err := p.q.Joined(ctx, []event.Text{x.Text})
	return []byte(x.Head + text + "\n"), err
}

// outdated removes the files of a card that had another title.
func outdated(path string, x study.Page) error {
	if !strings.HasPrefix(x.Path, "memory/") {
		return nil
	}
	id := path[max(0, len(path)-len(".md")-32):]
	old, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+id))
	for _, name := range old {
		if name != path {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// changed are the pages that are not as the ledger says. One of an earlier time is no lie: whoever
// was killed did not come to write the new one. Such a page says which event, or revision, it is
// as of.
func (p *pages) changed(ctx context.Context) (out []string, err error) {
	q, s := p.q, stages.Of(p.q.State).Study
	for _, x := range append(s.Pages(q.State.Name), stated(q.State, s)...) {
		path := filepath.Join(q.QuestDir(q.Key), filepath.FromSlash(x.Path))
		have, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && len(have) == 0 {
			continue
		}
		want, failed := p.data(ctx, x)
		if err := errors.Join(err, failed); err != nil {
			return nil, err
		}
		// It may be from before the card was offered to others.
		own := bytes.Replace(want, []byte("\nscope: global\n"), []byte("\nscope: quest\n"), 1)
		if !bytes.Equal(have, want) && !bytes.Equal(have, own) && asOf(have) >= asOf(want) {
			out = append(out, path)
		}
	}
	return out, nil
}

// asOf is the event or the revision that a page says it is as of, 0 if it says none.
func asOf(data []byte) (n uint64) {
	for line := range strings.Lines(string(data[:min(len(data), 4096)])) {
		if _, err := fmt.Sscanf(line, study.AsOf, &n); err == nil {
			return n
		}
		if _, err := fmt.Sscanf(line, "revision: %d", &n); err == nil {
			return n
		}
	}
	return 0
}
