package service

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
)

// twoEvents is a ledger of a run, and of what was before it.
type twoEvents struct {
	noLedger
	events []event.Event
}

func (l *twoEvents) Read(_ context.Context, _ string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range l.events {
			if e.Seq >= seq && !yield(e, nil) {
				return
			}
		}
	}
}

const printedOutput = "so it goes\nmetric mae 2.0\n"

// published makes what a study has that is about to publish a baseline, in blobs, and the
// service of a home that does it.
func publishing(ctx context.Context, home string, blobs blob.Store) (*baselines, *event.BaselineCall, error) {
	dir, err := os.MkdirTemp(home, "files-")
	if err != nil {
		return nil, nil, err
	}
	for name, text := range map[string]string{"run.sh": "echo metric mae 2.0\n", "data/series.csv": "1\n2\n", "data/same.csv": "1\n2\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	tree, _, _, err := blob.Snapshot(ctx, blobs, root, nil)
	if err != nil {
		return nil, nil, err
	}
	output, err := blobs.Put(ctx, []byte(printedOutput))
	if err != nil {
		return nil, nil, err
	}
	before, err := event.Seal("origin", 6, event.HashOf(nil), event.Draft{Actor: "core", Time: 6, Body: &event.ReproductionCall{Entrypoint: "run.sh", Metrics: []string{"mae"}, Ref: "result-1", Tree: tree}})
	if err != nil {
		return nil, nil, err
	}
	ran, err := event.Seal("origin", 7, before.Hash, event.Draft{Parent: 6, Actor: "core", Time: 7, Body: &event.ReproductionResult{
		Call: 6, Status: event.SameOutput, Output: &output, Fingerprint: event.HashOf(nil), Figures: []event.Figure{{Name: "mae", First: "2.0", Second: "2.0"}},
	}})
	if err != nil {
		return nil, nil, err
	}
	rt := &runtime.Runtime{Ledger: &twoEvents{events: []event.Event{before, ran}}, Blobs: blobs, Home: home, Clock: runtime.SystemClock}
	return &baselines{q: &runtime.Quest{Runtime: rt, Key: "origin", State: &quest.State{}}}, &event.BaselineCall{Action: study.Publish, Name: "naive", Entry: &event.BaselineEntry{
		Entrypoint: "run.sh", Event: ran.Hash, Metrics: []event.Metric{{Data: event.HashOf(nil), Direction: study.Lower, Name: "mae", Value: "2"}},
		Output: output, Quest: "origin", Result: "result-1", Title: "t", Tree: tree,
	}}, nil
}

func publishedIn(t *testing.T, home string) *event.BaselineEntry {
	t.Helper()
	s, b, err := publishing(t.Context(), home, &blobtest.Memory{})
	if err == nil {
		err = s.publish(t.Context(), 9, b, 7)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Entry
}

// elsewhere is the same home as another quest sees it, whose blobs hold nothing.
func elsewhere(home string) *baselines {
	rt := &runtime.Runtime{Ledger: noLedger{}, Blobs: &blobtest.Memory{}, Home: home, Clock: runtime.SystemClock}
	return &baselines{q: &runtime.Quest{Runtime: rt, Key: "other", State: &quest.State{}}}
}

func TestABaselineTravels(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	want := publishedIn(t, home)
	s := elsewhere(home)
	got, err := s.attach(t.Context(), "naive")
	if err != nil || got.Tree != want.Tree || got.Event != want.Event || got.Metrics[0] != want.Metrics[0] {
		t.Fatalf("attached %+v, %v, want %+v", got, err, want)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := blob.Restore(t.Context(), s.q.Blobs, got.Tree, root); err != nil {
		t.Fatalf("the files of it are not here: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "data/series.csv")); err != nil || string(text) != "1\n2\n" {
		t.Errorf("its data is %q, %v", text, err)
	}
	if _, err := s.attach(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), "no baseline") {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestABaselineIsPublishedOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	publishedIn(t, home)
	publishedIn(t, home) // the same call, made again after a crash
	s, b, err := publishing(t.Context(), home, &blobtest.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	b.Entry.Result = "result-2"
	if err := s.publish(t.Context(), 11, b, 7); err == nil || !strings.Contains(err.Error(), "another baseline") {
		t.Errorf("another one under the same name: %v", err)
	}
	b.Name = "fresh"
	if err := s.publish(t.Context(), 11, b, 6); err == nil || !strings.Contains(err.Error(), "not recorded") {
		t.Errorf("one that rests on another event: %v", err)
	}
	if list, err := os.ReadDir(filepath.Join(home, baselinesDir)); err != nil || len(list) != 1 {
		t.Errorf("the shelf has %v, %v", list, err)
	}
}

// Whatever was changed in a published baseline is refused, and named.
func TestAChangedBaselineIsRefused(t *testing.T) {
	t.Parallel()
	object := func(t *testing.T, dir, text string) string {
		name := filepath.Join(dir, objectsDir, event.HashOf([]byte(text)).String())
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	replace := func(t *testing.T, file, old, with string) {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), old) {
			t.Fatalf("%s has no %q: %v", file, old, err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, with, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change := func(t *testing.T, file string, make func() error) {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if make != nil {
			if err := make(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want string
	}{
		"AFile":       {func(t *testing.T, dir string) { replace(t, object(t, dir, "1\n2\n"), "2", "3") }, `the file "data/s`},
		"AFileLonger": {func(t *testing.T, dir string) { replace(t, object(t, dir, "1\n2\n"), "2\n", "2\n9") }, `the file "data/s`},
		"AFileGone":   {func(t *testing.T, dir string) { change(t, object(t, dir, "echo metric mae 2.0\n"), nil) }, `the file "run.sh"`},
		"AFileIsALink": {func(t *testing.T, dir string) {
			f := object(t, dir, "1\n2\n")
			change(t, f, func() error { return os.Symlink("../"+outputFile, f) })
		}, `the file "data/s`},
		"AFileIsAPipe": {func(t *testing.T, dir string) {
			f := object(t, dir, "1\n2\n")
			change(t, f, func() error { return syscall.Mkfifo(f, 0o600) })
		}, `the file "data/s`},
		"TheOutput":      {func(t *testing.T, dir string) { replace(t, filepath.Join(dir, outputFile), "2.0", "1.0") }, "not what was printed"},
		"TheOutputGrows": {func(t *testing.T, dir string) { replace(t, filepath.Join(dir, outputFile), "so", "soo") }, "longer than"},
		"TheOutputIsPipe": {func(t *testing.T, dir string) {
			f := filepath.Join(dir, outputFile)
			change(t, f, func() error { return syscall.Mkfifo(f, 0o600) })
		}, "no file"},
		"AFigure": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, manifestFile), `"value": "2"`, `"value": "1"`)
		}, "figures are not those of its event"},
		"TheEvent": {func(t *testing.T, dir string) { replace(t, filepath.Join(dir, manifestFile), `2.0`, `1.0`) }, "the hash of its event"},
		"TheEntryPoint": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, manifestFile), `"run.sh"`, `"../run.sh"`)
		}, "no path"},
		"ADirection": {func(t *testing.T, dir string) { replace(t, filepath.Join(dir, manifestFile), `"lower"`, `""`) }, "direction"},
		"AMember": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, manifestFile), `"entry"`, `"x": 1, "entry"`)
		}, "not what is written"},
		"TheManifestIsLong": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, manifestFile), make([]byte, maxManifest+1), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "longer than"},
		"TheManifestIsALink": {func(t *testing.T, dir string) {
			f := filepath.Join(dir, manifestFile)
			change(t, f, func() error { return os.Symlink("/etc/passwd", f) })
		}, "cannot be read"},
		"TheManifestIsGone": {func(t *testing.T, dir string) { change(t, filepath.Join(dir, manifestFile), nil) }, "missing"},
		"TheFolderIsALink": {func(t *testing.T, dir string) {
			if err := os.Rename(dir, dir+"-moved"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(dir+"-moved", dir); err != nil {
				t.Fatal(err)
			}
		}, "no baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			publishedIn(t, home)
			c.do(t, filepath.Join(home, baselinesDir, "naive"))
			got, err := elsewhere(home).attach(t.Context(), "naive")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("attached %+v, %v, want an error with %q", got, err, c.want)
			}
			if _, ok := err.(*refusal); !ok {
				t.Errorf("%v ends the run, and is not told to the agent", err)
			}
		})
	}
}

// publishHere is the environment of a process that is killed before a step of publishing.
const publishHere = "LYCEUM_TEST_PUBLISH"

// A process that is killed while it publishes leaves all or nothing, and the next one does it.
func TestPublishingIsAllOrNothing(t *testing.T) {
	t.Parallel()
	if where, n, ok := strings.Cut(os.Getenv(publishHere), " "); ok {
		publishAndDie(t, n, where)
		return
	}
	for n, done := 1, false; !done; n++ {
		home := t.TempDir()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPublishingIsAllOrNothing$")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", publishHere, home, n))
		out, err := child.CombinedOutput()
		if done = err == nil; !done {
			if s, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
				t.Fatalf("step %d: %v\n%s", n, err, out)
			}
		}
		_, there := os.Lstat(filepath.Join(home, baselinesDir, "naive"))
		if _, err := elsewhere(home).attach(t.Context(), "naive"); (err == nil) != (there == nil) {
			t.Errorf("killed at step %d: there is something (%v), and attaching it gives %v", n, there == nil, err)
		}
		publishedIn(t, home)
		if _, err := elsewhere(home).attach(t.Context(), "naive"); err != nil {
			t.Errorf("killed at step %d, published again: %v", n, err)
		}
		if list, _ := os.ReadDir(filepath.Join(home, baselinesDir)); len(list) != 1 {
			t.Errorf("killed at step %d, published again, the shelf has %v", n, list)
		}
		if done && n < 8 {
			t.Errorf("it was killed %d times only", n-1)
		}
	}
}

func publishAndDie(t *testing.T, step, home string) {
	left, err := strconv.Atoi(step)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, b, err := publishing(t.Context(), home, blobs)
	if err != nil {
		t.Fatal(err)
	}
	s.step = func(string) {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // it comes
		}
	}
	if err := s.publish(t.Context(), 9, b, 7); err != nil {
		t.Fatal(err)
	}
}

// TestTheBaselinesOfAHome: they are listed with what they say of themselves, and one that was changed
// with what is wrong.
func TestTheBaselinesOfAHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if list, err := Baselines(home); err != nil || len(list) != 0 {
		t.Errorf("a home without any: %v, %v", list, err)
	}
	want := publishedIn(t, home)
	list, err := Baselines(home)
	if err != nil || len(list) != 1 || list[0].Name != "naive" || list[0].Entry == nil || list[0].Entry.Event != want.Event || list[0].Broken != "" {
		t.Fatalf("the baselines: %+v, %v, want %+v", list, err, want)
	}
	if err := os.WriteFile(filepath.Join(home, baselinesDir, "naive", manifestFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err = Baselines(home); err != nil || len(list) != 1 || list[0].Entry != nil || list[0].Broken == "" {
		t.Errorf("one that was changed: %+v, %v, want it named, and why it cannot be used", list, err)
	}
}
