package bubblewrap_test

// No race detector: what it tries are sandboxes, with limits on time and memory.

import (
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/need"
)

func TestMain(m *testing.M) { computertest.Main(m) }

var suite = computertest.Local{
	New: func() computer.Driver { return bubblewrap.New(bubblewrap.Options{}) },
	// An attempt that no longer succeeds fails the test until it is taken off.
	Open: map[string]string{
		"MountTable": "the table of mounts tells where on the host the home is, and bwrap has no way to hide it; namespaces has",
	},
}

func TestBubblewrap(t *testing.T) { suite.Exercise(t) }

func TestBubblewrapAsUser(t *testing.T) { suite.ExerciseAsUser(t) }

func TestBubblewrapRounds(t *testing.T) { suite.Rounds(t, need.Times(20, 100)) }

func TestBubblewrapRoundsAsUser(t *testing.T) { suite.RoundsAsUser(t, need.Times(5, 100)) }

func TestBubblewrapInterrupts(t *testing.T) { suite.Interrupts(t, need.Times(3, 67)) }

func TestBubblewrapInterruptsAsUser(t *testing.T) { suite.InterruptsAsUser(t, need.Times(3, 67)) }

func TestBubblewrapConversations(t *testing.T) { suite.Conversations(t, need.Times(10, 100)) }

func TestManyBubblewraps(t *testing.T) { suite.Many(t, need.Times(100, 200)) }

func TestBubblewrapQuota(t *testing.T) { suite.Quota(t) }

func TestEscape(t *testing.T) { suite.Escape(t) }

func TestEscapeAsUser(t *testing.T) { suite.EscapeAsUser(t) }
