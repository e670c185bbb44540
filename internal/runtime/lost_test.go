package runtime_test

import (
	"context"
	"errors"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// losing is a store whose claims can be lost, as those of a store that many machines share.
type losing struct {
	ledger.Store
	lost chan struct{}
}

type losable struct {
	ledger.Claim
	lost chan struct{}
}

func (l losable) Lost() <-chan struct{} { return l.lost }

func (l losing) Claim(ctx context.Context, quest string) (ledger.Claim, error) {
	claim, err := l.Store.Claim(ctx, quest)
	if err != nil {
		return nil, err
	}
	return losable{claim, l.lost}, nil
}

// unsettled says nothing until its call is given up, and then an answer all the same.
type unsettled struct {
	model.Model
	asked chan struct{}
}

func (u unsettled) Generate(ctx context.Context, r *model.Request, on func(model.Delta)) (*model.Answer, error) {
	close(u.asked)
	<-ctx.Done()
	return u.Model.Generate(context.WithoutCancel(ctx), r, on)
}

func TestARunEndsWhenItsClaimIsLostAndAppendsNothingMore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", answers))
	models, store := l.Models, l.Ledger
	asked, lost := make(chan struct{}), make(chan struct{})
	l.Models = func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		m, err := models(name, pin)
		return unsettled{m, asked}, err
	}
	l.Ledger = losing{store, lost}
	var head ledger.Head
	go func() {
		<-asked
		head, _ = store.Head(context.Background(), q)
		close(lost)
	}()
	served := false
	var last event.Event
	_, err := l.Run(t.Context(), q, runtime.RunOptions{
		OnEvent: func(e event.Event, _ *quest.State) { last = e },
		Served:  func(*quest.State, error) bool { served = true; return false },
	})
	if !errors.Is(err, ledger.ErrLost) {
		t.Fatalf("a run whose claim was lost: got %v, want ErrLost", err)
	}
	if served || !l.IsMarked(t.Context(), q) {
		t.Error("a run whose claim was lost touched the mark, which is the next owner's")
	}
	if now, err := store.Head(t.Context(), q); err != nil || now != head || now.Seq != last.Seq {
		t.Errorf("the head is %v (%v), want it where it was when the claim was lost: %v", now, err, head)
	}
	l.Models, l.Ledger = models, store
	if s := l.run(q); s.Status != quest.Finished {
		t.Errorf("the next owner's run left the quest %s, want finished", s.Status)
	}
	l.sound(q)
}

// overtaking is a store on which another owner writes as soon as a model was asked, and which tells of the lost claim only
// when somebody asks.
type overtaking struct {
	ledger.Store
	asked chan struct{}
}

func (o overtaking) Append(ctx context.Context, b ledger.Batch) error {
	select {
	case <-o.asked:
		return ledger.ErrConflict
	default:
		return o.Store.Append(ctx, b)
	}
}

func (o overtaking) Claim(ctx context.Context, quest string) (ledger.Claim, error) {
	claim, err := o.Store.Claim(ctx, quest)
	if err != nil {
		return nil, err
	}
	return unheard{losable{claim, make(chan struct{})}, o.asked}, nil
}

// unheard is a claim that is lost then, and never says so by itself.
type unheard struct {
	losable
	asked chan struct{}
}

func (unheard) Epoch() int64  { return 2 }
func (unheard) Before() int64 { return 1 }

func (c unheard) Sure(context.Context) error {
	select {
	case <-c.asked:
		return ledger.ErrLost
	default:
		return nil
	}
}

// settled answers at once.
type settled struct {
	model.Model
	asked chan struct{}
}

func (s settled) Generate(ctx context.Context, r *model.Request, on func(model.Delta)) (*model.Answer, error) {
	close(s.asked)
	return s.Model.Generate(ctx, r, on)
}

// TestARunWhoseAppendAnotherOwnerFencedSaysThatItsClaimIsLost, and not that a stranger writes: then it ends its computers, too.
func TestARunWhoseAppendAnotherOwnerFencedSaysThatItsClaimIsLost(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", answers))
	models, store, asked := l.Models, l.Ledger, make(chan struct{})
	l.Models = func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		m, err := models(name, pin)
		return settled{m, asked}, err
	}
	l.Ledger = overtaking{store, asked}
	if _, err := l.Run(t.Context(), q, runtime.RunOptions{}); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("a run whose append was refused under a lost claim: got %v, want ErrLost", err)
	}
	l.Models, l.Ledger = models, store
	if s := l.run(q); s.Status != quest.Finished {
		t.Errorf("the next owner's run left the quest %s, want finished", s.Status)
	}
	l.sound(q)
}
