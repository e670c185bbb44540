package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"lyceum/internal/plain"
)

// Home is what the tools speak to: the API of docs/api.md, of a server that is up or of one
// without a listener in this process. Whoever makes a Home gives it its credentials.
type Home interface {
	// Do sends a request whose address is a path of the API and nothing else, such as
	// /api/quests. The caller closes the body, also of a stream that has not ended.
	Do(*http.Request) (*http.Response, error)
}

// refused is an answer of the API that is none.
type refused struct {
	status  int
	message string
	field   string
}

func (e *refused) Error() string { return e.message }

// maxAnswer is how many bytes of one answer of the API are read.
const maxAnswer = 64 << 20

// send asks the API, and returns what it answers if that is no refusal.
func (s *Server) send(ctx context.Context, method, path string, body any, accept string) (*http.Response, error) {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, path, in)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	resp, err := s.home.Do(r)
	if err != nil {
		return nil, s.lost(err)
	}
	if resp.StatusCode >= 400 {
		defer resp.Body.Close()
		return nil, s.refusal(resp)
	}
	return resp, nil
}

// lost says what an error of the way to the home means. An address in it is nobody's business.
func (s *Server) lost(err error) error {
	if address, ok := errors.AsType[*url.Error](err); ok {
		err = address.Err
	}
	return fmt.Errorf("ask lyceum: %s: if its server has ended, end this session and begin another", s.told(err.Error(), maxWord))
}

func (s *Server) refusal(resp *http.Response) error {
	var out struct {
		Error struct {
			Message, Field string
			Fields         []struct{ Field, Message string }
		}
	}
	e := &refused{status: resp.StatusCode, message: resp.Status}
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&out) == nil && out.Error.Message != "" {
		e.message, e.field = out.Error.Message, out.Error.Field
		for _, f := range out.Error.Fields {
			if !strings.Contains(e.message, f.Message) {
				e.message += "\n" + f.Field + ": " + f.Message
			}
		}
	}
	e.message = s.told(e.message, maxText)
	return e
}

// ask gets JSON of the API. Every text in it is made safe for a model, and cut if it is longer
// than most bytes.
func (s *Server) ask(ctx context.Context, path string, most int, out any) error {
	return s.order(ctx, http.MethodGet, path, nil, most, out)
}

// order is ask with a method and a body.
func (s *Server) order(ctx context.Context, method, path string, body any, most int, out any) error {
	resp, err := s.send(ctx, method, path, body, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	dec := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("read what lyceum answers: %w", err)
	}
	if out == nil {
		return nil
	}
	data, err := json.Marshal(s.safe(v, most))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// Bounds on what a model is shown of one text; more is behind a link.
const (
	maxWord = 300
	maxText = 4 << 10
	maxLong = 16 << 10
)

// safe makes every text of a JSON value safe.
func (s *Server) safe(v any, most int) any {
	switch v := v.(type) {
	case string:
		return s.told(v, most)
	case []any:
		for i := range v {
			v[i] = s.safe(v[i], most)
		}
	case map[string]any:
		for k := range v {
			v[k] = s.safe(v[k], most)
		}
	}
	return v
}

// cutMark is behind a text that was cut.
const cutMark = "… [cut]"

// told is a stranger's text for a model: without secrets, without what people are not shown,
// and of at most so many bytes and the sign that it was cut.
func (s *Server) told(text string, most int) string {
	if s.opts.Redact != nil {
		text = s.opts.Redact(text)
	}
	text = plain.Told(text, 0)
	if len(text) <= most {
		return text
	}
	return plain.Cut(text, most) + cutMark
}

func questPath(name string, rest ...string) string {
	path := "/api/quests/" + url.PathEscape(name)
	for _, r := range rest {
		path += "/" + url.PathEscape(r)
	}
	return path
}

// query makes parameters of what is not empty.
type query url.Values

func (q query) text(name, value string) {
	if value != "" {
		url.Values(q).Set(name, value)
	}
}

func (q query) number(name string, value uint64) {
	if value > 0 {
		url.Values(q).Set(name, strconv.FormatUint(value, 10))
	}
}

func (q query) String() string {
	if len(q) == 0 {
		return ""
	}
	return "?" + url.Values(q).Encode()
}
