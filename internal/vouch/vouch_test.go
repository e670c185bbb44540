package vouch_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/need"
	"lyceum/internal/proof"
	"lyceum/internal/vouch"
	"lyceum/internal/vouch/vouchtest"
	"lyceum/internal/witness"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(t testing.TB, name string) proof.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	s, err := proof.NewSigner(name, seed[:])
	must(t, err)
	return s
}

// store is a ledger with the quest q of some events.
func store(t testing.TB, events int) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(filepath.Join(t.TempDir(), "lyceum.db"), nil)
	must(t, err)
	t.Cleanup(func() { st.Close() })
	extend(t, st, "q", events)
	return st
}

func extend(t testing.TB, st ledger.Store, quest string, events int) {
	t.Helper()
	h, err := st.Head(t.Context(), quest)
	if err != nil {
		h = ledger.Head{Quest: quest}
	}
	must(t, st.Append(t.Context(), ledger.Batch{Quest: quest, Events: ledgertest.Chain(t, h, events)}))
}

func open(t testing.TB, opts vouch.Options) *vouch.Office {
	t.Helper()
	o := vouch.Open(opts)
	t.Cleanup(func() { must(t, o.Close()) })
	return o
}

// serving is a witness that can be asked.
func serving(t testing.TB, name string, opts witness.Options) vouch.Witness {
	t.Helper()
	opts.Clock = func() event.Time { return 1_800_000_000_000_000 }
	w, err := witness.Open(t.TempDir(), key(t, name), opts)
	must(t, err)
	server := httptest.NewServer(w)
	t.Cleanup(func() { server.Close(); must(t, w.Close()) })
	return vouch.Witness{Key: w.Key(), URL: server.URL}
}

func judge(t testing.TB, st ledger.Store, quest string, known proof.Known) *proof.Verdict {
	t.Helper()
	v, err := vouch.Judge(t.Context(), st, quest, known)
	must(t, err)
	return v
}

func TestAnOfficeSignsAndHasOthersVouch(t *testing.T) {
	st, ada := store(t, 10), key(t, "ada.example")
	one := serving(t, "w1", witness.Options{Keys: []proof.Verifier{ada.Verifier(proof.Author)}})
	two := serving(t, "w2", witness.Options{FirstUse: true})
	var said atomic.Int64
	o := open(t, vouch.Options{Ledger: st, Signer: ada, Witnesses: []vouch.Witness{one, two}, Say: func(line string) { said.Add(1); t.Log(line) }})
	known := proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}, Witnesses: []proof.Verifier{one.Key, two.Key}}
	for _, more := range []int{0, 7, 0, 1} {
		if more > 0 {
			extend(t, st, "q", more)
		}
		_, err := o.Make(t.Context(), "q")
		must(t, err)
	}
	v := judge(t, st, "q", known)
	if v.Broken != nil || v.Bound == nil || v.Bound.Size != 18 || v.Last.Size != 18 || v.Bound.Witnesses() != 2 || said.Load() != 0 {
		t.Fatalf("after three checkpoints: %s; %+v", v.Words(), v.Checkpoints)
	}
	if n := len(v.Checkpoints); n != 3 || v.Checkpoints[0].Origin != v.Checkpoints[2].Origin {
		t.Errorf("there are %d checkpoints, want three of one log", n)
	}
	if !strings.HasPrefix(v.Last.Origin, "ada.example/") || len(v.Last.Origin) != len("ada.example/")+32 {
		t.Errorf("the log is %q, want the name of the key and 32 hex digits", v.Last.Origin)
	}
}

// unread counts how often lines are read.
type unread struct {
	ledger.Store
	reads atomic.Int64
}

func (u *unread) Lines(ctx context.Context, quest string, seq uint64) iter.Seq2[[]byte, error] {
	u.reads.Add(1)
	return u.Store.Lines(ctx, quest, seq)
}

// TestHashesThatAreAtHandAreNotRead: neither to sign nor to have it cosigned. Those that leave a gap behind
// the last checkpoint, or are another quest's, do not do, and lines are read.
func TestHashesThatAreAtHandAreNotRead(t *testing.T) {
	st, ada := &unread{Store: store(t, 10)}, key(t, "ada.example")
	w := serving(t, "w", witness.Options{FirstUse: true})
	o := open(t, vouch.Options{Ledger: st, Signer: ada, Witnesses: []vouch.Witness{w}})
	known := proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}, Witnesses: []proof.Verifier{w.Key}}
	hashes := func(after uint64) (out []event.Hash) {
		for h, err := range vouch.Hashes(t.Context(), st.Store, "q", after) {
			must(t, err)
			out = append(out, h)
		}
		return out
	}
	for _, c := range []struct {
		what   string
		after  uint64
		reads  bool
		lacks  int
		events int
		wrong  bool
	}{
		{what: "all from the first", after: 0},
		{what: "all since the last", after: 10, events: 7},
		{what: "all but the newest", after: 17, events: 5, lacks: 2, reads: true},
		{what: "those since before the last", after: 20, events: 3},
		{what: "some behind a gap", after: 27, events: 4, reads: true},
		{what: "those of another quest", after: 29, events: 3, wrong: true, reads: true},
	} {
		if c.events > 0 {
			extend(t, st.Store, "q", c.events)
		}
		st.reads.Store(0)
		have := hashes(c.after)
		if c.wrong {
			have[len(have)-1] = event.HashOf(nil)
		}
		o.Grown("q", c.after, have[:len(have)-c.lacks])
		_, err := o.Make(t.Context(), "q") // waits for the witness
		must(t, err)
		if got := st.reads.Load() > 0; got != c.reads {
			t.Errorf("%s at hand: lines were read %d times", c.what, st.reads.Load())
		}
		v := judge(t, st.Store, "q", known)
		if head, err := st.Head(t.Context(), "q"); err != nil || v.Broken != nil || v.Bound == nil || v.Bound.Size != head.Seq || v.Bound.Witnesses() != 1 {
			t.Fatalf("%s at hand: %s; %+v, %v", c.what, v.Words(), v.Checkpoints, err)
		}
	}
}

// TestACheckpointIsOfTheEventsThatCameAlong: the run goes on while it is made, and the hashes that the next
// one brings go on from there.
func TestACheckpointIsOfTheEventsThatCameAlong(t *testing.T) {
	st, ada := &unread{Store: store(t, 40)}, key(t, "ada.example")
	var have []event.Hash
	for h, err := range vouch.Hashes(t.Context(), st.Store, "q", 0) {
		must(t, err)
		have = append(have, h)
	}
	o := open(t, vouch.Options{Ledger: st, Signer: ada})
	o.Grown("q", 2, have[2:10])
	o.Grown("q", 10, have[10:30])
	must(t, o.Close())
	rows, err := st.Checkpoints(t.Context(), "q", 0)
	must(t, err)
	if len(rows) != 2 || rows[0].Size != 10 || rows[1].Size != 30 {
		t.Errorf("there are the checkpoints %+v, want one of 10 events and one of 30", rows)
	}
	if v := judge(t, st.Store, "q", proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}}); v.Broken != nil || v.Last.Size != 30 {
		t.Errorf("what was signed: %s", v.Words())
	}
}

func TestADeadWitnessCostsNothing(t *testing.T) {
	st, ada := store(t, 10), key(t, "ada")
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }))
	defer silent.Close()
	refusing := httptest.NewServer(http.NotFoundHandler())
	refusing.Close()
	var said atomic.Int64
	o := vouch.Open(vouch.Options{
		Ledger: st, Signer: ada, Linger: time.Millisecond, Authorities: []string{refusing.URL, silent.URL},
		Witnesses: []vouch.Witness{{Key: key(t, "w").Verifier(proof.Cosigner), URL: silent.URL}}, Say: func(string) { said.Add(1) },
	})
	o.Rested(t.Context(), "q") // returns though nobody answers
	v := judge(t, st, "q", proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}})
	if v.Last == nil || v.Last.Size != 10 {
		t.Errorf("with a dead witness: %s", v.Words())
	}
	must(t, o.Close())
	o.Rested(t.Context(), "q") // after the end nothing hangs
}

// TestAWitnessThatFailsIsToldOnce: until it works again, however often it is asked.
func TestAWitnessThatFailsIsToldOnce(t *testing.T) {
	st, ada := store(t, 1), key(t, "ada")
	w, err := witness.Open(t.TempDir(), key(t, "w"), witness.Options{FirstUse: true, Clock: func() event.Time { return 1_800_000_000_000_000 }})
	must(t, err)
	defer w.Close()
	var answer atomic.Pointer[http.HandlerFunc]
	says := func(status int, kind, text string) {
		f := http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", kind)
			out.WriteHeader(status)
			_, _ = io.WriteString(out, text)
		})
		answer.Store(&f)
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { (*answer.Load())(out, r) }))
	defer server.Close()
	said := make(chan string, 100)
	o := open(t, vouch.Options{Ledger: st, Signer: ada, Witnesses: []vouch.Witness{{Key: w.Key(), URL: server.URL}}, Say: func(line string) { said <- line }})
	eve, err := key(t, "eve").Cosign("a text\n", 5)
	must(t, err)
	real := http.HandlerFunc(w.ServeHTTP)
	for i, c := range []struct {
		do   func()
		says string // "" for nothing
	}{
		{func() { says(503, "text/plain", "later") }, "it answered 503: later"},
		{func() { says(503, "text/plain", "later") }, ""},
		{func() { answer.Store(&real) }, ""},
		{func() { says(200, "text/plain", eve.Line()) }, "its answer has no cosignature by its key"},
		{func() { answer.Store(&real) }, ""},
		{func() { says(409, "text/x.tlog.size", "1000\n") }, "it has seen 1000 events of this log"},
		{func() { answer.Store(&real) }, ""},
		{func() { says(409, "text/x.tlog.size", "7\n") }, "it has seen another history of this log"}, // what it was last shown
	} {
		extend(t, st, "q", 1)
		c.do()
		_, err := o.Make(t.Context(), "q")
		must(t, err)
		select {
		case line := <-said:
			if c.says == "" || !strings.Contains(line, c.says) {
				t.Errorf("answer %d: it says %q, want %q", i, line, c.says)
			}
		default:
			if c.says != "" {
				t.Errorf("answer %d: it says nothing, want %q", i, c.says)
			}
		}
	}
}

// TestTheOwnersSecondHistoryIsRefused: an owner who rewrites a quest and goes on under the same log
// gets no cosignature, and the one that he has tells where his history parts.
func TestTheOwnersSecondHistoryIsRefused(t *testing.T) {
	ada := key(t, "ada")
	w := serving(t, "w", witness.Options{FirstUse: true})
	honest := store(t, 10)
	_, err := open(t, vouch.Options{Ledger: honest, Signer: ada, Witnesses: []vouch.Witness{w}}).Make(t.Context(), "q")
	must(t, err)
	rows, err := honest.Checkpoints(t.Context(), "q", 0)
	must(t, err)
	forged, err := sqlite.Open(filepath.Join(t.TempDir(), "lyceum.db"), nil)
	must(t, err)
	defer forged.Close()
	must(t, forged.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, ledger.Head{Quest: "another"}, 15)}))
	tree, err := vouch.Tree(t.Context(), forged, "q", 10)
	must(t, err)
	rows[0].Edge = tree.Edge() // he puts right whatever is his
	must(t, forged.PutCheckpoint(t.Context(), "q", rows[0]))
	var said atomic.Int64
	_, err = open(t, vouch.Options{Ledger: forged, Signer: ada, Witnesses: []vouch.Witness{w}, Say: func(line string) { said.Add(1); t.Log(line) }}).Make(t.Context(), "q")
	must(t, err)
	if said.Load() != 1 {
		t.Errorf("the witness cosigned a second history")
	}
	v := judge(t, forged, "q", proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}, Witnesses: []proof.Verifier{w.Key}})
	if v.Broken == nil || v.Broken.Size != 10 || v.Bound != nil || !strings.Contains(v.Words(), "the last that holds is of 15 events") {
		t.Errorf("the second history: %s", v.Words())
	}
}

func TestAForkAndAnImportAreOtherLogs(t *testing.T) {
	st, ada := store(t, 10), key(t, "ada")
	o := open(t, vouch.Options{Ledger: st, Signer: ada})
	first, err := o.Make(t.Context(), "q")
	must(t, err)
	stored, err := vouch.Stored(t.Context(), st, "q")
	must(t, err)
	// The same events elsewhere, with the checkpoint that came along.
	other := store(t, 1)
	var events []event.Event
	for e, err := range st.Read(t.Context(), "q", 1) {
		must(t, err)
		events = append(events, e)
	}
	words, err := vouch.Brought(events, stored)
	must(t, err)
	must(t, other.Append(t.Context(), ledger.Batch{Quest: "r", Events: events, Checkpoints: words}))
	extend(t, other, "r", 5)
	second, err := open(t, vouch.Options{Ledger: other, Signer: ada}).Make(t.Context(), "r")
	must(t, err)
	if second.Origin == first.Origin || second.Size != 15 {
		t.Errorf("the imported quest goes on in the log %s of %d events, its origin's was %s", second.Origin, second.Size, first.Origin)
	}
	known := proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}}
	v := judge(t, other, "r", known)
	if v.Broken != nil || len(v.Checkpoints) != 2 {
		t.Errorf("with the checkpoint that came along: %s", v.Words())
	}
	twice, err := vouch.Stored(t.Context(), other, "r")
	must(t, err)
	if _, err := vouch.Brought(events, []proof.Stored{twice[1], twice[0]}); err == nil {
		t.Error("checkpoints that are not in the order of their sizes were taken over")
	}
	// One of more events than came along is kept, and tells that the end was cut off; the home's own
	// go on from the events that are there.
	words, err = vouch.Brought(events[:5], stored)
	must(t, err)
	cut := store(t, 1)
	must(t, cut.Remove(t.Context(), "q"))
	must(t, cut.Append(t.Context(), ledger.Batch{Quest: "q", Events: events[:5], Checkpoints: words}))
	if v := judge(t, cut, "q", known); v.Broken == nil || !strings.Contains(v.Words(), "the end was cut off") {
		t.Errorf("a checkpoint of ten events with a quest of five: %s", v.Words())
	}
	for _, more := range []int{0, 20} {
		if more > 0 {
			extend(t, cut, "q", more)
		}
		_, err := open(t, vouch.Options{Ledger: cut, Signer: ada}).Make(t.Context(), "q")
		must(t, err)
		if v := judge(t, cut, "q", known); v.Last == nil || v.Last.Size != v.Events || (v.Broken == nil) != (more > 0) { // grown so far, it has the ten events again
			t.Errorf("signed here at %d events: %s", v.Events, v.Words())
		}
	}
}

// TestAWitnessFollowsARotation: one that took the key over on first use cosigns what its successor
// signs, and nothing of a key that only has the name.
func TestAWitnessFollowsARotation(t *testing.T) {
	st, ada := store(t, 10), key(t, "ada")
	next, err := proof.NewSigner("ada", []byte("another seed of thirty-two bytes"))
	must(t, err)
	eve, err := proof.NewSigner("ada", []byte("a seed of eve's of thirty-two by"))
	must(t, err)
	rotation, err := proof.Rotate(ada, next, 1_700_000_000)
	must(t, err)
	w := serving(t, "w", witness.Options{FirstUse: true})
	known := proof.Known{Keys: []proof.Key{{Verifier: ada.Verifier(proof.Author)}}, Witnesses: []proof.Verifier{w.Key}}
	sign := func(by proof.Signer, statements ...string) (v *proof.Verdict, said int64) {
		t.Helper()
		var told atomic.Int64
		_, err := open(t, vouch.Options{Ledger: st, Signer: by, Statements: statements, Witnesses: []vouch.Witness{w}, Say: func(string) { told.Add(1) }}).Make(t.Context(), "q")
		must(t, err)
		return judge(t, st, "q", known), told.Load()
	}
	if v, said := sign(ada); said != 0 || v.Bound == nil || v.Bound.Size != 10 {
		t.Fatalf("signed by the first key: %s", v.Words())
	}
	// At the same size the new key signs as well, and what was said stays.
	if v, said := sign(next, rotation.String()); said != 0 || len(v.Checkpoints) != 1 || len(v.Checkpoints[0].Signed) != 2 || v.Bound == nil || v.Bound.Size != 10 {
		t.Errorf("signed again by the key that follows: %s; %+v", v.Words(), v.Checkpoints)
	}
	extend(t, st, "q", 5)
	if v, said := sign(next, rotation.String()); said != 0 || v.Bound == nil || v.Bound.Size != 15 || v.Last.Size != 15 {
		t.Errorf("signed by the key that follows: %s", v.Words())
	}
	extend(t, st, "q", 5)
	if v, said := sign(eve); said != 1 || v.Bound.Size != 15 || v.Last.Size != 15 {
		t.Errorf("signed by a key that nobody named: %s; %d complaints", v.Words(), said)
	}
}

// TestStampsOfARealAuthority: openssl is the authority, and openssl reads what we keep.
func TestStampsOfARealAuthority(t *testing.T) {
	need.Program(t, "openssl")
	dir := t.TempDir()
	authority := vouchtest.Authority(t, dir)
	st, ada := store(t, 10), key(t, "ada")
	var said atomic.Int64
	_, err := open(t, vouch.Options{Ledger: st, Signer: ada, Authorities: []string{authority}, Say: func(line string) { said.Add(1); t.Log(line) }}).Make(t.Context(), "q")
	must(t, err)
	pem, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	must(t, err)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(pem)
	v := judge(t, st, "q", proof.Known{Authorities: trusted})
	if said.Load() != 0 || v.Bound == nil || v.Bound.Size != 10 || v.Bound.Stamped[0].By != "Test Authority" || v.Bound.Stamped[0].State != proof.MarkKnown {
		t.Fatalf("a stamped checkpoint: %s; %+v", v.Words(), v.Checkpoints)
	}
	if at := time.UnixMicro(int64(v.Bound.By())); time.Since(at) > time.Hour || time.Until(at) > time.Hour {
		t.Errorf("the stamp is of %s", at)
	}
	if v := judge(t, st, "q", proof.Known{}); v.Bound != nil || v.Checkpoints[0].Stamped[0].State != proof.MarkUnknown || !v.Checkpoints[0].Holds {
		t.Errorf("of an authority that nobody trusts: %s; %+v", v.Words(), v.Checkpoints)
	}
	stored, err := vouch.Stored(t.Context(), st, "q")
	must(t, err)
	text, _, _ := strings.Cut(stored[0].Note, "\n\n")
	must(t, os.WriteFile(filepath.Join(dir, "text"), []byte(text+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "token"), stored[0].Stamps[0], 0o600))
	if out, err := exec.Command("openssl", "ts", "-verify", "-data", filepath.Join(dir, "text"), "-in", filepath.Join(dir, "token"), "-token_in", "-CAfile", filepath.Join(dir, "ca.pem")).CombinedOutput(); err != nil {
		t.Errorf("openssl does not believe the stamp that we keep: %v\n%s", err, out)
	}
	// Every byte of a stamp counts, or it is not the authority's any more.
	for i := 0; i < len(stored[0].Stamps[0]); i += 37 {
		changed := []byte(string(stored[0].Stamps[0]))
		changed[i] ^= 4
		h := event.HashOf([]byte(text + "\n"))
		if s, err := proof.ReadStamp(changed, h, trusted); err == nil && s.Known && s.Time != v.Bound.By() {
			t.Fatalf("with byte %d changed the stamp says %d", i, s.Time)
		}
	}
	if _, err := proof.ReadStamp(stored[0].Stamps[0], event.HashOf([]byte("another text\n")), trusted); err == nil {
		t.Error("the stamp is taken for another text's")
	}
}
