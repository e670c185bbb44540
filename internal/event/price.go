package event

import (
	"math"
	"math/bits"
)

// Cost returns what u costs in nanodollars: exactly, and where that is no whole
// number, the next one above, so that no sum of costs is ever too small. Cached
// input and writes to the cache are parts of the input, thinking is part of the
// output. A number that no usage has counts as none, and a cost that does not fit
// as the highest that does.
func (p Price) Cost(u Usage) int64 {
	cached, written := max(u.Cached, 0), max(u.CacheWrites, 0)
	plain := uint64(max(u.Input, 0))
	plain -= min(plain, uint64(cached)+uint64(written))
	var hi, lo uint64 // together, in nanodollars for a million
	for _, n := range [4][2]int64{{int64(plain), p.Input}, {cached, p.Cached}, {written, p.CacheWrites}, {u.Output, p.Output}} {
		h, l := bits.Mul64(uint64(max(n[0], 0)), uint64(max(n[1], 0)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry // four products below 2^126 fit
	}
	const million = 1_000_000
	if hi >= million {
		return math.MaxInt64
	}
	cost, rest := bits.Div64(hi, lo, million)
	if rest > 0 && cost < math.MaxUint64 {
		cost++
	}
	return int64(min(cost, math.MaxInt64))
}

// Most is what so many tokens cost at most, whatever part of the input is cached.
func (p Price) Most(input, output int64) int64 {
	dearest := Price{Input: max(p.Input, p.Cached, p.CacheWrites), Output: p.Output}
	return dearest.Cost(Usage{Input: input, Output: output})
}
