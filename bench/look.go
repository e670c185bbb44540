package main

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
)

// look measures what a person waits for who looks at a long quest in a server that has
// just started: for the first time ever, and when an earlier server has seen the quest.
func (b *bench) look(dir string, m model.Model, events uint64) error {
	first, err := lookOnce(dir, m, []string{""})
	if err != nil {
		return err
	}
	paths := []string{"", "", "/timeline", "/timeline?type=tool.call&seqs=true", "/timeline?text=no-such-text&seqs=true", "/agents/agent-0/transcript?tail=50", fmt.Sprintf("/events?after=%d", events/2)}
	then, err := lookOnce(dir, m, paths)
	if err != nil {
		return err
	}
	fmt.Printf("  first look by a server %.2f s, by the next one %.3f s; again %.3f s, its timeline %.3f s, all calls of tools in it %.3f s, a text that is nowhere %.2f s, the end of a transcript %.3f s, events in the middle %.3f s\n",
		first[0], then[0], then[1], then[2], then[3], then[4], then[5], then[6])
	b.promise("the next server's first look, of the first's", then[0]/first[0], false, 0.15)
	b.promise("looking for a text, of reading the quest", then[4]/first[0], false, 0.5)
	slowest := max(then[1], then[2], then[3], then[5], then[6])
	b.promise("the slowest of the others, of reading the quest", slowest/first[0], false, 0.03)
	return nil
}

// lookOnce starts a server and asks it for parts of the quest. It returns how many seconds
// each took.
func lookOnce(dir string, m model.Model, paths []string) ([]float64, error) {
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	rt, err := newRuntime(dir, store, m)
	if err != nil {
		return nil, err
	}
	s := api.New(rt, api.Options{Token: streamToken})
	defer s.Close()
	var took []float64
	for _, path := range paths {
		r := httptest.NewRequest("GET", "/api/quests/long"+path, nil)
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+streamToken)
		w := httptest.NewRecorder()
		begun := time.Now()
		s.ServeHTTP(w, r)
		if w.Code != 200 {
			return nil, fmt.Errorf("%s: status %d: %.300s", path, w.Code, w.Body)
		}
		took = append(took, time.Since(begun).Seconds())
	}
	return took, nil
}
