package tests

import (
	"regexp"
	"strings"
	"testing"
)

var agreement = regexp.MustCompile(`^\d of \d papers? says? so.*; \d of 3 voted`)

// heroLab is a lab whose agents publish one value in two ways and another value once, and
// vote for the first.
func heroLab(t testing.TB) string {
	t.Helper()
	return folder(t, map[string]string{
		"quest.yaml": "name: values\nsociety: lab\nagents: 3\nreviewers: 1\nproblem: How many?\nmodel: script:plan.yaml\ncomputer: none\nlimits: {turns: 40}\n",
		"plan.yaml": `rules:
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}]
  - on: {until_turn: 1, agent: agent-0}
    call: [{tool: submit_publication, args: {title: "It is 12160", content: "Counted.", claims: ["12160"]}}]
  - on: {until_turn: 1, agent: agent-1}
    call: [{tool: submit_publication, args: {title: "<img src=x onerror=hacked()>", content: "Summed.", claims: ["12,160"]}}]
  - on: {until_turn: 1, agent: agent-2}
    call: [{tool: submit_publication, args: {title: "It is 7", content: "Guessed.", claims: ["7"]}}]
  - on: {last: "has published ([0-9a-f]{32})"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - call: [{tool: wait, args: {}}]
`,
	})
}

// TestTheAnswerStandsOnTop: the value before all else, who agrees, and what carries it.
func TestTheAnswerStandsOnTop(t *testing.T) {
	t.Parallel()
	t.Run("OfALabWithItsPapers", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		_, _ = h.Lyceum("run", heroLab(t)) // it may run out of turns, which is called a failure
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/values")
		tab.Until(`document.querySelector('.hero-value')`)
		said := tab.Text(".hero-said")
		// Which paper is best when the votes are in is a matter of who was first.
		if value := tab.Text(".hero-value"); (value != "12160" && value != "12,160" && value != "7") || !agreement.MatchString(said) {
			t.Errorf("the answer is shown as %q: %q; want a value, and how many papers and votes are for it", value, said)
		}
		if !tab.Is(`document.querySelector('.hero').getBoundingClientRect().bottom < document.querySelector('#problem').getBoundingClientRect().top`) {
			t.Error("the answer does not stand before the question")
		}
		tab.Click(".carriers a", "")
		tab.Until(`location.hash.includes('/papers/')`)
		tab.Sound()
	})
	t.Run("OfANetWithItsClaims", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/q/thermal")
		tab.Until(`document.querySelectorAll('.claim-mark').length >= 2`)
		tab.Eval(`document.querySelector('.claim-mark').focus(), document.querySelector('.claim-mark').click(), true`, nil)
		tab.Until(`document.querySelector('.claim-open a')`)
		if !tab.Is(`document.querySelector('.claim-mark').getAttribute('aria-pressed') === 'true' && /Claim 1, (stands|undecided|defeated|retracted|made)/.test(document.querySelector('.claim-mark').ariaLabel)`) {
			t.Error("a claim that is open does not say so, or what became of it")
		}
		tab.Sound()
		tab.Click(".claim-open a", "its evidence")
		tab.Until(`location.hash.includes('/evidence?claim=1')`)
	})
	t.Run("OfOneAgentWithItsChecks", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Go("#/q/demo-number")
		tab.Until(`document.querySelector('.hero-checks')`)
		if got := tab.Text(".hero-checks"); !strings.HasPrefix(got, "✓ holds it") {
			t.Errorf("the checks begin with %.80q, want one that holds the answer", got)
		}
		tab.Sound()
	})
}
