package trial_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

const counter = `{
 "objects":[{"name":"page","kind":"nested"}],
 "channels":[{"name":"count","kind":"text","at":{"role":"status"}}],
 "levers":[{"name":"add","kind":"affordance","when":"instant","at":{"role":"button","name":"Add"}}],
 "loops":[{"name":"adding","lever":"add","channel":"count","response":"Count"}],
 "blocks":[{"name":"all","kind":"pool"}]}`

// TestStructureIsInClosedWords is 26: what is refused is refused by name.
func TestStructureIsInClosedWords(t *testing.T) {
	t.Parallel()
	if _, err := trial.ReadStructure([]byte(counter)); err != nil {
		t.Fatalf("a structure in closed words: %v", err)
	}
	for name, c := range map[string]struct {
		old, new string
		says     []string
	}{
		"unknown object":      {`"nested"`, `"tree"`, []string{"page", "tree", "nested, relational, list, steps"}},
		"unknown channel":     {`"kind":"text"`, `"kind":"smell"`, []string{"count", "smell", "audio"}},
		"unknown lever":       {`"affordance"`, `"button"`, []string{"add", "button", "mechanic"}},
		"unknown time":        {`"instant"`, `"soon"`, []string{"add", "soon", "delayed"}},
		"unknown block":       {`"pool"`, `"pond"`, []string{"all", "pond", "grid"}},
		"loop w/o response":   {`"response":"Count"`, `"response":""`, []string{"loop", "adding", "no response"}},
		"loop of no lever":    {`"lever":"add"`, `"lever":"take"`, []string{"adding", "no lever", "take"}},
		"loop in no channel":  {`"channel":"count"`, `"channel":"sum"`, []string{"adding", "no channel", "sum"}},
		"lever without loop":  {`"levers":[`, `"levers":[{"name":"odd","kind":"game","when":"delayed"},`, []string{"lever", "odd", "no loop"}},
		"a name twice":        {`"blocks":[`, `"blocks":[{"name":"all","kind":"grid"},`, []string{"all", "twice"}},
		"no name":             {`"name":"page"`, `"name":" "`, []string{"object", "no name"}},
		"unknown member":      {`"blocks"`, `"walls"`, []string{"structure", "walls"}},
		"a role that is none": {`"role":"button"`, `"role":"a b"`, []string{"add", "a b"}},
	} {
		raw := strings.Replace(counter, c.old, c.new, 1)
		if raw == counter {
			t.Fatalf("%s: nothing was changed", name)
		}
		_, err := trial.ReadStructure([]byte(raw))
		if err == nil {
			t.Errorf("%s: taken, want it refused", name)
			continue
		}
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", name, err, word)
			}
		}
	}
}

func TestStructureFitsIntoItsEvent(t *testing.T) {
	t.Parallel()
	s := event.WorldStructure{}
	for i := range trial.MaxParts + 1 {
		s.Objects = append(s.Objects, event.WorldObject{Name: strings.Repeat("x", i+1), Kind: "list"})
	}
	if err := trial.CheckStructure(s); err == nil {
		t.Errorf("%d parts are taken", trial.MaxParts+1)
	}
	s.Objects = s.Objects[:trial.MaxParts]
	for i := range s.Objects {
		s.Objects[i].At.Name = strings.Repeat("y", 490)
	}
	if err := trial.CheckStructure(s); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a structure of 20 KiB: %v, want it refused for its bytes", err)
	}
	if err := trial.CheckStructure(event.WorldStructure{}); err == nil {
		t.Error("a structure of nothing is taken")
	}
}

// TestDeclaredLoopsAreForetold is the last of 28.
func TestDeclaredLoopsAreForetold(t *testing.T) {
	t.Parallel()
	s, err := trial.ReadStructure([]byte(counter))
	if err != nil {
		t.Fatal(err)
	}
	add := event.WorldStep{Do: "click", At: event.WorldPlace{Role: "button", Name: " Add "}}
	other := event.WorldStep{Do: "click", At: event.WorldPlace{Role: "button", Name: "Take"}}
	got := trial.Foretold(trial.Web, s, []event.WorldStep{other, add})
	want := event.WorldExpectation{Condition: event.WorldCondition{Kind: "text", At: event.WorldPlace{Role: "status"}, How: "contains", Text: "Count"}, Loop: "adding", Probability: 1000}
	if len(got) != 1 || got[0] != want {
		t.Errorf("a click on the lever foretells %+v, want %+v", got, want)
	}
	if got := trial.Foretold(trial.Web, s, []event.WorldStep{other}); got != nil {
		t.Errorf("a click beside the lever foretells %+v, want nothing", got)
	}
	s.Levers[0].When = "delayed"
	if got := trial.Foretold(trial.Web, s, []event.WorldStep{add}); got != nil {
		t.Errorf("a delayed lever foretells %+v at once, want nothing", got)
	}
	if got := trial.Foretold(trial.Web, s, []event.WorldStep{add, {Do: "wait", Milliseconds: 5}}); len(got) != 1 {
		t.Errorf("a delayed lever and a wait foretell %d conditions, want 1", len(got))
	}
	s.Levers[0].When, s.Levers[0].At = "instant", event.WorldPlace{Name: "--sum"}
	if got := trial.Foretold(trial.Program, s, []event.WorldStep{{Do: "run", Args: []string{"--sum"}}}); len(got) != 1 || got[0].Condition.Kind != "output" {
		t.Errorf("a program run with its lever foretells %+v, want its output", got)
	}
	for i := range 30 {
		s.Loops = append(s.Loops, event.WorldLoop{Name: strings.Repeat("l", i+1), Lever: "add", Channel: "count", Response: strings.Repeat("r", 400)})
	}
	if w := trial.Weight(trial.Foretold(trial.Program, s, []event.WorldStep{{Do: "run", Args: []string{"--sum"}}})); w > trial.MaxForetold+1000 {
		t.Errorf("loops foretell %d bytes, more than an event has room for", w)
	}
}

// FuzzStructure: any bytes are a structure or a reason, and what is taken is the same when it is
// written and read again.
func FuzzStructure(f *testing.F) {
	f.Add([]byte(counter))
	f.Add([]byte(`{"levers":[{"name":"a","kind":"game","when":"instant"}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := trial.ReadStructure(raw)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("a reason of %d bytes", len(err.Error()))
			}
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trial.ReadStructure(again); err != nil {
			t.Errorf("what was taken is refused when it is written: %v", err)
		}
		for _, l := range s.Levers {
			trial.Foretold(trial.Web, s, []event.WorldStep{{Do: "click", At: l.At}, {Do: "wait", Milliseconds: 1}})
		}
	})
}
