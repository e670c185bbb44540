package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/config"
	"lyceum/internal/model/wire"
)

// Listing is what a server says of its models, or why it says nothing.
type Listing struct {
	Provider, URL string
	Models        []Info
	Err           error
}

// Listings asks the servers that no table can know: those of config.yaml, and Ollama. All
// are asked at once, for a few seconds.
func (r *Registry) Listings(ctx context.Context) []Listing {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.providers)) {
		if p := r.providers[name]; p.own || name == ollama {
			names = append(names, name)
		}
	}
	out := make([]Listing, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() { out[i] = r.listing(ctx, r.providers[name]) })
	}
	wait.Wait()
	return out
}

func (r *Registry) listing(ctx context.Context, p *provider) Listing {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	l := Listing{Provider: p.name}
	var c *wire.Client
	if c, l.Err = r.client(ctx, p); l.Err != nil {
		return l
	}
	l.URL = c.Base
	list, err := askModels(ctx, c, p.api)
	if err != nil {
		l.Err = errors.New(textOf(err))
		if errors.Is(err, context.DeadlineExceeded) {
			l.Err = fmt.Errorf("%s has said nothing for %s", p.name, asking)
		}
		return l
	}
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.ID, b.ID) })
	for _, m := range list {
		info := r.info(p, m.ID)
		info.HasKey = true
		if info.Context == 0 && m.size() > 0 {
			info.Context, info.Said = m.size(), "its server"
		}
		l.Models = append(l.Models, info)
	}
	r.sizes(ctx, p, c, l.Models)
	return l
}

// maxSized is how many models of a server are asked about one by one, sizing how many at once.
const (
	maxSized = 64
	sizing   = 8
)

// sizes asks a server what the models of its list can see of which the list does not say so,
// in the ways of its program (askSize). What the time does not suffice for stays unknown.
func (r *Registry) sizes(ctx context.Context, p *provider, c *wire.Client, models []Info) {
	var left []*Info
	for i := range models {
		if models[i].Context == 0 && len(left) < maxSized {
			left = append(left, &models[i])
		}
	}
	if len(left) == 0 || p.name != ollama && (!p.own || p.api != config.APIOpenAI) {
		return
	}
	ask := func(info *Info) bool {
		size, doubt := r.askOllama(ctx, c, info.Model)
		if info.Doubt = doubt; size > 0 && doubt == "" {
			info.Context, info.Said = size, "its server"
		}
		return size > 0
	}
	if p.own {
		if size := askLlama(ctx, c); size > 0 { // what it has made for all that it runs
			for _, info := range left {
				info.Context, info.Said = size, "its server"
			}
			return
		}
		if !ask(left[0]) { // no Ollama under another name
			left[0].Doubt = ""
			return
		}
		left = left[1:]
	}
	var wait sync.WaitGroup
	places := make(chan struct{}, sizing)
	for _, info := range left {
		places <- struct{}{}
		wait.Go(func() {
			ask(info)
			<-places
		})
	}
	wait.Wait()
}
