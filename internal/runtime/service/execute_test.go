package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// once calls for a command, and is content with what it gave.
type once struct{}

func (once) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	if r.Turn == 1 {
		return &model.Answer{Stop: model.StopTools, Parts: []model.Part{{Kind: event.PartToolCall, ID: "a", Name: "exec", Args: `{"command":"echo hi"}`}}}, nil
	}
	return &model.Answer{Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "done"}}}, nil
}

// builder is a driver that only writes down what it was to make a computer of.
type builder struct {
	computer.Driver
	asked []computer.Spec
}

func (b *builder) Check(context.Context) error { return nil }
func (b *builder) Prepare(_ context.Context, s computer.Spec, _ func(string)) (string, error) {
	b.asked = append(b.asked, s)
	return "", errors.New("nothing is built here")
}

// TestWhatIsRunAgainIsBuiltAsSomebodySays: the word on a Dockerfile reaches the driver.
func TestWhatIsRunAgainIsBuiltAsSomebodySays(t *testing.T) {
	t.Parallel()
	rt := openRuntime(t, t.TempDir(), &shop{})
	rt.Workshops = nil
	rt.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return once{}, nil }
	create(t, rt)
	if _, err := rt.Run(t.Context(), "q", runtime.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	bwrap := rt.Computers[0]
	for _, c := range []struct {
		opts             audit.ExecuteOptions
		refused, offline bool
	}{
		{audit.ExecuteOptions{}, true, false}, {audit.ExecuteOptions{Build: true}, false, true}, {audit.ExecuteOptions{BuildNetwork: true}, false, false},
	} {
		d := &builder{Driver: bwrap}
		rt.Computers = []computer.Driver{d}
		if _, err := audit.Execute(t.Context(), rt, "q", c.opts); err != nil {
			t.Fatal(err)
		}
		if len(d.asked) == 0 {
			t.Fatalf("%+v: the driver was asked for nothing", c.opts)
		}
		if s := d.asked[0]; strings.Contains(s.Build.Refused, "--build") != c.refused || s.Build.Offline != c.offline || s.Network.Open || len(s.Network.Allow) > 0 {
			t.Errorf("%+v: the driver is told %+v and the network %+v, want it refused: %v, without a network: %v", c.opts, s.Build, s.Network, c.refused, c.offline)
		}
	}
	rt.Computers = []computer.Driver{bwrap} // which ends what is up
}
