package browser

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/event"
	"lyceum/internal/need"
)

func step(do, role, name, text string) event.WorldStep {
	return event.WorldStep{Do: do, At: event.WorldPlace{Role: role, Name: name}, Text: text}
}

// node is the first at a place.
func (s Sight) node(t *testing.T, role, name string) Node {
	t.Helper()
	i := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.At(event.WorldPlace{Role: role, Name: name}) })
	if i < 0 {
		t.Fatalf("there is no %s named %s:\n%s", role, name, lines(s))
	}
	return s.Nodes[i]
}

const form = `<!doctype html><html lang=en><title>Form</title>
<label>Name <input id=a value=old></label><label>Text <textarea id=t></textarea></label>
<label><input type=checkbox id=c> Agree</label><label>Colour <select id=s><option>red<option disabled>grey<option>green<option>blue</select></label>
<label>Many <select id=m size=3><option>one<option>two<option>three</select></label>
<div role=combobox aria-label=City tabindex=0 aria-expanded=false id=d>none</div><div role=listbox aria-label=Cities id=l hidden><div role=option>Rome</div><div role=option>Bonn</div></div>
<button disabled>Never</button><p role=status id=o></p>
<script>
const o = document.getElementById('o'), say = w => o.textContent += w + ';';
a.onkeydown = e => { if (e.isTrusted) say('key ' + e.key) };
s.onchange = e => say('colour ' + s.value + ' ' + e.isTrusted);
m.onchange = e => say('many ' + m.value + ' ' + e.isTrusted);
c.onclick = e => say('agree ' + c.checked + ' ' + e.isTrusted);
d.onclick = () => { l.hidden = false; d.setAttribute('aria-expanded', 'true') };
l.onclick = e => { d.textContent = e.target.textContent; say('city ' + e.isTrusted) };
</script>`

// TestStepsAreInput: what a page is told are events that a person's mouse and keyboard make.
func TestStepsAreInput(t *testing.T) {
	t.Parallel()
	r := enter(t)
	s := r.visit(form, step("type", "textbox", "Name", "ab"), step("press", "textbox", "Name", "Enter"), step("type", "textbox", "Text", "eins\nzwei ß"),
		step("click", "checkbox", "Agree", ""), step("select", "combobox", "Colour", "blue"), step("select", "listbox", "Many", "two"), step("select", "combobox", "City", "Bonn"))
	if s.End != Done {
		t.Fatalf("the visit ended with %s at %d: %s\n%s", s.End, s.Step, s.Why, lines(s.After))
	}
	if got := s.After.node(t, "textbox", "Name").Value; got != "ab" {
		t.Errorf("the name is %q, want ab in place of old", got)
	}
	if got := s.After.node(t, "textbox", "Text").Value; got != "eins zwei ß" {
		t.Errorf("the text is %q", got)
	}
	if before, after := s.Before.node(t, "checkbox", "Agree").Checked, s.After.node(t, "checkbox", "Agree").Checked; before != "false" || after != "true" {
		t.Errorf("the box was %q and is %q, want false and true", before, after)
	}
	if n := s.After.node(t, "button", "Never"); !n.Disabled {
		t.Error("the button is not disabled")
	}
	for _, want := range []string{"key a;", "key b;", "key Enter;", "agree true true;", "colour blue true;", "many two true;", "city true;"} {
		if !strings.Contains(s.After.Text, want) {
			t.Errorf("the page was not told %q: %q", want, s.After.Text)
		}
	}
	for _, c := range []struct {
		step event.WorldStep
		end  string
		why  string
	}{
		{step("click", "button", "Nowhere", ""), Missing, "there is no button named Nowhere"},
		{step("select", "combobox", "Colour", "pink"), Missing, "has no option"},
		{step("select", "combobox", "Colour", "grey"), Missing, "has no option"},
		{step("click", "", "", ""), Missing, "does not say where"},
		{step("type", "button", "Never", "x"), Missing, "disabled"},
		{step("press", "", "", "Turbo"), Error, "no key"},
		{step("dance", "", "", ""), Error, "no step"},
	} {
		s := r.visit(form, event.WorldStep{Do: "wait", Milliseconds: 1}, c.step)
		if s.End != c.end || s.Step != 1 || !strings.Contains(s.Why, c.why) {
			t.Errorf("%+v: got %s at %d (%s), want %s at 1 (%s)", c.step, s.End, s.Step, s.Why, c.end, c.why)
		}
		if c.end == Missing && len(s.After.Nodes) == 0 {
			t.Errorf("%+v: nothing was seen where it ended", c.step)
		}
	}
}

const chance = `<!doctype html><html lang=en><title>Chance</title><style>@keyframes k{from{margin-left:0}to{margin-left:300px}} b{animation:k 1s infinite alternate;display:block} i{transition:margin-left 5s;display:block}</style>
<p id=p></p><b>moves</b><i id=i>slides</i><label>Field <input id=f autofocus></label><button id=g>Go</button>
<script>
const out = [Math.random(), Math.random(), Date.now(), performance.now(), crypto.getRandomValues(new Uint32Array(3)), crypto.randomUUID(), new Date().toString(), navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, innerWidth, innerHeight, devicePixelRatio, matchMedia('(prefers-reduced-motion: reduce)').matches];
let frames = 0, ticks = 0; const f = () => { frames++; requestAnimationFrame(f) }; f(); setInterval(() => ticks++, 7);
const show = () => p.textContent = [out, frames, ticks, Date.now()].join(' ');
show(); g.onclick = () => { i.style.marginLeft = '100px'; show() };
new Worker(URL.createObjectURL(new Blob(['postMessage(Math.random() + " " + crypto.getRandomValues(new Uint8Array(4)))']))).onmessage = e => out.push(e.data);
</script>`

// TestTheSameTwice: clock, chance, viewport and locale are fixed, also in pictures.
func TestTheSameTwice(t *testing.T) {
	t.Parallel()
	r := enter(t)
	v := Visit{Files: files(map[string]string{"index.html": chance}), Entry: "index.html", Limit: patience, Picture: true, Steps: []event.WorldStep{
		step("type", "textbox", "Field", "hello"), {Do: "wait", Milliseconds: 12_345}, click("button", "Go"), step("press", "textbox", "Field", "End"),
	}}
	first := r.look(v)
	if first.End != Done {
		t.Fatalf("the first visit ended with %s: %s", first.End, first.Why)
	}
	for _, want := range []string{"Thu Jan 01 2026 00:00:00 GMT+0000", "en-US UTC 1280 800 1 true", " 1767225"} {
		if text := strings.ReplaceAll(first.After.Text, ",", " "); !strings.Contains(text, want) {
			t.Errorf("the page does not find %q: %s", want, text)
		}
	}
	for i := range 3 {
		if i == 1 { // in a new browser
			if err := r.b.down(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		again := r.look(v)
		for j, at := range []struct{ got, want Sight }{{clean(again).Before, clean(first).Before}, {clean(again).After, clean(first).After}} {
			if pictured := string(at.got.Picture) == string(at.want.Picture); !pictured {
				t.Errorf("look %d of visit %d has another picture", j, i)
			}
			at.got.Picture, at.want.Picture = nil, nil
			if !reflect.DeepEqual(at.got, at.want) {
				t.Errorf("look %d of visit %d:\n%+v\nwant\n%+v", j, i, at.got, at.want)
			}
		}
	}
}

// TestWithoutScripts is what a vacuous story is found by.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	r := enter(t)
	s := r.look(Visit{Files: files(map[string]string{"index.html": counter}), Entry: "index.html", Steps: []event.WorldStep{click("button", "More")}, NoScripts: true, Limit: patience})
	if s.End != Done || !strings.Contains(s.After.Text, "0") || s.After.Title != "Counter" || len(s.After.Console) != 0 {
		t.Errorf("without scripts: %s, text %q, title %q, console %q", s.End, s.After.Text, s.After.Title, s.After.Console)
	}
}

// TestAVisitHasItsFiles: what is in the tree is given, what is not is told; nothing is kept for
// the next visit.
func TestAVisitHasItsFiles(t *testing.T) {
	t.Parallel()
	r := enter(t)
	of := map[string]string{
		"a/index.html": `<!doctype html><html lang=en><title>T</title><link rel=stylesheet href=../s.css><p id=p>old</p><script src="m d.js"></script><script src=gone.js></script>`,
		"a/m d.js":     `document.cookie = 'a=1'; p.textContent = 'kept ' + localStorage.getItem('k'); localStorage.setItem('k', 'yes'); fetch('/a/x.json').then(r => r.json()).then(x => p.textContent += ' ' + x.n)`,
		"s.css":        `p { text-transform: uppercase }`, "a/x.json": `{"n": 7}`,
	}
	for range 2 {
		s := r.look(Visit{Files: files(of), Entry: "a/index.html", Limit: patience})
		if s.End != Done || s.Before.Text != "KEPT NULL 7" || s.Before.URL != Origin+"/a/index.html" {
			t.Errorf("%s %s: text %q at %s", s.End, s.Why, s.Before.Text, s.Before.URL)
		}
		want := []event.WorldRequest{{Method: "GET", URL: Origin + "/a/gone.js"}}
		for _, u := range []string{"/a/index.html", "/a/m%20d.js", "/a/x.json", "/s.css"} {
			want = append(want, event.WorldRequest{Given: true, Method: "GET", URL: Origin + u})
		}
		if !slices.Equal(s.After.Requests, want) {
			t.Errorf("asked for %v, want %v", s.After.Requests, want)
		}
	}
	if s := r.look(Visit{Files: files(of), Entry: "b.html", Limit: patience}); s.End != Error || !strings.Contains(s.Why, "b.html") {
		t.Errorf("an entry that is not there: %s, %s", s.End, s.Why)
	}
	if s := r.look(Visit{Files: files(of), Entry: "a/index.html", Limit: patience}); s.End != Done {
		t.Errorf("the page after it: %s, %s", s.End, s.Why)
	}
}

// processes are those of browsers in a computer.
func processes(t *testing.T, c *computer.Computer, id string) string {
	t.Helper()
	r, err := c.Run(t.Context(), computer.Command{ID: id, Args: []string{"sh", "-c", `for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline 2>/dev/null | grep -o '^[^ ]*chrom[^ ]*'; done; ls -d /tmp/browser-* 2>/dev/null; true`}})
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Stdout.Head)
}

// TestNothingIsLeft of a browser that was closed, nor of one that was lost.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	r := enter(t)
	if s := r.visit(counter); s.End != Done {
		t.Fatalf("the visit ended with %s: %s", s.End, s.Why)
	}
	if got := processes(t, r.c, "before"); !strings.Contains(got, "chrom") {
		t.Fatalf("there is no browser to begin with: %q", got)
	}
	// Killed in the middle of a visit: that one has crashed, and the next goes on.
	loop := Visit{Files: files(map[string]string{"index.html": page1(`console.log('here'); for(;;);`)}), Entry: "index.html", Limit: patience}
	ended := make(chan *Seen, 1)
	asked := make(chan struct{}, 9)
	inner := loop.Files
	loop.Files = func(path string) ([]byte, string, error) { asked <- struct{}{}; return inner(path) }
	go func() {
		s, err := r.b.Visit(t.Context(), loop)
		if err != nil {
			t.Errorf("a visit whose browser is killed: %v", err)
		}
		ended <- s
	}()
	<-asked
	if _, err := r.c.Run(t.Context(), computer.Command{ID: "murder", Args: []string{"sh", "-c", `for p in /proc/[0-9]*; do if tr '\0' ' ' <$p/cmdline 2>/dev/null | grep -q '^[^ ]*chrom.*remote-debugging-pipe'; then kill -9 ${p#/proc/}; fi; done; true`}}); err != nil {
		t.Fatal(err)
	}
	if s := <-ended; s == nil || s.End != Crash {
		t.Errorf("a visit whose browser is killed: got %+v, want a crash", s)
	}
	if s := r.visit(counter); s.End != Done {
		t.Errorf("the visit after it: %s, %s", s.End, s.Why)
	}
	if err := r.b.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if got := processes(t, r.c, "after"); got != "" {
		t.Errorf("left after Close: %q", got)
	}
	if _, err := r.b.Visit(t.Context(), loop); !errors.Is(err, errClosed) {
		t.Errorf("a visit after Close: %v", err)
	}
}

// TestAVisitEndsWithItsContext, and with its computer.
func TestAVisitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := enter(t)
	loop := Visit{Files: files(map[string]string{"index.html": page1(`for(;;);`)}), Entry: "index.html", Limit: patience}
	ctx, cancel := context.WithCancel(t.Context())
	inner := loop.Files
	loop.Files = func(path string) ([]byte, string, error) { cancel(); return inner(path) }
	if _, err := r.b.Visit(ctx, loop); !errors.Is(err, context.Canceled) {
		t.Errorf("a visit whose context ends: %v", err)
	}
	if s := r.visit(counter); s.End != Done {
		t.Errorf("the visit after it: %s, %s", s.End, s.Why)
	}
	stopped := make(chan error, 1)
	loop.Files = func(path string) ([]byte, string, error) {
		go func() { stopped <- r.c.Stop(context.WithoutCancel(t.Context())) }()
		return inner(path)
	}
	if s, err := r.b.Visit(t.Context(), loop); err == nil && s.End == Done {
		t.Errorf("a visit whose computer is stopped: %s", s.End)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop the computer: %v", err)
	}
}

// TestWithoutABrowser says how to get one.
func TestWithoutABrowser(t *testing.T) {
	t.Parallel()
	need.Programs(t, "bwrap")
	c := open(t, bubblewrap.New(bubblewrap.Options{}), computer.Spec{})
	_, err := Launch(t.Context(), c, Options{Program: "no-such-browser"})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "apt-get install chromium") {
		t.Errorf("without a browser: %v", err)
	}
	if got := processes(t, c, "after"); got != "" {
		t.Errorf("left: %q", got)
	}
	// What is no browser says nothing, or ends.
	for _, program := range []string{"cat", "true"} {
		if _, err := Launch(t.Context(), c, Options{Program: program, Start: 2 * time.Second}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s as a browser: %v", program, err)
		}
	}
	with := open(t, bubblewrap.New(bubblewrap.Options{}), computer.Spec{Network: computer.Network{Open: true}})
	if _, err := Launch(t.Context(), with, Options{}); err == nil || !strings.Contains(err.Error(), "network") {
		t.Errorf("in a computer with a network: %v", err)
	}
}

// TestInNamespaces: the driver without bubblewrap does as well, with limits.
func TestInNamespaces(t *testing.T) {
	t.Parallel()
	need.Programs(t, "chromium")
	c := open(t, namespaces.New(namespaces.Options{}), computer.Spec{Limits: computer.Limits{Memory: 1 << 30, Processes: 256, CPUs: 1000}})
	b, err := Launch(t.Context(), c, Options{Start: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	r := &room{t, c, b}
	if s := r.visit(counter, click("button", "More")); s.End != Done || !strings.Contains(s.After.Text, "1") {
		t.Errorf("in a computer of namespaces: %s %s %q", s.End, s.Why, s.After.Text)
	}
}
