package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/model/anthropic"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"
	"lyceum/internal/need"
)

// most is how much memory an answer may take at most, in bytes.
const most = 160 << 20

// formats are the four, each with how a server says things in it.
var formats = map[string]struct {
	open func(*wire.Client) model.Model
	// begins and then what goes on for ever, by what it is. %s is filled with a long text.
	begins  string
	endless map[string]string
}{
	"anthropic": {
		func(c *wire.Client) model.Model { return anthropic.New(c, anthropic.Options{}) },
		sse(`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`),
		map[string]string{
			"Text":       sse(`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}`) + "\x00" + sse(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`),
			"Thoughts":   sse(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}`) + "\x00" + sse(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"%s"}}`),
			"Signatures": sse(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}`) + "\x00" + sse(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"%s"}}`),
			"Arguments":  sse(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b"}}`) + "\x00" + sse(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"%s"}}`),
			"Calls":      "\x00" + sse(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"a","name":"b","input":{}}}`),
			"Redacted":   "\x00" + sse(`{"type":"content_block_start","index":%d,"content_block":{"type":"redacted_thinking","data":"x"}}`),
		},
	},
	"gemini": {
		func(c *wire.Client) model.Model { return gemini.New(c, gemini.Options{}) }, "",
		map[string]string{
			"Text":       "\x00" + sse(`{"candidates":[{"content":{"parts":[{"text":"%s"}]}}]}`),
			"Thoughts":   "\x00" + sse(`{"candidates":[{"content":{"parts":[{"text":"%s","thought":true}]}}]}`),
			"Signatures": "\x00" + sse(`{"candidates":[{"content":{"parts":[{"text":"x","thoughtSignature":"%s"}]}}]}`),
			"Parts":      "\x00" + sse(`{"candidates":[{"content":{"parts":[{"text":"x"},{"text":"y","thought":true}]}}]}`),
			"Arguments":  "\x00" + sse(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"x":"%s"}}}]}}]}`),
			"Calls":      "\x00" + sse(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{}}}]}}]}`),
		},
	},
	"chat": {
		func(c *wire.Client) model.Model { return openai.NewChat(c, openai.Options{}) }, "",
		map[string]string{
			"Text":       "\x00" + sse(`{"choices":[{"index":0,"delta":{"content":"%s"}}]}`),
			"Thoughts":   "\x00" + sse(`{"choices":[{"index":0,"delta":{"reasoning_content":"%s"}}]}`),
			"Details":    "\x00" + sse(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"%s"}]}}]}`),
			"Detailed":   "\x00" + sse(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.encrypted"},{"type":"reasoning.encrypted"}]}}]}`),
			"TinyPieces": "\x00" + sse(`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"t","index":0,"text":"xxxxxxxx"}],"tool_calls":[{"index":0,"function":{"name":"n"}}]}}]}`),
			"Arguments":  "\x00" + sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"b","arguments":"%s"}}]}}]}`),
			"Calls":      "\x00" + sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"b","arguments":"{}"}}]}}]}`),
			"Names":      "\x00" + sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"%s"}}]}}]}`),
		},
	},
	"responses": {
		func(c *wire.Client) model.Model { return openai.NewResponses(c, openai.Options{}) }, "",
		map[string]string{
			"Text":  "\x00" + sse(`{"type":"response.output_text.delta","delta":"%s"}`),
			"Items": "\x00" + sse(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"message","content":[{"text":"%s"}]}}`),
			"Calls": "\x00" + sse(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"function_call"}}`),
		},
	},
}

func sse(data string) string { return "data: " + data + "\n\n" }

// always are streams that are hostile in every format.
var always = map[string]string{
	"ALineWithoutEnd":    "data: \x00" + strings.Repeat("x", 4096),
	"AnEventWithoutEnd":  "\x00data: " + strings.Repeat("x", 4096) + "\n",
	"NothingButComments": "\x00: " + strings.Repeat("x", 4096) + "\n",
	"NamesOfEvents":      "\x00event: " + strings.Repeat("x", 4096) + "\n",
	"ManyObjects":        "data: {\"candidates\":[{}" + strings.Repeat(",{}", 2<<20) + "],\"choices\":[{}" + strings.Repeat(",{}", 500_000) + "]}\n\n\x00",
	"ManyLists":          "data: {\"type\":\"response.completed\",\"response\":{\"output\":[[]" + strings.Repeat(",[]", 2<<20) + "]}}\n\n\x00",
	"Deep":               "data: " + strings.Repeat("[", 7<<20) + "\n\n\x00",
}

// TestAHostileStream: whatever a server sends, in whichever format, what an answer takes of this
// process's memory and time is bounded, and it ends in an error that names the provider. It is not
// parallel: it measures.
func TestAHostileStream(t *testing.T) {
	need.NoDetector(t)
	for name, f := range formats {
		streams := map[string]string{}
		for what, text := range always {
			if name == "chat" || strings.HasPrefix(what, "Many") {
				streams[what] = text // the others do not come to the driver
			}
		}
		for what, text := range f.endless {
			streams[what] = f.begins + text
		}
		for what, text := range streams {
			t.Run(name+"/"+what, func(t *testing.T) {
				begins, goes, _ := strings.Cut(text, "\x00")
				server := httptest.NewServer(pouring(begins, goes))
				defer server.Close()
				m := f.open(&wire.Client{Provider: "evil", Base: server.URL, HTTP: server.Client()})
				peak, took, err := measured(t, func(ctx context.Context) error {
					_, err := m.Generate(ctx, &model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: "text", Text: "x"}}}}}, func(model.Delta) {})
					return err
				})
				e, ok := errors.AsType[*model.Error](err)
				if !ok || !strings.Contains(e.Text, "evil") || !e.Garbled && !strings.Contains(e.Text, "in the middle") {
					t.Errorf("the answer: got %v, want an error of the provider that is no outage", err)
				}
				if peak > most {
					t.Errorf("the answer took %d MiB, want at most %d", peak>>20, most>>20)
				}
				if took > 30*time.Second {
					t.Errorf("the answer took %s", took)
				}
				t.Logf("%d MiB at most, %s: %.100v", peak>>20, took.Round(time.Millisecond), err)
			})
		}
	}
}

// pouring is a server that begins somehow and then goes on until nobody listens.
func pouring(begins, goes string) http.HandlerFunc {
	long := strings.Repeat("x", 64<<10)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if _, err := io.WriteString(w, begins); err != nil || goes == "" {
			return
		}
		for n := 0; ; n++ {
			piece := strings.ReplaceAll(strings.ReplaceAll(goes, "%s", long), "%d", fmt.Sprint(n))
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}
}

// measured runs f, and tells how much memory this process had in use at most beyond what it had.
func measured(t *testing.T, f func(context.Context) error) (peak int64, took time.Duration, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	peak = need.Heap(t, func() {
		began := time.Now()
		err = f(ctx)
		took = time.Since(began)
	})
	return peak, took, err
}

// TestAHostileServer: what it says of itself, its failures and its headers are bounded, too.
func TestAHostileServer(t *testing.T) {
	need.NoDetector(t)
	long := strings.Repeat("x", 64<<10)
	pour := func(w http.ResponseWriter, piece string) {
		for {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}
	for what, answer := range map[string]http.HandlerFunc{
		"AListWithoutEnd": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{}`)
			pour(w, ",{}")
		},
		"ATextWithoutEnd": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":"`)
			pour(w, long)
		},
		"AFailureWithoutEnd": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			pour(w, long)
		},
		"HeadersWithoutEnd": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 200 {
				w.Header().Set(fmt.Sprintf("X-%d", i), long)
			}
		},
		"MuchInLittle": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{}`+strings.Repeat(",{}", 2<<20)+`]}`)
		},
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c := &wire.Client{Provider: "evil", Base: server.URL}
			peak, took, err := measured(t, func(ctx context.Context) error {
				var out struct {
					Data []struct {
						ID, Name, Kind, Owner, Note string
					} `json:"data"`
				}
				return c.Ask(ctx, "/models", nil, &out)
			})
			if err == nil || !strings.Contains(err.Error(), "evil") {
				t.Errorf("the server: got %v, want an error of the provider", err)
			}
			if peak > most {
				t.Errorf("what the server says took %d MiB, want at most %d", peak>>20, most>>20)
			}
			t.Logf("%d MiB at most, %s: %.100v", peak>>20, took.Round(time.Millisecond), err)
		})
	}
}
