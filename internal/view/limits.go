package view

import (
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/policy"
)

// Limit writes how much a limit allows: $0.50, 1 turn, 12,345 tokens, 90 s. What policies say
// (policy.Amount) stands in ledgers and stays as it was written there; this is for people.
func Limit(name string, n int64) string {
	switch name {
	case "cost":
		return Dollars(n)
	case "duration":
		unit, name := 1e6, " s"
		if 0 < n && n < 1_000_000 {
			unit, name = 1e3, " ms"
		}
		return strings.TrimSuffix(strconv.FormatFloat(float64(n)/unit, 'f', 1, 64), ".0") + name
	case "storage":
		return policy.Room(n)
	}
	return Several(n, strings.TrimSuffix(name, "s"))
}

// Reached says how much of a limit is used when it stops a quest: 1 of 1 turn.
func Reached(o *policy.Over) string {
	used := Limit(o.Limit, o.Used)
	if o.Limit == "turns" || o.Limit == "tokens" {
		used = Number(o.Used)
	}
	text := fmt.Sprintf("%s of %s", used, Limit(o.Limit, o.Max))
	if o.Limit == "storage" {
		text += " of storage"
	}
	if o.Next > 0 {
		text += ", and the next call can use " + Limit(o.Limit, o.Next)
	}
	return text
}
