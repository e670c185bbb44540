package provider

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/anthropic"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"
)

// Forward is the way to a model for requests that somebody else has written in the
// provider's own format: the address, the key and the place in the line are the registry's.
// Each request is made once; trying again is for whoever wrote it.
type Forward struct {
	client *wire.Client
	p      *provider
	info   Info
	key    string
}

// Forward returns the way to a model. What can be known to be wrong before the first
// request is told here, as by Open.
func (r *Registry) Forward(name string) (*Forward, error) {
	p, bare, base, key, err := r.ready(name)
	if err != nil {
		return nil, err
	}
	info := r.info(p, bare)
	client := &wire.Client{
		Provider: p.name, Base: base, Header: header(p.api, key), Secrets: secrets(key),
		HTTP: r.http, Clock: r.clock.Now, Silence: p.silence,
	}
	return &Forward{client: client, p: p, info: info, key: key}, nil
}

// Name is what the provider calls the model.
func (f *Forward) Name() string { return f.info.Model }

// formats are the names of the gateway's formats by those of the configuration.
var formats = map[string]string{
	config.APIAnthropic: event.WireAnthropic, config.APIOpenAI: event.WireChat, config.APIResponses: event.WireResponses, config.APIGemini: event.WireGemini,
}

// Format is what the provider speaks.
func (f *Forward) Format() string { return formats[f.p.api] }

// Speaks reports whether requests of a format can go to the provider.
func (f *Forward) Speaks(format string) bool {
	return format == f.Format() || f.p.name == "openai" && !f.p.own && format == event.WireChat && f.p.api == config.APIResponses
}

// Counter reads the usage of an answer in a format.
func (f *Forward) Counter(format string) wire.Counter {
	switch format {
	case event.WireAnthropic:
		return anthropic.NewCounter()
	case event.WireGemini:
		return gemini.NewCounter()
	case event.WireResponses:
		return openai.NewResponsesCounter()
	}
	return openai.NewChatCounter()
}

// Price is what tokens cost, nil if nobody knows.
func (f *Forward) Price() *event.Price {
	if f.info.Price == nil {
		return nil
	}
	return new(f.info.Price.Recorded())
}

// instructions is how many tokens a provider says to its model by itself, at most.
const instructions = 2048

// Most is what a request of so many bytes can use at most, whose answer has at most limit
// tokens; 0 is for a request that does not say.
func (f *Forward) Most(size, limit int64) event.Usage {
	input := size + instructions
	if f.info.Context > 0 {
		input = min(input, f.info.Context)
	}
	return event.Usage{Input: input, Output: cmp.Or(limit, f.info.MaxOutput, f.info.Context, SafeContext)}
}

// Key is what must not come back in an answer, "" if there is none.
func (f *Forward) Key() string { return f.key }

// Redact takes the key out of a text.
func (f *Forward) Redact(text string) string { return wire.Redact(text, f.client.Secrets) }

// path is where a request goes. The name of a model is one segment, whatever is in it.
func (f *Forward) path(format, verb string) string {
	switch format {
	case event.WireAnthropic:
		return "/v1/" + verb
	case event.WireGemini:
		p := "/models/" + strings.ReplaceAll(url.PathEscape(f.info.Model), ":", "%3A") + ":" + verb
		if verb == "streamGenerateContent" {
			p += "?alt=sse"
		}
		return p
	}
	return "/" + verb
}

// Send posts a request, once it is its turn in the line. verb is what is wanted in the
// format's words: messages, messages/count_tokens, chat/completions, responses,
// generateContent and the like. The line is left when the body is closed.
func (f *Forward) Send(ctx context.Context, quest, format, verb string, h http.Header, body wire.Body) (*http.Response, error) {
	place := f.p.line.turn(quest)
	if err := f.p.line.enter(ctx, place); err != nil {
		return nil, &wire.UnsentError{Err: err}
	}
	leave := func(how outcome, after time.Duration, why string) { f.p.line.leave(place, how, after, why) }
	resp, err := f.client.Forward(ctx, f.path(format, verb), h, body)
	switch {
	case err != nil && ctx.Err() != nil:
		leave(left, 0, "")
		return nil, ctx.Err()
	case err != nil && model.KindOf(err) == model.Unavailable && !garbled(err):
		leave(failed, 0, textOf(err))
		return nil, err
	case err != nil:
		leave(answered, 0, "")
		return nil, err
	}
	why := f.p.name + " answered " + resp.Status
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable, code == statusOverloaded:
		leave = func(outcome, time.Duration, string) {
			f.p.line.leave(place, crowded, min(f.client.After(resp.Header), f.p.line.patience), why)
		}
	case code >= http.StatusInternalServerError:
		leave = func(outcome, time.Duration, string) { f.p.line.leave(place, failed, 0, why) }
	}
	resp.Body = &leaving{ReadCloser: resp.Body, ctx: ctx, leave: leave}
	return resp, nil
}

// leaving is the body of a response that has a place in the line.
type leaving struct {
	io.ReadCloser
	ctx   context.Context
	leave func(how outcome, after time.Duration, why string)
	once  sync.Once
	err   error // of the last read
}

// Read implements io.Reader.
func (l *leaving) Read(p []byte) (n int, err error) {
	n, err = l.ReadCloser.Read(p)
	l.err = err
	return n, err
}

// Close implements io.Closer.
func (l *leaving) Close() error {
	err := l.ReadCloser.Close()
	l.once.Do(func() {
		switch {
		case l.ctx.Err() != nil:
			l.leave(left, 0, "")
		case l.err != nil && !errors.Is(l.err, io.EOF):
			l.leave(failed, 0, textOf(l.err))
		default:
			l.leave(answered, 0, "")
		}
	})
	return err
}
