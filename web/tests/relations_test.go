package tests

import "testing"

// TestWhatAgentsNotedIsShown: things stand below what they are part of, and what an agent wrote stays text.
// The second quest asks what the first asked, and its page says that this cost nothing.
func TestWhatAgentsNotedIsShown(t *testing.T) {
	t.Parallel()
	h := home(t)
	noting := func(name string) string {
		return folder(t, map[string]string{
			"quest.yaml": "name: " + name + "\nproblem: Measure it.\nmodel: script:plan.yaml\nrelations: true\ncache: exact\n",
			"plan.yaml": `rules:
  - on: {turn: 1}
    call:
      - {tool: relate, args: {id: plan, type: plan, description: "measure <b>it</b>", status: in_progress}}
      - {tool: relate, args: {id: log, type: file}}
      - {tool: relate, args: {id: s1, type: step, description: "set up", status: done, parents: [plan]}}
  - say: "Done."
`})
	}
	lyceum(t, h, "run", noting("first"))
	lyceum(t, h, "run", noting("second"))
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/second")
	tab.Until(`document.querySelectorAll('.relations li').length === 3`)
	reads(t, tab, ".relations", "plan measure <b>it</b>", "in progress", "step set up", "done", "file log", "pending")
	if !tab.Is(`document.querySelectorAll('.relations li')[1].style.paddingInlineStart === '1em' && document.querySelector('.relations b') === null`) {
		t.Error("the step does not stand below the plan, or a description was taken for markup")
	}
	reads(t, tab, "[aria-label=Budget]", "calls answered from earlier answers")
	harmless(t, tab)
}
