package view_test

import (
	"testing"

	"lyceum/internal/policy"
	"lyceum/internal/view"
)

func TestFigures(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "$0.00", 12_934_567_890: "$12.93", 999_999_999: "$1.00", 1_234_567_000_000_000: "$1,234,567.00", 10_000_000: "$0.01", 15_000_000: "$0.02",
		4_200_000: "$0.0042", 4_250_000: "$0.0043", 9_999_999: "$0.01", 12_000: "$0.000012", 1_000_000: "$0.001", 1: "$0.000000001", 99: "$0.000000099",
	} {
		if got := view.Dollars(n); got != want {
			t.Errorf("%d nanodollars: got %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 turns", 1: "1 turn", 2: "2 turns", 999: "999 turns", 1000: "1,000 turns", 1_234_567: "1,234,567 turns", -12_345: "-12,345 turns"} {
		if got := view.Several(n, "turn"); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for _, c := range []struct {
		over policy.Over
		want string
	}{
		{policy.Over{Limit: "turns", Used: 1, Max: 1}, "1 of 1 turn"},
		{policy.Over{Limit: "turns", Used: 3, Max: 2}, "3 of 2 turns"},
		{policy.Over{Limit: "tokens", Used: 7, Max: 0}, "7 of 0 tokens"},
		{policy.Over{Limit: "tokens", Used: 1, Max: 12_345, Next: 1}, "1 of 12,345 tokens, and the next call can use 1 token"},
		{policy.Over{Limit: "cost", Used: 512_345_000, Max: 500_000_000}, "$0.51 of $0.50"},
		{policy.Over{Limit: "duration", Used: 61_500_000, Max: 60_000_000}, "61.5 s of 60 s"},
		{policy.Over{Limit: "duration", Used: 1_234, Max: 1_000}, "1.2 ms of 1 ms"},
		{policy.Over{Limit: "storage", Used: 3 << 19, Max: 1 << 20}, "1.5 MiB of 1 MiB of storage"},
	} {
		if got := view.Reached(&c.over); got != c.want {
			t.Errorf("the limit %+v in words: got %q, want %q", c.over, got, c.want)
		}
	}
	for _, c := range []struct {
		cost, unpriced int64
		want           string
	}{{0, 0, "$0.00"}, {0, 3, "unknown"}, {500_000_000, 3, "at least $0.50"}, {500_000_000, 0, "$0.50"}} {
		if got := view.Price(c.cost, c.unpriced); got != c.want {
			t.Errorf("%d with %d calls of no price: got %s, want %s", c.cost, c.unpriced, got, c.want)
		}
	}
}
