package crate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lyceum/internal/ledger"
	"lyceum/internal/proof"
	"lyceum/internal/vouch"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// proofFile has the checkpoints of a quest, if there are any: what others say of it. Unlike the rest
// it does not follow from the ledger. Whether they hold is for verify to say, which names the last
// that does; a crate with words that do not hold is worth reading for that reason.
const proofFile = "proof.json"

// maxProof is how large that file may be.
const maxProof = 64 << 20

// testimony is the content of that file.
type testimony struct {
	Format      string         `json:"format"`
	Checkpoints []proof.Stored `json:"checkpoints"`
}

const testimonyForm = "lyceum-proof/1"

func (t testimony) encode() ([]byte, error) {
	data, err := json.Marshal(t, jsontext.WithIndent("  "), json.Deterministic(true))
	return append(data, '\n'), err
}

// testify is the file for the checkpoints of a quest's first events, nil if there are none.
func testify(ctx context.Context, store ledger.Checkpoints, quest string, events uint64) ([]byte, error) {
	rows, err := store.Checkpoints(ctx, quest, 0)
	if err != nil {
		return nil, err
	}
	t := testimony{Format: testimonyForm}
	for _, r := range rows {
		s, err := vouch.Decode(r.Body)
		if err != nil {
			return nil, fmt.Errorf("the checkpoint of %d events cannot be read: %w", r.Size, err)
		}
		// The quest may have gone on since. What others say of more events than there are tells that the
		// end was cut off, and travels on.
		if r.Size <= events || len(r.Edge) == 0 {
			t.Checkpoints = append(t.Checkpoints, s)
		}
	}
	if len(t.Checkpoints) == 0 {
		return nil, nil
	}
	return t.encode()
}

// testimony reads the checkpoints of a crate, and its file as it is; nothing if there is none.
func (a *archive) testimony(ctx context.Context) (t testimony, data []byte, err error) {
	f := a.files[proofFile]
	if f == nil {
		return t, nil, nil
	}
	if f.UncompressedSize64 > maxProof {
		return t, nil, fmt.Errorf("%s has %d bytes, more than %d", proofFile, f.UncompressedSize64, maxProof)
	}
	r, err := openEntry(ctx, f)
	if err != nil {
		return t, nil, err
	}
	defer r.Close()
	if data, err = io.ReadAll(r); err != nil {
		return t, nil, err
	}
	if err = json.Unmarshal(data, &t, json.RejectUnknownMembers(true)); err == nil {
		err = t.check()
	}
	if err == nil {
		// One form alone, so that nothing hides in it.
		var again []byte
		if again, err = t.encode(); err == nil && string(again) != string(data) {
			err = errors.New("it is not as an export writes it")
		}
	}
	if err != nil {
		return t, nil, fmt.Errorf("%s: %w", proofFile, err)
	}
	return t, data, nil
}

func (t testimony) check() error {
	if t.Format != testimonyForm {
		return fmt.Errorf("it was written as %.80q, and this version of lyceum reads %q", t.Format, testimonyForm)
	}
	if len(t.Checkpoints) == 0 || len(t.Checkpoints) > vouch.MaxPoints {
		return fmt.Errorf("it has %d checkpoints: want 1 to %d", len(t.Checkpoints), vouch.MaxPoints)
	}
	for _, s := range t.Checkpoints {
		if len(s.Stamps) > 64 || len(s.Statements) > 256 {
			return errors.New("a checkpoint has more stamps or statements than anybody needs")
		}
	}
	return nil
}
