package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/provider"
	"lyceum/internal/quest"
	lyceum "lyceum/internal/runtime"
	"lyceum/internal/society/solo"
)

// guests is solo with outside agents that have a gateway.
type guests struct {
	solo.Society
	n int
}

// The runtime asks by a type assertion: without this line a method of another form is no role at all.
var _ quest.Cast = guests{}

func (guests) Rules() string { return "guests/1" }

func (g guests) Roles(*quest.Spec, bool, bool) (out []quest.Role) {
	for i := range g.n {
		out = append(out, quest.Role{Name: fmt.Sprintf("agent-%d", i), Executor: "acp:guest", Text: "system", Gateway: &event.GatewaySpec{Any: true}})
	}
	return out
}

// lodge serves the gateways of the guests, each at an address, until it is told to stop.
type lodge struct {
	n     int
	urls  chan []string
	close []func() error
}

// Open implements runtime.Workshop.
func (l *lodge) Open(_ context.Context, q *lyceum.Quest) (lyceum.Bench, error) {
	var urls []string
	for i := range l.n {
		who := fmt.Sprintf("agent-%d", i)
		h, err := q.Gateway(who)
		if err != nil {
			return nil, err
		}
		at, stop, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(computer.As(r.Context(), who)))
		}))
		if err != nil {
			return nil, err
		}
		urls, l.close = append(urls, at), append(l.close, stop)
	}
	l.urls <- urls
	return l, nil
}

// Services implements runtime.Bench.
func (l *lodge) Services() map[event.Type]lyceum.Service { return nil }

// Printed implements runtime.Bench.
func (l *lodge) Printed(event.Event) {}

// Close implements runtime.Bench.
func (l *lodge) Close() (err error) {
	for _, stop := range l.close {
		err = errors.Join(err, stop())
	}
	return err
}

func listen(h http.Handler) (url string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h}
	go func() { _ = srv.Serve(l) }()
	return "http://" + l.Addr().String(), srv.Close, nil
}

// openLodge runs a quest whose agents have gateways to a server, on a real ledger.
func openLodge(dir, server string, agents int) (urls []string, stop func() error, err error) {
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
	found, err := provider.New(&provider.Options{
		Config:  &config.Config{Providers: map[string]config.Provider{"anthropic": {URL: strings.TrimSuffix(server, "/"), Concurrency: 2000}}},
		Getenv:  func(v string) string { return map[string]string{"ANTHROPIC_API_KEY": "sk-ant-bench-key-0123456789"}[v] },
		Keyring: func(context.Context, string) (string, error) { return "", nil },
	})
	if err != nil {
		return nil, nil, err
	}
	shop := &lodge{n: agents, urls: make(chan []string, 1)}
	rt.Societies, rt.Workshops = quest.Societies{guests{n: agents}}, map[string]lyceum.Workshop{"guests": shop}
	rt.Forward = func(name string) (gateway.Upstream, error) { return found.Forward(name) }
	rt.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return &rawClaude{server}, nil }
	source := []byte("name: q\nproblem: What?\nmodel: anthropic/claude-bench-slow\ncomputer: none\n")
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := rt.Create(ctx, lyceum.Plan{Spec: spec, Source: source, Dir: dir}); err != nil {
		cancel()
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := rt.Run(ctx, "q", lyceum.RunOptions{})
		ended <- err
	}()
	stop = func() error {
		_, err := rt.Post(ctx, "q", ledger.Command{Key: "stop", Body: &event.QuestStopped{Reason: "done"}})
		err = errors.Join(err, <-ended)
		cancel()
		found.Close()
		return errors.Join(err, store.Close())
	}
	select {
	case urls = <-shop.urls:
		return urls, stop, nil
	case err := <-ended:
		cancel()
		return nil, nil, errors.Join(err, errors.New("the quest ended"))
	}
}

// asking is a request of a coding agent in the middle of its work: sixty messages, 60 KB.
func asking() []byte {
	var messages []map[string]any
	for i := range 60 {
		role := []string{"user", "assistant"}[i%2]
		messages = append(messages, map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": strings.Repeat("It looks at a line of code. ", 36)}}})
	}
	body, err := json.Marshal(map[string]any{
		"model": "claude-bench", "max_tokens": 4000, "stream": true, "messages": messages,
		"tools": []any{map[string]any{"name": "look", "description": "looks", "input_schema": map[string]any{"type": "object"}}},
	})
	if err != nil {
		panic(err)
	}
	return body
}

// teller is a server that streams an answer of so many words, each in an event, as a
// provider does.
func teller(events int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []json.RawMessage `json:"messages"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		send := func(name, data string) {
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
			_ = control.Flush()
		}
		send("message_start", `{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":100,"output_tokens":1}}}`)
		for i := range events {
			send("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word %d and a few others"}}`, i))
		}
		send("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":300}}`)
		send("message_stop", `{"type":"message_stop"}`)
	})
}

// hear asks, reads the answer as an agent does, and says how long the first event took.
func hear(client *http.Client, url string, body []byte) (first time.Duration, err error) {
	begun := time.Now()
	req, err := http.NewRequest(http.MethodPost, url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return 0, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	lines := bufio.NewScanner(resp.Body)
	var text strings.Builder
	ended := false
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if first == 0 {
			first = time.Since(begun)
		}
		var e struct {
			Type  string `json:"type"`
			Delta struct {
				Text string `json:"text"`
			} `json:"delta"`
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return 0, err
		}
		text.WriteString(e.Delta.Text)
		ended = ended || e.Type == "message_stop"
	}
	if !ended {
		return 0, errors.New("the answer is not whole")
	}
	return first, lines.Err()
}

// gateway measures what passing through it takes, and what a thousand streams do.
func (b *bench) gateway() error {
	fmt.Println("\nGateway: requests of 60 KB, answers of 300 events, through it (gate, ledger, looking through) and directly")
	server, stop, err := listen(teller(300))
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	urls, end, err := openLodge(b.fresh(), server, 1)
	if err != nil {
		return err
	}
	n := 400
	if b.quick {
		n = 150
	}
	body := asking()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	measure := func(url string) (cpu, first float64, err error) {
		var firsts []float64
		begun := cpuSeconds()
		for range n {
			at, err := hear(client, url, body)
			if err != nil {
				return 0, 0, err
			}
			firsts = append(firsts, at.Seconds()*1e3)
		}
		return (cpuSeconds() - begun) / float64(n) * 1e3, median(firsts), nil
	}
	for _, url := range []string{server, urls[0]} { // connections, caches and the heap are there then
		if _, _, err := measure(url); err != nil {
			return err
		}
	}
	var direct, through, early, late []float64
	for range 5 {
		cpu, first, err := measure(server)
		if err != nil {
			return err
		}
		direct, early = append(direct, cpu), append(early, first)
		if cpu, first, err = measure(urls[0]); err != nil {
			return err
		}
		through, late = append(through, cpu), append(late, first)
	}
	if err := end(); err != nil {
		return err
	}
	fmt.Printf("  a request takes %.2f ms of CPU directly, agent and server included, and %.2f ms through the gateway\n", median(direct), median(through))
	fmt.Printf("  the first token comes after %.2f ms directly, and %.2f ms through the gateway\n", median(early), median(late))
	b.promise("CPU of a request through the gateway against a direct one", median(through)/median(direct), false, 1.5)
	slow, done, err := startProcess("-serve-claude")
	if err != nil {
		return err
	}
	defer done()
	r, err := runCell(cell{Loop: "gateway-streams", N: 1000, Server: slow, Dir: b.fresh()})
	if err != nil {
		return err
	}
	fmt.Printf("  1000 streams at once through the gateway: %.0f MB at most, their listeners included, %.1f s for answers that take 3 s\n", r.PeakMB, r.Wall)
	b.promise("MB of 1000 streams through the gateway", r.PeakMB, false, 300)
	return nil
}

// gatewayRequests has one agent ask N times, through the gateway or directly: what gateway compares, alone,
// for a profile.
func gatewayRequests(c cell) (r reading, err error) {
	url, stop, err := listen(teller(300))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if c.Loop == "gateway-through" {
		urls, end, err := openLodge(c.Dir, url, 1)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, end()) }()
		url = urls[0]
	}
	client, body := &http.Client{}, asking()
	begun, cpu := time.Now(), cpuSeconds()
	for range c.N {
		if _, err := hear(client, url, body); err != nil {
			return r, err
		}
	}
	return reading{Turns: c.N, Wall: time.Since(begun).Seconds(), CPU: cpuSeconds() - cpu, PeakMB: peakMB()}, nil
}

// gatewayStreams has N agents' requests pass at the same time.
func gatewayStreams(c cell) (r reading, err error) {
	urls, stop, err := openLodge(c.Dir, c.Server, (c.N+31)/32)
	if err != nil {
		return r, err
	}
	begun, cpu := time.Now(), cpuSeconds()
	errs := make([]error, c.N)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	body := []byte(`{"model":"x","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"Does it hold?"}]}`)
	var wg sync.WaitGroup
	for i := range c.N {
		wg.Go(func() { _, errs[i] = hear(client, urls[i%len(urls)], body) })
	}
	wg.Wait()
	r = reading{Turns: c.N, Wall: time.Since(begun).Seconds(), CPU: cpuSeconds() - cpu, PeakMB: peakMB()}
	return r, errors.Join(errors.Join(errs...), stop())
}
