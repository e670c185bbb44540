package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/lab"
)

// lab measures how the cost of a turn grows with the number of agents: a lab whose
// models answer at once, which compute, publish and review.
func (b *bench) lab() error {
	fmt.Println("\nlab: a turn, by the number of agents")
	turns, rounds := int64(25_600), 2
	if b.quick {
		turns, rounds = 2_000, 1
	}
	sizes := []int64{3, 16, 64, 256}
	cost := map[int64][]float64{}
	for range rounds {
		for _, n := range sizes {
			took, cpu, papers, err := b.labOf(n, turns)
			if err != nil {
				return fmt.Errorf("%d agents: %w", n, err)
			}
			cost[n] = append(cost[n], cpu)
			fmt.Printf("  %3d agents: %6.0f turns/s, %4.0f µs of CPU a turn, %d papers\n", n, float64(turns)/took, cpu*1e6, papers)
		}
	}
	b.promise("a turn among 256 agents against one among 3, in CPU", median(cost[256])/median(cost[3]), false, 1.5)
	return nil
}

func (b *bench) labOf(agents, turns int64) (took, cpu float64, papers int, err error) {
	dir := b.fresh()
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return 0, 0, 0, err
	}
	defer store.Close()
	rt, err := newRuntime(dir, store, &colleague{asked: map[string][]string{}})
	if err != nil {
		return 0, 0, 0, err
	}
	rt.Societies = []quest.Society{lab.Society{}}
	spec := &quest.Spec{
		Name: "lab", Problem: "Does it hold?", Society: "lab", Model: "colleague", Agents: quest.Agents{{Count: agents}}, Window: 20_000,
		Computer: quest.Computer{Driver: "none"}, Limits: quest.Bounds{Share: quest.Share{Turns: &turns}},
	}
	ctx := context.Background()
	if _, err := rt.Create(ctx, runtime.Plan{Spec: spec, Source: []byte("name: bench\n"), Dir: dir}); err != nil {
		return 0, 0, 0, err
	}
	began, before := time.Now(), cpuSeconds()
	s, err := rt.Run(ctx, "lab", runtime.RunOptions{})
	if err != nil {
		return 0, 0, 0, err
	}
	if s.Status != quest.Exceeded || s.Spent.Turns < turns {
		return 0, 0, 0, fmt.Errorf("the quest is %s after %d turns: %s", s.Status, s.Spent.Turns, s.Reason)
	}
	return time.Since(began).Seconds(), (cpuSeconds() - before) / float64(s.Spent.Turns), len(lab.Library(s).Papers), nil
}

// colleague is a model that answers at once: it reviews what it is asked to, publishes
// every fortieth turn, and looks at something otherwise.
type colleague struct {
	mu    sync.Mutex
	asked map[string][]string // what each agent has to review
}

var request = regexp.MustCompile(`asked to review ([0-9a-f]{32})`)

// Generate implements model.Model.
func (c *colleague) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if m := request.FindStringSubmatch(p.Text); m != nil && p.Kind == event.PartText {
			c.mu.Lock()
			c.asked[r.Agent] = append(c.asked[r.Agent], m[1])
			c.mu.Unlock()
		}
	}
	c.mu.Lock()
	list := c.asked[r.Agent]
	if len(list) > 0 {
		c.asked[r.Agent] = list[1:]
	}
	c.mu.Unlock()
	name, args := "look", fmt.Sprintf(`{"case":%d}`, r.Turn)
	switch {
	case len(list) > 0:
		name, args = "submit_review", fmt.Sprintf(`{"ref":%q,"grade":"ACCEPT","confidence":4,"checked":{"claim":"that it holds","ran":"its program"},"content":"Turn %d: it holds."}`, list[0], r.Turn)
	case r.Turn%40 == 20:
		name, args = "submit_publication", fmt.Sprintf(`{"title":"Finding %d of %s","content":"It holds."}`, r.Turn, r.Agent)
	}
	return &model.Answer{
		Parts: []model.Part{{Kind: event.PartToolCall, ID: fmt.Sprint("c", r.Turn), Name: name, Args: args}},
		Stop:  model.StopTools, Usage: event.Usage{Input: 1000, Output: 20},
	}, nil
}
