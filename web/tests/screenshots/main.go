// Screenshots makes the pictures of the README: it runs the offline examples in a home of
// its own, serves them, and takes a picture of each page in Chromium.
//
//	go -C web/tests run ./screenshots
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// root is the folder of Lyceum's go.mod, seen from the one of the tests, in which this runs.
const root = "../.."

// shots are the pages, by the picture's name.
var shots = []struct {
	name, path string
	readme     bool
}{
	{"quests", "#/", false},
	{"quest", "#/q/lab-number", true},
	{"canvas", "#/q/lab-number/canvas", true},
	{"contract", "#/q/thermal/canvas", true},
	{"timeline", "#/q/lab-number/timeline", false},
	{"papers", "#/q/lab-number/papers", false},
	{"agents", "#/q/lab-number/agents", false},
	{"evidence", "#/q/thermal/evidence?claim=1", true},
	{"compare", "#/compare?a=thermal&b=thermal-strict", false},
	{"new", "#/new", false},
	{"settings", "#/settings", false},
	{"study", "#/q/copilot", false},
	{"solo", "#/q/demo-number", false},
	{"many-quest", "#/q/lab-many", false},
	{"many-canvas", "#/q/lab-many/canvas", false},
	{"many-timeline", "#/q/lab-many/timeline", false},
	{"many-papers", "#/q/lab-many/papers", false},
	{"many-agents", "#/q/lab-many/agents", false},
}

// sizes are the windows.
var sizes = []struct {
	name string
	w, h int64
	dark bool
}{{"", 1440, 900, false}, {"-dark", 1440, 900, true}, {"-phone", 390, 844, false}, {"-phone-dark", 390, 844, true}}

func main() {
	to := flag.String("to", root+"/docs/pictures", "the folder to put the pictures into")
	all := flag.Bool("all", false, "every page in every size, not only those of the README")
	flag.Parse()
	if err := run(*to, *all); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(to string, all bool) (err error) {
	dir, err := os.MkdirTemp("", "lyceum-pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin, err := browsertest.Build(root, dir)
	if err != nil {
		return err
	}
	home := browsertest.Home{Bin: bin, Dir: filepath.Join(dir, "home")}
	steps := [][]string{
		{"run", root + "/examples/thermal/quest.yaml"},
		{"run", root + "/examples/lab-number/quest.yaml"},
		{"run", root + "/examples/demo-number/quest.yaml"},
		{"create", root + "/examples/thermal/quest.yaml", "--name", "thermal-strict", "--audit", "strict"},
		{"run", "thermal-strict"},
	}
	if all { // with three agents, and with many
		steps = append(steps, []string{"run", root + "/examples/copilot/quest.yaml"},
			[]string{"create", root + "/examples/lab-number/quest.yaml", "--name", "lab-many", "--agents", "24", "--max-turns", "700"})
	}
	for _, step := range steps {
		if _, err := home.Lyceum(step...); err != nil {
			return err
		}
	}
	if all {
		// It says that it was stopped by its limit, and has pages to show.
		if out, err := home.Lyceum("run", "lab-many"); err != nil && !strings.Contains(err.Error(), "limit on turns") {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	server, err := home.Serve("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return shoot(server, to, all)
}

func shoot(server *browsertest.Server, to string, all bool) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	browser, err := browsertest.Start()
	if err != nil {
		return err
	}
	defer browser.Close()
	ctx, cancel, err := browser.Open()
	if err != nil {
		return err
	}
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Navigate(server.Link), chromedp.WaitVisible("main")); err != nil {
		return err
	}
	for _, size := range sizes {
		if size.name != "" && !all {
			continue
		}
		for _, s := range shots {
			if !all && !s.readme {
				continue
			}
			var png []byte
			if err := chromedp.Run(ctx,
				chromedp.EmulateViewport(size.w, size.h), browsertest.Scheme(size.dark),
				chromedp.Navigate(server.Base+s.path), chromedp.Reload(), chromedp.WaitVisible("main"), browsertest.Settled(), chromedp.CaptureScreenshot(&png),
			); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if err := os.WriteFile(filepath.Join(to, s.name+size.name+".png"), png, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
