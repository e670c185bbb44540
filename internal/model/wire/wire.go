// Package wire is what the drivers of models share: it posts a request as JSON,
// reads the answer as server-sent events, and says in one way what can go wrong on
// the way.
//
// Nothing a server sends is trusted to be small, valid, or to come at all: lines,
// bodies and silences have limits. No key that a request carries is ever part of
// an error. Attempts are made once; trying again is for the caller, who counts
// them.
package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of what a server may send.
const (
	maxLine  = 8 << 20
	maxError = 64 << 10
	maxTotal = 256 << 20
	maxHead  = 256 << 10
)

// Silence is how long a server may say nothing, where nobody says otherwise.
const Silence = 5 * time.Minute

// ErrEnough is what a reader of events returns when the answer is whole. The stream
// ends there, whether the server has closed it or not.
var ErrEnough = errors.New("the answer is whole")

// Client speaks with one provider.
type Client struct {
	// Provider is its name, for messages.
	Provider string
	// Base is the address that paths are added to, without a slash at its end.
	Base string
	// Header is sent with each request; it holds the key.
	Header http.Header
	// Secrets are values that must not stand in any message.
	Secrets []string
	// HTTP is the client to use; nil is a shared one.
	HTTP *http.Client
	// Silence is how long the server may say nothing; 0 means five minutes.
	Silence time.Duration
	// Classify says what sort of failure a response is, where its status alone
	// does not. It returns "" if it does not know. It may be nil.
	Classify func(status int, body []byte) model.Kind
	// Clock says what time it is, for dates in Retry-After. Nil does not
	// understand dates.
	Clock func() time.Time
}

// shared keeps connections for all drivers of a process.
var shared = &http.Client{Transport: &http.Transport{
	MaxIdleConnsPerHost: 64,
	IdleConnTimeout:     90 * time.Second,
	TLSHandshakeTimeout: 15 * time.Second,
	ForceAttemptHTTP2:   true,

	MaxResponseHeaderBytes: maxHead,
	ReadBufferSize:         16 << 10, // a stream comes in events of a few hundred bytes, many at once
	DialContext:            Dial(&net.Dialer{Timeout: 15 * time.Second}),
}}

// Stream posts body, a value or a Body, and hands each server-sent event to each: its name, which may
// be empty, and its data. It returns nil once the stream has ended or each returns
// ErrEnough; whether it was whole, the caller must see. Another error of each is
// returned as it is, one of the way as a *model.Error, and the context's own when
// that has ended. A redirect is not followed: it would take the key elsewhere. Request is what the provider
// calls the request by, if its header says so.
func (c *Client) Stream(ctx context.Context, path string, body any, each func(name string, data []byte) error) (request string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := c.Silence
	if silence == 0 {
		silence = Silence
	}
	var quiet atomic.Bool
	watch := time.AfterFunc(silence, func() { quiet.Store(true); cancel() })
	defer watch.Stop()
	// A server that only keeps the line open is not silent, but says nothing either.
	idle := time.AfterFunc(idleFactor*silence, func() { quiet.Store(true); cancel() })
	defer idle.Stop()
	request, err = c.stream(ctx, path, body, func(body io.Reader) io.Reader { return &heard{body, watch, silence} }, func(name string, data []byte) error {
		idle.Reset(idleFactor * silence)
		return each(name, data)
	})
	if err != nil && quiet.Load() {
		return request, &model.Error{Kind: model.Unavailable, Text: fmt.Sprintf("%s has said nothing for %s", c.Provider, silence)}
	}
	return request, err
}

// RequestID is what a provider calls a request by, as the header of its response says.
func RequestID(h http.Header) string {
	return cmp.Or(h.Get("Request-Id"), h.Get("X-Request-Id"), h.Get("X-Amzn-Requestid"), h.Get("Apim-Request-Id"))
}

// idleFactor is how much longer a server may keep the line open without an event
// than it may be silent.
const idleFactor = 6

// heard lets the watch run only while a read waits: any byte is a sign of life, and
// a caller who takes its time is not the server's silence.
type heard struct {
	io.Reader
	watch   *time.Timer
	silence time.Duration
}

func (h *heard) Read(p []byte) (int, error) {
	h.watch.Reset(h.silence)
	defer h.watch.Stop()
	return h.Reader.Read(p)
}

// readers are for streams, one at a time.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

func (c *Client) stream(ctx context.Context, path string, body any, listen func(io.Reader) io.Reader, each func(string, []byte) error) (request string, err error) {
	resp, err := c.post(ctx, path, body)
	if err != nil {
		return "", err
	}
	request = RequestID(resp.Header)
	defer resp.Body.Close()
	in := readers.Get().(*bufio.Reader)
	in.Reset(io.LimitReader(listen(resp.Body), maxTotal))
	defer func() { in.Reset(nil); readers.Put(in) }()
	if resp.StatusCode != http.StatusOK {
		return request, c.failed(ctx, resp, in)
	}
	if err := c.sniff(ctx, in); err != nil {
		return request, err
	}
	if err := events(in, each); err != nil && !errors.Is(err, ErrEnough) {
		if way, ok := errors.AsType[*wayError](err); ok {
			return request, c.broke(ctx, way.error)
		}
		if odd, ok := errors.AsType[*oddError](err); ok {
			return request, c.Garbled("%v", odd.error)
		}
		return request, err
	}
	return request, ctx.Err()
}

// Word is a member that ought to be a string, and empty if it is something else.
func Word(v jsontext.Value) (s string) {
	if json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) != nil {
		return ""
	}
	return s
}

// sniff refuses what begins as no stream of events does: a page of a proxy or of
// another program at the address, an answer that is not streamed.
func (c *Client) sniff(ctx context.Context, in *bufio.Reader) error {
	first, err := in.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return c.broke(ctx, err)
	}
	if len(first) == 0 || !strings.ContainsRune("<{[", rune(first[0])) {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(in, maxError)) // as much as comes
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if first[0] == '<' {
		return c.Garbled("a web page (check the base URL)")
	}
	return c.Garbled("not a stream, but: %s (check the base URL)", c.message(body))
}

func (c *Client) post(ctx context.Context, path string, body any) (*http.Response, error) {
	data, err := written(body)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, path, "text/event-stream", data)
}

// send makes one request. A redirect is not followed.
func (c *Client) send(ctx context.Context, method, path, accept string, body Body) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, nil)
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Text: c.redact(fmt.Sprintf("the base URL of %s is no address: %v", c.Provider, unaddressed(err)))}
	}
	if len(body) > 0 {
		body.set(req)
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	client := *shared
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return nil, c.broke(ctx, err)
	}
	return resp, nil
}

// wayError is a failure of the connection rather than of what was sent.
type wayError struct{ error }

// oddError is what was sent, and cannot be meant.
type oddError struct{ error }

// events reads server-sent events.
func events(in *bufio.Reader, each func(string, []byte) error) error {
	var name string
	var data []byte
	has := false
	for {
		line, err := readLine(in)
		if odd, ok := errors.AsType[*oddError](err); ok {
			return odd
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return &wayError{err}
		}
		if err != nil {
			return nil // an event that was not ended does not count
		}
		switch {
		case len(line) == 0:
			if has {
				if nested(data) {
					return &oddError{errors.New("an event of too many parts")}
				}
				if err := each(name, data); err != nil {
					return err
				}
			}
			name, data, has = "", data[:0], false
		case line[0] == ':': // a comment keeps the connection alive
		default:
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				name = string(value)
			case "data":
				if has {
					data = append(data, '\n')
				}
				data, has = append(data, value...), true
				if len(data) > maxLine {
					return &oddError{errors.New("an event that is too long")}
				}
			}
		}
	}
}

// readLine reads a line, which is good until the next one is read.
func readLine(in *bufio.Reader) ([]byte, error) {
	part, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(part, "\r\n"), err
	}
	line := bytes.Clone(part)
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, &oddError{errors.New("a line that is too long")}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}

// failed says what a response that is no answer means.
func (c *Client) failed(ctx context.Context, resp *http.Response, in io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(in, maxError))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		body = append(body, " (cut off)"...)
	}
	e := &model.Error{Kind: kindOf(resp.StatusCode), After: c.after(resp.Header)}
	if c.Classify != nil {
		if k := c.Classify(resp.StatusCode, body); k != "" {
			e.Kind = k
		}
	}
	e.Text = c.redact(fmt.Sprintf("%s answered %d: %s%s", c.Provider, resp.StatusCode, c.message(body), advice(resp.StatusCode)))
	return e
}

func kindOf(status int) model.Kind {
	switch {
	case status == http.StatusNotImplemented: // whatever is there, it is no API of models
		return model.Invalid
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return model.Unavailable
	case status == http.StatusRequestEntityTooLarge:
		return model.ContextTooLong
	}
	return model.Invalid
}

// advice is what a person can do about a status.
func advice(status int) string {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return " (it sends elsewhere: check the base URL)"
	case http.StatusUnauthorized, http.StatusForbidden:
		return " (check the key)"
	case http.StatusNotFound:
		return " (check the model's name and the base URL)"
	case http.StatusPaymentRequired:
		return " (check the account's balance)"
	}
	return ""
}

// message finds the sentence in the body of an error. It takes keys out before it
// cuts, so that no piece of one is left at the end.
func (c *Client) message(body []byte) string {
	var shape struct {
		Error   jsontext.Value `json:"error"`
		Message string         `json:"message"`
		Detail  string         `json:"detail"`
	}
	text := strings.TrimSpace(string(body))
	if json.Unmarshal(body, &shape) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		var plain string
		switch {
		case json.Unmarshal(shape.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(shape.Error, &plain) == nil && plain != "":
			text = plain
		case shape.Message != "":
			text = shape.Message
		case shape.Detail != "":
			text = shape.Detail
		}
	}
	if strings.HasPrefix(text, "<") {
		text = "a web page (check the base URL)"
	}
	text = c.redact(strings.ToValidUTF8(text, "\uFFFD"))
	if r := []rune(text); len(r) > 500 {
		text = string(r[:500]) + "…"
	}
	if text == "" {
		text = "nothing"
	}
	return text
}

// after reads Retry-After, in seconds, milliseconds or as a date.
func (c *Client) after(h http.Header) time.Duration {
	if ms, err := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1<<31)) * time.Millisecond
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseInt(text, 10, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1<<31)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && c.Clock != nil {
		return max(at.Sub(c.Clock()), 0)
	}
	return 0
}

// broke says what a failure of the way means.
func (c *Client) broke(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &model.Error{Kind: model.Unavailable}
	text := unaddressed(err).Error()
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &cert), errors.As(err, &unknown):
		e.Kind = model.Invalid
		text += "; the certificate does not fit: check the base URL, or trust the server's authority"
	case errors.As(err, &dns):
		text += "; check the base URL and the network"
	case strings.Contains(text, "connection refused"):
		text += "; is the server running, and the base URL right?"
	case strings.Contains(text, "unsupported protocol scheme"), strings.Contains(text, "no Host in request URL"):
		e.Kind = model.Invalid
		text += "; give the base URL with https://"
	case strings.Contains(text, "HTTP response to HTTPS"):
		e.Kind = model.Invalid
		text += "; the server speaks http: give the base URL with http://"
	}
	e.Text = c.redact(fmt.Sprintf("%s at %s: %s", c.Provider, host(c.Base), text))
	return e
}

// unaddressed is an error without the address it is about, which may hold a key.
func unaddressed(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// host is the part of an address that is no secret.
func host(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "its base URL"
	}
	return u.Scheme + "://" + u.Host
}

// redact takes keys out of a message, whatever form they have in it.
func (c *Client) redact(text string) string { return Redact(text, c.Secrets) }

// Redact takes secrets out of a text, and pieces of them where a text was cut or
// escaped in a way of its own: whatever has eight bytes in a row of a secret.
func Redact(text string, secrets []string) string {
	const least = 8
	inner := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	grams := map[string]bool{}
	for _, s := range secrets {
		if len(s) < 4 {
			continue // it would take words apart, and is no key
		}
		quoted, _ := jsontext.AppendQuote(nil, s) // it is a form even if s is not UTF-8
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), inner(string(quoted)), inner(strconv.Quote(s)), inner(strconv.QuoteToASCII(s))} {
			if len(form) < least {
				text = strings.ReplaceAll(text, form, "[key]")
			}
			for i := range len(form) - least + 1 {
				grams[form[i:i+least]] = true
			}
		}
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i
		for j := i; j+least <= len(text) && grams[text[j:j+least]]; j++ {
			end = j + least
		}
		if end == i {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString("[key]")
		i = end
	}
	return b.String()
}

// Cut says that a stream ended before its answer was whole.
func (c *Client) Cut() error {
	return &model.Error{Kind: model.Unavailable, Text: c.Provider + " ended its answer in the middle"}
}

// Garbled says that what came is not what the provider documents.
func (c *Client) Garbled(format string, args ...any) error {
	return &model.Error{Kind: model.Unavailable, Garbled: true, Text: c.redact(c.Provider + " sent something that cannot be read: " + fmt.Sprintf(format, args...))}
}
