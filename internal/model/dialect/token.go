package dialect

import "strings"

// tokens are what models and the readers here take for more than words, without their first
// character. All are broken up in every dialect: which of them a model knows, nobody says.
var tokens = []string{
	// Calls, results, declarations.
	"start_function_call>", "end_function_call>", "start_function_response>", "end_function_response>",
	"start_function_declaration>", "end_function_declaration>", "escape>",
	"tool_call>", "/tool_call>", "tool_response>", "/tool_response>", "tools>", "/tools>",
	// Turns.
	"start_of_turn>", "end_of_turn>", "start_of_image>", "end_of_image>", "bos>", "eos>", "pad>", "unk>", "s>", "/s>",
	"INST]", "/INST]", "TOOL_CALLS]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]", "TOOL_RESULTS]", "/TOOL_RESULTS]", "SYSTEM_PROMPT]", "/SYSTEM_PROMPT]",
}

// maxToken is how long a token of a form can be, in bytes: <|im_start|>, <|tool>, <tool|> and
// the like, whatever the word, and the same with ｜.
const maxToken = 48

const wideBar = "｜"

// Break breaks up every token in a text: a backslash stands behind its first character. Where
// there is one already another is added, so that Unbreak makes the same text again.
func Break(text string) string {
	return each(text, func(out *strings.Builder, first byte, strokes int) {
		out.WriteByte(first)
		for range strokes + 1 {
			out.WriteByte('\\')
		}
	})
}

// Unbreak puts together what Break broke up.
func Unbreak(text string) string {
	return each(text, func(out *strings.Builder, first byte, strokes int) {
		out.WriteByte(first)
		for range strokes - 1 {
			out.WriteByte('\\')
		}
	})
}

// each returns a text with the beginning of each token as f writes it: its first character
// and the backslashes behind that.
func each(text string, f func(out *strings.Builder, first byte, strokes int)) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "<[")
		if next < 0 {
			break
		}
		i += next
		strokes := len(text[i+1:]) - len(strings.TrimLeft(text[i+1:], `\`))
		after := i + 1 + strokes
		if n, _ := tail(text[i], text[after:]); n > 0 {
			out.WriteString(text[from:i])
			f(&out, text[i], strokes)
			from = after
		}
		i = after
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// tail is how many bytes of text, which stands behind first, are the rest of a token; 0 if it
// begins with none. more says that it does not, but would if more came.
func tail(first byte, text string) (n int, more bool) {
	for _, t := range tokens {
		if (first == '[') != strings.HasSuffix(t, "]") {
			continue
		}
		if strings.HasPrefix(text, t) {
			return len(t), false
		}
		more = more || strings.HasPrefix(t, text)
	}
	if first != '<' {
		return 0, more
	}
	end := strings.IndexAny(text[:min(len(text), maxToken)], "<>[]\\ \t\r\n")
	switch {
	case end < 0:
		return 0, more || len(text) < maxToken // a bar at its end would do
	case text[end] != '>' || end < 2:
		return 0, false
	}
	word := text[:end]
	if strings.HasPrefix(word, "|") || strings.HasSuffix(word, "|") || strings.HasPrefix(word, wideBar) || strings.HasSuffix(word, wideBar) {
		return end + 1, false
	}
	return 0, false
}
