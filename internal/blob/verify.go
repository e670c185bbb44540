package blob

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"

	"lyceum/internal/event"
)

// Verify wraps what a driver reads from so that the end is reached only if the
// content matches h; where is for the *DamageError that comes otherwise.
func Verify(r io.ReadCloser, h event.Hash, where string) io.ReadCloser {
	return &verifier{ReadCloser: r, sum: sha256.New(), want: h, where: where}
}

type verifier struct {
	io.ReadCloser
	sum   hash.Hash
	want  event.Hash
	where string
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if err == io.EOF && event.Hash(v.sum.Sum(nil)) != v.want {
		err = &DamageError{Hash: v.want, Where: v.where}
	}
	return n, err
}

// Interruptible returns a reader of r that ends with the error of ctx once ctx
// is done. A Read under way is not interrupted.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx, r}
}

type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
