package provider

import (
	"context"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

func TestWhichModelsSee(t *testing.T) {
	t.Parallel()
	r := registry(t, `
providers: {vllm: {api: openai, url: "http://localhost:8000/v1"}}
models:
  vllm/qwen-vl: {pictures: true}
  gpt-5: {pictures: false}
`, nil)
	for name, want := range map[string]bool{
		"claude-opus-5": true, "gpt-5-mini": true, "gemini-2.5-pro": true, "o3-mini": false, "mistral-large-latest": true, "kimi-k2.6": true,
		"deepseek-chat": false, "glm-5": false, "ollama/qwen3": false, "vllm/other": false, "vllm/qwen-vl": true, "gpt-5": false, "gpt-5-2025-08-07": false,
	} {
		info, err := r.Info(name)
		if err != nil || info.Pictures != want {
			t.Errorf("%s: sees is %v (%v), want %v", name, info.Pictures, err, want)
		}
	}
}

// asked is a driver that keeps what it was asked.
type asked struct{ messages []model.Message }

func (a *asked) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	a.messages = r.Messages
	return &model.Answer{}, nil
}

func TestAModelThatCannotSeeIsTold(t *testing.T) {
	t.Parallel()
	picture := model.Part{Kind: model.PartImage, Media: "image/png", Data: []byte("png")}
	r := &model.Request{Messages: []model.Message{
		{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "look"}, picture}},
		{Role: model.User, Parts: []model.Part{{Kind: model.PartToolResult, ID: "1", Text: "[picture]", Pictures: []model.Part{picture, picture}}}},
	}}
	for _, sees := range []bool{true, false} {
		d := &asked{}
		c := calling(&played{}, 0)
		c.driver, c.sees = d, sees
		if _, err := c.Generate(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		first, second := d.messages[0].Parts[1], d.messages[1].Parts[0]
		if sees {
			if first.Kind != model.PartImage || len(second.Pictures) != 2 || second.Text != "[picture]" {
				t.Errorf("a model that sees was not shown the pictures: %+v", d.messages)
			}
			continue
		}
		if first.Kind != event.PartText || first.Text != model.Unseen || second.Pictures != nil || second.Text != "[picture]\n"+model.Unseen+"\n"+model.Unseen {
			t.Errorf("a model that cannot see was asked with %+v", d.messages)
		}
	}
	if r.Messages[0].Parts[1].Kind != model.PartImage || len(r.Messages[1].Parts[0].Pictures) != 2 {
		t.Errorf("the request was changed: %+v", r.Messages)
	}
}
