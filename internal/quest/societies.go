package quest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/policy"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Societies are the rules there are. A quest.yaml that names none has the first. What
// can be said in a quest.yaml depends on them, so it is read and checked by them.
type Societies []Society

// Names are those of the societies, each once.
func (l Societies) Names() (names []string) {
	for _, soc := range l {
		if name := NameOf(soc.Rules()); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Named finds the newest rules of a name, which are those listed last; nil if there are
// none. Without a name, it is the first society's.
func (l Societies) Named(name string) (found Society) {
	for _, soc := range l {
		if name == "" {
			name = NameOf(soc.Rules())
		}
		if NameOf(soc.Rules()) == name {
			found = soc
		}
	}
	return found
}

// ByRules reports whether a quest of this spec works without a model.
func (l Societies) ByRules(s *Spec) bool {
	soc := l.Named(s.Society)
	return s.Model == "" && soc != nil && soc.Traits().ByRules
}

// Players are who meets the policies of a quest of this spec.
func (l Societies) Players(s *Spec) (p policy.Players) {
	is := func(executor string) {
		p.Models, p.Executors = p.Models || executor == "", p.Executors || executor != ""
	}
	soc := l.Named(s.Society)
	if own, ok := soc.(Proposer); ok {
		p.Own = own.Proposals()
	}
	if c, ok := soc.(Cast); ok {
		for _, r := range c.Roles(s, true, true) {
			is(r.Executor)
		}
		return p
	}
	for _, g := range l.Groups(s) {
		is(g.Executor)
	}
	return p
}

// Meant names the society that somebody means who names none: the first that has one of
// the keys that are given or, if agents says that a number of them is, can have many.
func (l Societies) Meant(keys Keys, agents bool) string {
	for _, name := range l.Names() {
		for _, k := range keysOf(l.Named(name)) {
			if _, ok := keys[k.Name]; ok {
				return name
			}
		}
	}
	if agents {
		return l.many()
	}
	return ""
}

// many names the first society that can have many agents.
func (l Societies) many() string {
	for _, name := range l.Names() {
		if l.Named(name).Traits().Many {
			return name
		}
	}
	return ""
}

// Question is what a spec asks, where it says so itself: its problem, or what stands
// under a key that is for questions.
func (l Societies) Question(s *Spec) string {
	if _, text := l.asks(s); text != "" {
		return text
	}
	return s.Problem
}

// asks finds a key with a question in a spec.
func (l Societies) asks(s *Spec) (key, text string) {
	for _, name := range slices.Sorted(maps.Keys(s.Keys)) {
		k, owners := l.key(name, s.Society)
		if text := ValueOf[string](s, name); len(owners) > 0 && k.question && text != nil {
			return name, *text
		}
	}
	return "", ""
}

// ParseSpec reads a quest.yaml strictly. file is its name in errors: each is a
// *strictyaml.Error, several are strictyaml.Faults, all that is wrong in the order of their
// lines. FieldOf knows the key of the first that is about the value of one. With an error
// comes what could be read, for whoever looks for more that is wrong; nil if nothing could.
func (l Societies) ParseSpec(file string, data []byte) (*Spec, error) {
	s := new(Spec)
	faults, read := l.decode(file, data, s)
	place := func(err error) error {
		if e, ok := errors.AsType[*strictyaml.Error](err); ok {
			return strictyaml.InFile(file, l.meant(err, e))
		}
		return Placed(file, data, err)
	}
	for i, err := range faults {
		faults[i] = place(err)
	}
	if read {
		found := FaultsOf(l.Check(s))
		if len(faults) > 0 {
			found = s.check() // what is said of several keys would only follow from what one lacks
			if soc := l.Named(s.Society); soc != nil {
				found = append(found, s.Prompts.check(soc, s.Context)...)
			}
		}
		for _, err := range found {
			faults = append(faults, place(err))
		}
	}
	if !read {
		s = nil
	}
	return s, InOrder(faults)
}

// meant says of an unknown key which one may have been meant.
func (l Societies) meant(err error, e *strictyaml.Error) error {
	name, ok := strings.CutPrefix(e.Text, `unknown field "`)
	if !ok {
		return err
	}
	better := *e
	if near := plain.Near(strings.TrimSuffix(name, `"`), l.known()); len(near) > 0 {
		better.Text += "; did you mean " + spoken(near, "or") + "?"
	} else {
		better.Text += "; lyceum schema prints the keys of a quest.yaml"
	}
	return &better
}

// known are the keys of a quest.yaml, those under others too.
func (l Societies) known() (names []string) {
	for _, name := range l.Names() {
		for _, k := range keysOf(l.Named(name)) {
			names = append(names, k.Name)
		}
	}
	var gather func(t reflect.Type)
	gather = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
				names = append(names, name)
			}
			gather(f.Type)
		}
	}
	gather(reflect.TypeFor[Spec]())
	slices.Sort(names)
	return slices.Compact(names)
}

// decode reads the keys that every quest can have, and then those of societies: how a
// value is read depends on the society that the spec names. read says that the file could be
// read, whatever is wrong under some of its keys.
func (l Societies) decode(file string, data []byte, s *Spec) (faults []error, read bool) {
	values, err := strictyaml.DecodeBut(file, data, s, func(key string) bool { return len(l.Owners(key)) > 0 })
	faults = FaultsOf(err)
	if values == nil && err != nil {
		return faults, false
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, empty := values[name].(*ast.NullNode); empty {
			continue
		}
		k, _ := l.key(name, s.Society)
		v, err := k.read(values[name])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		s.Set(name, v)
	}
	return faults, true
}

// Check finds what cannot be meant in a spec, all of it. FieldOf knows the key that the first
// is about.
func (l Societies) Check(s *Spec) error {
	// The name comes first in a form, and so does what is wrong with it.
	faults := append(s.check(), FaultsOf(l.checkQuestion(s))...)
	soc := l.Named(s.Society)
	if soc == nil {
		return strictyaml.Join(append(faults, l.noSociety(s.Society)))
	}
	faults = append(faults, FaultsOf(l.checkAgents(s, soc))...)
	faults = append(faults, FaultsOf(l.checkDiscover(s, soc))...)
	if _, cast := soc.(Cast); cast && s.Relations {
		faults = append(faults, Fault("relations", "relations: the agents of %s have the tools of their roles; leave it out", NameOf(soc.Rules())))
	}
	faults = append(faults, s.Prompts.check(soc, s.Context)...)
	keys := l.checkKeys(s, soc)
	faults = append(faults, keys...)
	if k, ok := soc.(Keyed); ok && len(keys) == 0 {
		faults = append(faults, FaultsOf(k.Check(s))...)
	}
	return strictyaml.Join(faults)
}

// checkDiscover wants agents that can find their tools: with a model, and without a role that
// says what they have.
func (l Societies) checkDiscover(s *Spec, soc Society) error {
	if !s.Discover {
		return nil
	}
	if _, cast := soc.(Cast); cast {
		return Fault("discover", "discover: the agents of %s have the tools of their roles; leave it out", NameOf(soc.Rules()))
	}
	for _, g := range l.Groups(s) {
		if g.Executor != "" {
			return Fault("discover", "discover: the executor %s has its tools from an MCP server, whose list stays; leave it out", g.Executor)
		}
	}
	return nil
}

func (l Societies) noSociety(name string) error {
	text := fmt.Sprintf("society %.80q: there are %s", name, spoken(l.Names(), "and"))
	if near := plain.Near(name, l.Names()); len(near) > 0 {
		text += "; did you mean " + spoken(near, "or") + "?"
	}
	return Fault("society", "%s", text)
}

// checkQuestion wants one question.
func (l Societies) checkQuestion(s *Spec) error {
	key, _ := l.asks(s)
	switch {
	case key != "" && (s.Problem != "" || s.ProblemFile != ""):
		return Fault(key, "%s and problem are both given: keep one", key)
	case s.Problem != "" && s.ProblemFile != "":
		return Fault("problem_file", "problem and problem_file are both given: keep one")
	case strings.TrimSpace(l.Question(s)) == "" && s.ProblemFile == "":
		return Fault("problem", "no question: give problem or problem_file")
	}
	return nil
}

// checkKeys refuses keys of another society, and values that a key does not allow.
func (l Societies) checkKeys(s *Spec, soc Society) (faults []error) {
	name := NameOf(soc.Rules())
	for _, key := range slices.Sorted(maps.Keys(s.Keys)) {
		k, owners := l.key(key, name)
		switch {
		case len(owners) == 0:
			faults = append(faults, Fault(key, "%.40q is a key of no society", key))
		case !slices.Contains(owners, name):
			faults = append(faults, Fault(key, "%s is a key of %s: say society: %s, or leave it out", key, spoken(owners, "and"), spoken(owners, "or")))
		default:
			if why := k.allow(s.Keys[key]); why != "" {
				faults = append(faults, Fault(key, "%s", why))
			}
		}
	}
	return faults
}

// Settle writes into a quest's first event what its spec says under the keys of its
// society.
func (l Societies) Settle(s *Spec, b *event.QuestCreated) error {
	k, ok := l.Named(s.Society).(Keyed)
	if !ok {
		return nil
	}
	if err := k.Settle(s, b); err != nil {
		return fmt.Errorf("settle how the society %s works: %w", NameOf(b.Rules), err)
	}
	return nil
}

// Fill lets a spec say what a profile says, a mapping with keys of societies, where it says nothing
// itself. Keys of other societies than its own have no meaning for it. filled names those that it
// took.
func (l Societies) Fill(s *Spec, n ast.Node) (filled []string, err error) {
	pairs, _ := strictyaml.Pairs(n)
	seen := map[string]bool{}
	for _, p := range pairs {
		name, err := strictyaml.Key(p, seen)
		if err != nil {
			return filled, err
		}
		society := NameOf(l.Named(s.Society).Rules())
		key, owners := l.key(name, society)
		if len(owners) == 0 {
			return filled, strictyaml.At(p.Key.(ast.Node), "%.40q is no key of a society", name)
		}
		if _, said := s.Keys[name]; said || !slices.Contains(owners, society) {
			continue
		}
		value, err := key.read(p.Value)
		if err != nil {
			return filled, err
		}
		s.Set(name, value)
		filled = append(filled, name)
	}
	return filled, nil
}

// keysOf are the keys of a society, none if it has none.
func keysOf(soc Society) []Key {
	if k, ok := soc.(Keyed); ok {
		return k.Keys()
	}
	return nil
}

// key finds a key by its name: the one that a society has or, if it has none, that of the
// first of its owners. Without owners it is no key.
func (l Societies) key(name, society string) (found Key, owners []string) {
	owners = l.Owners(name)
	if len(owners) == 0 {
		return Key{}, nil
	}
	if !slices.Contains(owners, society) {
		society = owners[0]
	}
	keys := keysOf(l.Named(society))
	return keys[slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })], owners
}

// Owners are the societies that have a key, none for one that every quest can have.
func (l Societies) Owners(key string) (names []string) {
	for _, name := range l.Names() {
		if slices.ContainsFunc(keysOf(l.Named(name)), func(k Key) bool { return k.Name == key }) {
			names = append(names, name)
		}
	}
	return names
}

// spoken writes words as people do: a, b and c.
func spoken(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
