package scoped

import (
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// older are the revisions with sessions. Without a word of it, a request is of one of them.
var older = []string{"", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// quick answers a call as the SDK would, and reports whether it did: one of a revision with
// sessions, with which nothing is wrong. The SDK makes a session for each and takes each
// message apart four times, which is most of what a call costs; whatever is not as it should
// be is left to it.
func (h *Handler) quick(x *exchange, r *http.Request, msg *message) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accept := strings.Join(r.Header.Values("Accept"), ",")
	id, args := msg.ID.Kind(), msg.Params.Arguments
	switch {
	case msg.Method != "tools/call" || msg.JSONRPC != "2.0" || id != '0' && id != '"' || msg.Params.Name == "":
	case len(args) > 0 && args.Kind() != '{':
	case len(msg.Params.Meta.Revision) > 0 || !slices.Contains(older, r.Header.Get("Mcp-Protocol-Version")) || r.Header.Get("Last-Event-Id") != "":
	case err != nil || kind != "application/json" || !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream"):
	default:
		h.answer(x, msg)
		return true
	}
	return false
}

// answer makes a call, and tells what came of it in a stream of one event.
func (h *Handler) answer(x *exchange, msg *message) {
	x.Header().Set("Content-Type", "text/event-stream")
	x.Header().Set("Cache-Control", "no-cache, no-transform")
	res, err := h.call(x, msg.Params.Name, string(msg.Params.Arguments))
	if x.ctx.Err() != nil {
		return // nobody listens
	}
	name, value := "result", any(res)
	if err != nil {
		wire := (*jsonrpc.Error)(nil)
		if !errors.As(err, &wire) {
			wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		}
		name, value = "error", wire
	}
	text, err := json.Marshal(value)
	if err != nil {
		name, text = "error", jsontext.Value(`{"code":-32603,"message":"the result cannot be told"}`)
	}
	_ = x.say("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + string(msg.ID) + ",\"" + name + "\":" + string(text) + "}\n\n")
}
