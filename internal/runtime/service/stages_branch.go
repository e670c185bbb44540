package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/workspace"
)

// Bounds of a checkpoint.
const (
	// maxKept is how large a file of a line of work may be.
	maxKept = 50 << 20
	// maxNames is how many names an answer has of files that were left out or refused.
	maxNames = 40
)

// branchServices are what is asked about lines of work.
func branchServices(q *runtime.Quest) map[event.Type]runtime.Service {
	return map[event.Type]runtime.Service{"folder.call": &folders{q}, "checkpoint.call": &checkpoints{q: q, known: map[string]*seen{}}}
}

// folders answers folder.call: it puts lines of work into the researcher's home.
type folders struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *folders) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.FolderCall)
	tool := toolOf(s.q.State, e.Actor, agent.Place{Answer: b.Answer, Part: b.Part})
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.FolderResult{Call: e.Seq}
		there, told, err := s.q.PutFolder(runtime.Refusable(ctx), e.Actor, e.Seq, tool, study.WorkDir+"/"+b.Branch, b.Tree)
		r.There = there
		if r.Error, err = unfit(s.q, err); err != nil {
			return nil, fmt.Errorf("folder.call %d: %w", e.Seq, err)
		}
		return append(told, s.q.Result(e.Seq, "core", r)), nil
	}, nil
}

// toolOf is the open call of an agent that stands at a place, 0 if there is none.
func toolOf(s *quest.State, actor string, at agent.Place) uint64 {
	a := s.Agent(actor)
	if a == nil {
		return 0
	}
	for i := range a.Open {
		if u := &a.Open[i]; u.Place() == at {
			return u.Call
		}
	}
	return 0
}

// unfit takes an error for what the agent is told, if that is its home's affair.
func unfit(q *runtime.Quest, err error) (string, error) {
	if way, ok := errors.AsType[*runtime.InTheWay](err); ok {
		return runtime.AtMost(q.Redact(way.Why), 1000), nil
	}
	if errors.Is(err, runtime.ErrNoHome) {
		return err.Error(), nil
	}
	return "", err
}

// checkpoints answers checkpoint.call: it records the folder of a line of work. What it knows of
// files from the last time only saves reading them again.
type checkpoints struct {
	q *runtime.Quest

	mu    sync.Mutex // guards known, and is held while a folder is recorded
	known map[string]*seen
}

// seen is what is known of the files of a branch. clean are those that were read, and in which
// no key was.
type seen struct {
	index *blob.Index
	clean map[string]stamp
}

// stamp is what a file looks like from outside.
type stamp struct {
	size, changed int64
	inode         uint64
}

// Start implements runtime.Service.
func (s *checkpoints) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.CheckpointCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := &event.CheckpointResult{Call: e.Seq}
		err := s.q.InHome(e.Actor, func(home *os.Root) error { return s.record(runtime.Refusable(ctx), home, b.Branch, r) })
		if why, full := runtime.NoRoom(err); full {
			*r, err = event.CheckpointResult{Call: e.Seq, Error: "there is no room to keep it: " + why}, nil
		}
		if _, closed := errors.AsType[*blob.UnreadableError](err); closed { // its words name a folder of this machine
			*r, err = event.CheckpointResult{Call: e.Seq, Error: "the folder cannot be read: give yourself the right to it"}, nil
		}
		why, err := unfit(s.q, err)
		if err != nil {
			return nil, fmt.Errorf("checkpoint.call %d: %w", e.Seq, err)
		}
		if why != "" {
			r.Error = why
		}
		const least = 4
		if err := fit(r, half(&r.LeftOut, least, nil), half(&r.Refused, least, nil)); err != nil {
			return nil, fmt.Errorf("checkpoint.call %d: %w", e.Seq, err)
		}
		return []event.Draft{s.q.Result(e.Seq, "core", r)}, nil
	}, nil
}

// record records the folder of a branch, if there is one.
func (s *checkpoints) record(ctx context.Context, home *os.Root, branch string, r *event.CheckpointResult) error {
	root, err := runtime.OpenFolder(home, study.WorkDir+"/"+branch)
	if err != nil || root == nil {
		return err
	}
	defer root.Close()
	was := s.known[branch]
	if was == nil {
		was = &seen{}
	}
	k := &sieve{ctx: ctx, rt: s.q.Runtime, root: root, ignores: repo.NewIgnores(root), was: was.clean, clean: map[string]stamp{}}
	tree, index, skipped, err := blob.SnapshotBut(ctx, s.q.Blobs, root, was.index, k.leave)
	if err = errors.Join(k.err, err); err != nil {
		return err
	}
	for _, x := range skipped {
		k.left(x.Path, "it cannot be recorded: "+x.Reason)
	}
	s.known[branch] = &seen{index, k.clean}
	r.LeftOut, r.Refused = clipped(k.leftOut, maxNames), clipped(k.refused, maxNames)
	if len(k.refused) > 0 {
		delete(s.known, branch)
		return nil
	}
	r.Tree = &tree
	return blob.Files(ctx, s.q.Blobs, tree, func(_ string, ref event.Ref) error {
		r.Files++
		r.Size += ref.Size
		return nil
	})
}

// sieve says what of a folder is not recorded. The folder is a hostile agent's.
type sieve struct {
	ctx              context.Context
	rt               *runtime.Runtime
	root             *os.Root
	ignores          *workspace.Ignores
	was, clean       map[string]stamp
	leftOut, refused []event.Skipped
	err              error // of this machine, not of the folder
}

func (k *sieve) left(at, why string) {
	k.leftOut = append(k.leftOut, event.Skipped{Path: at, Reason: why})
}

// caches are names of what programs make again by themselves.
var caches = []string{
	"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".ipynb_checkpoints", ".cache", ".venv", ".tox", ".nox", ".gradle", ".DS_Store", "node_modules",
}

// leave is asked about each name before it is read. Once a file is refused nothing is recorded,
// and the others are only looked at.
func (k *sieve) leave(at string) bool {
	name := path.Base(at)
	switch {
	case k.err != nil:
		return true
	case workspace.DotGit(name):
		k.left(at, "it is git's own")
		return true
	case slices.Contains(caches, name) || strings.HasSuffix(name, ".pyc"):
		k.left(at, "it is a cache")
		return true
	}
	info, err := k.root.Lstat(at)
	if err != nil {
		return false // whoever reads it says what is wrong
	}
	named, err := k.ignores.Names(at, info.IsDir())
	switch {
	case err != nil:
		k.err = err
		return true
	case named:
		k.left(at, repo.Ignored)
		return true
	case info.IsDir():
		return k.cache(at)
	case !info.Mode().IsRegular():
		return len(k.refused) > 0
	case info.Size() > maxKept:
		k.refused = append(k.refused, event.Skipped{Path: at, Reason: fmt.Sprintf("it has %d MiB, and a file may have %d: keep what it is made of, or name it in .gitignore", info.Size()>>20, maxKept>>20)})
		return true
	}
	k.look(at, info)
	return k.err != nil || len(k.refused) > 0
}

// tag is how a folder begins that programs mark as a cache.
const tag = "Signature: 8a477f597d28d172789f06886806bc55"

func (k *sieve) cache(at string) bool {
	data, err := repo.ReadPlain(k.root, at+"/CACHEDIR.TAG", 4<<10)
	if k.err = err; err == nil && strings.HasPrefix(string(data), tag) {
		k.left(at, "it is a cache, as its CACHEDIR.TAG says")
		return true
	}
	return err != nil
}

// look reads a file that is new or has changed, and refuses one with a key in it.
func (k *sieve) look(at string, info fs.FileInfo) {
	now := stampOf(info)
	if was, ok := k.was[at]; ok && was == now && now.inode != 0 {
		k.clean[at] = now
		return
	}
	f, err := k.root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return // whoever reads it says what is wrong
	}
	defer f.Close()
	held, err := k.rt.HoldsSecret(blob.Interruptible(k.ctx, f))
	switch {
	case k.ctx.Err() != nil:
		k.err = k.ctx.Err()
	case err != nil: // whoever reads it says what is wrong
	case held:
		k.refused = append(k.refused, event.Skipped{Path: at, Reason: "it holds a key that this process uses"})
	default:
		k.clean[at] = now
	}
}

func stampOf(info fs.FileInfo) (out stamp) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		out = stamp{size: info.Size(), changed: st.Ctim.Nano(), inode: st.Ino}
	}
	return out
}
