package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// On a store that many nodes share a keeper takes whatever is to run and nobody owns, as long as it has
// room: what was wanted elsewhere, what a node left that is gone, and what was said to quests that wait.
// Which node it is does not matter to anybody. What it cannot run, for it lacks rules, a driver or a
// model's key, it leaves to others, and says why.

// pool is what a keeper knows of the others. Only its goroutine uses told.
type pool struct {
	ledger.Pool
	node ledger.Node
	told map[string]string
}

// defaultRoom is how many quests a node runs at once if it is not told.
const defaultRoom = 64

// pullEvery is how often a node looks for quests, strandedEvery after how many such looks for those that
// no node can run.
const (
	pullEvery     = 500 * time.Millisecond
	strandedEvery = 20
)

// shares has the keeper be a node at an address, with room for so many quests, if its store is shared.
func (k *Keeper) shares(address string, room int) {
	p, ok := k.rt.Ledger.(ledger.Pool)
	if !ok {
		return
	}
	if room == 0 {
		room = defaultRoom
	}
	k.pool = &pool{Pool: p, node: ledger.Node{Address: address, Version: k.rt.Version, Room: room}, told: map[string]string{}}
	for _, s := range k.rt.Societies {
		k.pool.node.Rules = append(k.pool.node.Rules, s.Rules())
	}
	for _, d := range k.rt.Computers {
		k.pool.node.Drivers = append(k.pool.node.Drivers, d.Name())
	}
}

// Shares reports whether the store is one that many nodes share.
func (k *Keeper) Shares() bool { return k.pool != nil }

// join makes this server one of the nodes, which takes quests from then on.
func (k *Keeper) join(ctx context.Context) error {
	if err := k.pool.Join(ctx, k.pool.node); err != nil {
		return err
	}
	k.work.Go(func() {
		ctx, cancel := context.WithCancel(k.ctx)
		defer cancel()
		k.work.Go(func() {
			select {
			case <-k.quit:
				cancel()
			case <-ctx.Done():
			}
		})
		k.pullAll(ctx)
	})
	return nil
}

func (k *Keeper) pullAll(ctx context.Context) {
	for n := 0; k.pause(pullEvery); n++ {
		if room := k.room(); room > 0 {
			k.pull(ctx, room)
		}
		if n%strandedEvery == 0 {
			k.tellStranded(ctx)
		}
	}
}

// room is how many further quests may be run here.
func (k *Keeper) room() int { return k.pool.node.Room - k.Running() }

// pull takes some quests and runs them.
func (k *Keeper) pull(ctx context.Context, most int) {
	taken, err := k.pool.Pull(ctx, most)
	if err != nil && ctx.Err() == nil {
		k.log.Printf("%v", err)
	}
	for _, t := range taken {
		if _, err := k.begin(t.Quest, runtime.RunOptions{Claim: t.Claim, Only: k.goesOn}, leaveIt); err != nil {
			t.Claim.Release() // this server goes away
			continue
		}
		k.log.Printf("Going on with quest %s.", t.Quest)
	}
}

// goesOn reports whether a quest that is to run is gone on with. Where nodes share a store, one may have
// been left to the others before it was begun.
func (k *Keeper) goesOn(s *quest.State) bool {
	return goesOn(s) || k.pool != nil && s.Status == quest.Created
}

// stillWanted reports whether a quest that was not run after all is left to whichever node takes it.
func (k *Keeper) stillWanted(s *quest.State, err error) bool {
	return k.pool != nil && err == nil && s != nil && k.goesOn(s)
}

// leaves reports whether a quest that somebody starts is to be left to another node.
func (k *Keeper) leaves(limits event.Limits, noThinking bool) bool {
	if k.pool == nil || limits != (event.Limits{}) || noThinking {
		return false
	}
	k.mu.Lock()
	closing := k.closing
	k.mu.Unlock()
	return closing || k.room() <= 0
}

// leave has whatever node has room run a quest.
func (k *Keeper) leave(ctx context.Context, name string) error {
	claim, err := k.rt.Ledger.Claim(ctx, name)
	if err != nil {
		return err
	}
	defer claim.Release()
	return k.rt.Ledger.Want(ctx, ledger.Wanted{Quest: name})
}

// unfit reports whether a run has ended because this node cannot run the quest: nothing has come of it.
func (k *Keeper) unfit(r *run, err error) bool {
	return k.pool != nil && err != nil && r.first() && k.ctx.Err() == nil && !runtime.Passing(err) &&
		!errors.Is(err, ledger.ErrClaimed) && !errors.Is(err, ledger.ErrLost) && !errors.Is(err, ledger.ErrNoQuest) && !errors.Is(err, runtime.ErrHandedOver)
}

// refuse notes why this node cannot run a quest, so that others get it.
func (k *Keeper) refuse(name string, why error) error {
	k.work.Go(func() {
		ctx, cancel := context.WithTimeout(k.ctx, refuseTime)
		defer cancel()
		if err := k.pool.Refuse(ctx, name, where(k.pool.node)+": "+why.Error()); err != nil {
			k.log.Printf("%v", err)
		}
	})
	return fmt.Errorf("%w: it is left to another node", why)
}

const refuseTime = 10 * time.Second

func where(n ledger.Node) string {
	if n.Address == "" {
		return "a node"
	}
	return n.Address
}

// tellStranded tells of quests that no node can run, each time that changes.
func (k *Keeper) tellStranded(ctx context.Context) {
	list, err := k.pool.Stranded(ctx)
	if err != nil {
		return // it is looked at again
	}
	now := map[string]string{}
	for _, s := range list {
		now[s.Quest] = fmt.Sprintf("no node can run quest %s: %s", s.Quest, strings.Join(s.Why, "; "))
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if k.pool.told[name] != now[name] {
			k.log.Print(now[name])
		}
	}
	k.pool.told = now
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stranded = now
}
