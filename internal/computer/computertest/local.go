package computertest

import (
	"maps"
	"testing"

	"lyceum/internal/computer"
)

// Local is what the tests of a driver are made of whose computers are of this machine's own
// programs: all that Lyceum can be started as, root and an ordinary user, in one place.
type Local struct {
	// New makes the driver, in other processes than this one too.
	New func() computer.Driver
	// Open are the driver's own of the ways out that are known: see EscapeOptions.
	Open map[string]string
}

func (l Local) open(*testing.T) computer.Driver { return l.New() }

func (l Local) options() Options { return Options{Tools: []string{"sh", "git", "python3"}} }

// Exercise is the suite of that name.
func (l Local) Exercise(t *testing.T) { Exercise(t, l.open, l.options()) }

// ExerciseAsUser is Exercise by an ordinary user.
func (l Local) ExerciseAsUser(t *testing.T) {
	if AsUser(t) {
		o := l.options()
		o.Watched = true // few users may make control groups
		Exercise(t, l.open, o)
	}
}

// Rounds is the test of that name.
func (l Local) Rounds(t *testing.T, n int) { Rounds(t, l.open, l.options(), n) }

// RoundsAsUser is Rounds by an ordinary user.
func (l Local) RoundsAsUser(t *testing.T, n int) {
	if AsUser(t) {
		l.Rounds(t, n)
	}
}

// Interrupts is the test of that name.
func (l Local) Interrupts(t *testing.T, n int) { Interrupts(t, l.open, l.options(), n) }

// InterruptsAsUser is Interrupts by an ordinary user.
func (l Local) InterruptsAsUser(t *testing.T, n int) {
	if AsUser(t) {
		l.Interrupts(t, n)
	}
}

// Conversations is the test of that name.
func (l Local) Conversations(t *testing.T, n int) { Conversations(t, l.open, l.options(), n) }

// Many is the test of that name.
func (l Local) Many(t *testing.T, n int) { Many(t, l.open, l.options(), n) }

// Quota is the test of that name.
func (l Local) Quota(t *testing.T) { Quota(t, l.open, l.options()) }

// hostFiles are the ways that are open because the toolchain is the host's.
var hostFiles = map[string]string{
	"LocksAHostFile":   "a file of the toolchain can be locked, since it is the host's; two computers could tell each other things by it",
	"WatchesAHostFile": "it can be seen when the host opens a file of the toolchain, since it is the host's",
}

// Escape is the suite of that name.
func (l Local) Escape(t *testing.T) { Escape(t, l.open, EscapeOptions{Open: union(hostFiles, l.Open)}) }

// EscapeAsUser is Escape by an ordinary user.
func (l Local) EscapeAsUser(t *testing.T) {
	if AsUser(t) {
		Escape(t, l.open, EscapeOptions{Open: union(hostFiles, OpenToUsers, l.Open)})
	}
}

// OpenToUsers are the ways that are open when Lyceum is an ordinary user.
var OpenToUsers = map[string]string{
	"UsersQuota": "the kernel counts what a user has of some things, such as watches of files, and the agent is that user",
}

func union(ways ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, w := range ways {
		maps.Copy(all, w)
	}
	return all
}
