// Package glove is the embedder that is always there: GloVe vectors of the 100,000 most
// frequent English words, inside the binary.
//
// A text's vector is the mean of its words', each weighted by smooth inverse
// frequency: the rarer a word, the more it says. Words it does not know say nothing, so
// names are often lost, and a text in another language has the vector zero. The file is
// read where it lies in the binary; nothing is loaded or unpacked, and a text takes
// microseconds. The same text has the same vector on every machine.
//
// words.bin is made by scripts/embeddings; words.bin.sha256 is its checksum.
package glove

import (
	"context"
	_ "embed"
	"math"

	"lyceum/internal/search"
)

// What make.go and this package agree on.
const (
	Magic      = "glove100"
	Dimensions = 100
	Buckets    = 1 << 16
)

//go:embed words.bin
var file string

// Bucket says where a word is looked for: 32-bit FNV-1a, folded.
func Bucket(word string) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return (h ^ h>>16) & (Buckets - 1)
}

// The parts of the file after its name, each an array of little-endian numbers of four bytes, but for
// the last two: vectors of one byte a dimension, and the words' letters.
const (
	Words    = 100_000
	buckets  = len(Magic)
	members  = buckets + 4*(Buckets+1)
	letters  = members + 4*Words
	scales   = letters + 4*(Words+1)
	vectors  = scales + 4*Words
	alphabet = vectors + Dimensions*Words
)

func number(at int) uint32 {
	return uint32(file[at]) | uint32(file[at+1])<<8 | uint32(file[at+2])<<16 | uint32(file[at+3])<<24
}

// rank returns how many words are more frequent than this one.
func rank(word string) (int, bool) {
	at := buckets + 4*int(Bucket(word))
	for i := number(at); i < number(at+4); i++ {
		r := int(number(members + 4*int(i)))
		from, to := number(letters+4*r), number(letters+4*r+4)
		if file[alphabet+int(from):alphabet+int(to)] == word {
			return r, true
		}
	}
	return 0, false
}

// smooth is the constant of smooth inverse frequency: of 1e-3 to 1e-5, this does best
// in package trial.
const smooth = 3e-4

// mass is the sum of 1/rank over the vocabulary, by which Zipf's law becomes a
// probability.
const mass = 12.09

// Embedder implements search.Embedder. Its zero value is ready.
type Embedder struct{}

var (
	_ search.Embedder   = Embedder{}
	_ search.Calibrated = Embedder{}
)

// Name implements search.Embedder. Vectors are kept under it, so it changes with them.
func (Embedder) Name() string { return "glove-100d-1" }

// Repeats says that the vectors are the same on every machine: whoever checks a search
// can make it again.
func (Embedder) Repeats() bool { return true }

// Calibration implements search.Calibrated. The figures are measured on pairs of a
// paragraph and its paraphrase, and on all other pairs of the same texts: see
// TestCalibration.
func (Embedder) Calibration() (nothing, everything float64) { return 0.32, 0.96 }

// Embed implements search.Embedder.
func (Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[i] = embed(t)
	}
	return list, nil
}

// embed sums in the text's order, without fused products.
func embed(text string) []float32 {
	var sum [Dimensions]float64
	for _, token := range search.Tokens(text) {
		r, ok := rank(token)
		if !ok {
			continue
		}
		p := 1 / (float64(r+1) * mass)
		weight := float64(smooth / (smooth + p))
		weight = float64(weight * float64(math.Float32frombits(number(scales+4*r))))
		v := file[vectors+Dimensions*r : vectors+Dimensions*(r+1)]
		for i := range sum {
			sum[i] += float64(weight * float64(int8(v[i])))
		}
	}
	length := 0.0
	for _, x := range sum {
		length += float64(x * x)
	}
	out := make([]float32, Dimensions)
	if length > 0 {
		length = math.Sqrt(length)
		for i, x := range sum {
			out[i] = float32(x / length)
		}
	}
	return out
}
