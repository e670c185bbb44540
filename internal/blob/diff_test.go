package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/need"

	"github.com/google/go-cmp/cmp"
)

// mockup is a made-up folder: entries that are no folders, and folders.
type mockup map[string]any

// store puts a folder into a store, as a snapshot would.
func (f mockup) store(t testing.TB, s blob.Store) event.TreeRef {
	t.Helper()
	var tree blob.Tree
	for _, name := range slices.Sorted(maps.Keys(f)) {
		switch v := f[name].(type) {
		case mockup:
			tree = append(tree, dir(name, event.Ref(v.store(t, s))))
		case blob.Entry:
			v.Name = name
			tree = append(tree, v)
		}
	}
	data, err := tree.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return event.TreeRef(ref)
}

// paths lists a folder with all below it; the paths of folders end with a slash.
func (f mockup) paths(at string, into map[string]any) map[string]any {
	for name, v := range f {
		if sub, ok := v.(mockup); ok {
			into[at+name+"/"] = sub
			sub.paths(at+name+"/", into)
		} else {
			into[at+name] = v
		}
	}
	return into
}

// naive compares two folders path by path.
func naive(before, after mockup) (out []event.Change) {
	was, is := before.paths("", map[string]any{}), after.paths("", map[string]any{})
	list := func(from, other map[string]any, kind string) {
		for path, v := range from {
			o, both := other[path]
			e, leaf := v.(blob.Entry)
			switch {
			case !both && (leaf || len(v.(mockup)) == 0):
				out = append(out, event.Change{Kind: kind, Path: path, Size: e.Size})
			case both && leaf && kind == event.Added && o != v:
				out = append(out, event.Change{Kind: event.Changed, Path: path, Size: e.Size})
			}
		}
	}
	list(was, is, event.Removed)
	list(is, was, event.Added)
	slices.SortFunc(out, func(a, b event.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func randomEntry(rng *rand.Rand) blob.Entry {
	if rng.IntN(4) == 0 {
		return link("", fmt.Sprint("t", rng.IntN(2)))
	}
	content := []byte(strings.Repeat("x", rng.IntN(3)))
	return blob.Entry{Kind: blob.File, Mode: []fs.FileMode{blob.ModePlain, blob.ModeExec}[rng.IntN(2)], Hash: event.HashOf(content), Size: int64(len(content))}
}

func randomFolder(rng *rand.Rand, depth int) mockup {
	f := mockup{}
	for range rng.IntN(5) {
		f[randomName(rng)] = randomThing(rng, depth)
	}
	return f
}

func randomThing(rng *rand.Rand, depth int) any {
	if depth > 0 && rng.IntN(3) == 0 {
		return randomFolder(rng, depth-1)
	}
	return randomEntry(rng)
}

// randomName is one of few, such that names are each other's beginnings and sort
// around the slash.
func randomName(rng *rand.Rand) string {
	return []string{"a", "a.b", "a-", "a0", "ab", "b", "\n", "é", "a b"}[rng.IntN(9)]
}

// changed is the folder after some changes.
func (f mockup) changed(rng *rand.Rand, depth int) mockup {
	g := maps.Clone(f)
	for name, v := range f {
		if sub, ok := v.(mockup); ok && rng.IntN(2) == 0 {
			g[name] = sub.changed(rng, depth-1)
		}
	}
	for range rng.IntN(3) {
		if name := randomName(rng); rng.IntN(2) == 0 {
			delete(g, name)
		} else {
			g[name] = randomThing(rng, depth)
		}
	}
	return g
}

func TestDiffFindsWhatANaiveComparisonFinds(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		store := &blobtest.Memory{}
		before := randomFolder(rng, 3)
		after := before.changed(rng, 3)
		from, to := before.store(t, store), after.store(t, store)
		want := naive(before, after)
		got, more, err := blob.Diff(t.Context(), store, &from, to, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" || more != 0 {
			t.Fatalf("seed %d, %d more (-naive +got):\n%s", seed, more, d)
		}
		for _, c := range got {
			seen[c.Kind]++
		}
		few, more, err := blob.Diff(t.Context(), store, &from, to, 2)
		if err != nil || len(few) != min(2, len(want)) || !slices.Equal(few, want[:len(few)]) || int(more) != len(want)-len(few) {
			t.Fatalf("seed %d: the first two of %v are %v, and %d more: %v", seed, want, few, more, err)
		}
		all, _, err := blob.Diff(t.Context(), store, nil, to, 1000)
		if d := cmp.Diff(naive(mockup{}, after), all); d != "" || err != nil {
			t.Fatalf("seed %d, from nothing (-naive +got): %v\n%s", seed, err, d)
		}
	}
	for _, kind := range []string{event.Added, event.Changed, event.Removed} {
		if seen[kind] < 100 {
			t.Errorf("only %d were %s: that proves little", seen[kind], kind)
		}
	}
}

func TestDiffNamesAChangeOfKind(t *testing.T) {
	t.Parallel()
	plain := blob.Entry{Kind: blob.File, Mode: blob.ModePlain, Hash: hashA, Size: 1}
	exec := plain
	exec.Mode = blob.ModeExec
	for name, c := range map[string]struct {
		before, after any
		want          []event.Change
	}{
		"AFileThatBecameALink":      {plain, link("", "x"), []event.Change{{Kind: event.Changed, Path: "n"}}},
		"ALinkThatBecameAFile":      {link("", "x"), plain, []event.Change{{Kind: event.Changed, Path: "n", Size: 1}}},
		"ALinkToElsewhere":          {link("", "x"), link("", "y"), []event.Change{{Kind: event.Changed, Path: "n"}}},
		"AFileThatCanBeExecutedNow": {plain, exec, []event.Change{{Kind: event.Changed, Path: "n", Size: 1}}},
		"AFileThatBecameAFolder":    {plain, mockup{"f": plain}, []event.Change{{Kind: event.Removed, Path: "n", Size: 1}, {Kind: event.Added, Path: "n/f", Size: 1}}},
		"AFolderThatBecameALink":    {mockup{"f": plain}, link("", "x"), []event.Change{{Kind: event.Added, Path: "n"}, {Kind: event.Removed, Path: "n/f", Size: 1}}},
		"AnEmptyFolderThatCame":     {nil, mockup{}, []event.Change{{Kind: event.Added, Path: "n/"}}},
		"AnEmptyFolderThatWent":     {mockup{}, nil, []event.Change{{Kind: event.Removed, Path: "n/"}}},
		"AFolderThatWasEmptied":     {mockup{"f": plain}, mockup{}, []event.Change{{Kind: event.Removed, Path: "n/f", Size: 1}}},
		"AFolderOfAnEmptyOne":       {nil, mockup{"e": mockup{}}, []event.Change{{Kind: event.Added, Path: "n/e/"}}},
		"Nothing":                   {mockup{"f": plain}, mockup{"f": plain}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &blobtest.Memory{}
			from, to := mockup{"n": c.before}.store(t, store), mockup{"n": c.after}.store(t, store)
			got, more, err := blob.Diff(t.Context(), store, &from, to, 10)
			if d := cmp.Diff(c.want, got); d != "" || more != 0 || err != nil {
				t.Errorf("%d more, %v (-want +got):\n%s", more, err, d)
			}
		})
	}
}

// counting counts the blobs that are read.
type counting struct {
	blob.Store
	opened int
}

func (c *counting) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	c.opened++
	return c.Store.Open(ctx, h)
}

func TestDiffReadsOnlyFoldersThatDiffer(t *testing.T) {
	t.Parallel()
	plain := blob.Entry{Kind: blob.File, Mode: blob.ModePlain, Hash: hashA, Size: 1}
	before := mockup{}
	for i := range 100 {
		before[fmt.Sprint("d", i)] = mockup{"sub": mockup{"f": plain}}
	}
	after := maps.Clone(before)
	after["d7"] = mockup{"sub": mockup{"f": plain, "g": plain}}
	store := &counting{Store: &blobtest.Memory{}}
	from, to := before.store(t, store), after.store(t, store)
	got, _, err := blob.Diff(t.Context(), store, &from, to, 10)
	if err != nil || len(got) != 1 || got[0].Path != "d7/sub/g" {
		t.Fatalf("the diff: got %v, %v, want d7/sub/g alone", got, err)
	}
	if store.opened != 6 {
		t.Errorf("%d folders were read, want the three that differ, twice", store.opened)
	}
	store.opened = 0
	if got, more, err := blob.Diff(t.Context(), store, &to, to, 10); got != nil || more != 0 || err != nil || store.opened != 0 {
		t.Errorf("a tree differs from itself: %v, %d, %v, %d read", got, more, err, store.opened)
	}
}

func TestDiffEndsOnTreesThatStandForMoreFilesThanThereAreAtoms(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	store := &blobtest.Memory{}
	plain := blob.Entry{Kind: blob.File, Mode: blob.ModePlain, Hash: hashA, Size: 1}
	for name, bottom := range map[string]mockup{"OfFiles": {"f": plain}, "OfFolders": {"e": mockup{}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := bottom.store(t, store)
			for range 60 {
				ref = putTree(t, store, dir("a", event.Ref(ref)), dir("b", event.Ref(ref)))
			}
			got, more, err := blob.Diff(t.Context(), store, nil, ref, 10)
			if err != nil || len(got) != 10 || more < 1000 || more > blob.MaxDiff {
				t.Errorf("%d changes, %d more, %v", len(got), more, err)
			}
		})
	}
	wide := mockup{}
	for i := range blob.MaxDiff + 5 {
		wide[fmt.Sprint(i)] = plain
	}
	got, more, err := blob.Diff(t.Context(), store, nil, wide.store(t, store), 3)
	if err != nil || len(got) != 3 || more != blob.MaxDiff-3 {
		t.Errorf("%d changes, %d more, %v; want counting to end at %d", len(got), more, err, blob.MaxDiff)
	}
	deep := mockup{"f": plain}.store(t, store)
	for range blob.MaxDepth {
		deep = putTree(t, store, dir("d", event.Ref(deep)))
	}
	if _, _, err := blob.Diff(t.Context(), store, nil, deep, 3); err == nil || !strings.Contains(err.Error(), "in each other") {
		t.Errorf("a tree too deep: %v", err)
	}
}

func putTree(t testing.TB, s blob.Store, entries ...blob.Entry) event.TreeRef {
	t.Helper()
	data, err := blob.Tree(entries).Encode()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return event.TreeRef(ref)
}

func TestDiffSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	store := &blobtest.Memory{}
	plain := blob.Entry{Kind: blob.File, Mode: blob.ModePlain, Hash: hashA, Size: 1}
	from, to := mockup{"d": mockup{}}.store(t, store), mockup{"d": mockup{"f": plain}}.store(t, store)
	store.Forget(mockup{"f": plain}.store(t, store).Hash)
	got, _, err := blob.Diff(t.Context(), store, &from, to, 10)
	if !errors.Is(err, blob.ErrNotFound) || got != nil {
		t.Errorf("the diff with a tree that is missing: got %v, %v, want ErrNotFound", got, err)
	}
}
