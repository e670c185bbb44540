package modeltest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What the two formats of OpenAI have in common.

// openAIJSON writes what a server says.
func openAIJSON(v any) string {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // the wires write nothing that is not JSON
	}
	return string(data)
}

// openAIStrict reads what a client says; a field that does not exist is refused.
func openAIStrict(data []byte, v any) error {
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true))
}

// openAIPieces cuts a text into several, between its characters.
func openAIPieces(text string) []string {
	var list []string
	runes := []rune(text)
	size := max(1, (len(runes)+3)/4)
	for len(runes) > 0 {
		n := min(size, len(runes))
		list = append(list, string(runes[:n]))
		runes = runes[n:]
	}
	return list
}

// openAIHead checks what is not in the body, and returns the key.
func openAIHead(r *http.Request, path string) (string, error) {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.Method != http.MethodPost:
		return "", fmt.Errorf("%s is not POST", r.Method)
	case !strings.HasSuffix(r.URL.Path, path):
		return "", fmt.Errorf("unknown request URL: %s", r.URL.Path)
	case r.URL.RawQuery != "":
		return "", errors.New("there is a query")
	case r.Header.Get("Content-Type") != "application/json":
		return "", errors.New("the body is not said to be JSON")
	case !ok || key == "":
		return "", errors.New("you didn't provide an API key")
	}
	return key, nil
}

var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// openAITool checks a function and makes a tool of it.
func openAITool(name, description string, parameters jsontext.Value) (model.Tool, error) {
	var schema struct {
		Type       string         `json:"type"`
		Properties jsontext.Value `json:"properties"`
	}
	switch {
	case !openAIName.MatchString(name):
		return model.Tool{}, fmt.Errorf("a tool's name %q does not match %s", name, openAIName)
	case json.Unmarshal(parameters, &schema) != nil || schema.Type != "object":
		return model.Tool{}, fmt.Errorf("the schema of %s must have type object", name)
	case schema.Properties.Kind() != '{':
		return model.Tool{}, fmt.Errorf("the schema of %s: object schema missing properties", name)
	}
	return model.Tool{Name: name, Description: description, Schema: string(parameters)}, nil
}

// openAIImage reads a data URL.
func openAIImage(url string) (model.Part, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || !strings.HasPrefix(head, "image/") || !strings.HasPrefix(url, "data:") {
		return model.Part{}, fmt.Errorf("invalid image URL %.40q", url)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return model.Part{}, fmt.Errorf("invalid image data: %v", err)
	}
	return model.Part{Kind: model.PartImage, Media: head, Data: raw}, nil
}

// openAIResult makes a part of a tool's output.
func openAIResult(id, text string) model.Part {
	text, failed := strings.CutPrefix(text, "Error: ")
	return model.Part{Kind: model.PartToolResult, ID: id, Text: text, Error: failed}
}

// openAITranscript puts messages together that the formats have in pieces.
type openAITranscript []model.Message

func (t *openAITranscript) add(role model.Role, parts ...model.Part) {
	if n := len(*t); n > 0 && (*t)[n-1].Role == role {
		(*t)[n-1].Parts = append((*t)[n-1].Parts, parts...)
		return
	}
	*t = append(*t, model.Message{Role: role, Parts: parts})
}

// openAIError is a failure as OpenAI words it.
func openAIError(f Failure) (status int, body map[string]any) {
	says := func(status int, kind string, code any, message string) (int, map[string]any) {
		return status, map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
	}
	switch f {
	case Overloaded:
		return says(503, "service_unavailable_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later.")
	case RateLimited:
		return says(429, "tokens", "rate_limit_exceeded", "Rate limit reached for the model on tokens per min (TPM): Limit 30000, Used 29000, Requested 4500. Please try again in 7s.")
	case ServerError, InStream:
		return says(500, "server_error", "server_error", "The server had an error while processing your request. Sorry about that!")
	case ContextTooLong:
		return says(400, "invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again.")
	case BadKey:
		return says(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-c****7890. You can find your API key at https://platform.openai.com/account/api-keys.")
	case NoModel:
		return says(404, "invalid_request_error", "model_not_found", "The model `gpt-none` does not exist or you do not have access to it.")
	}
	return says(400, "invalid_request_error", nil, "Invalid type for 'input': expected one of an array of objects or string.")
}

func refuseOpenAI(w http.ResponseWriter, f Failure) {
	status, body := openAIError(f)
	if f == RateLimited {
		w.Header().Set("Retry-After", "7")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(openAIJSON(body)))
}

// openAIStream begins an answer and returns how to send its events.
func openAIStream(w http.ResponseWriter) func(name, data string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	return func(name, data string) {
		if name != "" {
			name = "event: " + name + "\n"
		}
		_, _ = fmt.Fprintf(w, "%sdata: %s\n\n", name, data)
		_ = http.NewResponseController(w).Flush()
	}
}

// ChatWire is Chat Completions, with the thoughts that compatible servers add in
// reasoning_content.
type ChatWire struct {
	// Details adds reasoning_details, which is where OpenRouter has what is opaque.
	Details bool
	// Keeps wants to see the thoughts of each call again, as Kimi does.
	Keeps bool
}

var _ Wire = ChatWire{}

type chatBody struct {
	Model           string         `json:"model"`
	Messages        []chatSaid     `json:"messages"`
	Stream          bool           `json:"stream"`
	StreamOptions   *streamOptions `json:"stream_options"`
	MaxTokens       int64          `json:"max_tokens"`
	MaxCompletion   int64          `json:"max_completion_tokens"`
	Tools           []chatOffer    `json:"tools"`
	ReasoningEffort string         `json:"reasoning_effort"`
	PromptCacheKey  string         `json:"prompt_cache_key"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatOffer struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

type chatSaid struct {
	Role       string            `json:"role"`
	Content    jsontext.Value    `json:"content"`
	ToolCallID string            `json:"tool_call_id"`
	Reasoning  string            `json:"reasoning_content"`
	Details    []reasoningDetail `json:"reasoning_details"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type reasoningDetail struct {
	Type  string `json:"type"`
	Index int64  `json:"index"`
	Data  string `json:"data"`
}

// Read refuses what OpenAI refuses.
func (c ChatWire) Read(r *http.Request, data []byte) (*Seen, error) {
	key, err := openAIHead(r, "/chat/completions")
	if err != nil {
		return nil, err
	}
	var b chatBody
	if err := openAIStrict(data, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Model == "":
		return nil, errors.New("you must provide a model parameter")
	case !b.Stream || b.StreamOptions == nil || !b.StreamOptions.IncludeUsage:
		return nil, errors.New("the answer would come at once, or without its usage")
	case b.MaxTokens != 0 && b.MaxCompletion != 0:
		return nil, errors.New("setting max_tokens and max_completion_tokens at the same time is not supported")
	}
	seen := &Seen{
		Key: key, Model: b.Model, MaxTokens: cmp.Or(b.MaxTokens, b.MaxCompletion),
		Thinking: b.ReasoningEffort != "", CachedMessages: -1,
	}
	for _, t := range b.Tools {
		tool, err := openAITool(t.Function.Name, t.Function.Description, t.Function.Parameters)
		if err != nil || t.Type != "function" {
			return nil, cmp.Or(err, fmt.Errorf("unknown type of tool %q", t.Type))
		}
		seen.Tools = append(seen.Tools, tool)
	}
	if len(b.Messages) > 0 && b.Messages[0].Role == "system" {
		if json.Unmarshal(b.Messages[0].Content, &seen.System) != nil || seen.System == "" {
			return nil, errors.New("the system's message must be a text")
		}
		b.Messages = b.Messages[1:]
	}
	seen.Messages, err = c.messages(b.Messages)
	return seen, err
}

func (c ChatWire) messages(list []chatSaid) ([]model.Message, error) {
	var t openAITranscript
	var open []string // calls that wait for their message
	last := ""
	for i, m := range list {
		fail := func(format string, args ...any) ([]model.Message, error) {
			return nil, fmt.Errorf("messages[%d]: %s", i, fmt.Sprintf(format, args...))
		}
		if len(open) > 0 && m.Role != "tool" {
			return fail("an assistant message with tool_calls must be followed by tool messages; missing for %v", open)
		}
		if m.Role != "assistant" && (m.ToolCalls != nil || m.Reasoning != "" || m.Details != nil) || m.Role != "tool" && m.ToolCallID != "" {
			return fail("a %s's message has a field of another", m.Role)
		}
		switch m.Role {
		case "user":
			parts, err := chatContent(m.Content)
			if err != nil || len(parts) == 0 || last == "user" {
				return fail("no words of the user's, or twice in a row: %v", err)
			}
			t.add(model.User, parts...)
		case "tool":
			var text string
			if len(open) == 0 || open[0] != m.ToolCallID {
				return fail("a tool message must answer a preceding call, but %q is none of %v", m.ToolCallID, open)
			}
			if err := json.Unmarshal(m.Content, &text); err != nil {
				return fail("%v", err)
			}
			open = open[1:]
			t.add(model.User, openAIResult(m.ToolCallID, text))
		case "assistant":
			if last == "assistant" {
				return fail("two assistant messages in a row")
			}
			parts, err := chatAssistant(m)
			if err != nil {
				return fail("%v", err)
			}
			if c.Keeps && m.ToolCalls != nil && m.Reasoning == "" {
				return fail("reasoning_content is missing in assistant tool call message")
			}
			for _, call := range m.ToolCalls {
				open = append(open, call.ID)
			}
			t.add(model.Assistant, parts...)
		default:
			return fail("the role %q is none here", m.Role)
		}
		last = m.Role
	}
	if len(open) > 0 || last != "user" && last != "tool" {
		return nil, fmt.Errorf("the conversation ends with %q, and %v have no answer", last, open)
	}
	return t, nil
}

// chatContent reads a string or a list of pieces.
func chatContent(raw jsontext.Value) ([]model.Part, error) {
	if raw.Kind() == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil || text == "" {
			return nil, err
		}
		return []model.Part{{Kind: event.PartText, Text: text}}, nil
	}
	var list []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := openAIStrict(raw, &list); err != nil {
		return nil, err
	}
	var parts []model.Part
	for _, c := range list {
		part := model.Part{Kind: event.PartText, Text: c.Text}
		var err error
		switch c.Type {
		case "text":
		case "image_url":
			part, err = openAIImage(c.ImageURL.URL)
		default:
			err = fmt.Errorf("invalid content type %q", c.Type)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func chatAssistant(m chatSaid) ([]model.Part, error) {
	var parts []model.Part
	opaque := ""
	if m.Details != nil {
		d := m.Details[0]
		if len(m.Details) != 1 || d.Type != "reasoning.encrypted" {
			return nil, errors.New("reasoning_details were changed")
		}
		own, err := openAIOpen(d.Data, "")
		if err != nil {
			return nil, err
		}
		opaque = own
	}
	if m.Reasoning != "" || opaque != "" {
		parts = append(parts, model.Part{Kind: event.PartThinking, Text: m.Reasoning, Opaque: opaque})
	}
	if len(m.Content) == 0 {
		return nil, errors.New("content is missing")
	}
	if m.Content.Kind() != 'n' {
		texts, err := chatContent(m.Content)
		if err != nil || len(texts) == 0 {
			return nil, fmt.Errorf("the content is empty, or %v", err)
		}
		parts = append(parts, texts...)
	} else if m.ToolCalls == nil {
		return nil, errors.New("content may be null only beside tool_calls")
	}
	ids := make(map[string]bool)
	for _, c := range m.ToolCalls {
		if c.Type != "function" || c.ID == "" || len(c.ID) > 40 || ids[c.ID] || !openAIName.MatchString(c.Function.Name) || c.Function.Arguments == nil {
			return nil, fmt.Errorf("the call %q of %q is no call", c.ID, c.Function.Name)
		}
		ids[c.ID] = true
		parts = append(parts, model.Part{Kind: event.PartToolCall, ID: c.ID, Name: c.Function.Name, Args: *c.Function.Arguments})
	}
	return parts, nil
}

// Answer streams chunks: what is thought, what is said, and the calls.
func (c ChatWire) Answer(send Send, _ http.Header, r Reply) {
	s := &chatSender{send: send}
	s.delta(map[string]any{"role": "assistant", "content": "", "refusal": nil})
	calls := 0
	for _, p := range r.Parts {
		switch p.Kind {
		case event.PartThinking:
			for _, piece := range openAIPieces(p.Text) {
				s.delta(map[string]any{"reasoning_content": piece})
			}
			if p.Opaque != "" && c.Details {
				s.delta(map[string]any{"reasoning_details": []any{map[string]any{"type": "reasoning.encrypted", "index": 0, "data": openAISeal(p.Opaque, "")}}})
			}
		case event.PartText:
			field := "content"
			if r.Stop == model.StopRefusal {
				field = "refusal"
			}
			for _, piece := range openAIPieces(p.Text) {
				s.delta(map[string]any{field: piece})
			}
		case event.PartToolCall:
			s.call(calls, p)
			calls++
		}
	}
	finish := map[string]string{model.StopEnd: "stop", model.StopTools: "tool_calls", model.StopLength: "length", model.StopRefusal: "content_filter"}[r.Stop]
	s.chunk([]any{map[string]any{"index": 0, "delta": map[string]any{}, "logprobs": nil, "finish_reason": finish}}, nil)
	s.chunk([]any{}, chatUsage(r.Usage))
	if !s.gone {
		send("", "[DONE]")
	}
}

// chatSender sends chunks until nobody listens.
type chatSender struct {
	send Send
	gone bool
}

func (s *chatSender) chunk(choices []any, usage any) {
	if s.gone {
		return
	}
	s.gone = !s.send("", openAIJSON(map[string]any{
		"id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion.chunk", "created": 1741569952, "model": "model-1",
		"system_fingerprint": "fp_44709d6fcb", "choices": choices, "usage": usage,
	}))
}

func (s *chatSender) delta(delta map[string]any) {
	s.chunk([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": nil}}, nil)
}

// call sends the name first and the arguments in fragments.
func (s *chatSender) call(index int, p model.Part) {
	s.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": index, "id": p.ID, "type": "function", "function": map[string]any{"name": p.Name, "arguments": ""},
	}}})
	for _, piece := range openAIPieces(p.Args) {
		s.delta(map[string]any{"tool_calls": []any{map[string]any{"index": index, "function": map[string]any{"arguments": piece}}}})
	}
}

func chatUsage(u event.Usage) any {
	input := map[string]any{"cached_tokens": u.Cached, "audio_tokens": 0}
	if u.CacheWrites > 0 {
		input["cache_write_tokens"] = u.CacheWrites
	}
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     input,
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Thinking, "audio_tokens": 0},
	}
}

// Refuse words a failure as OpenAI does; in the stream, as OpenRouter does.
func (ChatWire) Refuse(w http.ResponseWriter, f Failure) {
	if f != InStream {
		refuseOpenAI(w, f)
		return
	}
	send := openAIStream(w)
	(&chatSender{send: func(name, data string) bool { send(name, data); return true }}).delta(map[string]any{"content": "Let me"})
	send("", openAIJSON(map[string]any{
		"id": "cmpl-abc123", "object": "chat.completion.chunk", "created": 1234567890, "model": "model-1",
		"error":   map[string]any{"code": 502, "message": "Provider disconnected unexpectedly"},
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": ""}, "finish_reason": "error"}},
	}))
}

// openAISeal hides what is opaque together with a word for what it belongs to, as
// encrypted thoughts do; openAIOpen refuses it if either was changed.
func openAISeal(opaque, belongs string) string {
	return "gAAAAA" + base64.RawURLEncoding.EncodeToString([]byte(openAIJSON([]string{opaque, belongs})))
}

func openAIOpen(sealed, belongs string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sealed, "gAAAAA"))
	var inner []string
	if err != nil || json.Unmarshal(raw, &inner) != nil || len(inner) != 2 || inner[1] != belongs || !bytes.HasPrefix([]byte(sealed), []byte("gAAAAA")) {
		return "", errors.New("the encrypted content could not be verified")
	}
	return inner[0], nil
}

// ResponsesWire is the Responses API, for a client that stores nothing.
type ResponsesWire struct{}

var _ Wire = ResponsesWire{}

type responsesBody struct {
	Model             string           `json:"model"`
	Input             []jsontext.Value `json:"input"`
	Instructions      string           `json:"instructions"`
	Stream            bool             `json:"stream"`
	Store             *bool            `json:"store"`
	Include           []string         `json:"include"`
	ParallelToolCalls *bool            `json:"parallel_tool_calls"`
	PromptCacheKey    string           `json:"prompt_cache_key"`
	MaxOutputTokens   *int64           `json:"max_output_tokens"`
	Reasoning         *responsesThink  `json:"reasoning"`
	Tools             []responsesOffer `json:"tools"`
}

type responsesThink struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

type responsesOffer struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
	Strict      *bool          `json:"strict"`
}

// Read refuses what OpenAI refuses.
func (ResponsesWire) Read(r *http.Request, data []byte) (*Seen, error) {
	key, err := openAIHead(r, "/responses")
	if err != nil {
		return nil, err
	}
	var b responsesBody
	if err := openAIStrict(data, &b); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	seen := &Seen{Key: key, Model: b.Model, System: b.Instructions, Thinking: b.Reasoning != nil, CachedMessages: -1}
	if b.MaxOutputTokens != nil {
		seen.MaxTokens = *b.MaxOutputTokens
	}
	for _, t := range b.Tools {
		tool, err := openAITool(t.Name, t.Description, t.Parameters)
		if err != nil || t.Type != "function" || t.Strict == nil {
			return nil, cmp.Or(err, fmt.Errorf("the tool %q is no function, or strict by default", t.Name))
		}
		seen.Tools = append(seen.Tools, tool)
	}
	seen.Messages, err = responsesInput(b.Input)
	return seen, err
}

func (b *responsesBody) check() error {
	reasoning := !strings.HasPrefix(b.Model, "gpt-4")
	switch {
	case b.Model == "":
		return errors.New("missing required parameter: 'model'")
	case !b.Stream || b.Store == nil || *b.Store:
		return errors.New("the answer would come at once, or be stored")
	case b.MaxOutputTokens != nil && *b.MaxOutputTokens < 16:
		return errors.New("invalid 'max_output_tokens': integer below minimum value, expected >= 16")
	case len(b.PromptCacheKey) > 64:
		return errors.New("invalid 'prompt_cache_key': string too long")
	case b.Include != nil && !reasoning:
		return errors.New("encrypted content is not supported with this model")
	case b.Reasoning != nil && !reasoning:
		return errors.New("unsupported parameter: 'reasoning.effort' is not supported with this model")
	case reasoning && !slices.Equal(b.Include, []string{"reasoning.encrypted_content"}):
		return errors.New("the thoughts would not come back")
	}
	return nil
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   []responsesWord `json:"content"`
	Phase     string          `json:"phase"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Output    *string         `json:"output"`
	Summary   []responsesWord `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type responsesWord struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

func responsesInput(input []jsontext.Value) ([]model.Message, error) {
	var t openAITranscript
	calls := make(map[string]bool) // and whether they were answered
	alone := ""                    // a thought that nothing has followed yet
	for i, raw := range input {
		var item responsesItem
		if err := openAIStrict(raw, &item); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		role, parts, err := item.read()
		if err == nil && alone != "" && role != model.Assistant {
			err = fmt.Errorf("item %q of type 'reasoning' was provided without its required following item", alone)
		}
		done, known := calls[item.CallID]
		switch {
		case item.Type == "function_call" && known:
			err = cmp.Or(err, fmt.Errorf("the call %q is there twice", item.CallID))
		case item.Type == "function_call":
			calls[item.CallID] = false
		case item.Type == "function_call_output" && (!known || done):
			err = cmp.Or(err, fmt.Errorf("no tool call found for function call output with call_id %q", item.CallID))
		case item.Type == "function_call_output":
			calls[item.CallID] = true
		}
		if err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		alone = ""
		if item.Type == "reasoning" {
			alone = item.ID
		}
		t.add(role, parts...)
	}
	for id, done := range calls {
		if !done {
			return nil, fmt.Errorf("no tool output found for function call %s", id)
		}
	}
	if len(t) == 0 || alone != "" {
		return nil, fmt.Errorf("the input is empty, or ends with the thought %q", alone)
	}
	return t, nil
}

// read makes parts of an item, which has the fields of its type and no others.
func (i *responsesItem) read() (model.Role, []model.Part, error) {
	rest := *i
	rest.Type = ""
	var role model.Role
	var parts []model.Part
	var err error
	switch {
	case i.Type == "message":
		role, parts, err = i.message()
		rest.Role, rest.Content, rest.Phase = "", nil, ""
	case i.Type == "function_call" && i.CallID != "" && len(i.CallID) <= 64 && i.Arguments != nil && openAIName.MatchString(i.Name):
		role, parts = model.Assistant, []model.Part{{Kind: event.PartToolCall, ID: i.CallID, Name: i.Name, Args: *i.Arguments}}
		rest.CallID, rest.Name, rest.Arguments = "", "", nil
	case i.Type == "function_call_output" && i.Output != nil:
		role, parts = model.User, []model.Part{openAIResult(i.CallID, *i.Output)}
		rest.CallID, rest.Output = "", nil
	case i.Type == "reasoning" && strings.HasPrefix(i.ID, "rs_") && i.Summary != nil:
		var own string
		own, err = openAIOpen(i.Encrypted, i.ID+openAIJSON(i.Summary))
		role, parts = model.Assistant, []model.Part{{Kind: event.PartThinking, Text: i.summary(), Opaque: own}}
		rest.ID, rest.Summary, rest.Encrypted = "", nil, ""
	default:
		err = fmt.Errorf("it is not a valid %q", i.Type)
	}
	if err == nil && openAIJSON(rest) != openAIJSON(responsesItem{}) {
		err = fmt.Errorf("a %s has a field of another: %s", i.Type, openAIJSON(rest))
	}
	return role, parts, err
}

func (i *responsesItem) summary() string {
	var texts []string
	for _, s := range i.Summary {
		texts = append(texts, s.Text)
	}
	return strings.Join(texts, "\n\n")
}

func (i *responsesItem) message() (model.Role, []model.Part, error) {
	var parts []model.Part
	for _, c := range i.Content {
		part := model.Part{Kind: event.PartText, Text: c.Text}
		var err error
		switch {
		case i.Role == "user" && c.Type == "input_text" && c.ImageURL == "", i.Role == "assistant" && c.Type == "output_text" && c.ImageURL == "":
		case i.Role == "user" && c.Type == "input_image" && c.Text == "":
			part, err = openAIImage(c.ImageURL)
		default:
			err = fmt.Errorf("invalid value %q for the %s", c.Type, i.Role)
		}
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 || i.Phase != "" && i.Role != "assistant" {
		return "", nil, errors.New("a message says nothing, or has a phase that is none")
	}
	return model.Role(i.Role), parts, nil
}

// Answer streams an item for each part, and then all of them once more.
func (ResponsesWire) Answer(send Send, _ http.Header, r Reply) {
	s := &responsesSender{send: send}
	s.event("response.created", map[string]any{"response": s.response("in_progress", Reply{})})
	s.event("response.in_progress", map[string]any{"response": s.response("in_progress", Reply{})})
	for _, p := range r.Parts {
		switch p.Kind {
		case event.PartThinking:
			s.thought(p)
		case event.PartText:
			s.text(p, r.Stop == model.StopRefusal)
		case event.PartToolCall:
			s.call(p)
		}
	}
	if r.Stop == model.StopLength {
		s.event("response.incomplete", map[string]any{"response": s.response("incomplete", r)})
		return
	}
	s.event("response.completed", map[string]any{"response": s.response("completed", r)})
}

// responsesSender sends events until nobody listens.
type responsesSender struct {
	send  Send
	gone  bool
	count int
	items []any
}

func (s *responsesSender) event(name string, fields map[string]any) {
	if s.gone {
		return
	}
	fields["type"], fields["sequence_number"] = name, s.count
	s.count++
	s.gone = !s.send(name, openAIJSON(fields))
}

func (s *responsesSender) response(status string, r Reply) map[string]any {
	out := map[string]any{
		"id": "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b", "object": "response", "created_at": 1741476542, "status": status,
		"error": nil, "incomplete_details": nil, "model": "gpt-5-2025-08-07", "output": []any{}, "store": false, "usage": nil,
	}
	if status == "in_progress" {
		return out
	}
	if status == "incomplete" {
		out["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	}
	input := map[string]any{"cached_tokens": r.Usage.Cached}
	if r.Usage.CacheWrites > 0 {
		input["cache_write_tokens"] = r.Usage.CacheWrites
	}
	out["output"] = slices.Concat([]any{}, s.items)
	out["usage"] = map[string]any{
		"input_tokens": r.Usage.Input, "input_tokens_details": input, "output_tokens": r.Usage.Output,
		"output_tokens_details": map[string]any{"reasoning_tokens": r.Usage.Thinking}, "total_tokens": r.Usage.Input + r.Usage.Output,
	}
	return out
}

// item sends one, with what comes between its beginning and its end.
func (s *responsesSender) item(begun, done map[string]any, between func(at func(name string, fields map[string]any))) {
	place := len(s.items)
	s.event("response.output_item.added", map[string]any{"output_index": place, "item": begun})
	between(func(name string, fields map[string]any) {
		fields["output_index"], fields["item_id"] = place, done["id"]
		s.event(name, fields)
	})
	s.event("response.output_item.done", map[string]any{"output_index": place, "item": done})
	s.items = append(s.items, done)
}

func (s *responsesSender) id(kind string) string { return fmt.Sprintf("%s_%048d", kind, len(s.items)) }

func (s *responsesSender) thought(p model.Part) {
	id := s.id("rs")
	summary := []responsesWord{{Type: "summary_text", Text: p.Text}}
	done := map[string]any{"id": id, "type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": p.Text}}}
	if p.Opaque != "" {
		done["encrypted_content"] = openAISeal(p.Opaque, id+openAIJSON(summary))
	}
	s.item(map[string]any{"id": id, "type": "reasoning", "summary": []any{}}, done, func(at func(string, map[string]any)) {
		at("response.reasoning_summary_part.added", map[string]any{"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": ""}})
		for _, piece := range openAIPieces(p.Text) {
			at("response.reasoning_summary_text.delta", map[string]any{"summary_index": 0, "delta": piece, "obfuscation": "xyz"})
		}
		at("response.reasoning_summary_text.done", map[string]any{"summary_index": 0, "text": p.Text})
		at("response.reasoning_summary_part.done", map[string]any{"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": p.Text}})
	})
}

func (s *responsesSender) text(p model.Part, refuses bool) {
	id := s.id("msg")
	kind, field, word := "output_text", "text", map[string]any{"type": "output_text", "annotations": []any{}, "logprobs": []any{}, "text": p.Text}
	if refuses {
		kind, field, word = "refusal", "refusal", map[string]any{"type": "refusal", "refusal": p.Text}
	}
	message := func(status string, content ...any) map[string]any {
		return map[string]any{"id": id, "type": "message", "status": status, "role": "assistant", "content": slices.Concat([]any{}, content)}
	}
	s.item(message("in_progress"), message("completed", word), func(at func(string, map[string]any)) {
		at("response.content_part.added", map[string]any{"content_index": 0, "part": map[string]any{"type": kind, field: ""}})
		for _, piece := range openAIPieces(p.Text) {
			at("response."+kind+".delta", map[string]any{"content_index": 0, "delta": piece, "logprobs": []any{}})
		}
		at("response."+kind+".done", map[string]any{"content_index": 0, field: p.Text})
		at("response.content_part.done", map[string]any{"content_index": 0, "part": word})
	})
}

func (s *responsesSender) call(p model.Part) {
	id := s.id("fc")
	call := func(status, args string) map[string]any {
		return map[string]any{"id": id, "type": "function_call", "status": status, "arguments": args, "call_id": p.ID, "name": p.Name}
	}
	s.item(call("in_progress", ""), call("completed", p.Args), func(at func(string, map[string]any)) {
		for _, piece := range openAIPieces(p.Args) {
			at("response.function_call_arguments.delta", map[string]any{"delta": piece, "obfuscation": "xyz"})
		}
		at("response.function_call_arguments.done", map[string]any{"arguments": p.Args})
	})
}

// Refuse words a failure as OpenAI does.
func (ResponsesWire) Refuse(w http.ResponseWriter, f Failure) {
	if f != InStream {
		refuseOpenAI(w, f)
		return
	}
	send := openAIStream(w)
	s := &responsesSender{send: func(name, data string) bool { send(name, data); return true }}
	s.event("response.created", map[string]any{"response": s.response("in_progress", Reply{})})
	s.event("error", map[string]any{"code": "server_error", "message": "The server had an error while processing your request. Sorry about that!", "param": nil})
}
