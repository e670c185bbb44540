package respond

import (
	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
)

// Gemini is generateContent.
type Gemini struct{}

type geminiChunk struct {
	Candidates []geminiCandidate `json:"candidates,omitempty"`
	Feedback   *geminiFeedback   `json:"promptFeedback,omitzero"`
	Usage      geminiUsage       `json:"usageMetadata"`
	Version    string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
}

type geminiCandidate struct {
	Content geminiContent `json:"content,omitzero"`
	Finish  string        `json:"finishReason,omitzero"`
	Index   int           `json:"index"`
}

type geminiContent struct {
	Role  string       `json:"role,omitzero"`
	Parts []geminiPart `json:"parts,omitzero"`
}

type geminiPart struct {
	Text      *string     `json:"text,omitzero"`
	Thought   bool        `json:"thought,omitzero"`
	Signature *string     `json:"thoughtSignature,omitzero"`
	Call      *geminiCall `json:"functionCall,omitzero"`
}

type geminiCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args,omitzero"`
}

type geminiFeedback struct {
	BlockReason string `json:"blockReason"`
}

type geminiUsage struct {
	Prompt     int64 `json:"promptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount,omitzero"`
	Candidates int64 `json:"candidatesTokenCount,omitzero"`
	Thoughts   int64 `json:"thoughtsTokenCount,omitzero"`
	Total      int64 `json:"totalTokenCount"`
}

// Stream implements Format. Calls come whole; the signature of a text comes after it, that
// of a thought with its last piece.
func (Gemini) Stream(send Send, a *Answer) {
	usage := geminiUsage{Prompt: a.Usage.Input, Total: a.Usage.Input}
	chunk := func(c geminiCandidate) bool {
		return send("", string(Write(geminiChunk{Candidates: []geminiCandidate{c}, Usage: usage, Version: a.Model, ID: a.ID})))
	}
	for _, p := range a.Parts {
		for _, piece := range geminiPieces(a, p, 3) {
			if !chunk(geminiCandidate{Content: geminiContent{Role: "model", Parts: []geminiPart{piece}}}) {
				return
			}
		}
	}
	usage = geminiTotal(a.Usage)
	if a.blocked() {
		send("", string(Write(a.feedback())))
		return
	}
	chunk(geminiCandidate{Content: geminiContent{Role: "model", Parts: []geminiPart{{Text: new("")}}}, Finish: geminiFinish(a.Stop)})
}

// Whole implements Format.
func (Gemini) Whole(a *Answer) []byte {
	if a.blocked() {
		return Write(a.feedback())
	}
	c := geminiCandidate{Content: geminiContent{Role: "model"}, Finish: geminiFinish(a.Stop)}
	for _, p := range a.Parts {
		c.Content.Parts = append(c.Content.Parts, geminiPieces(a, p, 1)...)
	}
	if c.Content.Parts == nil {
		c.Content.Parts = []geminiPart{{Text: new("")}}
	}
	return Write(geminiChunk{Candidates: []geminiCandidate{c}, Usage: geminiTotal(a.Usage), Version: a.Model, ID: a.ID})
}

func (a *Answer) blocked() bool { return a.Stop == model.StopRefusal && len(a.Parts) == 0 }

func (a *Answer) feedback() geminiChunk {
	return geminiChunk{Feedback: &geminiFeedback{BlockReason: "PROHIBITED_CONTENT"}, Usage: geminiTotal(a.Usage), Version: a.Model, ID: a.ID}
}

func geminiTotal(u event.Usage) geminiUsage {
	return geminiUsage{Prompt: u.Input, Cached: u.Cached, Candidates: u.Output - u.Thinking, Thoughts: u.Thinking, Total: u.Input + u.Output}
}

func geminiFinish(stop string) string {
	switch stop {
	case model.StopLength:
		return "MAX_TOKENS"
	case model.StopRefusal:
		return "SAFETY"
	}
	return "STOP"
}

// geminiPieces takes a part apart as it is streamed, its text into at most n.
func geminiPieces(a *Answer, p model.Part, n int) (out []geminiPart) {
	var signature *string
	if p.Opaque != "" {
		signature = new(a.seal(p, ""))
	}
	if p.Kind == event.PartToolCall {
		call := &geminiCall{ID: p.ID, Name: p.Name}
		if p.Args != "" {
			call.Args = jsontext.Value(args(p))
		}
		return []geminiPart{{Call: call, Signature: signature}}
	}
	thought := p.Kind == event.PartThinking
	cut := pieces(p.Text, n)
	if n == 1 && p.Text != "" {
		cut = []string{p.Text}
	}
	for _, text := range cut {
		out = append(out, geminiPart{Text: new(text), Thought: thought})
	}
	switch {
	case signature == nil:
	case thought && len(out) > 0:
		out[len(out)-1].Signature = signature
	default:
		out = append(out, geminiPart{Text: new(""), Thought: thought, Signature: signature})
	}
	return out
}
