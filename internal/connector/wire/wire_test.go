package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	secret := `a/b "c"`
	for _, text := range []string{secret, "a%2Fb%20%22c%22", "a%2Fb+%22c%22", fmt.Sprintf("%q", secret)} {
		if got := wire.Hide("x "+text+" y", []string{"", secret}); strings.Contains(got, "b") {
			t.Errorf("a text with the secret %s: got %q", text, got)
		}
	}
	// An address that nobody answers has the token in it, and an error of net/http the address.
	c := &wire.Client{Service: "It", Base: "http://127.0.0.1:1/bot" + "tok-123", Secrets: []string{"tok-123"}}
	if err := c.Call(t.Context(), http.MethodGet, "/x", nil, nil, 0); err == nil || strings.Contains(err.Error(), "tok") {
		t.Errorf("a service that is not there: got %v, want an error without the token", err)
	}
}

// A file is as large as it may be, and not a byte more.
func TestFilesHaveALimit(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a token goes where a file is")
		}
		_, _ = w.Write(make([]byte, 1000))
	}))
	defer s.Close()
	c := &wire.Client{Service: "It", Header: http.Header{"Authorization": {"Bearer x"}}}
	if data, err := c.File(t.Context(), s.URL, nil, 1000); err != nil || len(data) != 1000 {
		t.Errorf("a file as large as it may be: got %d bytes, %v", len(data), err)
	}
	if _, err := c.File(t.Context(), s.URL, nil, 999); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a file that is larger: got %v, want %v", err, wire.ErrTooLarge)
	}
}

// Nobody can ask to be left alone for ever, or for a time that is none.
func TestWhatErrorsMean(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		after  string
		want   any
	}{
		"Busy":         {http.StatusTooManyRequests, "3", 3 * time.Second},
		"BusyForEver":  {http.StatusTooManyRequests, "2000000000", time.Hour},
		"BusyBackward": {http.StatusTooManyRequests, "-5", time.Duration(0)},
		"BusyInWords":  {http.StatusServiceUnavailable, "soon", "again"},
		"Down":         {http.StatusInternalServerError, "", "again"},
		"DownFor":      {http.StatusServiceUnavailable, "9", 9 * time.Second},
		"Redirect":     {http.StatusFound, "", "again"},
		"WrongToken":   {http.StatusUnauthorized, "", "again"},
		"Forbidden":    {http.StatusForbidden, "", "never"},
		"Gone":         {http.StatusNotFound, "", "never"},
		"TooLarge":     {http.StatusRequestEntityTooLarge, "", "never"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/")
				w.Header().Set("Retry-After", test.after)
				w.WriteHeader(test.status)
			}))
			defer s.Close()
			err := (&wire.Client{Service: "It", Base: s.URL}).Call(t.Context(), http.MethodGet, "/", nil, nil, 0)
			var got any = "again"
			if later, ok := errors.AsType[*connector.Later](err); ok {
				got = later.After
			} else if _, ok := errors.AsType[*connector.Refused](err); ok {
				got = "never"
			}
			if err == nil || got != test.want {
				t.Errorf("a %d: got %v (%v), want %v", test.status, got, err, test.want)
			}
		})
	}
}

func TestStepsGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	var s wire.Steps
	done := map[string]int{}
	down := true
	steps := func(key string) []func() error {
		return []func() error{
			func() error { done[key+" words"]++; return nil },
			func() error {
				if down {
					return errors.New("down")
				}
				done[key+" file"]++
				return nil
			},
		}
	}
	for i := range 400 { // far more than are remembered
		if err := s.Do(fmt.Sprint(i), steps(fmt.Sprint(i))); err == nil {
			t.Fatal("a step that failed is taken for a good one")
		}
	}
	down = false
	for _, key := range []string{"0", "399", "399"} {
		if err := s.Do(key, steps(key)); err != nil {
			t.Fatal(err)
		}
	}
	if done["399 words"] != 2 || done["399 file"] != 2 || done["0 words"] != 2 {
		t.Errorf("the steps: got %d, %d and %d, want 2 each: the last was whole and begins anew, the first is forgotten", done["399 words"], done["399 file"], done["0 words"])
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wire.Pause(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a pause: got %v, want %v", err, context.Canceled)
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"# a", "**b** `c`", "```\nx\n```", "`` ` **", "~~~", "** **", "\x00\xff<&>"} {
		f.Add(s)
	}
	style := wire.Style{Escape: wire.Angles, Bold: [2]string{"{", "}"}, Code: [2]string{"{", "}"}, Block: [2]string{"{", "}"}, Break: "\n", Most: 1000}
	f.Fuzz(func(t *testing.T, s string) {
		if got := style.Render(s); strings.ContainsAny(got, "<>") {
			t.Errorf("%q is written as %q, with what has a meaning", s, got)
		}
	})
}
