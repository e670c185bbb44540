package modeltest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

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
