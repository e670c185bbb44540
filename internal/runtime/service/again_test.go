package service

import (
	"context"
	"errors"
	"strings"
	"testing"

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
	rt := &runtime.Runtime{Ledger: noLedger{}, Blobs: &blobtest.Memory{}, Home: t.TempDir()}
	return &audit.Place{Quest: &runtime.Quest{Runtime: rt, Key: "q", State: &quest.State{}}, Missing: errors.New("none")}
}

func TestAReproductionThatCannotBeRunAgain(t *testing.T) {
	t.Parallel()
	for says, r := range map[string]*event.ReproductionResult{
		"different bytes then, too": {Status: event.Differs, Output: &event.Ref{}},
		"no computer":               {Status: event.NotRun, Reason: "no computer"},
		"none":                      {Status: event.Reproduced, Output: &event.Ref{}},
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
