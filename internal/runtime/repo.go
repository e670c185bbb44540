package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
)

// Origin is where the repository of a quest is on this machine. The ledger does not say so,
// for it goes on to others: in the home's folder repos there is a file for each such quest,
// with the hash of the quest's first event. A fork has the file of its origin. A quest that
// was imported has none: whoever delivers it says where to.
type Origin struct {
	First event.Hash `json:"first"`
	// Path is the folder, Base what the quest.yaml says of its base.
	Path string `json:"path"`
	Base string `json:"base,omitzero"`
	// Delivered are the branches that were made. They are no events: the ledger of a quest
	// that is over has a last hash, which commits and papers name.
	Delivered []Delivered `json:"delivered,omitempty"`
}

// Delivered is a branch that was made of what an agent changed.
type Delivered struct {
	Time   event.Time `json:"time"`
	Head   event.Hash `json:"head"`
	Agent  string     `json:"agent"`
	Branch string     `json:"branch"`
	Commit string     `json:"commit"`
	Base   string     `json:"base"`
	Moved  string     `json:"moved,omitzero"`
}

func (r *Runtime) originPath(name string) string { return filepath.Join(r.Home, "repos", name) }

// Origin returns where the repository of a quest is, nil if this home does not know.
func (r *Runtime) Origin(ctx context.Context, name string) (*Origin, error) {
	o := new(Origin)
	there, err := readNote(r.originPath(name), o)
	if err != nil {
		return nil, fmt.Errorf("read where the repository of quest %s is: %w; name it with --repo", name, err)
	}
	if there {
		there, err = r.isAbout(ctx, name, o.First)
	}
	if !there {
		return nil, err
	}
	return o, nil
}

func (r *Runtime) keepOrigin(name string, o *Origin) error {
	if err := r.keepNote(r.originPath(name), o); err != nil {
		return fmt.Errorf("note where the repository of quest %s is: %w", name, err)
	}
	return nil
}

// inherit has a fork know where the repository of its origin is.
func (r *Runtime) inherit(ctx context.Context, from, to string) error {
	o, err := r.Origin(ctx, from)
	if err != nil || o == nil {
		return err
	}
	o.Delivered = nil
	return r.keepOrigin(to, o)
}

// maxDelivered is how many deliveries are remembered of a quest.
const maxDelivered = 100

// NoteDelivery remembers that a branch was made, where the home knows the repository.
func (r *Runtime) NoteDelivery(ctx context.Context, name string, d Delivered) error {
	o, err := r.Origin(ctx, name)
	if err != nil || o == nil {
		return err
	}
	o.Delivered = append(o.Delivered, d)
	o.Delivered = o.Delivered[max(0, len(o.Delivered)-maxDelivered):]
	return r.keepOrigin(name, o)
}

// takeRepo reads the files that agents work on.
func (c *creation) takeRepo(ctx context.Context, root *os.Root, _ quest.Society, b *event.QuestCreated) error {
	spec := c.plan.Spec
	if spec.Repo == "" || !filepath.IsLocal(filepath.FromSlash(spec.Repo)) {
		return nil // of the latter the spec's own faults tell
	}
	dir, err := c.openFolder(root, "repo", spec.Repo)
	if err != nil {
		return err
	}
	defer dir.Close()
	at, err := filepath.Abs(dir.Name())
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return err
	}
	elsewhere := c.plan.Folders["repo"] != ""
	opts := repo.Options{Base: spec.Base, Plain: c.plan.Sent && !elsewhere, Over: c.plan.Over}
	if c.texts.dry {
		return c.repoFault(repo.Check(ctx, at, opts))
	}
	base, err := repo.Read(ctx, c.rt.Blobs, at, opts)
	if err != nil {
		return c.repoFault(err)
	}
	b.Repo = &event.RepoSpec{
		Commit: base.Commit, Deliver: spec.Deliver, LeftOut: base.LeftOut, Name: plain.Bare(c.rt.Redact(filepath.Base(at)), 100), Tree: base.Tree, Worktree: base.Worktree,
	}
	if spec.Deliver != "" && base.Commit == "" {
		return BadKey("deliver", "the folder is no git repository, so that there are no branches: leave deliver out")
	}
	if n := len(base.LeftOut); n > 0 && c.plan.Say != nil {
		c.plan.Say(fmt.Sprintf("%d files of the repository are left out, %s first: %s.", n, base.LeftOut[0].Path, base.LeftOut[0].Reason))
	}
	b.Repo.Fit()
	if !opts.Plain {
		c.origin = &Origin{Path: at, Base: spec.Base}
	}
	return nil
}

// repoFault tells what is wrong with a repository. What is wrong with our own storage is not
// the person's to mend.
func (c *creation) repoFault(err error) error {
	var stored *blob.StoreError
	if err == nil || errors.As(err, &stored) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if full, _ := unkept(err); full != nil {
		return err
	}
	return BadKey("repo", "%v", err)
}

// seed is the repository of one commit that homes of a quest have, nil if they have none.
func (r *Runtime) seed(ctx context.Context, s *quest.State) (*repo.Seed, error) {
	if s.Repo == nil {
		return nil, nil
	}
	return repo.NewSeed(ctx, r.Blobs, s.Repo.Tree, BoundsOf(s))
}

// seeded furnishes a home with a tree, a repository if there is one, and the quest's skills.
// What has expired is left out.
func (r *Runtime) seeded(ctx context.Context, s *quest.State, tree *event.TreeRef, seed *repo.Seed) func(*os.Root) error {
	return func(home *os.Root) error {
		if tree != nil {
			if err := blob.RestoreBut(ctx, r.Blobs, *tree, home, r.Expired(ctx, s)); err != nil {
				return err
			}
		}
		if seed != nil {
			if err := seed.Write(home); err != nil {
				return err
			}
		}
		return r.putSkills(ctx, s, home)
	}
}

// Furnished furnishes a home of a quest as an agent would find it with a tree in it.
func (r *Runtime) Furnished(ctx context.Context, s *quest.State, tree *event.TreeRef) func(*os.Root) error {
	return func(home *os.Root) error {
		seed, err := r.seed(ctx, s)
		if err != nil {
			return err
		}
		if seed != nil {
			defer seed.Close()
		}
		return r.seeded(ctx, s, tree, seed)(home)
	}
}

// Lent are the folders at the top of a quest's homes that Lyceum has put there, a repository and
// skills. They are no part of what an agent has made, whatever became of them.
func Lent(s *quest.State) (out []string) {
	if s.Repo != nil {
		out = append(out, repo.Dir)
	}
	return append(out, fixed(s)...)
}

// SnapshotHome takes a snapshot of a home without some folders at its top: they are not read.
func SnapshotHome(ctx context.Context, store blob.Store, home *os.Root, prev *blob.Index, but []string) (event.TreeRef, *blob.Index, []blob.Skipped, error) {
	if len(but) == 0 {
		return blob.Snapshot(ctx, store, home, prev)
	}
	return blob.SnapshotBut(ctx, store, home, prev, func(path string) bool { return slices.Contains(but, path) })
}
