package api_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/need"
)

// eventPage is what the tests read of a page of the ledger.
type eventPage struct {
	Events []struct {
		Event struct{ Seq uint64 }
	}
	Updates        []struct{ Seq uint64 }
	Head           uint64
	Next, Previous *uint64
}

func (p eventPage) seqs() (out []uint64) {
	for _, e := range p.Events {
		out = append(out, e.Event.Seq)
	}
	return out
}

func (s *server) page(query string) (p eventPage) {
	s.t.Helper()
	s.do("GET", "/api/quests/q/events?"+query, nil).want(s.t, 200).into(s.t, &p)
	return p
}

// up follows the pages from one on to the last.
func (s *server) up(query string) (out []uint64) {
	s.t.Helper()
	p := s.page(query)
	for range 10_000 {
		out = append(out, p.seqs()...)
		if p.Next == nil {
			return out
		}
		p = s.page(fmt.Sprintf("%s&after=%d", without(query, "after"), *p.Next))
	}
	s.t.Fatalf("the pages of %s have no end", query)
	return nil
}

// down follows the pages from one back to the first.
func (s *server) down(query string) (out []uint64) {
	s.t.Helper()
	p := s.page(query)
	for range 10_000 {
		out = append(p.seqs(), out...)
		if p.Previous == nil {
			return out
		}
		p = s.page(fmt.Sprintf("%s&before=%d", without(query, "tail", "before"), *p.Previous))
	}
	s.t.Fatalf("the pages of %s have no end", query)
	return nil
}

func without(query string, names ...string) string {
	v, err := url.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	for _, n := range names {
		v.Del(n)
	}
	return v.Encode()
}

// mixed appends events of several types and actors, without any rules.
func (w *writer) mixed(rnd *rand.Rand, n int) {
	w.t.Helper()
	b := ledger.Batch{Quest: w.name}
	for range n {
		var body event.Body = &event.UserMessage{Text: event.Text{Text: fmt.Sprint("word", rnd.IntN(5))}}
		actor := []string{"person", "rules"}[rnd.IntN(2)]
		if rnd.IntN(3) == 0 {
			body, actor = &event.MessageSent{Text: event.Text{Text: "note"}, To: "agent-0"}, []string{"agent-0", "rules"}[rnd.IntN(2)]
		}
		e, err := event.Seal(w.name, w.seq+1, w.hash, event.Draft{Time: w.rt.Clock(), Actor: actor, Body: body})
		must(w.t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
	}
	must(w.t, w.rt.Ledger.Append(context.Background(), b))
}

// asked is a query of the property test.
type asked struct {
	after, before, limit, tail int
	hasAfter, hasBefore        bool
	kind, actor, text          string
}

func someQuery(rnd *rand.Rand, head int) (q asked) {
	q.limit = 1 + rnd.IntN(30)
	switch rnd.IntN(5) {
	case 0:
		q.tail, q.limit = q.limit, 0
	case 1:
		q.hasBefore = true
	case 2:
		q.hasBefore, q.hasAfter = true, true
	case 3:
		q.hasAfter = true
	}
	if q.hasAfter && rnd.IntN(4) > 0 { // 0 is an after like any other
		q.after = rnd.IntN(head + 5)
	}
	if q.hasBefore {
		q.before = 1 + rnd.IntN(head+5)
	}
	q.kind = []string{"", "", "user.message", "user.", "message.sent,quest.created", "tool."}[rnd.IntN(6)]
	q.actor = []string{"", "", "person", "rules,agent-0", "nobody"}[rnd.IntN(5)]
	q.text = []string{"", "", "WORD3", "note"}[rnd.IntN(4)]
	return q
}

func (q *asked) String() string {
	v := url.Values{}
	set := func(name, value string, given bool) {
		if given {
			v.Set(name, value)
		}
	}
	set("after", strconv.Itoa(q.after), q.hasAfter)
	set("before", strconv.Itoa(q.before), q.hasBefore)
	set("limit", strconv.Itoa(q.limit), q.limit > 0)
	set("tail", strconv.Itoa(q.tail), q.tail > 0)
	set("format", "raw", q.limit%2 == 1) // which it is anyway
	set("type", q.kind, q.kind != "")
	set("actor", q.actor, q.actor != "")
	set("text", q.text, q.text != "")
	return v.Encode()
}

// wants says, without the server, which events a query is about.
func (q *asked) wants(e event.Event) bool {
	among := func(list, value string, prefix bool) bool {
		return list == "" || slices.ContainsFunc(strings.Split(list, ","), func(s string) bool {
			return s == value || prefix && strings.HasSuffix(s, ".") && strings.HasPrefix(value, s)
		})
	}
	return (!q.hasAfter || e.Seq > uint64(q.after)) && (!q.hasBefore || e.Seq < uint64(q.before)) && among(q.kind, string(e.Type), true) &&
		among(q.actor, e.Actor, false) && strings.Contains(strings.ToLower(string(e.Line())), strings.ToLower(q.text))
}

// of are the events of a ledger that a query is about, all and as one page has them.
func (q *asked) of(all []event.Event) (whole, page []uint64) {
	for _, e := range all {
		if q.wants(e) {
			whole = append(whole, e.Seq)
		}
	}
	n := min(len(whole), max(q.limit, q.tail))
	if q.tail > 0 || q.hasBefore && !q.hasAfter {
		return whole, whole[len(whole)-n:]
	}
	return whole, whole[:n]
}

func (s *server) ledger(name string) (out []event.Event) {
	s.t.Helper()
	for e, err := range s.rt.Ledger.Read(context.Background(), name, 1) {
		must(s.t, err)
		out = append(out, e)
	}
	return out
}

func TestEventPages(t *testing.T) {
	t.Parallel()
	t.Run("AreWhatTheQueryAsksForWhateverIsCombined", func(t *testing.T) {
		need.NoDetector(t)
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		rnd := rand.New(rand.NewPCG(1, 2))
		s.writer("q").mixed(rnd, 120)
		all := s.ledger("q")
		for range 200 {
			q := someQuery(rnd, len(all))
			whole, want := q.of(all)
			if got := s.page(q.String()).seqs(); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", &q, got, want)
			}
			// Following next or previous gives the rest, each event once.
			if q.tail == 0 && (q.hasAfter || !q.hasBefore) {
				if got := s.up(q.String()); !slices.Equal(got, whole) {
					t.Fatalf("up from %s: %v, want %v", &q, got, whole)
				}
			} else if got := s.down(q.String()); !slices.Equal(got, whole) {
				t.Fatalf("down from %s: %v, want %v", &q, got, whole)
			}
		}
	})
	t.Run("JoinAtTheirEndsWhereTheyMeet", func(t *testing.T) {
		need.NoDetector(t)
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		rnd := rand.New(rand.NewPCG(3, 4))
		s.writer("q").mixed(rnd, 80)
		for range 60 {
			q := asked{limit: 1 + rnd.IntN(9), kind: []string{"", "user.message"}[rnd.IntN(2)]}
			whole, _ := q.of(s.ledger("q"))
			middle := s.page(fmt.Sprintf("%s&before=%d", &q, 1+rnd.IntN(90)))
			got := middle.seqs()
			if middle.Previous != nil {
				got = append(s.down(fmt.Sprintf("%s&before=%d", &q, *middle.Previous)), got...)
			}
			if middle.Next != nil {
				got = append(got, s.up(fmt.Sprintf("%s&after=%d", &q, *middle.Next))...)
			}
			if !slices.Equal(got, whole) {
				t.Fatalf("around a page of %s: %v, want %v", &q, got, whole)
			}
		}
	})
	t.Run("LoseAndRepeatNothingWhileTheQuestGrows", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		w := s.writer("q")
		rnd := rand.New(rand.NewPCG(5, 6))
		w.mixed(rnd, 40)
		var writing sync.WaitGroup
		writing.Go(func() {
			for range 60 {
				w.mixed(rnd, 1+rnd.IntN(4))
			}
		})
		for _, limit := range []int{1, 3, 50} {
			q := asked{limit: limit, kind: "user.message"}
			up := s.up(q.String())
			tail := s.page(fmt.Sprintf("tail=%d&type=user.message", limit))
			down := tail.seqs()
			if tail.Previous != nil {
				down = append(s.down(fmt.Sprintf("%s&before=%d", &q, *tail.Previous)), down...)
			}
			for _, got := range [][]uint64{up, down} {
				q := asked{kind: "user.message", hasBefore: true, before: int(got[len(got)-1]) + 1}
				if whole, _ := q.of(s.ledger("q")); !slices.Equal(got, whole) {
					t.Errorf("limit %d: %v, want %v", limit, got, whole)
				}
			}
		}
		writing.Wait()
		// A reader that comes again and again gets each once.
		var got []uint64
		for after, more := uint64(0), true; more; more = after < w.seq {
			p := s.page(fmt.Sprintf("after=%d&limit=13", after))
			got = append(got, p.seqs()...)
			after = got[len(got)-1]
		}
		if !slices.Equal(got, upTo(1, w.seq)) {
			t.Errorf("%d of %d events, or not in order", len(got), w.seq)
		}
	})
	t.Run("HaveTheLinesOfTheLedgerToTheByte", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.writer("q").write(5, 0)
		for i, want := range lines(t, s.rt, "q") {
			if a := s.do("GET", fmt.Sprintf("/api/quests/q/events?after=%d&limit=1", i), nil); !strings.Contains(string(a.body), `"event":`+want+`}`) {
				t.Errorf("event %d is not the ledger's line: %s", i+1, a.body)
			}
		}
	})
	t.Run("OfACPHaveTheSameEventsHoweverTheyAreCut", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.finish("thermal", "q", "")
		whole := s.page("format=acp&limit=5000")
		var got []uint64
		for p := s.page("format=acp&limit=4"); ; p = s.page(fmt.Sprintf("format=acp&limit=4&after=%d", *p.Next)) {
			for _, u := range p.Updates {
				got = append(got, u.Seq)
			}
			if p.Next == nil {
				break
			}
		}
		var want []uint64
		for _, u := range whole.Updates {
			want = append(want, u.Seq)
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
	t.Run("AreRefusedWhereTailMeetsTheOthers", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.writer("q")
		for _, q := range []string{"tail=3&after=1", "tail=3&before=9", "tail=0", "limit=0", "limit=5001", "before=0", "after=-1", "format=xml", "after=1&after=2"} {
			s.do("GET", "/api/quests/q/events?"+q, nil).want(t, 400)
		}
	})
}

// TestASearchThatFindsNothingForLong has pages without an event that still lead on: the
// server looks at so many for one page and no more.
func TestASearchThatFindsNothingForLong(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.LookAt(5000)
	s.writer("q").write(6000, 0)
	if up, down := s.up("limit=5&type=quest.created"), s.down("tail=5&type=quest.created"); !slices.Equal(up, []uint64{1}) || !slices.Equal(down, up) {
		t.Errorf("up it finds %v, down %v", up, down)
	}
	if p := s.page("limit=5&actor=nobody"); len(p.Events) != 0 || p.Next == nil || *p.Next != 5000 {
		t.Errorf("the first page has %d events and goes on after %v", len(p.Events), p.Next)
	}
	if p := s.page("tail=5&actor=nobody"); len(p.Events) != 0 || p.Previous == nil || *p.Previous != 1002 {
		t.Errorf("the last page has %d events and goes on before %v", len(p.Events), p.Previous)
	}
}
