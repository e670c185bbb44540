package runtime

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/workspace"
)

func TestAnAllowanceGivesNothingThatWasNotAskedFor(t *testing.T) {
	t.Parallel()
	open, none := computer.Network{Open: true}, computer.Network{}
	listed := computer.Network{Allow: []string{"pypi.org", "127.0.0.1"}}
	for name, c := range map[string]struct {
		allowed     Allowance
		asked, gets computer.Network
	}{
		"nothing of an open one":      {Allowance{}, open, none},
		"nothing of a list":           {Allowance{}, listed, none},
		"what is public of all":       {Allowance{Network: true}, open, computer.Network{Allow: proxy.Public}},
		"what is public of a list":    {Allowance{Network: true}, listed, computer.Network{Allow: []string{"pypi.org"}}},
		"an open one":                 {Allowance{OpenNetwork: true}, open, open},
		"no open one for a list":      {Allowance{OpenNetwork: true}, listed, none},
		"none where none is asked":    {Allowance{Network: true, OpenNetwork: true}, none, none},
		"the owner's own host":        {Allowance{Hosts: []string{"10.0.0.5"}}, listed, computer.Network{Allow: []string{"10.0.0.5"}}},
		"the owner's own and a list":  {Allowance{Network: true, Hosts: []string{"10.0.0.5"}}, listed, computer.Network{Allow: []string{"10.0.0.5", "pypi.org"}}},
		"an open one, whatever hosts": {Allowance{OpenNetwork: true, Hosts: []string{"10.0.0.5"}}, open, open},
	} {
		s := computer.Spec{Network: c.asked}
		c.allowed.restrict(&s, "q", false, workspace.Bounds{})
		if s.Network.Open != c.gets.Open || !slices.Equal(s.Network.Allow, c.gets.Allow) {
			t.Errorf("%s: got %+v, want %+v", name, s.Network, c.gets)
		}
		if s.Build != (computer.Build{}) {
			t.Errorf("%s: the build of Lyceum's own Dockerfile: got %+v, want no word on it", name, s.Build)
		}
	}
	for name, c := range map[string]struct {
		allowed          Allowance
		refused, offline bool
	}{
		"not built":                {Allowance{Network: true, OpenNetwork: true}, true, false},
		"built without a network":  {Allowance{Build: true}, false, true},
		"built with a network":     {Allowance{BuildNetwork: true}, false, false},
		"built, as both words say": {Allowance{Build: true, BuildNetwork: true}, false, false},
	} {
		s := computer.Spec{Dockerfile: []byte("FROM x")}
		c.allowed.restrict(&s, "q", true, workspace.Bounds{})
		if strings.Contains(s.Build.Refused, "lyceum run q --build") != c.refused || s.Build.Offline != c.offline {
			t.Errorf("an own Dockerfile is %s: got %+v", name, s.Build)
		}
	}
	// A stranger hides no less than the owner of this home, and lets nothing more be written.
	s := computer.Spec{Bounds: workspace.Bounds{Hide: []string{"x"}, Write: []string{"."}}}
	Allowance{Network: true}.restrict(&s, "q", false, workspace.Bounds{Hide: []string{".env"}, Write: []string{"out"}})
	if !slices.Equal(s.Bounds.Hide, []string{"x", ".env"}) || !slices.Equal(s.Bounds.Folders(), []string{"out"}) {
		t.Errorf("bounds of a stranger: got %+v, want those of both", s.Bounds)
	}
}
