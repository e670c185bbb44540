package openai_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(base, key string, silence time.Duration) *wire.Client {
	return &wire.Client{
		Provider: "openai", Base: base, Header: http.Header{"Authorization": {"Bearer " + key}}, Secrets: []string{key}, Silence: silence,
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
}

// driver is one to exercise, made of how it is opened.
func driver(d modeltest.Driver, open func(*wire.Client) model.Model) modeltest.Driver {
	d.Provider = "openai"
	d.Open = func(base, key string) model.Model { return open(client(base, key, 0)) }
	d.OpenQuiet = func(base, key string, silence time.Duration) model.Model { return open(client(base, key, silence)) }
	return d
}

func TestResponses(t *testing.T) {
	open := func(c *wire.Client) model.Model {
		return openai.NewResponses(c, openai.Options{Provider: "openai", Effort: "medium"})
	}
	t.Run("OfAModelThatReasons", func(t *testing.T) {
		modeltest.Exercise(t, driver(modeltest.Driver{Wire: modeltest.ResponsesWire{}, Model: "gpt-5", Thinking: true, Images: true}, open))
	})
	t.Run("OfAModelThatDoesNot", func(t *testing.T) {
		modeltest.Exercise(t, driver(modeltest.Driver{Wire: modeltest.ResponsesWire{}, Model: "gpt-4.1", Images: true}, open))
	})
}

func TestChat(t *testing.T) {
	for name, c := range map[string]struct {
		wire modeltest.ChatWire
		opts openai.Options
	}{
		"AsOpenAI":          {opts: openai.Options{MaxTokensField: "max_completion_tokens", CacheKey: true}},
		"ThatKeepsThoughts": {wire: modeltest.ChatWire{Keeps: true}, opts: openai.Options{ReasoningField: "reasoning_content", ShortIDs: true}},
		"ThatSealsThoughts": {wire: modeltest.ChatWire{Details: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Provider, c.opts.Effort = "openai", "medium"
			d := modeltest.Driver{Wire: c.wire, Model: "model-1", Thinking: true, Images: true, Unsigned: !c.wire.Details}
			modeltest.Exercise(t, driver(d, func(w *wire.Client) model.Model { return openai.NewChat(w, c.opts) }))
		})
	}
}

// TestWiresAreStrict holds the servers of the suite to what OpenAI refuses: a driver
// is only as good as they are.
func TestWiresAreStrict(t *testing.T) {
	t.Parallel()
	const (
		chat      = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[%s]}`
		responses = `{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[%s]}`
		user      = `{"role":"user","content":"hi"}`
		calls     = `{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"t","arguments":"{}"}}]}`
		asks      = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
		called    = `{"type":"function_call","call_id":"x","name":"t","arguments":"{}"}`
	)
	for name, c := range map[string]struct {
		wire modeltest.Wire
		path string
		form string
		fine bool
		text string
	}{
		"ChatIsFine":                  {modeltest.ChatWire{}, "/chat/completions", chat, true, user},
		"ChatWithAResult":             {modeltest.ChatWire{}, "/chat/completions", chat, true, user + "," + calls + `,{"role":"tool","tool_call_id":"x","content":""}`},
		"ChatElsewhere":               {modeltest.ChatWire{}, "/responses", chat, false, user},
		"ChatWithTwoUsers":            {modeltest.ChatWire{}, "/chat/completions", chat, false, user + "," + user},
		"ChatWithAnUnknownField":      {modeltest.ChatWire{}, "/chat/completions", chat, false, `{"role":"user","content":"hi","opaque":"x"}`},
		"ChatWithAnOpenCall":          {modeltest.ChatWire{}, "/chat/completions", chat, false, user + "," + calls + "," + user},
		"ChatWithAStrayResult":        {modeltest.ChatWire{}, "/chat/completions", chat, false, user + `,{"role":"tool","tool_call_id":"x","content":""}`},
		"ChatWithoutThoughts":         {modeltest.ChatWire{Keeps: true}, "/chat/completions", chat, false, user + "," + calls + `,{"role":"tool","tool_call_id":"x","content":""}`},
		"ChatWithChangedDetails":      {modeltest.ChatWire{}, "/chat/completions", chat, false, user + `,{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.encrypted","index":0,"data":"x"}]},` + user},
		"ResponseIsFine":              {modeltest.ResponsesWire{}, "/responses", responses, true, asks},
		"ResponseWithAResult":         {modeltest.ResponsesWire{}, "/responses", responses, true, asks + "," + called + `,{"type":"function_call_output","call_id":"x","output":""}`},
		"ResponseWithAnOpenCall":      {modeltest.ResponsesWire{}, "/responses", responses, false, asks + "," + called},
		"ResponseWithAStrayResult":    {modeltest.ResponsesWire{}, "/responses", responses, false, asks + `,{"type":"function_call_output","call_id":"x","output":""}`},
		"ResponseWithACallTwice":      {modeltest.ResponsesWire{}, "/responses", responses, false, asks + "," + called + "," + called + `,{"type":"function_call_output","call_id":"x","output":""}`},
		"ResponseWithAChangedThought": {modeltest.ResponsesWire{}, "/responses", responses, false, asks + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAAx"},` + called + `,{"type":"function_call_output","call_id":"x","output":""}`},
		"ResponseWithALoneThought":    {modeltest.ResponsesWire{}, "/responses", responses, false, asks + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAA` + base64.RawURLEncoding.EncodeToString([]byte(`["x","rs_1[]"]`)) + `"},` + asks},
		"ResponseWithMixedFields":     {modeltest.ResponsesWire{}, "/responses", responses, false, `{"type":"message","role":"user","name":"x","content":[{"type":"input_text","text":"hi"}]}`},
		"ResponseWithAnothersWords":   {modeltest.ResponsesWire{}, "/responses", responses, false, `{"type":"message","role":"user","content":[{"type":"output_text","text":"hi"}]}`},
	} {
		r := httptest.NewRequest(http.MethodPost, c.path, nil)
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set("Content-Type", "application/json")
		_, err := c.wire.Read(r, fmt.Appendf(nil, c.form, c.text))
		if (err == nil) != c.fine {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
