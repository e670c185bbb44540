package runtime

import (
	"context"
	"fmt"
	"os"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
)

// prepare sets up the folder of a quest from its ledger. Files are written before homes:
// an existing home proves that the files are complete. A home that is missing is
// restored as it was last recorded; one that is there is left alone.
func (r *Runtime) prepare(ctx context.Context, name string, s *quest.State) error {
	var missing []*agent.Agent
	for _, a := range homed(s) {
		if _, err := os.Lstat(r.agentDir(name, a.Name)); err != nil {
			missing = append(missing, a)
		}
	}
	if len(missing) == 0 && !s.Unprepared() {
		return r.restoreFiles(ctx, name, s)
	}
	if err := r.WriteFolder(ctx, name, s); err != nil {
		return err
	}
	seed, err := r.seed(ctx, s)
	if err != nil {
		return err
	}
	if seed != nil {
		defer seed.Close()
	}
	return r.prepareHomes(ctx, name, s, missing, seed)
}

// WriteFolder writes what people read in the folder of a quest that nobody runs: the
// files that follow from its ledger, those of its society first: where a summary is, they
// are. A history of them is written by whoever runs the quest.
func (r *Runtime) WriteFolder(ctx context.Context, name string, s *quest.State) error {
	if folder := r.folder(s); folder != nil {
		if err := folder.Write(ctx, r.look(name, s, nil)); err != nil {
			return err
		}
	}
	return r.writeFiles(ctx, name, s)
}

// homed are the agents that have homes: those with a model, and the first. Others have
// no use for one, nor have those whom their society houses nowhere. Nobody has one before what
// they begin with is prepared.
func homed(s *quest.State) (out []*agent.Agent) {
	for _, a := range seated(s) {
		if s.Houses(a) {
			out = append(out, a)
		}
	}
	return out
}

// seated are the agents that have desks: those with homes, and those that use tools without.
func seated(s *quest.State) (out []*agent.Agent) {
	if s.Unprepared() {
		return nil
	}
	for i, a := range s.Agents {
		if i == 0 || a.Model != "" {
			out = append(out, a)
		}
	}
	return out
}

// homesAtOnce is how many homes are made at the same time. One after another, those of
// hundreds of agents would spend the beginning of a quest on waiting for one core and the disk in turn.
const homesAtOnce = 8

// prepareHomes makes homes, and stops at the first that cannot be made.
func (r *Runtime) prepareHomes(ctx context.Context, name string, s *quest.State, agents []*agent.Agent, seed *repo.Seed) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan *agent.Agent)
	var making sync.WaitGroup
	for range min(homesAtOnce, len(agents)) {
		making.Go(func() {
			for a := range next {
				if ctx.Err() != nil {
					continue
				}
				if err := furnish(r.agentDir(name, a.Name), r.seeded(ctx, s, a.Tree, seed)); err != nil {
					stop(fmt.Errorf("restore the home of %s in quest %s: %w", a.Name, name, err))
				}
			}
		})
	}
	for _, a := range agents {
		next <- a
	}
	close(next)
	making.Wait()
	return context.Cause(ctx)
}
