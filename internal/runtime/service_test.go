package runtime

import (
	"testing"

	"lyceum/internal/event"
)

// TestEveryCallHasAService: a call that nobody answers would be waited for without end.
func TestEveryCallHasAService(t *testing.T) {
	t.Parallel()
	for _, name := range event.Types() {
		if _, ok := services[name]; ok != name.Call() {
			t.Errorf("%s: the catalogue says that it is a call: %v; there is a service for it: %v", name, name.Call(), ok)
		}
	}
	if len(services) < 6 {
		t.Errorf("got %d services, want at least 6", len(services))
	}
}
