package provider

import (
	"fmt"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/model"
	"lyceum/internal/model/anthropic"
	"lyceum/internal/model/dialect"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"
)

// driver makes one attempt at an answer.
type driver = model.Model

// drivers are the constructors by the way a server is spoken with.
var drivers = map[string]func(*wire.Client, *server, Info) driver{
	config.APIAnthropic: func(c *wire.Client, s *server, i Info) driver {
		o := anthropic.Options{Provider: s.name, MaxTokens: i.defaultOutput()}
		return anthropic.New(c, o)
	},
	config.APIOpenAI: func(c *wire.Client, s *server, i Info) driver {
		o := chat(s.name, i.Model)
		if d := dialect.Of(i.Dialect); d != nil {
			o.Extra = map[string]any{"stop": []string{d.Stop()}}
		}
		return openai.NewChat(c, o)
	},
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
func chat(provider, name string) openai.Options {
	o := openai.Options{Provider: provider}
	switch provider {
	case "openai", "cerebras":
		o.MaxTokensField = "max_completion_tokens"
	case "mistral":
		o.ShortIDs, o.AfterTools, o.CacheKey, o.EffortIn = true, "OK.", true, openai.EffortNowhere
	case "moonshot":
		o.ReasoningField, o.CacheKey, o.EffortIn = "reasoning_content", true, openai.EffortNowhere
		if name == "kimi-k2.5" || name == "kimi-k2.6" || name == "kimi-k3" { // the others always think, or never
			o.Plain = toggle("disabled")
		}
	case "deepseek":
		o.ReasoningField, o.EffortIn = "reasoning_content", openai.EffortNowhere
		if strings.HasPrefix(name, "deepseek-v") {
			o.Thinking, o.Plain = toggle("enabled"), toggle("disabled")
		}
	case "zai":
		o.ReasoningField, o.EffortIn = "reasoning_content", openai.EffortNowhere
		o.Thinking, o.Plain = toggle("enabled"), toggle("disabled")
	case "openrouter":
		o.Thinking, o.EffortIn = map[string]any{"reasoning": map[string]any{"enabled": true}}, openai.EffortReasoning
	case ollama:
		o.Plain = map[string]any{"reasoning_effort": model.NoEffort}
	}
	return o
}

func toggle(how string) map[string]any {
	return map[string]any{"thinking": map[string]any{"type": how}}
}
