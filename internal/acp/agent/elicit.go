package agent

import (
	"context"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/plain"

	sdk "github.com/coder/acp-go-sdk"
)

// elicitation is a form for a person. The SDK's own type has no session.
type elicitation struct {
	SessionID  sdk.SessionId   `json:"sessionId"`
	ToolCallID *sdk.ToolCallId `json:"toolCallId,omitempty"`
	Mode       string          `json:"mode"`
	Message    string          `json:"message"`
	Schema     form            `json:"requestedSchema"`
}

type form struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

type field struct {
	Type  string   `json:"type"`
	Title string   `json:"title"`
	Enum  []string `json:"enum"`
}

// answerField is what the form calls the one thing that it asks for.
const answerField = "answer"

// elicit has the client show a form with the options of a question, and returns the one that was
// chosen, empty if none was.
func (a *Agent) elicit(ctx context.Context, about sdk.RequestPermissionRequest, b *event.InteractionOpened) string {
	p := elicitation{SessionID: about.SessionId, Mode: "form", Message: plain.Text(b.Question.Text), Schema: form{
		Type: "object", Required: []string{answerField},
		Properties: map[string]field{answerField: {Type: "string", Title: "Answer", Enum: b.Options}},
	}}
	if b.Answer != 0 {
		p.ToolCallID = &about.ToolCall.ToolCallId
	}
	var out struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	if err := a.conn.Call(ctx, sdk.ClientMethodElicitationCreate, p, &out); err != nil || out.Action != "accept" {
		return ""
	}
	if answer, _ := out.Content[answerField].(string); slices.Contains(b.Options, answer) {
		return answer
	}
	return ""
}
