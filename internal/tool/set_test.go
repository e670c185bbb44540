package tool

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestExtended(t *testing.T) {
	t.Parallel()
	base, err := New(echo("look", anyObject))
	if err != nil {
		t.Fatal(err)
	}
	x := Extend(base)
	stranger := echo("fetch", anyObject)
	stranger.Source, stranger.Trust = "mcp:web", "stranger"
	if err := x.Add(stranger); err != nil {
		t.Fatal(err)
	}
	if got, ok := x.Lookup("fetch"); !ok || got.Source != "mcp:web" || !slices.Equal(x.Names(), []string{"fetch", "look"}) {
		t.Errorf("after Add it has %v, fetch from %q", x.Names(), got.Source)
	}
	if out := x.Do(t.Context(), "fetch", Call{}); out.Error {
		t.Errorf("fetch: %s", out.Text)
	}
	thief := echo("look", anyObject)
	thief.Source = "mcp:web"
	if err := x.Add(thief); err == nil || !strings.Contains(err.Error(), "of Lyceum's own") {
		t.Errorf("a stranger takes the name of one of ours: %v", err)
	}
	x.Remove("fetch", "look")
	if _, ok := x.Lookup("fetch"); ok {
		t.Error("fetch is still there")
	}
	if _, ok := x.Lookup("look"); !ok {
		t.Error("one of ours was taken away")
	}
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 100 {
				_ = x.Add(stranger)
				x.Names()
				x.Do(t.Context(), "fetch", Call{})
				x.Remove("fetch")
			}
		})
	}
	work.Wait()
}
