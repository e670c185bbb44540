package crate

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/proof"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/vouch"
	"lyceum/internal/vouch/vouchtest"
	"lyceum/internal/witness"
)

// kit is what forgers of whole crates work with: an honest crate of a lab, who signed it, and the
// checkpoints that were made of it while it ran, alone, before two witnesses, and with time stamps.
type kit struct {
	crate        []byte
	events       []event.Event
	owner, thief proof.Signer
	witnesses    []*httptest.Server
	known        proof.Known
	sizes        []uint64

	plain, witnessed, stamped []proof.Stored
}

// origin is the log that the honest quest was.
const origin = "ada.example/0102"

func signerOf(t testing.TB, name string, seed byte) proof.Signer {
	t.Helper()
	s, err := proof.NewSigner(name, bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{crate: labToday(t), owner: signerOf(t, "ada.example", 1), thief: signerOf(t, "ada.example", 2)}
	k.events = k.fresh(t)
	for at := uint64(50); at < uint64(len(k.events)); at += 50 {
		k.sizes = append(k.sizes, at)
	}
	k.sizes = append(k.sizes, uint64(len(k.events)))
	author := k.owner.Verifier(proof.Author)
	k.known.Keys = []proof.Key{{Verifier: author, Trust: "trusted"}}
	for i, name := range []string{"one.example", "two.example"} {
		w, err := witness.Open(t.TempDir(), signerOf(t, name, byte(10+i)), witness.Options{Keys: []proof.Verifier{author}, Clock: func() event.Time { return 1_800_000_000_000_000 }})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(w)
		t.Cleanup(func() {
			server.Close()
			if err := w.Close(); err != nil {
				t.Errorf("close a witness: %v", err)
			}
		})
		k.witnesses, k.known.Witnesses = append(k.witnesses, server), append(k.known.Witnesses, w.Key())
	}
	k.plain = k.checkpoints(t, k.owner, k.events)
	for i, s := range k.plain {
		old := uint64(0)
		if i > 0 {
			old = k.sizes[i-1]
		}
		for _, w := range k.witnesses {
			line, err := cosign(t, w, s, old, k.sizes[i], k.events)
			if err != nil {
				t.Fatalf("a witness of the honest quest at %d events: %v", k.sizes[i], err)
			}
			s.Note += line
		}
		k.witnessed = append(k.witnessed, s)
	}
	return k
}

// fresh are the events of the honest crate, with bodies that may be changed.
func (k *kit) fresh(t testing.TB) []event.Event {
	t.Helper()
	a, err := unpack(bytes.NewReader(k.crate), int64(len(k.crate)), standard)
	if err != nil {
		t.Fatal(err)
	}
	events, err := a.ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// checkpoints are those that whoever has a key makes of events.
func (k *kit) checkpoints(t testing.TB, by proof.Signer, events []event.Event) (out []proof.Stored) {
	t.Helper()
	tree := &proof.Tree{}
	for _, e := range events {
		if tree.Add(e.Hash); !slices.Contains(k.sizes, e.Seq) && e.Seq != uint64(len(events)) {
			continue
		}
		c := proof.Checkpoint{Origin: origin, Size: e.Seq, Root: tree.Root()}
		sig, err := by.Sign(c.Text())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, proof.Stored{Note: proof.Note{Text: c.Text(), Signatures: []proof.Signature{sig}}.String()})
	}
	return out
}

// cosign asks a witness by its protocol.
func cosign(t testing.TB, w *httptest.Server, s proof.Stored, old, size uint64, events []event.Event) (string, error) {
	t.Helper()
	note, err := proof.ParseNote(s.Note)
	if err != nil {
		return "", err
	}
	note.Signatures = note.Signatures[:1]
	spans, err := proof.Consistency(old, size)
	if err != nil {
		return "", err
	}
	path, err := proof.Prove(spans, nil, func(yield func(event.Hash, error) bool) {
		for _, e := range events {
			if !yield(e.Hash, nil) {
				return
			}
		}
	})
	if err != nil {
		return "", err
	}
	resp, err := http.Post(w.URL+"/add-checkpoint", "text/plain", strings.NewReader(proof.Request{Old: old, Path: path, Note: note}.String()))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the witness answers %d: %s", resp.StatusCode, body)
	}
	return string(body), err
}

// stamp has the checkpoints of the honest quest stamped by a real authority.
func (k *kit) stamp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	url := vouchtest.Authority(t, dir)
	for _, s := range k.plain {
		text, _, _ := strings.Cut(s.Note, "\n\n")
		h := event.HashOf([]byte(text + "\n"))
		query, err := proof.StampRequest(h, []byte("12345678"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(url, "application/timestamp-query", bytes.NewReader(query))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		token, err := proof.StampResponse(body, h, []byte("12345678"))
		if err != nil {
			t.Fatal(err)
		}
		s.Stamps = [][]byte{token}
		k.stamped = append(k.stamped, s)
	}
	pem, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	k.known.Authorities = x509.NewCertPool()
	k.known.Authorities.AppendCertsFromPEM(pem)
}

// callKey names a call by what stays the same if events are put in another order.
type callKey struct {
	kind  event.Type
	actor string
	nth   int
}

// calls are the names of calls, and the calls of names.
type calls struct {
	names map[uint64]callKey
	seqs  map[callKey]uint64
	many  map[callKey]int
}

func newCalls(events []event.Event) *calls {
	c := &calls{map[uint64]callKey{}, map[callKey]uint64{}, map[callKey]int{}}
	for _, e := range events {
		c.add(e)
	}
	return c
}

func (c *calls) add(e event.Event) {
	if e.Type.Call() {
		k := callKey{e.Type, e.Actor, 0}
		c.many[k]++
		k.nth = c.many[k]
		c.names[e.Seq], c.seqs[k] = k, e.Seq
	}
}

// derive makes a whole history of inputs: the rules derive the rest, and every hash fits. An input
// that answers a call answers the same call where it stands now. Rules draw lots by what was before,
// so another history may come to where a recorded input has no place: there it ends, and the quest is
// one that was stopped.
func (k *kit) derive(inputs []event.Event) (out []event.Event) {
	honest, now := newCalls(k.events), newCalls(nil)
	var s *quest.State
	seal := func(d event.Draft) ([]event.Draft, error) {
		var head event.Hash
		name := k.events[0].Quest
		if s != nil {
			head = s.Hash
		}
		e, err := event.Seal(name, uint64(len(out))+1, head, d)
		if err != nil {
			return nil, err
		}
		if s == nil {
			if s, err = quest.New(e, labs); err != nil {
				return nil, err
			}
		}
		if err := s.Fold(e); err != nil {
			return nil, err
		}
		out = append(out, e)
		now.add(e)
		return runtime.Decide(s, e)
	}
	for _, e := range inputs {
		whole := len(out)
		moved := func(seq uint64) uint64 {
			if name, ok := honest.names[seq]; ok && now.seqs[name] != 0 {
				return now.seqs[name]
			}
			return seq
		}
		if f := reflect.ValueOf(e.Body).Elem().FieldByName("Call"); f.IsValid() && f.CanUint() {
			f.SetUint(moved(f.Uint()))
		}
		if r, ok := e.Body.(interface {
			event.Result
			event.Timed
		}); ok && r.Answers() <= uint64(whole) && r.Took() > int64(e.Time-out[r.Answers()-1].Time) {
			return out // it would have taken longer than there was
		}
		queue, err := seal(event.Draft{Parent: moved(e.Parent), Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: e.Body})
		for err == nil && len(queue) > 0 {
			var more []event.Draft
			more, err = seal(queue[0])
			queue = append(queue[1:], more...)
		}
		if err != nil {
			return out[:whole]
		}
	}
	return out
}

// tricks are what forgers change about the inputs of a quest. Each reports whether it could; if
// not, it has changed nothing.
var tricks = []struct {
	name string
	do   func(random *rand.Rand, inputs []event.Event) bool
}{
	{"Answer", func(random *rand.Rand, in []event.Event) bool {
		b, ok := in[random.IntN(len(in))].Body.(*event.ModelResult)
		if !ok || b.Parts[0].Text == nil {
			return false
		}
		b.Parts[0].Text = &event.Text{Text: fmt.Sprintf("A better answer, the %dth.", random.IntN(1000))}
		return true
	}},
	{"Cost", func(random *rand.Rand, in []event.Event) bool {
		b, ok := in[random.IntN(len(in))].Body.(*event.ModelResult)
		if ok {
			b.Cost += 1 + random.Int64N(1000)
		}
		return ok
	}},
	{"Time", func(random *rand.Rand, in []event.Event) bool {
		later := event.Time(1 + random.IntN(100_000)) // by much more, and the rules would have done something else
		for i := 1 + random.IntN(len(in)-1); i < len(in); i++ {
			in[i].Time += later
		}
		return true
	}},
	{"Order", func(random *rand.Rand, in []event.Event) bool {
		i := 1 + random.IntN(len(in)-2)
		b, ok := in[i+1].Body.(*event.ModelResult)
		if in[i].Type != "model.result" || !ok || in[i].Actor == in[i+1].Actor || b.Call > in[i].Seq {
			return false
		}
		in[i], in[i+1] = in[i+1], in[i]
		in[i+1].Time = in[i].Time
		for j := i + 2; j < len(in); j++ { // nothing may have taken longer than there was
			in[j].Time += 20_000
		}
		return true
	}},
	{"Review", func(random *rand.Rand, in []event.Event) bool {
		b, ok := in[random.IntN(len(in))].Body.(*event.ModelResult)
		if !ok {
			return false
		}
		for i, p := range b.Parts {
			if p.Name == "submit_review" && p.Args != nil {
				if !strings.Contains(p.Args.Text, `"confidence":5`) {
					return false
				}
				text := strings.Replace(p.Args.Text, `"confidence":5`, fmt.Sprintf(`"confidence":%d`, 1+random.IntN(4)), 1)
				b.Parts[i].Args = &event.Text{Text: strings.Replace(text, `"content":"`, fmt.Sprintf(`"content":"A careful piece of work, the %dth I read. `, random.IntN(1000)), 1)}
				return true
			}
		}
		return false
	}},
}

// rewrite is another history of the quest, and how many of its first events are the honest ones.
func (k *kit) rewrite(t testing.TB, random *rand.Rand, trick int) ([]event.Event, uint64) {
	t.Helper()
	for range 20 {
		inputs := slices.DeleteFunc(k.fresh(t), func(e event.Event) bool { return !e.Input() })
		for tries := 0; !tricks[trick].do(random, inputs); tries++ {
			if tries == 10_000 {
				t.Fatalf("%s: nothing in this quest can be rewritten so", tricks[trick].name)
			}
		}
		forged, same := k.derive(inputs), 0
		for same < min(len(forged), len(k.events)) && forged[same].Hash == k.events[same].Hash {
			same++
		}
		if same < len(forged) { // else what was changed itself has no place
			return forged, uint64(same)
		}
	}
	t.Fatalf("%s: whatever is rewritten so leads to a history that cannot be", tricks[trick].name)
	return nil, 0
}

// verified takes a crate through an import and a verification, as lyceum verify does.
func (k *kit) verified(t testing.TB, home *runtime.Runtime, events []event.Event, said []proof.Stored) *proof.Verdict {
	t.Helper()
	var data []byte
	if len(said) > 0 {
		var err error
		if data, err = (testimony{Format: testimonyForm, Checkpoints: said}).encode(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := imported(t, home, repacked(t, form, k.crate, labs, events, data), "")
	if err != nil {
		t.Fatalf("the forged crate is not even imported: %v", err)
	}
	rep, err := audit.Verify(t.Context(), home, s.Name, nil)
	if err == nil && rep.Difference != nil {
		err = rep.Difference
	}
	if err != nil {
		t.Fatalf("a history that follows from its inputs: %v", err)
	}
	v, err := vouch.Judge(t.Context(), home.Ledger, s.Name, k.known)
	if err = errors.Join(err, home.Clean(t.Context(), s.Name, true)); err != nil {
		t.Fatal(err)
	}
	return v
}

// before are the checkpoints of no more than so many events.
func (k *kit) before(list []proof.Stored, events uint64) []proof.Stored {
	n := 0
	for n < len(k.sizes) && k.sizes[n] <= events {
		n++
	}
	return list[:n]
}

// last is the size of the last checkpoint of no more than so many events, 0 if there is none.
func (k *kit) last(events uint64) uint64 {
	if n := len(k.before(k.plain, events)); n > 0 {
		return k.sizes[n-1]
	}
	return 0
}

func sizeOf(j *proof.Judged) uint64 {
	if j == nil {
		return 0
	}
	return j.Size
}

// found fails unless a verdict says that a checkpoint does not hold, and names the last that does.
func found(t testing.TB, what string, v *proof.Verdict, last, bound uint64) {
	t.Helper()
	names := fmt.Sprintf("of %d events", last)
	if last == 0 {
		names = "no checkpoint holds"
	}
	if v.Broken == nil || sizeOf(v.Last) != last || sizeOf(v.Bound) != bound || !strings.HasSuffix(v.Words(), names) {
		t.Fatalf("%s: want it found, with the last checkpoint that holds of %d events and of %d seen by others: %s", what, last, bound, v.Words())
	}
}

// unseen fails unless a verdict says that nobody but the owner saw the events after so many.
func (k *kit) unseen(t testing.TB, what string, v *proof.Verdict, bound uint64) {
	t.Helper()
	words := fmt.Sprintf("events %d to %d only by their owner", bound+1, v.Events)
	if bound == 0 {
		words = "nobody else saw it: the owner of the key could have written another history"
	}
	if v.Broken != nil || sizeOf(v.Last) != v.Events || sizeOf(v.Bound) != bound || !strings.Contains(v.Words(), words) {
		t.Fatalf("%s: want it consistent, and seen by others up to event %d: %s", what, bound, v.Words())
	}
}

// forgers are those who rewrite the quest: each packs a crate of the forged events with checkpoints
// as well as he can, the nth time in another way, and must be found, or be worth what he is.
var forgers = map[string]func(t *testing.T, k *kit, home *runtime.Runtime, n int, forged []event.Event, same uint64){
	"WithoutTheKey": func(t *testing.T, k *kit, home *runtime.Runtime, n int, forged []event.Event, same uint64) {
		switch n % 3 {
		case 0: // he leaves the owner's checkpoints in
			found(t, "the owner's checkpoints left in", k.verified(t, home, forged, k.plain), k.last(same), 0)
		case 1: // he signs himself
			if v := k.verified(t, home, forged, k.checkpoints(t, k.thief, forged)); v.Last != nil || !strings.Contains(v.Words(), "no key that is known here") {
				t.Fatalf("signed by a thief's key of the same name: %s", v.Words())
			}
		default: // he leaves out what does not fit
			v := k.verified(t, home, forged, k.before(k.plain, same))
			if sizeOf(v.Last) != k.last(same) || v.Last == nil && !strings.Contains(v.Words(), "not signed") || v.Last != nil && !strings.Contains(v.Words(), fmt.Sprintf("up to event %d,", k.last(same))) {
				t.Fatalf("without the owner's checkpoints that do not fit, want it signed up to %d: %s", k.last(same), v.Words())
			}
		}
	},
	"WithTheKeyAlone": func(t *testing.T, k *kit, home *runtime.Runtime, _ int, forged []event.Event, _ uint64) {
		k.unseen(t, "signed again by the owner", k.verified(t, home, forged, k.checkpoints(t, k.owner, forged)), 0)
	},
	"WithTheKeyAgainstTwoWitnesses": func(t *testing.T, k *kit, home *runtime.Runtime, n int, forged []event.Event, same uint64) {
		k.against(t, home, n, forged, same, k.witnessed)
		again := k.checkpoints(t, k.owner, forged)
		for i, w := range k.witnesses { // a witness that saw the honest end signs no other of this log
			size := uint64(len(forged))
			if line, err := cosign(t, w, again[len(again)-1], min(size, uint64(len(k.events))), size, forged); err == nil {
				t.Fatalf("witness %d cosigned a second history: %s", i, line)
			}
		}
	},
	"WithTheKeyAgainstATimeStamp": func(t *testing.T, k *kit, home *runtime.Runtime, n int, forged []event.Event, same uint64) {
		k.against(t, home, n, forged, same, k.stamped)
	},
}

// against forges what somebody else has seen: with what they said left in, or left out.
func (k *kit) against(t *testing.T, home *runtime.Runtime, n int, forged []event.Event, same uint64, seen []proof.Stored) {
	t.Helper()
	if n%2 == 0 {
		found(t, "what others saw left in", k.verified(t, home, forged, seen), k.last(same), k.last(same))
		return
	}
	mixed := k.checkpoints(t, k.owner, forged)
	copy(mixed, k.before(seen, same))
	k.unseen(t, "what others saw left out where it does not fit", k.verified(t, home, forged, mixed), k.last(same))
}

// TestForgersOfWholeCrates: an answer, a cost, a time, the order, a review of a whole lab are
// rewritten, the rules derive the rest, all hashes are recomputed, the crate is packed again and
// goes through a real import and verification.
func TestForgersOfWholeCrates(t *testing.T) {
	t.Parallel()
	need.Program(t, "openssl")
	k := newKit(t)
	k.stamp(t)
	honest := labHome(t)
	for what, said := range map[string][]proof.Stored{"witnessed": k.witnessed, "stamped": k.stamped} {
		if v := k.verified(t, honest, k.events, said); v.Broken != nil || sizeOf(v.Bound) != uint64(len(k.events)) {
			t.Fatalf("the honest crate, %s: %s", what, v.Words())
		}
	}
	for name, forger := range forgers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(25, uint64(len(name))))
			home := labHome(t)
			for n := range need.Times(len(tricks)+1, 200) {
				forged, same := k.rewrite(t, random, n%len(tricks))
				forger(t, k, home, n, forged, same)
			}
		})
	}
}

// TestACutEndIsFound: a crate without its last events, packed as an export would, has checkpoints of
// more events than it holds. It is taken in, the last that holds is named, and an export of it has
// what tells on it still.
func TestACutEndIsFound(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	var inputs []event.Event
	for _, e := range k.fresh(t) {
		if e.Input() && e.Seq < 330 {
			inputs = append(inputs, e)
		}
	}
	cut := k.derive(inputs)
	if len(cut) < 300 || len(cut) >= 350 {
		t.Fatalf("cut to %d events, want 300 to 349", len(cut))
	}
	home := labHome(t)
	found(t, "the end cut off", k.verified(t, home, cut, k.witnessed), 300, 300)
	data, err := (testimony{Format: testimonyForm, Checkpoints: k.witnessed}).encode()
	if err != nil {
		t.Fatal(err)
	}
	s, err := imported(t, home, repacked(t, form, k.crate, labs, cut, data), "")
	if err != nil {
		t.Fatal(err)
	}
	again := labHome(t)
	if _, err = imported(t, again, exported(t, home, s.Name), ""); err != nil {
		t.Fatal(err)
	}
	v, err := vouch.Judge(t.Context(), again.Ledger, s.Name, k.known)
	if err != nil {
		t.Fatal(err)
	}
	found(t, "handed on", v, 300, 300)
	if !strings.Contains(v.Words(), "the end was cut off") {
		t.Errorf("a cut end: %s", v.Words())
	}
}
