package crate

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
)

// putTree stores a tree of entries that are folders or files.
func putTree(t *testing.T, s blob.Store, entries ...blob.Entry) event.TreeRef {
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

func folder(name string, ref event.TreeRef) blob.Entry {
	return blob.Entry{Name: name, Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size}
}

func TestInventory(t *testing.T) {
	t.Parallel()
	store := new(blobtest.Memory)
	content := event.RefOf([]byte("content"))
	plain := blob.Entry{Name: "file", Kind: blob.File, Mode: blob.ModePlain, Hash: content.Hash, Size: content.Size}
	deep := putTree(t, store, plain)
	for range blob.MaxDepth {
		deep = putTree(t, store, folder("in", deep))
	}
	wide := putTree(t, store, plain)
	for range 24 { // each doubles what is below
		wide = putTree(t, store, folder("a", wide), folder("b", wide))
	}
	longer := plain
	longer.Size++
	for name, c := range map[string]struct {
		tree event.TreeRef
		want string
	}{
		"HoldsEachBlobOnce":                  {putTree(t, store, folder("a", putTree(t, store, plain)), folder("b", putTree(t, store, plain)), plain), ""},
		"RefusesATreeTooDeepToRestore":       {deep, "folders in each other"},
		"RefusesATreeTooLargeToRestore":      {wide, "entries"},
		"RefusesTwoSizesOfOneBlob":           {putTree(t, store, folder("a", putTree(t, store, longer)), plain), "event 7 with 8"},
		"NamesTheEventOfATreeThatIsNotThere": {event.TreeRef(event.RefOf([]byte("nowhere"))), "event 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newInventory(store)
			err := v.add(t.Context(), event.Event{Seq: 7, Type: "file.diff", Body: &event.FileDiff{After: c.tree}})
			if c.want == "" {
				if err != nil || len(v.held) != 3 || v.held[content.Hash].path != "a/file" {
					t.Errorf("what the crate holds: got %v: %v, want three files", v.held, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
	t.Run("DoesNotCountRound", func(t *testing.T) {
		t.Parallel()
		v := newInventory(store)
		for i := range 2000 {
			ref := event.Ref{Hash: event.HashOf(fmt.Append(nil, i)), Size: 1 << 53}
			if err := v.hold(ref, holding{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := standard.check(0, v.total); err == nil {
			t.Errorf("a total of %d is within the limits", v.total)
		}
	})
}
