package runtime_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/ledger"
)

// batches remembers the types of the events that were appended together.
type batches struct {
	ledger.Store
	mu   sync.Mutex
	each []string
}

func (b *batches) Append(ctx context.Context, batch ledger.Batch) error {
	err := b.Store.Append(ctx, batch)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.each = append(b.each, types(batch.Events))
	return err
}

// with counts the batches that hold all of the types.
func (b *batches) with(types ...string) (n int) {
next:
	for _, each := range b.each {
		for _, one := range types {
			if !strings.Contains(" "+each+" ", " "+one+" ") {
				continue next
			}
		}
		n++
	}
	return n
}

// TestASmallSumIsFlushedWithItsCall: what comes out of its arguments alone, and at once, needs no flush
// of its own before it. What takes longer, what fails and what touches a home does.
func TestASmallSumIsFlushedWithItsCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call     string
		together int
	}{
		"a sum":               {`{tool: calculate, args: {code: "6 * 7"}}`, 1},
		"a long calculation":  {`{tool: calculate, args: {code: "sum([i for i in range(5000)])"}}`, 0},
		"one that fails":      {`{tool: calculate, args: {code: "1 // 0"}}`, 0},
		"one that is no code": {`{tool: calculate, args: {code: 7}}`, 0},
		"a file is written":   {`{tool: write_file, args: {path: a.md, content: x}}`, 0},
		"a file is read":      {`{tool: read_file, args: {path: a.md}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			log := &batches{Store: l.store}
			l.Ledger = log
			q := l.create(plan(t, "q", "", "rules:\n  - on: {turn: 1}\n    call: ["+c.call+"]\n  - on: {turn: 2}\n    say: done\n"))
			l.run(q)
			if n := log.with("tool.call", "tool.result"); n != c.together {
				t.Errorf("batches that hold the call and its result: got %d, want %d\n%s", n, c.together, strings.Join(log.each, "\n"))
			}
			if got := log.with("model.call", "model.result"); got != 0 && c.together == 0 {
				t.Errorf("a batch holds a model's answer and the next question, got %d, want none before the tool has run\n%s", got, strings.Join(log.each, "\n"))
			}
			l.sound(q)
		})
	}
}
