package plain

import (
	"slices"
	"testing"
)

func TestNear(t *testing.T) {
	t.Parallel()
	names := []string{"mode", "model", "models", "limits", "approve"}
	for name, want := range map[string][]string{
		"modle":  {"model"}, // two letters the wrong way round are meant before one that is too much
		"mdoe":   {"mode"},
		"limit":  {"limits"},
		"aprove": {"approve"},
		"zzz":    nil,
	} {
		got := Near(name, names)
		if len(want) == 0 && len(got) > 0 || len(want) > 0 && (len(got) == 0 || got[0] != want[0]) || len(want) == 1 && !slices.Equal(got, want) {
			t.Errorf("near %s: got %v, want %v", name, got, want)
		}
	}
}
