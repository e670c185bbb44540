package tests

import "testing"

// TestTheDocumentsAreAccessible in every size, light and dark.
func TestTheDocumentsAreAccessible(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	tab := chromium(t).Tab(t, readers(t))
	for _, name := range []string{"index", "lab"} {
		tab.Go("docs/" + name + ".html")
		inEverySize(t, tab, "Documents-"+name, axe)
	}
}
