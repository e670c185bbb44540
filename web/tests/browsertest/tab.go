package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Patience is how long a test waits for what must happen.
const Patience = 4 * time.Minute

// before runs in front of all of the page's own: it keeps what a page cannot be asked
// for later, the numbers that its streams brought above all. ask gets something of the API as
// the page does.
const before = `window.seen = { seqs: [], opened: 0, violations: [] };
addEventListener('securitypolicyviolation', (e) => seen.violations.push(e.violatedDirective + ' ' + e.blockedURI), true);
window.EventSource = class extends EventSource {
	constructor(...args) {
		super(...args);
		seen.opened++;
		this.addEventListener('message', (e) => seen.seqs.push(Number(e.lastEventId)));
	}
};
window.ask = (path) => fetch(path, { headers: { 'Lyceum-Key': localStorage.getItem('lyceum-key') } });`

// Tab is one tab on a server. What fails in it fails the test.
type Tab struct {
	Ctx  context.Context
	t    testing.TB
	base string

	mu    sync.Mutex
	wrong []string
	// received are the bytes that answers had on the wire, headers left out; those of fonts apart.
	received, letters int64
	fonts             map[network.RequestID]bool
	policy            string
}

// Tab opens a server's page in a tab of its own, which the test's end closes.
func (b *Browser) Tab(t testing.TB, s *Server) *Tab {
	t.Helper()
	ctx, cancel, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, 6*Patience)
	t.Cleanup(func() { stop(); cancel() })
	tab := &Tab{Ctx: ctx, t: t, base: s.Base, fonts: map[network.RequestID]bool{}}
	chromedp.ListenTarget(ctx, tab.hear)
	// The first run attaches the tab for as long as its context lives: not for one step.
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	tab.Do(emulation.SetFocusEmulationEnabled(true), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(before).Do(ctx)
		return err
	}), chromedp.EmulateViewport(1280, 800), Scheme(false), chromedp.Navigate(s.Link))
	tab.Until(`document.querySelector('main h1')`)
	return tab
}

// Beside opens another tab with the cookies of this one, and so with the same connections to the server. script runs in front of all
// of its page's own.
func (tab *Tab) Beside(place, script string) *Tab {
	tab.t.Helper()
	info, err := target.GetTargetInfo().WithTargetID(chromedp.FromContext(tab.Ctx).Target.TargetID).Do(cdp.WithExecutor(tab.Ctx, chromedp.FromContext(tab.Ctx).Browser))
	if err != nil {
		tab.t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(tab.Ctx, chromedp.WithExistingBrowserContext(info.BrowserContextID))
	tab.t.Cleanup(cancel)
	other := &Tab{Ctx: ctx, t: tab.t, base: tab.base, fonts: map[network.RequestID]bool{}}
	chromedp.ListenTarget(ctx, other.hear)
	if err := chromedp.Run(ctx); err != nil {
		tab.t.Fatal(err)
	}
	other.Do(emulation.SetFocusEmulationEnabled(true), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(before + script).Do(ctx)
		return err
	}), chromedp.EmulateViewport(1280, 800), Scheme(false), chromedp.Navigate(tab.base+place), Settled())
	return other
}

// SignIn has the browser be known to another server at the same address, as if its link had
// been opened in another tab: a session is of one server.
func (tab *Tab) SignIn(s *Server) {
	tab.t.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(s.Link)
	if err != nil {
		tab.t.Fatal(err)
	}
	answer.Body.Close()
	_, key, ok := strings.Cut(answer.Header.Get("Location"), "#key=")
	if cookies := answer.Cookies(); !ok || len(cookies) != 1 {
		tab.t.Fatalf("the link gives %s with %d cookies, want one and a key", answer.Status, len(cookies))
	}
	cookie := answer.Cookies()[0]
	tab.Do(network.SetCookie(cookie.Name, cookie.Value).WithURL(s.Base).WithHTTPOnly(true).WithSameSite(network.CookieSameSiteStrict))
	tab.Eval(fmt.Sprintf("localStorage.setItem('lyceum-key', %s) ?? true", Quote(key)), nil)
}

// In has the tab fail another test from now on, a part of the one that opened it.
func (tab *Tab) In(t testing.TB) *Tab {
	tab.t = t
	return tab
}

// T is the test that the tab fails now.
func (tab *Tab) T() testing.TB { return tab.t }

func (tab *Tab) hear(e any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	complain := func(format string, args ...any) { tab.wrong = append(tab.wrong, fmt.Sprintf(format, args...)) }
	switch e := e.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			complain("console.%s: %s", e.Type, arguments(e.Args))
		}
	case *runtime.EventExceptionThrown:
		complain("exception: %v", e.ExceptionDetails)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			complain("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, tab.base) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:"+tab.base) {
			complain("request to another place: %.200s", u)
		}
	case *network.EventWebSocketCreated:
		complain("web socket to %s", e.URL)
	case *network.EventResponseReceived:
		// By its name: what is fetched ahead has another type.
		tab.fonts[e.RequestID] = strings.HasSuffix(e.Response.URL, ".woff2")
		if e.Type == network.ResourceTypeDocument {
			tab.policy, _ = header(e.Response.Headers, "Content-Security-Policy")
		}
	case *network.EventLoadingFinished:
		if tab.fonts[e.RequestID] {
			tab.letters += int64(e.EncodedDataLength)
		} else {
			tab.received += int64(e.EncodedDataLength)
		}
	case *page.EventJavascriptDialogOpening:
		complain("a dialog opened: %s", e.Message)
		// Not from here: nothing else is heard before this returns.
		go func() { _ = chromedp.Run(tab.Ctx, page.HandleJavaScriptDialog(false)) }()
	}
}

func arguments(args []*runtime.RemoteObject) string {
	var out []string
	for _, a := range args {
		if a.Description != "" {
			out = append(out, a.Description)
		} else {
			out = append(out, string(a.Value))
		}
	}
	return strings.Join(out, " ")
}

func header(h network.Headers, name string) (string, bool) {
	for k, v := range h {
		if strings.EqualFold(k, name) {
			return fmt.Sprint(v), true
		}
	}
	return "", false
}

// Do runs actions.
func (tab *Tab) Do(actions ...chromedp.Action) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.Ctx, Patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		tab.t.Fatalf("%v\nthe page shows: %s", err, tab.shown())
	}
}

func (tab *Tab) shown() string {
	ctx, cancel := context.WithTimeout(tab.Ctx, 2*time.Second)
	defer cancel()
	var text string
	if err := chromedp.Run(ctx, chromedp.Evaluate(`location.hash + '\n' + document.body.innerText.slice(0, 1500)`, &text)); err != nil {
		return err.Error()
	}
	return text
}

// Go leads to a place, such as #/q/thermal, and waits until it stands still.
func (tab *Tab) Go(place string) {
	tab.t.Helper()
	tab.Do(chromedp.Navigate(tab.base+place), Settled())
}

// Fresh is Go by a page that is read anew.
func (tab *Tab) Fresh(place string) {
	tab.t.Helper()
	tab.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(tab.base+place), Settled())
}

// Eval computes an expression, which may be a promise.
func (tab *Tab) Eval(expression string, into any) {
	tab.t.Helper()
	tab.Do(chromedp.Evaluate(expression, into, awaited))
}

// Is reports whether an expression holds.
func (tab *Tab) Is(expression string) bool {
	tab.t.Helper()
	var yes bool
	tab.Eval("!!("+expression+")", &yes)
	return yes
}

// Text is what an element shows, or all of them joined.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	var text string
	tab.Eval(fmt.Sprintf(`[...document.querySelectorAll(%s)].map((e) => e.innerText).join('\n')`, Quote(selector)), &text)
	return text
}

// Until waits for an expression to hold.
func (tab *Tab) Until(expression string) {
	tab.t.Helper()
	wait := fmt.Sprintf(`new Promise((done, fail) => {
		const began = performance.now();
		const look = () => {
			if (%s) done(true);
			else if (performance.now() - began > %d) fail(new Error('in vain'));
			else setTimeout(look, 30);
		};
		look();
	})`, expression, Patience.Milliseconds()-5000)
	ctx, cancel := context.WithTimeout(tab.Ctx, Patience)
	defer cancel()
	for {
		err := chromedp.Run(ctx, chromedp.Evaluate(wait, nil, awaited))
		if err == nil {
			return
		}
		// A page that is read anew takes what waited in it along: the wait begins again there.
		if fault, ok := errors.AsType[*cdproto.Error](err); !ok || !strings.Contains(fault.Message, "navigated") || ctx.Err() != nil {
			tab.t.Fatalf("waited for %s: %v\nthe page shows: %s", expression, err, tab.shown())
		}
	}
}

// Click presses the first element of a selector whose words are those, by the keyboard's
// and the mouse's common path: what a hidden or covered element would not get, it does not.
func (tab *Tab) Click(selector, words string) {
	tab.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(%s)].find((e) => e.innerText.trim().startsWith(%s))`, Quote(selector), Quote(words))
	tab.Until(find)
	var box struct{ X, Y float64 }
	tab.Eval(fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({ block: 'center' }); const r = e.getClientRects()[0];
		return { X: r.x + r.width / 2, Y: r.y + r.height / 2 } })()`, find), &box)
	tab.Do(chromedp.MouseClickXY(box.X, box.Y))
}

// Violations are those of the page's policy since it was read last.
func (tab *Tab) Violations() []string {
	tab.t.Helper()
	var out []string
	tab.Eval(`seen.violations`, &out)
	return out
}

// Wrong returns what the page did that it must not, and forgets it.
func (tab *Tab) Wrong() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	out := tab.wrong
	tab.wrong = nil
	return out
}

// Received is how many bytes came over the wire since the last call, and how many were of fonts, which
// the first do not count.
func (tab *Tab) Received() (bytes, fonts int64) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	bytes, fonts = tab.received, tab.letters
	tab.received, tab.letters = 0, 0
	return bytes, fonts
}

// Policy is the Content-Security-Policy of the page.
func (tab *Tab) Policy() string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return tab.policy
}

// Sound fails the test over all that the page did and must not.
func (tab *Tab) Sound() {
	tab.t.Helper()
	for _, v := range tab.Violations() {
		tab.t.Errorf("the page violated its policy: %s", v)
	}
	for _, w := range tab.Wrong() {
		tab.t.Errorf("the page did what it must not: %s", w)
	}
}

// Quote makes a text a literal of JavaScript.
func Quote(text string) string {
	data, _ := json.Marshal(text) // a string always is JSON
	return string(data)
}
