package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// leaked runs a quest that was told something long with a secret in it, and returns the blob's hash.
func leaked(t *testing.T, l *lab, name string) event.Hash {
	t.Helper()
	l.run(l.create(plan(t, name, "", simple)))
	ref, err := l.Blobs.Put(t.Context(), []byte(strings.Repeat("long ", 20_000)+"hunter2"))
	must(t, err)
	_, err = l.Ledger.Post(t.Context(), name, ledger.Command{Body: &event.UserMessage{Text: event.Text{Ref: &ref}}})
	must(t, err)
	l.run(name)
	return ref.Hash
}

// append seals events behind a quest's last, as a forger does.
func (l *lab) forge(name string, body event.Body) {
	l.t.Helper()
	events := l.events(name)
	last := events[len(events)-1]
	e, err := event.Seal(last.Quest, last.Seq+1, last.Hash, event.Draft{Time: last.Time, Actor: "person", Body: body})
	must(l.t, err)
	must(l.t, l.Ledger.Append(l.t.Context(), ledger.Batch{Quest: name, Events: []event.Event{e}}))
}

func (l *lab) verdict(name string) *audit.Report {
	l.t.Helper()
	rep, err := audit.Verify(context.Background(), l.Runtime, name, nil)
	must(l.t, err)
	return rep
}

func TestRedactedIsToldFromLost(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	h := leaked(t, l, "q")
	l.sound("q")
	done, err := l.TakeOut(t.Context(), "q", runtime.Redaction{Text: "hunter2", Why: "a password"})
	must(t, err)
	if len(done.Blobs) != 1 || done.Blobs[0] != h || len(done.Events) != 0 {
		t.Fatalf("taken out: %+v, want the message's blob", done)
	}
	if !l.Garbage() {
		t.Error("whoever is killed now leaves the blob, and no mark for the next start to remove it")
	}
	// One that was killed right after the event has left no word of it but that.
	_, err = l.Ledger.SwapNote(t.Context(), ledger.Note{Kind: "redacted", Key: h.String()}, []byte{'r'})
	must(t, err)
	l.sound("q") // the event is there, and the bytes still are
	if _, _, err := l.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if has, err := l.Blobs.Has(t.Context(), h); has || err != nil {
		t.Fatalf("the blob is still there (%v)", err)
	}
	l.sound("q")
	if rep := l.verdict("q"); len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "redacted by the owner: 1 blob: a password") {
		t.Errorf("verify notes %q, want that a blob was redacted, and why", rep.Notes)
	}
	data, err := l.Blob(t.Context(), event.Ref{Hash: h, Size: 100_007})
	if err != nil || string(data) != event.Redacted {
		t.Errorf("whoever reads it gets %q, %v", data, err)
	}
	if _, err := l.Whole(t.Context(), event.Ref{Hash: h, Size: 100_007}); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a check reads it as %v, want that it is not there", err)
	}
	if again, err := l.TakeOut(t.Context(), "q", runtime.Redaction{Blob: h, Why: "again"}); err != nil || len(again.Blobs) != 0 {
		t.Errorf("once more: %+v, %v", again, err)
	}
}

func TestWhatIsLostIsNoRedaction(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	h := leaked(t, l, "q")
	// The same ledger without the event, where the blob is not.
	other := newLab(t)
	for _, e := range l.events("q") {
		refs, trees := event.Refs(e.Body)
		for _, ref := range refs {
			if data, err := l.Whole(t.Context(), ref); err == nil && ref.Hash != h {
				_, err = other.Blobs.Put(t.Context(), data)
				must(t, err)
			}
		}
		for _, tree := range trees {
			must(t, blob.Walk(t.Context(), l.Blobs, tree, func(b event.Ref) error {
				data, err := l.Blobs.Get(t.Context(), b.Hash)
				if err == nil {
					_, err = other.Blobs.Put(t.Context(), data)
				}
				return err
			}))
		}
	}
	must(t, other.Ledger.Append(t.Context(), ledger.Batch{Quest: "q", Events: l.events("q")}))
	if rep := other.verdict("q"); rep.Difference == nil || !strings.Contains(rep.Difference.What, "not found") {
		t.Errorf("a blob is lost, and verify says %v", rep.Difference)
	}
	other.forge("q", &event.BlobRedacted{Blobs: []event.Hash{h}, Why: "x"})
	if rep := other.verdict("q"); rep.Difference != nil {
		t.Errorf("an event says that it was redacted, and verify says %v", rep.Difference)
	}
}

func TestAForgedRedactionIsFound(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	leaked(t, l, "q")
	l.rechain("q", "never", func(*event.Draft) {})
	l.forge("never", &event.BlobRedacted{Blobs: []event.Hash{event.HashOf([]byte("never there"))}, Why: "x"})
	if rep := l.verdict("never"); rep.Difference == nil || !strings.Contains(rep.Difference.What, "which no event before names") {
		t.Errorf("a redaction of what was never there: %v", rep.Difference)
	}
	created := l.events("q")[0].Body.(*event.QuestCreated)
	if _, err := l.TakeOut(t.Context(), "q", runtime.Redaction{Blob: created.Agents[0].System.Hash, Why: "x"}); err == nil {
		t.Error("what the quest is made of can be taken out")
	}
}
