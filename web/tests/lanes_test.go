package tests

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLanes: who did what when, zoomed by keys, and the list below has what is seen.
func TestLanes(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("#/q/demo-number/timeline")
	tab.Until(`document.querySelector('.lanes-drawn svg') && document.querySelector('.vrow .etype')`)
	t.Run("ACallAndItsResultAreOneRow", func(t *testing.T) {
		tab.In(t).Until(`[...document.querySelectorAll('.erow')].some((r) => r.querySelector('.eend') && /tokens/.test(r.querySelector('.etook').innerText))`)
		if !tab.Is(`[...document.querySelectorAll('.erow')].every((r) => r.querySelector('.eline').innerText.trim() && !/^model.result|^tool.result/.test(r.querySelector('.etype').innerText))`) {
			t.Error("a row has no words, or a result has a row of its own")
		}
		// A link to a result leads to the row of its call.
		tab.Go("#/q/demo-number/timeline?seq=4")
		tab.Until(`document.querySelector('.vrow[aria-selected=true]') && document.querySelector('.event-panel h2').innerText === 'Event 4'`)
		tab.Go("#/q/demo-number/timeline?each=1")
		tab.Until(`[...document.querySelectorAll('.etype')].some((e) => e.innerText.startsWith('model.result'))`)
		tab.Go("#/q/demo-number/timeline")
	})
	t.Run("AreZoomedByKeys", func(t *testing.T) {
		tab.In(t).Until(`document.querySelector('.lanes-drawn svg')`)
		tab.Eval(`document.querySelector('.lanes-drawn').focus(), true`, nil)
		tab.Do(chromedp.KeyEvent("+"))
		tab.Until(`location.hash.includes('from=') && / of .* events/.test(document.querySelector('.timeline-count').innerText)`)
		tab.Sound()
		tab.Do(chromedp.KeyEvent("0"))
		tab.Until(`!location.hash.includes('from=') && document.activeElement.className === 'lanes-drawn'`)
	})
	t.Run("OpenWhatIsClicked", func(t *testing.T) {
		tab.In(t).Eval(`(() => { const box = document.querySelector('.lanes-drawn'), at = box.getBoundingClientRect(); box.setPointerCapture = () => {};
			const mark = document.querySelector('.lanes-drawn .lane-mark path').getBoundingClientRect();
			window.point = [mark.left + mark.width / 2, mark.top + mark.height / 2];
			box.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: point[0], clientY: point[1] })); return true })()`, nil)
		tab.Until(`document.querySelector('.lanes-tip')?.innerText.includes('event')`)
		tab.Eval(`(() => { const box = document.querySelector('.lanes-drawn'); for (const kind of ['pointerdown', 'pointerup']) box.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0, pointerId: 1, clientX: point[0], clientY: point[1] })); return true })()`, nil)
		tab.Until(`location.hash.includes('seq=') && document.querySelector('.event-panel h2')`)
		tab.Sound()
	})
}
