package scoped

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// CodeAway is that of the error by which a client hears that Lyceum goes away before the
// call has an answer. The same message, sent to the next Lyceum, is the same call.
const CodeAway = -32050

// receive answers what is about tools; the rest is the SDK's.
func (h *Handler) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		x, ok := ctx.Value(exchangeKey{}).(*exchange)
		if !ok {
			return nil, errors.New("a message that came by no request")
		}
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				list.Tools, err = h.tools(ctx)
			}
			return res, err
		case *mcp.CallToolRequest:
			res, err := h.call(x, req.Params.Name, string(req.Params.Arguments))
			if err != nil {
				return nil, err
			}
			return res, nil
		}
		if method == "subscriptions/listen" {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer h.signs(x)()
			// The streams end when the handler does.
			done := make(chan struct{})
			defer close(done)
			go func() {
				select {
				case <-h.over:
					cancel()
				case <-done:
				}
			}()
			return next(ctx, method, req)
		}
		return next(ctx, method, req)
	}
}

// signs shows whoever waits that somebody is there, until what it returns is called. By the
// time a message is answered, the SDK has begun a stream of events for it.
func (h *Handler) signs(x *exchange) (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(h.opts.Sign)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = x.say(sign) // whoever is gone has ended the request
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// tools is the list of what the agent has.
func (h *Handler) tools(ctx context.Context) ([]*mcp.Tool, error) {
	all, err := h.box.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("the tools cannot be listed: %s", plain.Bare(err.Error(), maxError))
	}
	out := make([]*mcp.Tool, 0, len(all))
	for _, t := range all {
		out = append(out, &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: schema(t)})
	}
	return out, nil
}

// schema is that of a tool's arguments. Clients refuse a whole list for one that is not said
// to be of an object.
func schema(t model.Tool) map[string]jsontext.Value {
	var s map[string]jsontext.Value
	if json.Unmarshal([]byte(t.Schema), &s) != nil || s == nil {
		s = map[string]jsontext.Value{}
	}
	s["type"] = jsontext.Value(`"object"`)
	return s
}

// call makes a call. What is wrong with it is the agent's to read, so it is a result.
func (h *Handler) call(x *exchange, tool, args string) (*mcp.CallToolResult, error) {
	if args == "" || args == "null" {
		args = "{}"
	}
	stop := h.signs(x)
	res, err := h.box.Use(x.ctx, Call{ID: x.id, Tool: tool, Args: args})
	stop()
	switch {
	case err != nil && x.ctx.Err() != nil:
		return nil, x.ctx.Err() // nobody listens
	case errors.Is(err, context.Canceled):
		return nil, &jsonrpc.Error{Code: CodeAway, Message: "Lyceum goes away, and the call has no answer yet. It may have been made: look before you repeat it."}
	case err != nil:
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: plain.Bare(err.Error(), maxError)}}}, nil
	}
	return res.content(), nil
}

// content is a result in MCP's words.
func (r *Result) content() *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.Error}
	if r.Text != "" || len(r.Files) == 0 {
		out.Content = append(out.Content, &mcp.TextContent{Text: strings.ToValidUTF8(r.Text, "\uFFFD")})
	}
	if jsontext.Value(r.Structured).IsValid() {
		out.StructuredContent = jsontext.Value(r.Structured)
	}
	shown := 0
	for _, f := range r.Files {
		if slices.Contains(pictures, f.Media) && shown+len(f.Data) <= maxShown {
			shown += len(f.Data)
			out.Content = append(out.Content, &mcp.ImageContent{Data: f.Data, MIMEType: f.Media})
			continue
		}
		out.Content = append(out.Content, &mcp.TextContent{Text: fmt.Sprintf("A file that is not shown: %s, %s, %d bytes.", plain.Quoted(f.Name, 200), plain.Quoted(f.Media, 100), len(f.Data))})
	}
	return out
}

// pictures are what models can be shown.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
