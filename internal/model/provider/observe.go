package provider

import (
	"context"
	"net/http"
	"sync/atomic"
)

// statusOverloaded is Anthropic's word for too many requests by everyone.
const statusOverloaded = 529

// statusKey is where a call finds the status of its response, which a model.Error
// does not tell.
type statusKey struct{}

// observer notes the status of responses for whoever asks.
type observer struct{ http.RoundTripper }

func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(r)
	if err == nil {
		note(r.Context(), resp.StatusCode)
	}
	return resp, err
}

func note(ctx context.Context, status int) {
	if to, ok := ctx.Value(statusKey{}).(*atomic.Int64); ok {
		to.Store(int64(status))
	}
}

// CloseIdleConnections is for http.Client, which asks for it by name.
func (o observer) CloseIdleConnections() {
	(&http.Client{Transport: o.RoundTripper}).CloseIdleConnections()
}

// observed returns a client whose calls are seen.
func observed(c *http.Client) *http.Client {
	own := *c
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport = observer{own.Transport}
	return &own
}
