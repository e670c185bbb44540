package browser

import (
	"context"
	"encoding/base64"
	"net/url"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
)

// Bounds of what is kept of a page.
const (
	maxRequests = 500
	maxURL      = 1000
	maxLines    = 500
	maxLine     = 2000
	maxDialogs  = 100
	// maxFile is how long one file may be that a page is given, maxGiven all together.
	maxFile  = 16 << 20
	maxGiven = 256 << 20
)

type params = map[string]any

// page is one visit as the browser tells of it. The goroutine that reads the connection calls
// hear; mu guards what is below it.
type page struct {
	k *conn
	v Visit

	context, target string
	waited          time.Duration // only the visit's goroutine looks at it

	mu      sync.Mutex
	changed chan struct{} // closed when something below has changed
	session string
	frame   string
	loads   int    // how often the main frame was loaded
	expired int    // how often the clock has come to where it was let go
	dead    string // why the page is no more
	left    bool   // it is to be gone
	missing string // why there is no entry
	given   int    // bytes
	console []string
	dialogs []string
	asked   []event.WorldRequest
	cut     map[string]bool
}

func newPage(k *conn, v Visit) *page {
	return &page{k: k, v: v, changed: make(chan struct{}), cut: map[string]bool{}}
}

// call tells the page's target something, and waits for the answer.
func (p *page) call(ctx context.Context, method string, v params, result any) error {
	answer := make(chan message, 1)
	if _, err := p.k.say(p.session, method, v, answer); err != nil {
		return err
	}
	return p.answer(ctx, method, answer, result)
}

// answer waits for an answer. A page that is dead gives none.
func (p *page) answer(ctx context.Context, method string, answer chan message, result any) error {
	for {
		p.mu.Lock()
		dead, changed := p.dead, p.changed
		p.mu.Unlock()
		if dead != "" {
			return &ending{Crash, dead}
		}
		select {
		case m := <-answer:
			return read(method, m, result)
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.k.ctx.Done():
			return context.Cause(p.k.ctx)
		}
	}
}

// wait waits until something is so. is is called with mu held.
func (p *page) wait(ctx context.Context, is func() bool) error {
	for {
		p.mu.Lock()
		ok, dead, changed := is(), p.dead, p.changed
		p.mu.Unlock()
		switch {
		case dead != "":
			return &ending{Crash, dead}
		case ok:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.k.ctx.Done():
			return context.Cause(p.k.ctx)
		}
	}
}

// stir tells whoever waits that something has changed. mu is held.
func (p *page) stir() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// tell says something whose answer does not matter.
func (p *page) tell(session, method string, v params) { _, _ = p.k.say(session, method, v, nil) }

// happened is what the browser tells of a page, all of it that anybody here looks at.
type happened struct {
	// Fetch.requestPaused
	Request  string `json:"requestId"`
	Frame    string `json:"frameId"`
	Resource string `json:"resourceType"`
	Asked    asked  `json:"request"`
	// Page.javascriptDialogOpening, Network.webSocketCreated, Page.windowOpen
	Type    string `json:"type"`
	Message string `json:"message"`
	URL     string `json:"url"`
	// Runtime.consoleAPICalled, Runtime.exceptionThrown
	Args      []remoteObject `json:"args"`
	Exception struct {
		Text   string        `json:"text"`
		Object *remoteObject `json:"exception"`
	} `json:"exceptionDetails"`
	// Target.attachedToTarget
	Session string `json:"sessionId"`
	Target  struct {
		ID   string `json:"targetId"`
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"targetInfo"`
	Waiting bool `json:"waitingForDebugger"`
}

type asked struct {
	URL    string `json:"url"`
	Method string `json:"method"`
}

// remoteObject is a value of a page's script.
type remoteObject struct {
	Type        string `json:"type"`
	Value       any    `json:"value"`
	Odd         string `json:"unserializableValue"`
	Description string `json:"description"`
}

// heard are the things that happen to a page, and what is done then. The main page's session is
// told by its being main.
var heard = map[string]func(p *page, session string, main bool, h *happened){
	"Fetch.requestPaused":                (*page).request,
	"Page.javascriptDialogOpening":       (*page).dialog,
	"Runtime.consoleAPICalled":           (*page).said,
	"Runtime.exceptionThrown":            (*page).thrown,
	"Target.attachedToTarget":            (*page).attached,
	"Network.webSocketCreated":           (*page).reached,
	"Network.webTransportCreated":        (*page).reached,
	"Page.windowOpen":                    (*page).reached,
	"Page.loadEventFired":                func(p *page, _ string, main bool, _ *happened) { p.count(main, &p.loads) },
	"Emulation.virtualTimeBudgetExpired": func(p *page, _ string, main bool, _ *happened) { p.count(main, &p.expired) },
	"Inspector.targetCrashed":            func(p *page, _ string, main bool, _ *happened) { p.die(main, "the page has crashed") },
	"Inspector.detached":                 func(p *page, _ string, main bool, _ *happened) { p.die(main, "the page is gone") },
}

// hear takes in something that happened.
func (p *page) hear(m message) {
	do := heard[m.Method]
	if do == nil {
		return
	}
	var h happened
	if json.Unmarshal(m.Params, &h, lenient) != nil {
		return // what is not understood has no effect: if it had to, the visit takes too long
	}
	p.mu.Lock()
	main := m.Session == p.session && m.Session != ""
	p.mu.Unlock()
	do(p, m.Session, main, &h)
}

func (p *page) count(main bool, n *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if main {
		*n++
		p.stir()
	}
}

func (p *page) die(main bool, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if main && !p.left {
		p.dead = why
		p.stir()
	}
}

// line adds a line to a list, within bounds.
func (p *page) line(to *[]string, what, text string, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(*to) >= most {
		p.cut[what] = true
		return
	}
	*to = append(*to, plain.Brief(plain.Text(text), maxLine))
}

func (p *page) dialog(session string, _ bool, h *happened) {
	p.tell(session, "Page.handleJavaScriptDialog", params{"accept": false})
	p.line(&p.dialogs, "dialogs", h.Message, maxDialogs)
}

func (p *page) said(_ string, _ bool, h *happened) {
	words := make([]string, 0, len(h.Args))
	for _, a := range h.Args {
		words = append(words, a.text())
	}
	p.line(&p.console, "console", strings.Join(words, " "), maxLines)
}

func (p *page) thrown(_ string, _ bool, h *happened) {
	text := h.Exception.Text
	if o := h.Exception.Object; o != nil {
		first, _, _ := strings.Cut(o.text(), "\n")
		text += " " + first
	}
	p.line(&p.console, "console", text, maxLines)
}

// text is how a value is written.
func (o remoteObject) text() string {
	switch v := o.Value.(type) {
	case string:
		return v
	case nil:
		if o.Odd != "" {
			return o.Odd
		}
		if o.Description != "" {
			return o.Description
		}
		if o.Type == "undefined" {
			return "undefined"
		}
		return "null"
	}
	out, err := json.Marshal(o.Value, lenient, json.Deterministic(true))
	if err != nil {
		return o.Type
	}
	return string(out)
}

// reached records what a page tried to reach in a way that is not asked for.
func (p *page) reached(_ string, _ bool, h *happened) { p.note("GET", h.URL, false) }

// note records something that was asked for.
func (p *page) note(method, url string, given bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) >= maxRequests {
		p.cut["requests"] = true
		return
	}
	p.asked = append(p.asked, event.WorldRequest{Given: given, Method: plain.Brief(plain.Line(method), 20), URL: plain.Brief(plain.Line(url), maxURL)})
}

// attached is told of something that the page began. A window is closed before it has begun; a
// worker, or a frame in another process, is held as the page is.
func (p *page) attached(session string, _ bool, h *happened) {
	if session == "" {
		return // that is the page itself
	}
	switch h.Target.Type {
	case "iframe":
		p.tell(h.Session, "Page.enable", nil)
		fallthrough
	case "worker", "shared_worker", "service_worker", "worklet", "audio_worklet", "shared_storage_worklet", "auction_worklet":
		p.tell(h.Session, "Runtime.enable", nil)
		p.tell(h.Session, "Network.enable", params{"maxTotalBufferSize": 1 << 20})
		p.tell(h.Session, "Fetch.enable", params{"patterns": []params{{"urlPattern": "*"}}})
		p.tell(h.Session, "Target.setAutoAttach", autoAttach)
		p.tell(h.Session, "Runtime.evaluate", params{"expression": fixed})
		p.tell(h.Session, "Runtime.runIfWaitingForDebugger", nil)
	default:
		p.note("GET", h.Target.URL, false)
		p.tell("", "Target.closeTarget", params{"targetId": h.Target.ID})
	}
}

// request answers what a page asks for.
func (p *page) request(session string, main bool, h *happened) {
	path, own := pathOf(h.Asked.URL)
	if !own || h.Asked.Method != "GET" && h.Asked.Method != "HEAD" {
		p.note(h.Asked.Method, h.Asked.URL, false)
		p.refuse(session, h)
		return
	}
	data, media, err := p.v.Files(path)
	p.mu.Lock()
	p.given += len(data)
	much := len(data) > maxFile || p.given > maxGiven
	if main && p.loads == 0 && h.Resource == "Document" && path == strings.TrimPrefix(p.v.Entry, "/") {
		switch {
		case err != nil:
			p.missing = plain.Quoted(p.v.Entry, 100) + " is not there: " + plain.Brief(plain.Line(err.Error()), 200)
		case much:
			p.missing = plain.Quoted(p.v.Entry, 100) + " is too long to be loaded"
		}
	}
	p.mu.Unlock()
	if err == nil || path != "favicon.ico" {
		p.note(h.Asked.Method, h.Asked.URL, err == nil && !much)
	} // the browser asks for that by itself
	status := 200
	if err != nil || much {
		status, data, media = 404, nil, "text/plain"
	}
	p.tell(session, "Fetch.fulfillRequest", params{
		"requestId": h.Request, "responseCode": status, "body": base64.StdEncoding.EncodeToString(data),
		"responseHeaders": []params{{"name": "Content-Type", "value": media}, {"name": "Cache-Control", "value": "no-store"}},
	})
}

// refuse refuses what is not the page's own. Where a document was to take a document's place,
// that one stays.
func (p *page) refuse(session string, h *happened) {
	if h.Resource == "Document" {
		p.tell(session, "Fetch.fulfillRequest", params{"requestId": h.Request, "responseCode": 204})
		return
	}
	p.tell(session, "Fetch.failRequest", params{"requestId": h.Request, "errorReason": "BlockedByClient"})
}

// pathOf is the path of an address at the page's own origin.
func pathOf(address string) (path string, own bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://"+u.Host != Origin {
		return "", false
	}
	return strings.TrimPrefix(u.Path, "/"), true
}

// escaped is a path in an address.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }
