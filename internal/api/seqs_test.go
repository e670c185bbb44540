package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/model"
)

func TestEventsByTheirSeqs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	h.gate.says = func(r *model.Request) *model.Answer {
		return call("calculate", fmt.Sprintf(`{"code":"print(%d)"}`, r.Turn), r.Turn)
	}
	s := h.serve(api.Options{})
	h.gate.let(200)
	s.create("many", map[string]any{"limits": map[string]any{"turns": 100}})
	s.control("many", map[string]any{"action": "start"}).want(t, 200)
	s.released("many")
	all := lines(t, s.rt, "many")
	if len(all) < 300 {
		t.Fatalf("only %d events", len(all))
	}
	read := func(list string) (out []string) {
		var page struct {
			Events         []struct{ Event json.RawMessage }
			Next, Previous *uint64
		}
		s.do("GET", "/api/quests/many/events?seqs="+list, nil).want(t, 200).into(t, &page)
		if page.Next != nil || page.Previous != nil {
			t.Errorf("seqs=%s has a page before or after it", list)
		}
		for _, e := range page.Events {
			out = append(out, string(e.Event))
		}
		return out
	}
	// Near each other and far apart, in any order, some twice.
	for _, want := range [][]int{{1}, {len(all)}, {1, 2, 3}, {250, 3, 3, 120, 1, 121, len(all)}} {
		list := ""
		for _, seq := range want {
			list += fmt.Sprintf("%d,", seq)
		}
		slices.Sort(want)
		var lines []string
		for _, seq := range slices.Compact(want) {
			lines = append(lines, all[seq-1])
		}
		if got := read(list); !slices.Equal(got, lines) {
			t.Errorf("seqs=%s gives %d events, want %d: %.300s", list, len(got), len(lines), got)
		}
	}
	s.do("GET", fmt.Sprintf("/api/quests/many/events?seqs=%d", len(all)+1), nil).want(t, 404)
	for _, bad := range []string{"seqs=0", "seqs=x", "seqs=-1", "seqs=1&after=3", "seqs=1&type=tool.call", "seqs=1&text=a", "seqs=1&tail=3"} {
		s.do("GET", "/api/quests/many/events?"+bad, nil).want(t, 400)
	}
	tooMany := "1"
	for range 400 {
		tooMany += ",1"
	}
	s.do("GET", "/api/quests/many/events?seqs="+tooMany, nil).want(t, 400)
}
