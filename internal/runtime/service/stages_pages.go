package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	// paper are the files of the paper as of its last revision that was looked at.
	paper paperFiles
}

func newPages(q *runtime.Quest) *pages {
	return &pages{q: q, seq: q.State.Seq, written: map[string]string{}}
}

// printed is told of each event. The folder is brought up to date when a sitting has ended; what
// comes between is written when the run ends, or by the next.
func (p *pages) printed(ctx context.Context, e event.Event) error {
	p.seq = e.Seq
	if b, ok := e.Body.(*event.UserMessage); ok && b.Document != nil {
		return p.q.WriteBrief(ctx, p.q.Key, p.q.State)
	}
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
	out := []study.Page{{Path: "plan.md", Head: as + s.Track()}, {Path: "status.md", Head: as + status}}
	if p := s.Paper(); p != nil {
		out = append(out, study.Page{Path: study.PaperDir + "/checklist.md", Head: as + s.Paperwork(p)})
	}
	return out
}

// all are the pages that the folder should have.
func (p *pages) all(ctx context.Context) ([]study.Page, error) {
	s := stages.Of(p.q.State).Study
	files, err := p.paper.of(ctx, p.q.Runtime, s)
	return slices.Concat(s.Pages(p.q.State.Name), files, stated(p.q.State, s)), err
}

// write writes what is missing or another.
func (p *pages) write(ctx context.Context) error {
	list, err := p.all(ctx)
	if err != nil {
		return err
	}
	for _, x := range list {
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
	return p.paper.tidy(p.q.QuestDir(p.q.Key))
}

// data is what a page should hold.
func (p *pages) data(ctx context.Context, x study.Page) ([]byte, error) {
	if x.File != nil {
		return p.q.Blob(ctx, *x.File)
	}
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
	list, err := p.all(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		path := filepath.Join(p.q.QuestDir(p.q.Key), filepath.FromSlash(x.Path))
		have, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && len(have) == 0 {
			continue
		}
		if x.File != nil && err == nil && p.paper.was(x.Path, have) {
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
