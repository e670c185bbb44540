package tests

import (
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"
)

func TestAClaim(t *testing.T) {
	t.Parallel()
	t.Run("LeadsToTheWordsItRestsOn", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Click(".quest-card a", "thermal")
		tab.Until(`document.querySelector('h1')?.innerText.startsWith('thermal')`)
		tab.Go("#/q/thermal")
		tab.Click("nav a", "Evidence")
		tab.Until(`document.querySelector('.claim-text')`)
		if tab.Is(`document.querySelector('.source')`) {
			t.Error("a source is open before a claim was chosen")
		}
		tab.Click(".claim-text", "")
		tab.Until(`document.querySelector('.source')`)
		tab.Do(browsertest.Settled())
		standing(t, tab)
		tab.Sound()
	})
	t.Run("IsReachedFromANumberInTheAnswer", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/q/thermal")
		tab.Click("section a", "[")
		tab.Until(`location.hash.includes('evidence') && document.querySelector('.source')`)
		tab.Do(browsertest.Settled())
		standing(t, tab)
		if !tab.Is(`document.querySelector('.claim.chosen')`) {
			t.Error("no claim is shown to rest on it")
		}
		tab.Sound()
	})
	t.Run("ShowsThePlotOfItsFit", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/q/thermal/evidence")
		tab.Click(".claim-text", "By arrhenius")
		tab.Until(`document.querySelector('.source img.plot')?.complete`)
		var plot struct {
			Width, Height int
			Alt           string
		}
		tab.Eval(`(() => { const i = document.querySelector('.source img.plot'); return { Width: i.naturalWidth, Height: i.naturalHeight, Alt: i.alt } })()`, &plot)
		if plot.Width != 640 || plot.Height != 420 || !strings.Contains(plot.Alt, "arrhenius") {
			t.Errorf("the plot on the page: got %+v, want the picture of 640 by 420 that arrhenius drew", plot)
		}
		tab.Sound()
	})
	t.Run("IsSaidToBeChangedIfItsSourceWas", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		// What a tampered server would send: the same hash, other words.
		tab.Eval(`(() => { const real = window.fetch; window.fetch = async (...args) => {
			const answer = await real(...args);
			if (!String(args[0]).includes('/evidence')) return answer;
			const body = await answer.json();
			for (const s of body.sources) { if (s.text) s.text += ' Not so.'; if (s.snippet) s.snippet += ' Not so.' }
			return new Response(JSON.stringify(body), { status: 200, headers: { 'Content-Type': 'application/json' } });
		}; return true })()`, nil)
		tab.Eval(`location.hash = '#/q/thermal/evidence', true`, nil)
		tab.Click(".claim-text", "")
		tab.Until(`document.querySelector('[data-verdict="different"]')`)
		if said := tab.Text(`[data-verdict]`); !strings.Contains(said, "It was changed") {
			t.Errorf("it says %q", said)
		}
	})
}

// standing checks that the sources shown are marked, and that their hashes are what the browser
// computes here, by its own means.
func standing(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	var shown []struct{ Verdict, Hash, Found, Marked string }
	tab.Eval(`Promise.all([...document.querySelectorAll('.source')].map(async (s) => {
		const mark = s.querySelector('[data-verdict]');
		const bytes = new TextEncoder().encode(s.querySelector('blockquote').textContent);
		const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
		return { Verdict: mark.dataset.verdict, Hash: mark.title, Found: [...sum].map((b) => b.toString(16).padStart(2, '0')).join(''),
			Marked: [...s.querySelectorAll('mark')].map((m) => m.textContent).join(' ') };
	}))`, &shown)
	if len(shown) == 0 {
		t.Fatal("no source is shown")
	}
	marked := false
	for _, s := range shown {
		if s.Verdict != "same" || s.Hash != s.Found {
			t.Errorf("the page says %q; the hash is %s, and of the words that are shown %s", s.Verdict, s.Hash, s.Found)
		}
		marked = marked || s.Marked != ""
	}
	if !marked {
		t.Error("no words are marked")
	}
}

func TestTwoRuns(t *testing.T) {
	t.Parallel()
	t.Run("AreComparedSideBySide", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Click("nav a", "Compare")
		tab.Until(`document.querySelector('select[aria-label="First quest"] option:nth-child(2)')`)
		pick(tab, "First quest", "thermal")
		pick(tab, "Second quest", "thermal-strict")
		tab.Until(`document.querySelector('.alike .figure')`)
		tab.Do(browsertest.Settled())
		page := tab.Text("main")
		for _, words := range []string{"thermal-strict", "alike", "Cost and time", "Spec", "strict", "Evidence"} {
			if !strings.Contains(page, words) {
				t.Errorf("the comparison does not say %q:\n%.600s", words, page)
			}
		}
		if !tab.Is(`document.querySelector('.aligned .vrow')`) {
			t.Error("no steps are set side by side")
		}
		tab.Sound()
	})
}

// pick chooses in a list that an aria-label names.
func pick(tab *browsertest.Tab, label, value string) {
	tab.Eval(`(() => { const e = document.querySelector('select[aria-label=`+browsertest.Quote(label)+`]');
		Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(e, `+browsertest.Quote(value)+`);
		e.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, nil)
}
