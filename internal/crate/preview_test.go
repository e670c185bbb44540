package crate

import (
	"strings"
	"testing"

	"lyceum/internal/quest"
)

func TestThePreviewShowsPlotsAsImages(t *testing.T) {
	t.Parallel()
	a := &account{state: &quest.State{Name: "q"}, blobs: newInventory(nil)}
	if page := string(a.preview("?", "", nil)); strings.Contains(page, "<img") || strings.Contains(page, "img-src") {
		t.Errorf("without a plot: got %s, want neither images nor leave to show some", page)
	}
	page := string(a.preview("?", "", [][]byte{[]byte(`<svg onload="alert(1)">"></svg>`)}))
	if !strings.Contains(page, "img-src data:") || !strings.Contains(page, `<img alt="Plot 1" src="data:image/svg+xml;base64,`) || strings.Contains(page, "onload") {
		t.Errorf("with a plot: got %s, want it as an image in base64", page)
	}
}
