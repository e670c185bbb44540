package crate

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"
)

// newHome is a whole Lyceum in a folder of its own.
func newHome(t testing.TB) *runtime.Runtime {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	blobs, err := fs.Open(filepath.Join(dir, "blobs"), &fs.Options{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	var now atomic.Int64
	now.Store(1_780_000_000_000_000)
	return &runtime.Runtime{
		Ledger: db, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{solo.Society{}}, Home: dir, Version: "v0-test",
		Clock:  func() event.Time { return event.Time(now.Add(1_000_001)) },
		Models: func(name string, _ func(string) ([]byte, error)) (model.Model, error) { return fakeModel(name), nil },
	}
}

// fakeModel does what its name says, one step a turn.
type fakeModel string

func (m fakeModel) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	usage := event.Usage{Input: 100, Output: 10}
	if m == "broken" {
		return nil, &model.Error{Kind: model.Refused, Text: "no <b>key</b>"}
	}
	if m == "stubborn" && r.Turn < 12 {
		a := &model.Answer{Stop: model.StopTools, Usage: usage}
		for i := range 100 {
			a.Parts = append(a.Parts, toolCall(fmt.Sprintf("c%d", i), "teleport", fmt.Sprintf(`{"try":%d}`, r.Turn)))
		}
		return a, nil
	}
	if m == "verbose" && r.Turn == 1 {
		return &model.Answer{Stop: model.StopLength, Usage: usage, Parts: []model.Part{{Kind: event.PartText, Text: "I begin"}}}, nil
	}
	if m == "verbose" {
		return &model.Answer{Stop: model.StopEnd, Usage: usage, Parts: []model.Part{{Kind: event.PartText, Text: strings.Repeat("long answer ", 10_000)}}}, nil
	}
	switch r.Turn {
	case 1:
		return &model.Answer{Stop: model.StopTools, Usage: usage, Parts: []model.Part{
			{Kind: event.PartText, Text: "I compute."},
			toolCall("a", "write_file", `{"path":"notes/plan.md","content":"six times seven"}`),
			toolCall("b", "calculate", `{"code":"print(6*7)"}`),
			toolCall("c", "teleport", `{}`),
		}}, nil
	case 2:
		long := strings.Repeat("long & <wide> ", 1000)
		return &model.Answer{Stop: model.StopTools, Usage: usage, Parts: []model.Part{
			toolCall("d", "write_file", fmt.Sprintf(`{"path":"long.txt","content":%q}`, long)),
			toolCall("e", "calculate", `{"code":"nonsense("}`),
		}}, nil
	}
	return &model.Answer{Stop: model.StopEnd, Usage: usage, Parts: []model.Part{{Kind: event.PartText, Text: "The answer is <script>42</script>."}}}, nil
}

func toolCall(id, name, args string) model.Part {
	return model.Part{Kind: event.PartToolCall, ID: id, Name: name, Args: args}
}

// runQuest makes a quest named small and runs it to its end. data are files of
// the folder it is given, none if nil.
func runQuest(t testing.TB, rt *runtime.Runtime, modelName string, data map[string][]byte) {
	t.Helper()
	createQuest(t, rt, modelName, data)
	if _, err := rt.Run(t.Context(), "small", runtime.RunOptions{}); err != nil {
		t.Fatal(err)
	}
}

func createQuest(t testing.TB, rt *runtime.Runtime, modelName string, data map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	spec := &quest.Spec{Name: "small", Problem: "What is 6*7 & <why>?", Model: modelName, Tools: []string{"calculate", "write_file"}}
	for name, content := range data {
		spec.Data = "data"
		path := filepath.Join(dir, "data", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if data != nil {
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "data", "link")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: []byte("name: small\n"), Dir: dir}); err != nil {
		t.Fatal(err)
	}
}

func exported(t testing.TB, rt *runtime.Runtime, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Export(t.Context(), rt, name, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func imported(t testing.TB, rt *runtime.Runtime, data []byte, as string) (*quest.State, error) {
	t.Helper()
	return Import(t.Context(), rt, bytes.NewReader(data), int64(len(data)), ImportOptions{As: as})
}

// smallCrate is the export of a quest that ran to its end.
func smallCrate(t testing.TB) []byte {
	t.Helper()
	rt := newHome(t)
	runQuest(t, rt, "honest", nil)
	return exported(t, rt, "small")
}

// file is an entry of a zip.
type file struct {
	name   string
	data   []byte
	change func(*zip.FileHeader)
}

func unzip(t testing.TB, data []byte) []file {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out []file
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file{name: f.Name, data: content})
	}
	return out
}

func rezip(t testing.TB, files []file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Store}
		if f.change != nil {
			f.change(h)
		}
		e, err := w.CreateHeader(h)
		if err == nil {
			_, err = e.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func find(t testing.TB, files []file, name string) []byte {
	t.Helper()
	for _, f := range files {
		if f.name == name {
			return f.data
		}
	}
	t.Fatalf("the zip has no %s", name)
	return nil
}

// mustBeEmpty fails if anything of a refused quest exists.
func mustBeEmpty(t testing.TB, rt *runtime.Runtime) {
	t.Helper()
	heads, err := rt.Ledger.Quests(t.Context())
	if err != nil || len(heads) > 0 {
		t.Fatalf("quests after a refused import: %v, %v", heads, err)
	}
	for _, dir := range []string{"blobs", "quests"} {
		_ = filepath.WalkDir(filepath.Join(rt.Home, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
				t.Fatalf("after a refused import there is %s", path)
			}
			return nil
		})
	}
}
