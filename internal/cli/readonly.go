package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
)

// A home that cannot be written to, somebody else's or one on a read-only file system, can
// be looked at. SQLite needs to write beside a database to read it whole, so the database
// and its write-ahead log are copied to a folder for temporary files and read there. That
// takes as much room, and time, as the database has bytes. Blobs and folders are read
// where they are. Who runs quests there now cannot be seen.

// read is open for commands that only read, also where nobody may write.
func (a *app) read() error {
	err := a.open(false)
	if !unwritable(err) || a.places != (places{}) {
		return err
	}
	rt, closeAll, again := openReadOnly(a.home, a.weakly(a.config))
	if again != nil {
		return errors.Join(err, again)
	}
	a.rt, a.closes = rt, append(a.closes, closeAll)
	return nil
}

func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// openReadOnly opens the parts that quests in a home are read with.
func openReadOnly(home string, conf *config.Config) (_ *runtime.Runtime, _ func() error, err error) {
	temp, err := scratch.New("", "lyceum-read-")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read the home %s: %w", home, err), temp.Close())
		}
	}()
	if err := copyLedger(home, temp.Path); err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(filepath.Join(temp.Path, ledgerName), nil)
	if err != nil {
		return nil, nil, err
	}
	rt, closeAll, err := assemble(home, conf, nil, readOnlyLedger{store}, blobfs.OpenReadOnly(filepath.Join(home, "blobs")))
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return rt, func() error { return errors.Join(closeAll(), store.Close(), temp.Close()) }, nil
}

const ledgerName = "lyceum.db"

// copyLedger copies a database that somebody may be writing to: again, if it has changed
// meanwhile.
func copyLedger(home, to string) error {
	names := []string{ledgerName + "-wal", ledgerName}
	stamp := func() (out string, err error) {
		for _, name := range names {
			info, err := os.Stat(filepath.Join(home, name))
			if errors.Is(err, fs.ErrNotExist) && name != ledgerName {
				continue
			}
			if err != nil {
				return "", err
			}
			out += fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano())
		}
		return out, nil
	}
	const tries = 5
	for range tries {
		before, err := stamp()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := copyFile(filepath.Join(home, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
		if after, err := stamp(); err != nil || after == before {
			return err
		}
	}
	return fmt.Errorf("its ledger is being written to all the time, and could not be copied in %d tries: try again when the quests there rest", tries)
}

// copyFile copies a file over another; where there is none, there is none afterwards.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return runtime.RemoveIfThere(to)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// readOnlyLedger refuses what would be written to a copy and lost with it.
type readOnlyLedger struct{ *sqlite.Store }

var errReadOnlyHome = fmt.Errorf("the home is opened to be read alone: %w", syscall.EROFS)

func (readOnlyLedger) Append(context.Context, ledger.Batch) error { return errReadOnlyHome }
func (readOnlyLedger) Post(context.Context, string, ledger.Command) (int64, error) {
	return 0, errReadOnlyHome
}
func (readOnlyLedger) Dismiss(context.Context, string, int64) error { return errReadOnlyHome }
func (readOnlyLedger) Remove(context.Context, string) error         { return errReadOnlyHome }
func (readOnlyLedger) Sweep(context.Context, map[event.Hash]bool) (int, error) {
	return 0, errReadOnlyHome
}
func (readOnlyLedger) PutToken(context.Context, ledger.Token) error { return errReadOnlyHome }
func (readOnlyLedger) DropToken(context.Context, string) error      { return errReadOnlyHome }
func (readOnlyLedger) SwapNote(context.Context, ledger.Note, []byte) (bool, error) {
	return false, errReadOnlyHome
}
func (readOnlyLedger) PutGlances(context.Context, string, string, []ledger.Glance) error {
	return errReadOnlyHome
}
func (readOnlyLedger) Claim(context.Context, string) (ledger.Claim, error) {
	return nil, errReadOnlyHome
}
