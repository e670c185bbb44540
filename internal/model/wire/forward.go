package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"lyceum/internal/model"
)

// Forward posts a body that somebody else has written, as it is, and returns the response
// as it comes, whatever its status. Only the header that is given goes with it, besides the
// client's own. Its body ends with an error when the server falls silent or sends more than
// any answer has; closing it gives the connection up. A redirect is not followed, and an
// answer that is compressed is refused: nobody here asked for that.
func (c *Client) Forward(ctx context.Context, path string, header http.Header, body Body) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	silence := c.Silence
	if silence == 0 {
		silence = Silence
	}
	watch := time.AfterFunc(silence, func() {
		cancel(&model.Error{Kind: model.Unavailable, Text: fmt.Sprintf("%s has said nothing for %s", c.Provider, silence)})
	})
	fail := func(err error) (*http.Response, error) {
		watch.Stop()
		if why, ok := context.Cause(ctx).(*model.Error); ok {
			err = why
		}
		cancel(nil)
		return nil, err
	}
	own := *c
	own.Header = c.Header.Clone()
	if own.Header == nil {
		own.Header = http.Header{}
	}
	for name, values := range header {
		if _, ours := own.Header[name]; !ours {
			own.Header[name] = values
		}
	}
	own.Header.Set("Accept-Encoding", "identity")
	own.Header.Set("User-Agent", "lyceum")
	accept := own.Header.Get("Accept")
	if accept == "" {
		accept = "application/json"
	}
	resp, err := own.send(ctx, http.MethodPost, path, accept, body)
	if err != nil {
		return fail(err)
	}
	if how := resp.Header.Get("Content-Encoding"); how != "" && how != "identity" {
		_ = resp.Body.Close()
		return fail(c.Garbled("an answer in a compression that nobody asked for"))
	}
	watch.Stop()
	resp.Body = &forwarded{heard: heard{io.LimitReader(resp.Body, maxTotal), watch, silence}, body: resp.Body, ctx: ctx, cancel: cancel}
	return resp, nil
}

// forwarded is the body of a response that is passed on.
type forwarded struct {
	heard
	body   io.Closer
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Read implements io.Reader.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.heard.Read(p)
	if err != nil && err != io.EOF {
		if why, ok := context.Cause(f.ctx).(*model.Error); ok {
			err = why
		}
	}
	return n, err
}

// Close implements io.Closer.
func (f *forwarded) Close() error {
	f.watch.Stop()
	f.cancel(nil)
	return f.body.Close()
}

// After is how long a response asks to wait, 0 if it does not say.
func (c *Client) After(h http.Header) time.Duration { return c.after(h) }

// UnsentError says that a request did not go out: what it was waiting for did not come.
type UnsentError struct{ Err error }

func (e *UnsentError) Error() string { return e.Err.Error() }

// Unwrap is for errors.Is and errors.As.
func (e *UnsentError) Unwrap() error { return e.Err }
