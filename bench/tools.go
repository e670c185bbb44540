package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/knowledge"
	"lyceum/internal/knowledge/trial"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/search/glove"
)

// tools measures finding tools among ten thousand as a quest does it: the servers' lists are
// pinned in the ledger's blobs, the catalogue is made of them, indexed, opened again by the next
// process, and searched. It tells how much less a model is shown than if all were listed.
func (b *bench) tools() error {
	n := 10_000
	fmt.Printf("\ntools: %d of %d servers in a catalogue, words on disk and vectors of the binary's own\n", n, (n+999)/1000)
	dir := b.fresh()
	defer os.RemoveAll(dir)
	pinned, rt, end, err := pinnedTools(dir, n)
	if err != nil {
		return err
	}
	defer end()
	var first, again [2][]float64 // seconds, and seconds of the processor
	for range 3 {
		if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil {
			return err
		}
		for _, to := range []*[2][]float64{&first, &again} {
			took, busy, err := openTools(rt, pinned)
			if err != nil {
				return err
			}
			to[0], to[1] = append(to[0], took), append(to[1], busy)
		}
	}
	d := rt.NewDiscovery()
	defer d.Close()
	if _, _, err := d.Search(context.Background(), pinned, wanted("send a letter"), 100_000, rt.Embedder); err != nil {
		return err
	}
	all, shown, took, busy, err := searchTools(d, pinned)
	if err != nil {
		return err
	}
	fmt.Printf("  indexed in %.2f s, opened again in %.0f ms (medians of 3), query median %.2f ms, 99th percentile %.2f ms\n",
		median(first[0]), median(again[0])*1e3, median(took)*1e3, high(took)*1e3)
	fmt.Println("  the promises are about the processor's time, which is the same on a busy machine:")
	b.promise("seconds to index 10,000 tools", median(first[1]), false, 2)
	b.promise("ms to open them again", median(again[1])*1e3, false, 300)
	b.promise("opened again, of the time to index them", median(again[1])/median(first[1]), false, 0.35)
	b.promise("ms for a query, 99th percentile", high(busy)*1e3, false, 15)
	b.promise("percent of listing all that a model is shown less with eight", 100-100*shown/all, true, 95)
	return nil
}

// high is the 99th percentile.
func high(times []float64) float64 { return slices.Sorted(slices.Values(times))[len(times)*99/100] }

// wanted is a search for what fits an intent.
func wanted(intent string) *event.CatalogueCall {
	return &event.CatalogueCall{Intent: event.Text{Text: intent}, Most: quest.FirstTools}
}

// pinnedTools is a home in which servers have listed so many tools.
func pinnedTools(dir string, n int) (*quest.Pinned, *runtime.Runtime, func(), error) {
	store, err := sqlite.Open(filepath.Join(dir, "ledger.db"), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	end := func() { _ = store.Close() }
	rt, err := newRuntime(dir, store, nil)
	if err != nil {
		return nil, nil, end, err
	}
	rt.Embedder = glove.Embedder{}
	put := func(v any) (event.Ref, error) {
		data, err := json.Marshal(v)
		if err != nil {
			return event.Ref{}, err
		}
		return rt.Blobs.Put(context.Background(), data)
	}
	p := &quest.Pinned{}
	if p.Core, err = put([]any{}); err != nil {
		return nil, nil, end, err
	}
	settings, err := put(map[string]string{"url": "https://mcp.example.org"})
	if err != nil {
		return nil, nil, end, err
	}
	list := trial.Many(n)
	for at := 0; at < n; at += 1000 {
		var pins []any
		for _, e := range list[at:min(at+1000, n)] {
			pins = append(pins, map[string]any{"offered": e.Shown, "tool": map[string]string{"name": e.Name, "description": e.Description, "schema": e.Schema}})
		}
		ref, err := put(pins)
		if err != nil {
			return nil, nil, end, err
		}
		p.Servers = append(p.Servers, quest.PinnedServer{Name: fmt.Sprint("server-", at/1000), Settings: settings, List: ref})
	}
	return p, rt, end, nil
}

// openTools is how long the first search takes a process that has just begun.
func openTools(rt *runtime.Runtime, p *quest.Pinned) (took, busy float64, err error) {
	begun, worked := time.Now(), cpuSeconds()
	d := rt.NewDiscovery()
	_, _, err = d.Search(context.Background(), p, wanted("send a letter"), 100_000, rt.Embedder)
	return time.Since(begun).Seconds(), cpuSeconds() - worked, errors.Join(err, d.Close())
}

// searchTools asks for what people want. It says how many bytes all tools take and the eight best,
// and how long each search took.
func searchTools(d *runtime.Discovery, p *quest.Pinned) (all, shown float64, took, busy []float64, err error) {
	c, _, err := d.Catalogue(context.Background(), p)
	if err != nil {
		return 0, 0, nil, nil, err
	}
	size := func(e knowledge.Entry) float64 { return float64(len(e.Shown) + len(e.Description) + len(e.Schema)) }
	for _, e := range c.Entries() {
		all += size(e)
	}
	asked := trial.Open()
	for _, in := range asked {
		begun, worked := time.Now(), cpuSeconds()
		found, _, err := d.Search(context.Background(), p, wanted(in.Text), 100_000, glove.Embedder{})
		if err != nil {
			return 0, 0, nil, nil, err
		}
		took, busy = append(took, time.Since(begun).Seconds()), append(busy, cpuSeconds()-worked)
		for _, f := range found.Found {
			e, _ := c.Lookup(f.Name)
			shown += size(e) / float64(len(asked))
		}
	}
	return all, shown, took, busy, nil
}
