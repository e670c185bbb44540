package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/conduct"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	mcpserver "lyceum/internal/mcp/server"
	"lyceum/internal/plain"
	"lyceum/internal/policy"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/strictyaml"
)

// problem is an answer from 400 on.
type problem struct {
	status int
	// field is the parameter or member that is at fault, if one is.
	field  string
	fields []FieldError
	text   string
	// revision is the one that a document has, if a save was based on another.
	revision string
}

func (p *problem) Error() string { return p.text }

// Refusal is why something was refused that no other try would change, for whoever wanted it.
func Refusal(err error) (reason string, ok bool) {
	p, ok := errors.AsType[*problem](err)
	if !ok || p.status >= 500 || p.status == http.StatusTooManyRequests {
		return "", false
	}
	return p.text, true
}

func problemf(status int, field, format string, args ...any) *problem {
	return &problem{status: status, field: field, text: fmt.Sprintf(format, args...)}
}

func badParameter(name, format string, args ...any) *problem {
	return problemf(http.StatusBadRequest, name, "%s: %s", name, fmt.Sprintf(format, args...))
}

func missing(format string, args ...any) *problem {
	return problemf(http.StatusNotFound, "", format, args...)
}

// noQuest says once, however many have looked for it, that a quest is not there, and which
// the caller may have meant, of those that the caller may see.
func (s *Server) noQuest(r *http.Request, name string) *problem {
	heads, err := s.rt.Ledger.Quests(r.Context())
	if err != nil {
		heads = nil // that there is no such quest is known all the same
	}
	var names []string
	for _, h := range heads {
		if callerOf(r).allows(read, h.Quest) {
			names = append(names, h.Quest)
		}
	}
	if near := plain.Near(name, names); len(near) > 0 {
		return missing("there is no quest %.80q; did you mean %s? GET /api/quests lists those that there are", name, strings.Join(near, " or "))
	}
	return missing("there is no quest %.80q: GET /api/quests lists those that there are", name)
}

func conflict(format string, args ...any) *problem {
	return problemf(http.StatusConflict, "", format, args...)
}

var codes = map[int]string{
	http.StatusBadRequest: "bad_request", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden",
	http.StatusNotFound: "not_found", http.StatusMethodNotAllowed: "method_not_allowed", http.StatusConflict: "conflict",
	http.StatusRequestEntityTooLarge: "too_large", http.StatusRequestedRangeNotSatisfiable: "bad_request",
	http.StatusTooManyRequests: "rate_limited", http.StatusInternalServerError: "internal", http.StatusServiceUnavailable: "unavailable",
}

// FieldError is one thing that is wrong with a spec.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
}

type errorJSON struct {
	Error struct {
		Code    string       `json:"code"`
		Message string       `json:"message"`
		Field   string       `json:"field,omitempty"`
		Fields  []FieldError `json:"fields,omitempty"`
		// Revision is the one that a document has, if a save was based on another.
		Revision string `json:"revision,omitempty"`
	} `json:"error"`
}

// fail answers with an error, unless the caller has gone or the answer has begun.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, r.Context().Err()) {
		return
	}
	p := asProblem(err)
	if name := r.PathValue("quest"); name != "" && errors.Is(err, ledger.ErrNoQuest) {
		p = s.noQuest(r, name)
	}
	if p.status == http.StatusInternalServerError {
		s.opts.Log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	if rec, ok := w.(*recorder); ok && rec.code != 0 {
		return // too late to say so
	}
	var out errorJSON
	out.Error.Code, out.Error.Message, out.Error.Field, out.Error.Fields = codes[p.status], strings.ToValidUTF8(p.text, "\uFFFD"), p.field, p.fields
	out.Error.Revision = p.revision
	_ = s.send(w, p.status, out)
}

// asProblem says what an error means to a caller.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	status := http.StatusInternalServerError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problemf(http.StatusRequestEntityTooLarge, "", "the body has more than %d bytes", large.Limit)
	case errors.Is(err, ledger.ErrNoQuest), errors.Is(err, ledger.ErrNoBlob), errors.Is(err, blob.ErrNotFound), errors.Is(err, conduct.ErrNone):
		status = http.StatusNotFound
	case errors.Is(err, runtime.ErrExists), errors.Is(err, ledger.ErrClaimed), errors.Is(err, ledger.ErrConflict):
		status = http.StatusConflict
	case errors.Is(err, errClosing), errors.Is(err, ledger.ErrClosed), errors.Is(err, mcpserver.ErrClosed), errors.Is(err, context.Canceled):
		status = http.StatusServiceUnavailable
	case errors.Is(err, mcpserver.ErrSessions):
		status = http.StatusTooManyRequests
	case errors.Is(err, mcpserver.ErrNested):
		status = http.StatusBadRequest
	case isPlanFault(err):
		return badSpec(err, nil)
	}
	return &problem{status: status, text: err.Error()}
}

func isPlanFault(err error) bool {
	_, yaml := errors.AsType[*strictyaml.Error](err)
	_, plan := errors.AsType[*runtime.PlanError](err)
	_, unknown := errors.AsType[*profile.UnknownError](err)
	return yaml || plan || unknown
}

// isForeign reports whether a quest cannot be read because it is of another version.
func isForeign(err error) bool {
	_, rules := errors.AsType[*quest.UnknownRulesError](err)
	_, policies := errors.AsType[*policy.UnknownError](err)
	return rules || policies
}

// send writes JSON. Lines of a ledger in it stay as they are, to the byte.
func (s *Server) send(w http.ResponseWriter, status int, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return write(w, status, data)
}

// sendAndClose sends what was read in a book, which it closes before the first byte goes
// out: a caller that takes its time must not keep others from the quest.
func (s *Server) sendAndClose(w http.ResponseWriter, v any, done func()) error {
	data, err := encode(v)
	done()
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, data)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

func write(w http.ResponseWriter, status int, data []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(data)
	return err
}

// decode reads a JSON body strictly.
func decode(r *http.Request, v any) error {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		return problemf(http.StatusBadRequest, "Content-Type", "the body must be application/json")
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return badBody(err)
	}
	// The decoder stops behind the value: what follows it must be nothing, to the end.
	_, err := dec.Token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return large
	}
	return problemf(http.StatusBadRequest, "", "the body goes on behind its JSON value: send one and nothing else")
}

func badBody(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := member(kind.Field)
		if where == "" {
			return problemf(http.StatusBadRequest, "", "the body must be an object, not %s", kind.Value)
		}
		return badParameter(where, "there must be %s here, not %s", jsonWord(kind.Type), kind.Value)
	}
	p := problemf(http.StatusBadRequest, "", "the body is not what was asked for: %v", err)
	if _, name, ok := strings.Cut(err.Error(), `unknown field "`); ok {
		p.field = event.Cut(strings.TrimSuffix(name, `"`), 100)
	}
	return p
}

// member is where in a body a value stands. The decoder also names the Go structs that
// others are made of; those begin with a capital, and no member of ours does.
func member(field string) string {
	parts := slices.DeleteFunc(strings.Split(field, "."), func(s string) bool { return s == "" || s[0] >= 'A' && s[0] <= 'Z' })
	return strings.Join(parts, ".")
}

// jsonWord is what a Go type is in JSON, to a person.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
