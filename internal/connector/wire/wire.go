// Package wire is what drivers of services share: JSON over HTTP within bounds, what an error of
// it means for who delivers, and the Markdown of agents in the form of each service.
//
// Nothing a service sends is trusted to be small, valid, or to come at all. A redirect is not
// followed: it would take the token along. No secret of a driver is ever part of an error. Each
// call is one attempt; trying again is for the caller. A connection serves one call, so that
// nothing is left open behind it.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of what a service may send.
const (
	MaxFile = 25 << 20
	maxBody = 4 << 20
	maxHead = 64 << 10
	maxDeep = 1 << 16
	maxSaid = 200
)

// Patience is how long a service may take for one exchange, where nobody says otherwise; for a
// file it has ten times as long.
const Patience = 30 * time.Second

// ErrTooLarge is one of a file that is larger than was asked for.
var ErrTooLarge = errors.New("it is too large")

// Client speaks with one service.
type Client struct {
	// Service is its name, for messages.
	Service string
	// Base is the address that paths are added to, without a slash at its end.
	Base string
	// Header is sent with each call.
	Header http.Header
	// Secrets are values that must not stand in any message.
	Secrets []string
	// Patience is how long an exchange may take; 0 means the usual.
	Patience time.Duration
	// Read says what a body means that came with a status; nil leaves it to the status. It
	// returns nil if the body is no failure.
	Read func(status int, body []byte) *Failure
}

// Failure is what a service says of a call that it did not do.
type Failure struct {
	Status int
	// Text is the service's own.
	Text string
	// After is when to come again, if it says.
	After time.Duration
	// Final says that no other try helps.
	Final bool
}

// Raw is a body that is no JSON.
type Raw struct {
	Type string
	Data []byte
}

// transport is that of all drivers. It keeps no connection.
var transport = &http.Transport{
	Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DisableCompression: true,
	TLSHandshakeTimeout: 20 * time.Second, MaxResponseHeaderBytes: maxHead,
}

var client = &http.Client{
	Transport:     transport,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Call sends a body as JSON, or as it is if it is Raw, and reads what comes as JSON into out.
// Either may be nil. The service has wait longer than the usual, which is for polling.
func (c *Client) Call(ctx context.Context, method, path string, body, out any, wait time.Duration) error {
	patience := c.patience() + wait
	if _, raw := body.(Raw); raw {
		patience *= 10
	}
	data, err := c.exchange(ctx, method, c.Base+path, c.Header, body, maxBody, patience)
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := decode(data, out); err != nil {
		return fmt.Errorf("%s has sent no answer that can be read: %s", c.Service, c.Hide(err.Error()))
	}
	return nil
}

// File gets a file, of at most so many bytes. The header is that of the call alone: a file may
// be elsewhere, where a token has no business.
func (c *Client) File(ctx context.Context, address string, header http.Header, most int64) ([]byte, error) {
	return c.exchange(ctx, http.MethodGet, address, header, nil, most, c.patience()*10)
}

// Put posts a body elsewhere, without the token.
func (c *Client) Put(ctx context.Context, address string, body Raw) error {
	_, err := c.exchange(ctx, http.MethodPost, address, nil, body, maxBody, c.patience()*10)
	return err
}

func (c *Client) patience() time.Duration {
	if c.Patience > 0 {
		return c.Patience
	}
	return Patience
}

func (c *Client) exchange(ctx context.Context, method, address string, header http.Header, body any, most int64, patience time.Duration) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := request(within, method, address, body)
	if err != nil {
		return nil, c.broke(ctx, err, patience)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "lyceum")
	resp, err := client.Do(req)
	if err != nil {
		return nil, c.broke(ctx, err, patience)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, c.broke(ctx, err, patience)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s has sent more than %d bytes: %w", c.Service, most, ErrTooLarge)
	}
	return data, c.failed(resp, data)
}

func request(ctx context.Context, method, address string, body any) (*http.Request, error) {
	kind, data := "application/json", []byte(nil)
	switch body := body.(type) {
	case nil:
	case Raw:
		kind, data = body.Type, body.Data
	default:
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(data))
	if err == nil && body != nil {
		req.Header.Set("Content-Type", kind)
	}
	return req, err
}

// failed is the error of a response, if it is one.
func (c *Client) failed(resp *http.Response, data []byte) error {
	status := resp.StatusCode
	var f *Failure
	if c.Read != nil {
		f = c.Read(status, data)
	}
	if f == nil {
		if status >= 200 && status < 300 {
			return nil
		}
		f = &Failure{Text: http.StatusText(status), Final: final(status)}
	}
	f.Status = status
	if s, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 32); err == nil && s > 0 && f.After == 0 {
		f.After = time.Duration(s) * time.Second
	}
	return c.Fail(f)
}

// final tells of which statuses no other try helps. A token that is refused is not among them:
// a person can mend it.
func final(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// longest is how long a service can ask to be left alone.
const longest = time.Hour

// Fail is the error that a failure is to who delivers.
func (c *Client) Fail(f *Failure) error {
	text := fmt.Sprintf("%s says: %s (%d)", c.Service, plain.Brief(c.Hide(f.Text), maxSaid), f.Status)
	switch {
	case f.After > 0 || f.Status == http.StatusTooManyRequests:
		return &connector.Later{After: min(f.After, longest), Err: errors.New(text)}
	case f.Final:
		return &connector.Refused{Reason: text}
	}
	return errors.New(text)
}

// broke is the error of a connection. That of net/http names the address, and a token may be
// part of it.
func (c *Client) broke(ctx context.Context, err error, patience time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s has not answered within %s", c.Service, patience)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("reach %s: %s", c.Service, plain.Brief(c.Hide(err.Error()), maxSaid))
}

// Hide is a text without the secrets.
func (c *Client) Hide(s string) string { return Hide(s, c.Secrets) }

// Hide is a text without the secrets, as they are, quoted, or written in an address.
func Hide(s string, secrets []string) string {
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted := strconv.Quote(secret)
		for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret), quoted[1 : len(quoted)-1]} {
			s = strings.ReplaceAll(s, form, "[secret]")
		}
	}
	return s
}

// decode reads JSON that is not trusted.
func decode(data []byte, out any) error {
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxDeep {
		return errors.New("it has more parts than anybody could need")
	}
	return json.Unmarshal(data, out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// Decode reads JSON of a service into out.
func Decode(data []byte, out any) error { return decode(data, out) }

// Safe tells whether a token may go to an address: by TLS, or to this machine.
func Safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
