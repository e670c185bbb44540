package computertest

import (
	"errors"
	"testing"

	"lyceum/internal/computer"
)

// epochs has somebody who lost a quest without knowing it meet the computer of the quest's next owner.
func (l *lab) epochs(t *testing.T) {
	t.Parallel()
	stale := l.bootWith(t, l.opts.Spec, computer.Options{Epoch: 5})
	stale.sh("echo first > first")
	owner := l.at(t, stale.place, l.opts.Spec, computer.Options{Epoch: 7})
	if got := owner.sh("cat first"); got != "first\n" {
		t.Errorf("the next owner finds %q in the home, want what the first wrote: it is the same computer", got)
	}
	cmd := shell("echo stale > stale")
	cmd.ID = stale.id()
	if _, err := stale.Run(soon(t), cmd); !errors.Is(err, computer.ErrFenced) {
		t.Errorf("a command of epoch 5 after epoch 7 was heard of: got %v, want ErrFenced", err)
	}
	if err := stale.Kill(soon(t), "any"); !errors.Is(err, computer.ErrFenced) {
		t.Errorf("a kill of epoch 5 after epoch 7 was heard of: got %v, want ErrFenced", err)
	}
	if c, err := computer.Open(soon(t), l.driver, stale.place, l.opts.Spec, computer.Options{Epoch: 6}); !errors.Is(err, computer.ErrFenced) {
		t.Errorf("opening it under epoch 6 after epoch 7: got %v, %v, want ErrFenced", c, err)
	}
	if err := computer.StopOf(soon(t), 5, stale.place, l.driver); err != nil {
		t.Errorf("ending what epoch 5 has left, which is nothing: %v", err)
	}
	if err := stale.Stop(soon(t)); err != nil {
		t.Errorf("letting go of a computer that is another's: %v", err)
	}
	if got := owner.sh("test -e stale || echo no"); got != "no\n" {
		t.Errorf("the owner's computer after all that says %q, want it up, and nothing done by epoch 5", got)
	}
	// A person's terminal has no claim.
	visitor, err := computer.Join(soon(t), stale.place, l.driver)
	if err != nil {
		t.Fatalf("looking into the owner's computer: %v", err)
	}
	if err := visitor.Close(); err != nil {
		t.Error(err)
	}
	again := l.at(t, stale.place, l.opts.Spec, computer.Options{Epoch: 7}) // as after a restart
	again.sh("true")
	if err := computer.StopOf(soon(t), 7, stale.place, l.driver); err != nil {
		t.Errorf("the owner ends the computer: %v", err)
	}
	eventually(t, "the end of the computer that its owner ended", func() bool { return len(inhabitants(t, stale.place)) == 0 })
}
