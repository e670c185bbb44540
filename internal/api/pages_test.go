package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
)

func TestEventPages(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q").write(60, 0)
	type page struct {
		Events []struct {
			Event struct{ Seq uint64 }
		}
		Next, Previous *uint64
	}
	get := func(query string) (p page) {
		t.Helper()
		s.do("GET", "/api/quests/q/events?"+query, nil).want(t, 200).into(t, &p)
		return p
	}
	for _, filter := range []string{"", "&text=1", "&type=user.message", "&actor=nobody", "&text=%22text%22:%223"} {
		var up, down []uint64
		for p := get("limit=7" + filter); ; p = get(fmt.Sprintf("limit=7&after=%d%s", *p.Next, filter)) {
			for _, e := range p.Events {
				up = append(up, e.Event.Seq)
			}
			if p.Next == nil {
				break
			}
		}
		for p := get("tail=7" + filter); ; p = get(fmt.Sprintf("limit=7&before=%d%s", *p.Previous, filter)) {
			for i := len(p.Events) - 1; i >= 0; i-- {
				down = append(down, p.Events[i].Event.Seq)
			}
			if p.Previous == nil {
				break
			}
		}
		slices.Reverse(down)
		if strings.HasSuffix(filter, "223") && len(up) != 11 {
			t.Errorf("%d events have texts that begin with 3", len(up))
		}
		if !slices.Equal(up, down) || filter == "" && !slices.Equal(up, upTo(1, 61)) {
			t.Errorf("with %q: up %v, down %v", filter, up, down)
		}
	}
	want := lines(t, s.rt, "q")[3]
	if a := s.do("GET", "/api/quests/q/events?after=3&limit=1", nil); !strings.Contains(string(a.body), `"event":`+want) {
		t.Errorf("the event is not the ledger's line: %s", a.body)
	}
}
