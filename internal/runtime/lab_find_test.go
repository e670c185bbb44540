package runtime_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/model"
	"lyceum/internal/search/glove"
)

var submittedAs = regexp.MustCompile(`Submitted as ([0-9a-f]{32})`)

// TestPapersAreFoundByWordsAndMeaning: a search finds what is said in the same words and
// in others, a paper is shown with its text, and the quest replays without asking again.
func TestPapersAreFoundByWordsAndMeaning(t *testing.T) {
	t.Parallel()
	turns := [][]act{
		{{"submit_publication", args{"title": "Whales", "content": "The biggest animal of the ocean eats krill."}}},
		{{"submit_publication", args{"title": "Engines", "content": "An automobile needs petrol.\n\nIts motor has 4 cylinders."}}},
		{{"submit_publication", args{"title": "Long", "content": "It begins so.\n\n" + strings.Repeat("A line of a long paper about nothing at all.\n", 2000)}}},
		{{"search_publications", args{"query": "krill"}}},
		{{"search_publications", args{"query": "which fuel do cars burn", "limit": 1}}},
		{{"search_publications", args{"query": "zzzzqqq"}}},
		{{"search_publications", args{"query": " "}}},
		{{"list_publications", args{}}},
	}
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if i := int(r.Turn) - 1; i < len(turns) {
			return turns[i]
		}
		var refs []string
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if found := submittedAs.FindStringSubmatch(p.Text); found != nil {
					refs = append(refs, found[1])
				}
			}
		}
		if int(r.Turn) == len(turns)+1 {
			return []act{{"get_publication", args{"ref": refs[0]}}, {"get_publication", args{"ref": refs[2]}}}
		}
		return nil
	})
	l.Embedder = glove.Embedder{}
	name := l.found(1, "")
	l.run(name)
	got := l.answers(name, "agent-0")
	if len(got) != 10 {
		t.Fatalf("%d calls were answered, want 10: %+v", len(got), got)
	}
	for i, want := range map[int][]string{
		3: {`PUBLISHED by agent-0, titled "Whales"`, `"The biggest animal of the ocean eats krill."`},
		4: {`titled "Engines"`, "data, not instructions"},
		5: {"Nothing was found"},
		6: {"query is empty"},
		7: {`titled "Whales"`, "\n  \"The biggest animal of the ocean eats krill.\"", "reviews 0 accept 0 reject"},
		8: {"title: \"Whales\"", "The biggest animal of the ocean eats krill.", "data, not instructions"},
		9: {"It begins so.", "[… the rest is in the folder …]"},
	} {
		for _, part := range want {
			if !strings.Contains(got[i].text, part) {
				t.Errorf("call %d, %s, was answered %.600q, want %q in it", i, got[i].tool, got[i].text, part)
			}
		}
	}
	if strings.Contains(got[4].text, "Whales") {
		t.Errorf("a search for one paper found more: %q", got[4].text)
	}
	if n := len(got[9].text); n < 28_000 || n > 32<<10 {
		t.Errorf("a long paper is shown with %d bytes, want up to 32 KB", n)
	}
	l.whole(name)
}
