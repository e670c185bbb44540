package gateway

import (
	"errors"
	"fmt"
	"strings"
)

// Gemini's server takes names in both spellings: what is checked is the one without
// underscores and capitals.
func bare(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// either reads an object whose members are known in either spelling.
func (l *looker) either(what string, known members) error {
	seen := map[string]bool{}
	return l.each(what, func(name string) error {
		read, ok := known[bare(name)]
		switch {
		case seen[bare(name)]:
			return fmt.Errorf("%s has %s twice, in two spellings", what, short(name))
		case !ok && (l.d.PeekKind() == 'n' || l.permits(name)):
			return l.skip()
		case !ok:
			return &deniedError{fmt.Sprintf("the field %q of %s", short(name), what)}
		}
		seen[bare(name)] = true
		if read == nil {
			return l.skip()
		}
		return read()
	})
}

func (l *looker) gemini() error {
	return l.either("the request", members{
		"contents": func() error { return l.oneOrMore("contents", l.geminiContent) }, "systeminstruction": l.geminiContent,
		"tools":      func() error { return l.oneOrMore("tools", l.geminiTool) },
		"toolconfig": nil, "safetysettings": nil, "labels": nil,
		"generationconfig": l.geminiConfig,
		// countTokens has the whole request within; its model is that of the path.
		"generatecontentrequest": l.gemini,
		"model":                  l.geminiName,
	})
}

// geminiName is the path's, once more.
func (l *looker) geminiName() error {
	name := ""
	if err := l.text(&name)(); err != nil {
		return err
	}
	if strings.TrimPrefix(name, "models/") != l.model {
		return errors.New("the request names another model than its path")
	}
	return nil
}

// oneOrMore reads a list, or what stands for a list of one.
func (l *looker) oneOrMore(what string, one func() error) error {
	if l.d.PeekKind() == '{' {
		return one()
	}
	return l.list(what, one)
}

func (l *looker) geminiConfig() error {
	return l.each("generationConfig", func(name string) error {
		switch bare(name) {
		case "maxoutputtokens":
			return l.number()
		case "candidatecount":
			return l.only("candidateCount", "1")()
		case "responsemodalities":
			return l.only("responseModalities", `["TEXT"]`, `["text"]`)()
		}
		return l.skip()
	})
}

// geminiTool lets functions of the agent's own pass: every other kind of tool is run by the
// provider.
func (l *looker) geminiTool() error {
	return l.either("a tool", members{"functiondeclarations": nil})
}

func (l *looker) geminiContent() error {
	if l.d.PeekKind() == '"' {
		return l.skip()
	}
	return l.either("a content", members{"role": nil, "parts": func() error { return l.oneOrMore("parts", l.geminiPart) }})
}

func (l *looker) geminiPart() error {
	if l.d.PeekKind() == '"' {
		return l.skip()
	}
	return l.either("a part", members{
		"text": nil, "thought": nil, "thoughtsignature": nil, "inlinedata": nil, "functioncall": nil, "videometadata": nil, "mediaresolution": nil, "partmetadata": nil,
		"functionresponse": func() error {
			return l.each("a function response", func(name string) error {
				if bare(name) == "parts" {
					return l.list("parts", l.geminiPart)
				}
				return l.skip()
			})
		},
	})
}
