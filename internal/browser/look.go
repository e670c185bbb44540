package browser

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
)

// Bounds of what is seen.
const (
	maxElements = 20_000
	maxNodes    = 5_000
	maxDepth    = 100
	maxName     = 1_000
	maxText     = 256 << 10
	maxPicture  = 8 << 20
)

// fixed makes chance the same each time: what JavaScript calls random is fixed by a flag, this is
// for the rest. Whoever undoes it has only themselves to blame: their page is flaky.
const fixed = `(() => {
	let s = 0x9E3779B9;
	const next = () => { s = (s + 0x6D2B79F5) | 0; let t = Math.imul(s ^ (s >>> 15), 1 | s); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return (t ^ (t >>> 14)) >>> 0; };
	const C = globalThis.Crypto, P = C && C.prototype;
	if (P) {
		const own = P.getRandomValues;
		P.getRandomValues = function getRandomValues(a) {
			own.call(this, a);
			const b = new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
			for (let i = 0; i < b.length; i++) b[i] = next();
			return a;
		};
		if (P.randomUUID) P.randomUUID = function randomUUID() {
			const h = Array.from({ length: 16 }, next).map(n => n & 255);
			h[6] = h[6] & 15 | 64; h[8] = h[8] & 63 | 128;
			const x = h.map(n => n.toString(16).padStart(2, '0')).join('');
			return [x.slice(0, 8), x.slice(8, 12), x.slice(12, 16), x.slice(16, 20), x.slice(20)].join('-');
		};
	}
	if (globalThis.requestAnimationFrame && globalThis.document) {
		const later = setTimeout, never = clearTimeout, clock = performance, tell = clock.now;
		globalThis.requestAnimationFrame = function requestAnimationFrame(f) { return later(() => f(tell.call(clock)), 16); };
		globalThis.cancelAnimationFrame = function cancelAnimationFrame(n) { never(n); };
	}
})()`

// quiet brings animations to their end, or to their beginning where they have none.
const quiet = `(() => { for (const a of Document.prototype.getAnimations.call(document)) try {
	const t = a.effect && a.effect.getComputedTiming();
	if (t && Number.isFinite(t.endTime)) a.finish(); else a.cancel();
} catch {} })()`

// reading is what a script in a world of its own says of the page. Names of elements can stand
// for what a document or an element has itself, so what it has is taken from its prototype.
const reading = `(() => {
	const get = (proto, name, of) => Object.getOwnPropertyDescriptor(proto, name).get.call(of);
	const elements = get(HTMLCollection.prototype, 'length', Document.prototype.getElementsByTagName.call(document, '*'));
	const out = { elements, title: get(Document.prototype, 'title', document).slice(0, 2000), url: get(Document.prototype, 'URL', document).slice(0, 2000), text: '' };
	if (elements > 20000) return out;
	const body = get(Document.prototype, 'body', document) || get(Document.prototype, 'documentElement', document);
	if (body instanceof HTMLElement) out.text = get(HTMLElement.prototype, 'innerText', body).slice(0, 300000);
	return out;
})()`

// document is what reading says of one.
type document struct {
	Elements float64 `json:"elements"`
	Title    string  `json:"title"`
	URL      string  `json:"url"`
	Text     string  `json:"text"`
}

// rest brings the page to rest.
func (p *page) rest(ctx context.Context) error {
	if err := p.ask(ctx, p.frame, quiet, nil); err != nil {
		return err
	}
	frames, _, err := p.frames(ctx)
	if err != nil {
		return err
	}
	for _, frame := range frames {
		if err := p.ask(ctx, frame, quiet, nil); err != nil && !refused(err) {
			return err
		}
	}
	return p.pass(ctx, ended)
}

// ask has a script of ours say something of a frame, in a world that the page's scripts do not
// reach.
func (p *page) ask(ctx context.Context, frame, script string, result any) error {
	var world struct {
		ID int64 `json:"executionContextId"`
	}
	if err := p.call(ctx, "Page.createIsolatedWorld", params{"frameId": frame, "worldName": "lyceum"}, &world); err != nil {
		return err
	}
	var said struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	if err := p.call(ctx, "Runtime.evaluate", params{"expression": script, "contextId": world.ID, "returnByValue": true}, &said); err != nil {
		return err
	}
	if said.Exception != nil {
		return fmt.Errorf("look at the page: %s", plain.Brief(plain.Line(said.Exception.Text), 200))
	}
	if result == nil {
		return nil
	}
	data, err := json.Marshal(said.Result.Value, lenient)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, result, lenient)
}

// recorded is what is known without a look.
func (p *page) recorded(s *Sight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Console, s.Dialogs, s.Requests = slices.Clone(p.console), slices.Clone(p.dialogs), slices.Clone(p.asked)
	slices.SortFunc(s.Requests, func(a, b event.WorldRequest) int {
		return cmp.Or(strings.Compare(a.URL, b.URL), strings.Compare(a.Method, b.Method))
	})
	s.Cut = slices.Sorted(maps.Keys(p.cut))
}

// look sees what there is.
func (p *page) look(ctx context.Context, s *Sight) error {
	p.recorded(s)
	var r document
	if err := p.ask(ctx, p.frame, reading, &r); err != nil {
		return err
	}
	left, err := p.within(ctx, &r)
	if err != nil {
		return err
	}
	s.Title, s.URL = plain.Brief(plain.Line(r.Title), maxName), plain.Brief(plain.Line(r.URL), maxURL)
	if r.Elements > maxElements {
		return &ending{Error, fmt.Sprintf("the page has %.0f elements, more than %d are not looked at", r.Elements, maxElements)}
	}
	if s.Text = plain.Text(r.Text); len(s.Text) > maxText {
		s.Text, s.Cut = plain.Cut(s.Text, maxText), append(s.Cut, "text")
	}
	nodes, cut, err := p.tree(ctx)
	if err != nil {
		return err
	}
	if s.Nodes = nodes; cut {
		s.Cut = append(s.Cut, "nodes")
	}
	if left {
		s.Cut = append(s.Cut, "frames")
	}
	if !p.v.Picture {
		return nil
	}
	return p.picture(ctx, s)
}

// within adds what the frames of a page have: their elements, and their texts after the page's own.
// left says that there are some that were not looked into.
func (p *page) within(ctx context.Context, r *document) (left bool, err error) {
	frames, left, err := p.frames(ctx)
	if err != nil {
		return false, err
	}
	for _, frame := range frames {
		var in document
		err := p.ask(ctx, frame, reading, &in)
		switch {
		case refused(err):
			left = true
		case err != nil:
			return false, err
		default:
			r.Elements += in.Elements
			if in.Text != "" && len(r.Text) <= maxText {
				r.Text += "\n" + in.Text
			}
		}
	}
	return left, nil
}

// picture takes one of what is in the window.
func (p *page) picture(ctx context.Context, s *Sight) error {
	var shot struct {
		Data string `json:"data"`
	}
	if err := p.call(ctx, "Page.captureScreenshot", params{"format": "png"}, &shot); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	switch {
	case err != nil:
		return fmt.Errorf("read a picture: %w", err)
	case len(data) > maxPicture:
		s.Cut = append(s.Cut, "picture")
	default:
		s.Picture = data
	}
	return nil
}
