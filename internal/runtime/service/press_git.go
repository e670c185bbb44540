package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lyceum/internal/event"
)

// repository opens the folder's repository, and makes it if there is none. It is nil
// where there is no git.
func (p *press) repository(ctx context.Context) (*repository, error) {
	if p.git != nil {
		return p.git, nil
	}
	r, err := openRepository(ctx, p.q.QuestDir(p.q.Key), false)
	p.git = r
	return r, err
}

// committed are the first lines of all commits.
func (r *repository) committed(ctx context.Context) (map[string]bool, error) {
	if _, err := r.run(ctx, nil, "rev-parse", "--quiet", "--verify", "HEAD"); err != nil {
		return nil, nil // there is no commit yet
	}
	log, err := r.run(ctx, nil, "log", "--format=%s")
	have := map[string]bool{}
	for line := range strings.Lines(log) {
		have[strings.TrimSpace(line)] = true
	}
	return have, err
}

// giveUp leaves the history to the next run, which writes what is missing.
func (p *press) giveUp(err error) {
	p.lame = true
	p.q.Progress("Papers are written, and not committed to git: " + err.Error())
}

// setAside makes room for a new repository.
func (p *press) setAside() error {
	err := p.git.close()
	p.git = nil
	return errors.Join(err, aside(p.q.QuestDir(p.q.Key)))
}

// commit records a decided paper in the folder's repository.
func (p *press) commit(ctx context.Context, j job) error {
	if p.lame {
		return nil
	}
	git, err := p.repository(ctx)
	if git == nil || err != nil {
		return err
	}
	add := []string{"add", "--all", "--force", "--", "publications/" + j.paper.Ref}
	for _, name := range []string{"quest.yaml", "brief.md", ".gitignore"} {
		if _, err := os.Lstat(filepath.Join(git.dir, name)); err == nil {
			add = append(add, name)
		}
	}
	if _, err := git.run(ctx, nil, add...); err != nil {
		return err
	}
	b := j.decided.Body.(*event.PublicationDecided)
	at := j.decided.Time.Time().UTC().Format(time.RFC3339)
	message := fmt.Sprintf("%s %s\n\n%s\nby %s, %d for and %d against\n", b.Status, b.Ref, oneLine(j.paper.Title), j.paper.Author, b.Accepts, b.Rejects)
	_, err = git.run(ctx, []string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}, "commit", "--quiet", "--allow-empty", "--message", message)
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
