package tests

import (
	"context"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// plainTexts marks the elements that have a text of their own, and in all of it only letters that both faces have: of these the browser can
// be asked, together with what is inside them.
const plainTexts = `(() => {
	let n = 0;
	for (const e of document.querySelectorAll('body *')) {
		e.removeAttribute('data-own');
		const own = [...e.childNodes].some((c) => c.nodeType === 3 && c.data.trim());
		if (!own || !/^[\x20-\x7e\s\u00b7\u2026]*$/.test(e.textContent) || e.closest('.katex, noscript, script, style, option') || !e.getClientRects().length) continue;
		e.dataset.own = n++;
	}
	return n;
})()`

// drawnBy counts the letters of those elements by the font that the browser drew them with.
func drawnBy(tab *browsertest.Tab) (ours map[string]int, others []string) {
	ours = map[string]int{}
	tab.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		if err := dom.Enable().Do(ctx); err != nil {
			return err
		}
		if err := css.Enable().Do(ctx); err != nil {
			return err
		}
		root, err := dom.GetDocument().Do(ctx)
		if err != nil {
			return err
		}
		nodes, err := dom.QuerySelectorAll(root.NodeID, "[data-own]").Do(ctx)
		if err != nil {
			return err
		}
		for _, id := range nodes {
			fonts, err := css.GetPlatformFontsForNode(id).Do(ctx)
			if err != nil {
				return err
			}
			for _, f := range fonts {
				if f.IsCustomFont && (strings.HasPrefix(f.FamilyName, "Inter") || strings.HasPrefix(f.FamilyName, "JetBrains Mono")) {
					ours[strings.Fields(f.FamilyName)[0]] += int(f.GlyphCount)
					continue
				}
				html, err := dom.GetOuterHTML().WithNodeID(cdp.NodeID(id)).Do(ctx)
				if err != nil {
					return err
				}
				others = append(others, f.FamilyName+" draws "+html[:min(len(html), 200)])
			}
		}
		return nil
	}))
	return ours, others
}

// TestTheLettersAreOurOwn: what the browser drew is asked, not what the style sheet wishes for. Charts and lanes, drawn as SVG, have
// the same letters.
func TestTheLettersAreOurOwn(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	for place, mono := range map[string]bool{"#/": false, "#/q/thermal": false, "#/q/thermal/timeline": true, "#/q/thermal/evidence?claim=1": true, "#/settings": true} {
		tab.Fresh(place)
		var texts int
		tab.Eval(plainTexts, &texts)
		ours, others := drawnBy(tab)
		if texts < 15 || ours["Inter"] < 100 || mono && ours["JetBrains"] < 10 {
			t.Errorf("%s: %d texts were drawn with %v letters of our faces, want most of Inter and, where there is code, some of JetBrains Mono", place, texts, ours)
		}
		for _, o := range others {
			t.Errorf("%s: another font, %s", place, o)
		}
	}
	tab.Go("#/q/thermal/timeline")
	if !tab.Is(`[...document.querySelectorAll('svg text')].length > 2 && [...document.querySelectorAll('svg text')].every((e) => getComputedStyle(e).fontFamily.startsWith('Inter'))`) {
		t.Error("the words in the lanes are of another face than the page's")
	}
	tab.Sound() // nothing was asked of another host
}
