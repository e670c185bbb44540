package knowledge

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// tool is an entry of a server.
func tool(server, name, description string) Entry {
	return Entry{
		Source: MCP + ":" + server, Name: name, Shown: plain.ToolName(server, name), Description: description,
		Schema: `{"type":"object"}`, Trust: event.TrustStranger, Hash: event.HashOf([]byte(name + description)),
	}
}

func catalogue(t *testing.T, entries ...Entry) *Catalogue {
	t.Helper()
	c := new(Catalogue)
	for _, e := range entries {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func names(c *Catalogue) (out []string) {
	for _, e := range c.Entries() {
		out = append(out, e.Shown)
	}
	return out
}

func hash(t *testing.T, c *Catalogue) event.Hash {
	t.Helper()
	h, err := c.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	t.Run("ReplacesWhatIsIndexedAgain", func(t *testing.T) {
		t.Parallel()
		c := catalogue(t, tool("files", "list", "old"), tool("files", "list", "new"))
		if e, ok := c.Lookup("files__list"); c.Len() != 1 || !ok || e.Description != "new" {
			t.Errorf("a tool indexed twice: got %d entries and %+v, want the new one alone", c.Len(), e)
		}
	})
	t.Run("LetsGoOfTheNameOfWhatItReplaces", func(t *testing.T) {
		t.Parallel()
		c := catalogue(t, Entry{Source: Local, Name: "a", Shown: "a", Trust: event.TrustOwn})
		if err := c.Add(Entry{Source: Local, Name: "a", Shown: "b", Trust: event.TrustOwn}); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Lookup("a"); ok {
			t.Error("a tool that is shown by another name now is found by its old one")
		}
	})
	t.Run("KeepsTheSameNameOfTwoSourcesApart", func(t *testing.T) {
		t.Parallel()
		if c := catalogue(t, tool("a", "list", "x"), tool("b", "list", "x")); c.Len() != 2 {
			t.Errorf("the same tool on two servers: got %v, want two", names(c))
		}
	})
	t.Run("RefusesTwoToolsOfOneShownName", func(t *testing.T) {
		t.Parallel()
		c := catalogue(t, tool("a", "b__c", "first"))
		before := hash(t, c)
		err := c.Add(tool("a__b", "c", "second"))
		if !errors.Is(err, ErrClash) || !strings.Contains(err.Error(), "a__b__c") || !strings.Contains(err.Error(), "mcp:a__b") {
			t.Errorf("two tools shown as a__b__c: got %v, want a clash that names both", err)
		}
		if hash(t, c) != before {
			t.Error("a refused tool changed the catalogue")
		}
	})
	t.Run("KnowsThreeKindsOfSources", func(t *testing.T) {
		t.Parallel()
		for source, want := range map[string]bool{"local": true, "mcp:x": true, "skill:x": true, "web": false, "": false, "mcps:x": false} {
			err := new(Catalogue).Add(Entry{Source: source, Name: "n", Shown: "n"})
			if (err == nil) != want {
				t.Errorf("a tool of %q: got %v", source, err)
			}
		}
		if new(Catalogue).Add(Entry{Source: Local, Shown: "n"}) == nil || new(Catalogue).Add(Entry{Source: Local, Name: "n"}) == nil {
			t.Error("a tool without a name was taken")
		}
	})
	t.Run("LeavesNoTraceOfASourceThatIsRemoved", func(t *testing.T) {
		t.Parallel()
		c := catalogue(t, tool("a", "one", "x"))
		before := hash(t, c)
		for _, e := range []Entry{tool("b", "one", "x"), tool("b", "two", "x")} {
			if err := c.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if hash(t, c) == before {
			t.Error("two more tools, and the same hash")
		}
		c.RemoveSource("mcp:b")
		if _, ok := c.Lookup("b__two"); ok || hash(t, c) != before || c.Len() != 1 {
			t.Errorf("after its source was removed: got %v, want a__one alone and the hash of before", names(c))
		}
		if err := c.Add(Entry{Source: "skill:b", Name: "one", Shown: "b__one"}); err != nil {
			t.Errorf("the name of a removed tool is still taken: %v", err)
		}
	})
	t.Run("HashesAllOfAnEntryInAnyOrder", func(t *testing.T) {
		t.Parallel()
		a, b := tool("s", "a", "x"), tool("s", "b", "y")
		want := hash(t, catalogue(t, a, b))
		if hash(t, catalogue(t, b, a)) != want {
			t.Error("the hash depends on the order")
		}
		for name, change := range map[string]func(*Entry){
			"description": func(e *Entry) { e.Description = "z" },
			"schema":      func(e *Entry) { e.Schema = `{"type":"object","properties":{}}` },
			"trust":       func(e *Entry) { e.Trust = event.TrustTrusted },
			"hash":        func(e *Entry) { e.Hash = event.HashOf(nil) },
			"paths":       func(e *Entry) { e.Paths = []string{"path"} },
		} {
			other := b
			change(&other)
			if hash(t, catalogue(t, a, other)) == want {
				t.Errorf("another %s, and the same hash", name)
			}
		}
	})
	t.Run("ShortensLongNamesWithAHash", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("very_", 20)
		c := catalogue(t, tool("server", long+"a", "x"), tool("server", long+"b", "x"))
		for _, name := range names(c) {
			if len(name) > plain.MaxToolName {
				t.Errorf("%s has %d letters, more than models take", name, len(name))
			}
		}
		if c.Len() != 2 {
			t.Errorf("two long names: got %v", names(c))
		}
	})
	t.Run("TakesKeywordsFromNameAndParameters", func(t *testing.T) {
		t.Parallel()
		e := Entry{Source: "mcp:git-hub", Name: "listPullRequests", Schema: `{"type":"object","properties":{"repoOwner":{"type":"string"},"page":{"type":"object","properties":{"size":{"type":"integer"}}},"tags":{"type":"array","items":{"type":"object","properties":{"colour":{}}}}}}`}
		got := e.Keywords()
		for _, want := range []string{"list", "pull", "requests", "git", "hub", "repo", "owner", "page", "size", "colour"} {
			if !slices.Contains(got, want) {
				t.Errorf("keywords %q: want %q among them", got, want)
			}
		}
		for _, odd := range []string{"", "null", "[]", `{"properties":7}`, `{"properties":{"a":null}}`, "{", `{"properties":{"a":{"properties":[]}}}`} {
			e.Schema = odd
			e.Keywords() // and does not fail
		}
	})
}
