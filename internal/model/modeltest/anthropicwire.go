package modeltest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/respond"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AnthropicWire is the Messages API as of 2023-06-01. It knows the thoughts it has
// signed, and takes back no others; the zero value is ready.
type AnthropicWire struct {
	// signed has the thought of each signature.
	signed sync.Map
}

var _ Wire = (*AnthropicWire)(nil)

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int64              `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	System    []anthropicText    `json:"system"`
	Tools     []anthropicTool    `json:"tools"`
	Messages  []anthropicMessage `json:"messages"`
	Thinking  *struct {
		Type    string `json:"type"`
		Budget  int64  `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type anthropicPoint struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type anthropicText struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Point *anthropicPoint `json:"cache_control"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      jsontext.Value  `json:"input_schema"`
	Point       *anthropicPoint `json:"cache_control"`
}

type anthropicMessage struct {
	Role    model.Role       `json:"role"`
	Content []jsontext.Value `json:"content"`
}

// What the API lets ids and names be.
var (
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// strict reads JSON as the API does: what it does not know, it refuses.
func strict(data []byte, v any) error {
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true))
}

// Read takes a request apart.
func (a *AnthropicWire) Read(r *http.Request, body []byte) (*Seen, error) {
	var in anthropicRequest
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		return nil, fmt.Errorf("%s %s is not served", r.Method, r.URL.Path)
	case r.Header.Get("X-Api-Key") == "":
		return nil, errors.New("x-api-key header is required")
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return nil, errors.New("anthropic-version: header is required")
	case r.Header.Get("Content-Type") != "application/json":
		return nil, errors.New("content-type must be application/json")
	}
	if err := strict(body, &in); err != nil {
		return nil, err
	}
	switch {
	case in.Model == "":
		return nil, errors.New("model: Field required")
	case in.MaxTokens < 1:
		return nil, errors.New("max_tokens: must be greater than 0")
	case !in.Stream:
		return nil, errors.New("the driver does not stream")
	}
	seen := &Seen{Key: r.Header.Get("X-Api-Key"), Model: in.Model, MaxTokens: in.MaxTokens, CachedMessages: -1}
	s := &anthropicReader{wire: a, seen: seen}
	for _, f := range []func(*anthropicRequest) error{s.tools, s.system, s.messages, s.results, s.thinking} {
		if err := f(&in); err != nil {
			return nil, err
		}
	}
	if len(seen.CachePoints) > 4 {
		return nil, fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", len(seen.CachePoints))
	}
	return seen, nil
}

type anthropicReader struct {
	wire *AnthropicWire
	seen *Seen
	// blocks counts what was read so far.
	blocks int
}

// block counts one, and its cache point.
func (s *anthropicReader) block(p *anthropicPoint) error {
	s.blocks++
	if p == nil {
		return nil
	}
	if p.Type != "ephemeral" || !slices.Contains([]string{"", "5m", "1h"}, p.TTL) {
		return fmt.Errorf("cache_control is %+v", *p)
	}
	s.seen.CachePoints = append(s.seen.CachePoints, s.blocks)
	return nil
}

func (s *anthropicReader) tools(in *anthropicRequest) error {
	for i, x := range in.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !anthropicName.MatchString(x.Name) {
			return fmt.Errorf("tools.%d.name: %q", i, x.Name)
		}
		if err := json.Unmarshal(x.Schema, &schema); err != nil || schema.Type != "object" {
			return fmt.Errorf("tools.%d.input_schema.type: Input should be 'object': %w", i, err)
		}
		s.seen.Tools = append(s.seen.Tools, model.Tool{Name: x.Name, Description: x.Description, Schema: string(x.Schema)})
		if err := s.block(x.Point); err != nil {
			return err
		}
	}
	return nil
}

func (s *anthropicReader) system(in *anthropicRequest) error {
	if len(in.System) > 1 {
		return errors.New("the system prompt is in pieces") // the API allows it, but the caches of the suite count one
	}
	for _, x := range in.System {
		if x.Type != "text" || strings.TrimSpace(x.Text) == "" {
			return errors.New("system: text content blocks must be non-empty")
		}
		s.seen.System = x.Text
		if err := s.block(x.Point); err != nil {
			return err
		}
	}
	return nil
}

func (s *anthropicReader) messages(in *anthropicRequest) error {
	if len(in.Messages) == 0 {
		return errors.New("messages: at least one message is required")
	}
	for i, m := range in.Messages {
		if want := []model.Role{model.User, model.Assistant}[i%2]; m.Role != want {
			return fmt.Errorf("messages.%d: the role is %q, want %q", i, m.Role, want)
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: all messages must have non-empty content", i)
		}
		out := model.Message{Role: m.Role}
		points := len(s.seen.CachePoints)
		for j, raw := range m.Content {
			p, point, err := s.part(m.Role, raw)
			if err == nil {
				err = s.block(point)
			}
			if err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			out.Parts = append(out.Parts, p)
		}
		s.seen.Messages = append(s.seen.Messages, out)
		if len(s.seen.CachePoints) > points {
			s.seen.CachedMessages = i + 1
		}
	}
	if in.Messages[len(in.Messages)-1].Role != model.User {
		return errors.New("this model does not support assistant message prefill")
	}
	return nil
}

// part reads a block of a message.
func (s *anthropicReader) part(role model.Role, raw jsontext.Value) (model.Part, *anthropicPoint, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return model.Part{}, nil, err
	}
	switch said := role == model.Assistant; {
	case kind.Type == "text":
		var b anthropicText
		if err := strict(raw, &b); err != nil {
			return model.Part{}, nil, err
		}
		if strings.TrimSpace(b.Text) == "" {
			return model.Part{}, nil, errors.New("text content blocks must contain non-whitespace text")
		}
		return text(b.Text), b.Point, nil
	case kind.Type == "thinking" && said:
		p, err := s.thought(raw)
		return p, nil, err
	case kind.Type == "redacted_thinking" && said:
		p, err := s.redacted(raw)
		return p, nil, err
	case kind.Type == "tool_use" && said:
		return s.call(raw)
	case kind.Type == "tool_result" && !said:
		return s.result(raw)
	case kind.Type == "image" && !said:
		return s.image(raw)
	}
	return model.Part{}, nil, fmt.Errorf("input tag %q found using 'type' does not match any of the expected tags", kind.Type)
}

func (s *anthropicReader) thought(raw jsontext.Value) (model.Part, error) {
	var b struct {
		Type      string  `json:"type"`
		Thinking  *string `json:"thinking"`
		Signature string  `json:"signature"`
	}
	if err := strict(raw, &b); err != nil {
		return model.Part{}, err
	}
	if b.Thinking == nil {
		return model.Part{}, errors.New("thinking: Field required")
	}
	if was, ok := s.wire.signed.Load(b.Signature); !ok || was != *b.Thinking {
		return model.Part{}, errors.New("invalid `signature` in `thinking` block")
	}
	return thought(*b.Thinking, b.Signature), nil
}

// redacted is the payload of a thought that only the API can read.
const redacted = respond.Redacted

func (s *anthropicReader) redacted(raw jsontext.Value) (model.Part, error) {
	var b struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	if err := strict(raw, &b); err != nil {
		return model.Part{}, err
	}
	if _, ok := s.wire.signed.Load(redacted + b.Data); !ok {
		return model.Part{}, errors.New("invalid `data` in `redacted_thinking` block")
	}
	return thought("", redacted+b.Data), nil
}

func (s *anthropicReader) call(raw jsontext.Value) (model.Part, *anthropicPoint, error) {
	var b struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input jsontext.Value  `json:"input"`
		Point *anthropicPoint `json:"cache_control"`
	}
	if err := strict(raw, &b); err != nil {
		return model.Part{}, nil, err
	}
	switch {
	case !anthropicID.MatchString(b.ID):
		return model.Part{}, nil, fmt.Errorf("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$': %q", b.ID)
	case !anthropicName.MatchString(b.Name):
		return model.Part{}, nil, fmt.Errorf("tool_use.name: %q", b.Name)
	case b.Input.Kind() != '{':
		return model.Part{}, nil, errors.New("tool_use.input: Input should be a valid dictionary")
	}
	return call(b.ID, b.Name, string(b.Input)), b.Point, nil
}

func (s *anthropicReader) result(raw jsontext.Value) (model.Part, *anthropicPoint, error) {
	var b struct {
		Type    string          `json:"type"`
		ID      string          `json:"tool_use_id"`
		Content jsontext.Value  `json:"content"`
		Error   bool            `json:"is_error"`
		Point   *anthropicPoint `json:"cache_control"`
	}
	if err := strict(raw, &b); err != nil {
		return model.Part{}, nil, err
	}
	out := model.Part{Kind: model.PartToolResult, ID: b.ID, Error: b.Error}
	if err := s.output(b.Content, &out); err != nil {
		return model.Part{}, nil, err
	}
	if b.Error && out.Text == "" {
		return model.Part{}, nil, errors.New("content cannot be empty if `is_error` is true")
	}
	return out, b.Point, nil
}

// output reads the content of a result: nothing, a text, or a list of texts and images.
func (s *anthropicReader) output(raw jsontext.Value, to *model.Part) error {
	switch raw.Kind() {
	case 0:
		return nil
	case '"':
		return json.Unmarshal(raw, &to.Text)
	}
	var list []jsontext.Value
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, one := range list {
		p, _, err := s.part(model.User, one)
		if err != nil {
			return err
		}
		switch p.Kind {
		case event.PartText:
			to.Text += p.Text
		case model.PartImage:
			to.Pictures = append(to.Pictures, p)
		default:
			return fmt.Errorf("tool_result.content: unexpected %s", p.Kind)
		}
	}
	return nil
}

func (s *anthropicReader) image(raw jsontext.Value) (model.Part, *anthropicPoint, error) {
	var b struct {
		Type   string `json:"type"`
		Source struct {
			Type  string `json:"type"`
			Media string `json:"media_type"`
			Data  string `json:"data"`
		} `json:"source"`
		Point *anthropicPoint `json:"cache_control"`
	}
	if err := strict(raw, &b); err != nil {
		return model.Part{}, nil, err
	}
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	if err != nil || b.Source.Type != "base64" || !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, b.Source.Media) {
		return model.Part{}, nil, fmt.Errorf("image.source: type %q, media_type %q: %w", b.Source.Type, b.Source.Media, err)
	}
	return model.Part{Kind: model.PartImage, Media: b.Source.Media, Data: data}, b.Point, nil
}

// results wants each call answered at the beginning of the next message, and
// nothing answered that was not asked there.
func (s *anthropicReader) results(*anthropicRequest) error {
	used := map[string]bool{}
	var open []string
	for i, m := range s.seen.Messages {
		asked := open
		open = nil
		first := true
		for _, p := range m.Parts {
			switch p.Kind {
			case event.PartToolCall:
				if used[p.ID] {
					return fmt.Errorf("messages.%d: `tool_use` ids must be unique: %s", i, p.ID)
				}
				used[p.ID] = true
				open = append(open, p.ID)
			case model.PartToolResult:
				at := slices.Index(asked, p.ID)
				if at < 0 || !first {
					return fmt.Errorf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, p.ID)
				}
				asked = slices.Delete(slices.Clone(asked), at, at+1)
			default:
				first = false
			}
		}
		if len(asked) > 0 {
			return fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, strings.Join(asked, ", "))
		}
	}
	return nil
}

func (s *anthropicReader) thinking(in *anthropicRequest) error {
	if in.OutputConfig != nil && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, in.OutputConfig.Effort) {
		return fmt.Errorf("output_config.effort: %q", in.OutputConfig.Effort)
	}
	if in.Thinking == nil {
		return nil
	}
	s.seen.Thinking = in.Thinking.Type != "disabled"
	switch in.Thinking.Type {
	case "disabled":
	case "adaptive":
		if in.Thinking.Budget != 0 || !slices.Contains([]string{"", "summarized", "omitted"}, in.Thinking.Display) {
			return fmt.Errorf("thinking.adaptive: %+v", *in.Thinking)
		}
	case "enabled":
		if in.Thinking.Budget < 1024 || in.Thinking.Budget >= in.MaxTokens || in.Thinking.Display != "" {
			return fmt.Errorf("thinking.enabled: `max_tokens` (%d) must be greater than `thinking.budget_tokens` (%d), which must be at least 1024", in.MaxTokens, in.Thinking.Budget)
		}
		return s.thoughtFirst()
	default:
		return fmt.Errorf("thinking.type: %q", in.Thinking.Type)
	}
	return nil
}

// thoughtFirst wants that a loop of tools that goes on has begun with a thought.
func (s *anthropicReader) thoughtFirst() error {
	all := s.seen.Messages
	answered := func(i int) bool { return all[i].Parts[0].Kind == model.PartToolResult }
	for i := len(all) - 1; i > 1 && answered(i); i -= 2 {
		if answered(i - 2) {
			continue
		}
		if k := all[i-1].Parts[0].Kind; k != event.PartThinking {
			return fmt.Errorf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found %s", i-1, k)
		}
	}
	return nil
}

// Answer streams a reply.
func (a *AnthropicWire) Answer(send Send, header http.Header, r Reply) {
	header.Set("Request-Id", "req_011CSHoEeqs5C35K2UUqR7Fy")
	for _, p := range r.Parts {
		if p.Kind == event.PartThinking {
			a.signed.Store(p.Opaque, p.Text)
		}
	}
	respond.Anthropic{}.Stream(respond.Send(send), &respond.Answer{ID: "1", Model: "claude", Parts: r.Parts, Usage: r.Usage, Stop: r.Stop})
}

var anthropicFailures = map[Failure]struct {
	status        int
	kind, message string
}{
	Overloaded:     {529, "overloaded_error", "Overloaded"},
	RateLimited:    {http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your organization's rate limit of 30,000 input tokens per minute."},
	ServerError:    {http.StatusInternalServerError, "api_error", "Internal server error"},
	ContextTooLong: {http.StatusBadRequest, "invalid_request_error", "prompt is too long: 214315 tokens > 200000 maximum"},
	BadKey:         {http.StatusUnauthorized, "authentication_error", "invalid x-api-key"},
	NoModel:        {http.StatusNotFound, "not_found_error", "model: claude-nonsense"},
	BadRequest:     {http.StatusBadRequest, "invalid_request_error", "messages.0.content: Field required"},
	InStream:       {http.StatusOK, "overloaded_error", "Overloaded"},
}

// Refuse writes a failure.
func (a *AnthropicWire) Refuse(w http.ResponseWriter, f Failure) {
	x := anthropicFailures[f]
	body, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": x.kind, "message": x.message}, "request_id": "req_1"}, json.Deterministic(true))
	if err != nil {
		panic(err) // it is fixed
	}
	if f == RateLimited {
		w.Header().Set("Retry-After", "7")
	}
	if f != InStream {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(x.status)
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	var out bytes.Buffer
	a.Answer(func(name, data string) bool {
		out.WriteString(sse(name, data))
		return name != "content_block_delta"
	}, w.Header(), say(text("It began so well.")))
	out.WriteString(sse("error", string(body)))
	_, _ = w.Write(out.Bytes())
}
