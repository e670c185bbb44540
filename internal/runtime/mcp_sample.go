package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/mcp"
	"lyceum/internal/model"
)

// A server that has the agent's model asked (sampling) does so while it works on a call. Its
// request is one to the gateway: an input, put to the policies and to a person, and what came
// of it is durable before the server has the answer.

// maxSampled is how many tokens an answer for a server may have, and shownSampled how many
// bytes of what it wants the model told stand in the event.
const (
	maxSampled   = 4096
	shownSampled = 1500
)

// errUnsampled is what a server is told that asks while it works on no call, or too often.
var errUnsampled = errors.New("the model is asked for a call that the server works on, and at most three times")

// sampler is how a server has the agent's model asked, nil if it may not.
func (s *served) sampler() func(context.Context, *mcp.Sample) (*mcp.Sampled, error) {
	if !s.set.Sampling || s.model == nil {
		return nil
	}
	return s.sample
}

func (s *served) sample(ctx context.Context, wants *mcp.Sample) (*mcp.Sampled, error) {
	call := s.next()
	if call == 0 {
		return nil, errUnsampled
	}
	clean := func(text string) string { return Clean(s.l.rt.Redact(text)) }
	req := &model.Request{Quest: s.l.key, Agent: s.agent, Model: s.named, System: clean(wants.System), MaxTokens: min(wants.MaxTokens, maxSampled), Once: true}
	var whole strings.Builder
	if req.System != "" {
		whole.WriteString("system: " + req.System + "\n")
	}
	for _, m := range wants.Messages {
		role, text := model.User, clean(m.Text)
		if m.Assistant {
			role = model.Assistant
		}
		req.Messages = append(req.Messages, model.Message{Role: role, Parts: []model.Part{{Kind: event.PartText, Text: text}}})
		whole.WriteString(string(role) + ": " + text + "\n")
	}
	b, blobs, err := s.sampleAsked(ctx, call, whole.String(), req.MaxTokens)
	if err != nil {
		return nil, err
	}
	c, err := s.l.askWith(ctx, s.agent, b, blobs)
	if err != nil {
		return nil, s.unsampled(err)
	}
	a, err := generate(ctx, s.model, req, nil)
	res, text := &event.GatewayResult{}, ""
	if a != nil {
		res.Usage, res.Cost, res.Price, res.Unpriced, res.Estimated = a.Usage, a.Cost, a.Price, a.Unpriced, a.Estimated
		res.Usage.Add(a.Wasted)
		for _, p := range a.Parts {
			if p.Kind == event.PartText {
				text += p.Text
			}
		}
		text = clean(text)
		res.Size, res.Hash = int64(len(text)), event.HashOf([]byte(text))
	}
	if err != nil {
		res.Error = err.Error()
	}
	if done := c.End(res); done != nil || err != nil {
		return nil, s.unsampled(errors.Join(err, done))
	}
	return &mcp.Sampled{Model: s.named, Text: text, Cut: a.Stop == model.StopLength}, nil
}

// sampleAsked is the event that a server's request is. No text has more tokens than bytes.
func (s *served) sampleAsked(ctx context.Context, call uint64, whole string, most int64) (*event.GatewayAsked, [][]byte, error) {
	b := &event.GatewayAsked{
		For: call, Hash: event.HashOf([]byte(whole)), Model: s.named, Most: event.Usage{Input: int64(len(whole)), Output: most},
		Path: "sampling/createMessage", Server: s.server, Size: int64(len(whole)), Text: event.Shorten(whole, shownSampled), Wire: event.WireMCP,
	}
	if b.Text == whole {
		return b, nil, nil
	}
	ref, blobs, err := s.l.rt.Keep(ctx, []byte(whole))
	b.Whole = &ref
	return b, blobs, err
}

// unsampled is what a server is told of a model that was not asked, or did not answer: not why,
// which is none of its business, but for what it may tell the agent.
func (s *served) unsampled(err error) error {
	s.l.progress(fmt.Sprintf("The server %s of %s has no answer of the model: %s", s.server, s.agent, s.l.rt.Redact(err.Error())))
	return errors.New("the model was not asked, or gave no answer: go on without it")
}
