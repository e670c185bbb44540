package tests

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// keep has the page note what it showed on its way, for what is gone when one looks.
const keep = `window.kept = { doing: new Set(), counts: [], status: [] };
new MutationObserver(() => {
	for (const e of document.querySelectorAll('.team .doing')) kept.doing.add(e.innerText);
	const count = document.querySelector('a[href$="/timeline"] .count')?.innerText;
	if (count && kept.counts.at(-1) !== count) kept.counts.push(count);
	const status = document.querySelector('.questbar .badge')?.innerText;
	if (status && kept.status.at(-1) !== status) kept.status.push(status);
}).observe(document.body, { subtree: true, childList: true, characterData: true }); true`

func TestAQuest(t *testing.T) {
	t.Parallel()
	t.Run("IsMadeByTheFormAndWatchedToItsEnd", func(t *testing.T) {
		t.Parallel()
		sandboxed(t)
		h := home(t)
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Eval(keep, nil) // also the proof that the page is never read anew
		tab.Click("a", "New quest")
		tab.Click("[role=tab]", "By form")
		fill(tab, "Name", "watched")
		choose(tab, "Society", "lab")
		fill(tab, "Model", "demo")
		fill(tab, "Question", "How many of the integers from 1 to 200,000 are squarefree?\n\nA number is squarefree if no square but 1 divides it.")
		fill(tab, "Agents", "3")
		choose(tab, "Computer", "bubblewrap")
		tab.Click("button", "Start the quest")
		tab.Until(`document.querySelector('h1')?.innerText === 'watched'`)
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Do(browsertest.Settled())
		watchedToItsEnd(t, tab, h)
		openAPaper(t, tab)
		tab.Sound()
	})
	t.Run("IsRefusedByTheFormWithTheReasonAtTheField", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, home(t)))
		tab.Go("#/new")
		tab.Click("[role=tab]", "By form")
		fill(tab, "Name", "No Such Name!")
		fill(tab, "Question", "Why?")
		tab.Until(`field('Name').getAttribute('aria-invalid') === 'true'`)
		if said := tab.Text(`[id="` + described(tab, "Name") + `"]`); !strings.Contains(said, "a-z") {
			t.Errorf("at the name it says %q", said)
		}
		tab.Sound()
	})
	t.Run("GrowsOnThePageWithoutAReload", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "grows", 30, "60ms"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/grows")
		tab.Eval(keep, nil)
		tab.Click("button", "Start")
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Until(`document.querySelector('#answer')?.closest('section').innerText.includes('Thirty times.')`)
		var kept struct {
			Doing, Counts, Status []string
			Seqs                  []uint64
		}
		tab.Eval(`({ Doing: [...kept.doing], Counts: kept.counts, Status: kept.status, Seqs: seen.seqs })`, &kept)
		if len(kept.Counts) < 5 {
			t.Errorf("the number of events was only %q", kept.Counts)
		}
		if got := strings.Join(kept.Status, " "); !strings.HasSuffix(got, "running finished") {
			t.Errorf("the quest was shown as %q", got)
		}
		if got := strings.Join(kept.Doing, " "); !strings.Contains(got, "thinking") {
			t.Errorf("the agent was shown as %q, never as thinking", got)
		}
		whole(t, kept.Seqs, true, events(t, h, "grows"))
		tab.Sound()
	})
}

// watchedToItsEnd checks what the page showed of a lab while it ran.
func watchedToItsEnd(t *testing.T, tab *browsertest.Tab, h browsertest.Home) {
	t.Helper()
	var kept struct {
		Doing, Counts []string
		Seqs          []uint64
	}
	tab.Eval(`({ Doing: [...kept.doing], Counts: kept.counts, Seqs: seen.seqs })`, &kept)
	if len(kept.Doing) < 2 {
		t.Errorf("agents were only shown as %q", kept.Doing)
	}
	if len(kept.Counts) < 3 {
		t.Errorf("the number of events was only %q", kept.Counts)
	}
	last := events(t, h, "watched")
	whole(t, kept.Seqs, false, last)
	if n := strings.ReplaceAll(kept.Counts[len(kept.Counts)-1], ",", ""); n != strconv.FormatUint(last, 10) {
		t.Errorf("the page says %s events, the ledger has %d", n, last)
	}
}

// openAPaper goes from a lab's answer to the paper, and to what was said of it.
func openAPaper(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	tab.Click(".answer-head a", "paper by")
	tab.Do(browsertest.Settled())
	if !strings.Contains(tab.Text("article section[aria-label=Text]"), "121") { // 121,581 of them are squarefree
		t.Errorf("the paper says %.300q", tab.Text("article"))
	}
	if tab.Text(".review") == "" {
		t.Error("the paper shows no review")
	}
}

// fill types into the field of a label, as a person would: what was in it goes first.
func fill(tab *browsertest.Tab, label, text string) {
	find(tab)
	tab.Until(fmt.Sprintf(`field(%s)`, browsertest.Quote(label)))
	tab.Eval(fmt.Sprintf(`field(%s).focus(), field(%[1]s).select(), true`, browsertest.Quote(label)), nil)
	tab.Do(chromedp.KeyEvent(text))
	tab.Eval(`document.activeElement.blur()`, nil)
}

// choose picks an option.
func choose(tab *browsertest.Tab, label, value string) {
	find(tab)
	tab.Until(fmt.Sprintf(`field(%s)`, browsertest.Quote(label)))
	tab.Eval(fmt.Sprintf(`(() => { const e = field(%s); e.focus(); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(e, %s);
		e.dispatchEvent(new Event('change', { bubbles: true })); return e.value === %[2]s })()`, browsertest.Quote(label), browsertest.Quote(value)), nil)
}

// find gives the page a word for the element that a label names.
func find(tab *browsertest.Tab) {
	tab.Eval(`window.field = (label) => [...document.querySelectorAll('label')].filter((l) => l.innerText.trim().startsWith(label))
		.map((l) => l.control).find(Boolean); true`, nil)
}

func described(tab *browsertest.Tab, label string) string {
	var id string
	tab.Eval(fmt.Sprintf(`(field(%s).getAttribute('aria-describedby') ?? '').split(' ').at(-1)`, browsertest.Quote(label)), &id)
	return id
}

// slow is a quest of so many turns, each of which takes a while.
func slow(t testing.TB, name string, turns int, delay string) string {
	t.Helper()
	return folder(t, map[string]string{
		"quest.yaml": "name: " + name + "\nproblem: How often?\nmodel: script:plan.yaml\ntools: [calculate]\n",
		"plan.yaml": fmt.Sprintf(`rules:
  - on: {until_turn: %d}
    delay: %s
    say: "Once more."
    call: [{tool: calculate, args: {code: "print(${turn})"}}]
  - say: "Thirty times."
`, turns, delay),
	})
}

// events is how many a quest's ledger has.
func events(t testing.TB, h browsertest.Home, quest string) uint64 {
	t.Helper()
	return uint64(strings.Count(lyceum(t, h, "trace", quest, "--jsonl"), "\n"))
}

// whole fails unless the page was sent every event once, in order, from the first that it
// did not know to the ledger's last. Of a quest that was only made it knew one.
func whole(t testing.TB, seqs []uint64, made bool, last uint64) {
	t.Helper()
	if len(seqs) == 0 {
		t.Fatal("the page was sent no events")
	}
	if made && seqs[0] != 2 {
		t.Errorf("the first event that came is %d, want 2", seqs[0])
	}
	for i, seq := range seqs {
		if want := seqs[0] + uint64(i); seq != want {
			t.Fatalf("event %d came after %d", seq, want-1)
		}
	}
	if got := seqs[len(seqs)-1]; got != last {
		t.Errorf("the last event that came is %d; the ledger's is %d", got, last)
	}
}
