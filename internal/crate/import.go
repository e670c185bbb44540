package crate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/proof"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/vouch"

	"github.com/go-json-experiment/json"
)

// ImportOptions are what can be said about an import.
type ImportOptions struct {
	// As is the name of the quest here; if empty, it keeps its own.
	As string
	// Progress is told how many of the events were derived again so far; nil tells nobody.
	Progress func(done, of uint64)
}

// Import reads a crate and takes its quest over, under a name that is free here.
// An error names the entry, the event or the blob that does not hold; then there
// is no such quest. Blobs may be left over if writing them failed, for collection.
func Import(ctx context.Context, rt *runtime.Runtime, r io.ReaderAt, size int64, opts ImportOptions) (*quest.State, error) {
	s, err := importCrate(ctx, rt, r, size, opts, standard)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	return s, nil
}

func importCrate(ctx context.Context, rt *runtime.Runtime, r io.ReaderAt, size int64, opts ImportOptions, lim limits) (*quest.State, error) {
	if opts.As != "" && !event.ValidName(opts.As) {
		return nil, fmt.Errorf("name %q: want %s", opts.As, event.NameRule)
	}
	if opts.As != "" { // otherwise the name is known later
		if err := free(ctx, rt, opts.As); err != nil {
			return nil, err
		}
	}
	zip, err := unpack(r, size, lim)
	if err != nil {
		return nil, err
	}
	told, err := zip.metadata(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", metadataFile, err)
	}
	events, err := zip.ledger(ctx)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("%s: it has no events", ledgerFile)
	}
	acc, err := zip.examine(ctx, rt, events, opts.Progress)
	if err != nil {
		return nil, err
	}
	said, data, err := zip.testimony(ctx)
	if err != nil {
		return nil, err
	}
	acc.proof = data
	if err := zip.compare(ctx, acc, told); err != nil {
		return nil, err
	}
	name := opts.As
	if name == "" {
		name = acc.state.Name
	}
	return zip.store(ctx, rt, name, events, said.Checkpoints)
}

// examine finds out whether the ledger tells of a quest that can be: all that it
// names is there, and nothing else; and the rules lead where it says.
func (a *archive) examine(ctx context.Context, rt *runtime.Runtime, events []event.Event, told func(done, of uint64)) (*account, error) {
	held := newInventory(a)
	for _, e := range events {
		if err := held.add(ctx, e); err != nil {
			return nil, err
		}
		if err := a.within(held.total); err != nil {
			return nil, err
		}
	}
	for h, b := range held.held {
		f := a.blobs[h]
		if f == nil {
			return nil, fmt.Errorf("entry %s is missing: event %d names it", blobPath(h), b.by)
		}
		if f.UncompressedSize64 != uint64(b.size) {
			return nil, fmt.Errorf("entry %s has %d bytes, event %d says %d", f.Name, f.UncompressedSize64, b.by, b.size)
		}
	}
	for h, f := range a.blobs {
		if held.held[h] == nil {
			return nil, fmt.Errorf("entry %s: no event names it", f.Name)
		}
	}
	return a.fold(ctx, rt, events, held, told)
}

func (a *archive) within(total int64) error { return a.lim.check(0, total) }

// fold replays the ledger, which reads every blob, and takes account of it. The
// rules are made for ledgers that they wrote. Should a forged one make them
// break down, that is one more way to find that it is forged.
func (a *archive) fold(ctx context.Context, rt *runtime.Runtime, events []event.Event, held *inventory, told func(done, of uint64)) (acc *account, err error) {
	defer func() {
		if p := recover(); p != nil {
			acc, err = nil, fmt.Errorf("%s: the rules break down on it: %.200s", ledgerFile, fmt.Sprint(p))
		}
	}()
	rehearsal := &runtime.Runtime{Ledger: pages{events: events}, Blobs: a, Societies: rt.Societies, Workshops: rt.Workshops, Embedder: rt.Embedder, Clock: rt.Clock}
	report, err := audit.Audit(ctx, rehearsal, events[0].Quest, func(seq uint64) {
		if told != nil {
			told(seq, uint64(len(events)))
		}
	})
	if err != nil {
		return nil, err
	}
	if report.Difference != nil {
		return nil, report.Difference
	}
	if acc, err = open(events[0], rt.Societies, a); err != nil {
		return nil, err
	}
	acc.blobs = held
	for _, e := range events {
		if err := acc.add(ctx, e); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// pages is a ledger of one quest in memory, as far as a replay needs one. What a
// replay has no business with is not there, and breaks it down.
type pages struct {
	ledger.Store
	events []event.Event
}

func (p pages) Read(ctx context.Context, name string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if name != p.events[0].Quest {
			yield(event.Event{}, ledger.ErrNoQuest)
			return
		}
		for _, e := range p.events[min(uint64(len(p.events)), max(seq, 1)-1):] {
			if err := ctx.Err(); err != nil {
				yield(event.Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (p pages) Note(_ context.Context, kind, key string) (ledger.Note, error) {
	n := ledger.Note{Kind: kind, Key: key}
	for _, e := range p.events {
		if b, ok := e.Body.(*event.BlobRedacted); ok && slices.ContainsFunc(b.Blobs, func(h event.Hash) bool { return h.String() == key }) {
			n.Body = []byte{'r'}
		}
	}
	return n, nil
}

func (p pages) Blob(context.Context, event.Hash) ([]byte, error) { return nil, ledger.ErrNoBlob }

// told is what the metadata says of the quest, and in which form.
type told struct{ name, head, form string }

// metadata reads as much of the metadata as it takes to say what is wrong with
// it, if something is.
func (a *archive) metadata(ctx context.Context) (*told, error) {
	f := a.files[metadataFile]
	if f.UncompressedSize64 > uint64(a.lim.metadata) {
		return nil, fmt.Errorf("it has %d bytes, more than %d", f.UncompressedSize64, a.lim.metadata)
	}
	r, err := openEntry(ctx, f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var doc struct {
		Graph []struct {
			ID     string `json:"@id"`
			Name   string `json:"name"`
			Schema string `json:"schemaVersion"`
			Value  string `json:"value"`
		} `json:"@graph"`
	}
	if err := json.UnmarshalRead(r, &doc); err != nil {
		return nil, fmt.Errorf("it is not the metadata of an exported quest: %w", err)
	}
	t := &told{}
	for _, e := range doc.Graph {
		switch e.ID {
		case metadataFile:
			t.form = e.Schema
		case "./":
			t.name = e.Name
		case headID:
			t.head = e.Value
		}
	}
	if t.form != form && t.form != firstForm {
		return nil, fmt.Errorf("the crate was written as %q, and this version of lyceum reads %q and %q: use the version that wrote it", t.form, form, firstForm)
	}
	return t, nil
}

// compare holds the computed files of the crate against what they should be.
func (a *archive) compare(ctx context.Context, acc *account, t *told) error {
	if want := "Quest " + acc.state.Name; t.name != want {
		return fmt.Errorf("%s: it is about %q, the ledger about %q", metadataFile, t.name, want)
	}
	if want := acc.state.Hash.String(); t.head != want {
		return fmt.Errorf("%s: it says that the hash of the last event is %q; that of event %d in the ledger is %s", metadataFile, t.head, acc.state.Seq, want)
	}
	acc.form = t.form
	docs, attached, err := acc.documents(ctx, func(ref event.Ref) ([]byte, error) {
		if acc.blobs.redacted[ref.Hash] {
			return []byte(event.Redacted), nil
		}
		return a.Get(ctx, ref.Hash)
	})
	if err != nil {
		return err
	}
	if a.files[summaryFile] != nil && docs[summaryFile] == nil {
		return fmt.Errorf("entry %s: the quest has no answer", summaryFile)
	}
	for _, name := range sortedKeys(a.files) {
		if _, ok := attached[name]; !ok && strings.HasPrefix(name, paperFolder) && docs[name] == nil {
			return fmt.Errorf("entry %q: an exported quest has no such file", name)
		}
	}
	for _, name := range sortedKeys(attached) {
		if err := a.copies(ctx, name, attached[name]); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(docs) {
		if err := a.same(ctx, name, docs[name]); err != nil {
			return err
		}
	}
	return nil
}

// copies finds out whether an entry is a copy of a blob.
func (a *archive) copies(ctx context.Context, name string, ref event.Ref) error {
	f := a.files[name]
	if f == nil {
		return fmt.Errorf("entry %q is missing: it is attached to a paper", name)
	}
	r, err := openEntry(ctx, f)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return err
	}
	if event.Hash(h.Sum(nil)) != ref.Hash {
		return fmt.Errorf("entry %q: it is not what the ledger says was attached", name)
	}
	return nil
}

func (a *archive) same(ctx context.Context, name string, want []byte) error {
	f := a.files[name]
	if f == nil {
		return fmt.Errorf("entry %s is missing", name)
	}
	r, err := openEntry(ctx, f)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))+1))
	if err != nil {
		return err
	}
	if bytes.Equal(got, want) {
		return nil
	}
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	return fmt.Errorf("entry %s: from line %d on (byte %d) it differs from what the ledger says", name, 1+bytes.Count(want[:n], []byte{'\n'}), n)
}

// store makes it all durable: the blobs, and then the quest.
func (a *archive) store(ctx context.Context, rt *runtime.Runtime, name string, events []event.Event, said []proof.Stored) (*quest.State, error) {
	if err := free(ctx, rt, name); err != nil {
		return nil, err
	}
	hashes := make([]event.Hash, 0, len(a.blobs))
	for h := range a.blobs {
		hashes = append(hashes, h)
	}
	slices.SortFunc(hashes, func(x, y event.Hash) int { return slices.Compare(x[:], y[:]) })
	for _, h := range hashes {
		if err := a.keep(ctx, rt, h); err != nil {
			return nil, err
		}
	}
	words, err := vouch.Brought(events, said)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", proofFile, err)
	}
	s, err := rt.Adopt(ctx, name, events, words)
	if err == nil {
		var d *audit.Difference
		if d, err = audit.Folder(ctx, rt, name, s); d != nil {
			err = d
		}
	}
	if err != nil && s != nil {
		// Its ledger is there and its folder is not, on a full disk say, or not as it should
		// be. It is ours alone until someone claims it, and then Clean leaves it to them.
		err = errors.Join(err, rt.Clean(context.WithoutCancel(ctx), name, true))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// free tells early that a name is taken. That it is not only Adopt can tell.
func free(ctx context.Context, rt *runtime.Runtime, name string) error {
	switch _, err := rt.Ledger.Head(ctx, name); {
	case err == nil:
		return fmt.Errorf("quest %s: %w: import it under another", name, runtime.ErrExists)
	case !errors.Is(err, ledger.ErrNoQuest):
		return err
	}
	return nil
}

// keep stores a blob. It was checked before, but the zip may be a file that
// somebody is writing to.
func (a *archive) keep(ctx context.Context, rt *runtime.Runtime, h event.Hash) error {
	r, err := a.Open(ctx, h)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := rt.Blobs.Create(ctx, r); err != nil {
		return fmt.Errorf("entry %s: %w", blobPath(h), err)
	}
	return nil
}
