// Package crate carries quests from one machine to another, as RO-Crates: one
// zip that holds a quest's ledger, all blobs it names, and copies that people
// and other software can read.
//
// The ledger and the blobs are the quest; checkpoints, if there are any, are what others
// say of it. Everything else in the zip (the metadata, the preview, the question, the
// answer) is computed from them, by the same code on both sides. So Import does not believe any of it: it computes
// it again and refuses a crate whose copies say something else. It replays the
// ledger as well, so that a run which the rules could not have led to stays
// outside, however well its hashes fit.
//
// What Import cannot see: whether a model or a tool really said what the ledger
// says it did. For that the hash of the last event must be known from elsewhere.
//
// A crate is refused as a whole. Nothing of it exists here until all of it has
// been checked, and a quest never does before its blobs are on disk.
package crate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// The names in a crate that are not blobs.
const (
	ledgerFile   = "ledger.jsonl"
	metadataFile = "ro-crate-metadata.json"
	previewFile  = "ro-crate-preview.html"
	briefFile    = "brief.md"
	specFile     = "quest.yaml"
	summaryFile  = "SUMMARY.md"
	blobFolder   = "blobs/"
	// paperFolder has what people can read by itself, such as papers.
	paperFolder = "publications/"
)

// blobPath is where a blob stands in the zip.
func blobPath(h event.Hash) string {
	name := h.String()
	return blobFolder + name[:2] + "/" + name
}

// limits bound what is read from a zip that a stranger made. Export keeps to
// them too, so that what it writes can be read back.
type limits struct {
	entries int
	// total is of all entries unpacked, ledger of the ledger alone, which is held
	// in memory, metadata of the metadata, and text of a blob that is read whole.
	total, ledger, metadata, text int64
	// line is the longest line of a ledger.
	line int
	// directory is how many bytes the zip's own list of entries may have.
	directory int64
	// ratio is how many bytes one packed byte may stand for, in entries of more
	// than small bytes. No honest crate comes near: what packs better is stored.
	ratio, small int64
}

var standard = limits{
	entries: 1_000_000, total: 64 << 30, ledger: 4 << 30, metadata: 64 << 20, text: 256 << 20,
	line: 20 << 10, directory: 256 << 20, ratio: 200, small: 1 << 20,
}

func (l limits) check(entries int, total int64) error {
	if entries > l.entries {
		return fmt.Errorf("it has %d files, more than the %d that a crate may have", entries, l.entries)
	}
	if total > l.total {
		return fmt.Errorf("its files have %d bytes, more than the %d that a crate may have", total, l.total)
	}
	return nil
}

// Export writes a quest as one zip. The same ledger and checkpoints give the same bytes,
// wherever it is and whatever name it goes by there; only another release of Go
// may pack them differently. After an error what was written is no zip.
func Export(ctx context.Context, rt *runtime.Runtime, name string, w io.Writer) error {
	return ExportWith(ctx, rt, name, w, ExportOptions{})
}

// ExportOptions are what can be said about an export.
type ExportOptions struct {
	// Progress is told how many of the bytes of all files were packed so far; nil tells nobody.
	Progress func(done, of int64)
}

// ExportWith does as Export, and tells how far it is.
func ExportWith(ctx context.Context, rt *runtime.Runtime, name string, w io.Writer, opts ExportOptions) error {
	if err := export(ctx, rt, name, w, standard, opts); err != nil {
		return fmt.Errorf("export quest %s: %w", name, err)
	}
	return nil
}

func export(ctx context.Context, rt *runtime.Runtime, quest string, w io.Writer, lim limits, opts ExportOptions) error {
	acc, err := survey(ctx, rt, quest)
	if err != nil {
		return err
	}
	if acc.proof, err = testify(ctx, rt.Ledger, quest, acc.state.Seq); err != nil {
		return err
	}
	read := func(ref event.Ref) ([]byte, error) { return rt.Blob(ctx, ref) }
	docs, attached, err := acc.documents(ctx, read)
	if err != nil {
		return err
	}
	items := map[string]item{ledgerFile: {acc.bytes, acc.ledgerFrom(ctx, rt, quest)}}
	for name, data := range docs {
		items[name] = item{int64(len(data)), func(w io.Writer) error { return write(w, data) }}
	}
	for name, ref := range attached {
		items[name] = item{ref.Size, func(w io.Writer) error { return copyBlob(ctx, rt, ref, w) }}
	}
	for h, b := range acc.blobs.held {
		ref := event.Ref{Hash: h, Size: b.size}
		items[blobPath(h)] = item{b.size, func(w io.Writer) error { return copyBlob(ctx, rt, ref, w) }}
	}
	return pack(w, items, lim, opts.Progress)
}

// survey reads a quest's ledger from end to end.
func survey(ctx context.Context, rt *runtime.Runtime, quest string) (*account, error) {
	var acc *account
	for e, err := range rt.Ledger.Read(ctx, quest, 1) {
		if err != nil {
			return nil, err
		}
		if acc == nil {
			if acc, err = open(e, rt.Societies, rt.Blobs); err != nil {
				return nil, err
			}
		}
		if err := acc.add(ctx, e); err != nil {
			return nil, err
		}
	}
	if acc == nil {
		return nil, ledger.ErrNoQuest
	}
	return acc, nil
}

// ledgerFrom writes the lines that the account was made from, and none that
// came since.
func (a *account) ledgerFrom(ctx context.Context, rt *runtime.Runtime, quest string) func(io.Writer) error {
	return func(w io.Writer) error {
		for e, err := range rt.Ledger.Read(ctx, quest, 1) {
			if err != nil {
				return err
			}
			if err := write(w, append(slices.Clone(e.Line()), '\n')); err != nil {
				return err
			}
			if e.Seq == a.state.Seq {
				return nil
			}
		}
		return errors.New("the ledger became shorter while it was read: the quest was removed")
	}
}

// copyBlob writes a blob, and fails if it is not what its reference says.
func copyBlob(ctx context.Context, rt *runtime.Runtime, ref event.Ref, w io.Writer) error {
	if ref.Size <= ledger.MaxInlineBlob {
		data, err := rt.Blob(ctx, ref)
		if err != nil {
			return err
		}
		return write(w, data)
	}
	r, err := rt.Blobs.Open(ctx, ref.Hash)
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(w, blob.Interruptible(ctx, r))
	if err == nil && n != ref.Size {
		err = fmt.Errorf("blob %s has %d bytes, its reference says %d", ref.Hash, n, ref.Size)
	}
	return err
}

func write(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

// documents are the files of a crate that are computed: all but the ledger and
// the blobs. attached are copies of blobs under the names that their authors gave them.
func (a *account) documents(ctx context.Context, read agent.Blobs) (docs map[string][]byte, attached map[string]event.Ref, err error) {
	docs = map[string][]byte{}
	if docs[specFile], err = read(a.state.Spec); err != nil {
		return nil, nil, err
	}
	problem, err := agent.Read(a.state.Problem, read)
	if err != nil {
		return nil, nil, err
	}
	docs[briefFile] = []byte(problem + "\n")
	var answer string
	if a.state.Answer != nil {
		if answer, err = agent.Read(*a.state.Answer, read); err != nil {
			return nil, nil, err
		}
		docs[summaryFile] = []byte(a.state.Heading() + answer + "\n")
	}
	papers, files := a.state.Documents()
	for _, d := range papers {
		text, err := agent.Join(d.Parts, a.form == firstForm, read)
		if err != nil {
			return nil, nil, err
		}
		docs[paperFolder+d.Name] = []byte(text)
	}
	if attached, err = a.attached(ctx, files); err != nil {
		return nil, nil, err
	}
	var plots [][]byte
	for _, ref := range a.plots {
		svg, err := read(ref)
		if err != nil {
			return nil, nil, err
		}
		plots = append(plots, svg)
	}
	if a.proof != nil {
		docs[proofFile] = a.proof
	}
	preview := a.preview(problem, answer, plots)
	metadata, err := a.metadata(problem, docs, attached)
	if err != nil {
		return nil, nil, err
	}
	docs[previewFile], docs[metadataFile] = preview, metadata
	return docs, attached, nil
}

// attached are the files that agents attached to their work, by their paths in the crate.
// One whose name cannot be unpacked everywhere, or is another's in other letters, is there
// as its blob alone, and so are all in a crate of the first form.
func (a *account) attached(ctx context.Context, files []quest.Attached) (map[string]event.Ref, error) {
	out := map[string]event.Ref{}
	if a.form == firstForm {
		return out, nil
	}
	for _, f := range files {
		tree, err := runtime.Attachments(ctx, a.blobs.store, f)
		if err != nil {
			return nil, fmt.Errorf("what is attached to %s: %w", f.Path, err)
		}
		taken := map[string]bool{}
		for _, e := range tree {
			if low := strings.ToLower(e.Name); !taken[low] && runtime.Portable(e.Name) == nil && !a.blobs.redacted[e.Ref().Hash] {
				taken[low] = true
				out[paperFolder+f.Path+"/"+e.Name] = e.Ref()
			}
		}
	}
	return out, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
