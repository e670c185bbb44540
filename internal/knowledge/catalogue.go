// Package knowledge is what agents can find when they need it: a catalogue of tools, and the
// search in it.
//
// A catalogue is a set of entries, each known by where it comes from and its name there. It is
// a value: the same entries have the same hash on every machine, in whatever order they came,
// so that a search can be made again by whoever has the entries. What an entry says is its
// source's: a stranger's text, which is searched and shown, and never obeyed.
//
// An Index searches a catalogue by words and by meaning. Without vectors it searches by words
// alone, and says so; an odd intent finds little, and is no error.
package knowledge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// The kinds of sources that tools come from. There are no others.
const (
	Local = "local" // Lyceum itself
	MCP   = "mcp"   // an MCP server
	Skill = "skill" // a script of a skill
)

// Kinds are all of them.
var Kinds = []string{Local, MCP, Skill}

// Entry is a tool that can be found, or something besides tools.
type Entry struct {
	// What says what it is besides a tool: resource or prompt, empty for a tool.
	What string `json:"what,omitzero"`
	// Source is where it comes from: local, mcp:<server> or skill:<skill>. Name is what it is
	// called there, Shown what agents call it.
	Source string `json:"source"`
	Name   string `json:"name"`
	Shown  string `json:"shown"`
	// Description and Schema are what a model is shown, Says what the source itself says of
	// the tool, where that is less: it is what is searched.
	Description string `json:"description"`
	Schema      string `json:"schema"`
	Says        string `json:"says,omitzero"`
	// Trust is what the quest's owner thinks of the source: own, trusted or stranger.
	Trust string `json:"trust"`
	// Paths and Reads are as in event.ShownTool.
	Paths []string `json:"paths,omitempty"`
	Reads bool     `json:"reads,omitzero"`
	// Hash pins what the source says: whatever it changes, the hash is another.
	Hash event.Hash `json:"hash"`
}

// Kind is the kind of the entry's source.
func (e *Entry) Kind() string { return KindOf(e.Source) }

// KindOf is the kind of a source.
func KindOf(source string) string {
	kind, _, _ := strings.Cut(source, ":")
	return kind
}

// key is what an entry is known by.
type key struct{ source, name string }

// Catalogue is a set of entries. Its zero value is empty and ready. It is not safe for use by
// several goroutines while it changes.
type Catalogue struct {
	entries map[key]Entry
	shown   map[string]key
}

// ErrClash says that two tools would be shown by one name.
var ErrClash = errors.New("another tool is shown by this name")

// Add puts an entry in, in the place of the one that has its source and name. An entry whose
// shown name is another's is refused, and the catalogue stays as it is.
func (c *Catalogue) Add(e Entry) error {
	k := key{e.Source, e.Name}
	switch other, taken := c.shown[e.Shown]; {
	case !slices.Contains(Kinds, e.Kind()):
		return fmt.Errorf("the tool %.80q comes from %.80q: want local, mcp or skill", e.Name, e.Source)
	case e.Name == "" || e.Shown == "":
		return fmt.Errorf("a tool of %.80q has no name", e.Source)
	case taken && other != k:
		return fmt.Errorf("the tool %.80q of %.80q: %w (%.80q): the one of %.80q stays", e.Name, e.Source, ErrClash, e.Shown, other.source)
	}
	if c.entries == nil {
		c.entries, c.shown = map[key]Entry{}, map[string]key{}
	}
	if old, ok := c.entries[k]; ok {
		delete(c.shown, old.Shown)
	}
	c.entries[k], c.shown[e.Shown] = e, k
	return nil
}

// Remove takes an entry out.
func (c *Catalogue) Remove(source, name string) {
	k := key{source, name}
	if e, ok := c.entries[k]; ok {
		delete(c.entries, k)
		delete(c.shown, e.Shown)
	}
}

// RemoveSource takes all out that a source has brought.
func (c *Catalogue) RemoveSource(source string) {
	for k := range c.entries {
		if k.source == source {
			c.Remove(k.source, k.name)
		}
	}
}

// Len is how many entries there are.
func (c *Catalogue) Len() int { return len(c.entries) }

// Lookup finds an entry by the name that agents call it.
func (c *Catalogue) Lookup(shown string) (Entry, bool) {
	k, ok := c.shown[shown]
	return c.entries[k], ok
}

// Entries are all of them, by their shown names.
func (c *Catalogue) Entries() []Entry {
	out := make([]Entry, 0, len(c.entries))
	for _, e := range c.entries {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Shown, b.Shown) })
	return out
}

// Hash is that of all entries: whatever is changed about one, it is another.
func (c *Catalogue) Hash() (event.Hash, error) {
	data, err := json.Marshal(c.Entries(), json.Deterministic(true))
	if err != nil {
		return event.Hash{}, fmt.Errorf("hash a catalogue: %w", err)
	}
	return event.HashOf(data), nil
}
