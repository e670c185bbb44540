package mcp

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 servers of 2025-11-25 log

// levels are those of the protocol, the least grave first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// graver reports whether a level is one, and at least as grave as another.
func graver(level, least string) bool {
	i := slices.Index(levels, level)
	return i >= 0 && i >= slices.Index(levels, least)
}

// setLevel tells a server that logs what is grave enough to be told. One that does not take
// the level logs what it likes, and what is less grave is left out here.
func (c *Client) setLevel(ctx context.Context, o Options) {
	i := c.session.InitializeResult()
	if o.Log == "" || i == nil || i.Capabilities == nil || i.Capabilities.Logging == nil {
		return
	}
	_, _ = await(ctx, func() (any, error) {
		return nil, c.session.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: sdk.LoggingLevel(o.Log)})
	})
}

// hearLog passes on what a server logs and is grave enough.
func hearLog(out *sdk.ClientOptions, o Options) {
	out.LoggingMessageHandler = func(_ context.Context, r *sdk.LoggingMessageRequest) {
		if o.Logged == nil || o.Log == "" || r.Params == nil || !graver(string(r.Params.Level), o.Log) {
			return
		}
		if text, err := canonical(r.Params.Data); err == nil {
			o.Logged(string(r.Params.Level), line(text, 500))
		}
	}
}
