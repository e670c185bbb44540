// Package client speaks to a lyceum server, as the command line does when one is up.
//
// It knows the server of a home by a note there, which counts only while its server holds
// it. Before anything is said, each end proves to the other that it knows the home's token
// (api.Mutual); whoever cannot prove it counts as no server, and is told nothing.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
)

// Client speaks to one server.
type Client struct {
	base  string
	token string
	http  *http.Client
	// version is what the program that uses the client is, empty if it does not say.
	version string
	// server is what the server said it is, in its last answer.
	server atomic.Pointer[string]
}

// New returns a client of the server at an address such as http://127.0.0.1:7420/.
func New(base, token string) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), token: token, http: &http.Client{}}
}

// ErrNone says that no server of the home is up.
var ErrNone = errors.New("no lyceum server is up")

// FormatError says that a server speaks another format of the API: nothing that it says can
// be trusted to mean what it seems to.
type FormatError struct {
	// Format and Version are the server's.
	Format, Version string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the server is lyceum %.40s and speaks format %.20s of the API, this lyceum format %d: stop the server and start it again with this lyceum, or use the one that it was started with", e.Version, e.Format, api.Format)
}

// Find returns a client of the server of a home, for a program of a version. token is what
// to bring instead of the home's own, if it is not empty. Find returns ErrNone if no server
// is up, a *FormatError if the one that is cannot be spoken to, and an *Error if it refuses
// the token that was given.
func Find(ctx context.Context, home, version, token string) (*Client, error) {
	note, err := Look(home)
	if err != nil {
		return nil, err
	}
	own, err := api.ReadToken(home)
	if err != nil {
		return nil, ErrNone
	}
	mutual, err := api.Mutual(own)
	if err != nil {
		return nil, ErrNone
	}
	given := token != ""
	if !given {
		token = own
	}
	c := New("https://"+note.Local, token)
	c.version = version
	c.http.Transport = &http.Transport{TLSClientConfig: mutual}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = c.call(ctx, http.MethodGet, "/api/event-types", nil, nil)
	for brokenOff(err) && ctx.Err() == nil {
		// A server that is up and has no room for more strangers lets go of the oldest, and we
		// are strangers until we have been heard.
		if now, gone := Look(home); gone != nil || now.Local != note.Local {
			break
		}
		time.Sleep(20 * time.Millisecond)
		err = c.call(ctx, http.MethodGet, "/api/event-types", nil, nil)
	}
	_, other := errors.AsType[*FormatError](err)
	_, refused := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return c, nil
	case other, given && refused:
		c.Close()
		return nil, err
	}
	c.Close()
	return nil, ErrNone
}

// brokenOff reports whether a connection was let go of at the other end.
func brokenOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Server is the version that the server said it is, empty before its first answer or if it
// is too old to say.
func (c *Client) Server() string {
	if v := c.server.Load(); v != nil {
		return *v
	}
	return ""
}

// do sends a request, with what this program is, and notes what the server is. A server that
// does not name its format is of the first, which had no number.
func (c *Client) do(r *http.Request) (*http.Response, error) {
	r.Header.Set(api.FormatHeader, strconv.Itoa(api.Format))
	if c.version != "" {
		r.Header.Set(api.VersionHeader, c.version)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	version := resp.Header.Get(api.VersionHeader)
	c.server.Store(&version)
	if format := resp.Header.Get(api.FormatHeader); format != "" && format != strconv.Itoa(api.Format) {
		resp.Body.Close()
		return nil, &FormatError{Format: format, Version: version}
	}
	return resp, nil
}

// Do sends a request whose address is a path of the API, with the client's token. An answer is
// returned as it is, also one that is a refusal; the caller closes its body.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	at, err := url.Parse(c.base)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = at.Scheme, at.Host
	r.Header.Set("Authorization", "Bearer "+c.token)
	return c.do(r)
}

// Close lets go of connections at rest.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is an answer of the server that is none.
type Error struct {
	Status  int
	Code    string
	Message string
	Field   string
}

func (e *Error) Error() string { return e.Message }

// Quests lists the quests.
func (c *Client) Quests(ctx context.Context) ([]api.Summary, error) {
	var out struct {
		Quests []api.Summary `json:"quests"`
	}
	err := c.call(ctx, http.MethodGet, "/api/quests", nil, &out)
	return out.Quests, err
}

// Quest describes one.
func (c *Client) Quest(ctx context.Context, name string) (*api.Detail, error) {
	out := new(api.Detail)
	return out, c.call(ctx, http.MethodGet, "/api/quests/"+url.PathEscape(name), nil, out)
}

// Create makes a quest.
func (c *Client) Create(ctx context.Context, n api.NewQuest) (*api.Detail, error) {
	out := new(api.Detail)
	return out, c.call(ctx, http.MethodPost, "/api/quests", n, out)
}

// Control gives an order to a quest.
func (c *Client) Control(ctx context.Context, name string, order api.Control) (*api.Controlled, error) {
	out := new(api.Controlled)
	return out, c.call(ctx, http.MethodPost, "/api/quests/"+url.PathEscape(name)+"/control", order, out)
}

// Study is a study with its table.
func (c *Client) Study(ctx context.Context, name string) (*api.StudyView, error) {
	out := new(api.StudyView)
	return out, c.call(ctx, http.MethodGet, "/api/studies/"+url.PathEscape(name), nil, out)
}

// MakeStudy makes a study.
func (c *Client) MakeStudy(ctx context.Context, n api.NewStudy) (*api.StudyView, error) {
	out := new(api.StudyView)
	return out, c.call(ctx, http.MethodPost, "/api/studies", n, out)
}

// Say says something to a quest's agents, or to one of them, with files if there are any.
func (c *Client) Say(ctx context.Context, name, text, to string, files ...api.NewAttachment) error {
	_, err := c.Send(ctx, name, api.NewMessage{Text: text, To: to, Attachments: files})
	return err
}

// Send says something to a quest, or gives it a command, and returns what became of it.
func (c *Client) Send(ctx context.Context, name string, m api.NewMessage) (*api.Posted, error) {
	out := new(api.Posted)
	return out, c.call(ctx, http.MethodPost, "/api/quests/"+url.PathEscape(name)+"/messages", m, out)
}

// Withdraw takes back a message that was not delivered.
func (c *Client) Withdraw(ctx context.Context, name string, message uint64) error {
	return c.call(ctx, http.MethodDelete, fmt.Sprintf("/api/quests/%s/messages/%d", url.PathEscape(name), message), nil, nil)
}

// Answer answers a question of a quest.
func (c *Client) Answer(ctx context.Context, name string, a api.Answer) error {
	return c.call(ctx, http.MethodPost, "/api/quests/"+url.PathEscape(name)+"/answers", a, nil)
}

// OrderTask cancels a task of an architect, or says something to its executor.
func (c *Client) OrderTask(ctx context.Context, name, task string, o api.TaskOrder) error {
	return c.call(ctx, http.MethodPost, "/api/quests/"+url.PathEscape(name)+"/tasks/"+url.PathEscape(task)+"/orders", o, nil)
}

// Delete removes a quest.
func (c *Client) Delete(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, "/api/quests/"+url.PathEscape(name), nil, nil)
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 20

func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	resp, err := c.do(r)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return refusal(resp)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

func refusal(resp *http.Response) error {
	var out struct {
		Error struct{ Code, Message, Field string }
	}
	e := &Error{Status: resp.StatusCode, Message: resp.Status}
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&out) == nil && out.Error.Message != "" {
		e.Code, e.Message, e.Field = out.Error.Code, out.Error.Message, out.Error.Field
	}
	return e
}

// Signal is one entry of a live stream: an event of the ledger, or something beside it.
type Signal struct {
	// Kind is message for an event, and otherwise delta, cut or end.
	Kind string
	// Seq is an event's; Event is it.
	Seq   uint64
	Event event.Event
	// Data are the bytes that came.
	Data []byte
}

// Follow yields what happens in a quest after an event. When the connection breaks it
// ends with the error; the caller goes on from the last seq it saw.
func (c *Client) Follow(ctx context.Context, name string, after uint64) iter.Seq2[Signal, error] {
	return func(yield func(Signal, error) bool) {
		r, err := c.request(ctx, http.MethodGet, "/api/quests/"+url.PathEscape(name)+"/events", nil)
		if err != nil {
			yield(Signal{}, err)
			return
		}
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Last-Event-ID", strconv.FormatUint(after, 10))
		resp, err := c.do(r)
		if err != nil {
			yield(Signal{}, fmt.Errorf("follow quest %s: %w", name, err))
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			yield(Signal{}, refusal(resp))
			return
		}
		for s, err := range Read(resp.Body) {
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Read takes a stream apart. It ends when the stream does.
func Read(in io.Reader) iter.Seq2[Signal, error] {
	return func(yield func(Signal, error) bool) {
		lines := bufio.NewReaderSize(in, 64<<10)
		s := Signal{Kind: "message"}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Signal{}, err)
				}
				return
			}
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				if s.Data != nil {
					err := s.parse()
					if !yield(s, err) || err != nil {
						return
					}
				}
				s = Signal{Kind: "message"}
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "id":
				s.Seq, _ = strconv.ParseUint(string(value), 10, 64)
			case "event":
				s.Kind = string(value)
			case "data":
				s.Data = append(s.Data, value...)
			}
		}
	}
}

func (s *Signal) parse() (err error) {
	if s.Kind == "message" {
		s.Event, err = event.Parse(s.Data)
	}
	return err
}
