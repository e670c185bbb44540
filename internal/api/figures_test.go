package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
)

func TestTheDocumentIsServed(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	if a := s.do("GET", "/api/openapi.json", nil).want(t, 200); !bytes.Equal(a.body, api.Document()) || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("it has %d bytes of %s", len(a.body), a.header.Get("Content-Type"))
	}
}

// TestALabIsReadAsItsLedgerHasIt counts what the routes of a lab say, and what the ledger
// does.
func TestALabIsReadAsItsLedgerHasIt(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.lab("lab", "scholar")
	var titles, reviews, cites, votes, vote []string
	now := map[string]string{}
	for _, e := range s.ledger("lab") {
		switch b := e.Body.(type) {
		case *event.PublicationSubmitted:
			titles = append(titles, b.Ref+" "+e.Actor+" "+b.Title)
			for _, c := range b.Citations {
				cites = append(cites, fmt.Sprint(e.Seq, b.Ref, c))
			}
		case *event.ReviewSubmitted:
			reviews = append(reviews, fmt.Sprint(e.Seq, b.Ref, e.Actor, b.Grade, b.Content.Text))
		case *event.VoteCast:
			votes = append(votes, fmt.Sprint(e.Seq, e.Actor, b.Ref))
			now[e.Actor] = b.Ref
		}
	}
	for actor, ref := range now {
		vote = append(vote, actor+" "+ref)
	}
	var p struct {
		Papers []struct{ Ref, Author, Title string }
		Total  int
	}
	s.do("GET", "/api/quests/lab/papers?limit=1000", nil).want(t, 200).into(t, &p)
	var r struct {
		Reviews []struct {
			Paper, Reviewer, Grade, Content string
			Seq                             uint64
		}
	}
	s.do("GET", "/api/quests/lab/reviews", nil).want(t, 200).into(t, &r)
	var c struct {
		Citations []struct {
			From, To string
			Seq      uint64
		}
	}
	s.do("GET", "/api/quests/lab/citations", nil).want(t, 200).into(t, &c)
	var v struct {
		Current map[string]string
		History []struct {
			Seq        uint64
			Agent, Ref string
		}
	}
	s.do("GET", "/api/quests/lab/votes", nil).want(t, 200).into(t, &v)
	var gotTitles, gotReviews, gotCites, gotVote []string
	for _, x := range p.Papers {
		gotTitles = append(gotTitles, x.Ref+" "+x.Author+" "+x.Title)
	}
	for _, x := range r.Reviews {
		gotReviews = append(gotReviews, fmt.Sprint(x.Seq, x.Paper, x.Reviewer, x.Grade, x.Content))
	}
	for _, x := range c.Citations {
		gotCites = append(gotCites, fmt.Sprint(x.Seq, x.From, x.To))
	}
	var gotVotes []string
	for _, x := range v.History {
		gotVotes = append(gotVotes, fmt.Sprint(x.Seq, x.Agent, x.Ref))
	}
	for actor, ref := range v.Current {
		gotVote = append(gotVote, actor+" "+ref)
	}
	for _, x := range []struct {
		what      string
		got, want []string
	}{{"papers", gotTitles, titles}, {"reviews", gotReviews, reviews}, {"citations", gotCites, cites}, {"votes", gotVote, vote}, {"votes that were cast", gotVotes, votes}} {
		slices.Sort(x.got)
		slices.Sort(x.want)
		if len(x.want) == 0 || !slices.Equal(x.got, x.want) {
			t.Errorf("%s: %v, the ledger has %v", x.what, x.got, x.want)
		}
	}
	if p.Total != len(titles) {
		t.Errorf("%d papers of %d", p.Total, len(titles))
	}
}

// TestCostOverTimeAddsUp compares the series, the sums and the ledger.
func TestCostOverTimeAddsUp(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.lab("lab", "scholar")
	var nano, tokens int64
	calls := 0
	for _, e := range s.ledger("lab") {
		if b, ok := e.Body.(*event.ModelResult); ok {
			nano, tokens, calls = nano+b.Cost, tokens+b.Usage.Input+b.Usage.Output, calls+1
		}
	}
	var c struct {
		Points []struct {
			Seq    uint64
			Cost   string `json:"cost_usd"`
			Total  string `json:"total_usd"`
			Tokens int64  `json:"total_tokens"`
		}
		Total   string                   `json:"total_usd"`
		Tokens  int64                    `json:"total_tokens"`
		ByAgent []struct{ Tokens int64 } `json:"by_agent"`
	}
	s.do("GET", "/api/quests/lab/cost", nil).want(t, 200).into(t, &c)
	if c.Tokens != tokens || nanos(t, c.Total) != nano || len(c.Points) != calls || len(c.ByAgent) != 3 {
		t.Fatalf("%d tokens for %s in %d points, the ledger has %d for %d in %d", c.Tokens, c.Total, len(c.Points), tokens, nano, calls)
	}
	var sum, last int64
	for i, p := range c.Points {
		sum += nanos(t, p.Cost)
		if nanos(t, p.Total) != sum || p.Tokens <= last || i > 0 && p.Seq <= c.Points[i-1].Seq {
			t.Fatalf("point %d is %+v after %d", i, p, sum)
		}
		last = p.Tokens
	}
	if last != tokens {
		t.Errorf("the last point has %d tokens", last)
	}
}

func nanos(t *testing.T, usd string) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(usd)
	if !ok {
		t.Fatalf("%q is no amount", usd)
	}
	return r.Mul(r, big.NewRat(1e9, 1)).Num().Int64()
}

// TestTranscriptPagesLoseNothing walks through an agent's transcript in pages of all
// sizes, up and down.
func TestTranscriptPagesLoseNothing(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q").write(23, 0)
	type page struct {
		Messages       []struct{ Number int }
		Total          int
		Next, Previous *int
	}
	get := func(query string) (p page) {
		s.do("GET", "/api/quests/q/agents/agent-0/transcript?"+query, nil).want(t, 200).into(t, &p)
		return p
	}
	for limit := 1; limit < 30; limit += 3 {
		var up, down []int
		for p := get(fmt.Sprintf("limit=%d", limit)); ; p = get(fmt.Sprintf("limit=%d&after=%d", limit, *p.Next)) {
			for _, m := range p.Messages {
				up = append(up, m.Number)
			}
			if p.Next == nil {
				break
			}
		}
		for p := get(fmt.Sprintf("tail=%d", limit)); ; p = get(fmt.Sprintf("limit=%d&before=%d", limit, *p.Previous)) {
			for _, m := range slices.Backward(p.Messages) {
				down = append(down, m.Number)
			}
			if p.Previous == nil {
				break
			}
		}
		slices.Reverse(down)
		if len(up) != 24 || !slices.IsSorted(up) || up[0] != 0 || up[23] != 23 || !slices.Equal(up, down) {
			t.Errorf("in pages of %d: up %v, down %v", limit, up, down)
		}
	}
}

// TestTheTimelineCountsTheLedger compares counts, the index and a search with the ledger.
func TestTheTimelineCountsTheLedger(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "q", "")
	counts := map[string]int{}
	var tools, holding []uint64
	all := s.ledger("q")
	for _, e := range all {
		counts["type "+string(e.Type)]++
		counts["actor "+e.Actor]++
		if strings.HasPrefix(string(e.Type), "tool.") {
			tools = append(tools, e.Seq)
		}
		if strings.Contains(strings.ToLower(string(e.Line())), "print") {
			holding = append(holding, e.Seq)
		}
	}
	var l struct {
		Head          uint64
		Matching      int
		Types, Actors []struct {
			Name  string
			Count int
		}
		Buckets []struct{ Count int }
		Seqs    []uint64
	}
	s.do("GET", "/api/quests/q/timeline?type=tool.&seqs=true", nil).want(t, 200).into(t, &l)
	for _, c := range l.Types {
		counts["type "+c.Name] -= c.Count
	}
	for _, c := range l.Actors {
		counts["actor "+c.Name] -= c.Count
	}
	for name, n := range counts {
		if n != 0 {
			t.Errorf("%s is off by %d", name, n)
		}
	}
	if l.Head != uint64(len(all)) || !slices.Equal(l.Seqs, tools) || l.Matching != len(tools) {
		t.Errorf("%+v, want %v", l, tools)
	}
	s.do("GET", "/api/quests/q/timeline?text=PRINT&seqs=true", nil).want(t, 200).into(t, &l)
	if len(holding) == 0 || !slices.Equal(l.Seqs, holding) {
		t.Errorf("the search finds %v, want %v", l.Seqs, holding)
	}
}

// TestMetricsAreWhatPrometheusReads checks the form of each line, and what some say.
func TestMetricsAreWhatPrometheusReads(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "q", "")
	s.writer("w").write(4, 0)
	s.do("GET", "/api/nowhere/%22evil%22", nil).want(t, 404)
	s.do("GET", "/api/quests/q", nil).want(t, 200)
	s.do("GET", "/api/quests/q", nil, bare).want(t, 401)
	a := s.do("GET", "/metrics", nil).want(t, 200)
	if kind := a.header.Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("it is %s", kind)
	}
	form := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="(\\.|[^"\\])*"(,[a-z]+="(\\.|[^"\\])*")*\})? -?[0-9.e+]+)$`)
	typed := map[string]bool{}
	for line := range strings.Lines(string(a.body)) {
		line = strings.TrimSuffix(line, "\n")
		if !form.MatchString(line) {
			t.Errorf("a line is %q", line)
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			typed[strings.Fields(rest)[0]] = true
		} else if name := regexp.MustCompile(`^[a-z_]+`).FindString(line); name != "" && !typed[name] {
			t.Errorf("%s has no type before it", name)
		}
	}
	for _, want := range []string{
		"lyceum_quests{status=\"finished\"} 1\n", "lyceum_quests{status=\"created\"} 1\n", fmt.Sprintf("lyceum_events %d\n", len(s.ledger("q"))+5), "lyceum_quests_held 0\n", "lyceum_stream_readers 0\n",
		"lyceum_http_requests_total{route=\"GET /api/quests/{quest}\",code=\"200\"} 1\n", "lyceum_http_requests_total{route=\"/\",code=\"404\"} 1\n", "lyceum_http_requests_total{route=\"none\",code=\"401\"} 1\n",
	} {
		if !contains(a, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if contains(a, "evil") {
		t.Error("what a caller sent is in the metrics")
	}
}

func TestAPersonsWordReachesWhomItIsFor(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": "q", "society": "lab", "agents": 3, "model": "scholar", "computer": "none", "problem": "Count."}}).want(t, 201)
	for text, to := range map[string]string{"To all.": "", "To one.": "agent-1"} {
		var m struct {
			ID      int64
			Running bool
		}
		s.do("POST", "/api/quests/q/messages", map[string]any{"text": " " + text + "\n", "to": to}).want(t, 202).into(t, &m)
		e := until(t, s.rt, "q", func(e event.Event) bool {
			b, ok := e.Body.(*event.UserMessage)
			return ok && b.Text.Text == text
		})
		if b := e.Body.(*event.UserMessage); b.To != to || e.Actor != "person" || m.Running || b.Inbox != m.ID {
			t.Errorf("%q for %q: %+v of %s, and the answer %+v", text, to, b, e.Actor, m)
		}
	}
}

func TestAStreamBeginsWhereItIsTold(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q").write(9, 0)
	for _, c := range []struct{ query, last, want string }{
		{"", "", "id: 1"}, {"?after=4", "", "id: 5"}, {"", "7", "id: 8"}, {"?after=2", "7", "id: 8"}, {"?type=user.message&after=3", "", "id: 4"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		r, err := http.NewRequestWithContext(ctx, "GET", s.web.URL+"/api/quests/q/events"+c.query, nil)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		streaming(r)
		if c.last != "" {
			r.Header.Set("Last-Event-ID", c.last)
		}
		resp, err := s.web.Client().Do(r)
		must(t, err)
		var got []byte
		for one := make([]byte, 1); !bytes.Contains(got, []byte("\ndata: ")); {
			_, err := io.ReadFull(resp.Body, one)
			must(t, err)
			got = append(got, one...)
		}
		if !strings.Contains(string(got), c.want+"\n") {
			t.Errorf("%q with %q begins %q", c.query, c.last, got)
		}
		cancel()
		resp.Body.Close()
	}
	for _, last := range []string{"x", "-1", "99999999999999999999"} {
		s.do("GET", "/api/quests/q/events", nil, streaming, func(r *http.Request) { r.Header.Set("Last-Event-ID", last) }).want(t, 400)
	}
	for _, query := range []string{"before=3", "tail=3", "after=99"} {
		s.do("GET", "/api/quests/q/events?"+query, nil, streaming).want(t, 400)
	}
}

func TestOneWhoAsksForTheHeadOfAStreamGetsNoStream(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q")
	if a := s.do("HEAD", "/api/quests/q/events", nil, streaming).want(t, 200); a.header.Get("Content-Type") != "application/json" || s.Readers() != 0 {
		t.Errorf("it is %s, with %d readers", a.header.Get("Content-Type"), s.Readers())
	}
}

func TestTheHeartbeatComesEveryTenSecondsUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	rt, done := newHome(t).runtime()
	defer done()
	s := api.New(rt, api.Options{})
	defer s.Close()
	if s.Heartbeat() != 10*time.Second {
		t.Errorf("it comes every %s", s.Heartbeat())
	}
}
