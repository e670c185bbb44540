package modeltest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
)

func testFailure(t *testing.T, d Driver) {
	for f, kind := range map[Failure]model.Kind{
		Overloaded: model.Unavailable, RateLimited: model.Unavailable, ServerError: model.Unavailable, InStream: model.Unavailable,
		ContextTooLong: model.ContextTooLong,
		BadKey:         model.Invalid, NoModel: model.Invalid, BadRequest: model.Invalid,
	} {
		run(t, "Is"+sentence(string(kind))+"When"+sentence(string(f)), func(t *testing.T) {
			_, err := d.ask(t, serve(t, d, d.fail(f)), d.request(hello))
			e := wantKind(t, err, kind)
			want := time.Duration(0)
			if f == RateLimited {
				want = 7 * time.Second
			}
			if e.After != want {
				t.Errorf("it asks to wait %s, want %s", e.After, want)
			}
		})
	}
	run(t, "IsUnavailableWhenNobodyListens", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		s.Close()
		_, err := d.generate(t, t.Context(), d.Open(s.URL, canary), d.request(hello))
		wantKind(t, err, model.Unavailable)
	})
	run(t, "IsOneAttempt", func(t *testing.T) {
		s := serve(t, d, d.fail(Overloaded), d.answer(say(text("fine")), nil))
		if _, err := d.ask(t, s, d.request(hello)); err == nil {
			t.Error("the driver tried again by itself")
		}
		d.must(t, s, d.request(hello))
	})
}

// sentence makes a name of words.
func sentence(words string) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(words) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// wholeOr wants an answer that is whole, or a failure that is worth another try.
// It returns the usage that the failure tells.
func (d Driver) wholeOr(t *testing.T, want Reply, a *model.Answer, err error) event.Usage {
	t.Helper()
	if err != nil {
		return wantKind(t, err, model.Unavailable).Usage
	}
	if diff := d.differ(want, a); diff != "" {
		t.Errorf("half an answer is given as whole:\n%s", diff)
	}
	return a.Usage
}

func testCut(t *testing.T, d Driver) {
	reply := d.rich()
	n := d.events(reply)
	half := func(event string) string { return event[:len(event)/2] }
	unended := func(event string) string { return strings.TrimSuffix(event, "\n") }
	for name, c := range map[string]struct {
		abrupt bool
		part   func(string) string
	}{
		"InOrderAfterAnyEvent":           {},
		"AbruptlyAfterAnyEvent":          {abrupt: true},
		"InTheMiddleOfAnyEvent":          {part: half},
		"AbruptlyInTheMiddleOfAnyEvent":  {abrupt: true, part: half},
		"BeforeTheEmptyLineOfAnyEvent":   {part: unended},
		"AbruptlyBeforeAnyEventIsEnded ": {abrupt: true, part: unended},
	} {
		run(t, strings.TrimSpace(name), func(t *testing.T) {
			var plays []play
			for i := range n {
				plays = append(plays, d.answer(reply, cutAfter(i, c.abrupt, c.part)))
			}
			s := serve(t, d, plays...)
			var before event.Usage
			failed := 0
			for i := range n {
				a, err := d.ask(t, s, d.request(hello))
				if err != nil {
					failed++
				}
				u := d.wholeOr(t, reply, a, err)
				if u.Input < before.Input || u.Output < before.Output || u.Input > reply.Usage.Input || u.Output > reply.Usage.Output {
					t.Errorf("after %d events the usage is %+v, before it was %+v", i, u, before)
				}
				before = u
			}
			if failed < n/2 {
				t.Errorf("only %d of %d cuts were seen", failed, n)
			}
		})
	}
	run(t, "ByAResetBeforeTheAnswer", func(t *testing.T) {
		s := serve(t, d, func(w http.ResponseWriter, _ *http.Request, _ *Seen) { reset(w) })
		_, err := d.ask(t, s, d.request(hello))
		wantKind(t, err, model.Unavailable)
	})
	run(t, "ByAResetInTheAnswer", func(t *testing.T) {
		var plays []play
		for i := range n {
			plays = append(plays, d.answer(reply, func(s *stream, name, data string) bool {
				if s.sent < i {
					return s.send(name, data)
				}
				reset(s.w)
				return false
			}))
		}
		s := serve(t, d, plays...)
		for range n {
			a, err := d.ask(t, s, d.request(hello))
			d.wholeOr(t, reply, a, err)
		}
	})
}

func testGarbage(t *testing.T, d Driver) {
	const events = "text/event-stream"
	for name, p := range map[string]play{
		"InsteadOfJSON":             page(events, "data: this is not JSON\n\n"),
		"ThatIsHalfJSON":            page(events, "data: {\"type\":\n\n"),
		"ThatIsBinary":              page(events, "\x00\xff\x1b\n\n\x80data: \xff\n\n"),
		"ThatIsAWebPage":            page("text/html", "<!DOCTYPE html>\n<html><body>data: it works\n\n</body></html>"),
		"ThatIsAWebPageInDisguise":  page(events, "<!DOCTYPE html>\n<html><body>it works</body></html>"),
		"ThatIsNothing":             page(events, ""),
		"ThatIsAnotherAPI":          page("application/json", `{"ok": true}`),
		"ThatIsAStrayEvent":         page(events, "event: hello\ndata: {\"hello\": true}\n\n"),
		"ThatIsOneEndlessLine":      page(events, strings.Repeat("data ", 1<<20)),
		"ThatIsAnEventWithoutAType": page(events, "data: {}\n\n"),
	} {
		run(t, name, func(t *testing.T) {
			_, err := d.ask(t, serve(t, d, p), d.request(hello))
			wantKind(t, err, model.Unavailable)
		})
	}
	reply := d.rich()
	n := d.events(reply)
	instead := func(t *testing.T, garbage string, mustFail bool) {
		t.Helper()
		var plays []play
		for i := range n {
			plays = append(plays, d.answer(reply, func(s *stream, name, data string) bool {
				if s.sent == i && !s.raw(garbage) {
					return false
				}
				return s.send(name, data)
			}))
		}
		s := serve(t, d, plays...)
		for i := range n - 1 {
			a, err := d.ask(t, s, d.request(hello))
			d.wholeOr(t, reply, a, err)
			if err == nil && mustFail && i < n/2 {
				t.Errorf("garbage after %d of %d events is ignored", i, n)
			}
		}
	}
	run(t, "InTheMiddle", func(t *testing.T) { instead(t, sse("", `{"broken": "tru`), true) })
	for name, garbage := range map[string]string{
		"Null": "null", "AList": "[]", "AText": `"text"`, "ANumber": "12", "AnObject": "{}", "AWrongType": `{"type":5,"choices":7,"candidates":"x","delta":[],"error":3}`,
	} {
		run(t, "InTheMiddleThatIs"+name, func(t *testing.T) { instead(t, sse("", garbage), false) })
	}
}

var messageField = regexp.MustCompile(`"message"\s*:\s*"`)

// echo plays a failure whose words hold the key.
func (d Driver) echo(f Failure) play {
	return func(w http.ResponseWriter, _ *http.Request, _ *Seen) {
		rec := httptest.NewRecorder()
		d.Wire.Refuse(rec, f)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		quoted, _ := jsontext.AppendQuote(nil, canary)
		inner := string(quoted[1 : len(quoted)-1])
		body := messageField.ReplaceAllStringFunc(rec.Body.String(), func(m string) string { return m + "the key " + inner + " is odd: " })
		_, _ = w.Write([]byte(body))
	}
}

func testKey(t *testing.T, d Driver) {
	// Each error of the suite is looked at for the key; here are the ways it is
	// likely to get there.
	for _, f := range []Failure{Overloaded, RateLimited, ServerError, ContextTooLong, BadKey, NoModel, BadRequest, InStream} {
		run(t, "IsNotShownWhenTheServerRepeatsItAs"+sentence(string(f)), func(t *testing.T) {
			if _, err := d.ask(t, serve(t, d, d.echo(f)), d.request(hello)); err == nil {
				t.Error("there is no error")
			}
		})
	}
	run(t, "IsNotShownInPieces", func(t *testing.T) {
		var plays []play
		for pad := 380; pad < 520; pad += 3 {
			words := strings.Repeat("x", pad) + canary
			quoted, _ := jsontext.AppendQuote(nil, words)
			plays = append(plays,
				page("text/event-stream", sse("", words)),
				page("text/event-stream", sse("", `{"type":`+string(quoted)+`,"error":`+string(quoted)+`,"x`)),
				page("text/html", "<html>"+words),
				func(w http.ResponseWriter, _ *http.Request, _ *Seen) {
					http.Error(w, words, http.StatusBadGateway)
				},
				func(w http.ResponseWriter, _ *http.Request, _ *Seen) {
					http.Error(w, fmt.Sprintf(`{"error":{"message":%s,"type":"x"}}`, quoted), http.StatusBadRequest)
				})
		}
		s := serve(t, d, plays...)
		for range plays {
			if _, err := d.ask(t, s, d.request(hello)); err == nil {
				t.Error("there is no error")
			}
		}
	})
	run(t, "IsNotShownWhenTheCertificateIsWrong", func(t *testing.T) {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = silent()
		s.StartTLS()
		defer s.Close()
		_, err := d.generate(t, t.Context(), d.Open(s.URL, canary), d.request(hello))
		wantKind(t, err, model.Invalid)
		_, err = d.generate(t, t.Context(), d.Open(strings.Replace(s.URL, "https", "http", 1), canary), d.request(hello))
		wantKind(t, err, model.Invalid)
	})
	run(t, "IsNotShownWhenTheAddressIsWrong", func(t *testing.T) {
		const password = "Wk3Rj8Np"
		for _, base := range []string{
			"http://127.0.0.1:0", "http://[::1", "http://\x7f", "nonsense://x", "", "http://host with space",
			"http://user:" + password + "@[::1", "http://user:" + password + "@127.0.0.1:0", "nonsense://user:" + password + "@x",
		} {
			_, err := d.generate(t, t.Context(), d.Open(base, canary), d.request(hello))
			if err == nil || strings.Contains(err.Error(), password) {
				t.Errorf("%q is no address; the error is %v", base, err)
			}
		}
	})
	run(t, "IsNotSentToAnotherServer", func(t *testing.T) {
		var strayed atomic.Bool
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Store(true) }))
		defer other.Close()
		for _, status := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			s := serve(t, d, func(w http.ResponseWriter, r *http.Request, _ *Seen) {
				http.Redirect(w, r, other.URL+r.URL.Path+"?k=Zq7Xw2Vt9Lm4", status)
			})
			if _, err := d.ask(t, s, d.request(hello)); err == nil {
				t.Error("there is no error")
			}
		}
		if strayed.Load() {
			t.Error("a redirect took the request, and the key, to another server")
		}
	})
}
