package provider

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/config"
)

// maxName is how long the name of a model may be.
const maxName = 128

// nameForm is what names look like: words between slashes, none of them only dots.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@+-]*(/[A-Za-z0-9_][A-Za-z0-9._:@+-]*)*$`)

// resolve finds the provider of a model, and what the provider calls it.
func (r *Registry) resolve(name string) (p *provider, bare string, err error) {
	if len(name) > maxName {
		return nil, "", fmt.Errorf("the name of the model, %.40q…, has %d bytes, more than %d", name, len(name), maxName)
	}
	if !nameForm.MatchString(name) || strings.Contains(name, "..") {
		return nil, "", fmt.Errorf("%q cannot be the name of a model: letters, digits and . _ : @ + - can, with / between provider and model", name)
	}
	if first, rest, ok := strings.Cut(name, "/"); ok {
		if p := r.providers[first]; p != nil {
			return p, rest, nil
		}
		text := fmt.Sprintf("there is no provider %q for the model %q", first, name)
		if !config.ProviderName(first) {
			return nil, "", r.unknown(name, text)
		}
		near := "; there are " + strings.Join(slices.Sorted(maps.Keys(r.providers)), ", ")
		if list := r.near(name); len(list) > 0 {
			near = "; near it are " + strings.Join(list, ", ")
		}
		return nil, "", fmt.Errorf("%s%s. For a server of your own add to %s:\n\nproviders:\n  %s:\n    {api: openai, url: \"http://localhost:8000/v1\"}", text, near, r.file, first)
	}
	p = r.prefixed(name)
	if p == nil {
		return nil, "", r.unknown(name, fmt.Sprintf("there is no model %q", name))
	}
	if meant := r.mistyped(p.name, name); meant != "" {
		return nil, "", fmt.Errorf("there is no model %q that Lyceum knows; near it is %s. If there is one, call it %s/%s", name, meant, p.name, name)
	}
	return p, name, nil
}

// mistyped returns the model that a name was meant for: one whose words are the
// same but for a slip in one of them. A name that is new in another way, such as in
// its numbers, may well be that of a new model.
func (r *Registry) mistyped(provider, name string) string {
	if r.entry(provider, name) != nil {
		return ""
	}
	var meant string
	typed, least := words(name), maxName
	for _, k := range r.rows() {
		far, ok := slip(typed, words(k.model))
		switch {
		case k.provider != provider || !ok:
		case far == 0:
			return ""
		case distance(name, k.model) < least:
			meant, least = k.model, distance(name, k.model)
		}
	}
	return meant
}

var wordForm = regexp.MustCompile(`[A-Za-z]+`)

func words(name string) []string { return wordForm.FindAllString(name, -1) }

// slip says how far two names are from each other, if they differ in one word.
func slip(a, b []string) (far int, ok bool) {
	if len(a) != len(b) {
		return 0, false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if far > 0 || min(len(a[i]), len(b[i])) < 4 {
			return 0, false
		}
		if far = distance(a[i], b[i]); far > 2 {
			return 0, false
		}
	}
	return far, true
}

// prefixed finds the provider that the name's beginning tells.
func (r *Registry) prefixed(name string) *provider {
	for _, p := range r.providers {
		for _, prefix := range p.prefixes {
			if rest, ok := strings.CutPrefix(name, prefix); ok && (rest != "" || !strings.HasSuffix(prefix, "-")) {
				return p
			}
		}
	}
	return nil
}

// display is the short name of a model, if that means this one.
func (r *Registry) display(provider, bare string) string {
	if p := r.prefixed(bare); p != nil && p.name == provider && !strings.Contains(bare, "/") {
		return bare
	}
	return provider + "/" + bare
}

// unknown says that there is no such name, and what is near it.
func (r *Registry) unknown(name, text string) error {
	near := r.near(name)
	if len(near) > 0 {
		return fmt.Errorf("%s; near it are %s. lyceum models lists all", text, strings.Join(near, ", "))
	}
	return fmt.Errorf("%s; a name begins with claude-, gpt-, gemini- and the like, or with a provider and a slash: %s", text, strings.Join(slices.Sorted(maps.Keys(r.providers)), ", "))
}

// near returns up to five names that name may be meant for.
func (r *Registry) near(name string) []string {
	type guess struct {
		name string
		far  int
	}
	var all []guess
	try := func(meant, typed, result string) {
		far := distance(strings.ToLower(typed), strings.ToLower(meant))
		if far <= max(1, min(len(typed), len(meant))/3) {
			all = append(all, guess{result, far})
		}
	}
	for _, k := range r.rows() {
		try(r.display(k.provider, k.model), name, r.display(k.provider, k.model))
		if _, rest, ok := strings.Cut(name, "/"); ok {
			try(k.model, rest, r.display(k.provider, k.model))
		}
	}
	first, rest, slash := strings.Cut(name, "/")
	for p := range r.providers {
		if slash {
			try(p, first, p+"/"+rest)
		} else {
			try(p, first, p+"/…")
		}
	}
	slices.SortFunc(all, func(a, b guess) int { return cmp.Or(a.far-b.far, strings.Compare(a.name, b.name)) })
	var names []string
	for _, g := range all {
		if !slices.Contains(names, g.name) && len(names) < 5 {
			names = append(names, g.name)
		}
	}
	return names
}

// distance is how many letters must be put in, taken out, changed or swapped with
// their neighbour to make b of a.
func distance(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			next[j+1] = min(last[j]+change, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
