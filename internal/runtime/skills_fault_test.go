package runtime_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// A skill with a fault costs that skill alone, in every society that has skills, however it was
// named: it is told with its file and line, the ledger has it as left out, and so has who asks
// beforehand. A name that is nowhere is an error.
func TestAFaultCostsThatSkillAlone(t *testing.T) {
	for society, extra := range map[string]string{
		"solo":   "discover: true\n",
		"lab":    "society: lab\nagents: 2\ndiscover: true\n",
		"stages": "society: stages\n",
	} {
		t.Run(society, func(t *testing.T) {
			l := newStages(t, nil)
			p := plan(t, "q", extra+"skills: [own/good, own/bad]\n", talks)
			lay(t, p.Dir, map[string]string{
				"own/good/SKILL.md": skillPage("good", "How it is done", "", "Do it.\n"),
				"own/bad/SKILL.md":  "---\nname: bad\ndescription: Something\ncolour: red\n---\nDo that.\n",
			})
			place := filepath.Join("own", "bad", "SKILL.md") + ":4"
			before, err := l.Foresee(t.Context(), p, "")
			must(t, err)
			if got := before.LeftOut; len(got) != 1 || !strings.Contains(got[0].Why, place) {
				t.Errorf("beforehand %+v is left out, want the skill at %s", got, place)
			}
			said := toldAtCreation(&p)
			name := l.create(p)
			if told := strings.Join(*said, "\n"); !strings.Contains(told, place) {
				t.Errorf("it was told %q, want %s", told, place)
			}
			b := l.events(name)[0].Body.(*event.QuestCreated)
			left, pinned := []event.LeftOut{}, false
			if b.Skills != nil {
				left = b.Skills.LeftOut
				for _, k := range b.Skills.List {
					pinned = pinned || k.Name == "good"
				}
			} else if b.Knowledge != nil {
				left, pinned = b.Knowledge.LeftOut, b.Knowledge.Skills != nil && b.Knowledge.Skills.Count == 1
			}
			if len(left) != 1 || !strings.Contains(left[0].Why, place) || !pinned {
				t.Errorf("the ledger has %+v left out, the other pinned: %v", left, pinned)
			}
			after, err := l.Shown(t.Context(), name)
			must(t, err)
			if len(after.LeftOut) != 1 || len(after.Skills) != len(before.Skills) || !strings.Contains(after.LeftOut[0].Why, place) {
				t.Errorf("afterwards %+v is left out of %d skills", after.LeftOut, len(after.Skills))
			}
			p = plan(t, "r", extra+"skills: [own/nowhere]\n", talks)
			if _, err := l.Create(t.Context(), p); err == nil || !strings.Contains(err.Error(), "nowhere") {
				t.Errorf("a skill that is nowhere: got %v", err)
			}
		})
	}
}

// However many faults there are beside however many skills, the first event has room.
func TestManyFaultsFitTheFirstEvent(t *testing.T) {
	l := newStages(t, nil)
	p := plan(t, "q", "society: stages\nskills: [own]\n", talks)
	files := map[string]string{}
	for i := range 30 {
		long := fmt.Sprintf("%s-%02d", strings.Repeat("x", 60), i)
		files["own/"+long+"/SKILL.md"] = skillPage(long, strings.Repeat("<>&\"", 250), "", "Do it.\n")
		files["own/bad-"+strings.Repeat("y", 50)+fmt.Sprint(i)+"/SKILL.md"] = "---\nname: \"" + strings.Repeat("<", 300) + "\"\n---\n"
	}
	lay(t, p.Dir, files)
	name := l.create(p)
	if b := l.events(name)[0].Body.(*event.QuestCreated); len(b.Skills.LeftOut) == 0 || len(b.Skills.List) < 30 {
		t.Errorf("it has %d skills, %d left out", len(b.Skills.List), len(b.Skills.LeftOut))
	}
}
