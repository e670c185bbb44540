package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"lyceum/internal/browser"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/event"
)

// counted is a page with one button.
const counted = `<!doctype html><html lang=en><title>Counter</title><p role=status id=n>0</p><button id=b>More</button>
<script>let n = 0; b.onclick = () => document.getElementById('n').textContent = ++n</script>`

// browsers measures a browser in a computer: until it is ready, and a story in one that is.
func (b *bench) browsers() error {
	fmt.Printf("\na browser in a computer\n")
	ctx := context.Background()
	d := bubblewrap.New(bubblewrap.Options{})
	if err := d.Check(ctx); err != nil {
		fmt.Printf("  LEFT OUT %s: %v\n", d.Name(), err)
		return nil
	}
	v := browser.Visit{
		Files: func(path string) ([]byte, string, error) {
			if path != "index.html" {
				return nil, "", os.ErrNotExist
			}
			return []byte(counted), "text/html", nil
		},
		Entry: "index.html", Picture: true, Limit: patience,
		Steps: []event.WorldStep{{Do: "click", At: event.WorldPlace{Role: "button", Name: "More"}}},
	}
	var ready, warm []float64
	for range 5 {
		c, err := b.openComputer(ctx, d, nil)
		if err != nil {
			return err
		}
		began := time.Now()
		w, err := browser.Launch(ctx, c, browser.Options{})
		if err != nil {
			return err
		}
		ready = append(ready, time.Since(began).Seconds())
		for i := range 6 {
			began = time.Now()
			s, err := w.Visit(ctx, v)
			if err != nil || s.End != browser.Done {
				return fmt.Errorf("a visit: %+v, %w", s, err)
			}
			if i > 0 {
				warm = append(warm, time.Since(began).Seconds())
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		if err := c.Stop(ctx); err != nil {
			return err
		}
	}
	b.promise("a browser is ready after s", median(ready), false, 3)
	b.promise("s of a story in a browser that is warm, with two pictures", median(warm), false, 1.5)
	return nil
}
