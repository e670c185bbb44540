// Package wire is the form of the Agent Client Protocol on a connection, for whoever speaks it:
// JSON-RPC 2.0, a message a line. It says what a line is, and what is wrong with one.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Error is an answer that says why there is none.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// The codes of errors: those of JSON-RPC 2.0, and those that the protocol adds.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	NoMethod       = -32601
	InvalidParams  = -32602
	Internal       = -32603
	AuthRequired   = -32000
	NotFound       = -32002
	Cancelled      = -32800
)

// Errorf makes an error with a code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Message is a line that came in: a request has an id and a method, a notification a method
// alone, an answer an id alone.
type Message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Err            *Error
	// Fault is what is wrong with the line; JSON says that it is JSON all the same.
	Fault string
	JSON  bool
}

// Outgoing is a message as it is written.
type Outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Encode makes JSON of params or a result. Nothing is {}: some readers fail on null.
func Encode(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err == nil && string(data) == "null" {
		data = []byte("{}")
	}
	return data, err
}

// maxID is how many bytes an id may have: it is kept, and repeated.
const maxID = 1000

// Parse reads a line. Members that nobody knows are left alone.
func Parse(line []byte) Message {
	var in struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if !json.Valid(line) {
		return Message{Fault: "the line is not JSON"}
	}
	m := Message{JSON: true}
	if err := json.Unmarshal(line, &in); err != nil {
		m.Fault = "the line is no message"
		return m
	}
	if string(in.ID) == "null" {
		in.ID = nil
	}
	switch {
	case in.Version != "2.0":
		m.Fault = "the message is not of JSON-RPC 2.0"
	case len(in.ID) > maxID, len(in.ID) > 0 && in.ID[0] != '"' && in.ID[0] != '-' && (in.ID[0] < '0' || in.ID[0] > '9'):
		m.Fault = "the id is neither a number nor a short text"
		return m
	case in.Method != nil && *in.Method == "":
		m.Fault = "the method has no name"
	case in.Method == nil && (in.ID == nil || (in.Result == nil) == (in.Error == nil)):
		m.Fault = "the message is no request, no notification and no answer"
	}
	m.ID, m.Params, m.Result = compact(in.ID), in.Params, in.Result
	if in.Method != nil {
		m.Method = *in.Method
	}
	if in.Error != nil && m.Method == "" && m.Fault == "" {
		m.Err = new(Error)
		if json.Unmarshal(in.Error, m.Err) != nil || string(in.Error) == "null" {
			m.Err = Errorf(Internal, "the other side failed, and does not say how")
		}
	}
	return m
}

// compact makes ids comparable that differ only in how they are written: the same text may
// have escapes or not.
func compact(id json.RawMessage) json.RawMessage {
	var s string
	if len(id) == 0 || id[0] != '"' || json.Unmarshal(id, &s) != nil {
		return id
	}
	if data, err := json.Marshal(s); err == nil {
		return data
	}
	return id
}

// ErrTooLong says that a line has more bytes than a line may have.
var ErrTooLong = errors.New("longer than a line may be")

// Lines reads lines of at most so many bytes. Of a longer one it keeps nothing.
type Lines struct {
	in    *bufio.Reader
	most  int
	place int64
}

// NewLines returns lines that are read from somewhere.
func NewLines(in io.Reader, most int) *Lines {
	return &Lines{in: bufio.NewReaderSize(in, 64<<10), most: most}
}

// Place is how many bytes were read up to the end of the last line.
func (l *Lines) Place() int64 { return l.place }

// Next returns the next line that is not empty, without its end. A last line without an end
// counts: what is missing of it shows when it is read.
func (l *Lines) Next() ([]byte, error) {
	for {
		var line []byte
		long := false
		for {
			part, err := l.in.ReadSlice('\n')
			l.place += int64(len(part))
			if long = long || len(line)+len(bytes.TrimRight(part, "\r\n")) > l.most; long {
				line = nil
			} else {
				line = append(line, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && (!errors.Is(err, io.EOF) || !long && len(line) == 0) {
				return nil, err
			}
			break
		}
		if long {
			return nil, ErrTooLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}
