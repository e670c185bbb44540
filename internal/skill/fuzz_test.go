package skill_test

import (
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lyceum/internal/skill"
)

// soon fails a test that took longer than any text may.
func soon(t *testing.T, began time.Time, size int) {
	t.Helper()
	if took := time.Since(began); took > 20*time.Second { // a hundred times what the largest take on an idle machine
		t.Errorf("%d bytes took %v", size, took)
	}
}

// FuzzSkill: whatever a SKILL.md is, there is a skill or a reason.
func FuzzSkill(f *testing.F) {
	f.Add(page("Do it. [more](more.md) [out](../x.md) ![p](p.png)\n"))
	f.Add("---\nname: mine\ndescription: x\nallowed-tools: Bash(git:*), Read\n---\n`[a](b.md)`\n")
	f.Add("---\nname: [\n---\n")
	f.Add("---\n---\n")
	f.Add("\xff\xfe")
	f.Add(page(strings.Repeat("> ", 200) + "x"))
	f.Add(page(strings.Repeat("[", 5000)))
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		s, err := skill.Read(fstest.MapFS{"SKILL.md": {Data: []byte(text)}, "more.md": {Data: []byte("more")}}, "mine", "mine", skill.OfQuest)
		soon(t, began, len(text))
		switch {
		case err != nil && err.Error() == "":
			t.Error("it is refused without a reason")
		case err == nil && (s.Name != "mine" || s.Description == "" || strings.TrimSpace(s.Body) == ""):
			t.Errorf("a skill without %+v", s)
		case err == nil:
			for _, r := range s.References {
				if r.Path != "more.md" {
					t.Errorf("it refers to %q, which is not there", r.Path)
				}
			}
			if body, err := skill.Instructions([]byte(text)); err != nil || body != s.Body {
				t.Errorf("its instructions are %q, %v; want %q", body, err, s.Body)
			}
		}
	})
}

// FuzzRules: whatever an AGENTS.md is, there are rules or reasons, and none from outside.
func FuzzRules(f *testing.F) {
	f.Add("Be brief. [x](docs/x.md)\n", "Rules.\n")
	f.Add("[x](/etc/passwd.md) [y](../../y.md) [z](docs/../docs/x.md#part \"title\")\n", "\x00")
	f.Add("[x]: docs/x.md\n[x] and [y][x]\n", "\xff")
	f.Add(strings.Repeat("- ", 300), strings.Repeat("[a](", 2000))
	f.Fuzz(func(t *testing.T, root, below string) {
		began := time.Now()
		all, faults := skill.Rules(fstest.MapFS{"AGENTS.md": {Data: []byte(root)}, "docs/x.md": {Data: []byte("x")}, "a/AGENTS.md": {Data: []byte(below)}, ".gitignore": {Data: []byte(below)}}, "", nil)
		soon(t, began, len(root)+len(below))
		for _, err := range faults {
			if err.Error() == "" {
				t.Error("it is refused without a reason")
			}
		}
		for _, r := range all {
			if r.Path != "AGENTS.md" && r.Path != "docs/x.md" && r.Path != "a/AGENTS.md" || strings.TrimSpace(r.Text) == "" {
				t.Errorf("there is a rule %q: %q", r.Path, r.Text)
			}
		}
	})
}

// FuzzLinks: links have a path, and stand at a line of the text.
func FuzzLinks(f *testing.F) {
	f.Add("[a](b.md#c \"d\") ![e](f.md) `[g](h.md)`\n\n[i]\n\n[i]: j.md\n<k.md> [l](https://m.md) [n](#o)\n")
	f.Add(strings.Repeat("[a](b) ", 2000))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			return // what is read is shorter
		}
		began := time.Now()
		links, _ := skill.Links(text)
		soon(t, began, len(text))
		lines := strings.Count(text, "\n") + 1
		for _, l := range links {
			if l.Path == "" || strings.Contains(l.Path, "://") && path.IsAbs(l.Path) || l.Line < 1 || l.Line > lines {
				t.Errorf("a link %+v in %d lines", l, lines)
			}
		}
	})
}
