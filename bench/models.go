package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/provider"
)

// models measures what a call of a real driver takes in the middle of a long
// conversation, and what a thousand streams at once take.
func (b *bench) models() error {
	fmt.Println("\nModels: the Anthropic driver, with retries and limits around it, against a local server")
	server, stop, err := startProcess("-serve-claude")
	if err != nil {
		return err
	}
	defer stop()
	var ours, bare []float64
	for range 3 {
		for loop, to := range map[string]*[]float64{"lyceum": &ours, "bare": &bare} {
			r, err := runCell(cell{Loop: loop, Model: "claude", N: 1, K: 200, Server: server, Dir: b.fresh()})
			if err != nil {
				return err
			}
			*to = append(*to, r.cpu()/1e3)
		}
	}
	fmt.Printf("  a turn takes %.2f ms of CPU, with 200 messages of history on the average (0 to 400);\n", median(ours))
	fmt.Printf("  the least program that posts the same and appends the same events takes %.2f ms\n", median(bare))
	b.promise("ms of CPU that Lyceum adds to a call at 200 messages", median(ours)-median(bare), false, 2)
	r, err := runCell(cell{Loop: "streams", Model: "claude-slow", N: 1000, Server: server, Dir: b.fresh()})
	if err != nil {
		return err
	}
	fmt.Printf("  1000 streams at once: %.0f MB at most, %.1f s for answers that take 3 s\n", r.PeakMB, r.Wall)
	b.promise("MB of 1000 streaming calls", r.PeakMB, false, 300)
	return nil
}

// claude is the model behind a local server, as users have it.
func claude(server, name string, concurrency int64) (model.Model, error) {
	found, err := provider.New(&provider.Options{
		Config: &config.Config{Providers: map[string]config.Provider{"anthropic": {URL: strings.TrimSuffix(server, "/"), Concurrency: concurrency}}},
		Getenv: func(v string) string {
			if v == "ANTHROPIC_API_KEY" {
				return "sk-ant-bench-key-0123456789"
			}
			return ""
		},
		Keyring: func(context.Context, string) (string, error) { return "", nil },
	})
	if err != nil {
		return nil, err
	}
	m, _, err := found.Open(name)
	return m, err
}

// rawClaude is the least that speaks with such a server: it posts the conversation
// and looks for the two things that it must know of the answer.
type rawClaude struct{ url string }

type rawMessage struct {
	Role    string    `json:"role"`
	Content []rawPart `json:"content"`
}

type rawPart struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	UseID string          `json:"tool_use_id,omitempty"`
	Out   string          `json:"content,omitempty"`
}

func (m *rawClaude) Generate(ctx context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	var messages []rawMessage
	for _, msg := range r.Messages {
		out := rawMessage{Role: string(msg.Role)}
		for _, p := range msg.Parts {
			switch p.Kind {
			case event.PartToolCall:
				out.Content = append(out.Content, rawPart{Type: "tool_use", ID: p.ID, Name: p.Name, Input: json.RawMessage(p.Args)})
			case model.PartToolResult:
				out.Content = append(out.Content, rawPart{Type: "tool_result", UseID: p.ID, Out: p.Text})
			default:
				out.Content = append(out.Content, rawPart{Type: "text", Text: p.Text})
			}
		}
		messages = append(messages, out)
	}
	body, err := json.Marshal(map[string]any{"model": "claude", "max_tokens": 1000, "stream": true, "system": r.System, "messages": messages})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	a := &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: said}}, Stop: model.StopEnd, Usage: event.Usage{Input: 100, Output: 30}}
	if bytes.Contains(answer, []byte("tool_use")) {
		a.Stop = model.StopTools
		a.Parts = append(a.Parts, model.Part{Kind: event.PartToolCall, ID: fmt.Sprint("toolu_", r.Turn), Name: "look", Args: fmt.Sprintf(`{"case":%d}`, r.Turn)})
	}
	return a, nil
}

// streams has N calls listen at the same time.
func streams(c cell) (r reading, err error) {
	m, err := claude(c.Server, "anthropic/"+c.Model, int64(c.N))
	if err != nil {
		return r, err
	}
	begun, cpu := time.Now(), cpuSeconds()
	errs := make([]error, c.N)
	var wg sync.WaitGroup
	for i := range c.N {
		wg.Go(func() {
			req := &model.Request{Quest: fmt.Sprint("q", i), Agent: "agent-0", System: "You are a careful researcher.", Tools: []model.Tool{look.Tool}, Turn: 1,
				Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "Does it hold?"}}}}}
			_, errs[i] = m.Generate(context.Background(), req, func(model.Delta) {})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return r, err
		}
	}
	return reading{Turns: c.N, Wall: time.Since(begun).Seconds(), CPU: cpuSeconds() - cpu, PeakMB: peakMB()}, nil
}

// serveClaude answers as Anthropic does: at once with a tool call, and to a model
// whose name ends in slow with words over three seconds.
func serveClaude() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(name, data string) { _, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data) }
		send("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":100,"output_tokens":1}}}`)
		send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		slow := strings.Contains(string(body[:min(len(body), 1000)]), "-slow") || strings.Contains(string(body[max(0, len(body)-1000):]), "-slow")
		n := 1
		if slow {
			n = 30
		}
		for range n {
			send("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, said))
			if slow {
				_ = http.NewResponseController(w).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		}
		send("content_block_stop", `{"type":"content_block_stop","index":0}`)
		reason := "end_turn"
		if turn := strings.Count(string(body), `"tool_result"`) + 1; !slow && turn <= claudeSteps {
			reason = "tool_use"
			send("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_%d","name":"look","input":{}}}`, turn))
			send("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"case\":%d}"}}`, turn))
			send("content_block_stop", `{"type":"content_block_stop","index":1}`)
		}
		send("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":30}}`, reason))
		send("message_stop", `{"type":"message_stop"}`)
	})}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); _ = srv.Close() }()
	fmt.Printf("http://%s/\n", l.Addr())
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// claudeSteps is how many tool calls the server asks for.
const claudeSteps = 200
