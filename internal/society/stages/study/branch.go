package study

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// The kinds of lines of work.
const (
	KindMain     = "main"
	KindIdea     = "idea"
	KindRun      = "run"
	KindAnalysis = "analysis"
	KindPaper    = "paper"
)

// BranchKinds are those that are prepared; main is there from the start, and no event says so.
var BranchKinds = []string{KindIdea, KindRun, KindAnalysis, KindPaper}

// Main is the line of work that a study begins with.
const Main = "main"

// WorkDir is the folder of a home that has the folders of all lines of work, by their names.
const WorkDir = "work"

// Bounds of lines of work. MaxMessage is how many bytes say what a checkpoint is, maxID how many
// the id of a line of work has.
const (
	MaxMessage  = 1000
	maxID       = 64
	maxBranches = 500
)

// Lines are the lines of work of a study: branches of what is in the researcher's home, each
// with its checkpoints.
type Lines struct {
	// Branches are all of them in the order in which they were prepared, main first.
	Branches []*Branch `json:",omitempty"`
	// Current is the one that the researcher is at.
	Current string `json:",omitzero"`
	// Checkpoints are those of all branches, in their order.
	Checkpoints []Checkpoint `json:",omitempty"`
	// Placings and Savings are what the world is asked for, and the last answers.
	Placings []Placing `json:",omitempty"`
	Savings  []Saving  `json:",omitempty"`
}

// Branch is a line of work. It is a folder in the home, and a ref of the quest's repository.
type Branch struct {
	Name, Kind string
	Parent     string `json:",omitzero"`
	// Seq is the branch.prepared, 0 of main.
	Seq  uint64     `json:",omitzero"`
	Time event.Time `json:",omitzero"`
	// From is the checkpoint that it began with, Head its last one, or From as long as it has
	// none of its own; 0 if there is none. Count are its own.
	From  uint64 `json:",omitzero"`
	Head  uint64 `json:",omitzero"`
	Count int64  `json:",omitzero"`
	// Closed is the event that closed it, 0 while it is open.
	Closed uint64 `json:",omitzero"`
}

// Checkpoint is a step of a line of work.
type Checkpoint struct {
	Seq    uint64
	Parent uint64 `json:",omitzero"`
	Time   event.Time
	Actor  string
	Branch string
	// Message is what it is, in the researcher's words.
	Message string
	Tree    event.TreeRef
}

// Placing is a folder that is put into the home for a tool call.
type Placing struct {
	agent.Place
	Seq    uint64
	Branch string
	Tree   *event.TreeRef `json:",omitzero"`
	// Done says that it was answered: There, that the folder was there, and Error, why there
	// is none.
	Done  bool   `json:",omitzero"`
	There bool   `json:",omitzero"`
	Error string `json:",omitzero"`
}

// Holds reports whether the folder was put there as a tree has it.
func (p *Placing) Holds(tree *event.TreeRef) bool { return sameTree(p.Tree, tree) }

func sameTree(a, b *event.TreeRef) bool { return a == b || a != nil && b != nil && *a == *b }

// Saving is a folder that is recorded for a tool call.
type Saving struct {
	agent.Place
	Seq             uint64
	Branch, Message string
	// Result is what was found, nil as long as nobody has looked; Made is the checkpoint that
	// came of it, 0 if none has.
	Result *event.CheckpointResult `json:",omitzero"`
	Made   uint64                  `json:",omitzero"`
}

// maxAnswered is how many answers of the world are remembered. A tool call needs its own until
// it is answered itself.
const maxAnswered = 16

// newLines are those that a study begins with.
func newLines() Lines {
	return Lines{Branches: []*Branch{{Name: Main, Kind: KindMain}}, Current: Main}
}

// IsID reports whether an id can be a part of a branch's name: of paths and refs, on any system.
func IsID(id string) bool {
	if id == "" || len(id) > maxID || !alphanumeric(id[0]) {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !alphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// BranchName is the name of a line of work by its kind and id. That of an analysis is
// <run>/<campaign>-<slice>.
func BranchName(kind, id string) (string, error) {
	if !slices.Contains(BranchKinds, kind) {
		return "", fmt.Errorf("there is no kind of line of work %.40q to prepare: there are %s; %s is there", kind, strings.Join(BranchKinds, ", "), Main)
	}
	bad := fmt.Errorf("the id must have 1 to %d of a to z, 0 to 9, - and _, and begin with a letter or digit", maxID)
	if kind != KindAnalysis {
		if !IsID(id) {
			return "", bad
		}
		return kind + "/" + id, nil
	}
	run, slice, _ := strings.Cut(id, "/")
	campaign, question, _ := strings.Cut(slice, "-")
	if !IsID(run) || !IsID(slice) || campaign == "" || question == "" {
		return "", fmt.Errorf("the id of an analysis is <run>/<campaign>-<slice>: %w", bad)
	}
	return KindAnalysis + "/" + id, nil
}

// Branch is the line of work of that name, nil if there is none.
func (s *Study) Branch(name string) *Branch {
	for _, b := range s.Branches {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Here is the line of work that the researcher is at.
func (s *Study) Here() *Branch { return s.Branch(s.Current) }

// Folder is where a line of work is in the home.
func (b *Branch) Folder() string { return WorkDir + "/" + b.Name }

// Checkpoint is the one of that event, nil if there is none.
func (s *Study) Checkpoint(seq uint64) *Checkpoint {
	i, ok := slices.BinarySearchFunc(s.Checkpoints, seq, func(c Checkpoint, seq uint64) int {
		switch {
		case c.Seq < seq:
			return -1
		case c.Seq > seq:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &s.Checkpoints[i]
}

// Side is what a comparison names: a line of work, by its name or the id of its result, or one that
// would end with a checkpoint, by the number of that; nil if there is none.
func (s *Study) Side(name string) *Branch {
	if b := s.Branch(name); b != nil {
		return b
	}
	if r := s.Result(name); r != nil && r.Branch != "" {
		return s.Branch(r.Branch)
	}
	n, err := strconv.ParseUint(name, 10, 64)
	if c := s.Checkpoint(n); err == nil && c != nil {
		return &Branch{Name: name, Head: c.Seq}
	}
	return nil
}

// Tree is what a line of work was last recorded as, nil if nothing is.
func (s *Study) Tree(b *Branch) *event.TreeRef {
	if c := s.Checkpoint(b.Head); c != nil {
		return &c.Tree
	}
	return nil
}

// Ahead is how many checkpoints a line of work has that another has not, and Behind the other
// way round.
func (s *Study) Ahead(a, b *Branch) (ahead, behind int64) {
	return s.beyond(a.Head, s.lineage(b.Head)), s.beyond(b.Head, s.lineage(a.Head))
}

func (s *Study) lineage(head uint64) map[uint64]bool {
	out := map[uint64]bool{}
	for c := s.Checkpoint(head); c != nil; c = s.Checkpoint(c.Parent) {
		out[c.Seq] = true
	}
	return out
}

func (s *Study) beyond(head uint64, known map[uint64]bool) (n int64) {
	for c := s.Checkpoint(head); c != nil && !known[c.Seq]; c = s.Checkpoint(c.Parent) {
		n++
	}
	return n
}

// ParentOf is the line of work that a new one comes from if nobody says: an analysis is of its
// run, an idea or a paper of main, a run of where the researcher is.
func (s *Study) ParentOf(kind, id string) string {
	switch kind {
	case KindAnalysis:
		run, _, _ := strings.Cut(id, "/")
		return KindRun + "/" + run
	case KindRun:
		return s.Current
	}
	return Main
}

// MayPrepare says why a line of work cannot be prepared.
func (s *Study) MayPrepare(kind, id, parent string) (name string, err error) {
	if name, err = BranchName(kind, id); err != nil {
		return "", err
	}
	from := s.Branch(parent)
	switch {
	case s.Branch(name) != nil:
		return "", fmt.Errorf("there is a line of work %s already: activate_branch goes there", name)
	case from == nil:
		return "", fmt.Errorf("there is no line of work %.100q to begin from: there are %s", parent, s.names())
	case len(s.Branches) >= maxBranches:
		return "", fmt.Errorf("there are %d lines of work already", len(s.Branches))
	case kind != KindAnalysis:
		return name, nil
	case parent != s.ParentOf(kind, id):
		return "", fmt.Errorf("an analysis of a run is a child of it: its parent is %s", s.ParentOf(kind, id))
	case from.Closed == 0:
		return "", fmt.Errorf("%s has no recorded result yet that could be analysed: work on in it", parent)
	}
	return name, nil
}

// names lists the last lines of work.
func (s *Study) names() string {
	const most = 12
	var out []string
	for _, b := range s.Branches[max(0, len(s.Branches)-most):] {
		out = append(out, b.Name)
	}
	return strings.Join(out, ", ")
}

// MayActivate says why the researcher cannot go to a line of work.
func (s *Study) MayActivate(name string) error {
	switch {
	case s.Branch(name) == nil:
		return fmt.Errorf("there is no line of work %.100q: there are %s", name, s.names())
	case name == s.Current:
		return fmt.Errorf("you are at %s already", name)
	}
	return nil
}

// MayCheckpoint says why nothing of a line of work is recorded any more.
func (s *Study) MayCheckpoint(b *Branch) error {
	if b.Closed != 0 {
		return fmt.Errorf("%s is closed by its result, event %d: any more is a campaign, also of one slice, in a branch of kind analysis; anything else in a branch of its own", b.Name, b.Closed)
	}
	return nil
}

// Placing is what became of the folder for a tool call, nil if none was asked for.
func (s *Study) Placing(at agent.Place) *Placing {
	for i := len(s.Placings) - 1; i >= 0; i-- {
		if p := &s.Placings[i]; p.Place == at {
			return p
		}
	}
	return nil
}

// Saving is what became of the checkpoint for a tool call, nil if none was asked for.
func (s *Study) Saving(at agent.Place) *Saving {
	for i := len(s.Savings) - 1; i >= 0; i-- {
		if v := &s.Savings[i]; v.Place == at {
			return v
		}
	}
	return nil
}

// New is the checkpoint that follows from a folder that was recorded; nil if there is none:
// because of an error, of files that are refused, or because nothing has changed.
func (s *Study) New(v *Saving) *event.CheckpointMade {
	r, b := v.Result, s.Branch(v.Branch)
	if r == nil || v.Made != 0 || r.Tree == nil || r.Error != "" || len(r.Refused) > 0 || s.MayCheckpoint(b) != nil {
		return nil
	}
	if was := s.Tree(b); was != nil && *was == *r.Tree || was == nil && r.Files == 0 {
		return nil
	}
	return &event.CheckpointMade{Branch: b.Name, Message: v.Message, Parent: b.Head, Tree: *r.Tree}
}

// applyBranch takes in what is about lines of work.
func (s *Study) applyBranch(e event.Event) {
	switch b := e.Body.(type) {
	case *event.BranchPrepared:
		s.prepared(e, b)
	case *event.BranchActivated:
		s.activated(e, b)
	case *event.FolderCall:
		s.placing(e, b)
	case *event.FolderResult:
		s.placed(b)
	case *event.CheckpointCall:
		s.saving(e, b)
	case *event.CheckpointResult:
		s.saved(b)
	case *event.CheckpointMade:
		s.made(e, b)
	}
}

// prepared takes in a new line of work. Its folder is in the home by then.
func (s *Study) prepared(e event.Event, b *event.BranchPrepared) {
	at := agent.Place{Answer: b.Answer, Part: b.Part}
	id := strings.TrimPrefix(b.Name, b.Kind+"/")
	name, err := s.MayPrepare(b.Kind, id, b.Parent)
	if err == nil && name != b.Name {
		err = errors.New("its name is not that of its kind")
	}
	if p := s.Placing(at); err == nil && (p == nil || !p.Done || p.Error != "" || p.Branch != b.Name || !p.Holds(b.Tree)) {
		err = errors.New("its folder was not put into the home")
	}
	if err != nil {
		panic(fmt.Sprintf("branch.prepared %.100q: %v", b.Name, err))
	}
	from := s.Branch(b.Parent)
	if b.From != from.Head || !sameTree(s.Tree(from), b.Tree) {
		panic(fmt.Sprintf("branch.prepared %.100q does not begin with the last checkpoint of %s", b.Name, from.Name))
	}
	s.did(e, at)
	s.Branches = append(s.Branches, &Branch{Name: b.Name, Kind: b.Kind, Parent: b.Parent, Seq: e.Seq, Time: e.Time, From: b.From, Head: b.From})
}

// activated takes in that the researcher goes to another line of work.
func (s *Study) activated(e event.Event, b *event.BranchActivated) {
	at := agent.Place{Answer: b.Answer, Part: b.Part}
	if err := s.MayActivate(b.Name); err != nil {
		panic("branch.activated: " + err.Error())
	}
	if p := s.Placing(at); p == nil || !p.Done || p.Error != "" || p.Branch != b.Name {
		panic(fmt.Sprintf("branch.activated %.100q: its folder is not in the home", b.Name))
	}
	s.did(e, at)
	s.Current = b.Name
}

// placing takes in that a folder is to be put into the home.
func (s *Study) placing(e event.Event, b *event.FolderCall) {
	s.Placings = append(s.Placings, Placing{Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq, Branch: b.Branch, Tree: b.Tree})
	if n := len(s.Placings) - maxAnswered; n > 0 && s.Placings[0].Done {
		s.Placings = slices.Delete(s.Placings, 0, 1)
	}
}

// placed takes in what became of it. One that a fork has forgotten is nobody's.
func (s *Study) placed(b *event.FolderResult) {
	for i := range s.Placings {
		if p := &s.Placings[i]; p.Seq == b.Call && !p.Done {
			p.Done, p.There, p.Error = true, b.There, b.Error
		}
	}
}

// saving takes in that a folder is to be recorded.
func (s *Study) saving(e event.Event, b *event.CheckpointCall) {
	of := s.Branch(b.Branch)
	if of == nil || s.MayCheckpoint(of) != nil || b.Message == "" {
		panic(fmt.Sprintf("checkpoint.call: nothing can be recorded of %.100q", b.Branch))
	}
	s.Savings = append(s.Savings, Saving{Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq, Branch: b.Branch, Message: b.Message})
	if n := len(s.Savings) - maxAnswered; n > 0 && s.Savings[0].Result != nil {
		s.Savings = slices.Delete(s.Savings, 0, 1)
	}
}

// saved takes in what was found. Lists of names are for the answer, and no longer needed once
// there are newer ones.
func (s *Study) saved(b *event.CheckpointResult) {
	for i := range s.Savings {
		switch v := &s.Savings[i]; {
		case v.Seq == b.Call && v.Result == nil:
			v.Result = b
		case v.Result != nil && len(v.Result.LeftOut) > 0:
			short := *v.Result
			short.LeftOut = nil
			v.Result = &short
		}
	}
}

// made takes in a checkpoint: what was recorded last, of a line of work that is open, and
// something else than what was there.
func (s *Study) made(e event.Event, b *event.CheckpointMade) {
	for i := range s.Savings {
		v := &s.Savings[i]
		if v.Branch != b.Branch {
			continue
		}
		if want := s.New(v); want != nil && *want == *b {
			v.Made = e.Seq
			of := s.Branch(b.Branch)
			s.Checkpoints = append(s.Checkpoints, Checkpoint{Seq: e.Seq, Parent: b.Parent, Time: e.Time, Actor: e.Actor, Branch: b.Branch, Message: b.Message, Tree: b.Tree})
			of.Head = e.Seq
			of.Count++
			s.durable()
			return
		}
	}
	panic(fmt.Sprintf("checkpoint.made of %.100q does not follow from what was recorded of it", b.Branch))
}

// closeBranch notes that a result closes its line of work. It panics if there is none, or if
// it was closed before.
func (s *Study) closeBranch(name string, by uint64) {
	b := s.Branch(name)
	if b == nil || b.Closed != 0 {
		panic(fmt.Sprintf("event %d closes the line of work %.100q, which is none or is closed", by, name))
	}
	b.Closed = by
}

// abandon forgets what was asked of the world and not answered, as a fork does.
func (l *Lines) abandon() {
	l.Placings = slices.DeleteFunc(l.Placings, func(p Placing) bool { return !p.Done })
	l.Savings = slices.DeleteFunc(l.Savings, func(v Saving) bool { return v.Result == nil })
}
