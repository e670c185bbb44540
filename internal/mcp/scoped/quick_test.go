package scoped_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lyceum/internal/mcp/scoped"

	"github.com/google/go-cmp/cmp"
)

// TestACallIsAnsweredAsByTheSDK makes the same calls twice: so that they are answered here, and
// with null for no arguments, which is left to the SDK.
func TestACallIsAnsweredAsByTheSDK(t *testing.T) {
	t.Parallel()
	b := newBox()
	b.use = func(_ context.Context, c scoped.Call) (scoped.Result, error) {
		switch c.Tool {
		case "away":
			return scoped.Result{}, context.Canceled
		case "paused":
			return scoped.Result{}, errors.New("the quest is paused: \u2028<&>\x00")
		case "wrong":
			return scoped.Result{Text: "no\nsuch \"file\"", Error: true}, nil
		}
		return scoped.Result{Text: c.Args + " \xff", Structured: []byte(`[1, 2]`), Files: []scoped.File{{Name: "a", Media: "image/png", Data: []byte("PNG")}}}, nil
	}
	_, url := start(t, b, scoped.Options{})
	session := begin(t, url)
	for _, tool := range []string{"all", "away", "paused", "wrong"} {
		for _, number := range []string{"3", `"a\"b"`, "-1"} {
			status, _, here := raw(t, "POST", url+scoped.Path, session, callOf(number, tool, "{}"))
			other, _, sdk := raw(t, "POST", url+scoped.Path, session, callOf(number, tool, "null"))
			if diff := cmp.Diff(decoded(t, sdk), decoded(t, here)); status != other || diff != "" {
				t.Errorf("the call %s of %s: %d here, %d by the SDK: %s", number, tool, status, other, diff)
			}
		}
	}
	for what, head := range map[string][]string{"an unknown revision": {"Mcp-Protocol-Version", "2020-01-01"}, "no stream": {"Accept", "application/json"}, "another type": {"Content-Type", "text/plain"}} {
		if status, _, text := raw(t, "POST", url+scoped.Path, session, callOf("4", "all", "{}"), head...); status < 400 {
			t.Errorf("a call with %s: %d %s", what, status, text)
		}
	}
}

// decoded is the one message of a stream.
func decoded(t *testing.T, stream string) (out any) {
	t.Helper()
	_, data, found := strings.Cut(stream, "data: ")
	if !found || strings.Count(stream, "data: ") != 1 || !strings.HasPrefix(stream, "event: message\n") || !strings.HasSuffix(stream, "\n\n") {
		t.Fatalf("a stream of one event: %q", stream)
	}
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
