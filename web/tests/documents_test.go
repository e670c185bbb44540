package tests

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTheBriefIsWrittenOnThePage: what a person saves there is the brief, and the researcher has it.
func TestTheBriefIsWrittenOnThePage(t *testing.T) {
	t.Parallel()
	h := study(t)
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Fresh("#/q/series/records?part=documents")
	tab.Click(".documents a", "Plan")
	reads(t, tab, ".records .card", "People do not write it: it follows from the course of the study")
	tab.Click(".documents a", "Brief")
	reads(t, tab, ".records .card", "Which forecast of the series has the smallest error?")
	tab.Click(".records .card button", "Edit")
	fill(tab, "Text", "Which forecast is the <b>cheapest</b>?\n\nOf all.")
	pictures(tab, "brief-edited")
	tab.Click(".records button", "Save")
	tab.Until(`document.querySelector('.records [role=status]')?.innerText.includes('Saved: the researcher hears of it.')`)
	tab.Until(`document.querySelector('.records .prose')?.innerText.includes('the <b>cheapest</b>?')`)
	reads(t, tab, ".records .card", "2 revisions")
	// The question that was open is not answered by it.
	tab.Until(questionCards + `.length === 1`)
	tab.Until(`[...document.querySelectorAll('.dock .utterance.delivered')].some((u) => u.innerText.includes('new text of brief.md') && u.innerText.includes('cheapest'))`)

	tab.Sound()
	if got := lyceum(t, h, "brief", "series"); got != "Which forecast is the <b>cheapest</b>?\n\nOf all.\n" {
		t.Errorf("the brief is %q", got)
	}
}

// TestABriefThatWasChangedMeanwhile: nobody's text is written over, and nobody's is lost.
func TestABriefThatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h := study(t)
	s := serve(t, h)
	theirs := filepath.Join(filepath.Dir(folder(t, map[string]string{"theirs.md": "Theirs <img src=x onerror=alert(1)>."})), "theirs.md")
	tab := chromium(t).Tab(t, s)
	tab.Fresh("#/q/series/records?document=brief.md")
	tab.Click(".records .card button", "Edit")
	fill(tab, "Text", "Mine.")
	lyceum(t, h, "brief", "series", theirs)
	tab.Sound()
	tab.Click(".records button", "Save")
	tab.Until(`document.querySelector('.records [role=alert]')?.innerText.includes('was changed since it was read')`)
	tab.Until(`document.querySelector('.records form [role=status]')?.innerText.includes('It was changed since you began') && document.querySelector('.records form .pre').innerText.includes('Theirs <img')`)
	if !tab.Is(`field('Text').value === 'Mine.'`) {
		t.Error("what was written is gone, though it was not saved")
	}
	pictures(tab, "brief-stale")
	tab.Click(".records button", "Leave it")
	reads(t, tab, ".records .card", "Theirs <img", "The quest has yet to take this text") // it was run in a terminal, and waits
	if tab.Is(`document.querySelector('.records img')`) {
		t.Error("a brief became an element")
	}
	for _, w := range append(tab.Wrong(), tab.Violations()...) {
		if !strings.Contains(w, "status of 409") { // the one that was late
			t.Errorf("the page did what it must not: %s", w)
		}
	}
}

func TestTheEditorIsAccessible(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	tab := chromium(t).Tab(t, serve(t, study(t)))
	tab.Fresh("#/q/series/records?document=brief.md")
	tab.Click(".records .card button", "Edit")
	find(tab)
	tab.Until(`field('Text')`)
	inEverySize(t, tab, "Editor", axe)
}
