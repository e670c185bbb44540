package modeltest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/respond"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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
	Output    jsontext.Value  `json:"output"`
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
		var result model.Part
		result, err = i.output()
		role, parts = model.User, []model.Part{result}
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

// output reads what a tool put out: a text, or a list of texts and images.
func (i *responsesItem) output() (model.Part, error) {
	if i.Output.Kind() == '"' {
		var text string
		err := json.Unmarshal(i.Output, &text)
		return openAIResult(i.CallID, text), err
	}
	var list []responsesWord
	if err := openAIStrict(i.Output, &list); err != nil {
		return model.Part{}, err
	}
	said := responsesItem{Role: "user", Content: list}
	_, parts, err := said.message()
	if err != nil {
		return model.Part{}, err
	}
	text := ""
	var pictures []model.Part
	for _, p := range parts {
		if p.Kind == model.PartImage {
			pictures = append(pictures, p)
		}
		text += p.Text
	}
	out := openAIResult(i.CallID, text)
	out.Pictures = pictures
	return out, nil
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
	respond.Responses{}.Stream(respond.Send(send), responsesReply(r))
}

func responsesReply(r Reply) *respond.Answer {
	return &respond.Answer{
		ID: "67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b", Model: "gpt-5-2025-08-07", Created: 1741476542, Parts: r.Parts, Usage: r.Usage, Stop: r.Stop,
		Seal: func(p model.Part, id string) string {
			return openAISeal(p.Opaque, id+openAIJSON([]responsesWord{{Type: "summary_text", Text: p.Text}}))
		},
	}
}

// Refuse words a failure as OpenAI does.
func (ResponsesWire) Refuse(w http.ResponseWriter, f Failure) {
	if f != InStream {
		refuseOpenAI(w, f)
		return
	}
	send := openAIStream(w)
	respond.Responses{}.Began(func(name, data string) bool { send(name, data); return true }, responsesReply(Reply{}))
	send("error", openAIJSON(map[string]any{"type": "error", "sequence_number": 1, "code": "server_error", "message": "The server had an error while processing your request. Sorry about that!", "param": nil}))
}
