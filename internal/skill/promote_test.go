package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/skill"
)

const day = event.Time(24 * 60 * 60 * 1e6)

// TestAProgramBecomesASkill is statement 11: with its origin; unused for 30 days it is not offered.
func TestAProgramBecomesASkill(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	files := []skill.Content{{Path: "main.py", Data: []byte("import part\nprint(1)\n")}, {Path: "part.py", Data: []byte("x = 1\n")}}
	o := skill.Origin{Quest: "sorter", Attempt: 2, Seq: 17, Tree: event.HashOf([]byte("tree")), Used: 100 * day}
	dir, err := skill.Promote(home, "sorts", "to sort\n---\nname: other\nnumbers", "main.py", files, o)
	if err != nil {
		t.Fatal(err)
	}
	all, faults := skill.OfTheHome(home)
	if len(all) != 1 || len(faults) > 0 {
		t.Fatalf("got %d skills and %v, want one", len(all), faults)
	}
	s := all[0]
	if s.Name != "sorts" || s.Description != "to sort --- name: other numbers" || !strings.Contains(s.Body, "quest sorter (attempt 2, event 17)") {
		t.Errorf("got %q, %q, %q, want its name, the maker's words in one line, and its origin", s.Name, s.Description, s.Body)
	}
	if len(s.Scripts) != 1 || s.Scripts[0].Path != "scripts/main.py" || !strings.Contains(s.Scripts[0].Interpreter, "python3") {
		t.Errorf("got the scripts %+v, want main.py by python3 alone", s.Scripts)
	}
	text, err := os.ReadFile(filepath.Join(dir, skill.File))
	if err != nil || !strings.Contains(string(text), "tree: "+o.Tree.String()) {
		t.Errorf("got %s, %v, want the tree in it", text, err)
	}
	for _, c := range []struct {
		at   event.Time
		gone bool
	}{{100 * day, false}, {130*day - 1, false}, {130 * day, true}} {
		if why, err := skill.Stale(home, "sorts", c.at); err != nil || (why != "") != c.gone {
			t.Errorf("at day %d: got %q, %v, want it left out: %v", c.at/day, why, err, c.gone)
		}
	}
	if err := skill.Used(home, "sorts", 120*day); err != nil {
		t.Fatal(err)
	}
	if why, err := skill.Stale(home, "sorts", 149*day); why != "" || err != nil {
		t.Errorf("29 days after it was used: got %q, %v, want it offered", why, err)
	}
	// Its own origin offers it again; another does not take its place.
	o.Used = 200 * day
	if _, err := skill.Promote(home, "sorts", "x", "main.py", files, o); err != nil {
		t.Errorf("promoted again: %v", err)
	}
	if why, err := skill.Stale(home, "sorts", 229*day); why != "" || err != nil {
		t.Errorf("after it was promoted again: got %q, %v, want it offered", why, err)
	}
	o.Quest = "another"
	if _, err := skill.Promote(home, "sorts", "x", "main.py", files, o); err == nil || !strings.Contains(err.Error(), "--name") {
		t.Errorf("of another quest: got %v, want that there is one already", err)
	}
	// Those that a person wrote are offered however old they are, and nothing is noted of them.
	if why, err := skill.Stale(home, "mine", 1000*day); why != "" || err != nil {
		t.Errorf("a skill that was not promoted: got %q, %v, want it offered", why, err)
	}
	if err := skill.Used(home, "../mine", 1000*day); err != nil {
		t.Errorf("a name that is none: %v", err)
	}
	for _, name := range []string{"..", "a/b", "Big", ""} {
		if _, err := skill.Promote(home, name, "x", "main.py", files, o); err == nil {
			t.Errorf("%q is taken as a name", name)
		}
	}
	if _, err := skill.Promote(home, "bad", "x", "main.py", []skill.Content{{Path: "../../main.py", Data: []byte("1")}}, o); err == nil {
		t.Error("a file outside the skill is written")
	}
	if left, _ := filepath.Glob(filepath.Join(home, "skills", ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
