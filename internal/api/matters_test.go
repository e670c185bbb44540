package api_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// TestTheFeedSaysWhatMatters: a lab's papers and votes are told by their titles, the newest first, and
// following the pages gives each of them once.
func TestTheFeedSaysWhatMatters(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": "lab", "society": "lab", "agents": 3, "model": "scholar", "computer": "none", "problem": "Count.", "limits": map[string]any{"turns": 60}, "tools": []string{"calculate", "write_file"}}}).want(t, 201)
	s.control("lab", map[string]any{"action": "start"}).want(t, 200)
	s.released("lab")
	type feed struct {
		All   int
		Items []struct {
			Seq            uint64
			What, Of, Line string
		}
	}
	var papers struct{ Papers []struct{ Ref, Title string } }
	s.do("GET", "/api/quests/lab/papers", nil).want(t, 200).into(t, &papers)
	titles := map[string]string{}
	for _, p := range papers.Papers {
		titles[p.Ref] = p.Title
	}
	var whole feed
	s.do("GET", "/api/quests/lab/feed?limit=200", nil).want(t, 200).into(t, &whole)
	kinds := map[string]int{}
	for i, m := range whole.Items {
		kinds[m.What]++
		if i > 0 && m.Seq >= whole.Items[i-1].Seq {
			t.Errorf("event %d stands behind %d: got that order, want the newest first", m.Seq, whole.Items[i-1].Seq)
		}
		if title := titles[m.Of]; m.Of != "" && (title == "" || !strings.Contains(m.Line, title[:min(len(title), 20)])) {
			t.Errorf("%s at %d: got the line %q, want one with the title %q", m.What, m.Seq, m.Line, title)
		}
	}
	if kinds["published"] == 0 || kinds["voted"] == 0 || whole.All != len(whole.Items) {
		t.Fatalf("the feed of a lab: got %v, %d of %d, want all its papers and votes", kinds, len(whole.Items), whole.All)
	}
	before, got := "", []uint64{}
	for {
		var page feed
		s.do("GET", "/api/quests/lab/feed?limit=2"+before, nil).want(t, 200).into(t, &page)
		if len(page.Items) == 0 {
			break
		}
		for _, m := range page.Items {
			got = append(got, m.Seq)
		}
		before = fmt.Sprintf("&before=%d", got[len(got)-1])
	}
	for i, m := range whole.Items {
		if i >= len(got) || got[i] != m.Seq {
			t.Fatalf("the pages of the feed: got %v, want what the whole has, from %d on", got, m.Seq)
		}
	}
}
