package main

import (
	"fmt"
	"strings"
	"time"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
)

// policies measures the engine alone, and what the gate takes of a turn.
func (b *bench) policies() error {
	fmt.Println("\nPolicies: selections of a behavioural program on one core, and the gate's share of a turn")
	for _, n := range []int{10, 50, 200} {
		rate, err := selections(n)
		if err != nil {
			return err
		}
		fmt.Printf("  %3d threads: %8.0f selections/s\n", n, rate)
		if n == 50 {
			b.promise("selections/s with 50 threads", rate, true, 10_000)
		}
	}
	turn, err := b.turnCPU()
	if err != nil {
		return err
	}
	for _, set := range []struct{ name, text string }{
		{"those of every quest", "[]"},
		{"all that are built in", `[{use: max-calls, max: 1000000}, {use: same-error}, {use: allowed-tools, role: agent, tools: [look]},
			{use: no-touch, paths: [secret]}, {use: one-at-a-time, domains: [a]}, {use: analysis-first, analysis: [lint], execution: [exec]}]`},
	} {
		gate, err := gateCPU(set.text)
		if err != nil {
			return err
		}
		fmt.Printf("  the gate takes %5.2f µs of a turn's %.0f µs of CPU, with %s\n", gate, turn, set.name)
		if set.text == "[]" {
			b.promise("the gate's share of a turn's CPU", gate/turn, false, 0.05)
		}
	}
	return nil
}

// selections is how many a program of n threads makes in a second. A third of the
// threads count, a third guard, and a third take turns in requesting.
func selections(n int) (float64, error) {
	p := behavior.New(nil)
	var text strings.Builder
	for i := range n {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&text, "- {name: count-%d, repeat: true, steps: [{wait: {type: [a, b], where: {n: {min: %d}}}, times: 7}]}\n", i, i)
		case 1:
			fmt.Fprintf(&text, "- {name: guard-%d, steps: [{block: {type: c, where: {path: {prefix: d%d}}}, interrupt: {type: never}}]}\n", i, i)
		case 2:
			fmt.Fprintf(&text, "- {name: ask-%d, repeat: true, steps: [{request: {type: a, with: {n: %d}}}, {request: {type: b, with: {n: 1}}}]}\n", i, i)
		}
	}
	threads, err := behavior.ParseThreads("bench.yaml", []byte(text.String()))
	if err != nil {
		return 0, err
	}
	for _, t := range threads {
		if err := p.Add(t); err != nil {
			return 0, err
		}
	}
	const steps = 50_000
	begun := time.Now()
	for i := range steps {
		if !p.Step() {
			return 0, fmt.Errorf("the program stopped after %d steps: %s", i, p.Status())
		}
	}
	return steps / time.Since(begun).Seconds(), nil
}

// turnCPU is what a turn of the loop costs, as in the part on turns, where it
// costs least.
func (b *bench) turnCPU() (float64, error) {
	var all []float64
	for range 3 {
		r, err := runCell(cell{Loop: "lyceum", Model: "script", N: 64, K: 50, Dir: b.fresh()})
		if err != nil {
			return 0, err
		}
		all = append(all, r.cpu())
	}
	return median(all), nil
}

// gateCPU is what the gate does in a turn, in microseconds: it judges a model call
// and a tool call, and hears of both and of their results.
func gateCPU(text string) (float64, error) {
	chosen, err := policy.ParseFile("bench.yaml", []byte(text))
	if err != nil {
		return 0, err
	}
	all, err := policy.Complete(chosen)
	if err != nil {
		return 0, err
	}
	g, err := policy.New(all)
	if err != nil {
		return 0, err
	}
	const turns = 100_000
	begun := cpuSeconds()
	for i := range int64(turns) {
		call := func() *policy.Facts {
			return &policy.Facts{Agent: "agent-0", Turn: i, Spent: policy.Spent{Turns: i}, AgentSpent: policy.Spent{Turns: i}}
		}
		args := &policy.Args{Text: event.Text{Text: fmt.Sprintf(`{"case":%d}`, i)}}
		use := func() *policy.Facts { return &policy.Facts{Agent: "agent-0", Tool: "look", Turn: i, Args: args} }
		if by := g.Blocked("model.call", call()); len(by) > 0 {
			return 0, fmt.Errorf("turn %d is blocked by %s", i, by[0].Thread)
		}
		if err := g.Took("model.call", call()); err != nil {
			return 0, err
		}
		g.Message()
		// As the loop tells it: other words in every turn, and a call of a tool.
		words := &event.Text{Text: fmt.Sprintf("%s That is case %d.", said, i)}
		g.Tell("model.result", &policy.Facts{Agent: "agent-0", Turn: i, Ended: true, Stop: model.StopTools, Calls: 1, Output: words, Text: words.Text})
		g.Message()
		if by := g.Blocked("tool.call", use()); len(by) > 0 {
			return 0, fmt.Errorf("the call of turn %d is blocked by %s", i, by[0].Thread)
		}
		if err := g.Took("tool.call", use()); err != nil {
			return 0, err
		}
		g.Message()
		args = &policy.Args{Text: args.Text} // other calls may have come in between
		f := use()
		f.Ended, f.Output = true, &event.Text{Text: strings.Repeat("a line of what the tool saw\n", 4)}
		g.Tell("tool.result", f)
		g.Message()
	}
	return (cpuSeconds() - begun) / turns * 1e6, nil
}
