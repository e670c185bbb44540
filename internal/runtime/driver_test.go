package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// named is a driver that works, or does not.
type named struct {
	computer.Driver
	name   string
	broken error
}

func (d named) Name() string { return d.name }

func (d named) Check(context.Context) error { return d.broken }

// TestAutoTakesTheFirstDriverThatWorksAndThenKeepsIt is what a quest is resumed with on a
// machine that has got a driver since, or lost one.
func TestAutoTakesTheFirstDriverThatWorksAndThenKeepsIt(t *testing.T) {
	t.Parallel()
	no := &computer.Unusable{What: "first", Why: "the kernel forbids it", Fix: "allow it"}
	for name, c := range map[string]struct {
		first      error
		says, kept string
		want       string
	}{
		"TheFirst":             {nil, "auto", "", "first"},
		"TheNextThatWorks":     {no, "auto", "", "second"},
		"TheOneItHad":          {nil, "auto", "second", "second"},
		"TheOneItHadAndLost":   {no, "auto", "first", "first"}, // who prepares it says what is missing
		"TheOneThatIsNamed":    {nil, "second", "", "second"},
		"NoneThatIsNotThere":   {nil, "auto", "gone", ""},
		"TheNamedBeforeTheHad": {nil, "first", "second", "first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := &runtime.Runtime{Computers: []computer.Driver{named{name: "first", broken: c.first}, named{name: "second"}}}
			d, _, err := rt.Machine(t.Context(), &quest.State{Computer: &event.ComputerSpec{Driver: c.says}, Driver: c.kept})
			switch {
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), `no driver "gone"`)):
				t.Errorf("computers of a driver that is not there: got %v, want an error that names it", err)
			case c.want != "" && (err != nil || d.Name() != c.want):
				t.Errorf("driver: got %v %v, want %s", d, err, c.want)
			}
		})
	}
	rt := &runtime.Runtime{Computers: []computer.Driver{named{name: "first", broken: no}}}
	if _, _, err := rt.Machine(t.Context(), &quest.State{Computer: &event.ComputerSpec{Driver: "auto"}}); !errors.Is(err, no) {
		t.Errorf("where nothing works: got %v, want why", err)
	}
}
