package quest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
)

// crowd is a lab of many agents whose models are asked at the same time.
type crowd struct {
	*rand.Rand
	t     *testing.T
	state *quest.State
	now   event.Time
	open  []uint64
	last  *event.BudgetExceeded
	price event.Price
}

const crowdOutput = 4000

func newCrowd(t *testing.T, seed uint64, agents int64, limits event.Limits) *crowd {
	t.Helper()
	all, err := policy.Complete(nil)
	must(t, err)
	c := &crowd{Rand: rand.New(rand.NewPCG(seed, 16)), t: t, price: event.Price{Input: 3_000_000_000, Cached: 300_000_000, CacheWrites: 3_750_000_000, Output: 15_000_000_000}}
	ref := event.RefOf([]byte(strings.Repeat("pinned ", 300)))
	spec := event.AgentSpec{Name: "agent", Count: agents, Model: "m", System: ref, Tools: ref, ToolNames: []string{"look"}, Window: 30_000, MaxOutput: crowdOutput}
	if limits.Strict {
		spec.Price = &c.price
	}
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: &event.QuestCreated{
		Name: "q", Rules: lab.Society{}.Rules(), Problem: event.Text{Text: "?"}, Spec: ref, Limits: limits, Policies: all,
		Agents: []event.AgentSpec{spec}, Lab: &event.LabSpec{Deadline: 10, Decision: lab.Majority, Reviewers: 1},
		Tools: []event.ToolTraits{{Name: "look", Reads: true}},
	}})
	must(t, err)
	c.state, err = quest.New(e, []quest.Society{lab.Society{}})
	must(t, err)
	c.state.Apply(e)
	return c
}

// take feeds inputs, one after another, and notes which calls were made.
func (c *crowd) take(actor string, bodies ...event.Body) {
	c.t.Helper()
	for _, b := range bodies {
		must(c.t, c.state.Check(actor, b))
		c.now += 1000
		queue := []event.Draft{{Time: c.now, Actor: actor, Body: b}}
		for ; len(queue) > 0; queue = queue[1:] {
			e, err := event.Seal("q", c.state.Seq+1, c.state.Hash, queue[0])
			must(c.t, err)
			must(c.t, c.state.Fold(e))
			switch b := e.Body.(type) {
			case *event.ModelCall, *event.ToolCall:
				c.open = append(c.open, e.Seq)
			case *event.BudgetExceeded:
				c.last = b
			}
			queue = append(queue, quest.Decide(c.state, e)...)
		}
	}
}

// answer has one of the open calls come back, whichever it is.
func (c *crowd) answer() {
	i := c.IntN(len(c.open))
	seq := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	call := c.state.Calls[seq]
	switch call.Kind {
	case "tool.call":
		c.take(call.Agent, &event.ToolResult{Call: seq, Output: event.Text{Text: strings.Repeat("seen ", c.IntN(1000))}})
	case "model.call":
		c.take(call.Agent, c.result(seq, call))
	}
}

// result is an answer, or a failure, that uses what it can at most, or less.
func (c *crowd) result(seq uint64, call quest.Call) *event.ModelResult {
	input := int64(9000) // about what a request has, where nobody reckons
	if call.Tokens > 0 {
		input = call.Tokens - crowdOutput
	}
	used := event.Usage{Input: input, Output: crowdOutput, CacheWrites: input}
	if c.IntN(3) > 0 {
		used.Input, used.Output = 1+c.Int64N(input), c.Int64N(crowdOutput)
		used.Cached = c.Int64N(used.Input)
		used.CacheWrites = c.Int64N(used.Input - used.Cached + 1)
	}
	r := &event.ModelResult{Call: seq, Cost: c.price.Cost(used), Price: &c.price}
	if c.IntN(12) == 0 {
		r.Wasted, r.Error = &used, &event.ModelError{Kind: string(model.Unavailable), Text: "the stream broke off"}
		return r
	}
	r.Usage, r.Stop = used, model.StopTools
	text := strings.Repeat("word ", c.IntN(1000))
	r.Parts = []event.Part{
		{Kind: event.PartText, Text: &event.Text{Text: "." + text}},
		{Kind: event.PartToolCall, ID: fmt.Sprint("c", seq), Name: "look", Args: &event.Text{Text: fmt.Sprintf(`{"n":%d}`, seq)}},
	}
	return r
}

// run plays until a limit is reached, and returns the part of the limit that was used.
func (c *crowd) run() {
	c.t.Helper()
	c.take("core", &event.QuestStarted{})
	for range 20_000 {
		if len(c.open) == 0 {
			break
		}
		c.answer()
	}
	if c.state.Status != quest.Exceeded || c.last == nil {
		c.t.Fatalf("the quest is %s (%s) with %d calls open, want exceeded with none", c.state.Status, c.state.Reason, len(c.open))
	}
}

// TestStrictLimits: whatever the calls of 24 agents use, up to what each can use at most,
// a strict limit is not passed; without, it is.
func TestStrictLimits(t *testing.T) {
	t.Parallel()
	const cost, tokens = 5_000_000_000, 1_500_000
	for _, kind := range []string{"cost", "tokens"} {
		over := 0
		for seed := range uint64(12) {
			for _, strict := range []bool{true, false} {
				limits, most := event.Limits{Cost: new(int64(cost)), Strict: strict}, int64(cost)
				if kind == "tokens" {
					limits, most = event.Limits{Tokens: new(int64(tokens)), Strict: strict}, tokens
				}
				c := newCrowd(t, seed, 24, limits)
				c.run()
				used := c.state.Spent.Cost
				if kind == "tokens" {
					used = c.state.Spent.Usage.Input + c.state.Spent.Usage.Output
				}
				switch {
				case strict && used > most:
					t.Errorf("seed %d: the strict limit on %s was passed: %d of %d", seed, kind, used, most)
				case strict && used < most*8/10:
					t.Errorf("seed %d: only %d of %d of the %s were used, want most of it: agents should wait for the results of others", seed, used, most, kind)
				case strict && c.last.Next <= most-used:
					t.Errorf("seed %d: %s ended with %d of %d used and a next call of %d, which fits", seed, kind, used, most, c.last.Next)
				case !strict && used > most:
					over++
				}
			}
		}
		if over == 0 {
			t.Errorf("no limit on %s was passed without strict: the test shows nothing", kind)
		}
	}
}

// TestStrictResumes: a quest that stopped because the next call might not fit goes on with
// a limit under which it does, and with no other.
func TestStrictResumes(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 3, event.Limits{Cost: new(int64(1_000_000_000)), Strict: true})
	c.run()
	if c.state.OverWith(event.Limits{}) == nil {
		t.Error("a quest of which nothing is left that would do for a call can go on: want that it says so")
	}
	if o := c.state.OverWith(event.Limits{Cost: new(*c.state.Limits.Cost + 1)}); o == nil || o.Next == 0 {
		t.Errorf("with a limit that is hardly higher: got %+v, want what the next call can use", o)
	}
	if o := c.state.OverWith(event.Limits{Cost: new(int64(2_000_000_000))}); o != nil {
		t.Errorf("with twice the limit: got %+v, want that it can go on", o)
	}
	c.take("core", &event.QuestResumed{Limits: event.Limits{Cost: new(int64(2_000_000_000))}})
	if c.state.Status != quest.Running || len(c.open) == 0 {
		t.Errorf("resumed with twice the limit: %s with %d calls, want running", c.state.Status, len(c.open))
	}
	if !c.state.Limits.Strict {
		t.Error("the limits are not strict any more")
	}
}

// TestStrictRefuses what nobody can reserve for.
func TestStrictRefuses(t *testing.T) {
	t.Parallel()
	strict := event.Limits{Cost: new(int64(1)), Strict: true}
	price := &event.Price{Input: 1, Output: 1}
	for _, tt := range []struct {
		name string
		spec event.AgentSpec
		want string
	}{
		{"a price and an output", event.AgentSpec{Model: "m", MaxOutput: 300, Price: price}, ""},
		{"a price and the model's own output", event.AgentSpec{Model: "m", RaisedOutput: 300, Price: price}, ""},
		{"no price", event.AgentSpec{Model: "m", MaxOutput: 300}, "price in config.yaml"},
		{"no output", event.AgentSpec{Model: "m", Price: price}, "max_output"},
		{"no model", event.AgentSpec{}, ""},
	} {
		err := quest.CheckReserve(agent.New(tt.spec, false), strict)
		if got := fmt.Sprint(err); (err == nil) != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	c := newCrowd(t, 1, 2, event.Limits{Turns: new(int64(4)), Strict: true})
	if err := c.state.Check("person", &event.QuestForked{Name: "f", Model: "other"}); err == nil {
		t.Error("a fork of a strict quest may have another model, want that it is refused: its price is not pinned")
	}
	if err := c.state.Check("person", &event.BudgetRaised{Limits: event.Limits{Strict: true}}); err == nil {
		t.Error("limits may become strict while a quest runs, want that it is refused: no price is pinned")
	}
	loose := newCrowd(t, 1, 2, event.Limits{Turns: new(int64(4))})
	if err := loose.state.Check("person", &event.QuestForked{Name: "f", Model: "other"}); err != nil {
		t.Errorf("a fork without strict limits with another model: %v", err)
	}
}

// TestStrictTriesAgain: a call that broke off after it had cost something is made again by
// the rules, with a reserve of its own, and not for ever.
func TestStrictTriesAgain(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 1, event.Limits{Cost: new(int64(5_000_000_000)), Strict: true})
	c.take("core", &event.QuestStarted{})
	calls := 0
	for ; len(c.open) > 0 && calls < 10; calls++ {
		seq := c.open[0]
		c.open = c.open[1:]
		c.take("agent-0", &event.ModelResult{Call: seq, Wasted: &event.Usage{Input: 5, Output: 5}, Cost: 10, Error: &event.ModelError{Kind: string(model.Unavailable), Text: "broke off"}})
	}
	if calls != 3 {
		t.Errorf("a model whose answers always break off was asked %d times, want 3", calls)
	}
}
