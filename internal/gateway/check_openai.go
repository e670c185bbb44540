package gateway

// What is harmless in the two formats of OpenAI. All these tools are the agent's own to run.
var (
	chatTools      = []string{"function", "custom"}
	chatParts      = []string{"text", "refusal", "image_url", "input_audio", "file", "thinking"}
	responsesTools = []string{"function", "custom", "local_shell", "apply_patch", "namespace"}
	responsesItems = []string{
		"", "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning",
		"local_shell_call", "local_shell_call_output", "apply_patch_call", "apply_patch_call_output", "compaction", "additional_tools",
	}
	responsesParts = []string{"input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text", "input_image", "input_file", "input_audio"}
	responsesMore  = []string{"reasoning.encrypted_content", "message.output_text.logprobs"}
)

func (l *looker) chat() error {
	return l.object("the request", members{
		"model": l.name, "stream": l.flag, "max_tokens": l.number, "max_completion_tokens": l.number,
		"messages": func() error { return l.list("messages", l.chatMessage) },
		"tools":    func() error { return l.list("tools", func() error { return l.openAITool(chatTools) }) },
		// What only says how to answer.
		"temperature": nil, "top_p": nil, "top_k": nil, "min_p": nil, "stop": nil, "presence_penalty": nil, "frequency_penalty": nil, "repetition_penalty": nil,
		"logit_bias": nil, "logprobs": nil, "top_logprobs": nil, "user": nil, "seed": nil, "random_seed": nil, "tool_choice": nil, "parallel_tool_calls": nil,
		"response_format": nil, "reasoning_effort": nil, "reasoning": nil, "thinking": nil, "enable_thinking": nil, "verbosity": nil, "stream_options": nil,
		"functions": nil, "function_call": nil, "prompt_cache_key": nil, "safety_identifier": nil, "metadata": nil, "prediction": nil, "safe_prompt": nil,
		"n": l.only("n", "1"), "store": l.only("store", "false"), "service_tier": l.only("service_tier", `"auto"`, `"default"`), "modalities": l.only("modalities", `["text"]`),
	})
}

func (l *looker) chatMessage() error {
	return l.object("a message", members{
		"role": nil, "content": func() error { return l.openAIContent(chatParts) }, "name": nil, "refusal": nil, "tool_calls": nil, "tool_call_id": nil, "function_call": nil,
		"reasoning_content": nil, "reasoning": nil, "reasoning_details": nil, "prefix": nil,
	})
}

// openAITool reads a tool. One that is a namespace has tools itself.
func (l *looker) openAITool(known []string) error {
	kind := ""
	err := l.each("a tool", func(name string) error {
		switch name {
		case "type":
			return l.text(&kind)()
		case "tools":
			return l.list("tools", func() error { return l.openAITool(known) })
		}
		return l.skip()
	})
	if err != nil {
		return err
	}
	return l.kind("tool", kind, known)
}

// openAIContent is a text, or a list of parts.
func (l *looker) openAIContent(known []string) error {
	if l.d.PeekKind() == '"' {
		return l.skip()
	}
	return l.list("content", func() error { return l.openAIPart(known) })
}

func (l *looker) openAIPart(known []string) error {
	kind, at, stored := "", "", ""
	err := l.each("a part", func(name string) error {
		switch name {
		case "type":
			return l.text(&kind)()
		case "image_url":
			if l.d.PeekKind() != '{' {
				return l.text(&at)()
			}
			return l.each("image_url", func(name string) error {
				if name == "url" {
					return l.text(&at)()
				}
				return l.skip()
			})
		case "file_url":
			return l.text(&at)()
		case "file_id":
			return l.text(&stored)()
		case "file":
			return l.each("file", func(name string) error {
				switch name {
				case "file_id":
					return l.text(&stored)()
				case "file_data", "filename":
					return l.skip()
				}
				return &deniedError{"a file that is not in the request"}
			})
		}
		return l.skip()
	})
	switch {
	case err != nil:
		return err
	case stored != "" && !l.permits("file_id"):
		return &deniedError{"a file that the provider has stored"}
	}
	if err := l.address(at); err != nil {
		return err
	}
	return l.kind("content", kind, known)
}

func (l *looker) responses() error {
	return l.object("the request", members{
		"model": l.name, "stream": l.flag, "max_output_tokens": l.number,
		"input": func() error {
			if l.d.PeekKind() == '"' {
				return l.skip()
			}
			return l.list("input", l.responsesItem)
		},
		"tools": func() error { return l.list("tools", func() error { return l.openAITool(responsesTools) }) },
		"include": func() error {
			return l.list("include", func() error {
				word := ""
				if err := l.text(&word)(); err != nil {
					return err
				}
				return l.kind("include", word, responsesMore)
			})
		},
		// What only says how to answer.
		"instructions": nil, "temperature": nil, "top_p": nil, "top_logprobs": nil, "tool_choice": nil, "parallel_tool_calls": nil, "reasoning": nil, "text": nil,
		"truncation": nil, "metadata": nil, "client_metadata": nil, "user": nil, "safety_identifier": nil, "prompt_cache_key": nil, "stream_options": nil, "max_tool_calls": nil,
		"store": l.only("store", "false"), "background": l.only("background", "false"), "service_tier": l.only("service_tier", `"auto"`, `"default"`),
	})
}

func (l *looker) responsesItem() error {
	kind := ""
	err := l.each("an item", func(name string) error {
		switch name {
		case "type":
			return l.text(&kind)()
		case "content", "output":
			if l.d.PeekKind() == '{' { // what a shell or a patch put out
				return l.skip()
			}
			return l.openAIContent(responsesParts)
		case "tools":
			return l.list("tools", func() error { return l.openAITool(responsesTools) })
		}
		return l.skip()
	})
	if err != nil {
		return err
	}
	return l.kind("item", kind, responsesItems)
}
