package namespaces_test

// No race detector: what it tries are sandboxes, with limits on time and memory.

import (
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"
)

func TestMain(m *testing.M) { computertest.Main(m) }

var suite = computertest.Local{New: func() computer.Driver { return namespaces.New(namespaces.Options{}) }}

func TestNamespaces(t *testing.T) { suite.Exercise(t) }

func TestNamespacesAsUser(t *testing.T) { suite.ExerciseAsUser(t) }

func TestNamespacesRounds(t *testing.T) { suite.Rounds(t, need.Times(20, 100)) }

func TestNamespacesRoundsAsUser(t *testing.T) { suite.RoundsAsUser(t, need.Times(5, 100)) }

func TestNamespacesInterrupts(t *testing.T) { suite.Interrupts(t, need.Times(3, 67)) }

func TestNamespacesInterruptsAsUser(t *testing.T) { suite.InterruptsAsUser(t, need.Times(3, 67)) }

func TestNamespacesConversations(t *testing.T) { suite.Conversations(t, need.Times(10, 100)) }

func TestManyNamespaces(t *testing.T) { suite.Many(t, need.Times(100, 200)) }

func TestNamespacesQuota(t *testing.T) { suite.Quota(t) }

func TestEscape(t *testing.T) { suite.Escape(t) }

func TestEscapeAsUser(t *testing.T) { suite.EscapeAsUser(t) }

// TestEscapeIsNoticed shows that the attempts, which are the same with every driver, would
// succeed elsewhere.
func TestEscapeIsNoticed(t *testing.T) { computertest.Prove(t) }
