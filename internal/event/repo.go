package event

// RepoSpec is the folder of files that agents work on: the files that git tracked at a commit,
// or those of a folder that is no repository. No history, settings, hooks or remotes come
// with them. Where the folder is on its owner's machine is not recorded.
type RepoSpec struct {
	// Commit is the id of the commit, empty for a folder that is no repository.
	Commit string `json:"commit,omitzero"`
	// Deliver is branch, if the owner has what the agents changed made a branch when the quest has
	// its answer.
	Deliver string `json:"deliver,omitzero"`
	// LeftOut are the first of those that are not in the tree: submodules, files in large file
	// storage, names that cannot be. More counts the others.
	LeftOut []Skipped `json:"left_out,omitempty"`
	More    int64     `json:"more,omitzero"`
	// Name is what the folder is called.
	Name string `json:"name"`
	// Tree is what each home begins with, unless something is prepared in it.
	Tree TreeRef `json:"tree"`
	// Worktree says that the tree has changes that were not committed.
	Worktree bool `json:"worktree,omitzero"`
}

// DeliverBranch has a quest's changes made a branch.
const DeliverBranch = "branch"

// maxLeftOut is how much of a quest.created the list of what was left out may take.
const maxLeftOut = 8 << 10

// Fit shortens the list of what was left out, however long the paths are.
func (r *RepoSpec) Fit() {
	kept, room := 0, maxLeftOut
	for _, s := range r.LeftOut {
		if room -= 25 + Weight(s.Path) + Weight(s.Reason); room < 0 {
			break
		}
		kept++
	}
	r.More += int64(len(r.LeftOut) - kept)
	r.LeftOut = r.LeftOut[:kept]
}

// PrepareCall has the quest's command for that run in a fresh home with the quest's network,
// before any agent does anything.
type PrepareCall struct {
	Command string `json:"command"`
}

// PrepareResult is the home that the command left, which every agent begins with, or why
// there is none.
type PrepareResult struct {
	Call uint64 `json:"call"`
	// Error says why the command was not run, or not to its end.
	Error string `json:"error,omitzero"`
	// Exit is its exit code, Output the end of what it printed.
	Exit int64 `json:"exit"`
	// Full is the quest's limit on storage, if that left no room for the home.
	Full   *Full `json:"full,omitzero"`
	Output Text  `json:"output"`
	// Stored is how many bytes the disk lost for it.
	Stored int64 `json:"stored,omitzero"`
	// Tree is the home afterwards, if the command succeeded.
	Tree *TreeRef `json:"tree,omitzero"`
}

// Failed reports whether nothing is prepared.
func (b *PrepareResult) Failed() bool { return b.Error != "" || b.Exit != 0 || b.Tree == nil }

func (*PrepareCall) Type() Type   { return "prepare.call" }
func (*PrepareResult) Type() Type { return "prepare.result" }

// Answers implements Result.
func (b *PrepareResult) Answers() uint64 { return b.Call }
