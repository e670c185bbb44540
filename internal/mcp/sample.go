//lint:file-ignore SA1019 sampling is deprecated, and there for servers of 2025-11-25

package mcp

import (
	"context"
	"errors"

	"lyceum/internal/plain"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Sample is what a server wants a model told, and how long the answer may be.
type Sample struct {
	// System is the server's, empty if it gives none; both are made plain.
	System   string
	Messages []Said
	// MaxTokens is at least 1.
	MaxTokens int64
}

// Said is one side's word. The sides take turns, and the user begins and ends.
type Said struct {
	Assistant bool
	Text      string
}

// Sampled is what the model answered. Cut says that there was no room for more.
type Sampled struct {
	Model, Text string
	Cut         bool
}

// How much a server may want a model told.
const (
	maxSampled  = 256 << 10
	maxMessages = 100
)

// sample answers a sampling/createMessage.
func sample(ctx context.Context, r *sdk.CreateMessageRequest, ask func(context.Context, *Sample) (*Sampled, error)) (*sdk.CreateMessageResult, error) {
	if i := r.Session.InitializeResult(); i == nil || i.ProtocolVersion != oldRevision {
		return nil, errors.New("sampling is there for servers of the revision " + oldRevision + " alone")
	}
	s, err := sampleOf(r.Params)
	if err != nil {
		return nil, err
	}
	a, err := ask(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &sdk.CreateMessageResult{Content: &sdk.TextContent{Text: a.Text}, Model: a.Model, Role: "assistant", StopReason: "endTurn"}
	if a.Cut {
		out.StopReason = "maxTokens"
	}
	return out, nil
}

// sampleOf reads what a server wants. Only words are passed on: no pictures, no tools, nothing
// of other servers or of the agent.
func sampleOf(p *sdk.CreateMessageParams) (*Sample, error) {
	s := &Sample{System: plain.Text(p.SystemPrompt), MaxTokens: p.MaxTokens}
	size := len(p.SystemPrompt)
	for _, m := range p.Messages {
		if m == nil {
			return nil, errors.New("a message is missing")
		}
		text, ok := m.Content.(*sdk.TextContent)
		if !ok {
			return nil, errors.New("only texts are passed on to a model")
		}
		if m.Role != "user" && m.Role != "assistant" {
			return nil, errors.New("the role of a message must be user or assistant")
		}
		size += len(text.Text)
		said := Said{Assistant: m.Role == "assistant", Text: plain.Text(text.Text)}
		if n := len(s.Messages); n > 0 && s.Messages[n-1].Assistant == said.Assistant {
			s.Messages[n-1].Text += "\n\n" + said.Text
			continue
		}
		s.Messages = append(s.Messages, said)
	}
	n := len(s.Messages)
	switch {
	case size > maxSampled || n > maxMessages:
		return nil, errors.New("that is more than is passed on to a model")
	case n == 0 || s.Messages[0].Assistant || s.Messages[n-1].Assistant:
		return nil, errors.New("the first and the last message must be the user's")
	case p.MaxTokens < 1:
		return nil, errors.New("maxTokens must be at least 1")
	}
	return s, nil
}
