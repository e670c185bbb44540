package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
)

// homeService makes the home of an executor anew. Its process ends with its computer, and so
// does all that runs there. After a crash it is done again from the beginning: a home that was
// half made is of no use.
type homeService struct{}

func (homeService) start(ctx context.Context, l *live, e event.Event) error {
	b, o := e.Body.(*event.HomeCall), l.executors.of(e.Actor)
	if o == nil {
		return fmt.Errorf("quest %s has no executor for %s", l.key, e.Actor)
	}
	tree := b.Tree
	if tree == nil {
		tree = l.state.Begun()
	}
	commit := commitOf(l.state, tree)
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		if err := o.hold(ctx); err != nil {
			return nil, err
		}
		defer o.release()
		r := &event.HomeRenewed{Call: e.Seq, Tree: tree}
		err := o.renew(ctx, tree, commit)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		full, why := unkept(err)
		if err != nil && (o.desk == nil || full == nil && Passing(err)) {
			return nil, fmt.Errorf("home.call %d: %w", e.Seq, err)
		}
		if err != nil {
			if why == "" {
				why = err.Error()
			}
			r.Tree, r.Error.Text = nil, AtMost(l.rt.Redact(why), 2000)
		}
		return []event.Draft{o.desk.draft(e.Seq, r)}, nil
	})
	return nil
}

// commitOf is the tree of the one commit that a home has which begins with a tree, nil if homes
// have no repository: the person's own files, or what was made of them since.
func commitOf(s *quest.State, tree *event.TreeRef) *event.TreeRef {
	if s.Repo == nil {
		return nil
	}
	if begun := s.Begun(); tree == nil || begun != nil && *tree == *begun {
		return &s.Repo.Tree
	}
	return tree
}

// renew ends the executor, and puts another home into the place of its own. Whoever calls it
// has the turn.
func (o *outsider) renew(ctx context.Context, tree, commit *event.TreeRef) error {
	d := o.desk
	if d == nil {
		return errors.New("its agent has no home")
	}
	if o.exec != nil {
		// Whatever it says of its end, it ends with its computer.
		_ = o.exec.Close()
	}
	o.exec, o.session, o.process = nil, "", ""
	if err := d.leave(true); err != nil {
		return fmt.Errorf("end its computer: %w", err)
	}
	return d.renew(ctx, tree, o.l.furnished(ctx, tree, commit))
}

// furnished furnishes a home with a tree and a repository. That one is made meanwhile.
func (l *live) furnished(ctx context.Context, tree, commit *event.TreeRef) func(*os.Root) error {
	state := &quest.State{Skills: l.state.Skills, Knowledge: l.state.Knowledge} // neither ever changes
	return func(home *os.Root) error {
		var seed *repo.Seed
		var failed error
		var making sync.WaitGroup
		making.Go(func() { seed, failed = l.seeds.of(ctx, l.rt, commit) })
		err := l.rt.Restored(ctx, tree)(home)
		if err == nil {
			err = l.rt.putSkills(ctx, state, home)
		}
		making.Wait()
		if err = errors.Join(err, failed); err != nil || seed == nil {
			return err
		}
		return seed.Write(home)
	}
}

// oldPrefix is what the name of a home begins with that is being removed.
const oldPrefix = ".old-"

// renew puts another home into the place of this one. What was there goes aside at once, and is
// removed beside whoever goes on.
func (d *desk) renew(ctx context.Context, tree *event.TreeRef, fill func(*os.Root) error) error {
	d.looking.Lock()
	defer d.looking.Unlock()
	at := d.place.Home
	old := filepath.Join(filepath.Dir(at), oldPrefix+filepath.Base(at))
	d.removing.Wait()
	if err := RemoveTree(old); err != nil {
		return err
	}
	if err := os.Rename(at, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := furnish(at, fill); err != nil {
		return err
	}
	home, err := openHome(at)
	if err != nil {
		return err
	}
	_ = d.home.Close() // what it was open for is gone
	d.home, d.tree, d.index, d.skipped, d.looked, d.refused = home, tree, nil, nil, true, ""
	// Its computer gives it to a user of its own, which changes every file as far as an index can
	// tell: that is done first. Where it cannot be, the computer says why.
	_, given := computer.HomeUser(at)
	if tree != nil && given == nil {
		// Nobody has had the home yet, so the first look need not read what we wrote. Without
		// an index it does.
		if index, err := blob.Known(ctx, d.l.rt.Blobs, *tree, home); err == nil {
			d.index = index
		}
	}
	d.removing.Go(func() {
		if err := RemoveTree(old); err != nil {
			d.l.mail.fail(err)
		}
	})
	return nil
}

// seeds are the repositories that were put into homes in this run. mu guards them.
type seeds struct {
	mu  sync.Mutex
	all map[event.TreeRef]*repo.Seed
}

// of is the repository whose one commit has a tree, nil for none. It is made once.
func (s *seeds) of(ctx context.Context, r *Runtime, tree *event.TreeRef) (*repo.Seed, error) {
	if tree == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if seed := s.all[*tree]; seed != nil {
		return seed, nil
	}
	seed, err := repo.NewSeed(ctx, r.Blobs, *tree)
	if err != nil {
		return nil, err
	}
	if s.all == nil {
		s.all = map[event.TreeRef]*repo.Seed{}
	}
	s.all[*tree] = seed
	return seed, nil
}

func (s *seeds) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seed := range s.all {
		_ = seed.Close() // it is a folder of temporary files
	}
	s.all = nil
}
