package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/script"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"

	"golang.org/x/sys/unix"
)

const (
	said   = "I look at the next case before I say anything about the whole; here is what I want to know of it."
	output = "case 17: holds. The quantity is 3.141592653589793 and the residual is below 1e-12 in all trials so far."
	// args are those of a step: each looks at another case.
	args = `{"case":${turn}}`
)

func (c cell) model() (model.Model, error) {
	if c.Model == "claude" && c.Loop == "bare" {
		return &rawClaude{c.Server}, nil
	}
	if c.Model == "claude" {
		return claude(c.Server, "anthropic/claude-bench", 64)
	}
	m, err := c.script("usage: {input: 100, output: 30}")
	if c.Model == "slow" {
		m = slow{m}
	}
	return m, err
}

// slow is a model that takes a tenth of a second for an answer.
type slow struct{ model.Model }

func (s slow) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Model.Generate(ctx, r, emit)
}

// script is a model in this process. With a usage of its own it costs the same
// however long the history is; without, it counts what it is shown.
func (c cell) script(usage string) (model.Model, error) {
	return script.Parse("bench", fmt.Appendf(nil, `
rules:
  - on: {until_turn: %d}
    say: %q
    call: [{tool: look, args: '%s'}]
    %s
  - say: "It holds."
`, c.K, said, args, usage))
}

var look = tool.Tool{
	Tool:       model.Tool{Name: "look", Description: "Looks at a case.", Schema: `{"type":"object","properties":{"case":{"type":"integer"}},"required":["case"],"additionalProperties":false}`},
	Repeatable: true,
	Run:        func(context.Context, tool.Call) (string, error) { return output, nil },
}

// measureCell runs rounds of the cell until it has lasted long enough to mean
// something.
func measureCell(c cell) (r reading, err error) {
	if c.Loop == "streams" {
		return streams(c)
	}
	switch c.Loop {
	case "gateway-streams":
		return gatewayStreams(c)
	case "gateway-direct", "gateway-through":
		return gatewayRequests(c)
	}
	m, err := c.model()
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return r, err
	}
	store, err := sqlite.Open(filepath.Join(c.Dir, "lyceum.db"), nil)
	if err != nil {
		return r, err
	}
	defer store.Close()
	loop := bareLoop
	if c.Loop == "lyceum" {
		loop = lyceumLoop
	}
	if c.Loop == "signed" {
		office, done, err := vouchers(c.Dir, store)
		if err != nil {
			return r, err
		}
		defer done()
		loop = signedLoop(office)
	}
	for round := 0; r.Wall < 0.7; round++ {
		run, err := loop(c, m, store, round)
		if err != nil {
			return r, err
		}
		wall, cpu := time.Now(), cpuSeconds()
		var wg sync.WaitGroup
		errs := make([]error, c.N)
		for i := range c.N {
			wg.Go(func() { errs[i] = run(i) })
		}
		wg.Wait()
		r.Wall += time.Since(wall).Seconds()
		r.CPU += cpuSeconds() - cpu
		r.Turns += c.N * c.K
		for _, err := range errs {
			if err != nil {
				return r, err
			}
		}
	}
	r.PeakMB = peakMB()
	r.Bytes, err = bytesPerTurn(store, c)
	return r, err
}

func bytesPerTurn(store *sqlite.Store, c cell) (float64, error) {
	n := 0
	for e, err := range store.Read(context.Background(), "q0-0", 1) {
		if err != nil {
			return 0, err
		}
		n += len(e.Line())
	}
	return float64(n) / float64(c.K), nil
}

func cpuSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// newRuntime is Lyceum on a store, with one model and one tool.
func newRuntime(dir string, store ledger.Store, m model.Model) (*runtime.Runtime, error) {
	blobs, err := blobfs.Open(filepath.Join(dir, "blobs"), nil)
	if err != nil {
		return nil, err
	}
	tools, err := tool.New(look)
	if err != nil {
		return nil, err
	}
	return &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: tools, Societies: []quest.Society{solo.Society{}}, Workshops: service.Workshops(""), Clock: runtime.SystemClock, Home: dir,
		Models: func(string, func(string) ([]byte, error)) (model.Model, error) { return m, nil },
	}, nil
}

// lyceumLoop runs quests as they always run.
func lyceumLoop(c cell, m model.Model, store *sqlite.Store, round int) (func(i int) error, error) {
	rt, err := newRuntime(c.Dir, store, m)
	if err != nil {
		return nil, err
	}
	return startLoop(c, rt, fmt.Sprintf("q%d", round))
}

// startLoop makes the quests, and returns what runs one of them.
func startLoop(c cell, rt *runtime.Runtime, names string) (func(i int) error, error) {
	for i := range c.N {
		spec := &quest.Spec{Name: fmt.Sprintf("%s-%d", names, i), Problem: "Does it hold?", Model: c.Model, Window: 1 << 30}
		if _, err := rt.Create(context.Background(), runtime.Plan{Spec: spec, Source: []byte("name: bench\n"), Dir: c.Dir}); err != nil {
			return nil, err
		}
	}
	return func(i int) error {
		s, err := rt.Run(context.Background(), fmt.Sprintf("%s-%d", names, i), runtime.RunOptions{})
		if err == nil && s.Status != quest.Finished {
			err = fmt.Errorf("quest %d is %s: %s", i, s.Status, s.Reason)
		}
		return err
	}, nil
}

// bareLoop is the least program: ask, append, run the tool, append.
func bareLoop(c cell, m model.Model, store *sqlite.Store, round int) (func(i int) error, error) {
	first, err := firstRequest(c, store, round)
	if err != nil {
		return nil, err
	}
	return func(i int) error {
		b := &bare{store: store, quest: fmt.Sprintf("q%d-%d", round, i)}
		req := new(*first)
		req.Turn, req.Messages = 0, slices.Clone(first.Messages)
		if err := b.append(&event.UserMessage{Text: event.Text{Text: "Does it hold?"}}, call(req)); err != nil {
			return err
		}
		for {
			req.Turn++
			a, err := m.Generate(context.Background(), req, nil)
			if err != nil {
				return err
			}
			res := &event.ModelResult{Call: b.seq, Stop: a.Stop, Usage: a.Usage}
			for _, p := range a.Parts {
				part := event.Part{ID: p.ID, Kind: p.Kind, Name: p.Name}
				if p.Text != "" {
					part.Text = &event.Text{Text: p.Text}
				}
				if p.Args != "" {
					part.Args = &event.Text{Text: p.Args}
				}
				res.Parts = append(res.Parts, part)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Parts: a.Parts})
			if a.Stop == model.StopEnd {
				return b.append(res)
			}
			if err := b.append(res, &event.ToolCall{Answer: b.seq + 1, ID: a.Parts[1].ID, Part: 1}); err != nil {
				return err
			}
			out, err := look.Run(context.Background(), tool.Call{Args: []byte(a.Parts[1].Args)})
			if err != nil {
				return err
			}
			req.Messages = append(req.Messages, model.Message{Role: model.User, Parts: []model.Part{{Kind: model.PartToolResult, ID: a.Parts[1].ID, Name: "look", Text: out}}})
			if err := b.append(&event.ToolResult{Call: b.seq, Output: event.Text{Text: out}}, call(req)); err != nil {
				return err
			}
		}
	}, nil
}

// firstRequest is what Lyceum's loop sends first, with its prompt and all tools: the bare
// loop sends the same.
func firstRequest(c cell, store *sqlite.Store, round int) (*model.Request, error) {
	m := &listener{}
	rt, err := newRuntime(c.Dir, store, m)
	if err != nil {
		return nil, err
	}
	c.N = 1
	run, err := startLoop(c, rt, fmt.Sprintf("first%d", round))
	if err != nil {
		return nil, err
	}
	return m.first, run(0)
}

// listener is a model that answers at once, and keeps what it was asked.
type listener struct{ first *model.Request }

func (m *listener) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	m.first = r
	return &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: "It holds."}}, Stop: model.StopEnd}, nil
}

func call(r *model.Request) *event.ModelCall {
	return &event.ModelCall{Last: int64(len(r.Messages) - 1), Model: r.Model, Turn: r.Turn + 1}
}

type bare struct {
	store *sqlite.Store
	quest string
	seq   uint64
	hash  event.Hash
}

func (b *bare) append(bodies ...event.Body) error {
	batch := ledger.Batch{Quest: b.quest}
	for _, body := range bodies {
		e, err := event.Seal(b.quest, b.seq+1, b.hash, event.Draft{Parent: b.seq, Time: runtime.SystemClock(), Actor: "agent-0", Body: body})
		if err != nil {
			return err
		}
		batch.Events = append(batch.Events, e)
		b.seq, b.hash = e.Seq, e.Hash
	}
	return b.store.Append(context.Background(), batch)
}
