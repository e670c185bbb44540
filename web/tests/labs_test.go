package tests

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lyceum/web/tests/browsertest"
)

// academy is a home in which the example of a lab has run: its papers have programs and
// reviews, one is rejected and revised, and one has the votes.
var academy = sync.OnceValues(func() (browsertest.Home, error) {
	bin, err := program()
	h := browsertest.Home{Bin: bin}
	// Its agents work at the same time: if all have voted before the author of the wrong paper has read its
	// reviews, the lab is over without a revision. Then there is another.
	for n := 0; err == nil && n < 10; n++ {
		h.Dir = filepath.Join(shared, fmt.Sprint("academy", n))
		if _, err = h.Lyceum("run", root+"/examples/lab-number/quest.yaml"); err != nil {
			break
		}
		var papers string
		if papers, err = h.Lyceum("trace", "lab-number", "--type", "publication.submitted", "--jsonl"); strings.Contains(papers, `"revises"`) {
			return h, err
		}
	}
	return h, errors.Join(err, errors.New("no lab had a revision"))
})

func academics(t testing.TB) *browsertest.Server {
	t.Helper()
	chromium(t)
	sandboxed(t)
	h, err := academy()
	must(t, err)
	return serve(t, h)
}

// answer asks the server from within the page, and hands the answer to an expression.
func answer(tab *browsertest.Tab, path, expression string, into any) {
	tab.T().Helper()
	tab.Eval(fmt.Sprintf(`(async () => { const a = await (await ask('/api%s')).json(); return %s })()`, path, expression), into)
}

func TestThePapers(t *testing.T) {
	t.Parallel()
	s := academics(t)
	t.Run("AreListedWithTheirStanding", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/lab-number/papers")
		var papers []struct {
			Title, Status, Reproduction string
			Cited, Votes                int
		}
		answer(tab, "/quests/lab-number/papers", `a.papers.map((p) => ({ Title: p.title, Status: p.status.toLowerCase(), Reproduction: p.reproduction, Cited: p.cited, Votes: p.votes }))`, &papers)
		tab.Until(fmt.Sprintf(`document.querySelectorAll('.paper-row .title').length === %d`, len(papers)))
		rejected := 0
		for i, p := range papers {
			if p.Status == "rejected" {
				rejected++
			}
			row := tab.Text(fmt.Sprintf(".papers li:nth-child(%d)", i+1))
			for _, want := range []string{p.Title, p.Status, p.Reproduction} {
				if !strings.Contains(row, want) {
					t.Errorf("of paper %d %q is not shown: %q", i, want, row)
				}
			}
			// A figure is shown where there is one.
			for name, n := range map[string]int{"cited": p.Cited, "votes": p.Votes} {
				if strings.Contains(row, name+"\n"+strconv.Itoa(n)) != (n > 0) {
					t.Errorf("of paper %d, %s %d times, is shown: %q", i, name, n, row)
				}
			}
		}
		tab.Click("button", "rejected")
		tab.Until(`document.querySelectorAll('.paper-row .title').length === ` + strconv.Itoa(rejected) + ` && document.querySelectorAll('.papers .badge.bad').length === ` + strconv.Itoa(rejected))
		if rejected == 0 {
			t.Error("none was rejected: this proves nothing of the filter")
		}
		tab.Sound()
	})
	t.Run("AreReadWithAllThatBelongsToThem", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		var revision string
		answer(tab, "/quests/lab-number/papers", `a.papers.find((p) => p.revises).ref`, &revision)
		tab.Go("#/q/lab-number/papers/" + revision)
		if !tab.Is(`document.querySelector('.diff .add') && document.querySelector('.diff .del')`) {
			t.Error("what a revision changed is not shown")
		}
		if n := tab.Text(".review"); strings.Count(n, "event") < 2 {
			t.Errorf("its reviews are %q", n)
		}
		if !tab.Is(`(() => { const [a, b] = [...document.querySelectorAll('.review')].map((r) => r.getBoundingClientRect()); return a.top === b.top && b.left > a.right })()`) {
			t.Error("the reviews do not stand side by side")
		}
		if !tab.Is(`document.querySelector('article pre.code .hl-k')`) {
			t.Error("its program is not coloured")
		}
		tab.Click("article aside button", "show")
		tab.Until(`document.querySelector('article aside .hash.good')`)
		reads(t, tab, "article aside", "Reproduction", "cited", "votes")
		tab.Sound()
	})
	t.Run("LeadToThoseThatCiteThem", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, scholars(t)))
		var refs []string
		answer(tab, "/quests/scholars/papers", `a.papers.map((p) => p.ref)`, &refs)
		altered(tab, `if (path.endsWith('`+refs[0]+`')) body.cited_by = [{ ref: '`+refs[1]+`', title: 'The one that cites', author: 'agent-2', self: false }]`)
		tab.Fresh("#/q/scholars/papers/" + refs[0])
		reads(t, tab, "article aside", "Cited by", "agent-2")
		tab.Click("article aside a", "The one that cites")
		tab.Until(`location.hash.includes('` + refs[1] + `')`)
		tab.Sound()
	})
	t.Run("HaveTheirFormulasDrawn", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, scholars(t)))
		tab.Go("#/q/scholars/papers/" + firstPaper(tab))
		tab.Until(`document.querySelectorAll('.prose .katex').length >= 2 && document.querySelector('.prose .formula.display') && document.querySelector('.prose table td.right') && document.querySelector('.prose ul li')`)
		tab.Sound()
	})
}

func TestAnAgentsPage(t *testing.T) {
	t.Parallel()
	s := academics(t)
	tab := chromium(t).Tab(t, s)
	t.Run("FoldsThoughtsAndShowsCallsWithTheirOutput", func(t *testing.T) {
		tab.In(t).Go("#/q/lab-number/agents/agent-0")
		if tab.Is(`[...document.querySelectorAll('.thought, .call')].some((d) => d.open && !d.innerText.includes('failed'))`) {
			t.Error("something is unfolded that nobody unfolded")
		}
		tab.Eval(`[...document.querySelectorAll('.call')].find((c) => c.innerText.includes('exec')).querySelector('summary').click(), true`, nil)
		tab.Until(`[...document.querySelectorAll('.call[open] .pre')].some((p) => p.innerText.includes('121'))`)
	})
	t.Run("ShowsTheFilesOfAnyMoment", func(t *testing.T) {
		tab.In(t).Go("#/q/lab-number/agents/agent-0?tab=files")
		now := tab.Text(".listing")
		tab.Eval(`(() => { const e = document.querySelector('#version'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, '0'); e.dispatchEvent(new Event('input', { bubbles: true })); return true })()`, nil)
		tab.Until(`location.hash.includes('at=')`)
		tab.Do(browsertest.Settled())
		if then := tab.Text(".listing, .state"); then == now {
			t.Errorf("after the first change there is the same as now: %q", then)
		}
		tab.Go("#/q/lab-number/agents/agent-0?tab=files&path=programs")
		tab.Click(".file .link", "squarefree")
		tab.Until(`document.querySelector('.files pre.code')?.innerText.includes('awk')`)
	})
	t.Run("DrawsTokensAndCost", func(t *testing.T) {
		tab.In(t).Go("#/q/lab-number/agents/agent-0?tab=cost")
		tab.Until(`/[LHV]/.test(document.querySelector('.chart-box path.curve')?.getAttribute('d') ?? '')`)
	})
	t.Run("ShowsBeliefsDesiresAndIntentions", func(t *testing.T) {
		mind := chromium(t).Tab(t, readers(t))
		mind.Go("#/q/thermal/agents/planner?tab=mind")
		reads(t, mind, ".mind", "Beliefs", "Desires", "Intentions", "task", "event 3")
		mind.Sound()
	})
	tab.In(t).Sound()
}

func TestTheListOfQuests(t *testing.T) {
	t.Parallel()
	t.Run("SaysHowEachStands", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "run", folder(t, map[string]string{
			"quest.yaml": "name: costly\nproblem: How much?\nmodel: script:plan.yaml\ntools: [calculate]\nlimits: {cost: 5}\n",
			"plan.yaml":  "rules:\n  - say: This much.\n",
		}))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Until(`document.querySelector('.quest-card')`)
		reads(t, tab, ".quest-card", "costly", "finished", "society", "solo", "agents", "agreement", "$0.00 of $5.00")
		if !tab.Is(`document.querySelector('.quest-card .spark rect') && document.querySelector('.quest-card [role=meter]')`) {
			t.Error("its activity or its budget is not drawn")
		}
		tab.Go("#/q/costly")
		if got := strings.Join(strings.Fields(tab.Text("section[aria-label=Budget]")), " "); !strings.Contains(got, "Cost $0.00 of $5.00") || !strings.Contains(got, "Turns 1") {
			t.Errorf("of its budget the quest's page says %q", got)
		}
		if !tab.Is(`document.querySelector('section[aria-label=Budget] [role=meter][aria-label=Cost]')`) {
			t.Error("its budget is not drawn on the quest's page")
		}
		tab.Sound()
	})
	t.Run("OffersEveryExample", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, home(t)))
		tab.Until(`document.querySelector('.examples')`)
		tab.Eval(`[...document.querySelectorAll('.examples .card')].find((c) => c.querySelector('h2').innerText === 'primes').querySelector('button').click(), true`, nil)
		tab.Until(`document.querySelector('h1')?.innerText === 'primes' && document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Until(`document.querySelector('#answer')?.closest('section').querySelector('.prose')`)
		tab.Sound()
	})
	t.Run("TakesAnUploadAndSaysAtWhichLineItIsWrong", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, home(t)))
		tab.Go("#/new")
		tab.Click("[role=tab]", "By upload")
		upload := func(files map[string]string) {
			tab.Eval(fmt.Sprintf(`(() => { const t = new DataTransfer(), files = %s; for (const [name, text] of Object.entries(files)) t.items.add(new File([text], name));
				const e = document.querySelector('input[type=file]'); e.files = t.files; e.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, object(files)), nil)
		}
		upload(map[string]string{"quest.yaml": "name: up\nproblem: Is it?\nmodle: demo\n"})
		tab.Until(`document.querySelector('.note.bad')?.innerText.includes('Line 3')`)
		if !tab.Is(`document.querySelector('details[open] mark')?.innerText.includes('modle') && [...document.querySelectorAll('button')].find((b) => b.innerText === 'Start the quest').disabled`) {
			t.Error("the line is not marked, or the quest can be started")
		}
		upload(map[string]string{"quest.yaml": "name: up\nproblem: Is it?\nmodel: script:plan.yaml\ntools: [calculate]\n", "plan.yaml": "rules:\n  - say: It is.\n"})
		tab.Until(`[...document.querySelectorAll('button')].some((b) => b.innerText === 'Start the quest' && !b.disabled)`)
		tab.Click("button", "Start the quest")
		tab.Until(`document.querySelector('#answer')?.closest('section').innerText.includes('It is.')`)
		tab.Sound()
	})
}

func object(files map[string]string) string {
	var parts []string
	for name, text := range files {
		parts = append(parts, browsertest.Quote(name)+": "+browsertest.Quote(text))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
