package tests

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/web/tests/browsertest"
)

// speaker is a model that says a word when the test gives it one. An empty one ends the
// answer: the first with a tool call, so that another follows.
func speaker(t testing.TB) (url string, words chan string) {
	t.Helper()
	words = make(chan string)
	var answers atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") { // it is asked what it can see
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		end := `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"calculate","arguments":"{\"code\":\"print(1)\"}"}}]},"finish_reason":"tool_calls"}]}`
		if answers.Add(1) > 1 {
			end = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
		}
		for {
			select {
			case <-r.Context().Done():
				return
			case word := <-words:
				if word == "" {
					fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", end)
					return
				}
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", browsertest.Quote(word))
				_ = flush.Flush() // a reader that is gone ends the request
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, words
}

// parrot is a quest on a server, with a speaker for a model.
func parrot(t testing.TB, name string) (h browsertest.Home, s *browsertest.Server, words chan string) {
	t.Helper()
	url, words := speaker(t)
	h = home(t)
	must(t, put(h.Dir, map[string]string{"config.yaml": "providers:\n  parrot: {api: openai, url: " + url + "}\n"}))
	lyceum(t, h, "create", folder(t, map[string]string{"quest.yaml": "name: " + name + "\nproblem: What do you say?\nmodel: parrot/grey\ntools: [calculate]\n"}))
	return h, serve(t, h), words
}

// begin starts a quest, and not by the button, which opens the stream anew: what is said in
// between is not said again.
func begin(tab *browsertest.Tab, name string) {
	tab.T().Helper()
	tab.Eval(`fetch('/api/quests/`+name+`/control', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Lyceum-Key': localStorage.getItem('lyceum-key') }, body: '{"action":"start"}' }).then((r) => r.ok)`, nil)
}

func TestStreamedWords(t *testing.T) {
	t.Parallel()
	t.Run("GrowOnThePageAndGiveWayToTheirEvent", func(t *testing.T) {
		t.Parallel()
		h, s, words := parrot(t, "said")
		overview, agent := chromium(t).Tab(t, s), chromium(t).Tab(t, s)
		agent.Go("#/q/said/agents/agent-0")
		overview.Go("#/q/said")
		begin(overview, "said")
		for _, tab := range []*browsertest.Tab{overview, agent} {
			tab.Until(`seen.seqs.length >= 2`)
		}
		// Each ends with what begins no secret: a letter might be held back until one knows how it goes on, as that
		// of a token of this server.
		const hostile = "<img src=x onerror=alert(1)> \u202eturned."
		so := ""
		for _, word := range []string{"First ", "second ", hostile, " third."} {
			words <- word
			so += word
			want := browsertest.Quote(strings.ReplaceAll(so, "\u202e", "RLO"))
			// Both see it before the ledger has anything of it.
			overview.Until(`document.querySelector('.team .saying')?.textContent === ` + want)
			agent.Until(`document.querySelector('.message.live .said-text')?.textContent === ` + want)
		}
		if trace := lyceum(t, h, "trace", "said", "--jsonl"); strings.Contains(trace, "second") {
			t.Fatal("what is being said is in the ledger already: this proves nothing")
		}
		harmless(t, overview)
		words <- ""
		// The agent thinks on, and has said nothing new yet: what it said is an event now, once.
		agent.Until(`document.querySelectorAll('.message[data-number]').length === 2 && !document.querySelector('.message.live')`)
		overview.Until(`document.querySelector('.team .doing')?.innerText === 'thinking' && !document.querySelector('.team .saying')`)
		if n := strings.Count(agent.Text("main"), "First second"); n != 1 {
			t.Errorf("between two answers the words of the first stand there %d times", n)
		}
		words <- "So be it."
		agent.Until(`document.querySelector('.message.live .said-text')?.textContent === 'So be it.'`)
		words <- ""
		for tab, times := range map[*browsertest.Tab]int{overview: 3, agent: 1} { // the answer, also in a line, and among what matters
			tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
			tab.Do(browsertest.Settled())
			if tab.Is(`document.querySelector('.saying, .message.live')`) {
				t.Error("what was said is still shown as being said")
			}
			if n := strings.Count(tab.Text("main"), "So be it."); n != times {
				t.Errorf("%s: the words stand there %d times", tab.Text(".tabs [aria-current]"), n)
			}
			harmless(t, tab)
		}
	})
	// A long answer that somebody reads while it is given: then it is an event, in the same place.
	t.Run("StayWhereTheyAreReadWhenTheirEventComes", func(t *testing.T) {
		t.Parallel()
		_, s, words := parrot(t, "long")
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/long/agents/agent-0")
		begin(tab, "long")
		tab.Until(`seen.seqs.length >= 2`)
		words <- strings.Repeat("What is said takes room, and is read while it is said.\n\n", 120)
		tab.Until(`document.querySelector('.message.live')?.offsetHeight > 3000`)
		tab.Eval(`(() => {
			window.scrollTo(0, 1500);
			const from = scrollY; window.frames = { gaps: 0, moved: 0 };
			const look = () => {
				if (!document.querySelector('.message.live, .message[data-number="1"]')) frames.gaps++;
				frames.moved = Math.max(frames.moved, Math.abs(scrollY - from));
				requestAnimationFrame(look);
			};
			look();
			return true;
		})()`, nil)
		words <- ""
		tab.Until(`document.querySelector('.message[data-number="1"]') && !document.querySelector('.message.live')`)
		words <- "So be it."
		words <- ""
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		var frames struct{ Gaps, Moved float64 }
		tab.Eval(`window.frames`, &frames)
		if frames.Gaps > 0 || frames.Moved > 2 {
			t.Errorf("the words were gone for %.0f frames, and the page moved by %.0f px", frames.Gaps, frames.Moved)
		}
		if !tab.Is(`getComputedStyle(document.documentElement).overflowAnchor === 'none'`) {
			t.Error("the browser moves the page too, by what stands below the list")
		}
		tab.Sound()
	})
	t.Run("OfTheScriptModelComeBeforeTheirEvent", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "script", 12, "120ms"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/script")
		// What the stream brought, in its order.
		tab.Eval(`(() => { window.heard = []; const on = EventSource.prototype.addEventListener;
			EventSource.prototype.addEventListener = function (name, f) { return on.call(this, name, (e) => { heard.push(name === 'delta' ? JSON.parse(e.data).text : name); f(e) }) };
			return true })()`, nil)
		tab.Click("button", "Start")
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Until(`heard.includes('end')`)
		var heard string
		tab.Eval(`heard.join('')`, &heard)
		if !strings.Contains(heard, "Once more.") {
			t.Errorf("the stream brought %.300q", heard)
		}
		tab.Sound()
	})
}

func TestATerminal(t *testing.T) {
	t.Parallel()
	sandboxed(t)
	// What a program may print to take a terminal over: colours, a cleared screen, a moved
	// cursor, a title, a link, a bell, a carriage return over what was there.
	const loud = `\033[31mred\033[0m \033[2J\033[Hhome \033]0;owned\007 \033]8;;javascript:alert(1)\033\\\\link\033]8;;\033\\\\ over\rwritten <script>window.__pwned=1</script> <img src=x onerror=alert(1)> \342\200\256turned`
	h := home(t)
	lyceum(t, h, "run", folder(t, map[string]string{
		"quest.yaml": "name: shell\nproblem: Who is there?\nmodel: script:plan.yaml\ncomputer: bubblewrap\ntools: [exec]\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: ` + yaml("printf '"+loud+"\\n'; echo to the other side >&2; exit 3") + `}}]
  - on: {turn: 2}
    call: [{tool: exec, args: {command: ` + yaml("echo kept > '<img src=x onerror=alert(1)>.txt'") + `}}]
  - on: {until_turn: 460}
    call: [{tool: exec, args: {command: "echo line ${turn}; echo more of ${turn}"}}]
  - say: "It is quiet."
`,
	}))
	s := serve(t, h)
	t.Run("ShowsCommandsWithWhatTheyPrintedAndHowTheyEnded", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/shell/agents/agent-0")
		tab.Click("nav a", "Terminal")
		tab.Until(`document.querySelector('.terminal .tline')`)
		// It begins where a terminal is read: at its end.
		tab.Until(`document.querySelector('.terminal').innerText.includes('more of 460')`)
		top(tab)
		reads(t, tab, ".tline.run", "printf")
		reads(t, tab, ".tline.stderr", "to the other side")
		reads(t, tab, ".tline.exit.failed", "exit 3")
		reads(t, tab, ".tline.files", "<img src=x onerror=alert(1)>.txt")
		tab.Sound()
	})
	t.Run("IsNotTakenOverByWhatIsPrinted", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/shell/agents/agent-0?tab=terminal")
		top(tab)
		reads(t, tab, ".tline.stdout", "ESC[31mredESC[0m", "ESC[2JESC[Hhome", "ESC]0;ownedBEL", "overCRwritten", "<script>window.__pwned=1</script>", "RLOturned")
		if tab.Is(`/[\u001b\u0007\u202e]/.test(document.querySelector('.terminal').textContent)`) {
			t.Error("a control character is still one")
		}
		if title := tab.Text("title"); strings.Contains(title, "owned") {
			t.Errorf("the title is %q", title)
		}
		harmless(t, tab)
	})
	t.Run("OfThousandsOfLinesLosesNone", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/shell/agents/agent-0?tab=terminal")
		var walk struct {
			Missing []int
			Most    int
		}
		tab.Eval(`(async () => {
			const box = document.querySelector('.terminal'), seen = new Set(); let most = 0;
			const frame = () => new Promise((done) => requestAnimationFrame(done));
			for (let still = 0; still < 30;) {
				for (const l of box.querySelectorAll('.tline')) { const m = /^line (\d+)/.exec(l.textContent); if (m) seen.add(Number(m[1])) }
				most = Math.max(most, box.querySelectorAll('.tline').length);
				const before = box.scrollTop; box.scrollTop -= 400; await frame(); await frame();
				still = before === 0 && box.scrollTop === 0 ? still + 1 : 0;
			}
			const missing = []; for (let n = 3; n <= 460; n++) if (!seen.has(n)) missing.push(n);
			return { Missing: missing, Most: most };
		})()`, &walk)
		if len(walk.Missing) > 0 || walk.Most > 250 {
			t.Errorf("of 458 lines %v are never shown; %d exist at once", walk.Missing, walk.Most)
		}
		tab.Click("button", "Newest")
		tab.Until(`document.querySelector('.terminal').innerText.includes('more of 460')`)
		tab.Sound()
	})
}

// top goes to the first line of a terminal, which is read on the way.
func top(tab *browsertest.Tab) {
	tab.Until(`document.querySelector('.terminal') && (document.querySelector('.terminal').scrollTop = 0, document.querySelector('.terminal').innerText.includes('printf') && document.querySelector('.tline.stdout'))`)
}
