package tests

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

// TestALargeFile: the page takes what the server takes, 25 MiB, and says of more that it is too much.
func TestALargeFile(t *testing.T) {
	t.Parallel()
	h := home(t)
	quest := folder(t, map[string]string{"quest.yaml": "name: look\nproblem: What is it?\nmodel: script:plan.yaml\n", "plan.yaml": "rules:\n  - say: Much.\n"})
	lyceum(t, h, "create", quest)
	files := map[string]int{"large.csv": 25 << 20, "larger.csv": 25<<20 + 1}
	for name, size := range files {
		must(t, os.WriteFile(filepath.Join(filepath.Dir(quest), name), []byte(strings.Repeat("1,2\n", size/4+1))[:size], 0o600))
	}
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/look")
	tab.Click(".controls button", "Message")
	tab.Until(`document.querySelector('dialog input[type=file]')`)
	tab.Do(chromedp.SetUploadFiles("dialog input[type=file]", []string{filepath.Join(filepath.Dir(quest), "larger.csv")}))
	tab.Until(`document.querySelector('dialog .note.bad')?.innerText.includes('A file of a message has at most 25 MiB; larger.csv has 25.0 MiB')`)
	tab.Do(chromedp.SetUploadFiles("dialog input[type=file]", []string{filepath.Join(filepath.Dir(quest), "large.csv")}))
	tab.Until(`document.querySelectorAll('.attaching li').length === 1 && !document.querySelector('dialog .note.bad')`)
	tab.Click("dialog button", "Send")
	tab.Until(`document.querySelector('dialog .note.good')`)
	if out := lyceum(t, h, "trace", "look"); !strings.Contains(out, "[file large.csv, 26214400 bytes]") {
		t.Errorf("the ledger does not have the file:\n%s", out)
	}
	tab.Sound()
}

// TestPicturesAndFiles sends some with a message, and finds them in the transcript: those
// of the message, and one that an agent read. What only says that it is a picture is a link.
func TestPicturesAndFiles(t *testing.T) {
	t.Parallel()
	h := home(t)
	picture, err := base64.StdEncoding.DecodeString(dot)
	must(t, err)
	quest := folder(t, map[string]string{
		"quest.yaml": "name: look\nproblem: What is it?\nmodel: script:plan.yaml\ndata: files\ntools: [read_file]\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: read_file, args: {path: seen.png}}]\n  - say: A dot.\n",
		"sent.png":   string(picture),
		"fake.png":   `<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = 'taken'</script></svg>`,
	})
	beside := func(name string) string { return filepath.Join(filepath.Dir(quest), name) }
	must(t, put(beside("files"), map[string]string{"seen.png": string(picture)}))
	lyceum(t, h, "create", quest)
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/look")
	tab.Click(".controls button", "Message")
	tab.Until(`document.querySelector('dialog input[type=file]')`)
	tab.Do(chromedp.SetUploadFiles("dialog input[type=file]", []string{beside("sent.png"), beside("fake.png")}))
	tab.Until(`document.querySelectorAll('.attaching li').length === 2`)
	tab.Eval(`(() => { const data = new DataTransfer(); data.items.add(new File(['pasted\u202e words'], 'pasted.txt'));
		document.querySelector('dialog textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); return true })()`, nil)
	tab.Until(`document.querySelectorAll('.attaching li').length === 3`)
	tab.Eval(`(() => { const data = new DataTransfer(); for (let i = 0; i < 6; i++) data.items.add(new File(['x'], 'x'));
		document.querySelector('dialog textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); return true })()`, nil)
	tab.Until(`document.querySelector('dialog .note.bad')?.innerText.includes('at most 8 files')`)
	tab.Sound()
	tab.Click("dialog button", "Send") // without a word
	tab.Until(`document.querySelector('dialog .note.good')`)
	tab.Click("dialog button", "Close")
	tab.Click(".controls button", "Start")
	tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)

	tab.Go("#/q/look/agents/agent-0")
	tab.Until(`document.querySelectorAll('.message .attached').length === 2`)
	tab.Until(`[...document.querySelectorAll('.attached img')].filter((i) => i.complete && i.naturalWidth === 1).length === 2`)
	var alts, links []string
	tab.Eval(`[...document.querySelectorAll('.attached img')].map((i) => i.alt)`, &alts)
	tab.Eval(`[...document.querySelectorAll('.attached li a.small')].map((a) => a.innerText)`, &links)
	if got := strings.Join(alts, ", "); got != "Picture sent.png, Picture seen.png" {
		t.Errorf("the pictures are called %s", got)
	}
	if got := strings.Join(links, ", "); got != "sent.png, fake.png, pasted.txt, seen.png" {
		t.Errorf("the files are called %s", got)
	}
	if !tab.Is(`document.title !== 'taken' && [...document.querySelectorAll('.attached img')].every((i) => i.getBoundingClientRect().height <= 322)`) {
		t.Error("a picture is larger than the page shows, or what only looks like one has run")
	}
	tab.Sound()
}
