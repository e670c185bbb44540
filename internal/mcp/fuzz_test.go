package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMessages has a server send any bytes before it answers: the call and the list come to an end, with what the server
// said or with a reason, and both are plain.
func FuzzMessages(f *testing.F) {
	for _, said := range []string{
		``, `{`, `null`, `[]`, `7`, "\x00\xff", `{"jsonrpc":"2.0","id":ID,"result":{}}`, `{"jsonrpc":"2.0","id":ID,"result":7}`, `{"jsonrpc":"2.0","id":ID}`, `{"jsonrpc":"1.0","id":ID,"result":{}}`,
		`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\u001b[2J\u202eb"}],"isError":true}}`, `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"image","data":"!","mimeType":"x"},{"type":"odd"}]}}`,
		`{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a\u0000","inputSchema":{"$ref":"#"}},null,{"name":7}],"nextCursor":{}}}`, `{"jsonrpc":"2.0","id":ID,"error":{"code":1e99,"message":"\u001b[31m"}}`,
		`{"jsonrpc":"2.0","id":"ID","result":{}}`, `{"jsonrpc":"2.0","id":-1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":-1e308}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`, `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":7}}`,
		`{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[null]}}`, `{"jsonrpc":"2.0","id":9,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":9,"method":"ping"}`,
		`[{"jsonrpc":"2.0","id":ID,"result":{}},{"jsonrpc":"2.0","id":ID,"result":{}}]`, `{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000) + `}`,
	} {
		f.Add(said)
	}
	plainly := func(t *testing.T, what, text string) {
		t.Helper()
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\u202e") {
			t.Errorf("%s is not plain: %q", what, text)
		}
	}
	f.Fuzz(func(t *testing.T, said string) {
		c := rawClient(t, func(method string, id, _ json.RawMessage, say func(string)) {
			if method == "" { // an answer to what was said
				return
			}
			say(strings.ReplaceAll(said, "ID", string(id)))
			result := `{"content":[]}`
			if method == "tools/list" {
				result = `{"tools":[]}`
			}
			say(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
		})
		if r, err := c.Call(t.Context(), "a", []byte(`{}`), 0); err == nil {
			plainly(t, "the result", r.Text)
		} else {
			plainly(t, "the error of a call", err.Error())
		}
		list, err := c.List(t.Context())
		if err != nil {
			plainly(t, "the error of a list", err.Error())
		}
		for _, tool := range list {
			plainly(t, "what a model is told", tool.Words("raw"))
			if schema, why := tool.Arguments(); why == "" {
				plainly(t, "a schema", schema)
			}
		}
	})
}
