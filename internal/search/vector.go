package search

import (
	"context"
	"fmt"
	"math"
)

// Embedder turns texts into vectors, so that texts that mean much the same point much
// the same way.
type Embedder interface {
	// Name tells embedders apart whose vectors cannot be compared.
	Name() string
	// Embed returns one vector for each text, all of one length. A text that means
	// nothing to it has the vector zero.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Calibrated is an embedder that knows what its cosines mean.
type Calibrated interface {
	// Calibration returns the cosine below which texts have nothing in common, and
	// that above which they say the same.
	Calibration() (nothing, everything float64)
}

// UsualNothing and UsualEverything calibrate an embedder that has no figures of its own.
// They are careful: a vector alone does not easily make a paragraph pass for evidence.
const (
	UsualNothing    = 0.25
	UsualEverything = 0.85
)

// vector is what is kept of an embedding: its direction, in 127 steps a dimension.
// Products of whole numbers are the same on every machine.
type vector []int8

// quantise refuses what is no vector.
func quantise(v []float32) (vector, error) {
	most := 0.0
	for _, x := range v {
		a := math.Abs(float64(x))
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return nil, fmt.Errorf("a vector holds %v, which is no number", x)
		}
		most = max(most, a)
	}
	out := make(vector, len(v))
	if most > 0 {
		for i, x := range v {
			out[i] = int8(math.Round(float64(x) / most * 127))
		}
	}
	return out, nil
}

func dot(a, b vector) int64 {
	b = b[:len(a)]
	sum := int32(0) // 127² times a hundred thousand dimensions fit
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return int64(sum)
}

// maxDimensions keeps dot within its bounds.
const maxDimensions = 100_000

// cosine is in billionths. Of the vector zero it is zero.
func cosine(dot, squareA, squareB int64) int64 {
	if squareA == 0 || squareB == 0 {
		return 0
	}
	return billionths(float64(dot) / math.Sqrt(float64(squareA)*float64(squareB)))
}
