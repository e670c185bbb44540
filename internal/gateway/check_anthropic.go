package gateway

// What is harmless in the Messages API. Tools without a type are the agent's own; the ones
// with a type here are run by the agent as well, and only described by the provider.
var (
	anthropicTools = []string{
		"", "custom", "bash_20241022", "bash_20250124", "text_editor_20241022", "text_editor_20250124", "text_editor_20250429", "text_editor_20250728", "memory_20250818",
	}
	anthropicBlocks  = []string{"text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use", "tool_result"}
	anthropicSources = []string{"base64", "text", "content"}
)

func (l *looker) anthropic() error {
	message := members{"role": nil, "content": l.anthropicContent}
	return l.object("the request", members{
		"model": l.name, "max_tokens": l.number, "stream": l.flag,
		"messages": func() error {
			return l.list("messages", func() error { return l.object("a message", message) })
		},
		"system": l.anthropicContent,
		"tools":  func() error { return l.list("tools", l.anthropicTool) },
		// What only says how to answer.
		"temperature": nil, "top_p": nil, "top_k": nil, "stop_sequences": nil, "tool_choice": nil, "thinking": nil, "metadata": nil,
		"output_config": nil, "output_format": nil, "context_management": nil, "cache_control": nil,
		"service_tier": l.only("service_tier", `"auto"`, `"standard_only"`),
	})
}

func (l *looker) anthropicTool() error {
	kind := ""
	err := l.each("a tool", func(name string) error {
		if name == "type" {
			return l.text(&kind)()
		}
		return l.skip()
	})
	if err != nil {
		return err
	}
	return l.kind("tool", kind, anthropicTools)
}

// anthropicContent is a text, or a list of blocks.
func (l *looker) anthropicContent() error {
	if k := l.d.PeekKind(); k == '"' {
		return l.skip()
	}
	return l.list("content", l.anthropicBlock)
}

func (l *looker) anthropicBlock() error {
	kind, source := "", ""
	err := l.each("a block", func(name string) error {
		switch name {
		case "type":
			return l.text(&kind)()
		case "content":
			return l.anthropicContent()
		case "source":
			if l.d.PeekKind() == '"' { // of a search result it is a word
				return l.skip()
			}
			source = "none"
			return l.each("a source", func(name string) error {
				switch name {
				case "type":
					return l.text(&source)()
				case "content":
					return l.anthropicContent()
				}
				return l.skip()
			})
		}
		return l.skip()
	})
	if err != nil {
		return err
	}
	if source != "" {
		if err := l.kind("source", source, anthropicSources); err != nil {
			return err
		}
	}
	return l.kind("content", kind, anthropicBlocks)
}
