package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// prepareOwner is whose the computer is that a preparation runs in.
const prepareOwner = "prepare"

// prepareService runs the quest's command in the home that agents begin with. After a crash it
// is run again from the beginning: a home that was half prepared is of no use.
type prepareService struct{}

func (prepareService) start(ctx context.Context, l *live, e event.Event) error {
	b := e.Body.(*event.PrepareCall)
	begin, lent := l.state.Begun(), Lent(l.state)
	furnish := l.rt.Furnished(ctx, l.state, begin)
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		tab := l.storage.tab(nobody)
		r, blobs, err := l.prepareHome(tab.on(ctx), e.Seq, b.Command, furnish, lent)
		if full, why := unkept(err); full != nil {
			r, blobs, err = &event.PrepareResult{Error: "there is no room to keep what it left: " + AtMost(why, 2000), Full: full}, nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("prepare.call %d: %w", e.Seq, err)
		}
		tab.small(blobs)
		r.Call, r.Stored = e.Seq, tab.taken()
		return []event.Draft{{Parent: e.Seq, Time: l.rt.Clock(), Actor: "core", Body: r, Blobs: blobs}}, nil
	})
	return nil
}

// prepareHome runs a command in a fresh home, and records what it left.
func (l *live) prepareHome(ctx context.Context, seq uint64, command string, furnish func(*os.Root) error, lent []string) (r *event.PrepareResult, blobs [][]byte, err error) {
	r = &event.PrepareResult{}
	registries, env, lack, err := l.registries(l.spec.Network)
	if err != nil {
		r.Error = AtMost(l.rt.Redact(err.Error()), 2000)
		return r, nil, nil
	}
	s, err := l.freshStation(ctx, StationOptions{Network: l.spec.Network, Furnish: furnish, registries: registries, whole: true})
	if err == nil && registries != nil {
		if err = trustIn(ctx, s, registries); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		r.Error = AtMost(l.rt.Redact("no computer could be started for it: "+err.Error()), 2000)
		return r, nil, nil
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	res, err := s.Run(ctx, computer.Command{ID: commandID(seq), Args: []string{"sh", "-c", command}, Env: env})
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		r.Error = AtMost(l.rt.Redact("it could not be run: "+err.Error()), 2000)
		return r, nil, nil
	}
	t := &texts{rt: l.rt}
	if r.Output, err = t.of(ctx, lastWords(res), maxInline); err != nil {
		return nil, nil, err
	}
	if r.Exit = int64(res.Exit); res.End != "" {
		r.Error = "it was ended: " + res.End
	}
	if r.Exit != 0 || r.Error != "" {
		if lack != "" {
			r.Error = AtMost(cmp.Or(r.Error, fmt.Sprintf("the command ended with exit code %d", r.Exit))+"; "+lack, 2000)
		}
		return r, t.small, nil
	}
	home, err := openHome(s.place.Home)
	if err != nil {
		return nil, nil, err
	}
	defer home.Close()
	tree, _, _, err := SnapshotHome(ctx, l.rt.Blobs, home, nil, lent)
	r.Tree = &tree
	return r, t.small, err
}

// freshStation opens the computer for preparations with a home that nothing has run in. What a
// killed process left there goes first.
func (l *live) freshStation(ctx context.Context, o StationOptions) (*Station, error) {
	fresh, fill := false, o.Furnish
	o.Furnish = func(home *os.Root) error {
		fresh = true
		return fill(home)
	}
	for {
		s, err := l.stations.openFor(ctx, prepareOwner, o)
		if err != nil || fresh {
			return s, err
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
}

// maxLastWords is how much of a command's output is kept.
const maxLastWords = 4 << 10

// lastWords is the end of what a command printed, complaints last.
func lastWords(res *computer.Result) string {
	text := ""
	for _, o := range []computer.Output{res.Stdout, res.Stderr} {
		out := o.Head
		if len(o.Tail) > 0 {
			out = o.Tail
		}
		text += string(out[max(0, len(out)-maxLastWords/2):])
	}
	return Clean(text)
}

// moveIn makes the homes of agents, once they are prepared, and their desks.
func (l *live) moveIn(ctx context.Context) error {
	if l.state.Unprepared() || len(l.desks) > 0 {
		return nil
	}
	if err := l.rt.prepare(ctx, l.key, l.state); err != nil {
		return err
	}
	return l.openDesks()
}
