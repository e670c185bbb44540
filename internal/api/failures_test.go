package api

import (
	"testing"

	"lyceum/internal/event"
)

func TestAClockThatGoesBackLocksNobodyOut(t *testing.T) {
	t.Parallel()
	now := event.Time(1e15)
	f := failures{clock: func() event.Time { return now }, burst: 3}
	if !f.allow("192.0.2.1:1") {
		t.Fatal("the first is refused")
	}
	now -= 3600e6
	if !f.allow("192.0.2.1:1") {
		t.Error("after the clock went back an hour the second is refused")
	}
	now += 1e6
	for i, want := range []bool{true, true, false} {
		if f.allow("192.0.2.1:1") != want {
			t.Errorf("call %d a second later: want %v", i, want)
		}
	}
}
