package cli_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// dieVariable names the variable that says with which of its appends a process dies, and whether
// the batch is on disk by then: "3 after", "3 before".
const dieVariable = "LYCEUM_TEST_DIE"

// dying is a ledger whose process is killed with an append, at that very moment.
type dying struct {
	ledger.Store
	at     int64
	before bool

	appends atomic.Int64
	// came says that a batch brought the result of something.
	came atomic.Bool
}

func newDying(s ledger.Store, when string) *dying {
	d := &dying{Store: s}
	var how string
	if _, err := fmt.Sscan(when, &d.at, &how); err != nil || how != "after" && how != "before" {
		panic(dieVariable + "=" + when)
	}
	d.before = how == "before"
	return d
}

// Append implements ledger.Log.
func (d *dying) Append(ctx context.Context, b ledger.Batch) error {
	now := d.appends.Add(1) == d.at
	if now && d.before {
		d.die("without", b)
	}
	err := d.Store.Append(ctx, b)
	if slices.ContainsFunc(b.Events, func(e event.Event) bool { _, ok := e.Body.(event.Result); return ok }) {
		d.came.Store(true)
	}
	if now && err == nil {
		d.die("with", b)
	}
	return err
}

// die is kill -9, whose last words say whether something came of the process.
func (d *dying) die(how string, b ledger.Batch) {
	var types []string
	for _, e := range b.Events {
		types = append(types, string(e.Type))
	}
	fmt.Fprintf(os.Stderr, "dies %s event %d: %s; came: %v\n", how, b.Events[0].Seq, strings.Join(types, " "), d.came.Load())
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// dies runs lyceum until it dies with one of its appends, or ends.
func (h *home) dies(at int, how string, args ...string) lyceum {
	h.t.Helper()
	x := *h
	x.env = append(slices.Clip(h.env), fmt.Sprintf("%s=%d %s", dieVariable, at, how))
	return x.run(args...)
}
