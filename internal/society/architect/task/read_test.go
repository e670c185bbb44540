package task_test

import (
	"testing"

	"lyceum/internal/strictyaml"

	"github.com/google/go-cmp/cmp/cmpopts"
)

// Empty takes an empty list for none.
var Empty = cmpopts.EquateEmpty()

// ReadRaw reads what was written, without asking whether it makes sense.
func ReadRaw(t *testing.T, data []byte, to any) any {
	t.Helper()
	if err := strictyaml.Decode("raw", data, to); err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, data)
	}
	return to
}
