package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// ErrNoChromium says what is missing, and how to get it.
var ErrNoChromium = errors.New("chromium is not installed; to include this: apt-get install chromium (scripts/setup does)")

// Browser is one Chromium without a window.
type Browser struct {
	ctx    context.Context
	cancel func()
}

// Start starts Chromium. Without one the error is ErrNoChromium.
func Start() (*Browser, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, ErrNoChromium
	}
	// Chromium leaves a folder among the temporary files when it is killed, so it has a
	// place for them of its own.
	dir, err := os.MkdirTemp("", "lyceum-browser-")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	// A page that is kept for the way back stands still with what is awaited in it, which then never comes.
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Env("TMPDIR="+dir), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-back-forward-cache", true))
	if os.Getuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // its sandbox refuses root
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	// What chromedp would log are events of a newer Chromium than it knows; what fails is
	// returned as an error.
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	b := &Browser{ctx: ctx, cancel: func() { cancel(); stop(); _ = os.RemoveAll(dir) }}
	if err := chromedp.Run(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Close ends Chromium with all its tabs.
func (b *Browser) Close() { b.cancel() }

// Open opens a tab with cookies of its own. The returned function closes it.
//
// It needs a window: Chromium refuses a tab for cookies that have none yet.
func (b *Browser) Open() (context.Context, context.CancelFunc, error) {
	browser := cdp.WithExecutor(b.ctx, chromedp.FromContext(b.ctx).Browser)
	jar, err := target.CreateBrowserContext().Do(browser)
	if err != nil {
		return nil, nil, fmt.Errorf("open a tab: %w", err)
	}
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(jar).WithNewWindow(true).Do(browser)
	if err != nil {
		return nil, nil, fmt.Errorf("open a tab: %w", err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
	return ctx, func() {
		cancel()
		_ = target.DisposeBrowserContext(jar).Do(browser) // it goes with the browser otherwise
	}, nil
}

// Scheme chooses light or dark.
func Scheme(dark bool) chromedp.Action {
	value := "light"
	if dark {
		value = "dark"
	}
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: value},
		// What moves would be measured, or pictured, half-way.
		{Name: "prefers-reduced-motion", Value: "reduce"},
	})
}

// settled is over when nothing is being read any more and nothing was drawn for a while,
// which is in milliseconds. It counts looks, not time: a browser that waited for a processor
// has not stood still.
const settled = `((quiet) => new Promise((done, fail) => {
	let calm = 0;
	const watch = new MutationObserver(() => { calm = 0 });
	watch.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
	const began = performance.now();
	const look = () => {
		const busy = document.readyState !== 'complete' || !document.querySelector('main')
			|| document.querySelector('[aria-busy="true"], .waiting, .unparsed, [data-verdict="checking"]');
		calm = busy ? 0 : calm + 1;
		if (calm * 25 > quiet) { watch.disconnect(); document.fonts.ready.then(() => done(true)) }
		else if (performance.now() - began > 60000) { watch.disconnect(); fail(new Error('the page does not come to rest: ' + document.body.innerText.slice(0, 300))) }
		else setTimeout(look, 25);
	};
	look();
}))`

// Settled waits until the page has read what it shows, and stands still.
func Settled() chromedp.Action { return chromedp.Evaluate(settled+"(300)", nil, awaited) }

// Resized is Settled for a page that has read everything, and only draws it otherwise.
func Resized() chromedp.Action { return chromedp.Evaluate(settled+"(80)", nil, awaited) }

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
