package tests

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTheConversationOfAStudy: what was said, how far messages came, the question with its
// buttons, the stages with the reasons; words and commands are given there.
func TestTheConversationOfAStudy(t *testing.T) {
	t.Parallel()
	h := home(t)
	lyceum(t, h, "create", folder(t, map[string]string{
		"quest.yaml": "name: series\nsociety: stages\nproblem: Which forecast of the series has the smallest error?\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    say: "I look at the series first."
    call: [{tool: interact, args: {kind: milestone, text: "Two methods, **both** cheap. <img src=x onerror=alert(1)> \u202E!"}}]
  - on: {turn: 2}
    call: [{tool: interact, args: {kind: decision_request, text: "Which error shall count?", options: ["mean absolute", "root mean squared"]}}]
  - on: {turn: 3}
    say: "I wait for your word."
  - on: {turn: 4}
    call: [{tool: move_anchor, args: {to: baseline, reason: "The error is chosen."}}]
  - say: "I heard you."
`}))
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/series")
	tab.Click(".controls button", "Start")
	tab.Until(questionCards + `.length === 1`)
	tab.Click(".questbar .tabs a", "Conversation")
	tab.Until(`document.querySelectorAll('.said .utterance').length === 5`)
	reads(t, tab, ".mlist.said", "you", "Which forecast of the series", "milestone", "both", "onerror", "decision request", "I wait for your word.")
	if tab.Is(`document.querySelector('.said img')`) {
		t.Error("an agent's words are not shown as the text that they are")
	}
	harmless(t, tab)
	reads(t, tab, ".track [aria-current]", "scout")
	reads(t, tab, ".question", "Which error shall count?", "mean absolute", "root mean squared")
	picture(tab, "talk")

	tab.Click(".question button", "root mean squared")
	tab.Until(`document.querySelector('.track [aria-current]')?.innerText === 'baseline'`)
	tab.Until(questionCards + `.length === 0 && document.querySelector('.mlist.said').innerText.includes('I heard you.')`)
	reads(t, tab, "[aria-label=Stages]", "Came here because", "The error is chosen.")
	reads(t, tab, ".mlist.said", "root mean squared", "answer")

	fill(tab, "Say something", "/status")
	tab.Click(".say button", "Send")
	tab.Until(`document.querySelector('.say [role=status]')?.innerText.includes('Stage: baseline.')`)
	fill(tab, "Say something", "/nonsense")
	tab.Click(".say button", "Send")
	tab.Until(`document.querySelector('.say [role=alert]')?.innerText.includes('there is no command /nonsense')`)

	// What is said to a quest that is paused is queued, and can be taken back.
	tab.Click(".controls button", "Pause")
	tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'paused'`)
	fill(tab, "Say something", "Too soon.")
	tab.Do(chromedp.Focus(".say textarea"), chromedp.KeyEvent(kb.Enter))
	tab.Until(`document.querySelector('.utterance.queued')?.innerText.includes('Too soon.')`)
	tab.Click(".utterance.queued button", "take back")
	tab.Until(`document.querySelector('.utterance.withdrawn')?.innerText.includes('taken back')`)
	fill(tab, "Say something", "Go on.")
	tab.Do(chromedp.Focus(".say textarea"), chromedp.KeyEvent(kb.Enter))
	tab.Until(`document.querySelector('.utterance.queued')?.innerText.includes('Go on.')`)
	tab.Click(".controls button", "Resume")
	tab.Until(`[...document.querySelectorAll('.utterance.mine.delivered')].some((u) => u.innerText.includes('Go on.'))`)
	if trace := lyceum(t, h, "trace", "series"); !strings.Contains(trace, "mail.withdrawn") {
		t.Errorf("the ledger does not have that a message was taken back:\n%s", trace)
	}
	picture(tab, "talk-after")
	for _, w := range append(tab.Wrong(), tab.Violations()...) {
		if !strings.Contains(w, "status of 400") { // the command that there is not
			t.Errorf("the page did what it must not: %s", w)
		}
	}
}
