package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// Two tools of one source cannot share a shown name either: the first one stays.
func TestAClashWithinASourceIsRefused(t *testing.T) {
	t.Parallel()
	c := catalogue(t, Entry{Source: Local, Name: "a", Shown: "x", Description: "first", Trust: event.TrustOwn})
	err := c.Add(Entry{Source: Local, Name: "b", Shown: "x", Description: "second", Trust: event.TrustOwn})
	if e, _ := c.Lookup("x"); err == nil || e.Description != "first" || c.Len() != 1 {
		t.Errorf("a second tool by one name: got %v, %d entries and %q, want it refused and the first alone", err, c.Len(), e.Description)
	}
}

// Subjects that fit equally well come by their names, in whatever order they are given.
func TestSubjectsThatFitEquallyWellComeByName(t *testing.T) {
	t.Parallel()
	subjects := []Subject{{"b.md", "Brewing coffee", ""}, {"c.md", "Brewing coffee", ""}, {"a.md", "Brewing coffee", ""}}
	var got []string
	for _, f := range Fits("brew some coffee", subjects, 3) {
		got = append(got, f.Name)
	}
	if !slices.Equal(got, []string{"a.md", "b.md", "c.md"}) {
		t.Errorf("they come as %v", got)
	}
}

// What is no tool is found by whoever looks for that, and by nobody who looks for tools; and a kind that is not wanted is
// left out before the best are taken.
func TestFiltersSayWhatIsLookedFor(t *testing.T) {
	t.Parallel()
	prompt, script := tool("files", "copy_prompt", "Copies files."), Entry{Source: Skill + ":files", Name: "copy.sh", Shown: "files__copy", Description: "Copies files.", Trust: event.TrustTrusted}
	prompt.What = "prompt"
	x := index(t, catalogue(t, tool("files", "copy_file", "Copies files."), prompt, script), Options{})
	for name, c := range map[string]struct {
		f    Filter
		want []string
	}{
		"tools":         {Filter{}, []string{"files__copy", "files__copy_file"}},
		"prompts":       {Filter{What: "prompt"}, []string{"files__copy_prompt"}},
		"of no skill":   {Filter{Except: Skill}, []string{"files__copy_file"}},
		"of skills":     {Filter{Kind: Skill}, []string{"files__copy"}},
		"of no server":  {Filter{Except: MCP}, []string{"files__copy"}},
		"prompts local": {Filter{What: "prompt", Kind: Local}, nil},
	} {
		got := shown(find(t, x, "copy files", c.f, 5))
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// However much a source says of a tool, and however deep its schema is, so much of it is read.
func TestWhatIsReadOfAToolIsBounded(t *testing.T) {
	t.Parallel()
	wide := new(strings.Builder)
	for i := range 3 * maxParameters {
		fmt.Fprintf(wide, `,"p%03d":{"type":"string"}`, i)
	}
	if got := parameters(`{"properties":{` + wide.String()[1:] + `}}`); len(got) != maxParameters || got[0].name != "p000" {
		t.Errorf("of %d parameters %d are read, want the first %d", 3*maxParameters, len(got), maxParameters)
	}
	deep := `{"properties":{"end":{}}}`
	for i := range 3 * maxNested {
		deep = fmt.Sprintf(`{"properties":{"n%d":%s}}`, i, deep)
	}
	if got := parameters(deep); len(got) != maxNested || slices.ContainsFunc(got, func(p parameter) bool { return p.name == "end" }) {
		t.Errorf("of a deep schema %v are read, want %d levels", got, maxNested)
	}
	long := tool("files", "copy", "x")
	long.Says = strings.Repeat("word ", maxSearched)
	if n := len(long.said()); n > maxSearched {
		t.Errorf("%d bytes of what is said are searched, want at most %d", n, maxSearched)
	}
}

// What one tool says of a thing is found for those of the same source for the same thing, and for no other source's.
func TestSiblingsShareWhatIsSaidOfTheirThing(t *testing.T) {
	t.Parallel()
	docs := catalogue(t, tool("shop", "create_invoice", "Bills a customer."), tool("shop", "delete_invoice", "Removes it."), tool("other", "delete_invoice", "Removes it."), tool("shop", "delete_order", "Removes it.")).Documents()
	for _, d := range docs {
		has, want := strings.Contains(d.Contexts[0], "customer"), d.ID == "shop__create_invoice" || d.ID == "shop__delete_invoice"
		if has != want {
			t.Errorf("%s is found by what is said of invoices of the shop: %v, want %v", d.ID, has, want)
		}
	}
}
