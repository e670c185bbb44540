package scoped

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/mcp/server"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const sessionHeader = "Mcp-Session-Id"

// sessionRule is what ids of sessions look like, which are rand.Text.
var sessionRule = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// message is what is to be known of a message before the SDK has it.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		// Request is what a client gives up.
		Request jsontext.Value `json:"requestId"`
		Meta    struct {
			Revision jsontext.Value `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// exchange is a request that is under way.
type exchange struct {
	*flow
	// ctx ends with the request, and when the client gives it up.
	ctx context.Context
	// id is the name of the call, if it is one.
	id string
	// end gives it up.
	end context.CancelFunc
}

type exchangeKey struct{}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if who, _, _ := strings.Cut(computer.Caller(r.Context()), "/"); who == "" || who != h.agent {
		http.Error(w, "this token is not for agent "+h.agent, http.StatusUnauthorized)
		return
	}
	if why := foreign(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	// What was written counts: no path is cleaned, and no other host is meant.
	if raw, _, _ := strings.Cut(r.RequestURI, "?"); raw != PathOf(h.opts.Server) {
		http.Error(w, "there is nothing here: the tools are at "+PathOf(h.opts.Server), http.StatusNotFound)
		return
	}
	switch session := r.Header.Get(sessionHeader); {
	case len(r.Header.Values(sessionHeader)) > 1 || session != "" && !sessionRule.MatchString(session):
		http.Error(w, "there is no such session: begin one with initialize", http.StatusNotFound)
	case r.Method == http.MethodPost:
		h.post(w, r, session)
	case r.Method == http.MethodGet && session != "":
		h.listen(w, r)
	case r.Method == http.MethodDelete && session != "":
		w.WriteHeader(http.StatusNoContent) // there was nothing but its id
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		http.Error(w, "POST a message; with a session, GET is for news and DELETE ends it", http.StatusMethodNotAllowed)
	}
}

// foreign says why a request comes from elsewhere, if it does: from a page in a browser that
// some program inside runs, which was sent to the loopback by a name of its own.
func foreign(r *http.Request) string {
	if !loopback(r.Host) {
		return "the Host of a request must be localhost or an address of the loopback"
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !loopback(u.Host) {
			return "requests of pages from elsewhere are refused"
		}
	}
	return ""
}

func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// post takes a message, which may be a call.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, session string) {
	if h.open.Add(1) > h.opts.Most {
		h.open.Add(-1)
		crowded(w)
		return
	}
	defer h.open.Add(-1)
	body, done := h.read(w, r)
	defer done()
	if body == nil {
		return
	}
	var msg message
	if server.Deep(body) {
		http.Error(w, "the body is nested too deep: no message of MCP is like that", http.StatusBadRequest)
		return
	}
	// It is stricter than the SDK: what can be read in two ways is not passed on.
	if err := json.Unmarshal(body, &msg); err != nil {
		http.Error(w, "the body must be one message of JSON-RPC, as JSON in which no name stands twice", http.StatusBadRequest)
		return
	}
	switch msg.Method {
	case "initialize":
		session = ""
		w.Header().Set(sessionHeader, rand.Text())
	case "notifications/cancelled":
		h.giveUp(session, msg.Params.Request)
		w.WriteHeader(http.StatusAccepted)
		return
	case "subscriptions/listen":
		// It is a stream, and does not count as a request.
		if h.streams.Add(1) > maxStreams {
			h.streams.Add(-1)
			crowded(w)
			return
		}
		defer h.streams.Add(-1)
		h.open.Add(-1)
		defer h.open.Add(1)
	}
	x := h.begin(w, r, session, &msg)
	defer h.end(session, &msg, x)
	if h.quick(x, r, &msg) {
		return
	}
	r = r.WithContext(context.WithValue(x.ctx, exchangeKey{}, x))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	h.wire.ServeHTTP(x.flow, r)
}

func crowded(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many requests of this agent are under way: wait for one of them", http.StatusTooManyRequests)
}

// read takes the body of a request into memory, within bounds. The body is nil if that cannot
// be, and the program has been told; done is to be called when it is not needed any more.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (body []byte, done func()) {
	control := http.NewResponseController(w)
	late := time.AfterFunc(h.opts.Patience, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	defer late.Stop()
	in, held := http.MaxBytesReader(w, r.Body, maxBody), int64(0)
	done = func() { h.held.Add(-held) }
	var out bytes.Buffer
	for {
		n, err := io.CopyN(&out, in, 64<<10)
		held += n
		if h.held.Add(n) > maxHeld {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "the requests of this agent are too large together: wait for one of them", http.StatusServiceUnavailable)
			return nil, done
		}
		tooLarge := (*http.MaxBytesError)(nil)
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF) && out.Len() > 0:
			return out.Bytes(), done
		case errors.As(err, &tooLarge):
			http.Error(w, fmt.Sprintf("a request has at most %d MiB", maxBody>>20), http.StatusRequestEntityTooLarge)
		case errors.Is(err, io.EOF):
			http.Error(w, "the request is empty", http.StatusBadRequest)
		default:
			w.Header().Set("Connection", "close")
			http.Error(w, "the request did not come whole, or took too long", http.StatusRequestTimeout)
		}
		return nil, done
	}
}

// begin makes an exchange of a request. A call of a session can be given up from then on.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request, session string, msg *message) *exchange {
	x := &exchange{flow: newFlow(w, h.opts.Patience)}
	x.ctx, x.end = context.WithCancel(r.Context())
	if msg.Method != "tools/call" {
		return x
	}
	x.id = nameOf(session, msg)
	if session != "" {
		h.mu.Lock()
		h.under[[2]string{session, string(msg.ID)}] = x
		h.mu.Unlock()
	}
	return x
}

func (h *Handler) end(session string, msg *message, x *exchange) {
	x.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	// The same call may have come again meanwhile.
	if key := [2]string{session, string(msg.ID)}; h.under[key] == x {
		delete(h.under, key)
	}
}

// giveUp ends the wait for a call. What it does goes on: nobody can take a call back.
func (h *Handler) giveUp(session string, number jsontext.Value) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.under[[2]string{session, string(number)}]; x != nil && session != "" {
		x.end()
	}
}

// nameOf is the name of a call. A client that gives two calls of a session the same number
// means two, if they ask for something else.
func nameOf(session string, msg *message) string {
	if session == "" {
		return "mcp." + rand.Text()
	}
	sum := sha256.New()
	for _, part := range [][]byte{msg.ID, []byte(msg.Params.Name), msg.Params.Arguments} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return "mcp." + session + "." + hex.EncodeToString(sum.Sum(nil)[:16])
}
