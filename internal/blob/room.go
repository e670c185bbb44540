package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"lyceum/internal/event"
)

// ErrFull says that the disk of a store has no room left, or less than is to stay free.
// It is a state of the world: once there is room again the store goes on.
var ErrFull = errors.New("no room is left on the disk")

// FullError is ErrFull with its figures.
type FullError struct {
	// Dir is a folder on that disk.
	Dir string
	// Free is what is free, Reserve what has to stay free, in bytes.
	Free, Reserve int64
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%d MiB are free on the disk of %s, and %d MiB of it are to stay free: make room there, or set reserve in config.yaml lower", e.Free>>20, e.Dir, e.Reserve>>20)
}

// Is makes a FullError an ErrFull.
func (*FullError) Is(target error) bool { return target == ErrFull }

// Full reports whether an error says that a disk is full, by the reserve, by the disk
// itself or by somebody's quota on it.
func Full(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// A Spend is asked before bytes are written to a disk on somebody's behalf. Its error
// refuses them: nothing is written then, and the caller of the store gets that error.
// Bytes below zero are given back, which is never refused. Several goroutines may ask at once.
type Spend func(bytes int64) error

type spendKey struct{}

// WithSpend returns a context in which whatever a store writes is asked for first. Bytes
// are counted as they are written, in whole blocks of the disk: small blobs packed, large
// ones plain, without holes. What came to nothing, or was there already, is given back. So
// the sum is what the disk has lost when the call returns, also after an error. What a store
// packs later makes room on the disk and none here: when it gets to that is chance, and
// what is decided by the sum may not depend on it.
func WithSpend(ctx context.Context, s Spend) context.Context {
	return context.WithValue(ctx, spendKey{}, s)
}

// Charge asks for bytes that are about to be written. It is for drivers.
func Charge(ctx context.Context, bytes int64) error {
	if s, ok := ctx.Value(spendKey{}).(Spend); ok {
		return s(bytes)
	}
	return nil
}

// Block is the unit in which bytes are charged for: what the smallest file takes.
const Block = 4 << 10

// Blocks rounds a length up to whole blocks; nothing takes one too, for its name.
func Blocks(bytes int64) int64 { return max(bytes+Block-1, 1) / Block * Block }

// A Ranger is a store that can begin to read a large blob at any place without reading
// what is before it.
type Ranger interface {
	// OpenAt reads a blob from a place on. What it yields is not checked against the
	// hash: whoever needs that has read the blob to its end before.
	OpenAt(ctx context.Context, h event.Hash, from int64) (io.ReadCloser, error)
}
