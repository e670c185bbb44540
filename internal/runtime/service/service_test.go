package service_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
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
	for name, shop := range service.Workshops("") {
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

// TestEveryCallIsLookedAt: a service whose results verify passes over says so, and why.
func TestEveryCallIsLookedAt(t *testing.T) {
	t.Parallel()
	created := questtest.Created(contract.Society{}, 1)
	created.Contract = &event.ContractSpec{}
	story := questtest.Begin(t, contract.Society{}, created)
	rt := &runtime.Runtime{Home: t.TempDir()}
	for name, shop := range service.Workshops("") {
		bench, err := shop.Open(t.Context(), &runtime.Quest{Runtime: rt, Key: "q", State: story.State})
		if err != nil {
			t.Fatalf("the workshop of %s: %v", name, err)
		}
		looks := map[event.Type]audit.Look{}
		if shop, ok := shop.(audit.Witnessed); ok {
			w := shop.Witness(rt, event.Event{}, created, func(event.Event, string, ...any) {})
			looks = w.Looks()
			w.Close()
		}
		for call := range bench.Services() {
			if look := looks[call]; (look.Find == nil) == (look.Nothing == "") {
				t.Errorf("%s of %s: got %+v, want a look at its results in the Looks of its witness, or why nobody can look", call, name, look)
			}
			delete(looks, call)
		}
		if len(looks) > 0 {
			t.Errorf("the witness of %s looks at results of %v, which no service of it answers", name, slices.Sorted(maps.Keys(looks)))
		}
		if err := bench.Close(); err != nil {
			t.Errorf("close the workshop of %s: %v", name, err)
		}
	}
}

// A git that hangs is no success, and holds up nobody for ever.
func TestAGitThatHangs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := service.OpenGit(t.Context(), t.TempDir(), 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a git that hangs: got %v, want that it took too long", err)
	}
}
