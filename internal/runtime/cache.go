package runtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Caches of a quest hold what the ledger says already: its state, and what a server
// shows of it. Each is a line with the hash of what follows, then that. One is used only
// if its hash holds and the ledger has the event that it claims to stand at. Anything
// else, and the ledger is folded instead.
const (
	cachedState = "state"
	cachedViews = "views"
)

func (r *Runtime) cachePath(name, kind string) string {
	return filepath.Join(r.Home, "cache", name+"."+kind)
}

// loadCache returns what was saved, nil if it is not there or not whole.
func (r *Runtime) loadCache(name, kind string) []byte {
	data, err := os.ReadFile(r.cachePath(name, kind))
	if err != nil {
		return nil
	}
	sum, body, _ := bytes.Cut(data, []byte("\n"))
	if event.HashOf(body).String() != string(sum) {
		return nil
	}
	return body
}

func (r *Runtime) saveCache(name, kind string, body []byte) error {
	data := append([]byte(event.HashOf(body).String()+"\n"), body...)
	if err := ReplaceFile(r.cachePath(name, kind), data); err != nil {
		return fmt.Errorf("save the %s of quest %s: %w", kind, name, err)
	}
	return nil
}

// removeCaches is for a quest that goes.
func (r *Runtime) removeCaches(name string) error {
	return errors.Join(RemoveIfThere(r.cachePath(name, cachedState)), RemoveIfThere(r.cachePath(name, cachedViews)), RemoveIfThere(r.cachePath(name, cachedEpoch)))
}

// stands reports whether the ledger has the event that a state is of.
func (r *Runtime) stands(ctx context.Context, name string, s *quest.State) (bool, error) {
	for e, err := range r.Ledger.Read(ctx, name, s.Seq) {
		return err == nil && e.Seq == s.Seq && e.Hash == s.Hash, err
	}
	return false, nil
}

// loadSnapshot returns a quest's snapshot and how many bytes it has, nil if there is none that
// holds.
func (r *Runtime) loadSnapshot(ctx context.Context, name string) (*quest.State, int, error) {
	body := r.loadCache(name, cachedState)
	if body == nil {
		return nil, 0, nil
	}
	s, err := quest.Decode(body, r.Societies)
	if err != nil {
		return nil, 0, nil
	}
	if ok, err := r.stands(ctx, name, s); err != nil || !ok {
		return nil, 0, err
	}
	return s, len(body), nil
}

// due says when a quest's next snapshot is worth its cost: when the events since the last one
// have several times its bytes. What it costs to read them again grows with those, what it costs
// to save grows with the state; so a run spends a small part of its work on snapshots, and who
// opens the quest reads a few times its state.
type due struct {
	size  int // of the last snapshot, 0 if there is none
	since int // bytes of events since
}

// The least that is worth a snapshot, a few hundred events, which are folded in milliseconds; and
// how many times the last snapshot the events since must have.
const (
	leastSince = 256 << 10
	timesSize  = 3
)

func (d due) now() bool { return d.since >= max(leastSince, timesSize*d.size) }

// atRest is now for a quest that has come to rest: who opens it next waits for what is not in a snapshot, and
// nobody waits for this one.
func (d due) atRest() bool { return d.since >= max(leastSince, d.size/2) }

// save saves the state. A cache that cannot be written is not the quest's failure: an older one
// still holds, and without any the ledger is folded. It is due again after as much as before.
func (d *due) save(r *Runtime, name string, s *quest.State) error {
	body, err := s.Encode()
	if err != nil {
		return err
	}
	d.size, d.since = len(body), 0
	return r.saveCache(name, cachedState, body)
}

// SaveViews keeps what a server shows of a quest, and the encoded state that goes with it.
func (r *Runtime) SaveViews(name string, state, views []byte) error {
	body := binary.AppendUvarint(nil, uint64(len(state)))
	return r.saveCache(name, cachedViews, slices.Concat(body, state, views))
}

// LoadViews returns what SaveViews kept, a nil state if there is nothing that fits.
func (r *Runtime) LoadViews(ctx context.Context, name string) (*quest.State, []byte, error) {
	body := r.loadCache(name, cachedViews)
	size, n := binary.Uvarint(body)
	if n <= 0 || size > uint64(len(body)-n) {
		return nil, nil, nil
	}
	s, err := quest.Decode(body[n:n+int(size)], r.Societies)
	if err != nil {
		return nil, nil, nil
	}
	if ok, err := r.stands(ctx, name, s); err != nil || !ok {
		return nil, nil, err
	}
	return s, body[n+int(size):], nil
}

// ReplaceFile writes a file so that a reader sees the old bytes or the new.
func ReplaceFile(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
