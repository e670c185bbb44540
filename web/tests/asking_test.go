package tests

import (
	"strings"
	"testing"
)

// TestTheFirstQuestion: an empty page begins with a question; the form that follows has it, a name for it, models with
// their keys and prices, and says all that is wrong at once, at the fields.
func TestTheFirstQuestion(t *testing.T) {
	t.Parallel()
	h := home(t)
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Until(`document.querySelector('main textarea') && document.querySelector('.examples')`)
	tab.Eval(`(() => { const e = document.querySelector('main textarea'); Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(e, 'How many primes are there below 100?');
		e.dispatchEvent(new Event('input', { bubbles: true })); return true })()`, nil)
	tab.Click("button", "Ask it")
	find(tab)
	tab.Until(`field('Question')?.value === 'How many primes are there below 100?' && field('Name').value === 'how-many-primes-are-there-below-100'`)
	if !tab.Is(`(() => { const all = [...document.querySelectorAll('datalist option')]; return all[0].value === 'demo' && all.some((o) => o.label.includes('needs ') && o.label.includes('a million tokens')) })()`) {
		t.Errorf("the models that are offered have no keys or prices: %q", tab.Text("datalist"))
	}
	tab.Until(`document.querySelector('.estimate')?.innerText.includes('It costs nothing')`)

	fill(tab, "Name", "No Name!")
	fill(tab, "Agents", "none")
	fill(tab, "Time", "soon")
	tab.Click("button", "Start the quest")
	tab.Until(`['Name', 'Agents', 'Time'].every((name) => field(name).getAttribute('aria-invalid') === 'true') && document.activeElement === field('Name')`)

	fill(tab, "Name", "counted")
	fill(tab, "Agents", "3")
	fill(tab, "Time", "10m")
	choose(tab, "Computer", "none")
	tab.Eval(`(() => { const t = new DataTransfer(); t.items.add(new File(['2\n3\n5\n'], 'known.csv')); const e = document.querySelector('input[type=file]'); e.files = t.files;
		e.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, nil)
	tab.Until(`document.querySelector('.drop')?.innerText.includes('data/known.csv') && document.querySelector('details .pre')?.textContent.includes('data: data')`)
	tab.Sound()
	if got := lyceum(t, h, "list"); strings.Contains(got, "counted") {
		t.Errorf("a quest that was only written down is there: %s", got)
	}
}
