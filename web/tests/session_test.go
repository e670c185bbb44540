package tests

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// grab is a page of another port that tries what it can with the session of its visitor.
const grab = `<!doctype html><h1>Hello</h1><script>
const at = %s, tries = [];
for (const mode of ['cors', 'no-cors'])
	for (const path of ['/api/quests', '/api/quests/mine/control', '/api/quests/mine/messages'])
		for (const method of ['GET', 'POST'])
			tries.push(fetch(at + path, { mode, method, credentials: 'include', body: method === 'POST' ? '{"action":"stop","text":"x"}' : undefined })
				.then((r) => r.type === 'opaque' ? 'nothing' : r.text(), () => 'nothing'));
Promise.all(tries).then((got) => { document.title = [...new Set(got)].join() });
</script>`

// TestAnotherPort: a browser that is signed in gives its cookie to every port of the machine. The
// page there, and who serves it, can do nothing with that; and the person stays signed in.
func TestAnotherPort(t *testing.T) {
	t.Parallel()
	h := home(t)
	lyceum(t, h, "create", slow(t, "mine", 1, "1ms"))
	s := serve(t, h)
	var mu sync.Mutex
	var cookie string
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if c := r.Header.Get("Cookie"); c != "" {
			cookie = c
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, grab, browsertest.Quote(strings.TrimSuffix(s.Base, "/")))
	}))
	defer hostile.Close()
	tab := chromium(t).Tab(t, s)
	tab.Do(chromedp.Navigate(hostile.URL))
	tab.Until(`document.title`)
	if got := tab.Text("title"); got != "nothing" {
		t.Errorf("the page of another port gets %q, want nothing", got)
	}
	tab.Do(chromedp.Navigate(hostile.URL + "/again")) // from there, it is of the same site
	mu.Lock()
	defer mu.Unlock()
	if !strings.HasPrefix(cookie, "lyceum-") {
		t.Fatalf("the other port was given %q: the test shows nothing", cookie)
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		r, err := http.NewRequest(method, s.Base+"api/quests", nil)
		must(t, err)
		r.Header.Set("Cookie", cookie)
		r.Header.Set("Origin", strings.TrimSuffix(s.Base, "/"))
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		if resp.Body.Close(); resp.StatusCode != 401 {
			t.Errorf("%s with the cookie: got %s, want 401", method, resp.Status)
		}
	}
	for _, back := range []string{"", "#key=" + strings.Repeat("0", 64)} {
		tab.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.Base+back))
		tab.Until(`/mine/.test(document.querySelector('main')?.innerText)`)
		if tab.Is(`location.href.includes('key=')`) {
			t.Error("the key stays in the address")
		}
	}
	if n := events(t, h, "mine"); n != 1 {
		t.Errorf("the quest has %d events, want it untouched", n)
	}
}
