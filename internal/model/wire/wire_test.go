package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"lyceum/internal/model"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &Client{Provider: "Test", Base: s.URL, Secrets: []string{"secret-key-1234"}}
}

func write(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

func none(string, []byte) error { return nil }

func TestEventsAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"WithAName":            {"event: a\ndata: 1\n\n", "a=1;"},
		"WithoutAName":         {"data: 1\n\ndata: 2\n\n", "=1;=2;"},
		"InSeveralLines":       {"data: 1\ndata: 2\n\n", "=1\n2;"},
		"WithCarriageReturns":  {"event: a\r\ndata: 1\r\n\r\n", "a=1;"},
		"WithoutASpace":        {"event:a\ndata:1\n\n", "a=1;"},
		"WithOneSpaceOfTwo":    {"data:  1\n\n", "= 1;"},
		"BetweenComments":      {": hi\n\n:\ndata: 1\n: ho\n\n", "=1;"},
		"WithoutOtherFields":   {"id: 7\nretry: 3\nx\ndata: 1\n\n", "=1;"},
		"UnlessTheyAreNotDone": {"data: 1\n\ndata: 2\n", "=1;"},
		"UnlessTheyAreCut":     {"data: 1\n\ndata: 2", "=1;"},
		"UnlessTheyHaveNoData": {"event: a\n\ndata: 1\n\n", "=1;"},
		"WithEmptyData":        {"data\n\n", "=;"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				got := ""
				err := events(bufio.NewReader(in), func(name string, data []byte) error {
					got += fmt.Sprintf("%s=%s;", name, data)
					return nil
				})
				if err != nil || got != c.want {
					t.Errorf("got %q, error %v, want %q", got, err, c.want)
				}
			}
		})
	}
}

func TestALineHasALimit(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader("data: "), &repeat{'x'})
	if err := events(bufio.NewReader(endless), none); err == nil {
		t.Error("a line without end is read")
	}
	lines := &repeatText{text: "data: " + strings.Repeat("x", 1<<20) + "\n"}
	if err := events(bufio.NewReader(lines), none); err == nil {
		t.Error("an event without end is read")
	}
}

type repeat struct{ b byte }

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.b
	}
	return len(p), nil
}

type repeatText struct {
	text string
	at   int
}

func (r *repeatText) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func TestFailuresHaveAKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   model.Error
	}{
		"Overload":     {529, `{"error":{"message":"Overloaded"}}`, model.Error{Kind: model.Unavailable, Text: "Test answered 529: Overloaded"}},
		"RateLimit":    {429, `{"message":"slow down"}`, model.Error{Kind: model.Unavailable, Text: "Test answered 429: slow down"}},
		"Timeout":      {408, `{"detail":"late"}`, model.Error{Kind: model.Unavailable, Text: "Test answered 408: late"}},
		"TooLarge":     {413, `{"error":"big"}`, model.Error{Kind: model.ContextTooLong, Text: "Test answered 413: big"}},
		"Key":          {401, `{}`, model.Error{Kind: model.Invalid, Text: "Test answered 401: {} (check the key)"}},
		"Name":         {404, ``, model.Error{Kind: model.Invalid, Text: "Test answered 404: nothing (check the model's name and the base URL)"}},
		"Balance":      {402, `no`, model.Error{Kind: model.Invalid, Text: "Test answered 402: no (check the account's balance)"}},
		"Redirect":     {307, ``, model.Error{Kind: model.Invalid, Text: "Test answered 307: nothing (it sends elsewhere: check the base URL)"}},
		"LongBody":     {500, strings.Repeat("é", 600), model.Error{Kind: model.Unavailable, Text: "Test answered 500: " + strings.Repeat("é", 500) + "…"}},
		"Binary":       {500, "a\xffb", model.Error{Kind: model.Unavailable, Text: "Test answered 500: a\uFFFDb"}},
		"AKeyAtTheCut": {500, strings.Repeat("x", 490) + "secret-key-1234", model.Error{Kind: model.Unavailable, Text: "Test answered 500: " + strings.Repeat("x", 490) + "[key]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				write(w, c.body)
			})
			_, err := client.Stream(t.Context(), "/", 1, none)
			e, ok := errors.AsType[*model.Error](err)
			if !ok {
				t.Fatalf("error is %v", err)
			}
			if diff := cmp.Diff(c.want, *e); diff != "" {
				t.Errorf("the error differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("TheDriverKnowsBetter", func(t *testing.T) {
		t.Parallel()
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
		client.Classify = func(status int, _ []byte) model.Kind {
			if status == http.StatusBadRequest {
				return model.Refused
			}
			return ""
		}
		if _, err := client.Stream(t.Context(), "/", 1, none); model.KindOf(err) != model.Refused {
			t.Errorf("error is %v", err)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &Client{Clock: func() time.Time { return now }}
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "-1": 0, "soon": 0, "7.5": 0,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Wed, 31 Dec 2025 00:00:00 GMT": 0,
		"99999999999999": (1 << 31) * time.Second,
	} {
		if got := c.after(http.Header{"Retry-After": {text}}); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := c.after(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"7"}}); got != 250*time.Millisecond {
		t.Errorf("milliseconds: got %s", got)
	}
	if got := (&Client{}).after(http.Header{"Retry-After": {"Thu, 01 Jan 2026 00:01:00 GMT"}}); got != 0 {
		t.Errorf("without a clock: got %s", got)
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	const key = `a/b+c"d\e <f>&ü=8901234`
	for name, c := range map[string]struct{ text, want string }{
		"AsItIs":        {"x " + key + " y " + key, "x [key] y [key]"},
		"InAQuery":      {"?key=a%2Fb%2Bc%22d%5Ce+%3Cf%3E%26%C3%BC%3D8901234&x", "?key=[key]&x"},
		"InAPath":       {"/a%2Fb+c%22d%5Ce%20%3Cf%3E&%C3%BC=8901234/x", "/[key]/x"},
		"InGoQuotes":    {fmt.Sprintf("%q", key), `"[key]"`},
		"InASCIIQuotes": {fmt.Sprintf("%+q", key), `"[key]"`},
		"InJSON":        {`{"k":"a/b+c\"d\\e <f>&ü=8901234"}`, `{"k":"[key]"}`},
		"CutOff":        {"x " + key[:12], "x [key]"},
		"CutAndQuoted":  {fmt.Sprintf("%.16q!", key), `"[key]"!`},
		"NotThere":      {"a/b", "a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Redact(c.text, []string{"", "abc", key}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"BeforeTheHeader": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"BeforeTheFirstEvent": func(w http.ResponseWriter, r *http.Request) {
			write(w, ": hi\n\n")
			<-r.Context().Done()
		},
		"InAnError": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			write(w, "{")
			<-r.Context().Done()
		},
		"InAPage": func(w http.ResponseWriter, r *http.Request) {
			write(w, "<html>")
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, h)
			c.Silence = 30 * time.Millisecond
			_, err := c.Stream(t.Context(), "/", 1, none)
			if model.KindOf(err) != model.Unavailable || !strings.Contains(err.Error(), "Test has said nothing for 30ms") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestWhatIsNoStreamIsNamed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"<!DOCTYPE html>":                   "cannot be read: a web page (check the base URL)",
		`{"error":{"message":"no credit"}}`: "cannot be read: not a stream, but: no credit (check the base URL)",
		`[{"a":1}]`:                         `not a stream, but: [{"a":1}] (check the base URL)`,
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { write(w, body) })
		_, err := c.Stream(t.Context(), "/", 1, none)
		if model.KindOf(err) != model.Unavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	t.Run("EndsWhenTheReaderHasEnough", func(t *testing.T) {
		t.Parallel()
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			write(w, "data: 1\n\ndata: 2\n\n")
			<-r.Context().Done()
		})
		n := 0
		if _, err := c.Stream(t.Context(), "/", 1, func(string, []byte) error { n++; return ErrEnough }); err != nil || n != 1 {
			t.Errorf("%d events, error %v", n, err)
		}
	})
	t.Run("ReturnsTheReadersError", func(t *testing.T) {
		t.Parallel()
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { write(w, "data: 1\n\n") })
		want := errors.New("no")
		if _, err := c.Stream(t.Context(), "/", 1, func(string, []byte) error { return want }); err != want {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("ReturnsTheContextsError", func(t *testing.T) {
		t.Parallel()
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			write(w, "data: 1\n\n")
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := c.Stream(ctx, "/", 1, func(string, []byte) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("RefusesWhatCannotBeWritten", func(t *testing.T) {
		t.Parallel()
		if _, err := (&Client{Base: "http://127.0.0.1:1"}).Stream(t.Context(), "/", func() {}, none); model.KindOf(err) != model.Invalid {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("SendsTheHeaderAndTheBody", func(t *testing.T) {
		t.Parallel()
		got := make(chan string, 1)
		c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got <- fmt.Sprintf("%s %s %s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Key"), r.Header.Get("Content-Type"), r.Header.Get("Accept"), body)
		})
		c.Header = http.Header{"X-Key": {"k"}}
		if _, err := c.Stream(t.Context(), "/a/b", map[string]string{"b": "\xff", "a": "é"}, none); err != nil {
			t.Fatal(err)
		}
		if want := `POST /a/b k application/json text/event-stream {"a":"é","b":"` + "\uFFFD" + `"}`; <-got != want {
			t.Errorf("want %s", want)
		}
	})
}

// TestCommentsAloneDoNotHoldACallForEver: a server may keep the line open for a
// while, but not without end.
func TestCommentsAloneDoNotHoldACallForEver(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			write(w, ": still here\n\n")
			time.Sleep(10 * time.Millisecond)
		}
	})
	c.Silence = 100 * time.Millisecond
	_, err := c.Stream(t.Context(), "/", 1, none)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Unavailable || !strings.Contains(e.Text, "has said nothing") {
		t.Errorf("got %v", err)
	}
}
