package runtimetest_test

import (
	"testing"

	"lyceum/internal/runtime/runtimetest"
)

func TestTheRelayIsSimulated(t *testing.T) {
	r := runtimetest.Exercise(t, func() runtimetest.Part { return &runtimetest.Relay{} }, 1, 200, runtimetest.Once(40))
	t.Logf("%+v", r)
}
