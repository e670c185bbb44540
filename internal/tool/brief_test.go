package tool

import (
	"errors"
	"strings"
	"testing"

	"lyceum/internal/starlark/starlarktest"

	"github.com/go-json-experiment/json"
)

// TestACalculationSaysTheSameWhenItIsMadeBriefly: nobody can tell from a result how it was made.
func TestACalculationSaysTheSameWhenItIsMadeBriefly(t *testing.T) {
	t.Parallel()
	r := Builtin()
	made := 0
	for name, code := range starlarktest.Programs(t) {
		args, err := json.Marshal(map[string]string{"code": code})
		if err != nil {
			t.Fatal(err)
		}
		brief := r.Do(Briefly(t.Context()), "calculate", Call{Args: args})
		if brief.Cause != nil {
			if !errors.Is(brief.Cause, ErrLonger) {
				t.Errorf("%s, briefly: got %v, want a result or ErrLonger", name, brief.Cause)
			}
			continue
		}
		made++
		if whole := r.Do(t.Context(), "calculate", Call{Args: args}); whole.Output != brief.Output {
			t.Errorf("%s: got %+v when it was made briefly, want %+v", name, brief.Output, whole.Output)
		}
	}
	if made < 10 {
		t.Errorf("programs that were made briefly: got %d, want at least 10", made)
	}
}

// TestWhatIsMadeBrieflyIsShort: the owner of a quest waits for it.
func TestWhatIsMadeBrieflyIsShort(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"many steps": "while True: pass",
		"long code":  "x = 1\n" + strings.Repeat("x = 1\n", 300),
		"much said":  `print("x" * 5000)`,
		"a failure":  "1 // 0",
	} {
		args, err := json.Marshal(map[string]string{"code": code})
		if err != nil {
			t.Fatal(err)
		}
		if got := Builtin().Do(Briefly(t.Context()), "calculate", Call{Args: args}); !errors.Is(got.Cause, ErrLonger) {
			t.Errorf("%s, briefly: got %+v, want ErrLonger", name, got)
		}
	}
}
