package tests

import "testing"

// told takes the place of the browser's notifications: what was asked, and what was shown.
const told = `window.told = { asked: 0, shown: [] };
window.Notification = class { constructor(title) { told.shown.push(title) }
	static permission = 'default'; static async requestPermission() { told.asked++; this.permission = 'granted'; return 'granted' } };`

// TestATabSaysHowItsQuestStands: its title and its icon, and a notification to who wants one.
func TestATabSaysHowItsQuestStands(t *testing.T) {
	t.Parallel()
	h := home(t)
	lyceum(t, h, "create", slow(t, "tabbed", 20, "300ms"))
	tab := chromium(t).Tab(t, serve(t, h))
	before(tab, told)
	tab.Fresh("#/q/tabbed")
	tab.Until(`document.title === 'tabbed · Lyceum' && document.querySelector('link[rel=icon]').href.endsWith('icon.svg')`)
	tab.Click(".controls button", "Start")
	tab.Until(`document.title === '▶ tabbed · Lyceum' && document.querySelector('link[rel=icon]').href.startsWith('data:')`)
	if !tab.Is(`told.asked === 0`) {
		t.Error("the browser was asked for leave to notify, and nobody had wanted that")
	}
	tab.Click(".controls button", "Tell me at the end")
	tab.Until(`told.asked === 1 && localStorage.getItem('lyceum-notify') === 'yes'`)
	tab.Until(`document.title === '✓ tabbed · Lyceum' && told.shown.join() === 'tabbed has its answer'`)
	tab.Go("#/")
	tab.Until(`document.querySelector('link[rel=icon]').href.endsWith('icon.svg')`)
	tab.Sound()
}
