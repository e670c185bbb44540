package tests

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// hookVariable has the secret of the connector below, for all servers of these tests.
const hookVariable, hookSecret = "LYCEUM_PAGE_HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestWhatWasSaidElsewhere: beside the words of a researcher stands how far they came in a conversation elsewhere, and why
// not further; what is dead says the command that sends it again.
func TestWhatWasSaidElsewhere(t *testing.T) {
	t.Parallel()
	h := home(t)
	var status atomic.Int64
	status.Store(http.StatusServiceUnavailable)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write([]byte("<img src=x onerror=alert(1)> \u202e down " + hookSecret))
	}))
	t.Cleanup(service.Close)
	must(t, os.WriteFile(filepath.Join(h.Dir, "config.yaml"), []byte("connectors:\n  ops:\n    driver: webhook\n    url: "+service.URL+"\n    key_variable: "+hookVariable+"\n"), 0o600))
	lyceum(t, h, "create", folder(t, map[string]string{
		"quest.yaml": "name: series\nsociety: stages\nproblem: Which forecast is best?\nmodel: script:plan.yaml\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: interact, args: {kind: milestone, text: \"Two methods.\"}}]\n  - say: \"Turn ${turn}.\"\n",
	}))
	lyceum(t, h, "connector", "bind", "ops", "builds", "series")
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Fresh("#/q/series/agents")
	tab.Click(".controls button", "Start")
	const mark = `[...document.querySelectorAll('.dock .utterance')].find((u) => u.innerText.includes('Two methods.'))?.querySelector('.outside')`
	tab.Until(`/ops: queued, try \d/.test(` + mark + `?.innerText ?? '')`)
	tab.Eval(mark+`.querySelector('summary').click(), true`, nil)
	tab.Until(mark + `.innerText.includes('To builds. What was wrong:') && ` + mark + `.innerText.includes('Tried again')`)
	pictures(tab, "outside-queued")

	status.Store(http.StatusGone)
	tab.Until(mark + `.innerText.includes('ops: not delivered')`)
	tab.Until(mark + `.innerText.includes('Send it again with lyceum connector retry ')`)
	text := tab.Text(".dock .outside")
	if strings.Contains(text, hookSecret) || strings.Contains(text, "\u202e") {
		t.Errorf("the mark says %q", text)
	}
	harmless(t, tab)
	pictures(tab, "outside-dead")
	key := regexp.MustCompile(`lyceum connector retry ([0-9a-f]{32})`).FindStringSubmatch(text)
	if key == nil {
		t.Fatalf("there is no key in %q", text)
	}
	status.Store(http.StatusOK)
	lyceum(t, h, "connector", "retry", key[1])
	tab.Until(mark + `.innerText.trim() === 'ops: sent'`)
	tab.Sound()
}

func TestMarksAreAccessible(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	tab := chromium(t).Tab(t, serve(t, study(t)))
	before(tab, `window.instead = (url) => String(url).includes('/deliveries') ? '/api/quests/series/conversation' : undefined`)
	altered(tab, `if (!path.endsWith('/deliveries')) return body;
		const like = { key: 'k', seq: 9, time: '2026-01-02T03:04:05Z', connector: 'ops', conversation: 'builds', text: 'x', tries: 2 };
		return { deliveries: body.utterances.filter((u) => u.kind === 'said').flatMap((u) => ['queued', 'sent', 'dead', 'failed', 'unknown'].map((state, i) => ({ ...like, said: u.seq, seq: u.seq * 10 + i, state, error: state === 'dead' ? '403' : undefined, retry: state === 'dead' ? 'lyceum connector retry k' : undefined }))) };`)
	tab.Fresh("#/q/series/talk")
	tab.Until(`document.querySelectorAll('.outside .badge.bad').length > 1`)
	inEverySize(t, tab, "Marks", axe)
}
