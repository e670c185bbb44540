package tests

import (
	"strings"
	"testing"
)

// TestTheTableOfQuests: question and answer of each, sorted, grouped, with columns to choose, and several side by side.
func TestTheTableOfQuests(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("#/")
	tab.Until(`document.querySelectorAll('.quest-card').length === 4`)
	card := func(name string) string {
		return `[...document.querySelectorAll('.quest-card')].find((c) => c.querySelector('.name a').innerText === '` + name + `')`
	}
	var said string
	tab.Eval(card("demo-number")+`.innerText`, &said)
	for _, want := range []string{"How many primes are there below 10,000?", "1229", "one agent's word", "solo"} {
		if !strings.Contains(said, want) {
			t.Errorf("the row of a quest says %q, want %q in it", said, want)
		}
	}
	if got := tab.Text(".quests-bar"); !strings.HasPrefix(got, "4 quests, $0.00 in all") {
		t.Errorf("above the list stands %q, want how many there are and what they cost", got)
	}
	pick := func(label, value string) {
		tab.Eval(`(() => { const s = document.querySelector('select[aria-label="`+label+`"]'); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, '`+value+`'); s.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, nil)
	}
	pick("Sort by", "name")
	tab.Until(`document.querySelector('.quest-card .name a').innerText === 'demo-number'`)
	pick("Group", "society")
	tab.Until(`document.querySelectorAll('.quest-group').length === 2`)
	tab.Eval(`document.querySelector('.columns-menu').open = true, [...document.querySelectorAll('.columns-menu label')].find((l) => l.innerText === 'model').click(), true`, nil)
	tab.Until(`document.querySelector('.quest-cells .model')`)
	tab.Eval(`['thermal', 'thermal-strict', 'demo-number'].forEach((n) => [...document.querySelectorAll('.quest-card')].find((c) => c.querySelector('.name a').innerText === n).querySelector('input').click()), true`, nil)
	tab.Until(`document.querySelectorAll('.side-by-side thead a').length === 3`)
	tab.Sound()
	tab.Eval(card("demo-number")+`.querySelector('input').click(), true`, nil)
	tab.Click(".quests-bar a", "Step by step")
	tab.Until(`location.hash.includes('compare?a=thermal') && document.querySelector('h1')?.innerText === 'Compare'`)
}
