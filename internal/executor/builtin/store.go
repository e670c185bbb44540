package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// line is one thing that happened in a session, and a line of its file.
type line struct {
	Kind string `json:"kind"`
	// ID and Cwd are the session's, in its first line; of a result ID is that of its call.
	ID   string `json:"id,omitzero"`
	Cwd  string `json:"cwd,omitzero"`
	Mode string `json:"mode,omitzero"`
	// Text is what was said, or put out by a tool. Failed says that the tool failed.
	Text   string `json:"text,omitzero"`
	Failed bool   `json:"failed,omitzero"`
	// Pictures came with what was said.
	Pictures []picture `json:"pictures,omitempty"`
	// Parts are an answer's.
	Parts []part `json:"parts,omitempty"`
	// Plan is one as the model has made it.
	Plan []step `json:"plan,omitempty"`
	// Window is how much of what came before is not shown to the model any more.
	Window *window `json:"window,omitzero"`
}

// The kinds of lines.
const (
	kindSession = "session"
	kindMode    = "mode"
	kindUser    = "user"
	kindAnswer  = "answer"
	kindResult  = "result"
	kindPlan    = "plan"
	kindWindow  = "window"
)

// part is a piece of an answer. Call is our own name for a call, which no other has in the
// session, whatever the model calls it.
type part struct {
	Kind   string `json:"kind"`
	Text   string `json:"text,omitzero"`
	ID     string `json:"id,omitzero"`
	Call   string `json:"call,omitzero"`
	Name   string `json:"name,omitzero"`
	Args   string `json:"args,omitzero"`
	Opaque string `json:"opaque,omitzero"`
}

func (p part) model() model.Part {
	return model.Part{Kind: p.Kind, Text: p.Text, ID: p.Call, Name: p.Name, Args: p.Args, Opaque: p.Opaque}
}

// calls are those of an answer.
func (l *line) calls() (out []part) {
	for _, p := range l.Parts {
		if p.Kind == event.PartToolCall {
			out = append(out, p)
		}
	}
	return out
}

// The bounds of a session's file.
const (
	maxLine = 24 << 20
	maxFile = 512 << 20
	// A process waits for another to let a session go, so often and so long.
	lockTries = 100
	lockPause = 50 * time.Millisecond
)

// store is the file of a session. One process has it at a time.
type store struct {
	mu   sync.Mutex // held while a line is written
	f    *os.File
	size int64
}

func fileOf(dir, id string) string { return filepath.Join(dir, "sessions", id+".jsonl") }

// create makes the file of a new session, with its first line.
func create(ctx context.Context, dir, id string, first line) (*store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "sessions"), 0o700); err != nil {
		return nil, fmt.Errorf("make a place for sessions: %w", err)
	}
	f, err := os.OpenFile(fileOf(dir, id), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the file of a session: %w", err)
	}
	s := &store{f: f}
	if err := errors.Join(lock(ctx, f), s.add(first)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// errNoSession says that there is no such session.
var errNoSession = errors.New("there is no such session here")

// reopen reads a session. A last line that is not whole was never acted on, and is taken off.
func reopen(ctx context.Context, dir, id string) (*store, []line, error) {
	f, err := os.OpenFile(fileOf(dir, id), os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, errNoSession
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the file of a session: %w", err)
	}
	s := &store{f: f}
	lines, err := s.read(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return s, lines, nil
}

func (s *store) read(ctx context.Context) (out []line, err error) {
	if err := lock(ctx, s.f); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(io.LimitReader(s.f, maxFile+1), 64<<10)
	for {
		data, err := whole(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the file of a session: %w", err)
		}
		var l line
		if err := json.Unmarshal(data, &l); err != nil {
			return nil, fmt.Errorf("line %d of the session's file is damaged: begin a new session", len(out)+1)
		}
		s.size += int64(len(data))
		out = append(out, l)
	}
	if len(out) == 0 || out[0].Kind != kindSession {
		return nil, errNoSession
	}
	if err := s.f.Truncate(s.size); err != nil {
		return nil, fmt.Errorf("mend the file of a session: %w", err)
	}
	return out, nil
}

// whole reads a line with its end. One without an end is none.
func whole(in *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		piece, err := in.ReadSlice('\n')
		if out = append(out, piece...); len(out) > maxLine {
			return nil, fmt.Errorf("a line has more than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}

// lock waits for whoever else has the file. A process that was killed has let it go.
func lock(ctx context.Context, f *os.File) error {
	for try := 1; ; try++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock the file of a session: %w", err)
		}
		if try == lockTries {
			return errors.New("the session is open in another process: end that first")
		}
		if err := pause(ctx, lockPause); err != nil {
			return err
		}
	}
}

// add writes a line, which holds over a crash when add returns.
func (s *store) add(l line) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return fmt.Errorf("write to the session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.Len() > maxLine || s.size+int64(out.Len()) > maxFile {
		return fmt.Errorf("the session is full: it has %d MiB; begin a new one", s.size>>20)
	}
	if _, err := s.f.Write(out.Bytes()); err != nil {
		// Half a line would join the next one.
		return errors.Join(fmt.Errorf("write to the session: %w", err), s.f.Truncate(s.size))
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("write to the session: %w", err)
	}
	s.size += int64(out.Len())
	return nil
}

func (s *store) close() { _ = s.f.Close() }
