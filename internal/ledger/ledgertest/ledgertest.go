// Package ledgertest proves that a ledger driver keeps the rules of package
// ledger: those of one process in Exercise, those of a dying one in Crash.
package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// Open opens the ledger in a folder. Opened twice, on the same folder, it must
// behave as two processes would.
type Open func(dir string) (ledger.Store, error)

// Chain seals n messages after a head.
func Chain(t testing.TB, h ledger.Head, n int) []event.Event {
	t.Helper()
	out, err := chain(h, n, "a word")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func chain(h ledger.Head, n int, text string) ([]event.Event, error) {
	var out []event.Event
	for range n {
		body := &event.UserMessage{Text: event.Text{Text: fmt.Sprintf("%s %d", text, h.Seq+1)}}
		e, err := event.Seal(h.Quest, h.Seq+1, h.Hash, event.Draft{Time: event.Time(h.Seq + 1), Actor: "person", Body: body})
		if err != nil {
			return nil, err
		}
		out = append(out, e)
		h.Seq, h.Hash = e.Seq, e.Hash
	}
	return out, nil
}

// Exercise runs the conformance suite.
func Exercise(t *testing.T, open Open) {
	s := &suite{open: open}
	for name, f := range map[string]func(*testing.T, *suite){
		"Append":      testAppend,
		"Fencing":     testFencing,
		"Read":        testRead,
		"Follow":      testFollow,
		"Inbox":       testInbox,
		"Tokens":      testTokens,
		"Notes":       testNotes,
		"Checkpoints": testCheckpoints,
		"Claim":       testClaim,
		"Blobs":       testBlobs,
		"Remove":      testRemove,
		"Close":       testClose,
		"Writers64":   testWriters,
		"Glances":     testGlances,
		"Wanted":      testWanted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, s)
		})
	}
}

type suite struct{ open Open }

func (s *suite) store(t *testing.T, dir string) ledger.Store {
	t.Helper()
	st, err := s.open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return st
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

// seqs reads a quest and returns its seqs, checking that they are in order, and that the
// bare lines are the same.
func seqs(t *testing.T, st ledger.Log, quest string, from uint64) []uint64 {
	t.Helper()
	var out []uint64
	var read, lines bytes.Buffer
	for e, err := range st.Read(t.Context(), quest, from) {
		must(t, err)
		out = append(out, e.Seq)
		read.Write(append(e.Line(), '\n'))
	}
	for line, err := range st.Lines(t.Context(), quest, from) {
		must(t, err)
		lines.Write(append(line, '\n'))
	}
	if !bytes.HasPrefix(lines.Bytes(), read.Bytes()) { // another may have written meanwhile
		t.Fatalf("%d bytes of lines do not begin with the %d bytes of events", lines.Len(), read.Len())
	}
	for i, s := range out {
		if s != from+uint64(i) {
			t.Fatalf("event %d of the read has seq %d, want %d", i, s, from+uint64(i))
		}
	}
	return out
}

func testAppend(t *testing.T, s *suite) {
	st := s.store(t, t.TempDir())
	ctx := t.Context()
	q := ledger.Head{Quest: "q"}
	events := Chain(t, q, 5)

	t.Run("RefusesAQuestThatDoesNotBeginWithEvent1", func(t *testing.T) {
		wantError(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: events[1:]}), ledger.ErrConflict)
		_, err := st.Head(ctx, "q")
		wantError(t, err, ledger.ErrNoQuest)
	})
	t.Run("MakesTheEventsReadableAndMovesTheHead", func(t *testing.T) {
		must(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: events[:3]}))
		h, err := st.Head(ctx, "q")
		must(t, err)
		if h.Seq != 3 || h.Hash != events[2].Hash {
			t.Fatalf("head is %+v, want seq 3", h)
		}
		if got := seqs(t, st, "q", 1); len(got) != 3 {
			t.Fatalf("read %d events, want 3", len(got))
		}
	})
	t.Run("AnswersTheSameEventsAgainWithSuccess", func(t *testing.T) {
		must(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: events[:3]}))
		must(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: events[1:2]}))
		if got := seqs(t, st, "q", 1); len(got) != 3 {
			t.Fatalf("read %d events, want 3", len(got))
		}
	})
	t.Run("RefusesAStaleSeq", func(t *testing.T) {
		other, err := chain(ledger.Head{Quest: "q", Seq: 2, Hash: events[1].Hash}, 2, "another")
		must(t, err)
		wantError(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: other}), ledger.ErrConflict)
	})
	t.Run("RefusesARightSeqAfterAWrongHash", func(t *testing.T) {
		forged, err := chain(ledger.Head{Quest: "q", Seq: 3, Hash: event.HashOf([]byte("x"))}, 1, "forged")
		must(t, err)
		wantError(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: forged}), ledger.ErrConflict)
	})
	t.Run("RefusesAGap", func(t *testing.T) {
		wantError(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: events[4:]}), ledger.ErrConflict)
	})
	t.Run("RefusesEventsThatAreNoChain", func(t *testing.T) {
		if err := st.Append(ctx, ledger.Batch{Quest: "q", Events: []event.Event{events[3], events[3]}}); err == nil {
			t.Fatal("a repeated event was accepted")
		}
	})
	t.Run("RefusesWhatWasNotSealed", func(t *testing.T) {
		raw := event.Event{Quest: "q", Seq: 4, Type: "nobody.knows"}
		if err := st.Append(ctx, ledger.Batch{Quest: "q", Events: []event.Event{raw}}); err == nil {
			t.Fatal("an event that Seal never saw was accepted")
		}
	})
	t.Run("RefusesAnEmptyBatchAndABadName", func(t *testing.T) {
		if st.Append(ctx, ledger.Batch{Quest: "q"}) == nil || st.Append(ctx, ledger.Batch{Quest: "../q", Events: events[3:]}) == nil {
			t.Fatal("accepted")
		}
	})
	t.Run("WritesNothingWhenTheContextHasEnded", func(t *testing.T) {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if err := st.Append(gone, ledger.Batch{Quest: "q", Events: events[3:4]}); err == nil {
			// It may have been taken just before; then it must be there.
			if got := seqs(t, st, "q", 1); len(got) != 4 {
				t.Fatalf("acknowledged, but %d events are there", len(got))
			}
		}
	})
}

func testFencing(t *testing.T, s *suite) {
	dir := t.TempDir()
	first, second := s.store(t, dir), s.store(t, dir)
	head := ledger.Head{Quest: "q"}
	mine := Chain(t, head, 2)
	must(t, first.Append(t.Context(), ledger.Batch{Quest: "q", Events: mine}))
	theirs, err := chain(head, 1, "theirs")
	must(t, err)
	wantError(t, second.Append(t.Context(), ledger.Batch{Quest: "q", Events: theirs}), ledger.ErrConflict)

	// Both race for each seq; exactly one wins each, and both see the same.
	var wg sync.WaitGroup
	won := make([]int, 2)
	for i, st := range []ledger.Store{first, second} {
		wg.Go(func() {
			for range 50 {
				h, err := st.Head(context.Background(), "q")
				if err != nil {
					t.Error(err)
					return
				}
				e, err := chain(h, 1, fmt.Sprint("writer ", i))
				if err != nil {
					t.Error(err)
					return
				}
				switch err := st.Append(context.Background(), ledger.Batch{Quest: "q", Events: e}); {
				case err == nil:
					won[i]++
				case !errors.Is(err, ledger.ErrConflict):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(seqs(t, first, "q", 1)); got != 2+won[0]+won[1] {
		t.Fatalf("%d events, want %d", got, 2+won[0]+won[1])
	}
}

func testRead(t *testing.T, s *suite) {
	dir := t.TempDir()
	st := s.store(t, dir)
	heads := map[string]ledger.Head{"a": {Quest: "a"}, "b": {Quest: "b"}, "c": {Quest: "c"}}
	// Interleave three quests, far beyond one page.
	for range 400 {
		for _, q := range []string{"a", "b", "c"} {
			events := Chain(t, heads[q], 1+len(q+q)%3)
			must(t, st.Append(t.Context(), ledger.Batch{Quest: q, Events: events}))
			last := events[len(events)-1]
			heads[q] = ledger.Head{Quest: q, Seq: last.Seq, Hash: last.Hash}
		}
	}
	again := s.store(t, dir)
	for name, st := range map[string]ledger.Store{"ByTheWriter": st, "ByAnotherProcess": again} {
		t.Run(name, func(t *testing.T) {
			for q, h := range heads {
				for _, from := range []uint64{1, 2, 511, 512, 513, h.Seq} {
					if got := seqs(t, st, q, from); uint64(len(got)) != h.Seq-from+1 {
						t.Fatalf("quest %s from %d: %d events, want %d", q, from, len(got), h.Seq-from+1)
					}
				}
				if got := seqs(t, st, q, h.Seq+1); len(got) != 0 {
					t.Fatalf("read %d events beyond the end", len(got))
				}
			}
		})
	}
	t.Run("UnknownQuest", func(t *testing.T) {
		for _, err := range st.Read(t.Context(), "nobody", 1) {
			wantError(t, err, ledger.ErrNoQuest)
			return
		}
		t.Fatal("no error")
	})
	t.Run("ListsTheHeads", func(t *testing.T) {
		got, err := st.Quests(t.Context())
		must(t, err)
		if len(got) != 3 || got[0] != heads["a"] || got[1] != heads["b"] || got[2] != heads["c"] {
			t.Fatalf("got %v", got)
		}
	})
}

func testFollow(t *testing.T, s *suite) {
	dir := t.TempDir()
	writer, other := s.store(t, dir), s.store(t, dir)
	head := ledger.Head{Quest: "q"}
	first := Chain(t, head, 10)
	must(t, writer.Append(t.Context(), ledger.Batch{Quest: "q", Events: first}))

	const total = 300
	follow := func(st ledger.Store, from uint64) <-chan error {
		out := make(chan error, 1)
		go func() {
			want := from
			for e, err := range st.Follow(t.Context(), "q", from) {
				if err == nil && e.Seq != want {
					err = fmt.Errorf("got seq %d, want %d", e.Seq, want)
				}
				if err != nil || want == total {
					out <- err
					return
				}
				want++
			}
			out <- errors.New("follow ended")
		}()
		return out
	}
	var results []<-chan error
	for _, from := range []uint64{1, 5, 11, 100, total} {
		results = append(results, follow(writer, from), follow(other, from))
	}
	last := first[9]
	head = ledger.Head{Quest: "q", Seq: last.Seq, Hash: last.Hash}
	for head.Seq < total {
		events := Chain(t, head, 1+int(head.Seq%3))
		events = events[:min(len(events), total-int(head.Seq))]
		must(t, writer.Append(t.Context(), ledger.Batch{Quest: "q", Events: events}))
		last := events[len(events)-1]
		head.Seq, head.Hash = last.Seq, last.Hash
	}
	for i, r := range results {
		if err := <-r; err != nil {
			t.Errorf("follower %d: %v", i, err)
		}
	}
	t.Run("EndsWithItsContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for e, err := range writer.Follow(ctx, "q", total) {
			if err != nil {
				wantError(t, err, context.Canceled)
				return
			}
			if e.Seq == total {
				cancel()
			}
		}
		t.Fatal("ended without an error")
	})
}

func testInbox(t *testing.T, s *suite) {
	dir := t.TempDir()
	owner, other := s.store(t, dir), s.store(t, dir)
	ctx := t.Context()
	must(t, owner.Append(ctx, ledger.Batch{Quest: "q", Events: Chain(t, ledger.Head{Quest: "q"}, 1)}))
	posted, stop := owner.Posted("q")
	defer stop()
	say := func(st ledger.Store, key, text string) int64 {
		id, err := st.Post(ctx, "q", ledger.Command{Key: key, Body: &event.UserMessage{Text: event.Text{Text: text}}})
		must(t, err)
		return id
	}
	one := say(other, "k1", "one")
	<-posted // told of what another process posted
	two := say(owner, "", "two")
	if again := say(other, "k1", "one"); again != one {
		t.Fatalf("the same key gave command %d, want %d", again, one)
	}
	three := say(other, "", "three")
	if !(one < two && two < three) {
		t.Fatalf("ids %d, %d, %d are not in order", one, two, three)
	}
	got, err := owner.Commands(ctx, "q", one)
	must(t, err)
	if len(got) != 2 || got[0].Body.(*event.UserMessage).Text.Text != "two" || got[1].ID != three {
		t.Fatalf("commands after the first: %+v", got)
	}
	must(t, owner.Dismiss(ctx, "q", three))
	must(t, owner.Dismiss(ctx, "q", three))
	if got, err = other.Commands(ctx, "q", one); err != nil || len(got) != 1 || got[0].ID != two {
		t.Fatalf("after the last was dismissed: got %+v, %v, want the second alone", got, err)
	}
	if four := say(other, "", "four"); four <= three {
		t.Fatalf("the number of a dismissed command is given again: got %d after %d", four, three)
	}
	_, err = other.Post(ctx, "nobody", ledger.Command{Body: &event.QuestPaused{}})
	wantError(t, err, ledger.ErrNoQuest)
}

func testClaim(t *testing.T, s *suite) {
	dir := t.TempDir()
	first, second := s.store(t, dir), s.store(t, dir)
	claim, err := first.Claim(t.Context(), "q")
	must(t, err)
	for _, st := range []ledger.Store{first, second} {
		_, err := st.Claim(t.Context(), "q")
		wantError(t, err, ledger.ErrClaimed)
	}
	claimed := func(want bool) {
		t.Helper()
		for _, st := range []ledger.Store{first, second} {
			if got, err := st.Claimed("q"); err != nil || got != want {
				t.Fatalf("Claimed is %v, %v; want %v", got, err, want)
			}
		}
	}
	claimed(true)
	select {
	case <-claim.Lost():
		t.Fatal("a claim that nobody took was lost")
	default:
	}
	other, err := second.Claim(t.Context(), "p")
	must(t, err)
	other.Release()
	claim.Release()
	claimed(false)
	next, err := second.Claim(t.Context(), "q")
	must(t, err)
	claim.Release() // again: it is another's now
	claimed(true)
	next.Release()
	claimed(false)
	if _, err := first.Claim(t.Context(), "../q"); err == nil || errors.Is(err, ledger.ErrClaimed) {
		t.Fatalf("a claim on a bad name gave %v", err)
	}
}

func testBlobs(t *testing.T, s *suite) {
	st := s.store(t, t.TempDir())
	ctx := t.Context()
	events := Chain(t, ledger.Head{Quest: "q"}, 2)
	data := []byte(strings.Repeat("blob", 1000))
	must(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: events[:1], Blobs: [][]byte{data, data, {}}}))
	got, err := st.Blob(ctx, event.HashOf(data))
	must(t, err)
	if string(got) != string(data) {
		t.Fatal("the blob came back changed")
	}
	_, err = st.Blob(ctx, event.HashOf([]byte("none")))
	wantError(t, err, ledger.ErrNoBlob)

	lost := []byte("came with a batch that was refused")
	wantError(t, st.Append(ctx, ledger.Batch{Quest: "q", Events: Chain(t, ledger.Head{Quest: "q", Seq: 1}, 1), Blobs: [][]byte{lost}}), ledger.ErrConflict)
	_, err = st.Blob(ctx, event.HashOf(lost))
	wantError(t, err, ledger.ErrNoBlob)
	big := make([]byte, ledger.MaxInlineBlob+1)
	if st.Append(ctx, ledger.Batch{Quest: "q", Events: events[1:], Blobs: [][]byte{big}}) == nil {
		t.Fatal("a large blob was accepted into a batch")
	}
}

func testRemove(t *testing.T, s *suite) {
	dir := t.TempDir()
	st := s.store(t, dir)
	ctx := t.Context()
	for _, q := range []string{"a", "b"} {
		must(t, st.Append(ctx, ledger.Batch{Quest: q, Events: Chain(t, ledger.Head{Quest: q}, 600)}))
	}
	ended := make(chan error, 1)
	go func() {
		for e, err := range st.Follow(context.Background(), "b", 600) {
			if err != nil {
				ended <- err
				return
			}
			_ = e
		}
	}()
	must(t, st.Remove(ctx, "b"))
	wantError(t, <-ended, ledger.ErrNoQuest)
	wantError(t, st.Remove(ctx, "b"), ledger.ErrNoQuest)
	// Another under the same name begins anew, and the other quest is whole.
	must(t, st.Append(ctx, ledger.Batch{Quest: "b", Events: Chain(t, ledger.Head{Quest: "b"}, 7)}))
	if got := seqs(t, st, "b", 1); len(got) != 7 {
		t.Fatalf("%d events in the new quest, want 7", len(got))
	}
	if got := seqs(t, st, "a", 1); len(got) != 600 {
		t.Fatalf("%d events in the other quest, want 600", len(got))
	}
	if got := seqs(t, s.store(t, dir), "b", 1); len(got) != 7 {
		t.Fatalf("another process sees %d events, want 7", len(got))
	}
}

func testClose(t *testing.T, s *suite) {
	st, err := s.open(filepath.Join(t.TempDir(), "made", "on", "the", "way"))
	must(t, err)
	events := Chain(t, ledger.Head{Quest: "q"}, 1)
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: events}))
	ended := make(chan error, 1)
	go func() {
		for _, err := range st.Follow(context.Background(), "q", 1) {
			if err != nil {
				ended <- err
			}
		}
	}()
	must(t, st.Close())
	wantError(t, <-ended, ledger.ErrClosed)
	wantError(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: events}), ledger.ErrClosed)
	must(t, st.Close())
}

// testWriters has 64 writers, some of them on the same quests.
func testWriters(t *testing.T, s *suite) {
	st := s.store(t, t.TempDir())
	var wg sync.WaitGroup
	for i := range 64 {
		quest := fmt.Sprintf("q%d", i%48)
		wg.Go(func() {
			if err := writeSome(st, quest, i, 20, func(event.Event) {}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	total := 0
	for i := range 48 {
		total += len(seqs(t, st, fmt.Sprintf("q%d", i), 1))
	}
	if total != 64*20 {
		t.Fatalf("%d events, want %d", total, 64*20)
	}
}

// writeSome appends n events to a quest that others may write too.
func writeSome(st ledger.Store, quest string, writer, n int, acked func(event.Event)) error {
	ctx := context.Background()
	for done := 0; done < n; {
		h, err := st.Head(ctx, quest)
		if errors.Is(err, ledger.ErrNoQuest) {
			h = ledger.Head{Quest: quest}
		} else if err != nil {
			return err
		}
		events, err := chain(h, 1, fmt.Sprint("writer ", writer, strings.Repeat("x", int(h.Seq%700))))
		if err != nil {
			return err
		}
		err = st.Append(ctx, ledger.Batch{Quest: quest, Events: events})
		if errors.Is(err, ledger.ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		acked(events[0])
		done++
	}
	return nil
}
