package tests

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/web/tests/browsertest"
)

func TestTheConnection(t *testing.T) {
	t.Parallel()
	t.Run("IsLostAndRegainedWithoutAMissingEvent", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "lossy", 120, "50ms"))
		s, err := h.Serve("127.0.0.1:0")
		must(t, err)
		// Whichever is up at the end is stopped, also when the test fails in between.
		t.Cleanup(func() { _ = s.Stop() })
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/lossy")
		tab.Click("button", "Start")
		for round := range 2 {
			tab.Until(progress(20))
			must(t, s.Kill())
			tab.Until(`document.querySelector('.lost')`)
			if words := tab.Text(".lost"); !strings.Contains(words, "Connection lost") || !strings.Contains(words, "Try now") {
				t.Errorf("round %d: of the lost connection it says %q", round, words)
			}
			s, err = h.Serve(s.Address())
			must(t, err)
			// By itself: nobody presses the button, or opens a link.
			tab.Until(`!document.querySelector('.lost')`)
		}
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Do(browsertest.Settled())
		var seqs []uint64
		var opened int
		tab.Eval(`seen.seqs`, &seqs)
		tab.Eval(`seen.opened`, &opened)
		if opened < 3 {
			t.Errorf("the page opened %d streams; two were cut", opened)
		}
		whole(t, seqs, true, events(t, h, "lossy"))
	})
	t.Run("IsNotGivenToWhoeverTakesThePort", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "taken", 1, "1ms"))
		s, err := h.Serve("127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = s.Stop() })
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/taken")
		must(t, s.Kill())
		at := s.Address()
		asked := make(chan string, 1000)
		l, err := net.Listen("tcp", at)
		must(t, err)
		impostor := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			body, _ := io.ReadAll(r.Body)
			asked <- string(body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"proof":"`+strings.Repeat("0", 64)+`","challenge":"x"}`)
		})}
		go impostor.Serve(l)
		for range 2 { // it tries again by itself
			select {
			case body := <-asked:
				if strings.Contains(body, `"proof"`) {
					t.Errorf("whoever has taken the port was given a proof: %s", body)
				}
			case <-time.After(browsertest.Patience):
				t.Fatalf("the page has not asked whoever has taken the port; it shows %s", tab.Text("body"))
			}
		}
		must(t, impostor.Close())
		s, err = h.Serve(at)
		must(t, err)
		tab.Until(`!document.querySelector('.lost')`)
	})
	t.Run("SurvivesAServerThatStandsStillForAWhile", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "still", 40, "50ms"))
		s := serve(t, h)
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/still")
		tab.Click("button", "Start")
		tab.Until(progress(20))
		must(t, s.Hold())
		// Nothing can come now; what the browser had not taken in yet comes in this while.
		tab.Eval(`new Promise((done) => setTimeout(() => done(true), 1000))`, nil)
		must(t, s.GoOn())
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Do(browsertest.Settled())
		var seqs []uint64
		tab.Eval(`seen.seqs`, &seqs)
		whole(t, seqs, true, events(t, h, "still"))
	})
	t.Run("IsSaidToBeMissingWhereAQuestIsOpenedWithoutAServer", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "gone", 1, "1ms"))
		s, err := h.Serve("127.0.0.1:0")
		must(t, err)
		tab := chromium(t).Tab(t, s)
		must(t, s.Kill())
		tab.Eval(`location.hash = '#/q/gone', true`, nil)
		// A browser's own error page, or an empty one, would say nothing of this.
		tab.Until(`/No connection|does not answer|Connection lost/.test(document.querySelector('main').innerText)`)
		tab.Until(`[...document.querySelectorAll('main button')].some((b) => b.innerText.includes('again'))`)
		s, err = h.Serve(s.Address())
		must(t, err)
		t.Cleanup(func() { _ = s.Stop() })
		tab.SignIn(s)
		tab.Click("main button", "Try again")
		tab.Until(`document.querySelector('h1')?.innerText === 'gone'`)
	})
}

// A link that opens nothing leads to a page that says what to do, and not to the answer for
// a program.
func TestALinkThatOpensNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, home(t))
	wrong := *s
	wrong.Link = s.Base + "?token=nonsense"
	tab := chromium(t).Tab(t, &wrong)
	tab.Until(`/Not signed in/.test(document.querySelector('main').innerText)`)
	if words := tab.Text("main"); !strings.Contains(words, "lyceum serve --link") {
		t.Errorf("the page says %q, want how to get a link", words)
	}
	tab.SignIn(s)
	tab.Click("main button", "Try again")
	tab.Until(`!/Not signed in/.test(document.querySelector('main').innerText)`)
}

// progress is an expression that holds when so many events more have come than there
// were when it was first asked.
func progress(n int) string {
	return `seen.seqs.length >= (seen.goal ??= seen.seqs.length + ` + strconv.Itoa(n) + `) && delete seen.goal`
}
