package tests

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestTheKeyboard(t *testing.T) {
	t.Parallel()
	t.Run("ReachesWhatThePageIsFor", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		for place, want := range map[string][]string{
			"#/":                                   {"Skip to the content", "Quests", "Compare", "New quest", "thermal", "demo-number"},
			"#/q/unstarted":                        {"Start", "Message", "Fork", "Remove", "Overview", "Timeline"},
			"#/q/thermal/evidence":                 {"Evidence", "event"},
			"#/new":                                {"By form", "Start the quest"},
			"#/compare?a=thermal&b=thermal-strict": {"⇄", "thermal"},
		} {
			tab.Fresh(place)
			stops := walk(t, tab)
			for _, w := range want {
				if !strings.Contains(strings.Join(stops, "\n"), w) {
					t.Errorf("%s: Tab does not reach %q, only\n%s", place, w, strings.Join(stops, "\n"))
				}
			}
		}
		tab.Sound()
	})
	t.Run("SkipsToTheContent", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Fresh("#/")
		tab.Do(chromedp.KeyEvent(kb.Tab))
		if !tab.Is(`document.activeElement.innerText === 'Skip to the content' && document.activeElement.getBoundingClientRect().top >= 0`) {
			t.Error("the first stop is not a visible way past the head of the page")
		}
		tab.Do(chromedp.KeyEvent(kb.Enter))
		if !tab.Is(`document.activeElement.id === 'main'`) {
			t.Error("it does not lead to the content")
		}
	})
	t.Run("ClosesDialogsWithEscape", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/q/unstarted")
		for _, name := range []string{"Message", "Fork", "Remove"} {
			tab.Eval(fmt.Sprintf(`[...document.querySelectorAll('button')].find((b) => b.innerText === %s).focus(), true`, browsertest.Quote(name)), nil)
			tab.Do(chromedp.KeyEvent(kb.Enter))
			tab.Until(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
			// The focus stays in the dialog: what is behind it cannot be reached.
			for range 12 {
				tab.Do(chromedp.KeyEvent(kb.Tab))
				if !tab.Is(`document.querySelector('dialog[open]').contains(document.activeElement) || document.activeElement === document.body`) {
					t.Errorf("%s: Tab leaves the dialog", name)
					break
				}
			}
			tab.Do(chromedp.KeyEvent(kb.Escape))
			tab.Until(`!document.querySelector('dialog')`)
			if !tab.Is(fmt.Sprintf(`document.activeElement.innerText === %s`, browsertest.Quote(name))) {
				t.Errorf("%s: after Escape the focus is not where it was", name)
			}
		}
		tab.Sound()
	})
	t.Run("MovesThroughTheTimeline", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/q/thermal/timeline")
		tab.Eval(`document.querySelector('.vlist').focus(), true`, nil)
		selected := func(seq int) string {
			return fmt.Sprintf(`document.querySelector('.vrow[aria-selected=true] .eseq')?.innerText === '%d' && location.hash.includes('seq=%[1]d')`, seq)
		}
		tab.Do(chromedp.KeyEvent(kb.Home))
		tab.Until(selected(1))
		tab.Do(chromedp.KeyEvent(kb.ArrowDown))
		tab.Until(selected(2))
		tab.Do(chromedp.KeyEvent(kb.End))
		h, err := examples()
		must(t, err)
		tab.Until(selected(int(events(t, h, "thermal"))))
		tab.Sound()
	})
	t.Run("MovesBetweenWaysToAQuest", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/new")
		tab.Eval(`document.querySelector('[role=tab][aria-selected=true]').focus(), true`, nil)
		tab.Do(chromedp.KeyEvent(kb.ArrowRight))
		tab.Until(`document.querySelector('[role=tab][aria-selected=true]').innerText === 'From an example' && document.activeElement.innerText === 'From an example'`)
	})
}

// walk presses Tab through a page, once around or as far as a person would, and returns
// where it stopped. Each stop must be seen to have the focus, and be on the page.
func walk(t *testing.T, tab *browsertest.Tab) []string {
	t.Helper()
	var out []string
	for range 70 {
		tab.Do(chromedp.KeyEvent(kb.Tab))
		var stop struct {
			Body, Shown, Seen bool
			Name              string
		}
		tab.Eval(`(() => {
			const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
			const ring = (s) => (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none';
			return { Body: e === document.body, Shown: ring(s) || ring(getComputedStyle(e, '::after')), Seen: r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < innerHeight,
				Name: e.tagName + ' ' + (e.getAttribute('aria-label') ?? '') + ' ' + e.innerText.slice(0, 60).replaceAll('\n', ' ') };
		})()`, &stop)
		if stop.Body {
			break
		}
		if !stop.Shown {
			t.Errorf("%s has the focus, and nothing shows it", stop.Name)
		}
		if !stop.Seen {
			t.Errorf("%s has the focus out of sight", stop.Name)
		}
		out = append(out, stop.Name)
	}
	return out
}
