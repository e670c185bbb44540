package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
)

// TestShutdownLosesNoWordThatWasTaken has people talk to a quest while its server goes
// away. What was answered with 202 is in the ledger in the end, once.
func TestShutdownLosesNoWordThatWasTaken(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	first := h.serve(api.Options{})
	first.create("q", nil)
	first.control("q", map[string]any{"action": "start"}).want(t, 200)
	until(t, first.rt, "q", isType("model.call"))
	wire := &http.Transport{}
	defer wire.CloseIdleConnections()
	var taken sync.Map
	var talking sync.WaitGroup
	begun := make(chan struct{}, 100)
	for who := range 4 {
		talking.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("word %d of %d", n, who)
				r, err := http.NewRequest("POST", first.web.URL+"/api/quests/q/messages", strings.NewReader(fmt.Sprintf(`{"text":%q}`, text)))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				resp, err := wire.RoundTrip(r)
				if err != nil {
					return // the server has gone
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode == 202 && err == nil {
					taken.Store(text, true)
				}
				if n == 0 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 4 {
		<-begun
	}
	first.stop()
	talking.Wait()

	second := h.serve(api.Options{})
	if _, err := second.Keeper().GoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !second.Keeper().Has("q") {
		second.control("q", map[string]any{"action": "resume"}).want(t, 200)
	}
	heard := map[string]int{}
	missing := 0
	taken.Range(func(any, any) bool { missing++; return true })
	if missing < 4 {
		t.Fatalf("only %d words were taken", missing)
	}
	until(t, second.rt, "q", func(e event.Event) bool {
		if b, ok := e.Body.(*event.UserMessage); ok {
			heard[b.Text.Text]++
			if _, ok := taken.Load(b.Text.Text); ok {
				missing--
			}
		}
		return missing == 0
	})
	for text, n := range heard {
		if n != 1 {
			t.Errorf("%q is in the ledger %d times", text, n)
		}
	}
}
