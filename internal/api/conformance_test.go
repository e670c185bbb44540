//lint:file-ignore SA1019 the suite looks at what is deprecated for as long as clients of 2025 use it

package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"lyceum/internal/api"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestServeConformance is no test: with an address in LYCEUM_CONFORMANCE it serves what the
// suite of the protocol's authors asks for, at /mcp of a real server, until it is killed.
// scripts/interop.d/mcp-server runs the suite against it. Everything in front of the fixtures is
// the server's own: the guard with Host and Origin, the table of routes, the handler of both
// revisions. Only the token is brought for the suite, which has none.
func TestServeConformance(t *testing.T) {
	address := os.Getenv("LYCEUM_CONFORMANCE")
	if address == "" {
		return
	}
	s := newHome(t).serve(api.Options{})
	s.ServeInstead(fixtures(t.Context()))
	ln, err := net.Listen("tcp", address)
	must(t, err)
	web := s.HTTP()
	web.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		s.ServeHTTP(w, r)
	})
	must(t, web.Serve(ln))
}

// fixtures is a server with what the suite wants to find. Names and texts are the suite's.
func fixtures(ctx context.Context) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	contentFixtures(s)
	talkFixtures(s)
	inputFixtures(s)
	changeFixtures(s)
	resourceFixtures(ctx, s)
	promptFixtures(s)
	return s
}

type toolResult = mcp.CallToolResult

// fixture adds a tool without arguments.
func fixture(s *mcp.Server, name string, use func(context.Context, *mcp.CallToolRequest) (*toolResult, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: "a fixture"}, func(ctx context.Context, r *mcp.CallToolRequest, _ any) (*toolResult, any, error) {
		out, err := use(ctx, r)
		return out, nil, err
	})
}

// gives adds one that always gives the same.
func gives(s *mcp.Server, name string, contents ...mcp.Content) {
	fixture(s, name, func(context.Context, *mcp.CallToolRequest) (*toolResult, error) {
		return &toolResult{Content: contents}, nil
	})
}

func text(format string, args ...any) *mcp.TextContent {
	return &mcp.TextContent{Text: fmt.Sprintf(format, args...)}
}

func result(format string, args ...any) *toolResult {
	return &toolResult{Content: []mcp.Content{text(format, args...)}}
}

func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// silence is a WAV file of one sample.
var silence = []byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00")

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
}

func contentFixtures(s *mcp.Server) {
	shown := &mcp.ImageContent{Data: picture(), MIMEType: "image/png"}
	gives(s, "test_simple_text", text("simple"))
	gives(s, "test_image_content", shown)
	gives(s, "test_audio_content", &mcp.AudioContent{Data: silence, MIMEType: "audio/wav"})
	gives(s, "test_embedded_resource", embedded("test://embedded-resource"))
	gives(s, "test_multiple_content_types", text("several"), shown, embedded("test://mixed-content-resource"))
	gives(s, "test_streaming_elicitation", text("a result, and no request"))
	fixture(s, "test_error_handling", func(context.Context, *mcp.CallToolRequest) (*toolResult, error) {
		return nil, errors.New("this tool always fails")
	})
	raw := func(name, schema string) {
		s.AddTool(&mcp.Tool{Name: name, Description: "a fixture", InputSchema: json.RawMessage(schema)}, func(_ context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
			return result("called with %s", r.Params.Arguments), nil
		})
	}
	raw("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`)
	raw("test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`)
}

// talkFixtures speak to the client while they are called.
func talkFixtures(s *mcp.Server) {
	logs := func(name string, lines ...string) {
		fixture(s, name, func(ctx context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
			for _, line := range lines {
				if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
					return nil, err
				}
			}
			return result("logged"), nil
		})
	}
	logs("test_tool_with_logging", "began", "goes on", "ended")
	logs("test_logging_tool", "called")
	fixture(s, "test_tool_with_progress", func(ctx context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
		token := r.Params.GetProgressToken()
		for _, n := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Total: 100}); err != nil {
				return nil, err
			}
		}
		return result("%v", token), nil
	})
	fixture(s, "test_reconnection", func(_ context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond)
		return result("after the stream was closed"), nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "test_sampling", Description: "a fixture"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
		Prompt string `json:"prompt"`
	}) (*toolResult, any, error) {
		got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", in.Prompt)}}})
		if err != nil {
			return nil, nil, err
		}
		answer, _ := got.Content.(*mcp.TextContent)
		return result("it says: %v", answer), nil, nil
	})
	elicits := func(name, schema string) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "a fixture"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
			Message string `json:"message,omitempty"`
		}) (*toolResult, any, error) {
			if in.Message == "" {
				in.Message = "Fill this in."
			}
			var form any
			if err := json.Unmarshal([]byte(schema), &form); err != nil {
				return nil, nil, err
			}
			got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: in.Message, RequestedSchema: form})
			if err != nil {
				return nil, nil, err
			}
			return result("action %s, content %v", got.Action, got.Content), nil, nil
		})
	}
	elicits("test_elicitation", `{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username"]}`)
	elicits("test_elicitation_sep1034_defaults", `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
		"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)
	elicits("test_elicitation_sep1330_enums", `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`)
	fixture(s, "test_missing_capability", func(_ context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
		if caps := r.ClientCapabilities(); caps != nil && caps.Sampling != nil {
			return result("it can"), nil
		}
		data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot sample", Data: data}
	})
}

// form asks for one member.
func form(message, member, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{member: map[string]any{"type": kind}}, "required": []string{member}}}
}

func sample(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", prompt)}}}
}

// filled is a member of a form that came back, empty if the user did not accept.
func filled(in mcp.InputResponseMap, form, member string) string {
	got, ok := in[form].(*mcp.ElicitResult)
	if !ok || got == nil || got.Action != "accept" {
		return ""
	}
	if v := got.Content[member]; v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// sampled is what a model of the client's said.
func sampled(in mcp.InputResponseMap, name string) string {
	got, ok := in[name].(*mcp.CreateMessageWithToolsResult)
	if !ok || got == nil {
		return ""
	}
	for _, c := range got.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

// inputFixtures need something of the client before they have a result.
func inputFixtures(s *mcp.Server) {
	needs := func(name, state string, requests mcp.InputRequestMap, done func(*mcp.CallToolParamsRaw) (*toolResult, error)) {
		fixture(s, "test_input_required_result_"+name, func(_ context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
			if out, err := done(r.Params); out != nil || err != nil {
				return out, err
			}
			return &toolResult{InputRequests: requests, RequestState: state}, nil
		})
	}
	needs("elicitation", "", mcp.InputRequestMap{"user_name": form("What is your name?", "name", "string")}, func(p *mcp.CallToolParamsRaw) (*toolResult, error) {
		if name := filled(p.InputResponses, "user_name", "name"); name != "" {
			return result("Hello, %s!", name), nil
		}
		return nil, nil
	})
	needs("sampling", "", mcp.InputRequestMap{"capital_question": sample("What is the capital of France?")}, func(p *mcp.CallToolParamsRaw) (*toolResult, error) {
		if said := sampled(p.InputResponses, "capital_question"); said != "" {
			return result("It said: %s", said), nil
		}
		return nil, nil
	})
	needs("list_roots", "", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}, func(p *mcp.CallToolParamsRaw) (*toolResult, error) {
		if got, ok := p.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
			return result("%d roots", len(got.Roots)), nil
		}
		return nil, nil
	})
	confirmed := func(state string) func(*mcp.CallToolParamsRaw) (*toolResult, error) {
		return func(p *mcp.CallToolParamsRaw) (*toolResult, error) {
			if p.RequestState != "" && p.RequestState != state {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this is not the state that was given out"}
			}
			if p.RequestState != "" && filled(p.InputResponses, "confirm", "ok") != "" {
				return result("state-ok"), nil
			}
			return nil, nil
		}
	}
	confirm := mcp.InputRequestMap{"confirm": form("Please confirm", "ok", "boolean")}
	needs("request_state", "state-a", confirm, confirmed("state-a"))
	needs("tampered_state", "state-b", confirm, confirmed("state-b"))
	needs("multiple_inputs", "several", mcp.InputRequestMap{
		"user_name": form("What is your name?", "name", "string"), "greeting": sample("Generate a greeting"), "client_roots": &mcp.ListRootsParams{},
	}, func(p *mcp.CallToolParamsRaw) (*toolResult, error) {
		name, greeting := filled(p.InputResponses, "user_name", "name"), sampled(p.InputResponses, "greeting")
		roots, ok := p.InputResponses["client_roots"].(*mcp.ListRootsResult)
		if name == "" || greeting == "" || !ok {
			return nil, nil
		}
		return result("%s %s, of %d roots", greeting, name, len(roots.Roots)), nil
	})
	fixture(s, "test_input_required_result_multi_round", func(_ context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
		switch name, second := strings.CutPrefix(r.Params.RequestState, "second "); {
		case second:
			return result("%s likes %s", name, filled(r.Params.InputResponses, "step2", "color")), nil
		case r.Params.RequestState == "first":
			return &toolResult{RequestState: "second " + filled(r.Params.InputResponses, "step1", "name"), InputRequests: mcp.InputRequestMap{"step2": form("Which color?", "color", "string")}}, nil
		}
		return &toolResult{RequestState: "first", InputRequests: mcp.InputRequestMap{"step1": form("What is your name?", "name", "string")}}, nil
	})
	fixture(s, "test_input_required_result_capabilities", func(_ context.Context, r *mcp.CallToolRequest) (*toolResult, error) {
		asks, caps := mcp.InputRequestMap{}, r.ClientCapabilities()
		if caps != nil && caps.Elicitation != nil {
			asks["user_name"] = form("What is your name?", "name", "string")
		}
		if caps != nil && caps.Sampling != nil {
			asks["greeting"] = sample("Generate a greeting")
		}
		if len(r.Params.InputResponses) > 0 || len(asks) == 0 {
			return result("done"), nil
		}
		return &toolResult{InputRequests: asks}, nil
	})
}

// changeFixtures change what the server offers.
func changeFixtures(s *mcp.Server) {
	fixture(s, "test_trigger_tool_change", func(context.Context, *mcp.CallToolRequest) (*toolResult, error) {
		gives(s, "added_while_running", text("new"))
		return result("there is another tool"), nil
	})
	fixture(s, "test_trigger_prompt_change", func(context.Context, *mcp.CallToolRequest) (*toolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "added_while_running", Description: "a fixture"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
		return result("there is another prompt"), nil
	})
}

func resourceFixtures(ctx context.Context, s *mcp.Server) {
	static := func(name, uri, kind string, content mcp.ResourceContents) {
		s.AddResource(&mcp.Resource{Name: name, URI: uri, MIMEType: kind}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := content
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		})
	}
	const watched = "test://watched-resource"
	static("static-text", "test://static-text", "text/plain", mcp.ResourceContents{Text: "static"})
	static("static-binary", "test://static-binary", "image/png", mcp.ResourceContents{Blob: picture()})
	static("watched", watched, "text/plain", mcp.ResourceContents{Text: "watched"})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
		data, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: string(data)}}}, err
	})
	go func() {
		tick := time.NewTicker(3 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
			case <-ctx.Done():
				return
			}
		}
	}()
}

func promptFixtures(s *mcp.Server) {
	add := func(name string, arguments []string, contents func(map[string]string) []mcp.Content) {
		p := &mcp.Prompt{Name: name, Description: "a fixture"}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "an argument", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			out := &mcp.GetPromptResult{}
			for _, c := range contents(r.Params.Arguments) {
				out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	add("test_simple_prompt", nil, func(map[string]string) []mcp.Content { return []mcp.Content{text("simple")} })
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{text("arg1=%q, arg2=%q", a["arg1"], a["arg2"])}
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{embedded(a["resourceUri"]), text("read it")}
	})
	add("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: picture(), MIMEType: "image/png"}, text("look at it")}
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "a fixture"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if got := filled(r.Params.InputResponses, "user_context", "context"); got != "" {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text("context: %s", got)}}}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": form("Which context?", "context", "string")}}, nil
	})
}
