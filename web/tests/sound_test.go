package tests

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/need"
	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

type place struct{ name, at string }

// places are all pages, in groups that share a tab.
var places = map[string][]place{
	"OfAllQuests": {
		{"Quests", "#/"}, {"NewQuest", "#/new"}, {"Compare", "#/compare"}, {"Compared", "#/compare?a=thermal&b=thermal-strict"},
		{"NoSuchPage", "#/nowhere"}, {"NoSuchQuest", "#/q/nowhere"}, {"ABrokenEscape", "#/q/%E0%A4%A/timeline"},
	},
	"OfAContract": {
		{"Overview", "#/q/thermal"}, {"Canvas", "#/q/thermal/canvas"}, {"Timeline", "#/q/thermal/timeline"}, {"Event", "#/q/thermal/timeline?seq=7"},
		{"Agents", "#/q/thermal/agents"}, {"Mind", "#/q/thermal/agents/planner?tab=mind"}, {"Claim", "#/q/thermal/evidence?claim=1"},
		{"NoSuchTab", "#/q/thermal/nowhere"},
	},
	"OfOneAgent": {
		{"Unstarted", "#/q/unstarted"}, {"Transcript", "#/q/demo-number/agents/agent-0"}, {"Files", "#/q/demo-number/agents/agent-0?tab=files"},
		{"Cost", "#/q/demo-number/agents/agent-0?tab=cost"}, {"Prompt", "#/q/demo-number/agents/agent-0?tab=prompt"},
	},
}

// scholarPlaces are the pages of a lab.
var scholarPlaces = []place{
	{"Overview", "#/q/scholars"}, {"Canvas", "#/q/scholars/canvas"}, {"Papers", "#/q/scholars/papers"}, {"Agents", "#/q/scholars/agents"},
}

// answered are places for which the server rightly says that there is no such thing: a
// browser writes that on the console whatever the page does.
var answered = []string{"NoSuchQuest", "ABrokenEscape"}

var axe = sync.OnceValues(func() (string, error) { return browsertest.Axe(root + "/web") })

func TestEveryPage(t *testing.T) {
	t.Parallel()
	chromium(t)
	rules, err := axe()
	if errors.Is(err, browsertest.ErrNoAxe) {
		need.Missing(t, "%v", err)
	}
	must(t, err)
	s, lab := readers(t), serve(t, scholars(t))
	for group, list := range places {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			sound(t, chromium(t).Tab(t, s), list, rules)
		})
	}
	t.Run("OfALab", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, lab)
		sound(t, tab, scholarPlaces, rules)
		tab.Go("#/q/scholars/papers")
		tab.Click(".paper-row a", "")
		tab.Do(browsertest.Settled())
		inEverySize(t, tab, "APaper", rules)
	})
	t.Run("TheFormAndItsMistakes", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/new")
		tab.Click("[role=tab]", "By form")
		fill(tab, "Name", "No Such Name!")
		tab.Until(`document.querySelector('[aria-invalid=true]')`)
		inEverySize(t, tab, "TheForm", rules)
	})
	t.Run("TheUpload", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/new")
		tab.Click("[role=tab]", "By upload")
		inEverySize(t, tab, "TheUpload", rules)
	})
	t.Run("EveryDialog", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		for _, name := range []string{"Fork", "Message", "Remove"} {
			tab.Fresh("#/q/thermal")
			tab.Do(chromedp.EmulateViewport(1280, 800), browsertest.Resized())
			tab.Click("button", name)
			tab.Until(`document.querySelector('dialog[open]')`)
			inEverySize(t, tab, name, rules)
		}
	})
	t.Run("WithAPanel", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/thermal/canvas?node=claim:1")
		tab.Until(`document.querySelector('.canvas-panel')`)
		inEverySize(t, tab, "ThePanel", rules)
	})
	t.Run("OfAnEmptyHome", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, home(t)))
		tab.Until(`document.querySelector('#first-question')`)
		reads(t, tab, "main", "No quests yet", "New quest")
		inEverySize(t, tab, "NoQuests", rules)
		tab.Go("#/compare")
		inEverySize(t, tab, "NothingToCompare", rules)
	})
	t.Run("WithoutAServer", func(t *testing.T) {
		t.Parallel()
		h := home(t) // its own: a home has one server
		lyceum(t, h, "run", root+"/examples/demo-number/quest.yaml")
		gone, err := h.Serve("127.0.0.1:0")
		must(t, err)
		tab := chromium(t).Tab(t, gone)
		// A quest that has ended has no stream that could break; the page notices all the same.
		tab.Go("#/q/demo-number")
		must(t, gone.Kill())
		tab.Until(`document.querySelector('.lost')`)
		for _, size := range settings {
			tab.Do(chromedp.EmulateViewport(size.w, size.h), browsertest.Scheme(size.dark))
			tab.Accessible(rules, size.words, size.only)
		}
	})
}

// sound reads pages anew and looks for all that none may do.
func sound(t *testing.T, tab *browsertest.Tab, list []place, rules string) {
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			tab.In(t).Fresh(p.at)
			if c := tab.Policy(); !strings.Contains(c, "default-src 'none'") || !strings.Contains(c, "script-src 'self';") || !strings.Contains(c, "frame-ancestors 'none'") {
				t.Errorf("the policy is %q", c)
			}
			inEverySize(t, tab, p.name, rules)
		})
	}
	tab.In(t)
}

// settings are what the page is looked at in.
var settings = []struct {
	words string
	w, h  int64
	dark  bool
	only  string // the rule that the other colours could break, where all are held in the first ones
}{{"wide, light", 1280, 800, false, ""}, {"wide, dark", 1280, 800, true, "color-contrast"}, {"narrow, light", 390, 844, false, ""}, {"narrow, dark", 390, 844, true, "color-contrast"}}

// inEverySize holds a page against the rules, light and dark, wide and narrow.
func inEverySize(t *testing.T, tab *browsertest.Tab, name, rules string) {
	t.Helper()
	for _, size := range settings {
		tab.Do(chromedp.EmulateViewport(size.w, size.h), browsertest.Scheme(size.dark), browsertest.Resized())
		tab.Accessible(rules, size.words, size.only)
		if tab.Is(`document.documentElement.scrollWidth > innerWidth + 1`) {
			t.Errorf("%s: the page is wider than its window", size.words)
		}
	}
	for _, v := range tab.Violations() {
		t.Errorf("the page violated its policy: %s", v)
	}
	for _, w := range tab.Wrong() {
		if !slices.Contains(answered, name) || !strings.Contains(w, "404") && !strings.Contains(w, "400") {
			t.Errorf("the page did what it must not: %s", w)
		}
	}
}
