package event_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
)

// kilobyte is a model's answer of usual shape, with a body of about 1 KB.
func kilobyte() event.Draft {
	args := event.Text{Text: `{"command":"go test ./internal/event/...","timeout":60}`}
	said := event.Text{Text: strings.Repeat("The tests pass; next I read the \"ledger\" package.\n", 12)}
	return event.Draft{Parent: 41, Time: noon, Actor: "agent-0", Body: &event.ModelResult{
		Call: 41, Cost: 1_234_567, Duration: 2_345_678,
		Parts: []event.Part{
			{Kind: event.PartText, Text: &said},
			{Args: &args, ID: "call-1", Kind: event.PartToolCall, Name: "shell"},
		},
		Stop: "tools", Usage: event.Usage{Cached: 30_000, Input: 31_234, Output: 345},
	}}
}

func BenchmarkSeal(b *testing.B) {
	d, prev := kilobyte(), event.HashOf(nil)
	b.SetBytes(int64(len(seal(b, 42, prev, d).Line())))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Seal("golden", 42, prev, d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	line := seal(b, 42, event.HashOf(nil), kilobyte()).Line()
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFollows(b *testing.B) {
	prev := event.HashOf(nil)
	e := parse(b, seal(b, 42, prev, kilobyte()).Line())
	b.SetBytes(int64(len(e.Line())))
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Follows(41, prev); err != nil {
			b.Fatal(err)
		}
	}
}
