package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// TestFramesAreLookedInto: what is in a frame of the page is seen where the frame is, and can be
// clicked and typed into, as deep as frames are in each other.
func TestFramesAreLookedInto(t *testing.T) {
	t.Parallel()
	r := enter(t)
	v := Visit{
		Entry: "index.html", Limit: patience, Steps: []event.WorldStep{step("click", "button", "Inner", ""), step("type", "textbox", "Deep", "down")},
		Files: files(map[string]string{
			"index.html": `<!doctype html><html lang=en><title>Outer</title><h1>First</h1><iframe title="The frame" src="in.html" width=600 height=400></iframe><p role=status>Last</p>`,
			"in.html": `<!doctype html><html lang=en><title>Inner page</title><div style="height:50px"></div><button onclick="o.textContent='clicked ' + event.isTrusted">Inner</button><output id=o>none</output>
				<iframe title="Deeper" srcdoc="<label>Deep <input></label><p>At the bottom</p>"></iframe>`,
		}),
	}
	s := r.look(v)
	if s.End != Done {
		t.Fatalf("the visit ended with %s at %d: %s\n%s", s.End, s.Step, s.Why, lines(s.After))
	}
	at := func(role, name string) int {
		i := slices.IndexFunc(s.After.Nodes, func(n Node) bool { return n.At(event.WorldPlace{Role: role, Name: name}) })
		if i < 0 {
			t.Fatalf("there is no %s named %q:\n%s", role, name, lines(s.After))
		}
		return i
	}
	heading, frame, button, deeper, field, last := at("heading", "First"), at("Iframe", "The frame"), at("button", "Inner"), at("Iframe", "Deeper"), at("textbox", "Deep"), at("StaticText", "Last")
	if !slices.IsSorted([]int{heading, frame, button, deeper, field, last}) {
		t.Errorf("the frame is not where it is on the page:\n%s", lines(s.After))
	}
	if n := s.After.Nodes; n[button].Depth <= n[frame].Depth || n[field].Depth <= n[deeper].Depth || n[field].Value != "down" {
		t.Errorf("what is in a frame is not inside it, or was not typed into:\n%s", lines(s.After))
	}
	for _, want := range []string{"First", "clicked true", "At the bottom"} {
		if !strings.Contains(s.After.Text, want) {
			t.Errorf("the text %q has no %q", s.After.Text, want)
		}
	}
	if len(s.After.Cut) > 0 {
		t.Errorf("something is said to be left out: %q", s.After.Cut)
	}
	if s.After.Title != "Outer" {
		t.Errorf("the title is %q, want the page's own", s.After.Title)
	}
}

// TestManyFrames: only so many are looked into, and it says so; a frame of somebody else's address
// holds nothing.
func TestManyFrames(t *testing.T) {
	t.Parallel()
	r := enter(t)
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang=en><title>Many</title><iframe title=away src="https://other.test/"></iframe>`)
	for i := range maxFrames + 5 {
		fmt.Fprintf(&page, `<iframe title="f%d" srcdoc="<p>text %d.</p>"></iframe>`, i, i)
	}
	s := r.visit(page.String())
	if s.End != Done || !slices.Contains(s.After.Cut, "frames") {
		t.Errorf("got %s (%s), cut %q, want it done and frames cut", s.End, s.Why, s.After.Cut)
	}
	if !strings.Contains(s.After.Text, "text 3.") || strings.Contains(s.After.Text, fmt.Sprintf("text %d.", maxFrames+4)) {
		t.Errorf("got the text %q, want that of the first %d frames", s.After.Text, maxFrames)
	}
}
