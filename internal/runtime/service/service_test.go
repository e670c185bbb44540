package service_test

import (
	"maps"
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/contract"
)

// TestEveryCallHasAService: a call that nobody answers would be waited for without end.
func TestEveryCallHasAService(t *testing.T) {
	t.Parallel()
	created := questtest.Created(contract.Society{}, 1)
	created.Contract = &event.ContractSpec{}
	story := questtest.Begin(t, contract.Society{}, created)
	answered := map[event.Type]bool{}
	for name, shop := range service.Workshops() {
		bench, err := shop.Open(t.Context(), &runtime.Quest{Runtime: &runtime.Runtime{Home: t.TempDir()}, Key: "q", State: story.State})
		if err != nil {
			t.Fatalf("the workshop of %s: %v", name, err)
		}
		for call := range bench.Services() {
			if answered[call] && call != "reproduction.call" { // of papers, and of results of a study
				t.Errorf("%s is answered by two workshops", call)
			}
			answered[call] = true
		}
		if err := bench.Close(); err != nil {
			t.Errorf("close the workshop of %s: %v", name, err)
		}
	}
	for _, call := range runtime.OwnCalls() {
		answered[call] = true
	}
	for _, call := range event.Types() {
		if answered[call] != call.Call() {
			t.Errorf("%s: the catalogue says that it is a call: %v; something answers it: %v", call, call.Call(), answered[call])
		}
	}
	if want := 6; len(answered) < want {
		t.Errorf("got services for %v, want at least %d", slices.Sorted(maps.Keys(answered)), want)
	}
}
