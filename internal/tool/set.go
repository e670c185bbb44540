package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/model"
	"lyceum/internal/plain"
)

// Set is where tools come from: a Registry, or several sources together.
type Set interface {
	// Names are those of all tools, sorted.
	Names() []string
	Lookup(name string) (Tool, bool)
	// Do does a call of the named tool, whatever its arguments are.
	Do(ctx context.Context, name string, c Call) Result
}

// Offered returns the names of the tools that an agent gets if nobody chose any:
// all but those that must be named, and without a computer none that needs one.
func Offered(s Set, computers bool) []string {
	return slices.DeleteFunc(s.Names(), func(name string) bool {
		t, _ := s.Lookup(name)
		return t.Named || t.Computer && !computers
	})
}

// Specs returns what a model is told of the named tools, sorted by name.
func Specs(s Set, names []string) ([]model.Tool, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	specs := make([]model.Tool, 0, len(sorted))
	for _, name := range sorted {
		t, ok := s.Lookup(name)
		if !ok {
			return nil, unknown(name, s.Names())
		}
		specs = append(specs, t.Tool)
	}
	return specs, nil
}

func unknown(name string, names []string) error {
	if close := plain.Near(name, names); len(close) > 0 {
		return fmt.Errorf("there is no tool %q; did you mean %s?", name, strings.Join(close, " or "))
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no tool %q, nor any other", name)
	}
	return fmt.Errorf("there is no tool %q; there are %s", name, strings.Join(names, ", "))
}

// Extended is a set to which tools of other sources can be added while it is used. It is
// safe for use by several goroutines.
type Extended struct {
	base Set

	mu   sync.RWMutex
	more map[string]*Registry
}

// Extend returns a set of all that base has, which must not change.
func Extend(base Set) *Extended { return &Extended{base: base, more: map[string]*Registry{}} }

// Add adds tools, or puts others in the place of those that were added under their names.
// A tool of another source cannot take the name of one of the base.
func (x *Extended) Add(tools ...Tool) error {
	for _, t := range tools {
		if _, ok := x.base.Lookup(t.Name); ok {
			return fmt.Errorf("there is a tool %s already, of Lyceum's own: the one of %s cannot have its name", t.Name, t.Source)
		}
		one, err := New(t)
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.more[t.Name] = one
		x.mu.Unlock()
	}
	return nil
}

// Remove takes tools away that were added.
func (x *Extended) Remove(names ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range names {
		delete(x.more, name)
	}
}

// of is the set that has a tool.
func (x *Extended) of(name string) Set {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if r := x.more[name]; r != nil {
		return r
	}
	return x.base
}

// Names implements Set.
func (x *Extended) Names() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Sorted(slices.Values(slices.Concat(x.base.Names(), slices.Collect(maps.Keys(x.more)))))
}

// Lookup implements Set.
func (x *Extended) Lookup(name string) (Tool, bool) { return x.of(name).Lookup(name) }

// Do implements Set.
func (x *Extended) Do(ctx context.Context, name string, c Call) Result {
	return x.of(name).Do(ctx, name, c)
}
