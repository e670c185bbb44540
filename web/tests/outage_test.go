package tests

import (
	"io"
	"net"
	"net/http"
	"testing"
)

// TestAnOutage: while its provider is away a quest says that it waits for it, on each of its pages and in
// the list, and on the overview why, once. It goes on by itself, and nothing of that is left.
func TestAnOutage(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.99.16.2:0") // nobody else comes to have the port meanwhile
	must(t, err)
	at := l.Addr().String()
	must(t, l.Close())
	h := home(t)
	must(t, put(h.Dir, map[string]string{"config.yaml": "retry: 1s\nproviders:\n  far: {api: openai, url: http://" + at + "}\n"}))
	lyceum(t, h, "create", folder(t, map[string]string{"quest.yaml": "name: absent\nproblem: What do you say?\nmodel: far/grey\ntools: [calculate]\n"}))
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/absent")
	tab.Click(".controls button", "Start")
	const badges, waits = `[...document.querySelectorAll('.questbar .title > .badge')].map((e) => e.innerText).join()`, "running,waits for a provider"
	tab.Until(badges + ` === '` + waits + `' && document.querySelector('.notices')`)
	if !tab.Is(`document.querySelectorAll('.notices .note').length === 1 && /^far is away since .*connection refused/.test(document.querySelector('.notices').innerText)`) {
		t.Errorf("the notices say %q, want once that far is away, and why", tab.Text(".notices"))
	}
	tab.Sound()
	tab.Go("#/q/absent/timeline")
	tab.Until(badges + ` === '` + waits + `'`)
	tab.Go("#/")
	tab.Until(`document.querySelector('.quest-card .name .row')?.innerText.includes('waits for a provider')`)
	tab.Sound()
	tab.Go("#/q/absent")

	l, err = net.Listen("tcp", at)
	must(t, err)
	far := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"So be it."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})}
	go func() { _ = far.Serve(l) }()
	t.Cleanup(func() { must(t, far.Close()) })
	tab.Until(badges + ` === 'finished' && !document.querySelector('.notices')`)
	tab.Sound()
}
