// No race detector: what is tested is processes of Chromium in sandboxes, and how long they take.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/event"
	"lyceum/internal/need"
)

func TestMain(m *testing.M) { computertest.Main(m) }

// room is a computer with a browser.
type room struct {
	*testing.T
	c *computer.Computer
	b *Browser
}

// open starts a computer.
func open(t *testing.T, d computer.Driver, s computer.Spec) *computer.Computer {
	t.Helper()
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	dir := t.TempDir()
	place := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	if err := os.Mkdir(place.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := computer.Open(t.Context(), d, place, s, computer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(computer.StopAt(ctx, place, d), c.Close()); err != nil {
			t.Errorf("stop the computer: %v", err)
		}
	})
	return c
}

// enter starts a browser in a computer of its own.
func enter(t *testing.T) *room {
	t.Helper()
	need.Programs(t, "bwrap", "chromium")
	c := open(t, bubblewrap.New(bubblewrap.Options{}), computer.Spec{})
	b, err := Launch(t.Context(), c, Options{Start: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close the browser: %v", err)
		}
	})
	return &room{t, c, b}
}

// files are a page's.
func files(of map[string]string) func(string) ([]byte, string, error) {
	return func(path string) ([]byte, string, error) {
		text, ok := of[path]
		if !ok {
			return nil, "", os.ErrNotExist
		}
		media := map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css"}[filepath.Ext(path)]
		return []byte(text), media, nil
	}
}

// patience is a limit that a slow machine does not meet.
const patience = 4 * time.Minute

// visit visits a page of one file.
func (r *room) visit(html string, steps ...event.WorldStep) *Seen {
	r.Helper()
	return r.look(Visit{Files: files(map[string]string{"index.html": html}), Entry: "index.html", Steps: steps, Limit: patience})
}

func (r *room) look(v Visit) *Seen {
	r.Helper()
	s, err := r.b.Visit(r.Context(), v)
	if err != nil {
		r.Fatalf("visit: %v", err)
	}
	return s
}

// lines are the nodes of a sight, for people.
func lines(s Sight) string {
	var b strings.Builder
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "%s%s %q", strings.Repeat("  ", n.Depth), n.Role, n.Name)
		if n.Value != "" {
			fmt.Fprintf(&b, " =%q", n.Value)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func click(role, name string) event.WorldStep {
	return event.WorldStep{Do: "click", At: event.WorldPlace{Role: role, Name: name}}
}

const counter = `<!doctype html><html lang=en><title>Counter</title><h1>Counter</h1><p id=n role=status aria-label=Count>0</p><button id=b>More</button>
<script>let n=0; b.onclick=()=>{ document.getElementById('n').textContent=++n; console.log('now', n, {a:1}); setTimeout(()=>document.title='Counter '+n, 50) }</script>`

func TestAVisit(t *testing.T) {
	t.Parallel()
	r := enter(t)
	s := r.look(Visit{Files: files(map[string]string{"index.html": counter}), Entry: "index.html", Steps: []event.WorldStep{click("button", "More"), click("button", "More")}, Limit: patience, Picture: true})
	t.Logf("%s %s %s\n%s\n%s\n%+v", r.b.Version(), s.End, s.Why, lines(s.Before), lines(s.After), s.After.Requests)
	if s.End != Done || s.Step != 2 {
		t.Fatalf("the visit ended with %s at %d: %s", s.End, s.Step, s.Why)
	}
	if s.Before.Title != "Counter" || s.After.Title != "Counter 2" {
		t.Errorf("titles: got %q and %q, want Counter and Counter 2", s.Before.Title, s.After.Title)
	}
	if !strings.Contains(s.Before.Text, "0") || !strings.Contains(s.After.Text, "2") {
		t.Errorf("texts: got %q and %q, want 0 and then 2", s.Before.Text, s.After.Text)
	}
	if !slices.Equal(s.After.Console, []string{"now 1 Object", "now 2 Object"}) {
		t.Errorf("console: got %q", s.After.Console)
	}
	if len(s.After.Picture) < 1000 {
		t.Errorf("a picture of %d bytes", len(s.After.Picture))
	}
}
