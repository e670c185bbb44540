package runtime

import "testing"

// TestAFormChangesWithWhatItSays: what an older program kept, when lists said less, is not taken for what they say now, though builds
// without a commit have one version.
func TestAFormChangesWithWhatItSays(t *testing.T) {
	t.Parallel()
	type verdict struct{ Value string }
	type verdictNow struct{ Value, Sure string }
	type self struct {
		Next *self
		Name string
	}
	before := FormOf("list", struct{ Said *struct{ Verdicts []verdict } }{})
	for what, now := range map[string]string{
		"a member deep inside": FormOf("list", struct {
			Said *struct{ Verdicts []verdictNow }
		}{}),
		"a member's JSON name": FormOf("list", struct {
			Said *struct{ Verdicts []verdict } `json:"said"`
		}{}),
		"the list's name": FormOf("other", struct{ Said *struct{ Verdicts []verdict } }{}),
		"another type":    FormOf("list", self{}),
	} {
		if now == before {
			t.Errorf("%s is new: the form is still %s, want another", what, now)
		}
	}
	if again := FormOf("list", struct{ Said *struct{ Verdicts []verdict } }{}); again != before {
		t.Errorf("the same type: got the forms %s and %s, want one", before, again)
	}
}
