package tests

import (
	"os"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// built has the page get the board of an architect: a task that was repaired and accepted, one
// at work, one that failed, a merge; and a patch with hostile text in it.
func built(tab *browsertest.Tab) {
	altered(tab, `
		const ref = (h, size = 40) => ({ hash: h.repeat(64).slice(0, 64), size });
		const scope = { include: ['cmd/'], no_touch: ['go.mod'] };
		const card = (id, state, more) => ({ id, goal: 'Goal of ' + id, state, handovers: 0, repairs: 0, commands: 0, files: 0, added: 0, removed: 0, errors: 0, waits: 0, after: [], seq: 1, last: 2, ...more });
		const add = card('add', 'accepted', { goal: 'A command that counts words, with tests', handovers: 2, repairs: 1, files: 2, added: 9, removed: 2, errors: 1, error: 'scope', executor: 'builtin', worker: 'agent-0', tests_before: 'fail', tests_after: 'pass' });
		const tests = (exit, seq) => ({ call: seq - 1, seq, wanted: ['go test ./...'], error: {}, duration_us: 1200000, commands: [{ command: 'go test ./...', exit, passed: exit ? 1 : 4, failed: exit, output: ref('a'), tail: exit ? '--- FAIL: TestCount\nFAIL' : 'ok' }] });
		if (path.endsWith('/tasks')) return {
			plan: { seq: 3, approved: 4, question: 2 }, limits: { context_summarize_threshold: 200, executors: ['builtin'], max_clarify_rounds_per_task: 3, max_cli_calls_per_task: 8, max_cli_duration_seconds: 900, max_cli_memory_mb: 4096, max_handovers_per_task: 6, max_same_error_retries: 2, max_tasks: 20, parallel: 2 },
			tasks: [add, card('doc', 'working', { handovers: 1, worker: 'builtin-2', executor: 'builtin', waits: 1, goal: '<img src=x onerror=alert(1)> \u202e' }), card('flags', 'planned', { after: ['add'] }), card('lint', 'judging', { handovers: 1, files: 1, added: 3, tests_after: 'pass', tests_before: 'pass' }), card('bench', 'failed', { handovers: 3, errors: 3, error: 'acceptance', reason: 'the same error twice' })],
			merges: [{ call: 20, seq: 21, tasks: ['add', 'lint'], files: 3, conflicts: [], error: {}, patch: ref('b') }], whole: tests(0, 23),
		};
		if (path.endsWith('/tasks/add')) return { ...add, plan: { id: 'add', goal: add.goal, scope, acceptance: ['go test ./...'] }, asked: [{ seq: 8, round: 1, asker: 'builtin', question: { text: 'How is it called?' }, answered: 9, answer: { text: 'count' } }], turned: [], orders: [], before: tests(1, 15), runs: [
			{ run: 1, executor: 'builtin', worker: 'agent-0', seq: 1, time: '2026-01-02T03:04:05Z', ended: 9, outcome: 'error', package: { text: 'task_id: add\ninstruction:\n  goal: A command\n' }, commands: 3, errors: [{ seq: 12, category: 'scope', text: { text: 'go.mod is outside of the scope' }, line: 'go.mod', logs: ref('a') }],
				found: { seq: 11, error: {}, files: 3, changes: [], findings: [], ignored: [], outside: [{ path: 'go.mod', reason: 'no_touch' }] } },
			{ run: 2, repair: true, executor: 'builtin', worker: 'agent-0', seq: 13, time: '2026-01-02T03:05:05Z', ended: 18, outcome: 'checked', package: { text: 'Take the change of go.mod back.' }, commands: 1, errors: [],
				found: { seq: 14, error: {}, files: 2, changes: [{ kind: 'added', path: 'cmd/count.go', added: 7 }], findings: [], ignored: [], outside: [], patch: ref('b') },
				manifest: { seq: 14, manifest_id: 'm1', generated_at: '2026-01-02', environment_fingerprint: 'x', items: [{ type: 'doc', ref: 'notes.md', checksum: 'a'.repeat(64), generated_by: 'builtin', file: ref('a'), preview: { text: '# Notes' } }] },
				after: tests(0, 17), judged: { seq: 19, verdict: 'accept', reasons: { text: 'It holds.' }, shown: ['event 17'] } }] };
		if (path.endsWith('/tasks/doc')) return { ...card('doc', 'working'), plan: { id: 'doc', goal: 'Goal of doc', scope }, asked: [], turned: [], orders: [], runs: [] };
		if (/^\/api\/quests\/[^/]+$/.test(path)) return { ...body, society: 'architect', rules: 'architect/1' };
	`)
	before(tab, `(() => {
		const real = window.fetch;
		const patch = 'diff --git a/cmd/count.go b/cmd/count.go\nnew file mode 100644\n--- /dev/null\n+++ b/cmd/count.go\n@@ -0,0 +1,3 @@\n+package cmd\n+// <script>alert(1)</script> \u202e\n+func Count() {}\ndiff --git a/main.go b/main.go\n--- a/main.go\n+++ b/main.go\n@@ -1,3 +1,3 @@ func main() {\n package main\n-run("list")\n+run("count")\n }\n';
		window.instead = (url) => (String(url).includes('/tasks/') ? '/api/quests/demo-number/tasks' : undefined);
		const blobs = { a: '--- FAIL: TestCount\nthe raw log\n', b: patch };
		window.fetch = async (...args) => {
			const hash = /\/api\/blobs\/([ab])\1{20}/.exec(String(args[0]));
			if (args[1]?.method === 'POST' && String(args[0]).endsWith('/orders')) {
				const order = JSON.parse(args[1].body);
				(window.ordered ??= []).push([String(args[0]), order]);
				const refused = order.text === 'too late';
				return new Response(JSON.stringify(refused ? { error: { code: 'conflict', message: 'the task doc is \u202eaccepted' } } : { id: 1, running: true }), { status: refused ? 409 : 202, headers: { 'Content-Type': 'application/json' } });
			}
			return hash ? new Response(blobs[hash[1]], { status: 200 }) : real(...args);
		};
	})()`)
}

func TestTheBoardOfAnArchitect(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	built(tab)
	tab.Fresh("#/q/demo-number/tasks")
	tab.Until(`document.querySelectorAll('.column').length === 5 && document.querySelector('.task')`)
	for _, c := range []struct{ column, task string }{{"planned", "flags"}, {"working", "doc"}, {"judging", "lint"}, {"accepted", "add"}, {"ended", "bench"}} {
		if said := tab.Text(".column." + c.column + " .title"); said != c.task {
			t.Errorf("the column %s has %q, want %q", c.column, said, c.task)
		}
	}
	if tab.Is(`document.querySelector('.board img')`) || !strings.Contains(tab.Text(".board"), "onerror") {
		t.Error("a goal is not shown as the text that it is")
	}
	picture(tab, "board")
	tab.Click(".task .title", "add")
	tab.Until(`document.querySelector('.drawer .steps')`)
	if said := tab.Text(".drawer"); !strings.Contains(said, "go.mod is outside of the scope") || !strings.Contains(said, "It holds.") || !strings.Contains(said, "How is it called?") {
		t.Errorf("the task does not tell what became of it:\n%s", said)
	}
	picture(tab, "task")

	tab.Click(".drawer .tabs a", "Changes")
	tab.Until(`document.querySelector('.dv-line.plus')`)
	said := tab.Text(".dv")
	for _, want := range []string{"cmd/count.go", "main.go", "2 files", "+4", "−1", "<script>alert(1)</script> RLO"} {
		if !strings.Contains(said, want) {
			t.Errorf("the patch does not show %q:\n%s", want, said)
		}
	}
	if tab.Is(`document.querySelector('.dv script')`) {
		t.Error("a line of a patch became an element")
	}
	tab.Click(".dv-bar button", "Side by side")
	tab.Until(`document.querySelector('.dv-pair .minus') && document.querySelector('.dv-pair .plus')`)
	if said := tab.Text(".dv-pair mark"); !strings.Contains(said, "lis") || !strings.Contains(said, "coun") {
		t.Errorf("what differs in a line is not marked: %q", said)
	}
	picture(tab, "diff")
	tab.Click(".drawer .dv-head button", "")
	tab.Until(`document.querySelector('.dv-head [aria-expanded="false"]') && !document.querySelector('.dv').innerText.includes('package cmd')`)

	tab.Click(".drawer .tabs a", "Tests")
	tab.Until(`document.querySelector('.drawer').innerText.includes('They failed before and succeed now.')`)
	tab.Click(".drawer .tabs a", "Artifacts")
	tab.Until(`document.querySelector('.drawer').innerText.includes('# Notes')`)
	tab.Click(".drawer .tabs a", "Errors")
	tab.Click(".drawer summary", "Raw log")
	tab.Until(`document.querySelector('.drawer .raw pre')?.innerText.includes('the raw log')`)
	picture(tab, "errors")
	tab.Click(".drawer button", "Close")
	tab.Until(`!document.querySelector('.drawer')`)
	tab.Sound()
}

// A task that is open can be told something and be cancelled; one that is over cannot.
func TestATaskIsToldAndCancelled(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	built(tab)
	tab.Fresh("#/q/demo-number/tasks?task=add")
	tab.Until(`document.querySelector('.drawer .steps')`)
	if said := tab.Text(".drawer"); strings.Contains(said, "Send a message") || strings.Contains(said, "Cancel the task") {
		t.Errorf("a task that is over can be ordered about:\n%s", said)
	}
	tab.Fresh("#/q/demo-number/tasks?task=doc")
	tab.Until(`document.querySelector('.drawer .goal')`)
	tab.Click(".drawer button", "Send a message")
	tab.Until(`document.querySelector('dialog[open] textarea')`)
	if !tab.Is(`document.querySelector('dialog .button.first').disabled`) {
		t.Error("a message that says nothing can be sent")
	}
	fill(tab, "Message", "too late")
	tab.Click("dialog button", "Send")
	tab.Until(`document.querySelector('dialog [role=alert]')?.innerText.includes('the task doc is RLOaccepted')`)
	fill(tab, "Message", "Leave the old names.")
	tab.Click("dialog button", "Send")
	tab.Until(`document.querySelector('.drawer [role=status]')?.innerText.includes('is told') && !document.querySelector('dialog')`)
	tab.Click(".drawer button", "Cancel the task")
	tab.Until(`document.querySelector('dialog[open]')?.innerText.includes('cannot be begun again')`)
	tab.Click("dialog button", "Let it be")
	tab.Until(`!document.querySelector('dialog')`)
	tab.Click(".drawer button", "Cancel the task")
	tab.Click("dialog button", "Cancel it")
	tab.Until(`document.querySelector('.drawer [role=status]')?.innerText.includes('The task ends')`)
	const want = `[["/api/quests/demo-number/tasks/doc/orders",{"action":"message","text":"too late"}],["/api/quests/demo-number/tasks/doc/orders",{"action":"message","text":"Leave the old names."}],["/api/quests/demo-number/tasks/doc/orders",{"action":"cancel"}]]`
	if !tab.Is(`JSON.stringify(window.ordered) === '` + want + `'`) {
		t.Errorf("what was sent is not %s", want)
	}
	tab.Sound()
}

// picture keeps what a tab shows in the folder of LYCEUM_PICTURES, for those who want to look.
func picture(tab *browsertest.Tab, name string) {
	to := os.Getenv("LYCEUM_PICTURES")
	if to == "" {
		return
	}
	var png []byte
	tab.Do(browsertest.Settled(), chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(to+"/"+name+".png", png, 0o600); err != nil {
		tab.T().Error(err)
	}
}
