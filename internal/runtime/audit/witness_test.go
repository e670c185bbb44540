package audit

import (
	"maps"
	"slices"
	"testing"

	"lyceum/internal/runtime"
)

func TestEveryCallOfTheRuntimeIsLookedAt(t *testing.T) {
	t.Parallel()
	if got, want := slices.Sorted(maps.Keys(ownLooks)), runtime.OwnCalls(); !slices.Equal(got, want) {
		t.Errorf("verify knows what to do with results of %q, and the runtime answers %q: want a row in ownLooks for each", got, want)
	}
	for call, look := range ownLooks {
		if look == nil {
			t.Errorf("the row of %s says nothing: want what is done with its results, or nobodys", call)
		}
	}
}
