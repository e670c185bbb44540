package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lyceum/internal/mcp/server"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shelf is a home with nothing but a list of quests.
type shelf struct{ quests []map[string]any }

func (h *shelf) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.URL.Path != "/api/quests" {
		http.NotFound(w, r)
	} else {
		_ = json.NewEncoder(w).Encode(map[string]any{"quests": h.quests})
	}
	return w.Result(), nil
}

func (h *shelf) add(name, status, society string) {
	h.quests = append([]map[string]any{{"name": name, "status": status, "society": society}}, h.quests...)
}

func TestResourcesAreListedByPages(t *testing.T) {
	h := &shelf{}
	for i := range 1200 {
		h.add(fmt.Sprintf("q%04d", i), []string{"finished", "completed_with_warnings", "running", "failed"}[i%4], []string{"contract", "solo"}[i%2])
	}
	s := server.New(t.Context(), h, server.Options{})
	defer s.Close()
	here, there := mcp.NewInMemoryTransports()
	serving, err := s.MCP().Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer serving.Close()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "x", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen, pages, cursor := map[string]bool{}, 0, ""
	for {
		page, err := c.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Resources) > 100 {
			t.Errorf("a page has %d resources", len(page.Resources))
		}
		for _, r := range page.Resources {
			if seen[r.URI] {
				t.Errorf("%s is listed twice", r.URI)
			}
			seen[r.URI] = true
		}
		h.add(fmt.Sprintf("new%d", pages), "finished", "solo") // it shifts nothing
		if pages++; page.NextCursor == "" || pages > 20 {
			break
		}
		cursor = page.NextCursor
	}
	// Of 1200 quests 600 have an answer; the newest 500 of those are listed, half of them
	// contract nets. New quests push old ones out at the end.
	if n := len(seen); pages != 10 || n < 730 || n > 750 {
		t.Errorf("%d resources on %d pages, want about 740 on 10", n, pages)
	}
	for uri := range seen {
		var i int
		if _, err := fmt.Sscanf(uri, "lyceum://q%d/", &i); err != nil || i < 180 || i%4 > 1 || strings.HasSuffix(uri, "/evidence") && i%2 != 0 {
			t.Errorf("%s is listed: too old, later than the list, or not there", uri)
		}
	}
}
