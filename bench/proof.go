package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/vouch"
	"lyceum/internal/witness"
)

// proof measures what it costs to sign quests and have two witnesses cosign them, and what a root
// and a proof of consistency of a million events cost against SHA-256 over the same bytes.
func (b *bench) proof() error {
	return errors.Join(b.signing(), b.million())
}

// vouchers are an office and its two witnesses, which are in this process: what they cost counts.
func vouchers(dir string, store ledger.Store) (*vouch.Office, func() error, error) {
	signer := func(name string) (proof.Signer, error) {
		seed := sha256.Sum256([]byte(name))
		return proof.NewSigner(name, seed[:])
	}
	ada, err := signer("ada.example")
	if err != nil {
		return nil, nil, err
	}
	opts := vouch.Options{Ledger: store, Signer: ada, Say: func(line string) { fmt.Fprintln(os.Stderr, line) }}
	var close []func() error
	for _, name := range []string{"one.example", "two.example"} {
		key, err := signer(name)
		if err != nil {
			return nil, nil, err
		}
		w, err := witness.Open(filepath.Join(dir, name), key, witness.Options{FirstUse: true, Clock: runtime.SystemClock})
		if err != nil {
			return nil, nil, err
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		server := &http.Server{Handler: w, ReadHeaderTimeout: time.Second}
		go func() { _ = server.Serve(ln) }()
		close = append(close, server.Close, w.Close)
		opts.Witnesses = append(opts.Witnesses, vouch.Witness{Key: w.Key(), URL: "http://" + ln.Addr().String()})
	}
	office := vouch.Open(opts)
	return office, func() error {
		err := office.Close()
		for _, c := range close {
			err = errors.Join(err, c())
		}
		return err
	}, nil
}

// signedLoop runs quests as they always run, with a voucher.
func signedLoop(v runtime.Voucher) func(cell, model.Model, *sqlite.Store, int) (func(int) error, error) {
	return func(c cell, m model.Model, store *sqlite.Store, round int) (func(i int) error, error) {
		rt, err := newRuntime(c.Dir, store, m)
		if err != nil {
			return nil, err
		}
		rt.Vouch = v
		return startLoop(c, rt, fmt.Sprintf("q%d", round))
	}
}

// signing compares turns with and without a key and two witnesses, and sets the cost of one checkpoint
// against that of the turns between two: the first is what a user sees, and noisier than what it shows.
func (b *bench) signing() error {
	c, rounds := cell{Model: "script", N: 8, K: 500}, 5
	if b.quick {
		rounds = 3
	}
	var plain, signed []reading
	for range rounds {
		for _, loop := range []string{"lyceum", "signed"} {
			c.Loop, c.Dir = loop, b.fresh()
			r, err := runCell(c)
			if err != nil {
				return fmt.Errorf("%+v: %w", c, err)
			}
			if loop == "signed" {
				signed = append(signed, r)
			} else {
				plain = append(plain, r)
			}
		}
	}
	without, with := middle(plain), middle(signed)
	each, events, err := b.checkpoint()
	if err != nil {
		return err
	}
	perTurn := without.CPU / float64(without.Turns)
	share := each / (perTurn * 1000 / events)
	fmt.Println("\nSigning every 1000 events, and two witnesses that cosign (in the same process)")
	fmt.Printf("  turns/s of %d agents with %d steps: %.0f, signed and witnessed %.0f (ratio %.3f); CPU µs a turn: %.0f, %.0f (ratio %.3f)\n",
		c.N, c.K, without.rate(), with.rate(), with.rate()/without.rate(), without.cpu(), with.cpu(), with.cpu()/without.cpu())
	fmt.Printf("  one checkpoint of which no hash is at hand: %.2f ms of CPU, the turns of 1000 events: %.0f ms (%.0f %%)\n", each*1000, perTurn*1000/events*1000, 100*share)
	return b.signingSlowly()
}

// signingSlowly is the same with a model that takes a tenth of a second for an answer, as the quickest of real ones do.
func (b *bench) signingSlowly() error {
	c := cell{Model: "slow", N: 64, K: 100}
	if b.quick {
		c.K = 30
	}
	var rates []float64
	for _, loop := range []string{"lyceum", "signed"} {
		c.Loop, c.Dir = loop, b.fresh()
		r, err := runCell(c)
		if err != nil {
			return fmt.Errorf("%+v: %w", c, err)
		}
		rates = append(rates, r.rate())
	}
	fmt.Printf("  turns/s of %d agents whose model takes 100 ms: %.0f, signed and witnessed %.0f\n", c.N, rates[0], rates[1])
	b.promise("turns/s with signing and witnessing, share of those without, models that take 100 ms", rates[1]/rates[0], true, 0.99)
	return nil
}

// eventsATurn is how many events a turn of the loop leads to: two calls and two results.
const eventsATurn = 4

// checkpoint is the CPU time of one checkpoint after 1000 events more, signed and cosigned by two.
func (b *bench) checkpoint() (seconds, events float64, err error) {
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return 0, 0, err
	}
	defer store.Close()
	office, done, err := vouchers(dir, store)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	const times = 50
	g := &growing{store: store, quest: "q"}
	var took []float64
	for range times {
		if err := g.grow(1000); err != nil {
			return 0, 0, err
		}
		begun := cpuSeconds()
		if _, err := office.Make(context.Background(), "q"); err != nil {
			return 0, 0, err
		}
		took = append(took, cpuSeconds()-begun)
	}
	return median(took), eventsATurn, nil
}

// growing is a quest of small events.
type growing struct {
	store ledger.Store
	quest string
	head  ledger.Head
}

func (g *growing) grow(n int) error {
	for n > 0 {
		batch := ledger.Batch{Quest: g.quest}
		for range min(n, 1000) {
			e, err := nextWord(g.quest, g.head)
			if err != nil {
				return err
			}
			batch.Events = append(batch.Events, e)
			g.head.Seq, g.head.Hash = e.Seq, e.Hash
		}
		if err := g.store.Append(context.Background(), batch); err != nil {
			return err
		}
		n -= len(batch.Events)
	}
	return nil
}

// million measures roots and proofs of a million events, the hashes at hand, in CPU time, beside
// SHA-256 over as many bytes in one go; and the proof that a ledger with as many gives a witness.
func (b *bench) million() error {
	n := 1_000_000
	if b.quick {
		n = 100_000
	}
	hashes := make([]event.Hash, n)
	for i := range hashes {
		hashes[i] = sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	}
	same := bytes.Repeat([]byte{7}, 33*n+65*(n-1)) // what the leaves and the nodes are hashed of
	spans, err := proof.Consistency(uint64(n/2), uint64(n))
	if err != nil {
		return err
	}
	var plain, root, proved []float64
	for range 5 {
		at := cpuSeconds()
		sha256.Sum256(same)
		plain = append(plain, cpuSeconds()-at)
		at = cpuSeconds()
		t := &proof.Tree{}
		for _, h := range hashes {
			t.Add(h)
		}
		t.Root()
		root = append(root, cpuSeconds()-at)
		at = cpuSeconds()
		if _, err := proof.Prove(spans, nil, all(hashes)); err != nil {
			return err
		}
		proved = append(proved, cpuSeconds()-at)
	}
	fmt.Printf("\n%d events, in seconds of CPU: SHA-256 over the same bytes in one go %.2f, the root %.2f (%.1f times), a proof of consistency from the half %.2f (%.1f times)\n",
		n, median(plain), median(root), median(root)/median(plain), median(proved), median(proved)/median(plain))
	b.promise("CPU s of a proof of consistency of a million events", median(proved)*1_000_000/float64(n), false, 1)
	return b.stored(n)
}

func all(hashes []event.Hash) iter.Seq2[event.Hash, error] {
	return func(yield func(event.Hash, error) bool) {
		for _, h := range hashes {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// stored measures the same of a quest in a ledger, from its last checkpoint and with none at hand.
func (b *bench) stored(n int) error {
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	g := &growing{store: store, quest: "q"}
	if err := g.grow(n - 1000); err != nil {
		return err
	}
	size := uint64(n)
	prove := func(old uint64) (float64, error) {
		at := cpuSeconds()
		_, err := vouch.Consistency(context.Background(), store, "q", old, size)
		return cpuSeconds() - at, err
	}
	office, done, err := vouchers(dir, store)
	if err != nil {
		return err
	}
	defer done()
	_, err = office.Make(context.Background(), "q")
	if err == nil {
		err = g.grow(1000)
	}
	if err != nil {
		return err
	}
	last, err := prove(size - 1000)
	if err != nil {
		return err
	}
	whole, err := prove(size / 2)
	if err != nil {
		return err
	}
	fmt.Printf("  in a ledger: %.4f s from the last checkpoint, 1000 events before; %.2f s where no checkpoint is at hand, which reads all lines\n", last, whole)
	b.promise("CPU s of a proof of consistency from the last checkpoint of a quest of a million events", last, false, 1)
	return nil
}
