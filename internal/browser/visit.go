package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// How far the clock of a page goes.
const (
	// epoch is when it begins, in seconds: midnight of the first of January 2026, UTC.
	epoch = 1767225600
	// loaded is how long, by its own clock, a page has after it was loaded; settled after each
	// step.
	loaded  = 500 * time.Millisecond
	settled = 100 * time.Millisecond
	// ended is what the events of animations that were brought to their end have.
	ended = 20 * time.Millisecond
	// maxWait is how long all waits together may be.
	maxWait = time.Hour
)

// ending is how a visit ends that does not end well.
type ending struct{ end, why string }

func (e *ending) Error() string { return e.end + ": " + e.why }

// visit goes through a visit with a browser that is up. When ctx ends, so does the visit, as its cause says.
func visit(ctx context.Context, k *conn, v Visit) *Seen {
	p := newPage(k, v)
	k.heard(p.hear)
	defer k.heard(nil)
	s := &Seen{End: Done}
	err := p.story(ctx, s)
	if err == nil || isMissing(err) {
		// What is left of it must be gone before the next visit.
		if e := p.leave(ctx); e != nil {
			err = e
		}
	}
	if err != nil {
		s.End, s.Why = p.verdict(ctx, err)
		p.recorded(&s.After)
	}
	return s
}

func isMissing(err error) bool {
	e, ok := errors.AsType[*ending](err)
	return ok && e.end == Missing
}

// verdict says how a visit ended by an error. What the page did comes before what it led to.
func (p *page) verdict(ctx context.Context, err error) (end, why string) {
	p.mu.Lock()
	dead, gone := p.dead, p.k.ctx.Err() != nil
	p.mu.Unlock()
	why = plain.Brief(plain.Line(err.Error()), 500)
	e, ok := errors.AsType[*ending](err)
	switch {
	case dead != "":
		return Crash, dead
	case ok:
		return e.end, plain.Brief(plain.Line(e.why), 500)
	case gone:
		return Crash, plain.Brief(plain.Line(context.Cause(p.k.ctx).Error()), 500)
	case ctx.Err() != nil:
		if e, ok := errors.AsType[*ending](context.Cause(ctx)); ok {
			return e.end, e.why
		}
		return Timeout, why
	}
	return Error, why
}

// story loads the page, looks, does the steps and looks again.
func (p *page) story(ctx context.Context, s *Seen) error {
	if err := p.enter(ctx); err != nil {
		return err
	}
	if err := p.load(ctx); err != nil {
		return err
	}
	if err := p.look(ctx, &s.Before); err != nil {
		return err
	}
	for i, step := range p.v.Steps {
		s.Step = i
		if err := p.step(ctx, step); err != nil {
			if isMissing(err) {
				return errors.Join(err, p.look(ctx, &s.After))
			}
			return err
		}
	}
	s.Step = len(p.v.Steps)
	return p.look(ctx, &s.After)
}

// enter makes a fresh context with one empty page, in which nothing goes on.
func (p *page) enter(ctx context.Context) error {
	var made struct {
		Context string `json:"browserContextId"`
	}
	if err := p.k.call(ctx, "", "Target.createBrowserContext", params{"disposeOnDetach": true}, &made); err != nil {
		return err
	}
	p.context = made.Context
	var target struct {
		ID string `json:"targetId"`
	}
	err := p.k.call(ctx, "", "Target.createTarget", params{"url": "about:blank", "browserContextId": p.context, "width": 1280, "height": 800}, &target)
	if err != nil {
		return err
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	p.target = target.ID
	if err := p.k.call(ctx, "", "Target.attachToTarget", params{"targetId": p.target, "flatten": true}, &attached); err != nil {
		return err
	}
	p.mu.Lock()
	p.session = attached.Session
	p.mu.Unlock()
	return p.all(ctx, p.setup())
}

// command is one of several that are said together.
type command struct {
	session, method string
	params          params
}

// setup is how a page is made the same each time.
func (p *page) setup() []command {
	at := func(method string, v params) command { return command{p.session, method, v} }
	all := []command{
		{"", "Browser.setDownloadBehavior", params{"behavior": "deny", "browserContextId": p.context, "eventsEnabled": true}},
		at("Page.enable", nil), at("Runtime.enable", nil), at("Network.enable", params{"maxTotalBufferSize": 1 << 20, "maxResourceBufferSize": 1 << 20}),
		at("DOM.enable", nil), at("CSS.enable", nil),
		at("Network.setBypassServiceWorker", params{"bypass": true}),
		at("Fetch.enable", params{"patterns": []params{{"urlPattern": "*"}}}),
		at("Target.setAutoAttach", autoAttach),
		at("Emulation.setDeviceMetricsOverride", params{"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false}),
		at("Emulation.setLocaleOverride", params{"locale": "en-US"}), at("Emulation.setTimezoneOverride", params{"timezoneId": "UTC"}),
		at("Emulation.setFocusEmulationEnabled", params{"enabled": true}),
		at("Emulation.setEmulatedMedia", params{"media": "screen", "features": []params{
			{"name": "prefers-reduced-motion", "value": "reduce"}, {"name": "prefers-color-scheme", "value": "light"}}}),
		at("Page.setInterceptFileChooserDialog", params{"enabled": true}),
		at("Page.addScriptToEvaluateOnNewDocument", params{"source": fixed}),
		at("Emulation.setVirtualTimePolicy", params{"policy": "pause", "initialVirtualTime": epoch}),
	}
	if p.v.NoScripts {
		all = append(all, at("Emulation.setScriptExecutionDisabled", params{"value": true}))
	}
	return all
}

var autoAttach = params{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}

// all says several commands, then waits for their answers.
func (p *page) all(ctx context.Context, commands []command) error {
	answers := make([]chan message, len(commands))
	for i, c := range commands {
		answers[i] = make(chan message, 1)
		if _, err := p.k.say(c.session, c.method, c.params, answers[i]); err != nil {
			return err
		}
	}
	for i, c := range commands {
		if err := p.answer(ctx, c.method, answers[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// load loads the entry, and lets the page's clock go on for a moment.
func (p *page) load(ctx context.Context) error {
	var nav struct {
		Frame string `json:"frameId"`
		Error string `json:"errorText"`
	}
	if err := p.call(ctx, "Page.navigate", params{"url": address(p.v.Entry)}, &nav); err != nil {
		return err
	}
	if nav.Error != "" {
		return &ending{Error, fmt.Sprintf("%s cannot be loaded: %s", plain.Quoted(p.v.Entry, 100), nav.Error)}
	}
	p.mu.Lock()
	p.frame = nav.Frame
	missing := p.missing
	p.mu.Unlock()
	if missing != "" {
		return &ending{Error, missing}
	}
	if err := p.pass(ctx, loaded); err != nil {
		return err
	}
	if err := p.wait(ctx, func() bool { return p.loads > 0 }); err != nil {
		return err
	}
	return p.rest(ctx)
}

// pass lets the page's clock go on.
func (p *page) pass(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	before := p.expired
	p.mu.Unlock()
	err := p.call(ctx, "Emulation.setVirtualTimePolicy", params{
		"policy": "pauseIfNetworkFetchesPending", "budget": float64(d) / float64(time.Millisecond), "maxVirtualTimeTaskStarvationCount": 10_000,
	}, nil)
	if err != nil {
		return err
	}
	return p.wait(ctx, func() bool { return p.expired > before })
}

// leave closes the context with all that is in it.
func (p *page) leave(ctx context.Context) error {
	p.mu.Lock()
	p.left = true
	p.mu.Unlock()
	return p.k.call(ctx, "", "Target.disposeBrowserContext", params{"browserContextId": p.context}, nil)
}

// step does one.
func (p *page) step(ctx context.Context, s event.WorldStep) error {
	if s.Do == "wait" {
		d := time.Duration(max(0, min(s.Milliseconds, int64(maxWait/time.Millisecond)))) * time.Millisecond
		if p.waited += d; p.waited > maxWait {
			return &ending{Error, fmt.Sprintf("the waits of a story are more than %s", maxWait)}
		}
		if err := p.pass(ctx, max(d, time.Millisecond)); err != nil {
			return err
		}
		return p.rest(ctx)
	}
	var err error
	switch s.Do {
	case "click":
		err = p.click(ctx, s.At)
	case "type":
		err = p.typed(ctx, s.At, s.Text)
	case "press":
		err = p.press(ctx, s.At, s.Text)
	case "select":
		err = p.choose(ctx, s.At, s.Text)
	default:
		err = &ending{Error, fmt.Sprintf("a page has no step %s: there are click, type, press, select and wait", plain.Quoted(s.Do, 50))}
	}
	if err != nil {
		return err
	}
	if err := p.pass(ctx, settled); err != nil {
		return err
	}
	return p.rest(ctx)
}

// address is where the page finds a path.
func address(path string) string {
	return Origin + "/" + escaped(strings.TrimPrefix(path, "/"))
}
