package scoped_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/mcp/scoped"
)

// TestServeForInterop is the endpoint for clients of other people: scripts/interop.d/mcp-scoped
// starts it at an address, and closes its standard input at the end. Each call is written down.
func TestServeForInterop(t *testing.T) {
	address := os.Getenv("LYCEUM_INTEROP_TOOLS")
	if address == "" {
		return // nobody asks for it
	}
	b := newBox()
	h := scoped.New("agent-1", b, scoped.Options{Version: "interop"})
	defer h.Close()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer interop":
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this port needs a token, and this is none that holds", http.StatusUnauthorized)
		case r.URL.Path == "/changed": // a word to the test itself
			b.mu.Lock()
			b.tools = b.tools[:1]
			b.mu.Unlock()
			h.Changed()
		default:
			h.ServeHTTP(w, r.WithContext(computer.As(r.Context(), "agent-1")))
		}
	})}
	go func() { _ = s.Serve(l) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		fmt.Fprintf(os.Stderr, "%s %s %s\n", c.ID, c.Tool, c.Args)
	}
}
