package tests

import (
	"context"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// altered has the page get other answers than the server gave, from the next place it is
// led to on. code is the inside of a function of path and body, which changes the body:
// what a server with a ledger from elsewhere would send, or one of a size that no test
// can make.
// A function instead of the page, if there is one, says what the server is asked for.
func altered(tab *browsertest.Tab, code string) {
	tab.T().Helper()
	before(tab, `(() => {
			const real = window.fetch;
			const alter = (path, body, query) => {`+code+`};
			window.fetch = async (...args) => {
				const url = new URL(args[0], location.href);
				const answer = await real(window.instead?.(args[0]) ?? args[0], ...args.slice(1));
				if (!answer.ok || !(answer.headers.get('Content-Type') ?? '').includes('json')) return answer;
				const body = await answer.json();
				return new Response(JSON.stringify(alter(url.pathname, body, url.searchParams) ?? body), { status: 200, headers: { 'Content-Type': 'application/json' } });
			};
		})()`)
}

// before has code run in front of all of the page's own, from the next place on.
func before(tab *browsertest.Tab, code string) {
	tab.T().Helper()
	tab.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(code).Do(ctx)
		return err
	}))
}
