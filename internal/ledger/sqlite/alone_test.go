package sqlite_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
)

// TestOneWhoWritesAloneWaitsForNobody: an append while nobody writes is done by its caller, and Close waits for it.
func TestOneWhoWritesAloneWaitsForNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lyceum.db")
	begun, gate := make(chan string, 1), make(chan struct{})
	st, err := sqlite.Open(path, &sqlite.Options{BeforeFlush: func() {
		stack := make([]byte, 64<<10)
		begun <- string(stack[:runtime.Stack(stack, false)])
		<-gate
	}})
	must(t, err)
	done, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		done <- st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, ledger.Head{Quest: "q"}, 1)})
	}()
	if stack := <-begun; !strings.Contains(stack, "(*Store).Append") {
		t.Errorf("who flushes an append that comes alone: got another goroutine, want its caller\n%s", stack)
	}
	go func() { closed <- st.Close() }()
	for range 100 {
		runtime.Gosched()
	}
	select {
	case err := <-closed:
		t.Errorf("close while an append is being flushed: got %v, want it to wait", err)
	default:
	}
	close(gate)
	must(t, <-done)
	must(t, <-closed)
	st, err = sqlite.Open(path, nil)
	must(t, err)
	heads, err := st.Quests(t.Context())
	must(t, err)
	if len(heads) != 1 {
		t.Errorf("quests after the store was closed: got %d, want 1", len(heads))
	}
	must(t, st.Close())
}
