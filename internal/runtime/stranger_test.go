package runtime_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/runtime"

	"github.com/go-json-experiment/json"
)

// builder is a driver of images that only writes down how it was to build them.
type builder struct {
	computer.Driver
	asked []computer.Build
}

func (*builder) Name() string                { return "docker" }
func (*builder) Check(context.Context) error { return nil }
func (b *builder) Prepare(_ context.Context, s computer.Spec, _ func(string)) (string, error) {
	b.asked = append(b.asked, s.Build)
	return "", errors.New("nothing is built here")
}

// TestAStrangersDockerfileIsTheOwnersToAllow: from the word of the owner to the driver, for the
// quest and for its forks; and the word goes with the quest.
func TestAStrangersDockerfileIsTheOwnersToAllow(t *testing.T) {
	t.Parallel()
	l, d := newLab(t), &builder{}
	l.Computers = []computer.Driver{d}
	name := l.create(files{
		"quest.yaml": "name: guest\nproblem: x\nmodel: script:plan.yaml\ncomputer: {driver: docker, dockerfile: Dockerfile}\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: exec, args: {command: \"true\"}}]\n  - say: Done.\n",
		"Dockerfile": "FROM scratch\n",
	}.plan(t))
	built := func(name string) computer.Build {
		t.Helper()
		fork, err := l.Fork(t.Context(), name, runtime.ForkOptions{At: 1})
		must(t, err)
		d.asked = nil
		_, _ = l.Run(t.Context(), fork.Name, runtime.RunOptions{}) // it ends where the image is missing
		if len(d.asked) == 0 {
			t.Fatal("the driver was asked for nothing")
		}
		return d.asked[0]
	}
	if b := built(name); b != (computer.Build{}) {
		t.Errorf("a Dockerfile of the owner's: got %+v, want no word on it", b)
	}
	record := filepath.Join(l.Home, "imported", name)
	data, err := json.Marshal(runtime.Imported{First: l.events(name)[0].Hash})
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(record), 0o700))
	must(t, os.WriteFile(record, data, 0o600))
	if b := built(name); b.Refused == "" {
		t.Errorf("a stranger's Dockerfile, unasked: got %+v, want it refused", b)
	}
	must(t, l.Allow(t.Context(), name, func(a *runtime.Allowance) { a.Build = true }))
	if b := built(name); b.Refused != "" || !b.Offline {
		t.Errorf("a stranger's Dockerfile that may be built: got %+v, want it without a network", b)
	}
	must(t, l.Clean(t.Context(), name, true))
	if _, err := os.Stat(record); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record of a quest that was removed: got %v, want it gone", err)
	}
}
