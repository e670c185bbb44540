package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	lyceum "lyceum/internal/runtime"
	"lyceum/internal/society/solo"
)

// visitors is solo with an outside agent that has tools.
type visitors struct{ solo.Society }

var _ quest.Cast = visitors{}

func (visitors) Rules() string { return "visitors/1" }

func (visitors) Roles(*quest.Spec, bool, bool) []quest.Role {
	return []quest.Role{{Name: "agent-0", Executor: "acp:visitor", Text: "system", World: true}}
}

// reception hands the quest out.
type reception struct{ quests chan *lyceum.Quest }

// Open implements runtime.Workshop.
func (r *reception) Open(_ context.Context, q *lyceum.Quest) (lyceum.Bench, error) {
	r.quests <- q
	return r, nil
}

// Services implements runtime.Bench.
func (r *reception) Services() map[event.Type]lyceum.Service { return nil }

// Printed implements runtime.Bench.
func (r *reception) Printed(event.Event) {}

// Close implements runtime.Bench.
func (r *reception) Close() error { return nil }

// use has the agent use the tool, as everybody does who is in this process.
func use(ctx context.Context, q *lyceum.Quest, id, args string) (string, error) {
	a, err := q.Use(ctx, lyceum.Proposal{Agent: "agent-0", ID: id, Tool: look.Name, Args: args})
	if err == nil && a.Error {
		err = errors.New(a.Text)
	}
	return a.Text, err
}

// belt is the agent's tools.
type belt struct{ q *lyceum.Quest }

// Tools implements scoped.Toolbox.
func (belt) Tools(context.Context) ([]model.Tool, error) { return []model.Tool{look.Tool}, nil }

// Use implements scoped.Toolbox.
func (b belt) Use(ctx context.Context, c scoped.Call) (scoped.Result, error) {
	text, err := use(ctx, b.q, c.ID, c.Args)
	return scoped.Result{Text: text}, err
}

// scopedCalls measures a call of a tool from inside a computer against the same call here:
// both judged, made and recorded.
func (b *bench) scopedCalls() error {
	fmt.Println("\nScoped tools: the same tool of the same agent, called in this process and from its computer over MCP; both pass the gate and are in the ledger")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d := namespaces.New(namespaces.Options{})
	defer d.Close()
	if err := d.Check(ctx); err != nil {
		fmt.Printf("  LEFT OUT: %v\n", err)
		return nil
	}
	q, end, err := b.visit(ctx)
	if err != nil {
		return err
	}
	dir := b.fresh()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	h := scoped.New("agent-0", belt{q}, scoped.Options{})
	defer h.Close()
	c, err := computer.Open(ctx, d, computer.Place{Home: home, Dir: filepath.Join(dir, "computer")},
		computer.Spec{Program: true, Ports: []string{"tools"}}, computer.Options{Ports: map[string]computer.Port{"tools": {Handler: h}}})
	if err != nil {
		return err
	}
	defer c.Stop(ctx)
	n := 1000
	if b.quick {
		n = 200
	}
	var native, inside, cpuNative, cpuInside []float64
	for i := range 6 {
		took, cpu, err := here(ctx, q, i, n)
		if err != nil {
			return err
		}
		from, used, err := there(ctx, c, i, n)
		if err != nil {
			return err
		}
		if i > 0 { // connections, caches and the heap are there then
			native, cpuNative, inside, cpuInside = append(native, took), append(cpuNative, cpu), append(inside, from), append(cpuInside, used)
		}
	}
	fmt.Printf("  a call takes %.2f ms here, and %.2f ms from a computer; CPU of Lyceum %.2f and %.2f ms\n", median(native)*1e3, median(inside)*1e3, median(cpuNative)*1e3, median(cpuInside)*1e3)
	b.promise("a scoped tool call against the same tool called natively, time", median(inside)/median(native), false, 3)
	b.promise("the same, CPU", median(cpuInside)/median(cpuNative), false, 3)
	return end()
}

// visit runs a quest with an outside agent, on a real ledger.
func (b *bench) visit(ctx context.Context) (q *lyceum.Quest, end func() error, err error) {
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return nil, nil, err
	}
	rt, err := newRuntime(dir, store, nil)
	if err != nil {
		return nil, nil, err
	}
	desk := &reception{quests: make(chan *lyceum.Quest, 1)}
	rt.Societies, rt.Workshops = quest.Societies{visitors{}}, map[string]lyceum.Workshop{"visitors": desk}
	source := []byte("name: q\nproblem: What?\nmodel: script\ncomputer: none\n")
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	if err != nil {
		return nil, nil, err
	}
	if _, err := rt.Create(ctx, lyceum.Plan{Spec: spec, Source: source, Dir: dir}); err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := rt.Run(ctx, "q", lyceum.RunOptions{})
		ended <- err
	}()
	end = func() error {
		_, err := rt.Post(ctx, "q", ledger.Command{Key: "stop", Body: &event.QuestStopped{Reason: "done"}})
		return errors.Join(err, <-ended, store.Close())
	}
	select {
	case q = <-desk.quests:
		return q, end, nil
	case err := <-ended:
		return nil, nil, errors.Join(err, errors.New("the quest ended"))
	}
}

// here makes calls in this process, one after another, and returns the median.
func here(ctx context.Context, q *lyceum.Quest, round, n int) (took, cpu float64, err error) {
	var each []float64
	used := cpuSeconds()
	for i := range n {
		begun := time.Now()
		if _, err := use(ctx, q, fmt.Sprintf("here-%d-%d", round, i), fmt.Sprintf(`{"case":%d}`, i)); err != nil {
			return 0, 0, err
		}
		each = append(each, time.Since(begun).Seconds())
	}
	return median(each), (cpuSeconds() - used) / float64(n), nil
}

// there has a program in the computer make them.
func there(ctx context.Context, c *computer.Computer, round, n int) (took, cpu float64, err error) {
	token, err := c.Token("tools", "agent-0")
	if err != nil {
		return 0, 0, err
	}
	used := cpuSeconds()
	r, err := c.Run(ctx, computer.Command{ID: fmt.Sprint("caller-", round), Args: []string{computer.Program, "-call-tools", strconv.Itoa(n)}, Env: []string{"TOKEN=" + token}})
	if err != nil {
		return 0, 0, err
	}
	cpu = (cpuSeconds() - used) / float64(n)
	if r.Exit != 0 {
		return 0, 0, fmt.Errorf("the program inside: %s", r.Stderr.Head)
	}
	took, err = strconv.ParseFloat(strings.TrimSpace(string(r.Stdout.Head)), 64)
	return took, cpu, err
}

// callTools is that program: it calls the tool as an agent does, and prints the median.
func callTools(n int) error {
	client, session, each := &http.Client{}, "", []float64(nil)
	post := func(body string) (string, error) {
		r, err := http.NewRequest(http.MethodPost, "http://"+os.Getenv("LYCEUM_PORT_TOOLS")+scoped.Path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		resp, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
		text, err := io.ReadAll(bufio.NewReader(resp.Body))
		if err == nil && resp.StatusCode >= 300 {
			err = fmt.Errorf("%s: %s", resp.Status, text)
		}
		return string(text), err
	}
	if _, err := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`); err != nil {
		return err
	}
	for i := range n {
		begun := time.Now()
		text, err := post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look","arguments":{"case":%d}}}`, i+1, i))
		if err != nil {
			return err
		}
		each = append(each, time.Since(begun).Seconds())
		if !strings.Contains(text, `"result"`) || strings.Contains(text, `"isError":true`) {
			return errors.New(text)
		}
	}
	fmt.Println(median(each))
	return nil
}
