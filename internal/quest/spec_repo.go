package quest

import (
	"path"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// BaseWorktree is the base that has changes which are not committed.
const BaseWorktree = "worktree"

// maxPrepare is how long a command may be; it stands in the quest's first event.
const maxPrepare = 4 << 10

// maxBase is how long the name of a commit may be.
const maxBase = 200

// inside reports whether a path stays in the folder that it is of.
func inside(p string) bool {
	p = path.Clean(p)
	return !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && plain.Printable(p)
}

// checkRepo finds what cannot be meant about the files that agents work on.
func (s *Spec) checkRepo() (faults []error) {
	add := func(wrong bool, key, format string, args ...any) {
		if wrong {
			faults = append(faults, Fault(key, format, args...))
		}
	}
	add(s.Repo != "" && !inside(s.Repo), "repo", "repo %.80q: want the folder of quest.yaml (.) or one below it; one elsewhere is named with --repo", s.Repo)
	add(s.Repo != "" && s.Data != "", "repo", "repo and data are both given: homes begin with one of them")
	add(s.Base != "" && s.Repo == "", "base", "base is given, and no repo that it is of")
	add(len(s.Base) > maxBase || strings.HasPrefix(s.Base, "-") || strings.Contains(s.Base, " ") || !plain.Printable(s.Base),
		"base", "base %.80q names no commit: give a branch, a tag or a commit, or worktree", s.Base)
	add(s.Deliver != "" && s.Deliver != event.DeliverBranch, "deliver", "deliver %.40q: want branch", s.Deliver)
	add(s.Deliver != "" && s.Repo == "", "deliver", "deliver is given, and no repo to deliver to")
	add(s.Deliver != "" && s.Base == BaseWorktree, "deliver", "a branch begins with a commit, and base is the work tree: leave deliver out, or name a commit as base")
	add(len(s.Prepare) > maxPrepare || strings.ContainsRune(s.Prepare, 0), "prepare", "prepare has more than %d bytes or a NUL: put it into a script in repo", maxPrepare)
	return faults
}
