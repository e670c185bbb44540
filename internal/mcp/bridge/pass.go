package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"lyceum/internal/mcp/scoped"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errAway says that Lyceum is not there, or goes away: the same message is for the next one.
var errAway = errors.New("there is no Lyceum")

// codeRefused is that of an error of the port itself.
const codeRefused = -32051

// pass sends a message, until it is taken and, if an answer is due, has been answered.
func (b *bridge) pass(ctx context.Context, m *message) {
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		err := b.send(ctx, m)
		switch {
		case ctx.Err() != nil || err == nil:
			return
		case !errors.Is(err, errAway):
			if m.call() {
				b.say(fault(m.ID, codeRefused, err.Error()))
			}
			return
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// request is one to the port.
func (b *bridge) request(ctx context.Context, method string, m *message) (*http.Response, error) {
	var body io.Reader
	if m != nil {
		body = bytes.NewReader(m.raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, b.url, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Mcp-Session-Id", b.session)
	r.Header.Set("Accept", "application/json, text/event-stream")
	b.mu.Lock()
	revision := b.revision
	b.mu.Unlock()
	if m != nil {
		r.Header.Set("Content-Type", "application/json")
		if at := m.Params.Meta.Revision; at != "" {
			// A request that stands alone says in its head what it is.
			revision = at
			r.Header.Set("Mcp-Method", m.Method)
			if name := m.Params.Name + m.Params.URI; name != "" {
				r.Header.Set("Mcp-Name", name)
			}
		}
	}
	if revision != "" {
		r.Header.Set("Mcp-Protocol-Version", revision)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	return resp, nil
}

// send sends a message once, and passes on what comes back.
func (b *bridge) send(ctx context.Context, m *message) error {
	resp, err := b.request(ctx, http.MethodPost, m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := refused(resp); err != nil {
		return err
	}
	if !m.call() {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxLine))
		return err
	}
	answered := false
	err = eachMessage(resp, func(text []byte) error {
		line, ours, err := b.look(m, text)
		if err == nil {
			answered = answered || ours
			b.say(line)
		}
		return err
	})
	switch {
	case answered:
		return nil
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the answer broke off", errAway)
	}
	return err
}

// look reads a message of the port's: whether it is the answer to ours, or one that says that
// Lyceum goes away.
func (b *bridge) look(m *message, text []byte) (line []byte, ours bool, err error) {
	var a struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Result struct {
			Revision string `json:"protocolVersion"`
		} `json:"result"`
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	v := jsontext.Value(text)
	if err := errors.Join(v.Compact(), json.Unmarshal(v, &a)); err != nil {
		return nil, false, fmt.Errorf("the port sent what is no message: %w", err)
	}
	ours = a.Method == "" && string(a.ID) == string(m.ID)
	if ours && a.Error.Code == scoped.CodeAway {
		return nil, false, errAway
	}
	if ours && m.Method == "initialize" && a.Result.Revision != "" {
		b.mu.Lock()
		b.revision = a.Result.Revision
		b.mu.Unlock()
	}
	return v, ours, nil
}

// refused is the error of an answer that is none.
func refused(resp *http.Response) error {
	switch {
	case resp.StatusCode < 300:
		return nil
	case resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusBadGateway:
		return errAway
	case resp.StatusCode == http.StatusUnauthorized:
		return errors.New("the task is over: its tools are not to be used any more")
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
	return fmt.Errorf("the port refused it: %s: %s", resp.Status, strings.TrimSpace(string(text)))
}

// eachMessage reads the messages of an answer, as they come.
func eachMessage(resp *http.Response, take func([]byte) error) error {
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "text/event-stream" {
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err != nil {
			return fmt.Errorf("%w: %w", errAway, err)
		}
		return take(text)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if len(data)+len(rest) > maxEvent {
				return bufio.ErrTooLong
			}
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		}
		if len(line) > 0 || len(data) == 0 {
			continue
		}
		if err := take(data); err != nil {
			return err
		}
		data = data[:0]
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return lines.Err()
}

// listen passes on what the port says by itself, until it ends or says that there is no such
// thing.
func (b *bridge) listen(ctx context.Context) {
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		resp, err := b.request(ctx, http.MethodGet, nil)
		if err == nil {
			if err = refused(resp); err == nil {
				pause = shortPause
				_ = eachMessage(resp, func(text []byte) error {
					v := jsontext.Value(text)
					if err := v.Compact(); err != nil {
						return err
					}
					b.say(v)
					return nil
				})
				err = errAway
			}
			resp.Body.Close()
		}
		if !errors.Is(err, errAway) || !wait(ctx, pause) {
			return
		}
	}
}
