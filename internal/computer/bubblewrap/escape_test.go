package bubblewrap_test

// No race detector: what it tries are sandboxes, with limits on time and memory.

import (
	"maps"
	"testing"

	"lyceum/internal/computer/computertest"
)

// openWays are those out of a computer that are known. An attempt that no longer
// succeeds fails the test until it is taken off.
var openWays = map[string]string{
	"LocksAHostFile":   "a file of the toolchain can be locked, since it is the host's; two computers could tell each other things by it",
	"WatchesAHostFile": "it can be seen when the host opens a file of the toolchain, since it is the host's",
}

// openToUsers are those that are there when Lyceum is an ordinary user.
var openToUsers = map[string]string{
	"UsersQuota": "the kernel counts what a user has of some things, such as watches of files, and the agent is that user",
}

func TestEscape(t *testing.T) {
	computertest.Escape(t, open, computertest.EscapeOptions{Open: openWays})
}

func TestEscapeAsUser(t *testing.T) {
	if !computertest.AsUser(t) {
		return
	}
	ways := maps.Clone(openWays)
	maps.Copy(ways, openToUsers)
	computertest.Escape(t, open, computertest.EscapeOptions{Open: ways})
}

// TestEscapeIsNoticed shows that the attempts would succeed elsewhere.
func TestEscapeIsNoticed(t *testing.T) { computertest.Prove(t) }
