package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// names are the words by which one run calls what another run calls otherwise: the
// references of papers come from the seed and the place in the ledger, the ids of
// commands from the seq of their call. In their stead stands who made the thing, and
// which of its maker's it is.
type names struct {
	of    map[string]string
	count map[string]int
}

// give names the next thing of a kind that somebody made.
func (n *names) give(word, kind, by string) string {
	if n.of == nil {
		n.of, n.count = map[string]string{}, map[string]int{}
	}
	group := kind + ":" + by
	n.count[group]++
	name := fmt.Sprintf("%s/%d", group, n.count[group])
	n.of[word] = name
	return name
}

// call is the name of a thing, or the word itself if nobody named it.
func (n *names) call(word string) string {
	if name, ok := n.of[word]; ok {
		return name
	}
	return word
}

// plain writes a text with the names in it.
func (n *names) plain(s string) string {
	if len(n.of) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !wordy(s[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(s) && wordy(s[end]) {
			end++
		}
		word := strings.TrimRight(s[i:end], ".-")
		if name, ok := n.of[word]; ok {
			b.WriteString(s[done:i])
			b.WriteString(name)
			done = i + len(word)
		}
		i = end
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func wordy(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.'
}

// volatile are members of a body that say where and when, not what.
var volatile = map[string]bool{
	"answer": true, "at": true, "award": true, "bid": true, "call": true, "cfp": true, "deadline": true, "duration": true, "fingerprint": true, "inbox": true, "part": true,
	"seq": true, "time": true, "turn": true,
}

// lasting is JSON without what is volatile, in one spelling. What is no JSON stays as
// it is.
func lasting(data []byte, drop bool) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return string(data)
	}
	if drop {
		v = without(v)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // people read it
	if enc.Encode(v) != nil {
		return string(data)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if volatile[k] {
				delete(v, k)
			} else {
				v[k] = without(x)
			}
		}
	case []any:
		for i, x := range v {
			v[i] = without(x)
		}
	}
	return v
}

var took = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.{0,120}?exit code -?\d+(?: \(\w+\))?), after [0-9.]+ s`)
})

// timeless is what a command's outcome says without how long it took.
func timeless(s string) string { return took().ReplaceAllString(s, "$1") }
