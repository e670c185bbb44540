package provider

import (
	"fmt"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/model"
	"lyceum/internal/model/anthropic"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"
)

// driver makes one attempt at an answer.
type driver = model.Model

// drivers are the constructors by the way a server is spoken with.
var drivers = map[string]func(*wire.Client, *server, Info) driver{
	config.APIAnthropic: func(c *wire.Client, s *server, _ Info) driver {
		return anthropic.New(c, anthropic.Options{Provider: s.name})
	},
	config.APIOpenAI: func(c *wire.Client, s *server, i Info) driver { return openai.NewChat(c, chat(s.name, i.Model)) },
	config.APIResponses: func(c *wire.Client, s *server, _ Info) driver {
		return openai.NewResponses(c, openai.Options{Provider: s.name, CacheKey: true})
	},
	config.APIGemini: func(c *wire.Client, s *server, _ Info) driver {
		return gemini.New(c, gemini.Options{Provider: s.name})
	},
}

func drive(c *wire.Client, s *server, i Info) (driver, error) {
	build := drivers[s.api]
	if build == nil {
		return nil, fmt.Errorf("this binary cannot speak with %s, whose api is %s", s.name, s.api)
	}
	return build(c, s, i), nil
}

// chat says how the servers differ that speak Chat Completions.
func chat(provider, model string) openai.Options {
	o := openai.Options{Provider: provider}
	switch provider {
	case "openai", "cerebras":
		o.MaxTokensField = "max_completion_tokens"
	case "mistral":
		o.ShortIDs, o.AfterTools, o.CacheKey = true, "OK.", true
	case "moonshot":
		o.ReasoningField, o.CacheKey = "reasoning_content", true
		if model == "kimi-k2.5" || model == "kimi-k2.6" || model == "kimi-k3" { // the others always think, or never
			o.Plain = toggle("disabled")
		}
	case "deepseek":
		o.ReasoningField = "reasoning_content"
		if strings.HasPrefix(model, "deepseek-v") {
			o.Thinking, o.Plain = toggle("enabled"), toggle("disabled")
		}
	case "zai":
		o.ReasoningField = "reasoning_content"
		o.Thinking, o.Plain = toggle("enabled"), toggle("disabled")
	case "openrouter":
		o.Thinking = map[string]any{"reasoning": map[string]any{"enabled": true}}
	}
	return o
}

func toggle(how string) map[string]any {
	return map[string]any{"thinking": map[string]any{"type": how}}
}
