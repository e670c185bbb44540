package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"lyceum/internal/media"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Result is what came of a call.
type Result struct {
	Text  string
	Files []media.File
	// Failed says that the tool itself says that it failed.
	Failed bool
}

// maxText is how much text a result may have. Of a longer one the whole is a file beside it.
const maxText = 1 << 20

// Call calls a tool. within is how long it may take without a sign of progress, CallTime if
// zero; with progress it may take LongestCall in all. A call that takes longer is cancelled at
// the server too, and the error is ErrLate; if the connection breaks, it is ErrLost.
func (c *Client) Call(ctx context.Context, tool string, args []byte, within time.Duration) (*Result, error) {
	if within == 0 {
		within = CallTime
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(within, func() { cancel(ErrLate) })
	defer idle.Stop()
	whole := time.AfterFunc(max(LongestCall, within), func() { cancel(ErrLate) })
	defer whole.Stop()
	p := &sdk.CallToolParams{Name: tool, Arguments: jsontext.Value(args)}
	token, done := c.alive.watch(clock{
		sign:  func() { idle.Reset(within) },
		still: func() { idle.Stop(); whole.Stop() },
		again: func() { idle.Reset(within); whole.Reset(max(LongestCall, within)) },
	})
	defer done()
	p.SetProgressToken(token)
	res, err := await(ctx, func() (*sdk.CallToolResult, error) { return c.session.CallTool(ctx, p) })
	switch {
	case errors.Is(context.Cause(ctx), ErrLate):
		return nil, ErrLate
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, c.fault("call "+line(tool, 80), err)
	}
	return resultOf(res), nil
}

// clock is the time that one call has. It stands still while a person is asked.
type clock struct{ sign, still, again func() }

// progress knows the calls under way, by their tokens.
type progress struct {
	mu     sync.Mutex
	next   int
	clocks map[string]clock
	asking int // how many questions people think about
}

func (p *progress) watch(c clock) (token string, done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clocks == nil {
		p.clocks = map[string]clock{}
	}
	p.next++
	token = fmt.Sprint("call-", p.next)
	p.clocks[token] = c
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.clocks, token)
	}
}

// sign passes on that a call is alive. A server that makes up tokens moves nothing.
func (p *progress) sign(token any) {
	text, _ := token.(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clocks[text]; ok && p.asking == 0 {
		c.sign()
	}
}

// hold stops the clocks of all calls until the function is called that it returns: nobody
// knows for which of them a server asks.
func (p *progress) hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking++
	for _, c := range p.clocks {
		c.still()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.asking--; p.asking > 0 {
			return
		}
		for _, c := range p.clocks {
			c.again()
		}
	}
}

// resultOf makes what a server sent readable. Links are told and not followed.
func resultOf(r *sdk.CallToolResult) *Result {
	out := &Result{Failed: r.IsError}
	var texts []string
	add := func(text string) {
		if text != "" {
			texts = append(texts, text)
		}
	}
	for _, item := range r.Content {
		switch b := item.(type) {
		case *sdk.TextContent:
			add(plain.Told(b.Text, 0))
		case *sdk.ImageContent:
			out.file("picture", b.Data)
		case *sdk.AudioContent:
			out.file("sound", b.Data)
		case *sdk.ResourceLink:
			add("(a link, not followed: " + line(b.Name, 100) + " " + line(b.URI, 500) + ")")
		case *sdk.EmbeddedResource:
			if b.Resource == nil {
				continue
			}
			if len(b.Resource.Blob) > 0 {
				out.file(path.Base(b.Resource.URI), b.Resource.Blob)
				continue
			}
			add("(" + line(b.Resource.URI, 500) + ")\n" + plain.Told(b.Resource.Text, 0))
		default:
			add("(something that cannot be shown)")
		}
	}
	if r.StructuredContent != nil {
		if text, err := canonical(r.StructuredContent); err == nil && !repeats(r.Content, text) {
			add("Structured result:\n" + plain.JSON(text))
		}
	}
	out.say(texts)
	return out
}

func (r *Result) file(name string, data []byte) {
	if len(data) > 0 {
		r.Files = append(r.Files, media.File{Name: name, Data: data})
	}
}

// repeats reports whether a structured result is there as text as well, as servers do for
// clients of before.
func repeats(content []sdk.Content, text string) bool {
	for _, item := range content {
		if b, ok := item.(*sdk.TextContent); ok {
			v := jsontext.Value(b.Text)
			if v.Canonicalize() == nil && string(v) == text {
				return true
			}
		}
	}
	return false
}
