package relation_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/relation"

	"github.com/go-json-experiment/json"
)

func text(s string) *string { return &s }

func put(t *testing.T, g *relation.Graph, id string, parents ...string) {
	t.Helper()
	n, err := g.Changed(relation.Put{ID: id, Type: text("step"), Description: text("do " + id), Parents: &parents})
	if err != nil {
		t.Fatal(err)
	}
	g.Set(n)
}

// diamond is a plan with two steps that have one file in common.
func diamond(t *testing.T) *relation.Graph {
	g := &relation.Graph{}
	put(t, g, "plan")
	put(t, g, "b", "plan")
	put(t, g, "a", "plan")
	put(t, g, "file", "b", "a")
	put(t, g, "alone")
	return g
}

func TestWhatDoesNotFitChangesNothing(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		put  relation.Put
		want string
	}{
		"a duplicate id":     {relation.Put{ID: "a", Type: text("step")}, "already"},
		"a missing parent":   {relation.Put{ID: "x", Type: text("step"), Parents: &[]string{"gone"}}, "no node gone"},
		"itself":             {relation.Put{ID: "a", Update: true, Parents: &[]string{"a"}}, "itself"},
		"itself, new":        {relation.Put{ID: "x", Type: text("step"), Parents: &[]string{"x"}}, "itself"},
		"a cycle":            {relation.Put{ID: "plan", Update: true, Parents: &[]string{"a"}}, "already"},
		"a long cycle":       {relation.Put{ID: "plan", Update: true, Parents: &[]string{"file"}}, "already"},
		"nothing to change":  {relation.Put{ID: "x", Update: true}, "no node x"},
		"no type":            {relation.Put{ID: "x"}, "type"},
		"another status":     {relation.Put{ID: "x", Type: text("step"), Status: text("ready")}, "status"},
		"an odd id":          {relation.Put{ID: "x\n[done]", Type: text("step")}, "id"},
		"an odd type":        {relation.Put{ID: "x", Type: text("a b")}, "type"},
		"a long description": {relation.Put{ID: "x", Type: text("step"), Description: text(strings.Repeat("x", 301))}, "description"},
		"too many parents":   {relation.Put{ID: "x", Type: text("step"), Parents: new(many(17))}, "16 parents"},
	} {
		g := diamond(t)
		before, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Changed(tc.put); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", what, err, tc.want)
		}
		if after, err := json.Marshal(g); err != nil || string(after) != string(before) {
			t.Errorf("%s has changed the graph", what)
		}
	}
}

func many(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("p", i))
	}
	return out
}

func TestAWalkGivesEachNodeOnce(t *testing.T) {
	t.Parallel()
	g := diamond(t)
	for _, tc := range []struct {
		id   string
		d    relation.Direction
		want string
	}{
		{"", relation.Down, "[plan alone b a file]"}, {"plan", relation.Down, "[plan b a file]"}, {"file", relation.Up, "[file a b plan]"}, {"alone", relation.Up, "[alone]"}, {"gone", relation.Down, "[]"},
	} {
		if got := fmt.Sprint(g.Walk(tc.id, tc.d)); got != tc.want {
			t.Errorf("from %q %s: %s, want %s", tc.id, tc.d, got, tc.want)
		}
	}
}

func TestRemovingDetachesAndCascades(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{"plan": {"[b a file alone]", "[alone]"}, "b": {"[plan a file alone]", "[plan a file alone]"}, "file": {"[plan b a alone]", "[plan b a alone]"}} {
		for i, cascade := range []bool{false, true} {
			g := diamond(t)
			gone, err := g.Leaving(id, cascade)
			if err != nil {
				t.Fatal(err)
			}
			g.Remove(gone)
			var left []string
			for _, n := range g.Nodes {
				left = append(left, n.ID)
				if slices.Contains(n.Parents, id) {
					t.Errorf("%s is still part of %s", n.ID, id)
				}
			}
			if fmt.Sprint(left) != want[i] {
				t.Errorf("without %s, cascade %v: %v, want %s", id, cascade, left, want[i])
			}
		}
	}
	if _, err := diamond(t).Leaving("gone", true); err == nil {
		t.Error("a node that is not there can be taken away")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	g := diamond(t)
	n, err := g.Changed(relation.Put{ID: "a", Update: true, Status: text(relation.Done), Description: text("do\n\u202e a \x1b[31m")})
	if err != nil {
		t.Fatal(err)
	}
	g.Set(n)
	all := g.Walk("", relation.Down)
	lines, left := g.Lines(all, 1000)
	want := `step plan: do plan [pending]
  step b: do b [pending] (plan)
  step a: do a [31m [done] (plan)
    step file: do file [pending] (a, b)
step alone: do alone [pending]`
	if got := strings.Join(lines, "\n"); got != want || left != nil {
		t.Errorf("it says\n%s\nwant\n%s\nand leaves out %v", got, want, left)
	}
	for room := range 200 {
		lines, left := g.Lines(all, room)
		if len(lines)+len(left) != len(all) || len(strings.Join(lines, "\n")) > room {
			t.Errorf("in %d bytes there are %d lines, and %v is left out", room, len(lines), left)
		}
	}
	if _, left := g.Lines(all, 65); fmt.Sprint(left) != "[a file alone]" && fmt.Sprint(left) != "[a file]" {
		t.Errorf("what has no room is %v, want a with what is below it", left)
	}
}

// model is a graph as one would write it without a thought: sets of parents.
type model map[string]map[string]bool

func (m model) reaches(from, to string) bool {
	if from == to {
		return true
	}
	for p := range m[from] {
		if m.reaches(p, to) {
			return true
		}
	}
	return false
}

// TestRandomChanges does the same to a graph and to the model.
func TestRandomChanges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g, m := &relation.Graph{}, model{}
		name := func() string { return fmt.Sprint("n", rng.IntN(9)) }
		for step := range 60 {
			if rng.IntN(4) == 0 {
				id, cascade := name(), rng.IntN(2) == 0
				gone, err := g.Leaving(id, cascade)
				if (err == nil) != (m[id] != nil) {
					t.Fatalf("seed %d, step %d: %s leaves: %v", seed, step, id, err)
				}
				if err == nil {
					g.Remove(gone)
					m.remove(id, cascade)
				}
			} else {
				p := relation.Put{ID: name(), Type: text("x"), Update: rng.IntN(2) == 0, Parents: &[]string{}}
				ok := (m[p.ID] != nil) == p.Update
				for range rng.IntN(4) {
					parent := name()
					*p.Parents = append(*p.Parents, parent)
					ok = ok && m[parent] != nil && parent != p.ID && !m.reaches(parent, p.ID)
				}
				n, err := g.Changed(p)
				if (err == nil) != ok {
					t.Fatalf("seed %d, step %d: %+v of %v: %v, want %v", seed, step, p, *p.Parents, err, ok)
				}
				if ok {
					g.Set(n)
					m[p.ID] = map[string]bool{}
					for _, parent := range *p.Parents {
						m[p.ID][parent] = true
					}
				}
			}
			m.check(t, g, seed, step)
		}
	}
}

func (m model) remove(id string, cascade bool) {
	gone := map[string]bool{id: true}
	for again := cascade; again; {
		again = false
		for n, parents := range m {
			all := len(parents) > 0
			for p := range parents {
				all = all && gone[p]
			}
			if all && !gone[n] {
				gone[n], again = true, true
			}
		}
	}
	for n := range gone {
		delete(m, n)
	}
	for _, parents := range m {
		maps.DeleteFunc(parents, func(p string, _ bool) bool { return gone[p] })
	}
}

func (m model) check(t *testing.T, g *relation.Graph, seed uint64, step int) {
	t.Helper()
	if len(g.Nodes) != len(m) {
		t.Fatalf("seed %d, step %d: there are %d nodes, want %d", seed, step, len(g.Nodes), len(m))
	}
	for _, n := range g.Nodes {
		if m[n.ID] == nil || !slices.Equal(n.Parents, slices.Sorted(maps.Keys(m[n.ID]))) {
			t.Fatalf("seed %d, step %d: %s has the parents %v, want %v", seed, step, n.ID, n.Parents, m[n.ID])
		}
		for _, d := range []relation.Direction{relation.Up, relation.Down} {
			walk := g.Walk(n.ID, d)
			want := 0
			for other := range m {
				if d == relation.Up && m.reaches(n.ID, other) || d == relation.Down && m.reaches(other, n.ID) {
					want++
				}
			}
			once := slices.Compact(slices.Sorted(slices.Values(walk)))
			if len(walk) != want || len(once) != want || walk[0] != n.ID {
				t.Fatalf("seed %d, step %d: from %s %s comes %v, want %d", seed, step, n.ID, d, walk, want)
			}
		}
	}
	if all := g.Walk("", relation.Down); len(all) != len(m) {
		t.Fatalf("seed %d, step %d: from the top comes %v", seed, step, all)
	}
}

// FuzzChanges reads any bytes as nodes: what is taken keeps the graph sound, and one line long.
func FuzzChanges(f *testing.F) {
	f.Add("a", "step", "what it is", "done", "")
	f.Add("b", "file", "x\ny\x00\u202e\u2028", "pending", "a,a")
	f.Add("a", "", "", "", "b")
	f.Fuzz(func(t *testing.T, id, kind, about, status, parents string) {
		g := diamond(t)
		list := strings.FieldsFunc(parents, func(r rune) bool { return r == ',' })
		for _, update := range []bool{false, true} {
			n, err := g.Changed(relation.Put{ID: id, Type: &kind, Description: &about, Status: &status, Parents: &list, Update: update})
			if err != nil {
				continue
			}
			g.Set(n)
			if l := g.Node(id).Line(); strings.ContainsAny(l, "\n\r\x00\u202e\u2028") {
				t.Errorf("%q is no line", l)
			}
		}
		if got := g.Walk("", relation.Down); len(got) != len(g.Nodes) {
			t.Errorf("of %d nodes %d are reached", len(g.Nodes), len(got))
		}
	})
}
