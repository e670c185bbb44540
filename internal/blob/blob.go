// Package blob keeps bytes under their SHA-256, and folders as trees of such
// bytes.
//
// A blob never changes: its name is the sum of its content, so whoever holds a
// reference can tell whether what comes back is what was put in. A store that
// finds other content under a name answers with a *DamageError, never with the
// wrong bytes; one that finds nothing answers ErrNotFound.
//
// A tree is a blob that lists one folder: names, kinds, the executable bit, and
// the hashes of files and of the trees below. Two folders with the same content
// have the same tree, whatever their times, owners and order on disk.
//
// Snapshot turns a folder into a tree and Restore turns it back. Both work while
// hostile programs change the folder: they reach it only through an *os.Root,
// follow no symbolic link, and never leave it. What they cannot promise then is
// a picture of one moment: a snapshot of a folder in motion holds each file as
// it was when it was read. When a blob cannot be written Snapshot stops with
// that error, and the blobs written until then are left for collection.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lyceum/internal/event"
)

// ErrNotFound says that a store does not hold the blob.
var ErrNotFound = errors.New("blob not found")

// ErrBusy says that somebody else has the store open.
var ErrBusy = errors.New("blob store is in use: stop every other lyceum that has it open and try again")

// Store keeps blobs. It is safe for use by many goroutines.
type Store interface {
	// Put stores data. When it returns the blob is on disk, also where it was
	// there before. After an error nothing wrong stands under the blob's name.
	Put(ctx context.Context, data []byte) (event.Ref, error)

	// Create is Put for content of any length: it reads r to the end and needs
	// no memory for it. An error of r is returned and nothing is stored.
	Create(ctx context.Context, r io.Reader) (event.Ref, error)

	// Get returns the content of a blob. It never returns bytes that do not sum
	// up to h: then the error is a *DamageError.
	Get(ctx context.Context, h event.Hash) ([]byte, error)

	// Open reads a blob piece by piece. The pieces are vouched for only once
	// Read has said io.EOF: on damage it ends with a *DamageError instead.
	Open(ctx context.Context, h event.Hash) (io.ReadCloser, error)

	// Has reports whether a blob is there. It does not look at the content.
	Has(ctx context.Context, h event.Hash) (bool, error)
}

// Batcher is a store that takes many blobs faster than one by one.
type Batcher interface{ Batch() (Batch, error) }

// Batch is a store whose blobs can be found, and are on disk, once Flush has returned; after an
// error of it some may be. One of Flush and Abort ends it, and must be called. The store below
// may wait for that end: whoever has a batch open writes through it alone.
type Batch interface {
	Store
	Flush() error
	Abort()
}

// Steady is a store that knows when it may have lost blobs.
type Steady interface {
	// Since is the same as long as no blob is lost: what the store was seen to have under one
	// Since it need not be asked for again. nil promises nothing.
	Since() any
}

func since(s Store) any {
	if s, ok := s.(Steady); ok {
		return s.Since()
	}
	return nil
}

// DamageError says that what is stored under a name is not what the name says.
type DamageError struct {
	Hash event.Hash
	// Where tells a person where the damaged bytes are, such as a file.
	Where string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("blob %s is damaged: the content of %s does not match its name; bring it back from a backup or an exported quest", e.Hash, e.Where)
}
