package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/vouch"
)

// knownBefore is what a person says that somebody knew of a quest before, and who signed it.
type knownBefore struct {
	head        string
	since, keys []string

	// hashes are of events that must be there, notes are checkpoints that must hold.
	hashes []event.Hash
	notes  []proof.Stored
}

// read takes the flags for what they are.
func (k *knownBefore) read() error {
	if k.head != "" {
		if err := k.hash("--head", k.head); err != nil {
			return err
		}
	}
	for _, text := range k.since {
		note, err := os.ReadFile(text)
		switch {
		case err == nil:
			if err := k.note(text, string(note)); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return usagef("--since: %w", err)
		default:
			if err := k.hash("--since", text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *knownBefore) hash(flag, text string) error {
	h, err := event.ParseHash(strings.TrimPrefix(strings.TrimSpace(text), "sha256:"))
	if err != nil {
		return usagef("%s: %w; lyceum verify and lyceum show --json print a head in full", flag, err)
	}
	k.hashes = append(k.hashes, h)
	return nil
}

// note takes a checkpoint in a file: nobody need have signed it, for the person knows where it is from.
func (k *knownBefore) note(file, text string) error {
	note, err := proof.ParseNote(text)
	if err == nil {
		_, err = proof.ParseCheckpoint(note.Text)
	}
	if err != nil {
		return usagef("--since: %s is no checkpoint: %w", file, err)
	}
	k.notes = append(k.notes, proof.Stored{Note: text})
	return nil
}

// proven judges the checkpoints of a quest whose events are known to be a chain.
func (a *app) proven(ctx context.Context, rt *runtime.Runtime, name string, k *knownBefore) (*vouch.Proven, error) {
	if a.config == nil {
		if err := a.configure(); err != nil {
			return nil, err
		}
	}
	believed, err := whomToBelieve(ctx, a.home, a.config)
	if err != nil {
		return nil, err
	}
	for _, text := range k.keys {
		if !strings.Contains(text, "+") {
			continue
		}
		given, err := proof.ParseVerifier(text)
		if err != nil {
			return nil, usagef("--key: %w", err)
		}
		believed.Keys = append(believed.Keys, proof.Key{Verifier: given, Trust: "given"})
	}
	out, err := vouch.Prove(ctx, rt.Ledger, name, believed, k.notes)
	if err != nil {
		return nil, err
	}
	for _, text := range k.keys {
		if !signedBy(out.Verdict, text) {
			out.Missing = append(out.Missing, fmt.Sprintf("no checkpoint that holds is signed by %s, or it is not known here: lyceum key trust", printable(text)))
		}
	}
	return out, nil
}

// signedBy reports whether a checkpoint that holds has the signature of a key, which is named or
// given whole.
func signedBy(v *proof.Verdict, key string) bool {
	name, id, _ := strings.Cut(key, "+")
	id, _, _ = strings.Cut(id, "+")
	return slices.ContainsFunc(v.Checkpoints, func(c proof.Judged) bool {
		return c.Holds && slices.ContainsFunc(c.Signed, func(m proof.Mark) bool {
			return m.State == proof.MarkKnown && m.By == name && (id == "" || m.Key == id)
		})
	})
}

func (a *app) printProven(name string, p *vouch.Proven) {
	if p == nil {
		return
	}
	if len(p.Missing) == 0 {
		fmt.Fprintf(a.out, "  %s\n", printable(p.Words))
	}
	for _, line := range p.Missing {
		fmt.Fprintf(a.out, "%s: differs: %s\n", name, printable(line))
	}
}
