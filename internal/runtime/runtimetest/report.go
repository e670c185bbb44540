package runtimetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// Report counts what simulations went through.
type Report struct {
	// Runs counts quests and forks, Events those of their ledgers.
	Runs, Events int64
	// Seen counts what came up, by name.
	Seen map[string]int64
	// Head is the last event's hash, which stands for all bytes of one ledger.
	Head event.Hash
}

// Add adds what others went through.
func (r *Report) Add(o *Report) {
	r.Runs += o.Runs
	r.Events += o.Events
	for name, n := range o.Seen {
		r.saw(name, n)
	}
}

func (r *Report) saw(name string, n int64) {
	if r.Seen == nil {
		r.Seen = map[string]int64{}
	}
	r.Seen[name] += n
}

// Unseen are those of the names that never came up: the simulation shows nothing of them.
func (r *Report) Unseen(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return r.Seen[name] > 0 })
}

func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs, %d events", r.Runs, r.Events)
	for _, name := range slices.Sorted(maps.Keys(r.Seen)) {
		fmt.Fprintf(&b, ", %s %d", name, r.Seen[name])
	}
	return b.String()
}
