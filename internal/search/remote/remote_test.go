package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

const key = "sk-secret-0123456789"

// server answers with whatever handle writes.
func server(t *testing.T, handle http.HandlerFunc) *Embedder {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	e, err := New(s.URL+"/v1/", "small", key, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.client.CloseIdleConnections)
	return e
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("AsksInBatchesAndKeepsTheOrder", func(t *testing.T) {
		t.Parallel()
		var sizes []int
		e := server(t, func(w http.ResponseWriter, r *http.Request) {
			var in request
			if err := json.UnmarshalRead(r.Body, &in); err != nil || in.Model != "small" || r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer "+key {
				t.Errorf("bad request: %s %s %v %v", r.Method, r.URL, r.Header, err)
			}
			sizes = append(sizes, len(in.Input))
			// From the last to the first: the index says which is which.
			var out []string
			for i, text := range slices.Backward(in.Input) {
				out = append(out, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,1]}`, i, len(text)))
			}
			fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"small"}`, strings.Join(out, ","))
		})
		var texts []string
		for i := range 150 {
			texts = append(texts, strings.Repeat("x", i+1))
		}
		texts = append(texts, strings.Repeat("y", 200<<10), strings.Repeat("z", 200<<10))
		got, err := e.Embed(ctx, texts)
		if err != nil || len(got) != len(texts) {
			t.Fatalf("%d vectors, %v", len(got), err)
		}
		for i, v := range got {
			if len(v) != 2 || v[0] != float32(len(texts[i])) {
				t.Fatalf("text %d has %v", i, v)
			}
		}
		if want := []int{64, 64, 23, 1}; !slices.Equal(sizes, want) {
			t.Errorf("batches of %v, want %v", sizes, want)
		}
	})
	t.Run("SendsNothingThatAServerRefuses", func(t *testing.T) {
		t.Parallel()
		e := server(t, func(w http.ResponseWriter, r *http.Request) {
			var in request
			if err := json.UnmarshalRead(r.Body, &in); err != nil || slices.Contains(in.Input, "") {
				t.Errorf("sent %q, %v", in.Input, err)
			}
			fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`)
		})
		if _, err := e.Embed(ctx, []string{"", "\xff"}); err != nil {
			t.Error(err)
		}
	})
	// What a server may say instead, and what the error must hold.
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"SaysToCheckTheKey":          {401, `{"error":{"message":"no such key ` + key + `"}}`, "check the key"},
		"SaysToCheckTheAddress":      {404, "<html>", "check the base URL"},
		"SaysToTryLater":             {503, "busy", "try again later"},
		"DoesNotFollowRedirects":     {307, "", "it sends elsewhere"},
		"RefusesTooFewVectors":       {200, `{"data":[{"index":0,"embedding":[1]}]}`, "1 vectors for 2 texts"},
		"RefusesTooManyVectors":      {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "3 vectors for 2 texts"},
		"RefusesTheSameIndexTwice":   {200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "numbered"},
		"RefusesAnIndexBeyond":       {200, `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, "numbered"},
		"RefusesVectorsOfTwoLengths": {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, "dimensions"},
		"RefusesEmptyVectors":        {200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, "dimensions"},
		"RefusesHugeNumbers":         {200, `{"data":[{"index":0,"embedding":[1e300]},{"index":1,"embedding":[1]}]}`, "no list of vectors"},
		"RefusesAWebPage":            {200, "<html>hello", "no list of vectors"},
		"RefusesTooMuch":             {200, strings.Repeat(" ", maxAnswer+2), "sent more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			e := server(t, func(w http.ResponseWriter, r *http.Request) {
				calls++
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			_, err := e.Embed(ctx, []string{"a", "b"})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) || len(err.Error()) > 600 {
				t.Errorf("got error %v, want one with %q, without the key", err, c.want)
			}
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
		})
	}
	t.Run("NamesTheServerThatIsNotThere", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(nil)
		s.Close()
		e, err := New(s.URL, "small", key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Embed(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("EndsWithItsContext", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(ctx)
		e := server(t, func(_ http.ResponseWriter, r *http.Request) {
			// Only with the body read does a server notice that its client has gone.
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				t.Error(err)
			}
			cancel()
			<-r.Context().Done()
		})
		if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, model, key, want string }{
		"RefusesNoAddress":       {"api", "m", "", "http or https"},
		"RefusesAnotherProtocol": {"file:///etc/passwd", "m", "", "http or https"},
		"RefusesAPassword":       {"https://u:" + key + "@h/v1", "m", "", "password"},
		"RefusesAQuery":          {"https://h/v1?key=" + key, "m", "", "leave out"},
		"RefusesNoModel":         {"https://h/v1", "", "", "no model"},
		"RefusesAKeyOfTwoLines":  {"https://h/v1", "m", key + "\nX: y", "line break"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(c.base, c.model, c.key, nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := New("https://h", "m", "", &Options{Nothing: 0.9, Everything: 0.2}); err == nil {
		t.Error("cosines the wrong way round are taken")
	}
}
