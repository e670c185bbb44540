package runtime_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/knowledge"
	"lyceum/internal/model"
	"lyceum/internal/runtime"

	"github.com/go-json-experiment/json"
)

// Between cuts of the window a list only grows, and what is gone stays in it. After a cut what is gone goes, unless it is
// being used, and of the rest what was found last stays, as far as half of the room lasts.
func TestWhatStaysInAListOfTools(t *testing.T) {
	l := newLab(t)
	d := l.NewDiscovery()
	defer d.Close()
	long := strings.Repeat("word ", 80) // about a hundred tokens
	c := new(knowledge.Catalogue)
	for _, name := range []string{"a", "b", "new"} {
		must(t, c.Add(knowledge.Entry{Source: "mcp:s", Name: name, Shown: "s__" + name, Description: long, Schema: "{}", Trust: event.TrustStranger}))
	}
	var old []model.Tool
	had := runtime.Had{Core: []string{"look"}, Sources: map[string]event.ShownTool{}}
	for _, name := range []string{"look", "s__gone", "s__a", "s__b"} {
		old = append(old, model.Tool{Name: name, Description: long, Schema: "{}"})
		had.Sources[name] = event.ShownTool{Name: name, Source: "mcp:s", Trust: event.TrustStranger}
	}
	data, err := json.Marshal(old)
	must(t, err)
	had.Tools, err = l.Blobs.Put(t.Context(), data)
	must(t, err)
	for what, tc := range map[string]struct {
		cut    bool
		using  []string
		window int64
		want   string
	}{
		"between cuts":                  {false, nil, 100_000, "look s__gone s__a s__b s__new"},
		"after a cut":                   {true, nil, 100_000, "look s__a s__b s__new"},
		"after a cut, in use":           {true, []string{"s__gone"}, 100_000, "look s__gone s__a s__b s__new"},
		"after a cut, with little room": {true, nil, 2000, "look s__b s__new"},
		"between cuts, without room":    {false, nil, 2000, "look s__gone s__a s__b"},
	} {
		h, b := had, &event.ToolsShown{Found: []event.FoundTool{{Name: "s__new", Score: 1}}}
		h.Cut, h.Using, h.Window = tc.cut, tc.using, tc.window
		list, err := d.Compose(t.Context(), h, c, b)
		must(t, err)
		var tools []model.Tool
		must(t, json.Unmarshal(list, &tools))
		var got, shown []string
		for i := range tools {
			got, shown = append(got, tools[i].Name), append(shown, b.Shown[i].Name)
		}
		if strings.Join(got, " ") != tc.want || !slices.Equal(got, shown) || b.Tools != event.RefOf(list) {
			t.Errorf("%s: the list is %v, and said to be %v; want %s", what, got, shown, tc.want)
		}
		if room := strings.Contains(tc.want, "s__new"); room != (len(b.LeftOut) == 0) {
			t.Errorf("%s: left out is %v", what, b.LeftOut)
		}
	}
}
