package knowledge

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
	"lyceum/internal/search"
	"lyceum/internal/wording"

	"github.com/go-json-experiment/json"
)

// maxSearched is how many bytes of what a source says of a tool are searched.
const maxSearched = 4 << 10

// How much of a schema is read for keywords.
const (
	maxParameters = 64
	maxNested     = 4
)

// Keywords are the words by which an entry is found besides its description: the parts of its
// name, and its parameters with what is said of them.
func (e *Entry) Keywords() []string {
	var out []string
	seen := map[string]bool{}
	add := func(text string) {
		for _, w := range search.Tokens(text) {
			if !seen[w] && !strings.ContainsAny(w, "_'") { // its parts are there, too
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	add(e.Name)
	add(spaced(owner(e.Source)))
	for _, p := range parameters(e.Schema) {
		add(p.name)
	}
	return out
}

// owner is the server or the skill of a source.
func owner(source string) string {
	_, name, _ := strings.Cut(source, ":")
	return name
}

// spaced puts spaces where names have hyphens and underscores.
func spaced(name string) string { return strings.NewReplacer("_", " ", "-", " ").Replace(name) }

type parameter struct{ name, about string }

// parameters are those of a schema in its order, those of nested objects behind them. What is
// no schema has none.
func parameters(schema string) (out []parameter) {
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		m, ok := v.(map[string]any)
		if !ok || depth == 0 {
			return
		}
		properties, _ := m["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if len(out) >= maxParameters {
				return
			}
			p, _ := properties[name].(map[string]any)
			about, _ := p["description"].(string)
			out = append(out, parameter{name, about})
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			walk(properties[name], depth-1)
			if p, ok := properties[name].(map[string]any); ok {
				walk(p["items"], depth-1)
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(schema), &v) == nil {
		walk(v, maxNested)
	}
	return out
}

// documentsVersion is how documents are made of entries. Whoever changes that counts it up, or
// indexes on disk keep the old ones.
const documentsVersion = 1

// Documents are the entries of a catalogue as they are searched, in the order of their shown
// names: of each the text that has a meaning, and beside it the words that count besides. These
// are stems, the name again, the kinds of its verbs, and what is said of its siblings: the tools
// of the same source for the same thing, one of which often says what the others take for granted.
func (c *Catalogue) Documents() []search.Document { return documents(c.Entries()) }

func documents(entries []Entry) []search.Document {
	of := make([]*family, len(entries))
	families := map[string]*family{}
	for i := range entries {
		thing := entries[i].thing()
		if families[thing] == nil {
			families[thing] = &family{}
		}
		of[i] = families[thing]
		of[i].said = append(of[i].said, entries[i].said())
	}
	for _, f := range families {
		f.text = plain.Cut(strings.Join(f.said, " "), maxSearched)
		f.words = once(f.text) + " " + stems(f.text)
	}
	docs := make([]search.Document, len(entries))
	for i := range entries {
		docs[i] = entries[i].document(of[i])
	}
	return docs
}

// family is the tools of one source for one thing: what is said of them, and its words.
type family struct {
	said        []string
	text, words string
}

// said is what the source says of the tool.
func (e *Entry) said() string {
	if e.Says != "" {
		return plain.Cut(e.Says, maxSearched)
	}
	return plain.Cut(e.Description, maxSearched)
}

// thing is what a tool is for, by its source and its name without the verb.
func (e *Entry) thing() string {
	words := strings.Fields(nameWords(e.Name))
	for i, w := range words {
		words[i] = wording.Stem(w)
	}
	if len(words) > 1 {
		words = words[1:]
	}
	return e.Source + "\n" + strings.Join(words, " ")
}

func (e *Entry) document(f *family) search.Document {
	name, said := nameWords(e.Name), e.said()
	var names []string
	for _, p := range parameters(e.Schema) {
		names = append(names, spaced(p.name))
	}
	parameters := strings.Join(names, " ")
	more := []string{name, parameters, owner(e.Source), stems(said), stems(name), stems(name), stems(parameters), kinds(name), kinds(name), f.words}
	return search.Document{ID: e.Shown, Title: e.Shown, Paragraphs: []string{name + ". " + said + " " + f.text}, Contexts: []string{strings.Join(more, " ")}}
}

// nameWords are the words of a name: list_files and listFiles are list files.
func nameWords(name string) string {
	var out []string
	for _, w := range strings.Fields(spaced(name)) {
		parts := search.Tokens(w)
		if len(parts) > 1 {
			parts = parts[1:] // the first is the whole
		}
		out = append(out, parts...)
	}
	return strings.Join(out, " ")
}

// once are the stems of a text, each once.
func once(text string) string {
	var out []string
	seen := map[string]bool{}
	for _, w := range search.Tokens(text) {
		if s := wording.Stem(w); ascii(w) && !strings.ContainsAny(w, "_'") && !seen[s] && !search.StopWord(w) {
			seen[s] = true
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// stems are the stems of a text's words where they are not the words themselves.
func stems(text string) string {
	var out []string
	for _, w := range search.Tokens(text) {
		if s := wording.Stem(w); s != w && ascii(w) {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// verbs are words that say nothing in a question, and much in what somebody wants to do.
var verbs = map[string]bool{"find": true, "get": true, "give": true, "show": true, "use": true}

// asked is an intent as words are searched: stems in the place of English words, without those
// that say nothing, and all else as it is.
func asked(intent string) string {
	var out []string
	for _, w := range search.Tokens(intent) {
		if ascii(w) && !strings.ContainsAny(w, "_'") && (!search.StopWord(w) || verbs[w]) {
			out = append(out, wording.Stem(w))
		}
	}
	out = append(out, kinds(intent))
	foreign := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return ' '
		}
		return r
	}, intent)
	return strings.Join(out, " ") + " " + strings.Join(strings.Fields(foreign), " ")
}

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
