package backup

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
)

// Restored says what was brought back.
type Restored struct {
	// From is the backup.
	From   string `json:"from"`
	Quests int    `json:"quests"`
	// Events counts those that were brought by this process: one that was killed may have brought others.
	Events uint64 `json:"events"`
	// Unproved are quests that are there as they were, but that this program has no rules for.
	Unproved []string `json:"unproved"`
	// Damaged is what was damaged in the backup, or does not hold. It is there as far as it could be.
	Damaged []string `json:"damaged"`
}

// Restore brings the quests of a backup, a folder or a tar, into the ledger and the blobs of a runtime, of whatever engine,
// which must have none, and marks it as a copy. prove is asked of each quest once it is there; it says false of one
// that nobody here can judge. Who is killed, or fails, gives the command again: it goes on.
func Restore(ctx context.Context, rt *runtime.Runtime, from string, prove func(quest string) (judged bool, err error), progress Progress) (rep *Restored, err error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	if from, err = filepath.Abs(from); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore from %s: %w", from, err)
		}
	}()
	source, closeSource, err := openBackup(ctx, rt, from, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeSource()) }()
	heads, err := source.Ledger.Quests(ctx)
	if err != nil {
		return nil, err
	}
	if err := rt.BeginRestore(ctx, from); err != nil {
		return nil, err
	}
	rep = &Restored{From: from, Unproved: []string{}, Damaged: []string{}}
	for i, h := range heads {
		progress("quests", int64(i), int64(len(heads)))
		if err := rep.bring(ctx, source, rt, h.Quest, prove); err != nil {
			return nil, err
		}
	}
	return rep, rt.EndRestore(ctx, from)
}

// bring brings one quest. What is wrong with it in the backup holds no other up.
func (rep *Restored) bring(ctx context.Context, source, rt *runtime.Runtime, quest string, prove func(string) (bool, error)) error {
	n, err := source.Copy(ctx, rt, quest)
	if isDamage(err) {
		rep.Damaged = append(rep.Damaged, err.Error()+"; what is before that is there")
		err = nil
	}
	if err != nil {
		return err
	}
	rep.Quests++
	rep.Events += n
	judged, err := prove(quest)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		rep.Damaged = append(rep.Damaged, fmt.Sprintf("quest %s does not hold: %v", quest, err))
	} else if !judged {
		rep.Unproved = append(rep.Unproved, quest)
	}
	return nil
}

// openBackup opens the stores of a backup. Of a tar it unpacks them first.
func openBackup(ctx context.Context, rt *runtime.Runtime, from string, progress Progress) (source *runtime.Runtime, closeAll func() error, err error) {
	var closes []func() error
	closeAll = func() (err error) {
		for i := len(closes) - 1; i >= 0; i-- {
			err = errors.Join(err, closes[i]())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	home := from
	if info, err := os.Stat(from); err == nil && info.Mode().IsRegular() {
		temp, err := scratch.New(rt.Home, ".restore-")
		if err != nil {
			return nil, closeAll, err
		}
		closes = append(closes, temp.Close)
		home = temp.Path
		progress("unpacking", 0, 0)
		if err := unpack(ctx, from, home); err != nil {
			return nil, closeAll, err
		}
	}
	path := filepath.Join(home, "lyceum.db")
	if _, err := os.Stat(path); err != nil {
		return nil, closeAll, fmt.Errorf("it is no backup of a home: it has no lyceum.db. Name the folder or the file.tar that lyceum backup made (%w)", err)
	}
	store, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, closeAll, err
	}
	closes = append(closes, store.Close)
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), &blobfs.Options{Pack: blobfs.Never})
	if err != nil {
		return nil, closeAll, err
	}
	closes = append(closes, blobs.Close)
	return &runtime.Runtime{Ledger: store, Blobs: blobs, Societies: rt.Societies, Home: home, Clock: rt.Clock, Version: rt.Version}, closeAll, nil
}

// unpack takes the ledger and the blobs out of a tar.
func unpack(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	root, err := os.OpenRoot(to) // a tar may say anything
	if err != nil {
		return err
	}
	defer root.Close()
	for r := tar.NewReader(blob.Interruptible(ctx, in)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no tar that lyceum backup made, or only a part of one: %w", err)
		}
		if h.Typeflag != tar.TypeReg || h.Name != "lyceum.db" && !strings.HasPrefix(h.Name, "blobs/") {
			continue
		}
		if err := unpackOne(root, h.Name, r); err != nil {
			return fmt.Errorf("unpack %s: %w", h.Name, err)
		}
	}
}

func unpackOne(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}
