package scoped_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/mcp/scoped"
)

// BenchmarkCall is what a call takes here, without a network and without a quest.
func BenchmarkCall(b *testing.B) {
	h := scoped.New("agent-1", newBox(), scoped.Options{})
	defer h.Close()
	for i := 0; b.Loop(); i++ {
		r := httptest.NewRequest("POST", "http://127.0.0.1/mcp", strings.NewReader(callOf(fmt.Sprint(i), "publish", `{"title":"On owls"}`)))
		r.RequestURI = scoped.Path
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Session-Id", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(computer.As(r.Context(), "agent-1")))
		if w.Code != 200 || !strings.Contains(w.Body.String(), "is call") {
			b.Fatalf("a call: %d %s", w.Code, w.Body)
		}
	}
}
