package trial

import (
	"context"
	"slices"
	"testing"

	"lyceum/internal/knowledge"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
)

// choose is a chooser by rules: the tool whose name and description share most words with what is
// wanted, the first of those.
func choose(intent string, shown []knowledge.Entry) string {
	best, most := "", -1
	for _, e := range shown {
		words := search.Tokens(e.Name + " " + e.Description)
		n := 0
		for _, w := range search.Tokens(intent) {
			if !search.StopWord(w) && slices.Contains(words, w) {
				n++
			}
		}
		if n > most {
			best, most = e.Shown, n
		}
	}
	return best
}

// Against a list of all tools, a chooser that is shown the eight that fit best is shown a small part
// of it, and chooses a right one at least as often.
func TestAChooserThatIsShownEightAgainstAll(t *testing.T) {
	c := new(knowledge.Catalogue)
	for _, e := range Tools() {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	x, err := knowledge.Open(context.Background(), c, knowledge.Options{Embedder: glove.Embedder{}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	tokens := func(list []knowledge.Entry) (n int) {
		for _, e := range list {
			n += (len(e.Shown) + len(e.Description) + len(e.Schema)) / 4
		}
		return n
	}
	all := c.Entries()
	asked := Open()
	right, rightOfAll, shown := 0, 0, 0
	for _, in := range asked {
		found, err := x.Search(context.Background(), in.Text, knowledge.Filter{}, 8)
		if err != nil {
			t.Fatal(err)
		}
		var list []knowledge.Entry
		for _, h := range found.Hits {
			list = append(list, h.Entry)
		}
		shown += tokens(list)
		if slices.Contains(in.Tools, choose(in.Text, list)) {
			right++
		}
		if slices.Contains(in.Tools, choose(in.Text, all)) {
			rightOfAll++
		}
	}
	each := shown / len(asked)
	t.Logf("of %d intents: %d right among eight, with %d tokens a turn; %d right among all %d, with %d", len(asked), right, each, rightOfAll, len(all), tokens(all))
	if right < rightOfAll || 20*each > tokens(all) {
		t.Errorf("shown eight it chooses right %d times with %d tokens, shown all %d times with %d; want no fewer, and at most a twentieth of the tokens", right, each, rightOfAll, tokens(all))
	}
}
