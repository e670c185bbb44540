package tests

import (
	"testing"

	"lyceum/web/tests/browsertest"
)

// nasty is what an agent says, thinks, computes and names: tags, links, marks of
// direction, control characters.
const nasty = "Begin " + scream + " [go](javascript:alert(1)) \u202eturned\u202c ![x](https://evil.example/o.png) \u001b[2J\u0000 end."

func TestAnAgentThatAttacks(t *testing.T) {
	t.Parallel()
	attack := map[string]string{
		"quest.yaml": "name: attack\nproblem: Who is there?\nmodel: script:plan.yaml\ntools: [calculate, write_file, read_file]\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    think: ` + yaml(nasty) + `
    say: ` + yaml(nasty) + `
    call:
      - {tool: calculate, args: {code: ` + yaml(`print("<script>window.__pwned=1</script> \u202e <img src=x onerror=alert(1)>")`) + `}}
      - {tool: ` + yaml(`calc<img src=x onerror=alert(1)>`) + `, args: {a: ` + yaml(nasty) + `}}
      - {tool: write_file, args: {path: ` + yaml("a<b onmouseover=alert(1)>.html") + `, content: ` + yaml(nasty) + `}}
      - {tool: calculate, args: ` + yaml(`{"code": "`+scream) + `}
  - on: {from_turn: 2, until_turn: 12}
    delay: 100ms
    think: ` + yaml(nasty) + `
    say: ` + yaml(nasty) + `
    call: [{tool: calculate, args: {code: "print(${turn})"}}]
  - say: ` + yaml("# Answer\n\n"+nasty) + `
`,
	}
	t.Run("IsWatchedLiveWithoutHarm", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", folder(t, attack))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/attack")
		tab.Click("button", "Start")
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Do(browsertest.Settled())
		reads(t, tab, "#answer", "Answer")
		reads(t, tab, "section", "Begin", "<script>", "https://evil.example/o.png", "end.")
		harmless(t, tab)
	})
	t.Run("IsReadOnEveryPageWithoutHarm", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "run", folder(t, attack))
		lyceum(t, h, "message", "attack", "A person says "+scream+" \u202e too")
		tab := chromium(t).Tab(t, serve(t, h))
		for place, words := range map[string]string{
			"":                           "Begin",
			"/timeline":                  "<script>",
			"/timeline?seq=4":            "onerror",
			"/timeline?type=tool.":       "calculate",
			"/agents":                    "agent-0",
			"/agents/agent-0":            "calc<img src=x",
			"/agents/agent-0?tab=files":  "a<b onmouseover=alert(1)>.html",
			"/agents/agent-0?tab=mind":   "",
			"/agents/agent-0?tab=prompt": "careful researcher",
			"/canvas":                    "",
		} {
			tab.Go("#/q/attack" + place)
			tab.Eval(`document.querySelectorAll('details').forEach((d) => { d.open = true }), true`, nil)
			tab.Do(browsertest.Resized())
			reads(t, tab, "main", words)
			if tab.Is(`/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`) {
				t.Errorf("%s: a mark that turns the text is obeyed", place)
			}
			harmless(t, tab)
		}
	})
}
