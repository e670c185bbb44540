package bubblewrap_test

import (
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/computertest"
)

func TestMain(m *testing.M) { computertest.Main(m) }

func open(*testing.T) computer.Driver { return bubblewrap.New(bubblewrap.Options{}) }

var options = computertest.Options{Tools: []string{"sh", "git", "python3"}}

func TestBubblewrap(t *testing.T) { computertest.Exercise(t, open, options) }

func TestBubblewrapAsUser(t *testing.T) {
	if computertest.AsUser(t) {
		o := options
		o.Watched = true // few users may make control groups
		computertest.Exercise(t, open, o)
	}
}

func TestBubblewrapRounds(t *testing.T) { computertest.Rounds(t, open, options, 10) }

func TestBubblewrapRoundsAsUser(t *testing.T) {
	if computertest.AsUser(t) {
		computertest.Rounds(t, open, options, 5)
	}
}

func TestManyBubblewraps(t *testing.T) { computertest.Many(t, open, options, 200) }
