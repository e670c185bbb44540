package tests

import (
	"errors"
	"strings"
	"testing"

	"lyceum/internal/need"
	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// asking is a quest whose agent asks twice, the second time with marks that would turn the
// reading around, and whose policy has a person decide whether it may write.
func asking(t testing.TB, name string) string {
	t.Helper()
	return folder(t, map[string]string{
		"quest.yaml": "name: " + name + `
problem: Which colour shall the door have?
model: script:plan.yaml
tools: [write_file]
may_ask: true
policies:
  - name: careful
    steps:
      - ask: {type: tool.call, where: {tool: write_file}, reason: "It writes a file.", default: no, within: 2h}
`,
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: ask_person, args: {question: "Which colour?\nIt is for the door.", options: [red, "blue, as the sky was on the day on which we saw it first, from the hill behind the house"]}}]
  - on: {turn: 2}
    call: [{tool: ask_person, args: {question: "And <b>why</b> \u202Enot green\u202C?"}}]
  - on: {turn: 3}
    call: [{tool: write_file, args: {path: door.txt, content: "red"}}]
  - say: "It is red."
`})
}

const questionCards = `document.querySelectorAll('.question')`

func TestQuestionsToPeople(t *testing.T) {
	t.Parallel()
	status := func(tab *browsertest.Tab, want string) {
		t.Helper()
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === '` + want + `'`)
	}
	t.Run("AreAnsweredByClickAndByKeyboard", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", asking(t, "door"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/door")
		tab.Click(".controls button", "Start")
		tab.Until(questionCards + `.length === 1`)
		status(tab, "waiting")
		reads(t, tab, ".question", "agent-0 asks", "Which colour?\nIt is for the door.", "red", "blue, as the sky", "Or in your own words")
		tab.Until(`document.title === '(1) door · Lyceum'`)
		reads(t, tab, ".team", "asks you")
		tab.Click(".question button", "red")

		// By the keyboard: the next question has the focus, Tab leads to the field.
		tab.Until(`document.querySelector('.asked')?.innerText.startsWith('And')`)
		reads(t, tab, ".asked", "And <b>why</b> \uFFFDnot green\uFFFD?")
		harmless(t, tab)
		tab.Until(`document.activeElement === document.querySelector('.question h2')`)
		for range 6 {
			if !tab.Is(`document.activeElement.matches('.question textarea')`) {
				tab.Do(chromedp.KeyEvent(kb.Tab))
			}
		}
		tab.Do(chromedp.KeyEvent("It fades."), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))

		tab.Until(`document.querySelector('.question')?.innerText.includes('May agent-0 do this?')`)
		reads(t, tab, ".question", "agent-0 wants to call write_file", "It writes a file.", "a tool call", "the policy careful", "If nobody answers by", "no")
		tab.Go("#/")
		reads(t, tab, ".quest-card", "waiting", "1 question")
		tab.Until(`document.title === '(1) Quests · Lyceum'`)
		tab.Go("#/q/door/agents")
		tab.Click(".questbar a.badge", "1 question")
		tab.Until(questionCards + `.length === 1`)
		fill(tab, "A word with it", "Once only.")
		tab.Click(".question button", "yes")
		status(tab, "finished")
		tab.Until(questionCards + `.length === 0 && document.title === '✓ door · Lyceum'`)
		reads(t, tab, "main", "It is red.")

		trace := lyceum(t, h, "trace", "door")
		for _, want := range []string{"answers question", "red", "It fades.", "yes. Once only."} {
			if !strings.Contains(trace, want) {
				t.Errorf("the ledger does not have %q:\n%s", want, trace)
			}
		}
		tab.Go("#/q/door/timeline?type=interaction.answered")
		reads(t, tab, ".eline", "answers question", "red")
		tab.Sound()
	})
	t.Run("VanishWhenSomebodyElseAnswers", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", asking(t, "door"))
		s := serve(t, h)
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/door")
		tab.Click(".controls button", "Start")
		tab.Until(questionCards + `.length === 1`)
		lyceum(t, h, "answer", "door", "red")
		tab.Until(`document.querySelector('.asked')?.innerText.startsWith('And')`)
		if tab.Is(`document.activeElement.matches('.question h2')`) {
			t.Error("the focus was taken from who has not answered")
		}

		// One who does not know yet that it is answered is told so, and goes on.
		before(tab, `(() => { const real = window.fetch; window.fetch = async (...args) => {
			if (window.still && !args[1]?.method) await new Promise(() => {});
			return real(...args) } })()`)
		tab.Fresh("#/q/door")
		tab.Until(questionCards + `.length === 1`)
		tab.Eval(`window.still = true`, nil)
		lyceum(t, h, "answer", "door", "Because.")
		fill(tab, "Your answer", "Too late.")
		tab.Click(".question button", "Send")
		tab.Until(`document.querySelector('.said')?.innerText.includes('somebody else may have answered it')`)
		for _, w := range tab.Wrong() {
			if !strings.Contains(w, "409") {
				t.Errorf("the page did what it must not: %s", w)
			}
		}
		tab.Fresh("#/q/door")
		tab.Until(`document.querySelector('.question')?.innerText.includes('May agent-0')`)
		lyceum(t, h, "answer", "door", "no", "--why", "It is not ours.")
		status(tab, "finished")
		tab.Until(questionCards + `.length === 0`)
		tab.Sound()
	})
	t.Run("OfAQuestThatNobodyRunsWaitForItsStart", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		if out, err := h.Lyceum("run", asking(t, "door")); err == nil || !strings.Contains(out, "exit status 3") && !strings.Contains(err.Error(), "exit status 3") {
			t.Fatalf("a run that waits ends with %v: %s", err, out)
		}
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/door")
		tab.Click(".question button", "red")
		tab.Until(`document.querySelector('.question .note')?.innerText.includes('It has an answer')`)
		reads(t, tab, ".said", "Nobody runs the quest")
		tab.Click(".controls button", "Start")
		tab.Until(`document.querySelector('.asked')?.innerText.startsWith('And')`)
		tab.Sound()
	})
	t.Run("AreAccessibleInEverySize", func(t *testing.T) {
		t.Parallel()
		rules, err := axe()
		if errors.Is(err, browsertest.ErrNoAxe) {
			need.Missing(t, "%v", err)
		}
		must(t, err)
		h := home(t)
		lyceum(t, h, "create", asking(t, "door"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/door")
		tab.Click(".controls button", "Start")
		tab.Until(questionCards + `.length === 1`)
		inEverySize(t, tab, "AQuestion", rules)
		tab.Go("#/q/door/agents")
		inEverySize(t, tab, "AQuestionElsewhere", rules)
		tab.Go("#/")
		inEverySize(t, tab, "AQuestionInTheList", rules)
	})
}
