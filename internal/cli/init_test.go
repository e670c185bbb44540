package cli

import (
	"strings"
	"testing"
)

// TestEveryInstanceOfAKeyIsTaken: what the first quest.yaml offers as a comment is right once
// it is none.
func TestEveryInstanceOfAKeyIsTaken(t *testing.T) {
	t.Parallel()
	for _, society := range societies().Names() {
		text, _, err := firstSpec(society)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := societies().ParseSpec("quest.yaml", []byte(text)); err != nil {
			t.Errorf("the first quest.yaml of %s: %v", society, err)
		}
		for key, value := range instances {
			line := "# " + key + ": " + value + "\n"
			if !strings.Contains(text, line) {
				t.Errorf("the first quest.yaml of %s has no line %q: is %s still a key?", society, line, key)
			}
			file := strings.Replace(text, line, line[2:], 1)
			if key == "problem_file" {
				begin := strings.Index(file, "\nproblem:")
				end := begin + strings.Index(file[begin:], "\n\n")
				file = file[:begin] + file[end:]
			}
			if _, err := societies().ParseSpec("quest.yaml", []byte(file)); err != nil {
				t.Errorf("the first quest.yaml of %s with %s: %v", society, key, err)
			}
		}
	}
}
