package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
)

// ErrNotOfARepo says that there is nothing to deliver to.
var ErrNotOfARepo = errors.New("its agents did not work on a repository: repo in quest.yaml, or run --repo, gives them one")

// Changed are the agents whose homes are not as they began, in the order of the agents.
func Changed(s *quest.State) (names []string) {
	begun := s.Begun()
	for _, a := range s.Agents {
		if a.Tree != nil && (begun == nil || *a.Tree != *begun) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Delivery is what an agent changed, and which agent that is. Without a name it is the one
// that changed something, and of several the one whose answer the quest has.
func (r *Runtime) Delivery(ctx context.Context, s *quest.State, name string) (*repo.Delivery, string, error) {
	if s.Repo == nil {
		return nil, "", &PlanError{ErrNotOfARepo}
	}
	if tree := s.Produced(); tree != nil && name == "" {
		return r.produced(ctx, s, *tree)
	}
	a, err := deliverer(s, name)
	if err != nil {
		return nil, "", err
	}
	t := repo.Trees{Base: s.Repo.Tree, Begun: *s.Begun(), Home: *s.Begun(), LeftOut: s.Repo.LeftOut}
	if a.Tree != nil {
		t.Home = *a.Tree
	}
	d, err := repo.Deliver(ctx, r.Blobs, t)
	if err != nil {
		return nil, "", fmt.Errorf("deliver what %s changed: %w", a.Name, err)
	}
	return d, a.Name, nil
}

// Deliverer is the agent whose changes are meant where nobody names one: the one that changed
// something, or of several the one whose answer the quest has. It is nil where a person must
// choose.
func Deliverer(s *quest.State) *agent.Agent {
	switch changed := Changed(s); {
	case len(changed) == 0:
		return s.Agents[0]
	case len(changed) == 1:
		return s.Agent(changed[0])
	case s.Status == quest.Finished && slices.Contains(changed, s.Answerer):
		return s.Agent(s.Answerer)
	}
	return nil
}

// produced is what a quest has made all together, in the name of its society.
func (r *Runtime) produced(ctx context.Context, s *quest.State, tree event.TreeRef) (*repo.Delivery, string, error) {
	d, err := repo.Deliver(ctx, r.Blobs, repo.Trees{Base: s.Repo.Tree, Begun: *s.Begun(), Home: tree, LeftOut: s.Repo.LeftOut})
	if err != nil {
		return nil, "", fmt.Errorf("deliver what quest %s has made: %w", s.Name, err)
	}
	return d, s.Society(), nil
}

// deliverer finds the agent whose changes are meant.
func deliverer(s *quest.State, name string) (*agent.Agent, error) {
	if name != "" {
		if a := s.Agent(name); a != nil {
			return a, nil
		}
		return nil, BadPlan("there is no agent %.60q in the quest", name)
	}
	if a := Deliverer(s); a != nil {
		return a, nil
	}
	changed := Changed(s)
	const most = 10
	list := strings.Join(changed[:min(len(changed), most)], ", ")
	if n := len(changed) - most; n > 0 {
		list += fmt.Sprintf(" and %d others", n)
	}
	return nil, BadPlan("several agents have changed files: choose one with --agent: %s", list)
}

// BranchOptions say what branch is made. The zero value works where the home knows the
// repository.
type BranchOptions struct {
	Agent string
	// Dir is the repository, Branch the name of the branch.
	Dir, Branch string
}

// Branch makes a branch of what an agent changed. It is noted beside the ledger.
func (r *Runtime) Branch(ctx context.Context, name string, s *quest.State, o BranchOptions) (*repo.Branched, *repo.Delivery, string, error) {
	d, who, err := r.Delivery(ctx, s, o.Agent)
	if err != nil {
		return nil, nil, "", err
	}
	if s.Repo.Worktree {
		return nil, nil, "", BadPlan("the quest began with changes that were not committed, and a branch begins with a commit: use --apply, or print the patch")
	}
	if s.Repo.Commit == "" {
		return nil, nil, "", &PlanError{repo.ErrNoRepository}
	}
	origin, err := r.Origin(ctx, name)
	if err != nil {
		return nil, nil, "", err
	}
	was, dir := "", o.Dir
	if dir == "" && origin != nil {
		dir, was = origin.Path, origin.Base
	}
	if dir == "" {
		return nil, nil, "", &PlanError{ErrNoOrigin}
	}
	made, err := d.Branch(ctx, dir, repo.Commit{
		Branch: cmp.Or(o.Branch, "lyceum/"+s.Name), Base: s.Repo.Commit, Was: was, Time: time.UnixMicro(int64(s.Time)),
		Message: fmt.Sprintf("Changes by %s of quest %s\n\nQuest: %s\nHead: %s\n", who, s.Name, s.Name, s.Hash),
	})
	if err != nil || made.Already {
		return made, d, who, err
	}
	return made, d, who, r.NoteDelivery(ctx, name, Delivered{
		Time: r.Clock(), Head: s.Hash, Agent: who, Branch: made.Branch, Commit: made.Commit, Base: s.Repo.Commit, Moved: made.Moved,
	})
}

// ErrNoOrigin says that this home does not know where a repository is.
var ErrNoOrigin = errors.New("this home does not know the quest's repository, for the quest came from elsewhere or from a request: name it with --repo <folder>")

// deliverAsked makes the branch that a quest.yaml asks for, once the quest has its answer. That
// of a stranger's quest asks in vain. What goes wrong is told, and is not the run's failure.
func (l *live) deliverAsked(ctx context.Context) {
	s := l.state
	if s.Repo == nil || s.Repo.Deliver != event.DeliverBranch || s.Status != quest.Finished || l.imported != nil {
		return
	}
	switch made, d, who, err := l.rt.Branch(ctx, l.key, s, BranchOptions{}); {
	case err != nil:
		l.progress(fmt.Sprintf("The changes were not made a branch: %v. Try: lyceum deliver %s", err, l.key))
	default:
		l.progress(Tell(made, who, len(d.Changes)))
	}
}

// Tell says in a line what branch was made.
func Tell(made *repo.Branched, who string, files int) string {
	text := fmt.Sprintf("Branch %s has the changes of %s: %s, commit %.12s.", made.Branch, who, policy.Several(int64(files), "file", "files"), made.Commit)
	if made.Already {
		text = fmt.Sprintf("Branch %s has the changes of %s already: commit %.12s.", made.Branch, who, made.Commit)
	}
	if made.Moved != "" {
		text += fmt.Sprintf(" The base has moved since, to %.12s: merge or rebase the branch.", made.Moved)
	}
	return text
}
