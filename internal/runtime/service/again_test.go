package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lyceum/internal/blob/blobtest"
	"lyceum/internal/compute"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// noLedger has no blobs of its own.
type noLedger struct{ ledger.Store }

func (noLedger) Blob(context.Context, event.Hash) ([]byte, error) { return nil, ledger.ErrNoBlob }

// nowhere is a place without computers.
func nowhere(t *testing.T) *audit.Place {
	t.Helper()
	rt := &runtime.Runtime{Ledger: noLedger{}, Blobs: &blobtest.Memory{}, Home: t.TempDir(), Clock: runtime.SystemClock}
	return &audit.Place{Quest: &runtime.Quest{Runtime: rt, Key: "q", State: &quest.State{}}, Missing: errors.New("none")}
}

func TestAReproductionThatCannotBeRunAgain(t *testing.T) {
	t.Parallel()
	for says, r := range map[string]*event.ReproductionResult{
		"different bytes then, too": {Status: event.Differs, Output: &event.Ref{}},
		"no computer":               {Status: event.NotRun, Reason: "no computer"},
		"none":                      {Status: event.SameOutput, Output: &event.Ref{}},
	} {
		got, err := Lab{}.Again(t.Context(), nowhere(t), event.Event{Body: &event.ReproductionCall{}}, event.Event{Body: r}, audit.Executed{})
		if err != nil || got.Status != audit.ExecNotCheckable || !strings.Contains(got.Why, says) {
			t.Errorf("a reproduction that was %s: got %+v, %v, want it not checkable because of %q", r.Status, got, err, says)
		}
	}
}

// What the interpreter computed is computed again where there is no sandbox, too.
func TestAComputationIsMadeAgain(t *testing.T) {
	t.Parallel()
	x := nowhere(t)
	code, err := x.Blobs.Put(t.Context(), []byte("print(6*7)"))
	if err != nil {
		t.Fatal(err)
	}
	for printed, want := range map[string]string{"42\n": audit.ExecSame, "43\n": audit.ExecDifferent} {
		asked := &event.ComputeCall{Code: &code, Engine: "builtin"}
		result := event.Event{Body: &event.ComputeResult{Engine: compute.Engine, Printed: new(event.RefOf([]byte(printed)))}}
		got, err := Contract{}.Again(t.Context(), x, event.Event{Seq: 7, Body: asked}, result, audit.Executed{})
		if err != nil || got.Status != want {
			t.Errorf("a program that is said to have printed %q: got %+v, %v, want %s", printed, got, err, want)
		}
		asked.Engine = "python"
		got, err = Contract{}.Again(t.Context(), x, event.Event{Seq: 7, Body: asked}, result, audit.Executed{})
		if err != nil || got.Status != audit.ExecNotCheckable || !strings.Contains(got.Why, "none") {
			t.Errorf("without a sandbox: got %+v, %v, want it not checkable because there is none", got, err)
		}
	}
}

// endless is a program that would take all its steps; one whose steps are long takes minutes.
const endless = "def f():\n    x = 0\n    for i in range(1000000000):\n        x = x + 1\n    return x\nprint(f())\n"

func TestAProgramHasItsTime(t *testing.T) {
	t.Parallel()
	x := &computation{rt: nowhere(t).Runtime}
	r, err := x.interpret(t.Context(), endless, time.Millisecond)
	if err != nil || r.exit != 1 || r.fault != "it took more than 1ms" {
		t.Errorf("an endless program: got %+v, %v, want that it took more than its time", r, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := x.interpret(gone, endless, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever asked has gone: got %+v, %v, want no result", r, err)
	}
}

// TestAWitnessEnds: programs of a stranger's quest that take long are not run again for ever. What
// was not looked at is said, and is no difference.
func TestAWitnessEnds(t *testing.T) {
	t.Parallel()
	rt := nowhere(t).Runtime
	code, err := rt.Blobs.Put(t.Context(), []byte(endless))
	if err != nil {
		t.Fatal(err)
	}
	printed, err := rt.Blobs.Put(t.Context(), []byte("42\n"))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	w := &netWitness{rt: rt, created: &event.QuestCreated{}, left: time.Millisecond, note: func(_ event.Event, format string, args ...any) {
		notes = append(notes, fmt.Sprintf(format, args...))
	}}
	for range 2 {
		d, err := w.computed(t.Context(), event.Event{Body: &event.ComputeCall{Code: &code, Engine: "builtin"}}, event.Event{Seq: 8, Body: &event.ComputeResult{Engine: compute.Engine, Printed: &printed}})
		if d != nil || err != nil {
			t.Fatalf("a program without an end: got %+v, %v, want a note", d, err)
		}
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "cannot run it again: it took more than 1ms") || !strings.Contains(notes[1], "it is not run again: the programs before it took all of") {
		t.Errorf("got the notes %q, want that the first took too long and the second had no time", notes)
	}
	if newNetWitness(rt, event.Event{}, &event.QuestCreated{}, w.note).left != maxWitnessed {
		t.Error("a witness has no time of its own")
	}
}
