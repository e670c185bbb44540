package openai

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responsesStream reads the events of a response.
type responsesStream struct {
	client   *wire.Client
	provider string
	emit     func(model.Delta)
	room     wire.Room
	// done are the items that are whole, by their place.
	done map[int64]jsontext.Value
	// final is what the last event says; whole, that it has come.
	final response
	whole bool
}

type responsesEvent struct {
	Type     string         `json:"type"`
	Delta    string         `json:"delta"`
	Place    int64          `json:"output_index"`
	Summary  int64          `json:"summary_index"`
	Item     jsontext.Value `json:"item"`
	Response jsontext.Value `json:"response"`
}

type response struct {
	ID         jsontext.Value   `json:"id"`
	Status     string           `json:"status"`
	Output     []jsontext.Value `json:"output"`
	Error      problem          `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		InputOf struct {
			Cached int64 `json:"cached_tokens"`
			Writes int64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputOf struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func (r *response) usage() event.Usage {
	u := r.Usage
	return event.Usage{CacheWrites: u.InputOf.Writes, Cached: u.InputOf.Cached, Input: u.Input, Output: u.Output, Thinking: u.OutputOf.Reasoning}
}

// outItem is a piece of output.
type outItem struct {
	Type      string    `json:"type"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Arguments string    `json:"arguments"`
	Phase     string    `json:"phase"`
	Sealed    string    `json:"encrypted_content"`
	Summary   []outText `json:"summary"`
	Content   []outText `json:"content"`
}

type outText struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

func (s *responsesStream) event(name string, data []byte) error {
	var e responsesEvent
	if string(data) == "[DONE]" {
		return nil // some compatible servers end so; the last event counts
	}
	if err := json.Unmarshal(data, &e, lenient); err != nil {
		return s.client.Garbled("%v", err)
	}
	switch cmp.Or(e.Type, name) {
	case "response.output_text.delta", "response.refusal.delta":
		s.show(event.PartText, e.Delta)
	case "response.reasoning_summary_part.added":
		if e.Summary > 0 {
			s.show(event.PartThinking, between)
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.show(event.PartThinking, e.Delta)
	case "response.output_item.done":
		if err := s.room.Take(s.client, len(e.Item)); err != nil {
			return err
		}
		if err := s.room.Part(s.client); err != nil {
			return err
		}
		if s.done == nil {
			s.done = make(map[int64]jsontext.Value)
		}
		s.done[e.Place] = e.Item
	case "response.completed", "response.incomplete", "response.failed":
		if err := json.Unmarshal(e.Response, &s.final, lenient); err != nil {
			return s.client.Garbled("the end of the response: %v", err)
		}
		if strings.HasSuffix(cmp.Or(e.Type, name), "failed") {
			return failed(s.client, s.final.Error, s.final.usage())
		}
		s.whole = true
		return wire.ErrEnough
	case "error":
		return failed(s.client, problemOf(data), event.Usage{})
	}
	return nil
}

func (s *responsesStream) show(kind, text string) {
	if text != "" {
		s.emit(model.Delta{Kind: kind, Text: text})
	}
}

// between stands between the paragraphs of a summary.
const between = "\n\n"

// answer makes the parts of the items, which the last event repeats, but not with
// every server.
func (s *responsesStream) answer(r *model.Request) (*model.Answer, error) {
	items := s.final.Output
	if len(items) < len(s.done) {
		items = nil
		for _, place := range slices.Sorted(maps.Keys(s.done)) {
			items = append(items, s.done[place])
		}
	}
	a := &model.Answer{Usage: s.final.usage()}
	refused := false
	for _, raw := range items {
		var item outItem
		if err := json.Unmarshal(raw, &item, lenient); err != nil {
			return nil, s.client.Garbled("an item: %v", err)
		}
		switch item.Type {
		case "message":
			part, no := s.message(item)
			refused = refused || no
			if part.Text != "" {
				a.Parts = append(a.Parts, part)
			}
		case "function_call":
			a.Parts = append(a.Parts, model.Part{Kind: event.PartToolCall, ID: item.CallID, Name: item.Name, Args: arguments(model.Part{Args: item.Arguments})})
		case "reasoning":
			a.Parts = append(a.Parts, s.thought(item, raw))
		}
	}
	a.Parts = slices.DeleteFunc(a.Parts, func(p model.Part) bool {
		return p.Kind == event.PartThinking && p.Text == "" && p.Opaque == ""
	})
	identify(a.Parts, r)
	a.Stop = stop(a.Parts)
	switch {
	case refused, s.final.Incomplete.Reason == "content_filter":
		a.Stop = model.StopRefusal
	case s.final.Incomplete.Reason != "", s.final.Status == "incomplete":
		a.Stop = model.StopLength
	}
	return a, nil
}

func (s *responsesStream) message(item outItem) (part model.Part, refused bool) {
	part.Kind = event.PartText
	for _, c := range item.Content {
		part.Text += c.Text + c.Refusal
		refused = refused || c.Type == "refusal"
	}
	if item.Phase != "" {
		part.Opaque = model.Mark(s.provider, phasePrefix+item.Phase)
	}
	return part, refused
}

func (s *responsesStream) thought(item outItem, raw jsontext.Value) model.Part {
	list := item.Summary
	if len(list) == 0 {
		list = item.Content
	}
	var texts []string
	for _, t := range list {
		texts = append(texts, t.Text)
	}
	p := model.Part{Kind: event.PartThinking, Text: strings.Join(texts, between)}
	if item.Sealed != "" {
		p.Opaque = model.Mark(s.provider, string(raw))
	}
	return p
}
