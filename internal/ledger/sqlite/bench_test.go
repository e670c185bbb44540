package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
)

func BenchmarkAppend64Writers(b *testing.B) {
	st, err := sqlite.Open(filepath.Join(b.TempDir(), "lyceum.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	text := strings.Repeat("a laboratory of agents ", 102)
	var wg sync.WaitGroup
	b.ResetTimer()
	for i := range 64 {
		wg.Go(func() {
			h := ledger.Head{Quest: fmt.Sprintf("q%d", i)}
			for range b.N / 64 {
				e, err := event.Seal(h.Quest, h.Seq+1, h.Hash, event.Draft{Actor: "a", Body: &event.UserMessage{Text: event.Text{Text: text}}})
				if err == nil {
					err = st.Append(b.Context(), ledger.Batch{Quest: h.Quest, Events: []event.Event{e}})
				}
				if err != nil {
					b.Error(err)
					return
				}
				h.Seq, h.Hash = e.Seq, e.Hash
			}
		})
	}
	wg.Wait()
}
