package tests

import (
	"testing"

	"lyceum/web/tests/browsertest"
)

// TestTheTheme follows the system until a person picks one, which then stays.
func TestTheTheme(t *testing.T) {
	t.Parallel()
	const light, dark = "rgb(250, 249, 247)", "rgb(20, 21, 23)"
	tab := chromium(t).Tab(t, readers(t))
	paper := func(want, when string) {
		t.Helper()
		var got string
		tab.Eval(`getComputedStyle(document.body).backgroundColor`, &got)
		if got != want {
			t.Errorf("%s the paper is %s, want %s", when, got, want)
		}
	}
	pick := func(theme string) {
		t.Helper()
		tab.Eval(`(() => { const s = [...document.querySelectorAll('select')].find((e) => [...e.options].some((o) => o.value === 'dark'));
			Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, `+browsertest.Quote(theme)+`);
			s.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, nil)
	}
	for _, system := range []struct {
		dark  bool
		paper string
	}{{false, light}, {true, dark}} {
		tab.Do(browsertest.Scheme(system.dark))
		tab.Go("#/")
		pick("system")
		paper(system.paper, "as the system says")
		pick("dark")
		paper(dark, "picked dark")
		tab.Fresh("#/")
		paper(dark, "picked dark, and loaded again")
		pick("light")
		paper(light, "picked light")
	}
	tab.Sound()
}
