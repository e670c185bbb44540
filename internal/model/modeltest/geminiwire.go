package modeltest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/respond"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// GeminiWire is the format of Google's generateContent API, version v1beta.
//
// Its signatures are not checked against those it gave out, as it remembers
// nothing: what came back is in what it saw.
type GeminiWire struct{}

var _ Wire = GeminiWire{}

type geminiRequest struct {
	System *geminiContent  `json:"systemInstruction"`
	Turns  []geminiContent `json:"contents"`
	Tools  []struct {
		Functions []struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Schema      jsontext.Value `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		MaxTokens *int64 `json:"maxOutputTokens"`
		Thinking  *struct {
			Include bool   `json:"includeThoughts"`
			Budget  *int64 `json:"thinkingBudget"`
			Level   string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role,omitzero"`
	Parts []geminiPart `json:"parts,omitzero"`
}

type geminiPart struct {
	Text      *string         `json:"text,omitzero"`
	Thought   bool            `json:"thought,omitzero"`
	Signature *string         `json:"thoughtSignature,omitzero"`
	Data      *geminiBlob     `json:"inlineData,omitzero"`
	Call      *geminiCall     `json:"functionCall,omitzero"`
	Response  *geminiResponse `json:"functionResponse,omitzero"`
}

type geminiBlob struct {
	Media string `json:"mimeType"`
	Data  string `json:"data"`
}

type geminiCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args,omitzero"`
}

type geminiResponse struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response jsontext.Value `json:"response"`
	Parts    []struct {
		Data *geminiBlob `json:"inlineData"`
	} `json:"parts"`
}

// The signatures that Google documents for calls that no Gemini model made.
var geminiNoSignature = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

var (
	geminiFunction = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)
	geminiPath     = regexp.MustCompile(`/models/([^/:]+):streamGenerateContent$`)
)

// Read implements Wire.
func (GeminiWire) Read(r *http.Request, body []byte) (*Seen, error) {
	seen := &Seen{Key: r.Header.Get("X-Goog-Api-Key"), CachedMessages: -1}
	path := geminiPath.FindStringSubmatch(r.URL.EscapedPath())
	switch {
	case r.Method != http.MethodPost || path == nil:
		return nil, fmt.Errorf("%s %s is no method of the API", r.Method, r.URL.EscapedPath())
	case r.URL.RawQuery != "alt=sse":
		return nil, fmt.Errorf("the query is %q, not alt=sse", r.URL.RawQuery)
	case r.Header.Get("Content-Type") != "application/json":
		return nil, fmt.Errorf("the content type is %q", r.Header.Get("Content-Type"))
	case seen.Key == "":
		return nil, errors.New("there is no key in X-Goog-Api-Key")
	}
	var err error
	if seen.Model, err = url.PathUnescape(path[1]); err != nil {
		return nil, err
	}
	var in geminiRequest
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("invalid JSON payload received: %w", err)
	}
	if err := errors.Join(in.settings(seen), in.turns(seen)); err != nil {
		return nil, err
	}
	return seen, nil
}

// settings reads all but the conversation.
func (in *geminiRequest) settings(seen *Seen) error {
	if in.System != nil {
		if in.System.Role != "" || len(in.System.Parts) != 1 || in.System.Parts[0].Text == nil || *in.System.Parts[0].Text == "" {
			return errors.New("systemInstruction is not one part of text")
		}
		seen.System = *in.System.Parts[0].Text
	}
	for _, t := range in.Tools {
		if len(t.Functions) == 0 {
			return errors.New("a tool has no function declarations")
		}
		for _, f := range t.Functions {
			if !geminiFunction.MatchString(f.Name) {
				return fmt.Errorf("invalid function name %q", f.Name)
			}
			if f.Schema != nil && f.Schema.Kind() != '{' {
				return fmt.Errorf("parametersJsonSchema of %s is no object", f.Name)
			}
			if slices.ContainsFunc(seen.Tools, func(t model.Tool) bool { return t.Name == f.Name }) {
				return fmt.Errorf("duplicate function declaration found: %s", f.Name)
			}
			seen.Tools = append(seen.Tools, model.Tool{Name: f.Name, Description: f.Description, Schema: string(f.Schema)})
		}
	}
	if n := in.Config.MaxTokens; n != nil {
		if *n < 1 {
			return fmt.Errorf("maxOutputTokens must be positive, not %d", *n)
		}
		seen.MaxTokens = *n
	}
	if t := in.Config.Thinking; t != nil {
		if t.Budget != nil && (*t.Budget < -1 || *t.Budget > 32768) {
			return fmt.Errorf("the thinking budget %d is invalid", *t.Budget)
		}
		if t.Budget != nil && *t.Budget == 0 && strings.HasPrefix(seen.Model, "gemini-2.5-pro") {
			return errors.New("budget 0 is invalid: this model only works in thinking mode")
		}
		if t.Include && t.Budget != nil && *t.Budget == 0 {
			return errors.New("thoughts can be included only if thinking is enabled")
		}
		if third := strings.HasPrefix(seen.Model, "gemini-3"); t.Level != "" && (!third || t.Budget != nil) {
			return errors.New("thinking level is not supported for this model, or set beside a budget")
		}
		seen.Thinking = t.Include
	}
	return nil
}

// turns reads the conversation.
func (in *geminiRequest) turns(seen *Seen) error {
	if len(in.Turns) == 0 {
		return errors.New("contents is not specified")
	}
	for i, turn := range in.Turns {
		m := model.Message{Role: model.User}
		if turn.Role == "model" {
			m.Role = model.Assistant
		} else if turn.Role != "user" {
			return fmt.Errorf("contents[%d].role %q: use a valid role, user or model", i, turn.Role)
		}
		if len(turn.Parts) == 0 {
			return fmt.Errorf("contents[%d].parts must not be empty", i)
		}
		for j, p := range turn.Parts {
			part, err := p.read(m.Role)
			if err != nil {
				return fmt.Errorf("contents[%d].parts[%d]: %w", i, j, err)
			}
			m.Parts = append(m.Parts, part)
		}
		seen.Messages = append(seen.Messages, m)
	}
	if in.Turns[0].Role != "user" || in.Turns[len(in.Turns)-1].Role != "user" {
		return errors.New("a conversation begins and ends with the user")
	}
	for i := range seen.Messages {
		var before []model.Part
		if i > 0 {
			before = seen.Messages[i-1].Parts
			if seen.Messages[i].Role == seen.Messages[i-1].Role {
				return fmt.Errorf("contents[%d] has the role of the one before", i)
			}
		}
		if err := geminiAnswered(before, seen.Messages[i].Parts); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
	}
	if strings.HasPrefix(seen.Model, "gemini-3") {
		return in.signed()
	}
	for _, m := range seen.Messages {
		if slices.ContainsFunc(m.Parts, func(p model.Part) bool { return len(p.Pictures) > 0 }) {
			return errors.New("multimodal function responses are not supported by this model")
		}
	}
	return nil
}

// read takes a part of a content apart.
func (p *geminiPart) read(role model.Role) (model.Part, error) {
	var out model.Part
	kinds := 0
	for _, has := range []bool{p.Text != nil, p.Data != nil, p.Call != nil, p.Response != nil} {
		if has {
			kinds++
		}
	}
	if kinds != 1 {
		return out, fmt.Errorf("required oneof field 'data' must have one initialized field, not %d", kinds)
	}
	if p.Signature != nil && !slices.Contains(geminiNoSignature, *p.Signature) {
		out.Opaque = *p.Signature
	}
	if role == model.User && (p.Signature != nil || p.Thought || p.Call != nil) || role == model.Assistant && p.Response != nil {
		return out, fmt.Errorf("a part that the %s cannot have", role)
	}
	if p.Signature != nil && *p.Signature == "" || p.Thought && p.Text == nil {
		return out, errors.New("a thought or a signature without content")
	}
	switch {
	case p.Text != nil:
		out.Kind, out.Text = event.PartText, *p.Text
		if p.Thought {
			out.Kind = event.PartThinking
		}
		if out.Text == "" && out.Opaque == "" {
			return out, errors.New("empty text")
		}
	case p.Data != nil:
		return p.Data.read()
	case p.Call != nil:
		out.Kind, out.ID, out.Name, out.Args = event.PartToolCall, p.Call.ID, p.Call.Name, string(p.Call.Args)
		if !geminiFunction.MatchString(p.Call.Name) || p.Call.Args.Kind() != '{' {
			return out, fmt.Errorf("function call %q with arguments %s", p.Call.Name, p.Call.Args)
		}
	case p.Response != nil:
		return p.Response.read()
	}
	return out, nil
}

func (b *geminiBlob) read() (model.Part, error) {
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, b.Media) {
		return model.Part{}, fmt.Errorf("unsupported MIME type: %s", b.Media)
	}
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil || len(data) == 0 {
		return model.Part{}, fmt.Errorf("base64 decoding failed for %.20q", b.Data)
	}
	return model.Part{Kind: model.PartImage, Media: b.Media, Data: data}, nil
}

func (r *geminiResponse) read() (model.Part, error) {
	out := model.Part{Kind: model.PartToolResult, ID: r.ID, Name: r.Name}
	if !geminiFunction.MatchString(r.Name) {
		return out, fmt.Errorf("invalid function name %q", r.Name)
	}
	var said struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	if err := json.Unmarshal(r.Response, &said, json.RejectUnknownMembers(true)); err != nil {
		return out, fmt.Errorf("function_response.response: %w", err)
	}
	switch {
	case said.Output != nil && said.Error == nil:
		out.Text = *said.Output
	case said.Error != nil && said.Output == nil:
		out.Text, out.Error = *said.Error, true
	default:
		return out, errors.New("function_response.response has neither an output nor an error")
	}
	for _, x := range r.Parts {
		if x.Data == nil {
			return out, errors.New("function_response.parts: required oneof field 'data'")
		}
		p, err := x.Data.read()
		if err != nil {
			return out, err
		}
		out.Pictures = append(out.Pictures, p)
	}
	return out, nil
}

// geminiAnswered looks whether a turn answers all calls of the one before it, in
// their order, and nothing else.
func geminiAnswered(before, now []model.Part) error {
	var calls, results []model.Part
	for _, p := range before {
		if p.Kind == event.PartToolCall {
			calls = append(calls, p)
		}
	}
	for i, p := range now {
		if p.Kind != model.PartToolResult {
			continue
		}
		if i > len(results) {
			return errors.New("function responses come before all else")
		}
		results = append(results, p)
	}
	if len(calls) != len(results) {
		return errors.New("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn")
	}
	for i := range calls {
		if calls[i].Name != results[i].Name || calls[i].ID != results[i].ID {
			return fmt.Errorf("function response %s %q does not answer function call %s %q", results[i].Name, results[i].ID, calls[i].Name, calls[i].ID)
		}
	}
	return nil
}

// signed looks whether the first call of each step since the user's last word has
// a signature. Before that word, the API does not look.
func (in *geminiRequest) signed() error {
	for i, turn := range slices.Backward(in.Turns) {
		if turn.Role == "user" && slices.ContainsFunc(turn.Parts, func(p geminiPart) bool { return p.Response == nil }) {
			return nil
		}
		first := slices.IndexFunc(turn.Parts, func(p geminiPart) bool { return p.Call != nil })
		if first >= 0 && turn.Parts[first].Signature == nil {
			return fmt.Errorf("function call %s in the %d. content block is missing a thought_signature", turn.Parts[first].Call.Name, i)
		}
	}
	return nil
}

// Answer implements Wire. Calls come whole; the signature of a text comes after
// it, that of a thought with its last piece.
func (GeminiWire) Answer(send Send, _ http.Header, r Reply) {
	respond.Gemini{}.Stream(respond.Send(send), &respond.Answer{ID: "response-1", Model: "gemini-test", Parts: r.Parts, Usage: r.Usage, Stop: r.Stop})
}

type geminiFailure struct {
	Error geminiError `json:"error"`
}

type geminiError struct {
	Code    int              `json:"code"`
	Message string           `json:"message"`
	Status  string           `json:"status"`
	Details []jsontext.Value `json:"details,omitempty"`
}

var geminiFailures = map[Failure]geminiError{
	Overloaded: {Code: 503, Status: "UNAVAILABLE", Message: "The model is overloaded. Please try again later."},
	RateLimited: {
		Code: 429, Status: "RESOURCE_EXHAUSTED", Message: "You exceeded your current quota, please check your plan and billing details.",
		Details: []jsontext.Value{
			jsontext.Value(`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel","quotaValue":"5"}]}`),
			jsontext.Value(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}`),
		},
	},
	ServerError:    {Code: 500, Status: "INTERNAL", Message: "An internal error has occurred."},
	ContextTooLong: {Code: 400, Status: "INVALID_ARGUMENT", Message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."},
	BadKey: {
		Code: 400, Status: "INVALID_ARGUMENT", Message: "API key not valid. Please pass a valid API key.",
		Details: []jsontext.Value{jsontext.Value(`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`)},
	},
	NoModel:    {Code: 404, Status: "NOT_FOUND", Message: "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."},
	BadRequest: {Code: 400, Status: "INVALID_ARGUMENT", Message: "Request contains an invalid argument."},
	InStream:   {Code: 503, Status: "UNAVAILABLE", Message: "The service is currently unavailable."},
}

// Refuse implements Wire.
func (GeminiWire) Refuse(w http.ResponseWriter, f Failure) {
	e, ok := geminiFailures[f]
	if !ok {
		panic(fmt.Sprintf("Gemini has no words for %q", f))
	}
	if f != InStream {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(e.Code)
		_, _ = io.WriteString(w, geminiJSON(geminiFailure{e}))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	begun := `{"candidates":[{"content":{"role":"model","parts":[{"text":"I beg"}]},"index":0}],"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}}`
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: %s\n\n", begun, geminiJSON(geminiFailure{e}))
}

func geminiJSON(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("the test's own answer is no JSON: %v", err))
	}
	return string(out)
}
