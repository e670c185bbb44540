package tests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"
)

// grownStudy is a study whose researcher has begun sixty lines of work and recorded so many artifacts on
// them, each of which rests on others.
func grownStudy(t testing.TB, name string, artifacts int) string {
	t.Helper()
	var turns []string
	const most = 25 // calls in a turn: its answer is one event
	turn := func(calls []string) {
		turns = append(turns, fmt.Sprintf("  - on: {turn: %d}\n    call:\n      - %s\n", len(turns)+1, strings.Join(calls, "\n      - ")))
	}
	branches, calls := []string{"main"}, []string{}
	add := func(call string, args ...any) {
		if calls = append(calls, fmt.Sprintf(call, args...)); len(calls) == most {
			turn(calls)
			calls = nil
		}
	}
	for i := 1; len(branches) < 60; i++ {
		kind, parent := "idea", "main"
		if i%3 != 1 {
			kind, parent = "run", fmt.Sprintf("idea/i%d", i-(i+2)%3)
		}
		add("{tool: prepare_branch, args: {kind: %s, id: i%d, parent: %s}}", kind, i, parent)
		branches = append(branches, fmt.Sprintf("%s/i%d", kind, i))
	}
	kinds := []string{"report", "progress", "decision", "run", "milestone"}
	count, ids := map[string]int{}, []string{}
	for i := range artifacts {
		kind := kinds[i%len(kinds)]
		rests, more := "", ""
		if i > 60 {
			rests = fmt.Sprintf("%s, %s", ids[i-1-i%7], ids[i-60])
		}
		if kind == "decision" {
			more = `, verdict: good, action: "go on", reason: "The error of the months after it is smaller."`
			if rests == "" {
				rests = `"1"`
			}
		}
		if i%50 == 49 {
			more += ", supersedes: " + fmt.Sprintf("%s-%d", kind, count[kind])
		}
		count[kind]++
		ids = append(ids, fmt.Sprintf("%s-%d", kind, count[kind]))
		add(`{tool: record, args: {kind: %s, title: "What number %d says of the trend and its damping", text: "It was looked at month by month. %s", branch: %s, because: [%s]%s}}`,
			kind, i, strings.Repeat("The error is small. ", i%5), branches[i%len(branches)], rests, more)
	}
	turn(append(calls, `{tool: state, args: {}}`))
	return folder(t, map[string]string{
		"quest.yaml": "name: " + name + "\nsociety: stages\nproblem: Which forecast has the smallest error?\nmodel: script:plan.yaml\nlimits: {turns: 200}\n",
		"plan.yaml":  "rules:\n" + strings.Join(turns, "") + "  - say: \"I wait for your word.\"\n",
	})
}

// grownHome is a home with two of them: few has two hundred artifacts, many two thousand.
func grownHome(t testing.TB) browsertest.Home {
	t.Helper()
	h := home(t)
	for name, artifacts := range map[string]int{"few": 200, "many": 2000} {
		// A study that waits is no success of lyceum run; what it has recorded is counted.
		if out, err := h.Lyceum("run", grownStudy(t, name, artifacts)); err != nil && !strings.Contains(out, "waits") {
			t.Fatal(err)
		}
	}
	return h
}

// looked walks over the canvas of artifacts of a study as a person does, and returns the tasks that
// took the page longest: while it was drawn, and while it was scrolled and searched.
func looked(tab *browsertest.Tab, quest string) (drawn, used []browsertest.Task) {
	tab.T().Helper()
	// The parts of the page itself are read before: how long that takes is the same for every study.
	tab.Fresh("#/q/" + quest + "/canvas")
	tab.Until(`document.querySelector('.lane-head')`)
	tab.Click(".canvas-bar button", "Unfold")
	tab.Do(browsertest.Settled())
	drawn = tab.Tasks(func() {
		tab.Eval(`[...document.querySelectorAll('.canvas-bar button')].find((b) => b.innerText === 'Artifacts').click(), true`, nil)
		tab.Until(`document.querySelector('.chip') && document.querySelector('.trace')`)
		tab.Do(browsertest.Resized())
	})
	used = tab.Tasks(func() {
		tab.Eval(`(async () => {
			const box = document.querySelector('.sheet'), frame = () => new Promise((done) => requestAnimationFrame(done));
			window.most = 0;
			for (let i = 0; i <= 40; i++) { box.scrollTop = i / 40 * (box.scrollHeight - box.clientHeight); box.scrollLeft = i % 8 / 8 * (box.scrollWidth - box.clientWidth);
				await frame(); await frame(); most = Math.max(most, document.querySelectorAll('.chip').length) }
			return true;
		})()`, nil)
		search(tab, "number 19")
		tab.Until(`document.querySelector('.canvas-bar [role=status]')?.innerText.includes('found')`)
		search(tab, "")
		tab.Until(`!document.querySelector('.canvas-bar [role=status]')`)
	})
	// Whoever stands at the end of all lines of work, and folds them, sees those that are left.
	tab.Eval(`document.querySelector('.sheet').scrollTop = 1e6, true`, nil)
	tab.Do(browsertest.Settled())
	tab.Click(".canvas-bar button", "Fold")
	tab.Until(`document.querySelector('.lane-head')`)
	return drawn, used
}

// TestTwoThousandArtifacts, recorded by a researcher and served, are drawn, scrolled and searched
// without a task that takes much longer than with two hundred: only those near the window exist.
func TestTwoThousandArtifacts(t *testing.T) {
	s := serve(t, grownHome(t))
	worked, exist := map[string]float64{}, map[string]int{}
	for quest, want := range map[string]int{"few": 200, "many": 2000} {
		least := map[string]browsertest.Task{}
		var out struct{ Events, Branches, Most, Wide int }
		for range 3 { // a machine does other things too: the best of three is what the page takes
			tab := chromium(t).Tab(t, s)
			drawn, used := looked(tab, quest)
			for what, list := range map[string][]browsertest.Task{"drawn": drawn, "used": used} {
				// What took longest may have waited for the machine: the most work counts.
				most := slices.MaxFunc(list, func(a, b browsertest.Task) int { return cmp.Compare(a.Worked, b.Worked) })
				if held, ok := least[what]; !ok || most.Worked < held.Worked {
					least[what] = most
				}
			}
			tab.Eval(`(async () => { const traces = await (await ask('/api/quests/`+quest+`/node-traces?view=event')).json(), lines = await (await ask('/api/quests/`+quest+`/branches')).json();
				const box = document.querySelector('.sheet'); return { Events: traces.events.filter((e) => !e.open).length, Branches: lines.nodes.length, Most: window.most, Wide: box.scrollWidth } })()`, &out)
			tab.Sound()
		}
		t.Logf("%d artifacts on %d branches: the longest task took %.0f ms (%.0f of the processor's) while they were drawn, %.0f ms (%.0f) while they were looked at; at most %d exist at once",
			out.Events, out.Branches, least["drawn"].Took, least["drawn"].Worked, least["used"].Took, least["used"].Worked, out.Most)
		if out.Events < want || out.Branches != 60 {
			t.Fatalf("%s has %d artifacts on %d branches, want %d on 60", quest, out.Events, out.Branches, want)
		}
		if out.Most > 200 || out.Most < 20 {
			t.Errorf("%s: %d artifacts exist at once; want those near the window", quest, out.Most)
		}
		if quest == "many" && out.Wide < 3000 {
			t.Errorf("the sheet is %d wide: not all are on it", out.Wide)
		}
		for what, task := range least {
			worked[quest+" "+what] = task.Worked
		}
		exist[quest] = out.Most
	}
	// Held as ratios, of what the processor did and not of the time that it took: ten times as many artifacts are at most
	// ten times the work of the longest task, and no more of them exist at once, for what is off the window is not drawn.
	for _, what := range []string{"drawn", "used"} {
		if few, many := worked["few "+what], worked["many "+what]; few <= 0 || many > 10*few {
			t.Errorf("%s: the longest task is %.1f ms of work with 2,000 artifacts and %.1f with 200, want at most ten times as much", what, many, few)
		}
	}
	if exist["many"] > 2*exist["few"] {
		t.Errorf("of 2,000 artifacts %d exist at once, and of 200 %d, want at most twice as many", exist["many"], exist["few"])
	}
}
