package tests

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// drop lets a file fall on a part of the page, as a person does who drags it there.
func drop(tab *browsertest.Tab, on, name string, data []byte) {
	tab.T().Helper()
	tab.Do(chromedp.Evaluate(fmt.Sprintf(`(() => {
		const bytes = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
		const held = new DataTransfer();
		held.items.add(new File([bytes], %q, { type: 'application/zip' }));
		const at = document.querySelector(%q);
		for (const kind of ['dragover', 'drop']) at.dispatchEvent(new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true }));
	})()`, base64.StdEncoding.EncodeToString(data), name, on), nil))
}

func TestTheRecordUnderTheTitle(t *testing.T) {
	t.Parallel()
	h := home(t)
	lyceum(t, h, "run", root+"/examples/primes/quest.yaml")
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/primes/timeline")
	tab.Until(`document.querySelector('.known')?.innerText.includes('25 events, not checked here yet, not signed')`)
	tab.Click(".known button", "Check now")
	tab.Until(`document.querySelector('.known')?.innerText.includes('25 events consistent, replayed identically, not signed, just now')`)
	picture(tab, "known")
	tab.Go("#/q/primes")
	tab.Until(`document.querySelector('.record .good')`)
	tab.Click(".record button", "Export")
	tab.Until(`document.querySelector('.record')?.innerText.includes('Packed: primes.zip')`)
	// The browser fetches it by the link alone, without the page's headers.
	var text string
	tab.Do(chromedp.Evaluate(`fetch(document.querySelector('.record p a[download="primes.zip"]').href)
		.then((r) => r.arrayBuffer()).then((b) => btoa(String.fromCharCode(...new Uint8Array(b))))`, &text,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	data, err := base64.StdEncoding.DecodeString(text)
	must(t, err)
	file := filepath.Join(t.TempDir(), "primes.zip")
	must(t, os.WriteFile(file, data, 0o600))
	if said := lyceum(t, h, "verify", file); !strings.Contains(said, "primes: consistent") {
		t.Errorf("lyceum verify of what the page exported says %q, want that it is consistent", said)
	}
	picture(tab, "exported")
	tab.Sound()
}

func TestTheTitleSaysWhoSigned(t *testing.T) {
	t.Parallel()
	h := home(t)
	h.Passphrase = "for a test"
	lyceum(t, h, "key", "make", "--name", "ada.example.org", "--file")
	lyceum(t, h, "run", root+"/examples/primes/quest.yaml")
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/primes")
	tab.Until(`document.querySelector('.known')?.innerText.includes('not checked here yet, signed by ada.example.org')`)
	tab.Click(".known button", "Check now")
	tab.Until(`document.querySelector('.known')?.innerText.includes('consistent, replayed identically, signed by ada.example.org, just now')`)
	if said := tab.Text(".record"); !strings.Contains(said, "nobody else saw it") {
		t.Errorf("the record says\n%s\nwant what a signature alone is worth", said)
	}
	picture(tab, "signed")
	tab.Sound()
}

func TestAnExportedQuestIsDroppedOnTheList(t *testing.T) {
	t.Parallel()
	from, to := home(t), home(t)
	lyceum(t, from, "run", root+"/examples/primes/quest.yaml")
	file := filepath.Join(t.TempDir(), "primes.zip")
	lyceum(t, from, "export", "primes", file)
	data, err := os.ReadFile(file)
	must(t, err)
	tab := chromium(t).Tab(t, serve(t, to))
	tab.Go("#/")
	tab.Until(`document.querySelector('main')?.innerText.includes('No quests yet')`)
	drop(tab, ".takes", "half.zip", data[:len(data)/2])
	tab.Until(`document.querySelector('.crate.bad')?.innerText.includes('half.zip was not imported')`)
	if said := tab.Text(".crate"); !strings.Contains(said, "not a zip file") || !strings.Contains(said, "nothing was taken over") {
		t.Errorf("half a file: the page says %q, want why it was refused", said)
	}
	picture(tab, "import-refused")
	tab.Sound()
	drop(tab, ".takes", "primes.zip", data)
	tab.Until(`location.hash === '#/q/primes' && document.querySelector('.known')?.innerText.includes('25 events')`)
	tab.Go("#/")
	tab.Until(`document.querySelector('.quest-card')`)
	tab.Do(chromedp.SetUploadFiles(`input[aria-label="An exported quest"]`, []string{file}, chromedp.ByQuery))
	tab.Until(`document.querySelector('.crate.bad form')`)
	picture(tab, "import-taken")
	find(tab)
	fill(tab, "Name here", "primes-two")
	tab.Click(".crate button", "Import under this name")
	tab.Until(`location.hash === '#/q/primes-two' && document.querySelector('.known')?.innerText.includes('25 events')`)
	if said := lyceum(t, to, "verify", "primes-two"); !strings.Contains(said, "primes-two: consistent") {
		t.Errorf("lyceum verify of what was dropped says %q, want that it is consistent", said)
	}
	tab.Sound()
}
