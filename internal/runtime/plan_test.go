package runtime_test

import (
	"errors"
	"strings"
	"testing"

	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	all "lyceum/internal/society"
)

func TestADraftWithoutAFileIsWrittenDownAsItWasMeant(t *testing.T) {
	t.Parallel()
	spec := &quest.Spec{Problem: "q", Agents: quest.Agents{{Count: 2, Model: "own"}}}
	d := &runtime.Draft{Spec: spec, Name: "x", Model: "configured", Changes: runtime.Changes{Society: new("lab"), Agents: new(int64(3)), Profile: new("code")}}
	p, err := d.Plan(all.All())
	must(t, err)
	if p.Spec.Model != "configured" {
		t.Errorf("the model is %q, want the configured one", p.Spec.Model)
	}
	if spec.Name != "" || spec.Society != "" || spec.Agents[0].Count != 2 || spec.Agents[0].Model != "own" {
		t.Errorf("the draft's own spec was changed to %+v", spec)
	}
	again, err := all.All().ParseSpec("quest.yaml", p.Source)
	must(t, err)
	if again.Name != "x" || again.Society != "lab" || again.Agents.Count() != 3 || again.Profile != "code" || again.Model != "" {
		t.Errorf("the source reads as %+v, want the changes, and no model that nobody named", again)
	}
}

// TestAContractNetWorksByRulesUnlessAModelIsNamed: the configured one is not meant for it.
func TestAContractNetWorksByRulesUnlessAModelIsNamed(t *testing.T) {
	t.Parallel()
	for named, want := range map[string]string{"": "", "named": "named"} {
		p, err := (&runtime.Draft{Spec: &quest.Spec{Problem: "q"}, Name: "x", Model: "configured", Changes: runtime.Changes{Model: named, Keys: quest.Keys{"corpus": "texts"}}}).Plan(all.All())
		must(t, err)
		if p.Spec.Society != "contract" || p.Spec.Model != want {
			t.Errorf("with the model %q named: society %s with the model %q, want contract with %q", named, p.Spec.Society, p.Spec.Model, want)
		}
	}
}

func TestTheSourceOfADraftStaysToTheByte(t *testing.T) {
	t.Parallel()
	source := []byte("# mine\nproblem: q\nmodel: a\n")
	p, err := (&runtime.Draft{File: "quest.yaml", Source: source, Name: "x", Changes: runtime.Changes{Model: "b"}}).Plan(all.All())
	must(t, err)
	if string(p.Source) != "# mine\nproblem: q\nmodel: a\n" || p.Spec.Model != "b" {
		t.Errorf("the source is %q and the model %s, want it as it was written and b", p.Source, p.Spec.Model)
	}
}

func TestADraftNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("q", runtime.MaxSource+1)
	for name, c := range map[string]struct {
		draft        runtime.Draft
		field, words string
	}{
		"NoName":           {runtime.Draft{File: "f", Source: []byte("problem: q\n")}, "name", "give the quest a name"},
		"AnEmptyFile":      {runtime.Draft{File: "f", Source: []byte{}, Name: "x"}, "problem", "f:1:1: no question"},
		"ALongQuestion":    {runtime.Draft{Spec: &quest.Spec{Problem: long}, Name: "x"}, "problem", "the question has more than 1048576 bytes"},
		"AnImageForNobody": {runtime.Draft{Spec: &quest.Spec{Problem: "q"}, Name: "x", Changes: runtime.Changes{Computer: "bubblewrap", Dockerfile: &runtime.Dockerfile{Name: "D"}}}, "computer", "an image is for docker"},
		"NoAgentForSolo":   {runtime.Draft{Spec: &quest.Spec{Problem: "q", Society: "solo"}, Name: "x", Changes: runtime.Changes{Agents: new(int64(0))}}, "agents", "agents must be a whole number from 1 to 1024"},
	} {
		_, err := c.draft.Plan(all.All())
		if err == nil || quest.FieldOf(err) != c.field || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v about %q, want %q about %q", name, err, quest.FieldOf(err), c.words, c.field)
		}
		if _, ok := errors.AsType[*runtime.PlanError](err); !ok && name != "AnEmptyFile" {
			t.Errorf("%s: %T is not a person's to mend", name, err)
		}
	}
}
