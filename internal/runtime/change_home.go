package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// ErrNoHome says that an agent has no home in this run.
var ErrNoHome = errors.New("there is no home")

// InHome lets a service of a workshop work in the home of an agent. Nobody looks at the home
// meanwhile; what the agent's own programs do there, they do.
func (q *Quest) InHome(agent string, do func(home *os.Root) error) error {
	d := q.desks[agent]
	if d == nil || d.home == nil {
		return ErrNoHome
	}
	d.looking.Lock()
	defer d.looking.Unlock()
	return do(d.home)
}

// Guard keeps a reader of a home to what the quest lets its agents read.
func (q *Quest) Guard() *computer.Guard { return &computer.Guard{Bounds: q.Spec.Bounds} }

// InTheWay is why nothing can be put into a home, or taken from it, in words for its agent.
type InTheWay struct{ Why string }

func (e *InTheWay) Error() string { return e.Why }

// OpenFolder opens a folder of a home that no link leads to, nil if there is none.
func OpenFolder(home *os.Root, at string) (*os.Root, error) {
	for i := range len(at) + 1 {
		if i < len(at) && at[i] != '/' {
			continue
		}
		switch info, err := home.Lstat(at[:i]); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, &InTheWay{fmt.Sprintf("%s cannot be looked at", at[:i])}
		case !info.IsDir():
			return nil, &InTheWay{fmt.Sprintf("%s is no folder, and links are not followed: move it away", at[:i])}
		}
	}
	folder, err := home.OpenRoot(at)
	if err != nil {
		return nil, &InTheWay{fmt.Sprintf("%s cannot be opened: give yourself the right to it", at)}
	}
	return folder, nil
}

// PutFolder puts a tree into the home of an agent, at a path that no link leads to, and tells
// what that changed, as of a tool call that is open. A folder that is there stays as it is. What
// is put there is whole, or nothing is there: it is made beside, under a name of the call's, and
// goes again if there is no room to record it.
func (q *Quest) PutFolder(ctx context.Context, agent string, call, tool uint64, at string, tree *event.TreeRef) (there bool, told []event.Draft, err error) {
	err = q.InHome(agent, func(home *os.Root) error {
		folder, err := OpenFolder(home, at)
		if err != nil {
			return err
		}
		if there = folder != nil; there {
			return folder.Close()
		}
		if hides, err := q.hides(ctx, tree, 0); err != nil {
			return err
		} else if hides {
			// The next computer covers what is hidden; this one would show it.
			if err := q.desks[agent].leave(true); err != nil {
				return fmt.Errorf("end a computer: %w", err)
			}
		}
		return q.putFolder(ctx, home, call, at, tree)
	})
	if err != nil || there {
		return there, nil, err
	}
	by := byNobody
	if tool != 0 {
		by = byTool(tool)
	}
	err = q.desks[agent].look(ctx, by, func(seen sight) error {
		if seen.full == nil {
			told = seen.diff
			return nil
		}
		no := &InTheWay{fmt.Sprintf("there is no room to record it with what else is new in your home: %s of %s of storage are used", policy.Room(seen.full.Used), policy.Room(seen.full.Max))}
		if q.desks[agent].home.RemoveAll(at) != nil {
			no.Why += "; and it could not be taken away again"
		}
		return no
	})
	return false, told, err
}

// putFolder makes the folder beside, and gives it its name. Nothing is left of one that cannot be
// made. A disk that is full is no affair of the home.
func (q *Quest) putFolder(ctx context.Context, home *os.Root, call uint64, at string, tree *event.TreeRef) error {
	top, _, _ := strings.Cut(at, "/")
	fresh := path.Join(top, fmt.Sprintf(".new-%d", call))
	err := errors.Join(home.RemoveAll(fresh), home.MkdirAll(fresh, 0o755), home.MkdirAll(path.Dir(at), 0o755))
	if err == nil {
		err = q.fillFolder(ctx, home, fresh, tree)
	}
	if err == nil {
		err = home.Rename(fresh, at)
	}
	if err == nil {
		err = giveAll(home, at)
	}
	if err == nil {
		return nil
	}
	_ = home.RemoveAll(fresh) // the next call for it would
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case Passing(err) || blob.Full(err):
		return err
	}
	return &InTheWay{fmt.Sprintf("there is no way to put it there: see that nothing else writes to %s, and that there is room", top)}
}

// hides reports whether a tree holds what agents may not read.
func (q *Quest) hides(ctx context.Context, tree *event.TreeRef, depth int) (bool, error) {
	if tree == nil || len(q.Spec.Bounds.Hide) == 0 {
		return false, nil
	}
	list, err := blob.ReadTree(ctx, q.Blobs, *tree)
	if err != nil {
		return false, err
	}
	for _, e := range list {
		if q.Spec.Bounds.Hidden(e.Name) != "" || depth > 1000 {
			return true, nil
		}
		if e.Kind == blob.Dir {
			if hides, err := q.hides(ctx, new(event.TreeRef(e.Ref())), depth+1); hides || err != nil {
				return hides, err
			}
		}
	}
	return false, nil
}

func (q *Quest) fillFolder(ctx context.Context, home *os.Root, at string, tree *event.TreeRef) error {
	folder, err := home.OpenRoot(at)
	if err != nil {
		return err
	}
	defer folder.Close()
	if tree != nil {
		if err := blob.Restore(ctx, q.Blobs, *tree, folder); err != nil {
			return err
		}
	}
	return giveAll(home, at)
}

// HoldsSecret reports whether a text has a secret in it that this process uses.
func (r *Runtime) HoldsSecret(in io.Reader) (bool, error) {
	secrets := r.secrets()
	if len(secrets) == 0 {
		return false, nil
	}
	return holdsOneOf(in, secrets)
}
