package audit

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

func ranAs(exit event.CliExit, change func(*recordedCall)) *recordedCall {
	c := &recordedCall{kind: "command", run: &event.CliRun{Command: "c5", Args: event.Text{Text: `["sh","-c","true"]`}}, exit: &exit}
	if change != nil {
		change(c)
	}
	return c
}

func TestWhatCannotBeRunAgain(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]*recordedCall{
		"":                ranAs(event.CliExit{}, nil),
		"a person's":      ranAs(event.CliExit{}, func(c *recordedCall) { c.run.Command = runtime.ShellPrefix + "1" }),
		"has not ended":   ranAs(event.CliExit{}, func(c *recordedCall) { c.exit = nil }),
		"was interrupted": ranAs(event.CliExit{End: "lost"}, nil),
		"killed":          ranAs(event.CliExit{End: "killed"}, nil),
		"memory":          ranAs(event.CliExit{End: "memory"}, nil),
		"given input":     ranAs(event.CliExit{}, func(c *recordedCall) { c.fed = true }),
		"network":         ranAs(event.CliExit{}, func(c *recordedCall) { c.connected = true }),
	} {
		if got := c.uncheckable(); !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%q, want %q", got, says)
		}
	}
}

func TestADifferenceWithAnExcuseIsNotCheckable(t *testing.T) {
	t.Parallel()
	differs := []string{"stdout differs"}
	for name, c := range map[string]struct {
		differs, excuses []string
		status           string
	}{
		"same":                      {nil, nil, ExecSame},
		"same, whatever may be":     {nil, []string{"x"}, ExecSame},
		"different":                 {differs, nil, ExecDifferent},
		"different, but there is x": {differs, []string{"x"}, ExecNotCheckable},
	} {
		got := Executed{}.Judged(c.differs, c.excuses)
		if got.Status != c.status || (got.Why == "") != (c.differs == nil) {
			t.Errorf("the verdict on %s: %+v", name, got)
		}
	}
	for says, c := range map[string]*recordedCall{
		"beside": ranAs(event.CliExit{}, func(c *recordedCall) { c.beside = true }),
		"disk":   ranAs(event.CliExit{Met: "disk"}, nil),
	} {
		if got := strings.Join(c.excuses(), "; "); !strings.Contains(got, says) {
			t.Errorf("%q, want %q", got, says)
		}
	}
	if got := ranAs(event.CliExit{}, nil).excuses(); len(got) > 0 {
		t.Errorf("excuses for nothing: %q", got)
	}
}

func TestAnotherEnvironmentIsNamed(t *testing.T) {
	t.Parallel()
	then := event.ComputerStarted{Driver: "bubblewrap", Base: "b", Kernel: "k", Arch: "amd64"}
	now := then
	// Where it could connect to is no difference: here it never can.
	now.Network.Open = true
	if got := otherEnvironment(&then, &now); got != "" {
		t.Errorf("the same environment: got %q, want no difference", got)
	}
	now.Kernel, now.Limits.Memory = "other", 1
	if got := otherEnvironment(&then, &now); got != "other kernel, limits" {
		t.Errorf("another kernel and other limits: got %q", got)
	}
	if got := otherEnvironment(nil, &now); got == "" {
		t.Error("what is not known is taken for the same")
	}
}

// What a stranger wrote is not built to check it, unless somebody says so.
func TestNothingIsBuiltUnasked(t *testing.T) {
	t.Parallel()
	if b := (ExecuteOptions{}).build(); !strings.Contains(b.Refused, "--build") {
		t.Errorf("without a word: got %+v, want that it is refused, and how to ask", b)
	}
	if b := (ExecuteOptions{Build: true}).build(); b.Refused != "" || !b.Offline {
		t.Errorf("with --build: got %+v, want a build without a network", b)
	}
	if b := (ExecuteOptions{BuildNetwork: true}).build(); b.Refused != "" || b.Offline {
		t.Errorf("with --build-network: got %+v, want a build with a network", b)
	}
}

// lean is a store that must not be written to.
type lean struct{ blob.Store }

func (lean) Get(context.Context, event.Hash) ([]byte, error) { return nil, blob.ErrNotFound }
func (lean) Open(context.Context, event.Hash) (io.ReadCloser, error) {
	return nil, blob.ErrNotFound
}
func (lean) Has(context.Context, event.Hash) (bool, error) { return false, nil }

func TestAScratchStoreWritesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "one", "b": "two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	// It is what everything that is run again stores into.
	s, ok := shadow(&runtime.Runtime{Blobs: lean{}}, dir).Blobs.(*passing)
	if !ok {
		t.Fatal("what is run again stores into the quest's own blobs")
	}
	tree, _, _, err := blob.Snapshot(ctx, s, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	changes, _, err := blob.Diff(ctx, s, nil, tree, 10)
	if err != nil || len(changes) != 2 || changes[0].Path != "a" {
		t.Errorf("changes: got %v, %v, want two, the first of a", changes, err)
	}
	ref, err := s.Create(ctx, strings.NewReader("stream"))
	if err != nil || ref != event.RefOf([]byte("stream")) {
		t.Errorf("the output: got %v, %v, want the stream's", ref, err)
	}
	if _, err := s.Get(ctx, ref.Hash); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a stream was kept: %v", err)
	}
	if ok, err := s.Has(ctx, tree.Hash); !ok || err != nil {
		t.Errorf("the tree is gone: %v, %v", ok, err)
	}
}
