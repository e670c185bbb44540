package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/model"
	"lyceum/internal/model/provider"
	"lyceum/internal/model/respond"

	"github.com/jackc/pgx/v5"
)

// bearing is a provider that counts whom it answers at once, and answers when it is told to.
type bearing struct {
	mu     sync.Mutex
	inside int
	most   int
	of     map[string]int // how many calls each node's model had
	// hold has calls wait until they are let go, or their clients go; refuse has the next of a model that
	// is let go be sent away.
	hold chan string
}

func (b *bearing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	hold := b.hold
	b.inside++
	b.most = max(b.most, b.inside)
	for i := range nodeCount {
		if name := fmt.Sprint("m", i); strings.Contains(string(body), `"`+name+`"`) {
			b.of[name]++
		}
	}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.inside--
	}()
	if hold != nil {
		select {
		case <-hold:
			w.Header().Set("Retry-After", "0")
			http.Error(w, `{"error":{"message":"too many"}}`, http.StatusTooManyRequests)
			return
		case <-r.Context().Done():
			return
		}
	}
	time.Sleep(3 * time.Millisecond)
	w.Header().Set("Content-Type", "text/event-stream")
	respond.Of(event.WireChat).Stream(func(_, data string) bool {
		_, err := io.WriteString(w, "data: "+data+"\n\n")
		return err == nil
	}, &respond.Answer{ID: "1", Model: "m", Stop: model.StopEnd, Usage: event.Usage{Input: 1, Output: 1}, Parts: []model.Part{{Kind: event.PartText, Text: "Yes."}}})
}

// now is how many calls are there.
func (b *bearing) now() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inside
}

const nodeCount = 3

// lineOf are nodes that share the line of a provider which bears four calls at once.
func lineOf(t *testing.T, address, url string) (models []model.Model) {
	t.Helper()
	for i := range nodeCount {
		conf, err := config.Parse("config.yaml", []byte("providers: {p: {api: openai, url: '"+url+"/v1', concurrency: 4}}"))
		must(t, err)
		st, err := postgres.Open(t.Context(), address, nil)
		must(t, err)
		r, err := provider.New(&provider.Options{Config: conf, Lines: st})
		must(t, err)
		t.Cleanup(func() { r.Close(); must(t, st.Close()) })
		m, _, err := r.Open(fmt.Sprint("p/m", i))
		must(t, err)
		models = append(models, m)
	}
	return models
}

var yesOrNo = []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "Yes or no?"}}}}

// TestNodesShareTheLineOfAProvider: it has never more calls at once than its limit, of all nodes together, and when it sends
// one node away all of them slow down.
func TestNodesShareTheLineOfAProvider(t *testing.T) {
	t.Parallel()
	_, address := database(t)
	b := &bearing{of: map[string]int{}}
	server := httptest.NewServer(b)
	defer server.Close()
	models := lineOf(t, address, server.URL)
	var all sync.WaitGroup
	calls := func(ctx context.Context, each int, wanted bool) {
		for i, m := range models {
			for range each {
				all.Go(func() {
					if _, err := m.Generate(ctx, &model.Request{Quest: fmt.Sprint("q", i), Messages: yesOrNo}, nil); err != nil && wanted {
						t.Errorf("a call of node %d: %v", i, err)
					}
				})
			}
		}
	}
	calls(t.Context(), 30, true)
	all.Wait()
	if b.most > 4 || b.most < 2 {
		t.Errorf("the provider had %d calls at once, want as many as 4", b.most)
	}
	for name, n := range b.of {
		if n != 30 {
			t.Errorf("%d calls of %s came, want 30", n, name)
		}
	}

	b.mu.Lock()
	b.hold = make(chan string)
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls(ctx, 6, false)
	until(t, "four calls are under way", func() bool { return b.now() == 4 })
	b.hold <- "one is sent away"
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer conn.Close(context.Background())
	until(t, "the limit of all nodes is two, and one of three calls is to end before another begins", func() bool {
		var bears float64
		must(t, conn.QueryRow(t.Context(), "SELECT bears FROM lyceum.lines WHERE line = 'p'").Scan(&bears))
		return bears == 2 && b.now() == 3
	})
	cancel()
	all.Wait()
	again, stop := context.WithCancel(t.Context())
	defer stop()
	held := func() (n int) {
		must(t, conn.QueryRow(t.Context(), "SELECT coalesce(sum(held), 0) FROM lyceum.shares WHERE line = 'p'").Scan(&n))
		return n
	}
	until(t, "all nodes have given back what they had, and know of the limit", func() bool { return b.now() == 0 && held() == 0 })
	calls(again, 6, false)
	until(t, "two calls are under way, and the nodes have two in all", func() bool {
		return held() == 2 && b.now() == 2
	})
	stop()
	all.Wait()
}

// until waits for something to hold.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for this: %s", patience, what)
		}
	}
}
