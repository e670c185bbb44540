package search

import (
	"context"
	"fmt"
)

// Directions are what is kept of the embeddings of texts: their directions in whole numbers,
// which are compared alike on every machine.
func Directions(ctx context.Context, by Embedder, texts ...string) ([][]byte, error) {
	vectors, err := by.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("the embedder %s gave %d vectors for %d texts", by.Name(), len(vectors), len(texts))
	}
	out := make([][]byte, len(vectors))
	for i, v := range vectors {
		if len(v) > maxDimensions {
			return nil, fmt.Errorf("the embedder %s gave a vector of %d dimensions", by.Name(), len(v))
		}
		q, err := quantise(v)
		if err != nil {
			return nil, err
		}
		out[i] = pack(q)
	}
	return out, nil
}

// Cosine is that of two directions, in billionths. It is zero if they cannot be compared, or
// one of the texts meant nothing to the embedder.
func Cosine(a, b []byte) int64 {
	if len(a) != len(b) || len(a) > maxDimensions {
		return 0
	}
	x, y := unpack(a), unpack(b)
	return cosine(dot(x, y), dot(x, x), dot(y, y))
}
