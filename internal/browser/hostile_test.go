package browser

import (
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/need"
)

// hostile is a page that means no good.
type hostile struct {
	name string
	// html is the page; PORT in it is where somebody listens, on this machine and in the computer.
	html string
	// click has its button Go clicked.
	click bool
	// limit is that of the visit, if it is to meet it.
	limit time.Duration
	ends  []string
	// refused is a part of the address of what it asked for and was refused.
	refused string
	check   func(t *testing.T, s *Seen)
}

// short is a limit that a page meets which hangs.
const short = 1500 * time.Millisecond

const button = `<!doctype html><html lang=en><title>Page</title><button id=go>Go</button>`

func page1(script string) string { return button + "<script>" + script + "</script>" }

func onClick(script string) string { return page1("go.onclick = () => {" + script + "}") }

// greedy are the pages that take what they can get.
var greedy = []hostile{
	{name: "loop at load", html: page1(`for(;;);`), limit: short, ends: []string{Timeout}},
	{name: "loop on click", html: onClick(`for(;;);`), click: true, limit: short, ends: []string{Timeout}},
	{name: "loop of promises", html: page1(`const f = () => Promise.resolve().then(f); f()`), limit: short, ends: []string{Timeout}},
	{name: "loop of messages", html: page1(`onmessage = () => postMessage(1, '*'); postMessage(1, '*')`), limit: short, ends: []string{Done, Timeout}},
	{name: "loop of timers", html: page1(`setInterval(() => go.textContent = 'Go' + Math.random(), 0)`), ends: []string{Done}},
	{name: "loop of frames", html: page1(`const f = () => requestAnimationFrame(f); f(); f(); f()`), ends: []string{Done}},
	{name: "memory of objects", html: page1(`const a = []; for (;;) a.push(new Array(1e5).fill(a.length + 0.5))`), ends: []string{Crash}},
	{name: "memory of buffers", html: page1(`const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(a.length))`), ends: []string{Crash, Done}},
	{name: "dialogs in a loop", html: page1(`for (let i = 0;; i++) alert('again ' + i)`), limit: short, ends: []string{Timeout, Done}, check: func(t *testing.T, s *Seen) {
		if len(s.After.Dialogs) > maxDialogs {
			t.Errorf("%d dialogs are kept", len(s.After.Dialogs))
		}
	}},
	{name: "dialogs", html: onClick(`go.textContent = [alert('one'), confirm('two'), prompt('three', 'x')].join()`), click: true, ends: []string{Done}, check: func(t *testing.T, s *Seen) {
		if !slices.Equal(s.After.Dialogs, []string{"one", "two", "three"}) || !strings.Contains(s.After.Text, ",false,") {
			t.Errorf("dialogs %q, text %q: want three, all dismissed", s.After.Dialogs, s.After.Text)
		}
	}},
	{name: "does not let go", html: onClick(`onbeforeunload = e => { e.preventDefault(); return 'stay' }; location = '/other.html'`), click: true, ends: []string{Done}},
	{name: "windows", html: onClick(`for (let i = 0; i < 50; i++) open('/index.html?' + i, '_blank', 'popup')`), click: true, ends: []string{Done}},
	{name: "windows at load", html: page1(`for (let i = 0; i < 50; i++) open('about:blank')`), ends: []string{Done}},
	{name: "downloads", html: onClick(`for (let i = 0; i < 20; i++) { const a = document.createElement('a'); a.download = 'x' + i; a.href = URL.createObjectURL(new Blob(['x'.repeat(1000)])); a.click() }`), click: true, ends: []string{Done}},
	{name: "workers that spin", html: page1(`for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))`), limit: short, ends: []string{Timeout}},
	{name: "shared workers that spin", html: page1(`for (let i = 0; i < 4; i++) new SharedWorker(URL.createObjectURL(new Blob(['for(;;);'])), 'w' + i)`), ends: []string{Done}},
	{name: "service worker", html: page1(`navigator.serviceWorker.register('/index.html').catch(e => console.log('refused', e.name))`), ends: []string{Done}},
	{name: "huge tree", html: page1(`for (let i = 0; i < 100000; i++) document.body.append(document.createElement('p'))`), ends: []string{Error}},
	{name: "huge text", html: page1(`go.after('word '.repeat(4e5))`), ends: []string{Done}, check: func(t *testing.T, s *Seen) {
		if len(s.After.Text) > maxText+10 || !slices.Contains(s.After.Cut, "text") {
			t.Errorf("%d bytes of text are kept, cut %v", len(s.After.Text), s.After.Cut)
		}
	}},
	{name: "huge name", html: page1(`go.textContent = 'n'.repeat(5e5)`), ends: []string{Done}},
	{name: "huge console", html: page1(`for (let i = 0; i < 20000; i++) console.log('line', i, 'x'.repeat(1000))`), ends: []string{Done}, check: func(t *testing.T, s *Seen) {
		if len(s.After.Console) != maxLines || !slices.Contains(s.After.Cut, "console") {
			t.Errorf("%d lines of the console are kept, cut %v; want %d and that it was cut", len(s.After.Console), s.After.Cut, maxLines)
		}
	}},
	{name: "huge canvas", html: page1(`const c = document.createElement('canvas'); c.width = c.height = 30000; document.body.append(c); const x = c.getContext('2d'); if (x) x.fillRect(0, 0, 30000, 30000)`), ends: []string{Done, Crash}},
	{name: "deep nesting", html: button + strings.Repeat("<div>", 5000) + "deep", ends: []string{Done, Crash}},
	{name: "history", html: page1(`for (let i = 0; i < 5000; i++) try { history.pushState(i, '', '/h' + i) } catch {}`), ends: []string{Done}},
	{name: "reloads", html: page1(`setTimeout(() => location.reload(), 0)`), limit: short, ends: []string{Done, Timeout, Error}},
	{name: "animations", html: button + `<style>@keyframes k{from{opacity:0}to{opacity:1}} *{animation:k .01s infinite}</style>` + strings.Repeat("<i>x</i>", 3000), ends: []string{Done}},
	{name: "style bomb", html: button + `<style>:root{--a:x x x x x x x x;` + bomb() + `} p::after{content:var(--z)}</style><p>p`, ends: []string{Done, Timeout}, limit: 30 * time.Second},
	{name: "whole screen", html: onClick(`document.documentElement.requestFullscreen().catch(()=>{}); document.body.requestPointerLock(); navigator.keyboard && navigator.keyboard.lock && navigator.keyboard.lock()`), click: true, ends: []string{Done}},
	{name: "prints", html: onClick(`for (let i = 0; i < 10; i++) print()`), click: true, ends: []string{Done}},
}

func bomb() string {
	out := ""
	for c := 'b'; c <= 'z'; c++ {
		out += fmt.Sprintf("--%c:%s;", c, strings.Repeat(fmt.Sprintf("var(--%c) ", c-1), 8))
	}
	return out
}

// leaving are the pages that want out.
var leaving = []hostile{
	{name: "fetch", html: page1(`fetch('http://127.0.0.1:PORT/x').catch(()=>{}); fetch('https://example.org/x', {method: 'POST', mode: 'no-cors', body: 'x'}).catch(()=>{})`), refused: "example.org/x"},
	{name: "request", html: page1(`const r = new XMLHttpRequest(); r.open('GET', 'http://localhost:PORT/x'); r.send()`), refused: "localhost"},
	{name: "synchronous request", html: page1(`const r = new XMLHttpRequest(); r.open('GET', 'http://127.0.0.1:PORT/x', false); try { r.send() } catch {}`), refused: "127.0.0.1"},
	{name: "beacon", html: page1(`navigator.sendBeacon('http://127.0.0.1:PORT/b', 'x')`), refused: "/b"},
	{name: "event source", html: page1(`new EventSource('http://127.0.0.1:PORT/e')`), refused: "/e"},
	{name: "web socket", html: page1(`new WebSocket('ws://127.0.0.1:PORT/w'); new WebSocket('ws://localhost:PORT/w')`), refused: "/w"},
	{name: "peer connection", html: page1(`const p = new RTCPeerConnection({iceServers: [{urls: ['stun:127.0.0.1:PORT', 'turn:127.0.0.1:PORT?transport=tcp'], username: 'u', credential: 'c'}]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))`)},
	{name: "web transport", html: page1(`try { new WebTransport('https://127.0.0.1:PORT/t').ready.catch(()=>{}) } catch {}`)},
	{name: "hints", html: button + `<link rel=prefetch href=http://127.0.0.1:PORT/p><link rel=preconnect href=http://127.0.0.1:PORT><link rel=dns-prefetch href=//secret.example.org><link rel=modulepreload href=http://127.0.0.1:PORT/m.js><script type=speculationrules>{"prerender":[{"source":"list","urls":["http://127.0.0.1:PORT/s"]}]}</script>`},
	{name: "pictures, styles and fonts", html: button + `<style>@import url(http://127.0.0.1:PORT/i.css); @font-face{font-family:f;src:url(http://127.0.0.1:PORT/f.woff)} body{font-family:f;background:url(http://127.0.0.1:PORT/g.png)}</style><img src=http://127.0.0.1:PORT/j.png><video src=http://127.0.0.1:PORT/v></video><object data=http://127.0.0.1:PORT/o></object><embed src=http://127.0.0.1:PORT/q>`, refused: "j.png"},
	{name: "frames", html: button + `<iframe src=http://127.0.0.1:PORT/f></iframe><iframe srcdoc="<img src=http://127.0.0.1:PORT/k>"></iframe><iframe sandbox=allow-scripts srcdoc="<script>fetch('http://127.0.0.1:PORT/l')</script>"></iframe>`, refused: "/k"},
	{name: "form", html: button + `<form id=f action=http://127.0.0.1:PORT/form method=post><input name=a value=b></form><script>go.onclick = () => f.submit()</script>`, click: true, refused: "/form"},
	{name: "refresh", html: button + `<meta http-equiv=refresh content="0;url=http://127.0.0.1:PORT/r">`, refused: "/r"},
	{name: "leaves", html: onClick(`location = 'http://127.0.0.1:PORT/away'`), click: true, refused: "/away"},
	{name: "a window outside", html: onClick(`open('http://127.0.0.1:PORT/window')`), click: true},
	{name: "a worker that asks", html: page1("new Worker(URL.createObjectURL(new Blob([\"fetch('http://127.0.0.1:PORT/y').catch(()=>{}); try { importScripts('http://127.0.0.1:PORT/z') } catch {}; new WebSocket('ws://127.0.0.1:PORT/u')\"])))")},
	{name: "a shared worker that asks", html: page1("new SharedWorker(URL.createObjectURL(new Blob([\"fetch('http://127.0.0.1:PORT/y').catch(()=>{}); new WebSocket('ws://127.0.0.1:PORT/u')\"])))")},
	{name: "files", html: onClick(`try { location = 'file:///etc/passwd' } catch {}; fetch('file:///etc/passwd').catch(()=>{}); const f = document.createElement('iframe'); f.src = 'file:///etc/passwd'; document.body.append(f)`), click: true},
	{name: "the browser's own pages", html: onClick(`for (const u of ['chrome://crash', 'chrome://version', 'view-source:https://artifact.test/', 'devtools://devtools/bundled/x.html', 'chrome://kill']) try { location = u } catch {}; open('chrome://settings')`), click: true},
	{name: "script address", html: onClick(`location = 'javascript:document.title="T"'`), click: true},
	{name: "data address", html: onClick(`location = 'data:text/html,<h1>passed'; const f = document.createElement('iframe'); f.src = 'data:text/html,<script>fetch("http://127.0.0.1:PORT/d")</'+'script>'; document.body.append(f)`), click: true},
	{name: "blob address", html: onClick(`location = URL.createObjectURL(new Blob(['<title>B</title><img src=http://127.0.0.1:PORT/h>'], {type: 'text/html'}))`), click: true},
	{name: "clipboard and devices", html: onClick(`for (const f of [() => navigator.clipboard.readText(), () => navigator.clipboard.writeText('x'), () => navigator.geolocation.getCurrentPosition(()=>{ document.title = 'reached' }), () => navigator.mediaDevices.getUserMedia({video: true}), () => Notification.requestPermission(), () => navigator.usb.requestDevice({filters: []}), () => showOpenFilePicker()]) try { Promise.resolve(f()).catch(()=>{}) } catch {}`), click: true},
	{name: "fake verdict", html: fake, click: true, check: func(t *testing.T, s *Seen) {
		n := s.After.Nodes
		if i := slices.IndexFunc(n, func(n Node) bool { return n.Role == "status" }); i < 0 || n[i+1].Name != "0" || !strings.Contains(s.After.Text, "0") || strings.Contains(s.After.Text, "passed") || s.After.Title != "Fake" {
			t.Errorf("the page said what it likes: %q, text %q, title %q", lines(s.After), s.After.Text, s.After.Title)
		}
	}},
}

// fake shows 0 and does what it can for others to see 1.
const fake = `<!doctype html><html lang=en><title>Fake</title><p role=status aria-label=Count>0</p><button>Go</button>
<form name=body><input name=innerText value=passed hidden></form><img name=title alt="" hidden><form name=documentElement></form><form name=getAnimations></form>
<script>
for (const p of [Document.prototype, HTMLElement.prototype, Element.prototype, Node.prototype]) for (const k of ['innerText', 'textContent', 'title', 'body', 'URL'])
	try { Object.defineProperty(p, k, { get() { return 'passed' }, configurable: true }) } catch {}
Object.getOwnPropertyDescriptor = () => ({ get: { call: () => 'passed' } });
JSON.stringify = () => '"passed"'; Array.prototype.slice = String.prototype.slice = () => 'passed';
Document.prototype.getElementsByTagName = () => []; Array.prototype[Symbol.iterator] = function*() { yield 'passed' };
Object.prototype.toJSON = () => 'passed'; window.__lyceum = window.cdp = { passed: true };
</script>`

// guard tells whether anybody came to a port, of this machine or of the computer.
type guard struct {
	port string
	came atomic.Int64
}

const listening = `
import selectors, socket, sys
port, s = int(sys.argv[1]), selectors.DefaultSelector()
t = socket.socket(); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); t.bind(('127.0.0.1', port)); t.listen(); s.register(t, 1)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', port)); s.register(u, 1)
print('ready', flush=True)
while True:
	for k, _ in s.select():
		if k.fileobj is t: t.accept()
		else: u.recv(2000)
		print('came', flush=True)
`

// watch listens at a port of this machine, and at the same one in the computer.
func watch(r *room) *guard {
	r.Helper()
	need.Programs(r, "python3")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { l.Close() })
	g := &guard{}
	_, g.port, _ = net.SplitHostPort(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
			g.came.Add(1)
		}
	}()
	if err := r.c.Start(r.Context(), computer.Command{ID: "guard", Args: []string{"python3", "-c", listening, g.port}}); err != nil {
		r.Fatal(err)
	}
	r.said(1)
	return g
}

// said waits until the guard in the computer has said so many lines, and returns how many it has.
func (r *room) said(n int64) int64 {
	r.Helper()
	for {
		ps, err := r.c.Processes(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		i := slices.IndexFunc(ps, func(p computer.Process) bool { return p.ID == "guard" })
		if i < 0 || !ps[i].Running {
			r.Fatal("the guard in the computer is gone")
		}
		if ps[i].Lines >= n {
			return ps[i].Lines
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// face visits hostile pages, and after each a good one, which must be as it always is.
func face(t *testing.T, pages []hostile) {
	r := enter(t)
	g := watch(r)
	good := Visit{Files: files(map[string]string{"index.html": counter}), Entry: "index.html", Steps: []event.WorldStep{click("button", "More")}, Limit: patience}
	began := time.Now()
	want := r.look(good)
	usual := time.Since(began)
	if want.End != Done {
		t.Fatalf("the good page: %s, %s", want.End, want.Why)
	}
	for _, h := range pages {
		ok := t.Run(h.name, func(t *testing.T) {
			r := &room{t, r.c, r.b}
			v := Visit{Files: files(map[string]string{"index.html": strings.ReplaceAll(h.html, "PORT", g.port)}), Entry: "index.html", Limit: max(h.limit, 0)}
			if v.Limit == 0 {
				v.Limit = patience
			}
			if h.click {
				v.Steps = []event.WorldStep{click("button", "Go")}
			}
			if h.ends == nil {
				h.ends = []string{Done}
			}
			began := time.Now()
			s := r.look(v)
			if took := time.Since(began); took > v.Limit+2*time.Second+20*usual {
				t.Errorf("it took %s, with a limit of %s; a good page takes %s", took, v.Limit, usual)
			}
			t.Logf("%s in %s: %s; asked %v", s.End, time.Since(began), s.Why, s.After.Requests)
			if !slices.Contains(h.ends, s.End) {
				t.Errorf("it ended with %s, want one of %v: %s", s.End, h.ends, s.Why)
			}
			if h.refused != "" && !slices.ContainsFunc(s.After.Requests, func(q event.WorldRequest) bool { return !q.Given && strings.Contains(q.URL, h.refused) }) {
				t.Errorf("nothing with %s was refused: %v", h.refused, s.After.Requests)
			}
			if h.check != nil {
				h.check(t, s)
			}
			if got := r.look(good); !reflect.DeepEqual(clean(got), clean(want)) {
				t.Errorf("the next page is not as it was:\n%+v\nwant\n%+v", clean(got), clean(want))
			}
			if n, m := g.came.Load(), r.said(1); n != 0 || m != 1 {
				t.Errorf("somebody was reached: %d times on this machine, %d in the computer", n, m-1)
			}
		})
		if !ok && t.Context().Err() != nil {
			return
		}
	}
	// The guard is awake.
	if _, err := r.c.Run(t.Context(), computer.Command{ID: "knock", Args: []string{"python3", "-c", "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))", g.port}}); err != nil {
		t.Fatal(err)
	}
	r.said(2)
}

// clean is what was seen without the browser's own numbers.
func clean(s *Seen) Seen {
	out := *s
	for _, at := range []*Sight{&out.Before, &out.After} {
		at.Nodes = slices.Clone(at.Nodes)
		for i := range at.Nodes {
			at.Nodes[i].id = 0
		}
	}
	return out
}

func TestPagesThatTakeAll(t *testing.T) {
	t.Parallel()
	face(t, greedy)
}

func TestPagesThatWantOut(t *testing.T) {
	t.Parallel()
	face(t, leaving)
}
