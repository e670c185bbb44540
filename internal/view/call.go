package view

import (
	"encoding/json"

	"lyceum/internal/plain"
)

// maxCall is how much of a call's arguments is told.
const maxCall = 160

// CallInShort is what a call of a tool is about, in a line: the command or the program where there is
// one, and its arguments otherwise.
func CallInShort(args string) string {
	var named map[string]any
	if json.Unmarshal([]byte(args), &named) == nil {
		for _, name := range []string{"command", "code", "path", "query", "url"} {
			if text, ok := named[name].(string); ok {
				return plain.Brief(text, maxCall)
			}
		}
	}
	return plain.Brief(args, maxCall)
}
