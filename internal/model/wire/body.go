package wire

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Body is a request that is written already, in pieces. Nobody changes them any more.
type Body [][]byte

// Write writes a value as drivers do.
func Write(v any) ([]byte, error) {
	data, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Text: "the request cannot be written as JSON: " + err.Error()}
	}
	return data, nil
}

// Around writes an object but for one member, a list: what comes before its elements, and what after.
func Around(fields map[string]any, list string) (before, after []byte, err error) {
	lower, upper := map[string]any{}, map[string]any{}
	for name, v := range fields {
		switch {
		case name < list:
			lower[name] = v
		case name > list:
			upper[name] = v
		}
	}
	if before, err = Write(lower); err != nil {
		return nil, nil, err
	}
	if after, err = Write(upper); err != nil {
		return nil, nil, err
	}
	before = before[:len(before)-1]
	if len(lower) > 0 {
		before = append(before, ',')
	}
	before = append(append(append(before, '"'), list...), `":[`...)
	if len(upper) > 0 {
		return before, slices.Concat([]byte("],"), after[1:]), nil
	}
	return before, []byte("]}"), nil
}

// Append adds elements to a list that is being written. empty says that nothing stands in it yet.
func Append[T any](text []byte, empty bool, items []T) ([]byte, error) {
	for _, item := range items {
		data, err := Write(item)
		if err != nil {
			return nil, err
		}
		if !empty {
			text = append(text, ',')
		}
		text, empty = append(text, data...), false
	}
	return text, nil
}

// written is a body as it is sent.
func written(body any) (Body, error) {
	if b, ok := body.(Body); ok {
		return b, nil
	}
	data, err := Write(body)
	return Body{data}, err
}

// set makes the body that of a request, which can be sent again if its connection was stale.
func (b Body) set(req *http.Request) {
	for _, piece := range b {
		req.ContentLength += int64(len(piece))
	}
	req.GetBody = func() (io.ReadCloser, error) { return &bodyReader{net.Buffers(slices.Clone(b))}, nil }
	req.Body, _ = req.GetBody() // it has no error
}

// bodyReader reads a body. Most of that is a conversation that was written before, so a connection
// takes the pieces as they are (see plainConn).
type bodyReader struct{ left net.Buffers }

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) { return b.left.Read(p) }

// WriteTo implements io.WriterTo.
func (b *bodyReader) WriteTo(w io.Writer) (int64, error) { return b.left.WriteTo(w) }

// Close implements io.Closer.
func (b *bodyReader) Close() error { return nil }

// size is how many bytes are left.
func (b *bodyReader) size() (n int64) {
	for _, piece := range b.left {
		n += int64(len(piece))
	}
	return n
}

// plainConn is a connection that is not encrypted. net/http copies a body through a buffer that it makes
// for each request; here the pieces go to the kernel where they stand.
type plainConn struct{ *net.TCPConn }

// ReadFrom implements io.ReaderFrom.
func (c plainConn) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if body, ok := limited.R.(*bodyReader); ok && body.size() <= limited.N {
			n, err := body.left.WriteTo(c.TCPConn)
			limited.N -= n
			return n, err
		}
	}
	return c.TCPConn.ReadFrom(r)
}

// Dial connects to servers as d does, for a transport that sends bodies.
func Dial(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			return plainConn{tcp}, nil
		}
		return conn, err
	}
}
